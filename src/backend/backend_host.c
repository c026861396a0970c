/*
 * The host backend: this machine's memory is used in place of GPUs.
 *
 * Calls in a wrong order are refused as the CUDA driver refuses them.  The
 * kernel allocates a page when it is first touched; creating a handle takes
 * none.  If the machine runs out of memory during a fill, the kernel kills
 * the process.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* tdestroy */
#endif

#include "backend/backend_host.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "base/u64.h"
#include "backend/host.h"

_Static_assert(sizeof(void *) == 8 && sizeof(off_t) == 8,
	       "addresses and file offsets are 64 bits");

/* Checks and trees, for all files of the host backend. */

int host_check_device(const struct host *h, const char *call,
		      uint32_t device, struct kvp_error *err)
{
	if (device < h->base.devices)
		return KVP_OK;
	return kvp_error_set(err, KVP_EDRIVER,
			     "%s: no device %" PRIu32 ": there are %u",
			     call, device, h->base.devices);
}

int host_check_range(const struct host *h, const char *call,
		     uint64_t address, uint64_t bytes, struct kvp_error *err)
{
	uint64_t end;

	if (!bytes || !u64_add(address, bytes, &end))
		return host_refuse(err, call, address, bytes, "no such range");
	if (address % h->granularity || bytes % h->granularity)
		return host_refuse(err, call, address, bytes,
				   "not a multiple of the granularity");
	return KVP_OK;
}

int host_compare(const void *a, const void *b)
{
	const struct host_range *x = a, *y = b;

	if (x->end <= y->first)
		return -1;
	return x->first >= y->end;
}

void *host_find(void *const *tree, uint64_t first, uint64_t end)
{
	const struct host_range key = { first, end };
	void *node = tfind(&key, tree, host_compare);

	return node ? *(void **)node : NULL;
}

/* Devices. */

static int host_device(struct kvp_backend *b, uint32_t device,
		       struct kvp_device_info *info, struct kvp_error *err)
{
	struct host *h = host_of(b);
	struct utsname name;
	int code = host_check_device(h, "device", device, err);

	if (code)
		return code;
	if (uname(&name))
		return host_fail_call(err, "device", "uname", 0, 0);
	memset(info, 0, sizeof(*info));
	snprintf(info->label, sizeof(info->label), "host memory %u", device);
	strcpy(info->name, "host memory");
	snprintf(info->driver, sizeof(info->driver), "%.*s",
		 (int)sizeof(info->driver) - 1, name.release);
	info->granularity = h->granularity;
	info->total_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) *
			    (uint64_t)sysconf(_SC_PAGESIZE);
	return KVP_OK;
}

static int host_visible(struct kvp_backend *b, const char *uuid_end, bool *is,
			struct kvp_error *err)
{
	(void)b;
	(void)uuid_end;
	(void)err;
	*is = true;
	return KVP_OK;
}

static int host_peer(struct kvp_backend *b, uint32_t device, uint32_t owner,
		     bool *can, struct kvp_error *err)
{
	int code = host_check_device(host_of(b), "peer", device, err);

	if (!code)
		code = host_check_device(host_of(b), "peer", owner, err);
	if (!code)
		*can = true;
	return code;
}

/*
 * The memory that the kernel says is available, at most what this process may
 * map.  All devices share it, so the values of two devices do not add up.
 * Pages that were never touched count as free.
 */
static int host_memory(struct kvp_backend *b, uint32_t device,
		       uint64_t *free_bytes, struct kvp_error *err)
{
	int code = host_check_device(host_of(b), "memory", device, err);
	struct rlimit most;
	uint64_t kib, bytes;

	if (code)
		return code;
	if (!host_read_number("/proc/meminfo", "MemAvailable:", &kib) ||
	    !u64_mul(kib, 1024, &bytes))
		return kvp_error_set(err, KVP_EDRIVER,
				     "memory: no MemAvailable in "
				     "/proc/meminfo");
	if (getrlimit(RLIMIT_AS, &most))
		return host_fail_call(err, "memory", "getrlimit", 0, 0);
	if (most.rlim_cur != RLIM_INFINITY)
		bytes = u64_min(bytes, most.rlim_cur);
	*free_bytes = bytes;
	return KVP_OK;
}

