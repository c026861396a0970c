/*
 * The host backend: exporting handles, and importing those of other
 * processes.
 *
 * A descriptor stands for a whole file, so an export is a duplicate of it
 * with the handle's offset and length.  The importer keeps one duplicate of
 * every file, however many handles it imports from it.
 *
 * One thing differs from GPUs.  There, memory lives as long as any process
 * has a handle or mapping of it; here its owner frees it with the owner's
 * last handle and mapping, and an importer then reads zeroes.  If the owner
 * closes its backend or ends instead, the importer keeps the memory.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* F_GET_SEALS */
#endif

#include "backend/host.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/u64.h"

/* Duplicate a descriptor, never as that of standard input, output or error. */
static int duplicate(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

int host_export_handle(struct kvp_backend *b, kvp_handle handle,
		       struct kvp_shared *shared, struct kvp_error *err)
{
	struct host *h = host_of(b);
	const struct host_slot *s;
	uint32_t index = 0;
	int fd, code = host_find_slot(h, "export_handle", handle, &index, err);

	if (code)
		return code;
	s = &h->slots[index];
	if (s->file->kind != HOST_SHARED)
		return kvp_error_set(err, KVP_EDRIVER, "export_handle: the "
				     "handle 0x%llx %s", (ull)handle,
				     s->file->kind == HOST_IMPORTED ?
				     "is imported; only its owner exports it" :
				     "was not created to be exported");
	fd = duplicate(s->file->fd);
	if (fd < 0)
		return host_fail_call(err, "export_handle", "fcntl", s->offset,
				      s->bytes);
	s->file->exported = u64_max(s->file->exported, s->offset + s->bytes);
	*shared = (struct kvp_shared){ fd, s->offset, s->bytes };
	return KVP_OK;
}

/*
 * Check that the range lies in a file that keeps its size, and find the file.
 * Only memfds have these seals.
 */
static int check_shared(const struct host *h, const struct kvp_shared *shared,
			struct stat *file, struct kvp_error *err)
{
	uint64_t end;
	int seals;

	if (!shared->bytes || shared->offset % h->granularity ||
	    shared->bytes % h->granularity)
		return kvp_error_set(err, KVP_EDRIVER, "import_handle: %llu "
				     "bytes at offset 0x%llx are no whole "
				     "granules of %llu bytes",
				     (ull)shared->bytes, (ull)shared->offset,
				     (ull)h->granularity);
	seals = fcntl(shared->fd, F_GET_SEALS);
	if (seals < 0 || fstat(shared->fd, file))
		return kvp_error_set(err, KVP_EDRIVER, "import_handle: "
				     "descriptor %d is no memory: %s",
				     shared->fd, system_text(errno).text);
	if ((seals & HOST_SEALS) != HOST_SEALS)
		return kvp_error_set(err, KVP_EDRIVER, "import_handle: "
				     "descriptor %d has the seals 0x%x, and "
				     "not all of 0x%x, which keep its size",
				     shared->fd, (unsigned)seals,
				     (unsigned)HOST_SEALS);
	if (!u64_add(shared->offset, shared->bytes, &end) ||
	    end > (uint64_t)file->st_size)
		return kvp_error_set(err, KVP_EDRIVER, "import_handle: "
				     "descriptor %d has %llu bytes, too few "
				     "for %llu bytes at offset 0x%llx",
				     shared->fd, (ull)file->st_size,
				     (ull)shared->bytes, (ull)shared->offset);
	return KVP_OK;
}

/* Find the open file, or keep a duplicate of the descriptor. */
static int open_import(struct host *h, int fd, const struct stat *file,
		       struct host_import **found, struct kvp_error *err)
{
	struct host_import *i;
	int own;

	for (i = h->imports; i; i = i->next)
		if (i->device == file->st_dev && i->inode == file->st_ino) {
			*found = i;
			return KVP_OK;
		}
	own = duplicate(fd);
	if (own < 0)
		return host_fail_call(err, "import_handle", "fcntl", 0, 0);
	i = malloc(sizeof(*i));
	if (!i) {
		close(own);
		return kvp_error_nomem(err);
	}
	*i = (struct host_import){
		.file = { .kind = HOST_IMPORTED, .fd = own, .last = HOST_NONE },
		.next = h->imports,
		.device = file->st_dev, .inode = file->st_ino,
	};
	h->imports = *found = i;
	return KVP_OK;
}

int host_import_handle(struct kvp_backend *b, uint32_t device,
		       const struct kvp_shared *shared, kvp_handle *handle,
		       struct kvp_error *err)
{
	struct host *h = host_of(b);
	struct host_import *from = NULL;
	struct stat file;
	uint32_t index = 0;
	int code = host_check_device(h, "import_handle", device, err);

	if (!code)
		code = check_shared(h, shared, &file, err);
	if (!code)
		code = host_find_unused_slot(h, &index, err);
	if (!code)
		code = open_import(h, shared->fd, &file, &from, err);
	if (!code)
		*handle = host_use_slot(h, index, &from->file, shared->offset,
					shared->bytes);
	return code;
}

void host_import_close(struct host *h, const struct host_file *file)
{
	struct host_import **link = &h->imports, *gone;

	while (&(*link)->file != file)
		link = &(*link)->next;
	gone = *link;
	assert(gone->file.last == HOST_NONE);
	*link = gone->next;
	close(gone->file.fd);
	free(gone);
}

void host_imports_release(struct host *h)
{
	struct host_import *i, *next;

	for (i = h->imports; i; i = next) {
		next = i->next;
		close(i->file.fd);
		free(i);
	}
	h->imports = NULL;
}
