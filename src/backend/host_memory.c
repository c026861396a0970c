/*
 * The host backend's physical memory: handles are ranges of sparse memfds.
 *
 * A new handle gets the range behind the last one in use.  Freeing a handle's
 * memory punches a hole into the file, which takes no memory; the range is
 * used again when no range behind it is in use.
 *
 * A file whose handles can be exported never changes its size, because a
 * process that has it mapped would die of SIGBUS if it became shorter.  It is
 * as large as it may be, which takes no memory either, and sealed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* fallocate, memfd_create */
#endif

#include "backend/host.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/standard.h"
#include "base/u64.h"
#include "backend/backend_util.h"

/* Far more than a process can map.  Ranges that were exported are not used
   again, so that the file needs more than its handles. */
#define SHARED_FILE_BYTES (UINT64_C(1) << 62)

int host_find_unused_slot(struct host *h, uint32_t *index,
			  struct kvp_error *err)
{
	uint32_t room = h->nslots ? h->nslots * 2 : 256, i;
	struct host_slot *grown;

	if (h->unused == HOST_NONE) {
		if (h->nslots > HOST_NONE / 2)
			return kvp_error_nomem(err);
		grown = realloc(h->slots, room * sizeof(*grown));
		if (!grown)
			return kvp_error_nomem(err);
		memset(grown + h->nslots, 0,
		       (room - h->nslots) * sizeof(*grown));
		for (i = h->nslots; i < room; i++)
			grown[i].after = i + 1 < room ? i + 1 : HOST_NONE;
		h->unused = h->nslots;
		h->slots = grown;
		h->nslots = room;
	}
	*index = h->unused;
	return KVP_OK;
}

static int open_private_file(struct host_file *f, struct kvp_error *err)
{
	f->fd = standard_move_above(memfd_create("kvplan", MFD_CLOEXEC));
	if (f->fd < 0)
		return host_fail_call(err, "create", "memfd_create", 0, 0);
	return KVP_OK;
}

/* The file gets the size that `ulimit -f` allows, and keeps it. */
static int open_shared_file(struct host_file *f, struct kvp_error *err)
{
	int fd = standard_move_above(memfd_create("kvplan", MFD_CLOEXEC |
						  MFD_ALLOW_SEALING));
	struct rlimit most = { .rlim_cur = RLIM_INFINITY };
	uint64_t bytes;
	int code;

	if (fd < 0)
		return host_fail_call(err, "create", "memfd_create", 0, 0);
	(void)getrlimit(RLIMIT_FSIZE, &most);
	bytes = u64_min(most.rlim_cur, SHARED_FILE_BYTES);
	if (ftruncate(fd, (off_t)bytes) ||
	    fcntl(fd, F_ADD_SEALS, HOST_SEALS)) {
		code = host_fail_call(err, "create", "sizing and sealing", 0,
				      bytes);
		close(fd);
		return code;
	}
	f->fd = fd;
	f->bytes = bytes;
	return KVP_OK;
}

/* Find the offset of the file's next handle; the file grows to hold it. */
static int find_file_range(struct host *h, struct host_file *f, uint64_t bytes,
			   uint64_t *offset, struct kvp_error *err)
{
	uint64_t first = f->exported, end;
	int code = KVP_OK;

	assert(f->last == HOST_NONE || (h->slots[f->last].used &&
	       h->slots[f->last].file == f));
	if (f->last != HOST_NONE)
		first = u64_max(first, h->slots[f->last].offset +
				       h->slots[f->last].bytes);
	errno = EFBIG;
	if (!u64_add(first, bytes, &end) || end > INT64_MAX)
		return host_fail_call(err, "create", "ftruncate", first, bytes);
	/* Opened when needed, after preflight has compared the devices with
	   the number of descriptors a process may open. */
	if (f->fd < 0)
		code = f->kind == HOST_SHARED ? open_shared_file(f, err) :
						open_private_file(f, err);
	if (code)
		return code;
	errno = EFBIG;
	if (end > f->bytes) {
		if (f->kind == HOST_SHARED || ftruncate(f->fd, (off_t)end))
			return host_fail_call(err, "create", "ftruncate", first,
					      bytes);
		f->bytes = end;
	}
	*offset = first;
	return KVP_OK;
}

