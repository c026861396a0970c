/*
 * The CUDA backend: exporting handles as POSIX descriptors, and importing
 * those of other processes.
 *
 * The driver tells neither the length nor the kind of a handle.  Both are
 * recorded for the handles that can be exported.
 */
#include "backend/backend_cuda.h"

#ifdef KVP_HAVE_CUDA

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/standard.h"

#define POSIX_FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

/* A handle that was created with KVP_HANDLE_POSIX_FD. */
struct cuda_share {
	struct address_node node;	/* the handle is its address */
	uint64_t bytes;
};

int cuda_share_new(struct cuda *c, uint64_t bytes, struct cuda_share **share,
		   struct kvp_error *err)
{
	struct cuda_share *made;
	int code = address_table_make_room(&c->shares, err);

	if (code)
		return code;
	made = calloc(1, sizeof(*made));
	if (!made)
		return kvp_error_nomem(err);
	made->bytes = bytes;
	*share = made;
	return KVP_OK;
}

void cuda_share_add(struct cuda *c, struct cuda_share *share, kvp_handle handle)
{
	share->node.address = handle;
	address_table_add(&c->shares, &share->node);
}

static struct cuda_share *find_share(const struct cuda *c, kvp_handle handle)
{
	return (struct cuda_share *)address_table_find(&c->shares, handle);
}

void cuda_share_drop(struct cuda *c, kvp_handle handle)
{
	struct cuda_share *share = find_share(c, handle);

	if (share)
		address_table_remove(&c->shares, &share->node);
	free(share);
}

void cuda_shares_release(struct cuda *c)
{
	size_t i;

	for (i = 0; i < c->shares.nbuckets; i++)
		while (c->shares.buckets[i])
			cuda_share_drop(c, c->shares.buckets[i]->address);
	address_table_release(&c->shares);
}

int cuda_export_handle(struct kvp_backend *b, kvp_handle handle,
		       struct kvp_shared *shared, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	const struct cuda_share *share = find_share(c, handle);
	int fd = -1;
	int code;

	assert(shared);
	if (!share)
		return kvp_error_set(err, KVP_EDRIVER,
				     "cuMemExportToShareableHandle: the handle "
				     "0x%llx was not created here as a POSIX "
				     "descriptor, and kvplan shares no other "
				     "kind", (ull)handle);
	code = cuda_enter(c, 0, err);
	if (!code)
		code = LAST(c, err, MemExportToShareableHandle,
			    (&fd, handle, POSIX_FD, 0));
	if (code)
		return code;
	fd = standard_move_above(fd);
	if (fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC)) {
		code = kvp_error_set(err, KVP_EDRIVER,
				     "cuMemExportToShareableHandle: fcntl of "
				     "descriptor %d: %s", fd,
				     system_text(errno).text);
		if (fd >= 0)
			close(fd);
		return code;
	}
	*shared = (struct kvp_shared){ fd, 0, share->bytes };
	return KVP_OK;
}

/* The driver compares the length when the handle is mapped. */
int cuda_import_handle(struct kvp_backend *b, uint32_t device,
		       const struct kvp_shared *shared, kvp_handle *handle,
		       struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	CUmemGenericAllocationHandle imported = 0;
	int code = cuda_check_device(c, device, err);

	assert(handle);
	if (!code)
		code = cuda_check_range(c, 0, shared->bytes, err);
	if (!code && shared->offset)
		code = kvp_error_set(err, KVP_EDRIVER,
				     "cuMemImportFromShareableHandle: offset "
				     "0x%llx, a GPU's descriptor has only 0",
				     (ull)shared->offset);
	if (!code)
		code = cuda_enter(c, device, err);
	if (!code)
		code = LAST(c, err, MemImportFromShareableHandle,
			    (&imported, (void *)(intptr_t)shared->fd,
			     POSIX_FD));
	if (!code)
		*handle = imported;
	return code;
}

#endif
