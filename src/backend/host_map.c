/*
 * The host backend's mappings, and the access of every device to them.
 *
 * The kernel has one protection per mapping: the strongest access that any
 * device has been granted.  The access of each device is kept here; fill and
 * match check it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* MAP_ANONYMOUS */
#endif

#include "backend/host.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/u64.h"
#include "backend/backend_util.h"

struct host_mapping {
	struct host_range range;
	uint32_t slot;
	unsigned char flags[];	/* two bits per device */
};

static struct host_mapping *find_mapping(const struct host *h, uint64_t address)
{
	if (address == UINT64_MAX)
		return NULL;
	return host_find(&h->mappings, address, address + 1);
}

/* Find the mapping that is exactly this range. */
static int find_whole_mapping(const struct host *h, const char *call,
			      uint64_t address, uint64_t bytes,
			      struct host_mapping **found,
			      struct kvp_error *err)
{
	struct host_mapping *m = find_mapping(h, address);

	if (!m)
		return host_refuse(err, call, address, bytes,
				   "nothing is mapped");
	if (m->range.first != address ||
	    m->range.end - m->range.first != bytes)
		return host_refuse(err, call, address, bytes,
				   "not one whole mapping");
	*found = m;
	return KVP_OK;
}

/* Enter a mapping without access; *m is NULL on failure. */
static int add_mapping(struct host *h, uint64_t address, uint64_t bytes,
		       uint32_t slot, struct host_mapping **m,
		       struct kvp_error *err)
{
	struct host_mapping *added = calloc(1, sizeof(*added) + h->flag_bytes);
	void *node = NULL;
	int code = KVP_OK;

	*m = NULL;
	if (added) {
		added->range.first = address;
		added->range.end = address + bytes;
		added->slot = slot;
		node = tsearch(added, &h->mappings, host_compare);
	}
	if (!node)
		code = kvp_error_nomem(err);
	else if (*(struct host_mapping **)node != added)
		code = host_refuse(err, "map", address, bytes,
				   "something is mapped already");
	if (code)
		free(added);
	else
		*m = added;
	return code;
}

static void drop_mapping(struct host *h, struct host_mapping *m)
{
	tdelete(m, &h->mappings, host_compare);
	free(m);
}

int host_map(struct kvp_backend *b, uint64_t address, uint64_t bytes,
	     kvp_handle handle, struct kvp_error *err)
{
	struct host *h = host_of(b);
	struct host_range *r;
	struct host_mapping *m = NULL;
	struct host_slot *s;
	uint32_t index = 0;
	int code = host_check_range(h, "map", address, bytes, err);

	if (!code)
		code = host_find_slot(h, "map", handle, &index, err);
	if (code)
		return code;
	s = &h->slots[index];
	if (bytes != s->bytes)
		return host_refuse(err, "map", address, bytes,
				   "not the whole handle");
	r = host_find(&h->reservations, address, address + 1);
	if (!r || address + bytes > r->end)
		return host_refuse(err, "map", address, bytes,
				   "not inside one reservation");
	code = add_mapping(h, address, bytes, index, &m, err);
	if (code)
		return code;
	if (mmap((void *)(uintptr_t)address, (size_t)bytes, PROT_NONE,
		 MAP_SHARED | MAP_FIXED, s->file->fd,
		 (off_t)s->offset) == MAP_FAILED) {
		code = host_fail_call(err, "map", "mmap", address, bytes);
		drop_mapping(h, m);
		return code;
	}
	assert(s->used && !s->released);
	s->mappings++;
	h->alive.mappings++;
	return KVP_OK;
}

/*
 * Turn a mapping into a reserved address range again.  When the process has
 * no map left the kernel refuses even that; freeing the spare maps makes it
 * possible, so that a failed realization can be undone.
 */
static bool clear_mapping(struct host *h, uint64_t address, uint64_t bytes)
{
	const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			MAP_FIXED;
	void *at = (void *)(uintptr_t)address, *got;

	got = mmap(at, (size_t)bytes, PROT_NONE, how, -1, 0);
	if (got == MAP_FAILED && errno == ENOMEM && h->spare) {
		host_spare_free(h->spare);
		got = mmap(at, (size_t)bytes, PROT_NONE, how, -1, 0);
		h->spare = NULL;
	}
	return got != MAP_FAILED;
}

int host_unmap(struct kvp_backend *b, uint64_t address, uint64_t bytes,
	       struct kvp_error *err)
{
	struct host *h = host_of(b);
	struct host_mapping *m = NULL;
	uint32_t slot;
	int code = find_whole_mapping(h, "unmap", address, bytes, &m, err);

	if (code)
		return code;
	if (!clear_mapping(h, address, bytes))
		return host_fail_call(err, "unmap", "mmap", address, bytes);
	slot = m->slot;
	assert(slot < h->nslots && h->slots[slot].used && h->alive.mappings);
	drop_mapping(h, m);
	h->alive.mappings--;
	return host_slot_unmap(h, slot, err);
}