kvp_handle host_use_slot(struct host *h, uint32_t index, struct host_file *file,
			 uint64_t offset, uint64_t bytes)
{
	struct host_slot *s = &h->slots[index];

	assert(!s->used && h->unused == index);
	h->unused = s->after;
	*s = (struct host_slot){
		.offset = offset, .bytes = bytes, .uses = s->uses + 1,
		.file = file, .before = file->last, .after = HOST_NONE,
		.used = true,
	};
	if (file->last != HOST_NONE)
		h->slots[file->last].after = index;
	file->last = index;
	h->alive.handles++;
	return (uint64_t)s->uses << 32 | index;
}

int host_create(struct kvp_backend *b, const struct kvp_create *what,
		kvp_handle *handle, struct kvp_error *err)
{
	struct host *h = host_of(b);
	struct host_file *f = NULL;
	uint64_t offset = 0;
	uint32_t index = 0;
	int code = host_check_device(h, "create", what->device, err);

	if (!code)
		code = host_check_range(h, "create", 0, what->bytes, err);
	if (!code && what->handle_type == KVP_HANDLE_FABRIC)
		code = backend_unsupported(b, "create", "fabric handles", err);
	if (!code && what->rdma)
		code = backend_unsupported(b, "create", "GPUDirect RDMA", err);
	if (!code)
		code = host_find_unused_slot(h, &index, err);
	if (code)
		return code;
	f = &h->files[2 * what->device +
		      (what->handle_type == KVP_HANDLE_POSIX_FD)];
	code = find_file_range(h, f, what->bytes, &offset, err);
	if (!code)
		*handle = host_use_slot(h, index, f, offset, what->bytes);
	return code;
}

int host_find_slot(const struct host *h, const char *call, kvp_handle handle,
		   uint32_t *index, struct kvp_error *err)
{
	uint32_t i = (uint32_t)(handle & UINT32_MAX);
	const struct host_slot *s = i < h->nslots ? &h->slots[i] : NULL;

	if (!s || !s->used || s->released || s->uses != handle >> 32)
		return kvp_error_set(err, KVP_EDRIVER,
				     "%s: no handle 0x%llx, or it is "
				     "released already", call, (ull)handle);
	*index = i;
	return KVP_OK;
}

/*
 * Free the memory of a slot, and its range as well if it is the last one in
 * the file.  The memory of an imported handle is its owner's to free.
 */
static int free_memory(struct host *h, const char *call, uint32_t index,
		       struct kvp_error *err)
{
	struct host_slot *s = &h->slots[index];
	struct host_file *f = s->file;

	assert(s->used && !s->mappings);
	if (f->kind != HOST_IMPORTED &&
	    fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)s->offset, (off_t)s->bytes))
		return host_fail_call(err, call, "fallocate", s->offset,
				      s->bytes);
	assert(h->alive.handles);
	assert(s->after != HOST_NONE || f->last == index);
	if (s->before != HOST_NONE)
		h->slots[s->before].after = s->after;
	if (s->after != HOST_NONE)
		h->slots[s->after].before = s->before;
	else
		f->last = s->before;
	s->used = false;
	s->after = h->unused;
	h->unused = index;
	h->alive.handles--;
	if (f->kind == HOST_IMPORTED && f->last == HOST_NONE)
		host_import_close(h, f);
	return KVP_OK;
}

int host_release(struct kvp_backend *b, kvp_handle handle,
		 struct kvp_error *err)
{
	struct host *h = host_of(b);
	uint32_t index = 0;
	int code = host_find_slot(h, "release", handle, &index, err);

	if (code)
		return code;
	if (!h->slots[index].mappings)
		return free_memory(h, "release", index, err);
	h->slots[index].released = true;
	return KVP_OK;
}

/* If freeing fails, the mapping is gone and the memory leaks. */
int host_slot_unmap(struct host *h, uint32_t slot, struct kvp_error *err)
{
	struct host_slot *s = &h->slots[slot];

	assert(s->mappings);
	if (--s->mappings || !s->released)
		return KVP_OK;
	return free_memory(h, "unmap", slot, err);
}