static int host_synchronize(struct kvp_backend *b, uint32_t device,
			    struct kvp_error *err)
{
	struct host *h = host_of(b);
	int code = host_check_device(h, "synchronize", device, err);

	/* Fills are done when they return; only pools have pending work. */
	return code ? code : host_pools_free_pending(h, device, err);
}

/* Address ranges. */

static int reserve_at(uint64_t bytes, uint64_t wanted,
		      struct kvp_error *err)
{
	void *got = mmap((void *)(uintptr_t)wanted, (size_t)bytes, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			 MAP_FIXED_NOREPLACE, -1, 0);

	if (got == MAP_FAILED) {
		(void)host_fail_call(err, "reserve", "mmap", wanted, bytes);
		return kvp_error_recode(err, KVP_EDRIVER);
	}
	if ((uint64_t)(uintptr_t)got == wanted)
		return KVP_OK;
	/* Kernels before 4.17 may map at another address. */
	munmap(got, (size_t)bytes);
	return host_refuse(err, "reserve", wanted, bytes,
			   "the address is taken");
}

/* Reserve at any multiple of the granularity: map too much, then trim. */
static int reserve_anywhere(const struct host *h, uint64_t bytes,
			    uint64_t *address, struct kvp_error *err)
{
	uint64_t all, first, at, head, tail;
	void *got = MAP_FAILED;
	int code;

	errno = ENOMEM;
	if (u64_add(bytes, h->granularity, &all))
		got = mmap(NULL, (size_t)all, PROT_NONE, MAP_PRIVATE |
			   MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (got == MAP_FAILED)
		return host_fail_call(err, "reserve", "mmap", 0, bytes);
	first = (uint64_t)(uintptr_t)got;
	if (!u64_round_up(first, h->granularity, &at))
		abort();
	head = at - first;
	tail = h->granularity - head;
	if ((!head || !munmap(got, (size_t)head)) &&
	    !munmap((char *)got + head + bytes, (size_t)tail)) {
		*address = at;
		return KVP_OK;
	}
	code = host_fail_call(err, "reserve", "munmap", first, all);
	munmap(got, (size_t)all);
	return code;
}

static int host_reserve(struct kvp_backend *b, uint64_t bytes,
			uint64_t wanted, uint64_t *address,
			struct kvp_error *err)
{
	struct host *h = host_of(b);
	struct host_range *r = malloc(sizeof(*r));
	uint64_t at = wanted;
	int code = host_check_range(h, "reserve", wanted, bytes, err);

	if (!code && !r)
		code = kvp_error_nomem(err);
	if (code)
		goto done;
	if (!h->spare)
		h->spare = host_spare_make();
	code = wanted ? reserve_at(bytes, wanted, err) :
			reserve_anywhere(h, bytes, &at, err);
	if (code)
		goto done;
	r->first = at;
	r->end = at + bytes;
	if (!tsearch(r, &h->reservations, host_compare)) {
		munmap((void *)(uintptr_t)at, (size_t)bytes);
		code = kvp_error_nomem(err);
		goto done;
	}
	r = NULL;
	h->alive.reservations++;
	*address = at;
done:
	free(r);
	return code;
}

static int host_unreserve(struct kvp_backend *b, uint64_t address,
			  uint64_t bytes, struct kvp_error *err)
{
	struct host *h = host_of(b);
	struct host_range *r;
	int code = host_check_range(h, "unreserve", address, bytes, err);

	if (code)
		return code;
	r = host_find(&h->reservations, address, address + bytes);
	if (!r || r->first != address || r->end != address + bytes)
		return host_refuse(err, "unreserve", address, bytes,
				   "not one whole reservation");
	if (host_find(&h->mappings, address, address + bytes))
		return host_refuse(err, "unreserve", address, bytes,
				   "something is still mapped");
	if (munmap((void *)(uintptr_t)address, (size_t)bytes))
		return host_fail_call(err, "unreserve", "munmap", address,
				      bytes);
	tdelete(r, &h->reservations, host_compare);
	free(r);
	h->alive.reservations--;
	return KVP_OK;
}

/* Opening and closing. */

void host_alive(const struct kvp_backend *b, struct host_alive *alive)
{
	const struct host *h = (const struct host *)b;
	struct stat file;
	uint32_t i;

	*alive = h->alive;
	for (i = 0; i < h->nfiles; i++)
		if (!fstat(h->files[i].fd, &file))
			alive->resident_bytes += (uint64_t)file.st_blocks *
						 512;
}

static void free_reservation(void *node)
{
	struct host_range *r = node;

	munmap((void *)(uintptr_t)r->first, (size_t)(r->end - r->first));
	free(r);
}

static void host_close(struct kvp_backend *b)
{
	struct host *h = host_of(b);
	uint32_t i;

	tdestroy(h->mappings, free);
	tdestroy(h->reservations, free_reservation);
	host_pools_release(h);
	for (i = 0; i < h->nfiles; i++)
		if (h->files[i].fd >= 0)
			close(h->files[i].fd);
	host_imports_release(h);
	free(h->slots);
	free(h->flags);
	host_spare_free(h->spare);
	free(h);
}

static const struct kvp_backend host_backend = {
	.device = {
		.device = host_device, .peer = host_peer,
		.visible = host_visible, .memory = host_memory,
		.synchronize = host_synchronize, .process = host_process,
	},
	.mapping = {
		.reserve = host_reserve, .unreserve = host_unreserve,
		.create = host_create, .release = host_release,
		.export_handle = host_export_handle,
		.import_handle = host_import_handle,
		.map = host_map, .unmap = host_unmap,
		.grant = host_grant, .granted = host_granted,
		.fill = host_fill, .match = host_match,
	},
	.pool = {
		.pool_create = host_pool_create,
		.pool_destroy = host_pool_destroy,
		.allocate = host_allocate, .deallocate = host_deallocate,
	},
	.close = host_close,
	.name = "host", .lazy = true,
};

static struct host *make_host(uint32_t devices, uint64_t granularity)
{
	struct host *h = calloc(1, sizeof(*h) +
				2 * (size_t)devices * sizeof(*h->files));
	uint32_t i;

	if (!h)
		return NULL;
	h->base = host_backend;
	h->base.devices = devices;
	kvp_backend_complete(&h->base);
	h->granularity = granularity;
	h->unused = HOST_NONE;
	h->flag_bytes = devices / 4 + 1;
	h->flags = calloc(1, h->flag_bytes);
	h->nfiles = 2 * devices;
	for (i = 0; i < h->nfiles; i++) {
		h->files[i].kind = i % 2 ? HOST_SHARED : HOST_PRIVATE;
		h->files[i].fd = -1;
		h->files[i].last = HOST_NONE;
	}
	return h;
}

int kvp_backend_host(struct kvp_backend **b, uint32_t devices,
		     uint64_t granularity, struct kvp_error *err)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct host *h = NULL;
	int code = KVP_OK;

	assert(b);
	*b = NULL;
	if (!devices || devices > KVP_HOST_DEVICES_MAX)
		return kvp_error_set(err, KVP_EINPUT, "%" PRIu32 " devices, "
				     "must be from 1 to %d", devices,
				     KVP_HOST_DEVICES_MAX);
	if (granularity < page || granularity & (granularity - 1))
		return kvp_error_set(err, KVP_EDRIVER,
				     "the granularity %llu is not a "
				     "power of two from %llu on, this "
				     "machine's page", (ull)granularity,
				     (ull)page);
	h = make_host(devices, granularity);
	if (!h || !h->flags) {
		code = kvp_error_nomem(err);
		goto done;
	}
	h->spare = host_spare_make();
	*b = &h->base;
	h = NULL;
done:
	if (h)
		host_close(&h->base);
	return code;
}