static enum kvp_flags get_flags(const unsigned char *flags, uint32_t device)
{
	return (enum kvp_flags)(flags[device / 4] >> device % 4 * 2 & 3);
}

static void set_flags(unsigned char *flags, uint32_t device,
		      enum kvp_flags to)
{
	unsigned shift = device % 4 * 2;

	assert((unsigned)to <= 3);
	flags[device / 4] = (unsigned char)
		((flags[device / 4] & ~(3U << shift)) | (unsigned)to << shift);
}

/* Write the flags of a mapping, changed by the grants, to h->flags. */
static int merge_grants(struct host *h, const struct host_mapping *m,
			const struct kvp_grant *grants, size_t count,
			struct kvp_error *err)
{
	size_t i;
	int code;

	memcpy(h->flags, m->flags, h->flag_bytes);
	for (i = 0; i < count; i++) {
		code = host_check_device(h, "grant", grants[i].device, err);
		if (code)
			return code;
		if (grants[i].flags != KVP_NO_ACCESS &&
		    grants[i].flags != KVP_READ &&
		    grants[i].flags != KVP_READWRITE)
			return kvp_error_set(err, KVP_EDRIVER,
					     "grant: no such flags: %d",
					     (int)grants[i].flags);
		set_flags(h->flags, grants[i].device, grants[i].flags);
	}
	return KVP_OK;
}

static int find_strongest_access(const struct host *h)
{
	unsigned all = 0;
	size_t i;

	for (i = 0; i < h->flag_bytes; i++)
		all |= h->flags[i];
	if (all & 0xaa)
		return PROT_READ | PROT_WRITE;
	return all ? PROT_READ : PROT_NONE;
}

int host_grant(struct kvp_backend *b, uint64_t address, uint64_t bytes,
	       const struct kvp_grant *grants, size_t count,
	       struct kvp_error *err)
{
	struct host *h = host_of(b);
	struct host_mapping *m = NULL;
	int code = find_whole_mapping(h, "grant", address, bytes, &m, err);

	if (!code)
		code = merge_grants(h, m, grants, count, err);
	if (code)
		return code;
	if (mprotect((void *)(uintptr_t)address, (size_t)bytes,
		     find_strongest_access(h)))
		return host_fail_call(err, "grant", "mprotect", address, bytes);
	memcpy(m->flags, h->flags, h->flag_bytes);
	return KVP_OK;
}

int host_granted(struct kvp_backend *b, uint64_t address, uint32_t device,
		 enum kvp_flags *flags, struct kvp_error *err)
{
	struct host *h = host_of(b);
	const struct host_mapping *m = find_mapping(h, address);
	int code = host_check_device(h, "granted", device, err);

	if (code)
		return code;
	if (!m)
		return kvp_error_set(err, KVP_EDRIVER, "granted: nothing is "
				     "mapped at 0x%llx", (ull)address);
	*flags = get_flags(m->flags, device);
	return KVP_OK;
}

/* Check that the device has the access `need` in the whole range. */
static int check_access(const struct host *h, const char *call,
			uint32_t device, uint64_t address, uint64_t bytes,
			enum kvp_flags need, struct kvp_error *err)
{
	const struct host_mapping *m;
	uint64_t end, at;
	int code = host_check_device(h, call, device, err);

	if (code)
		return code;
	if (!u64_add(address, bytes, &end))
		return host_refuse(err, call, address, bytes, "no such range");
	for (at = address; at < end; at = m->range.end) {
		m = find_mapping(h, at);
		if (!m)
			return kvp_error_set(err, KVP_EDRIVER,
					     "%s: nothing is mapped at 0x%llx",
					     call, (ull)at);
		if (get_flags(m->flags, device) < need)
			return kvp_error_set(err, KVP_EDRIVER,
				"%s: device %" PRIu32 " has no %s access at "
				"0x%llx", call, device,
				need == KVP_READ ? "read" : "write", (ull)at);
	}
	return KVP_OK;
}

int host_fill(struct kvp_backend *b, uint32_t device, uint64_t address,
	      uint64_t bytes, uint32_t pattern, struct kvp_error *err)
{
	int code = check_access(host_of(b), "fill", device, address, bytes,
				KVP_READWRITE, err);

	if (!code)
		backend_pattern_write((void *)(uintptr_t)address, address,
				      bytes, pattern);
	return code;
}

int host_match(struct kvp_backend *b, uint32_t device, uint64_t address,
	       uint64_t bytes, uint32_t pattern, uint64_t *same_bytes,
	       struct kvp_error *err)
{
	int code = check_access(host_of(b), "match", device, address, bytes,
				KVP_READ, err);

	if (!code)
		*same_bytes = backend_pattern_compare(
			(const void *)(uintptr_t)address, address, bytes,
			pattern);
	return code;
}
