/*
 * A stand-in for the CUDA driver, built alone into a libcuda.so.1.  It
 * keeps the rules measured on real GPUs (granularity, whole handles, access
 * flags, the one table that runs out), counts what is alive and refuses the
 * wrong order.  It is stricter than a GPU in one respect: work on a stream
 * runs when that stream is waited for and not before, so a forgotten wait
 * is a wrong byte every time.
 *
 * Addresses are numbers in tables of its own, and memory holds nothing but
 * what memsets wrote, kept as runs of a four-byte pattern.
 *
 * From the environment, read by cuInit while nothing is alive:
 *
 *   FAKE_CUDA_DEVICES       number of GPUs (1)
 *   FAKE_CUDA_MEMORY        bytes of each (139 GiB)
 *   FAKE_CUDA_ENTRIES       size of the table (524288)
 *   FAKE_CUDA_ENTRIES_USED  held by others in it (410)
 *   FAKE_CUDA_HINTS_FROM    bytes below which an address hint is not heeded (0)
 *   FAKE_CUDA_NO_PEER       pairs that cannot reach each other: 0-1,2-3
 *   FAKE_CUDA_FAIL          CALL:N[:for-ever][:ERROR],...: the N-th CALL from
 *                           1 (and all after it) answers ERROR (999)
 *   FAKE_CUDA_REPORT        file that gets one line of JSON at exit: what is
 *                           alive, and what was called in the wrong order
 */
typedef int fake_cuda_is_never_empty;

#ifdef KVP_HAVE_CUDA

#include <cuda.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From CUDA 13 on the name means the second version. */
#undef cuDeviceGetUuid
CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice dev);

#define GRANULE (UINT64_C(2) << 20)
#define MAX_GPUS 32
#define MAX_FAULTS 16
#define MAX_ERRORS 16
#define MAX_DEPTH 64
/* Addresses are given out from here down, and hints heeded below LAST. */
#define TOP UINT64_C(0x7f0000000000)
#define LAST (UINT64_C(1) << 47)
/* What memory holds that was never written. */
#define JUNK UINT32_C(0xdeadbeef)
#define UNTOLD 0xff

/* The attributes it has. */
#define MAPS CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
#define POSIX_FD \
	CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
#define RDMA CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED

/* Bytes up to `end` hold the pattern: byte x holds its byte x % 4. */
struct run {
	uint32_t end;
	uint32_t pattern;
};

/* What 2 MiB of memory hold; no runs: never written. */
struct granule {
	struct run *runs;
	uint32_t count;
	uint32_t room;
};

struct memory {
	uint64_t bytes;		/* 0: free slot */
	struct granule *granules;	/* NULL until written */
	uint32_t device;
	uint32_t generation;	/* tells old handles from new ones */
	uint32_t mappings;
	bool released;
};

struct mapping {
	uint64_t base;
	uint64_t bytes;		/* 0: free slot, whose next one is `memory` */
	uint32_t memory;
	uint8_t flags[MAX_GPUS];
};

struct reservation {
	uint64_t base;
	uint64_t bytes;
	uint64_t mappings;
	uint32_t *slots;	/* per granule: mapping + 1, or 0 */
};

/*
 * Work on a stream: a memset, a copy where there is a host address, or a
 * comparison where there is a place for the number of a wrong vector.
 */
struct op {
	uint64_t address;
	uint64_t bytes;
	unsigned char *host;
	uint64_t *wrong;
	uint32_t pattern;
};

/* A vector of the kernel kvp_match: four words. */
#define VECTOR 16

struct gpu {
	uint64_t used_bytes;
	unsigned retained;
	bool lost;		/* work on it hit an unmapped address */
	bool no_peer[MAX_GPUS];
};

/* A CUstream points at one. */
struct stream {
	struct stream *next;
	uint32_t device;
	struct op *ops;
	size_t nops;
	size_t room;
};

struct fault {
	char call[48];
	unsigned long n;
	unsigned long seen;
	bool for_ever;
	int error;
};

static struct {
	pthread_mutex_t lock;
	bool started;
	bool reporting;
	uint32_t devices;
	uint64_t memory_bytes;
	uint64_t entries;
	uint64_t hints_from;	/* smaller reservations land anywhere */
	uint64_t entries_used;	/* by others */
	uint64_t entries_held;	/* by this process */
	struct fault faults[MAX_FAULTS];
	size_t nfaults;
	struct gpu gpus[MAX_GPUS];
	struct stream *streams;
	struct reservation *reservations;	/* by address */
	size_t nreservations, reservations_room;
	struct mapping *mappings;
	uint32_t nmappings, mappings_room, mapping_free, mappings_alive;
	struct memory *memories;
	uint32_t nmemories, memories_room, memory_free, memories_alive;
	void **hosts;
	size_t nhosts, hosts_room;
	char errors[MAX_ERRORS][160];
	size_t nerrors;		/* all, also those there was no room for */
} cu = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local CUcontext stack[MAX_DEPTH];
static _Thread_local size_t depth;

static void die(const char *what, const char *text)
{
	fprintf(stderr, "stand-in libcuda: %s: %s\n", what, text);
	abort();
}

/* An array with room for one more, twice as large where it is full. */
static void *grown(void *array, size_t count, size_t *room, size_t each)
{
	if (count < *room)
		return array;
	*room = *room ? 2 * *room : 16;
	array = realloc(array, *room * each);
	if (!array)
		die("realloc", "no memory");
	return array;
}

static void *grown32(void *array, uint32_t count, uint32_t *room, size_t each)
{
	size_t wide = *room;

	array = grown(array, count, &wide, each);
	*room = (uint32_t)wide;
	return array;
}

static void *zeroed(uint64_t count, size_t each)
{
	void *p = calloc(count, each);

	if (!p)
		die("calloc", "no memory");
	return p;
}

/* Remember a call in the wrong order; the driver calls it an invalid value. */
#ifdef __GNUC__
__attribute__((format(printf, 1, 2)))
#endif
static CUresult refuse(const char *format, ...)
{
	va_list args;

	if (cu.nerrors < MAX_ERRORS) {
		va_start(args, format);
		vsnprintf(cu.errors[cu.nerrors], sizeof(*cu.errors), format,
			  args);
		va_end(args);
	}
	cu.nerrors++;
	return CUDA_ERROR_INVALID_VALUE;
}

/* --- what is in memory --- */

static unsigned char pattern_byte(uint32_t pattern, uint64_t at)
{
	return (unsigned char)(pattern >> 8 * (at % 4));
}

static uint32_t run_start(const struct granule *g, uint32_t i)
{
	return i ? g->runs[i - 1].end : 0;
}

/* The run that holds a byte. */
static uint32_t run_at(const struct granule *g, uint32_t at)
{
	uint32_t low = 0;
	uint32_t high = g->count - 1;
	uint32_t middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (g->runs[middle].end > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Put `n` runs in the place of [i, j). */
static void splice(struct granule *g, uint32_t i, uint32_t j,
		   const struct run *with, uint32_t n)
{
	uint32_t count = g->count - (j - i) + n;

	if (count > g->room) {
		g->room = count > 4 ? 2 * count : count;
		g->runs = realloc(g->runs, g->room * sizeof(*g->runs));
		if (!g->runs)
			die("realloc", "no memory");
	}
	memmove(g->runs + i + n, g->runs + j,
		(g->count - j) * sizeof(*g->runs));
	memcpy(g->runs + i, with, n * sizeof(*with));
	g->count = count;
}

/* Do two patterns mean the same bytes in [from, to)? */
static bool agree(uint32_t p, uint32_t q, uint32_t from, uint32_t to)
{
	if (p == q)
		return true;
	if (to - from >= 4)
		return false;
	for (; from < to; from++)
		if (pattern_byte(p, from) != pattern_byte(q, from))
			return false;
	return true;
}

/* Make runs i and i + 1 one if a single pattern says both. */
static bool join(struct granule *g, uint32_t i)
{
	struct run a = g->runs[i];
	struct run b = g->runs[i + 1];

	if (agree(a.pattern, b.pattern, a.end, b.end))
		b.pattern = a.pattern;
	else if (!agree(a.pattern, b.pattern, run_start(g, i), a.end))
		return false;
	splice(g, i, i + 2, &b, 1);
	return true;
}

static void granule_write(struct granule *g, uint32_t from, uint32_t to,
			  uint32_t pattern)
{
	static const struct run junk = { (uint32_t)GRANULE, JUNK };
	struct run with[3];
	uint32_t n = 0;
	uint32_t i, j;

	if (!g->count)
		splice(g, 0, 0, &junk, 1);
	i = run_at(g, from);
	j = run_at(g, to - 1);
	if (run_start(g, i) < from)
		with[n++] = (struct run){ from, g->runs[i].pattern };
	with[n++] = (struct run){ to, pattern };
	if (g->runs[j].end > to)
		with[n++] = g->runs[j];
	splice(g, i, j + 1, with, n);
	if (with[0].end == from)
		i++;
	while (i && join(g, i - 1))
		i--;
	while (i + 1 < g->count && join(g, i))
		continue;
}

/* The pattern from byte `at` on, doubled while it fits the cache. */
static void expand(unsigned char *to, uint64_t at, uint64_t bytes,
		   uint32_t pattern)
{
	uint64_t done, n;

	for (done = 0; done < 4 && done < bytes; done++)
		to[done] = pattern_byte(pattern, at + done);
	for (; done < bytes; done += n) {
		n = done < 32768 ? done : 32768;
		n = n < bytes - done ? n : bytes - done;
		memcpy(to + done, to, n);
	}
}

static void granule_read(const struct granule *g, uint32_t from, uint32_t to,
			 unsigned char *host)
{
	uint32_t i, end;

	if (!g || !g->count) {
		expand(host, from, to - from, JUNK);
		return;
	}
	for (i = run_at(g, from); from < to; i++) {
		end = g->runs[i].end < to ? g->runs[i].end : to;
		expand(host, from, end - from, g->runs[i].pattern);
		host += end - from;
		from = end;
	}
}

/* --- addresses --- */

/* The first reservation that ends above an address. */
static size_t reservation_above(uint64_t address)
{
	size_t low = 0;
	size_t high = cu.nreservations;
	size_t middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (cu.reservations[middle].base +
		    cu.reservations[middle].bytes > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The reservation that an address is in, or NULL. */
static struct reservation *reservation_at(uint64_t address)
{
	size_t i = reservation_above(address);

	if (i < cu.nreservations && cu.reservations[i].base <= address)
		return &cu.reservations[i];
	return NULL;
}

static struct mapping *mapping_at(uint64_t address)
{
	struct reservation *r = reservation_at(address);
	uint32_t slot = r ? r->slots[(address - r->base) / GRANULE] : 0;

	return slot ? &cu.mappings[slot - 1] : NULL;
}

static void set_slots(struct reservation *r, uint64_t address, uint64_t bytes,
		      uint32_t slot)
{
	uint64_t i = (address - r->base) / GRANULE;
	uint64_t end = i + bytes / GRANULE;

	for (; i < end; i++)
		r->slots[i] = slot;
}

static bool place_is_free(uint64_t base, uint64_t bytes)
{
	size_t i = reservation_above(base);

	return base >= GRANULE && base < LAST && bytes <= LAST - base &&
	       (i == cu.nreservations ||
		cu.reservations[i].base >= base + bytes);
}

/* The highest free place below TOP, or 0. */
static uint64_t find_place(uint64_t bytes, uint64_t alignment)
{
	uint64_t top = TOP;
	size_t i = reservation_above(TOP - 1);
	uint64_t base, floor;

	if (i < cu.nreservations && cu.reservations[i].base < top)
		top = cu.reservations[i].base;
	for (;; i--) {
		floor = GRANULE;
		if (i)
			floor = cu.reservations[i - 1].base +
				cu.reservations[i - 1].bytes;
		base = top > bytes ? (top - bytes) & ~(alignment - 1) : 0;
		if (base >= floor)
			return base;
		if (!i)
			return 0;
		top = cu.reservations[i - 1].base;
	}
}

static CUresult reserve(CUdeviceptr *ptr, uint64_t size, uint64_t alignment,
			uint64_t hint, unsigned long long flags)
{
	uint64_t base = hint;
	size_t i;

	if (alignment < GRANULE)
		alignment = GRANULE;
	if (!ptr || !size || size % GRANULE || flags ||
	    (alignment & (alignment - 1)))
		return CUDA_ERROR_INVALID_VALUE;
	if (size > LAST)
		return CUDA_ERROR_OUT_OF_MEMORY;
	/* What fits the space a driver holds already lands there. */
	if (size < cu.hints_from || hint % alignment ||
	    !place_is_free(hint, size))
		base = find_place(size, alignment);
	if (!base)
		return CUDA_ERROR_OUT_OF_MEMORY;
	cu.reservations = grown(cu.reservations, cu.nreservations,
				&cu.reservations_room,
				sizeof(*cu.reservations));
	i = reservation_above(base);
	memmove(cu.reservations + i + 1, cu.reservations + i,
		(cu.nreservations - i) * sizeof(*cu.reservations));
	cu.reservations[i] = (struct reservation){
		.base = base, .bytes = size,
		.slots = zeroed(size / GRANULE, sizeof(uint32_t)),
	};
	cu.nreservations++;
	*ptr = base;
	return CUDA_SUCCESS;
}

static CUresult unreserve(uint64_t base, uint64_t size)
{
	struct reservation *r = reservation_at(base);
	size_t i;

	if (!r || r->base != base || r->bytes != size)
		return refuse("cuMemAddressFree: 0x%" PRIx64 " + 0x%" PRIx64
			      " is no reservation", base, size);
	if (r->mappings)
		return refuse("cuMemAddressFree: 0x%" PRIx64 " still has %"
			      PRIu64 " mappings", base, r->mappings);
	free(r->slots);
	i = (size_t)(r - cu.reservations);
	cu.nreservations--;
	memmove(r, r + 1, (cu.nreservations - i) * sizeof(*r));
	return CUDA_SUCCESS;
}

/* --- physical memory --- */

static CUresult create(CUmemGenericAllocationHandle *handle, uint64_t size,
		       const CUmemAllocationProp *prop,
		       unsigned long long flags)
{
	struct memory *m;
	struct gpu *g;
	uint32_t i;

	if (!handle || !size || size % GRANULE || flags || !prop ||
	    prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    prop->location.id < 0 || (uint32_t)prop->location.id >= cu.devices)
		return CUDA_ERROR_INVALID_VALUE;
	if ((int)prop->requestedHandleTypes &
	    ~(int)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_NOT_SUPPORTED;
	g = &cu.gpus[prop->location.id];
	if (size > cu.memory_bytes - g->used_bytes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	i = cu.memory_free ? cu.memory_free - 1 : cu.nmemories;
	if (!cu.memory_free) {
		cu.memories = grown32(cu.memories, cu.nmemories,
				      &cu.memories_room, sizeof(*m));
		cu.memories[cu.nmemories++] = (struct memory){ .bytes = 0 };
	}
	m = &cu.memories[i];
	if (cu.memory_free)
		cu.memory_free = m->mappings;	/* the next free slot */
	*m = (struct memory){ .bytes = size, .generation = m->generation + 1,
			      .device = (uint32_t)prop->location.id };
	g->used_bytes += size;
	cu.memories_alive++;
	*handle = (uint64_t)m->generation << 32 | (i + 1);
	return CUDA_SUCCESS;
}

/* What a handle stands for, or NULL when it was released or never was. */
static struct memory *memory_of(CUmemGenericAllocationHandle handle)
{
	uint64_t i = (handle & UINT32_MAX) - 1;
	struct memory *m = i < cu.nmemories ? &cu.memories[i] : NULL;

	if (!m || !m->bytes || m->released || m->generation != handle >> 32)
		return NULL;
	return m;
}

/* Memory lives until it is released and mapped nowhere. */
static void memory_drop(struct memory *m)
{
	uint64_t i;

	if (!m->released || m->mappings)
		return;
	for (i = 0; m->granules && i < m->bytes / GRANULE; i++)
		free(m->granules[i].runs);
	free(m->granules);
	cu.gpus[m->device].used_bytes -= m->bytes;
	cu.memories_alive--;
	*m = (struct memory){ .generation = m->generation,
			      .mappings = cu.memory_free };
	cu.memory_free = (uint32_t)(m - cu.memories) + 1;
}

static CUresult release(CUmemGenericAllocationHandle handle)
{
	struct memory *m = memory_of(handle);

	if (!m)
		return refuse("cuMemRelease: 0x%llx is no handle, or released",
			      handle);
	m->released = true;
	memory_drop(m);
	return CUDA_SUCCESS;
}

/* --- mappings --- */

static bool slots_are_free(const struct reservation *r, uint64_t address,
			   uint64_t bytes)
{
	uint64_t i = (address - r->base) / GRANULE;
	uint64_t end = i + bytes / GRANULE;

	for (; i < end; i++)
		if (r->slots[i])
			return false;
	return true;
}

static uint32_t new_mapping(void)
{
	uint32_t i = cu.mapping_free;

	if (i) {
		cu.mapping_free = cu.mappings[i - 1].memory;
		return i - 1;
	}
	cu.mappings = grown32(cu.mappings, cu.nmappings, &cu.mappings_room,
			      sizeof(*cu.mappings));
	return cu.nmappings++;
}

static CUresult map(uint64_t address, uint64_t size, uint64_t offset,
		    CUmemGenericAllocationHandle handle,
		    unsigned long long flags)
{
	struct reservation *r = reservation_at(address);
	struct memory *m = memory_of(handle);
	uint32_t i;

	if (!m)
		return refuse("cuMemMap: 0x%llx is no handle, or released",
			      handle);
	if (!size || (address | size | offset) % GRANULE || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (offset || size < m->bytes)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (size > m->bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (!r || size > r->base + r->bytes - address)
		return refuse("cuMemMap: 0x%" PRIx64 " + 0x%" PRIx64
			      " is not reserved", address, size);
	if (!slots_are_free(r, address, size))
		return refuse("cuMemMap: 0x%" PRIx64 " + 0x%" PRIx64
			      " is mapped already", address, size);
	i = new_mapping();
	cu.mappings[i] = (struct mapping){
		.base = address, .bytes = size,
		.memory = (uint32_t)(m - cu.memories),
	};
	set_slots(r, address, size, i + 1);
	r->mappings++;
	m->mappings++;
	cu.mappings_alive++;
	return CUDA_SUCCESS;
}

/* A range must consist of whole mappings, without holes. */
static CUresult whole(const char *call, uint64_t address, uint64_t size)
{
	uint64_t end = address + size;
	const struct mapping *m;

	if (!size)
		return CUDA_ERROR_INVALID_VALUE;
	while (address < end) {
		m = mapping_at(address);
		if (!m)
			return refuse("%s: nothing is mapped at 0x%" PRIx64,
				      call, address);
		if (m->base != address || m->bytes > end - address)
			return refuse("%s: 0x%" PRIx64 " is in the middle of a"
				      " mapping", call,
				      m->base != address ? address : end);
		address += m->bytes;
	}
	return CUDA_SUCCESS;
}

static CUresult unmap(uint64_t address, uint64_t size)
{
	CUresult rc = whole("cuMemUnmap", address, size);
	uint64_t end = address + size;
	struct reservation *r;
	struct mapping *m;
	uint32_t device;

	if (rc)
		return rc;
	while (address < end) {
		r = reservation_at(address);
		m = mapping_at(address);
		for (device = 0; device < cu.devices; device++)
			cu.entries_held -= m->flags[device] != 0;
		set_slots(r, address, m->bytes, 0);
		address += m->bytes;
		r->mappings--;
		cu.mappings_alive--;
		cu.memories[m->memory].mappings--;
		memory_drop(&cu.memories[m->memory]);
		*m = (struct mapping){ .memory = cu.mapping_free };
		cu.mapping_free = (uint32_t)(m - cu.mappings) + 1;
	}
	return CUDA_SUCCESS;
}

/* The wanted flags by device, UNTOLD where nothing is said. */
static CUresult read_descs(const CUmemAccessDesc *descs, size_t count,
			   uint8_t *want)
{
	uint64_t flags;
	size_t i;
	int id;

	if (!descs || !count)
		return CUDA_ERROR_INVALID_VALUE;
	memset(want, UNTOLD, MAX_GPUS);
	for (i = 0; i < count; i++) {
		id = descs[i].location.id;
		flags = (uint64_t)descs[i].flags;
		if (descs[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
		    id < 0 || (uint32_t)id >= cu.devices ||
		    (flags != 0 && flags != 1 && flags != 3))
			return CUDA_ERROR_INVALID_VALUE;
		/* What the driver makes of it was not measured. */
		if (want[id] != UNTOLD)
			return refuse("cuMemSetAccess: device %d is given"
				      " twice", id);
		want[id] = (uint8_t)flags;
	}
	return CUDA_SUCCESS;
}

/* How many entries one mapping's grants take, or give back. */
static CUresult count_entries(const struct mapping *m, const uint8_t *want,
			      int64_t *entries)
{
	uint32_t owner = cu.memories[m->memory].device;
	uint32_t i;

	for (i = 0; i < cu.devices; i++) {
		if (want[i] == UNTOLD)
			continue;
		/* Assumed: the driver's answer was not measured. */
		if (want[i] && cu.gpus[i].no_peer[owner])
			return CUDA_ERROR_INVALID_DEVICE;
		*entries += (want[i] != 0) - (m->flags[i] != 0);
	}
	return CUDA_SUCCESS;
}

static CUresult set_access(uint64_t address, uint64_t size,
			   const CUmemAccessDesc *descs, size_t count)
{
	uint8_t want[MAX_GPUS];
	uint64_t end = address + size;
	CUresult rc = read_descs(descs, count, want);
	struct mapping *m;
	int64_t entries = 0;
	uint64_t at;
	uint32_t i;

	if (!rc)
		rc = whole("cuMemSetAccess", address, size);
	for (at = address; !rc && at < end; at += m->bytes) {
		m = mapping_at(at);
		rc = count_entries(m, want, &entries);
	}
	if (rc)
		return rc;
	if (entries > 0 && cu.entries_used + cu.entries_held +
			   (uint64_t)entries > cu.entries)
		return CUDA_ERROR_OUT_OF_MEMORY;
	cu.entries_held += (uint64_t)entries;
	for (at = address; at < end; at += m->bytes) {
		m = mapping_at(at);
		for (i = 0; i < cu.devices; i++)
			if (want[i] != UNTOLD)
				m->flags[i] = want[i];
	}
	return CUDA_SUCCESS;
}

static CUresult get_access(unsigned long long *flags,
			   const CUmemLocation *where, uint64_t address)
{
	const struct mapping *m = mapping_at(address);

	if (!flags || !where || where->type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    where->id < 0 || (uint32_t)where->id >= cu.devices)
		return CUDA_ERROR_INVALID_VALUE;
	if (!m)
		return refuse("cuMemGetAccess: nothing is mapped at 0x%"
			      PRIx64, address);
	*flags = m->flags[where->id];
	return CUDA_SUCCESS;
}

/* --- contexts and streams --- */

static bool no_gpu(CUdevice device)
{
	return device < 0 || (uint32_t)device >= cu.devices;
}

/* A context is its GPU's address. */
static CUcontext context_of(uint32_t device)
{
	return (CUcontext)(void *)&cu.gpus[device];
}

static CUresult device_of(CUcontext context, uint32_t *device)
{
	uint32_t i;

	for (i = 0; i < cu.devices; i++) {
		if (context != context_of(i) || !cu.gpus[i].retained)
			continue;
		*device = i;
		return cu.gpus[i].lost ? CUDA_ERROR_ILLEGAL_ADDRESS
				       : CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult current(uint32_t *device)
{
	return depth ? device_of(stack[depth - 1], device)
		     : CUDA_ERROR_INVALID_CONTEXT;
}

/* The stream, if it is one and its context is current. */
static CUresult find_stream(CUstream handle, struct stream **stream)
{
	struct stream *s;
	uint32_t device;
	CUresult rc = current(&device);

	for (s = cu.streams; !rc && s; s = s->next) {
		if ((CUstream)(void *)s != handle)
			continue;
		if (s->device != device) {
			refuse("a stream of device %" PRIu32 " is used while"
			       " %" PRIu32 " is current", s->device, device);
			return CUDA_ERROR_INVALID_HANDLE;
		}
		*stream = s;
		return CUDA_SUCCESS;
	}
	return rc ? rc : CUDA_ERROR_INVALID_HANDLE;
}

/* May the device do it (1: read, 2: write) to all of a range? */
static CUresult may(const char *call, uint32_t device, uint64_t address,
		    uint64_t bytes, unsigned need)
{
	uint64_t end = address + bytes;
	const struct mapping *m;

	for (; address < end; address = m->base + m->bytes) {
		m = mapping_at(address);
		if (!m)
			return refuse("%s: nothing is mapped at 0x%" PRIx64,
				      call, address);
		if (!(m->flags[device] & need))
			return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

static CUresult enqueue(const char *call, CUstream handle, struct op op)
{
	struct stream *s = NULL;
	CUresult rc = find_stream(handle, &s);

	/* A kernel's access is known only when it runs. */
	if (!rc && !op.wrong)
		rc = may(call, s->device, op.address, op.bytes,
			 op.host ? 1 : 2);
	if (rc || !op.bytes)
		return rc;
	s->ops = grown(s->ops, s->nops, &s->room, sizeof(*s->ops));
	s->ops[s->nops++] = op;
	return CUDA_SUCCESS;
}

/* The kernel's work in one granule: an atomic minimum. */
static void compare(const struct op *op, uint64_t done,
		    const struct granule *g, uint32_t from, uint32_t n)
{
	static unsigned char is[GRANULE], should[GRANULE];
	uint32_t at;
	uint64_t vector;

	granule_read(g, from, from + n, is);
	expand(should, from, n, op->pattern);
	if (!memcmp(is, should, n))
		return;
	for (at = 0; is[at] == should[at]; at++)
		continue;
	vector = (done + at) / VECTOR;
	if (vector < *op->wrong)
		*op->wrong = vector;
}

/* Do the part of an operation that lies in one granule; how much that is. */
static uint64_t run_part(const struct op *op, uint64_t done)
{
	uint64_t address = op->address + done;
	const struct mapping *mapping = mapping_at(address);
	uint32_t from = (uint32_t)(address % GRANULE);
	uint64_t n = GRANULE - from;
	struct memory *m;
	uint64_t i;

	if (!mapping)
		return 0;
	if (n > op->bytes - done)
		n = op->bytes - done;
	m = &cu.memories[mapping->memory];
	i = (address - mapping->base) / GRANULE;
	if (op->host) {
		granule_read(m->granules ? &m->granules[i] : NULL, from,
			     from + (uint32_t)n, op->host + done);
		return n;
	}
	if (op->wrong) {
		compare(op, done, m->granules ? &m->granules[i] : NULL, from,
			(uint32_t)n);
		return n;
	}
	if (!m->granules)
		m->granules = zeroed(m->bytes / GRANULE,
				     sizeof(*m->granules));
	granule_write(&m->granules[i], from, from + (uint32_t)n, op->pattern);
	return n;
}

/* A kernel that touches what its device was not granted faults. */
static bool may_run(const struct stream *s, const struct op *op, uint64_t done)
{
	const struct mapping *m = mapping_at(op->address + done);

	return m && (!op->wrong || (m->flags[s->device] & 1));
}

/* Do what a stream holds.  What is unmapped by now costs the context. */
static CUresult run_stream(struct stream *s)
{
	uint64_t done, n;
	size_t i;

	for (i = 0; i < s->nops; i++)
		for (done = 0; done < s->ops[i].bytes; done += n) {
			n = may_run(s, &s->ops[i], done) ?
				run_part(&s->ops[i], done) : 0;
			if (n)
				continue;
			refuse("work of device %" PRIu32 " at 0x%" PRIx64
			       " ran where it may not or nothing is mapped",
			       s->device, s->ops[i].address + done);
			cu.gpus[s->device].lost = true;
			s->nops = 0;
			return CUDA_ERROR_ILLEGAL_ADDRESS;
		}
	s->nops = 0;
	return CUDA_SUCCESS;
}

static CUresult stream_create(CUstream *handle, unsigned flags)
{
	struct stream *s;
	uint32_t device;
	CUresult rc = current(&device);

	if (!rc && (!handle || flags > CU_STREAM_NON_BLOCKING))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc)
		return rc;
	s = zeroed(1, sizeof(*s));
	s->device = device;
	s->next = cu.streams;
	cu.streams = s;
	*handle = (CUstream)(void *)s;
	return CUDA_SUCCESS;
}

static void stream_free(struct stream *s)
{
	struct stream **link = &cu.streams;

	while (*link != s)
		link = &(*link)->next;
	*link = s->next;
	free(s->ops);
	free(s);
}

static CUresult context_synchronize(void)
{
	struct stream *s;
	uint32_t device;
	CUresult rc = current(&device);

	for (s = cu.streams; !rc && s; s = s->next)
		if (s->device == device)
			rc = run_stream(s);
	return rc;
}

static CUresult context_release(CUdevice device)
{
	struct stream *s, *next;
	struct gpu *g;
	size_t i;

	if (no_gpu(device))
		return CUDA_ERROR_INVALID_DEVICE;
	g = &cu.gpus[device];
	if (!g->retained) {
		refuse("cuDevicePrimaryCtxRelease: device %d is not retained",
		       device);
		return CUDA_ERROR_INVALID_CONTEXT;
	}
	if (--g->retained)
		return CUDA_SUCCESS;
	g->lost = false;
	for (i = 0; i < depth; i++)
		if (stack[i] == context_of((uint32_t)device))
			refuse("cuDevicePrimaryCtxRelease: the context of"
			       " device %d is still current", device);
	for (s = cu.streams; s; s = next) {
		next = s->next;
		if (s->device != (uint32_t)device)
			continue;
		refuse("cuDevicePrimaryCtxRelease: device %d has a stream",
		       device);
		stream_free(s);
	}
	return CUDA_SUCCESS;
}

static CUresult host_alloc(void **p, size_t bytes)
{
	uint32_t device;
	CUresult rc = current(&device);

	if (rc)
		return rc;
	if (!p || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	*p = malloc(bytes);
	if (!*p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	cu.hosts = grown(cu.hosts, cu.nhosts, &cu.hosts_room,
			 sizeof(*cu.hosts));
	cu.hosts[cu.nhosts++] = *p;
	return CUDA_SUCCESS;
}

static CUresult host_free(void *p)
{
	size_t i;

	for (i = 0; i < cu.nhosts; i++) {
		if (cu.hosts[i] != p)
			continue;
		free(p);
		cu.hosts[i] = cu.hosts[--cu.nhosts];
		return CUDA_SUCCESS;
	}
	return refuse("cuMemFreeHost: not from cuMemHostAlloc, or freed");
}

/* --- settings and the report --- */

static uint64_t number(const char *name, uint64_t usual, uint64_t most)
{
	const char *text = getenv(name);
	char *end;
	uint64_t value;

	if (!text)
		return usual;
	value = strtoull(text, &end, 10);
	if (end == text || *end || value > most)
		die(name, text);
	return value;
}

static void read_peers(void)
{
	const char *text = getenv("FAKE_CUDA_NO_PEER");
	const char *p = text;
	unsigned a, b;
	int used;

	while (p && *p) {
		if (sscanf(p, "%u-%u%n", &a, &b, &used) != 2 ||
		    a >= MAX_GPUS || b >= MAX_GPUS || a == b ||
		    (p[used] && p[used] != ','))
			die("FAKE_CUDA_NO_PEER", text);
		cu.gpus[a].no_peer[b] = cu.gpus[b].no_peer[a] = true;
		p += used + (p[used] == ',');
	}
}

static void read_fault(char *text)
{
	struct fault f = { .error = CUDA_ERROR_UNKNOWN };
	char *save;
	char *word = strtok_r(text, ":", &save);

	if (!word || strlen(word) >= sizeof(f.call) ||
	    cu.nfaults == MAX_FAULTS)
		die("FAKE_CUDA_FAIL", "not understood");
	strcpy(f.call, word);
	word = strtok_r(NULL, ":", &save);
	f.n = word ? strtoul(word, NULL, 10) : 0;
	if (!f.n)
		die("FAKE_CUDA_FAIL", "no count, from 1");
	while ((word = strtok_r(NULL, ":", &save)) != NULL) {
		if (strcmp(word, "for-ever") == 0)
			f.for_ever = true;
		else if (atoi(word) > 0)
			f.error = atoi(word);
		else
			die("FAKE_CUDA_FAIL", word);
	}
	cu.faults[cu.nfaults++] = f;
}

static void read_faults(void)
{
	const char *text = getenv("FAKE_CUDA_FAIL");
	char copy[1024];
	char *save;
	char *word;

	cu.nfaults = 0;
	if (!text)
		return;
	if (strlen(text) >= sizeof(copy))
		die("FAKE_CUDA_FAIL", "too long");
	strcpy(copy, text);
	for (word = strtok_r(copy, ",", &save); word;
	     word = strtok_r(NULL, ",", &save))
		read_fault(word);
}

static unsigned contexts_alive(void)
{
	unsigned sum = 0;
	uint32_t i;

	for (i = 0; i < MAX_GPUS; i++)
		sum += cu.gpus[i].retained;
	return sum;
}

static bool alive(void)
{
	return contexts_alive() || cu.streams || cu.nreservations ||
	       cu.mappings_alive || cu.memories_alive || cu.nhosts;
}

static void configure(void)
{
	if (alive())
		return;
	memset(cu.gpus, 0, sizeof(cu.gpus));
	cu.devices = (uint32_t)number("FAKE_CUDA_DEVICES", 1, MAX_GPUS);
	cu.memory_bytes = number("FAKE_CUDA_MEMORY", UINT64_C(139) << 30,
				 INT64_MAX);
	cu.entries = number("FAKE_CUDA_ENTRIES", 524288, INT64_MAX);
	cu.hints_from = number("FAKE_CUDA_HINTS_FROM", 0, INT64_MAX);
	cu.entries_used = number("FAKE_CUDA_ENTRIES_USED", 410, INT64_MAX);
	read_peers();
	read_faults();
}

static size_t count_streams(void)
{
	const struct stream *s;
	size_t n = 0;

	for (s = cu.streams; s; s = s->next)
		n++;
	return n;
}

static void report(void)
{
	const char *name = getenv("FAKE_CUDA_REPORT");
	FILE *out = name ? fopen(name, "a") : NULL;
	size_t shown = cu.nerrors < MAX_ERRORS ? cu.nerrors : MAX_ERRORS;
	size_t i;

	if (!name)
		return;
	if (!out)
		die("FAKE_CUDA_REPORT", name);
	fprintf(out, "{\"reservations\":%zu,\"handles\":%" PRIu32
		",\"mappings\":%" PRIu32 ",\"entries\":%" PRIu64
		",\"contexts\":%u,\"streams\":%zu,\"host\":%zu,\"errors\":[",
		cu.nreservations, cu.memories_alive, cu.mappings_alive,
		cu.entries_held, contexts_alive(), count_streams(), cu.nhosts);
	for (i = 0; i < shown; i++)
		fprintf(out, "%s\"%s\"", i ? "," : "", cu.errors[i]);
	if (shown < cu.nerrors)
		fprintf(out, ",\"and %zu more\"", cu.nerrors - shown);
	if (depth)
		fprintf(out, "%s\"%zu contexts were left current\"",
			shown ? "," : "", depth);
	fputs("]}\n", out);
	if (fclose(out))
		die("FAKE_CUDA_REPORT", name);
}

/* --- what is exported --- */

/* Every call begins here, locked; the answer is a fault that is due. */
static CUresult begin(const char *call)
{
	struct fault *f;
	size_t i;

	pthread_mutex_lock(&cu.lock);
	if (strcmp(call, "cuInit") == 0)
		configure();
	else if (!cu.started)
		return CUDA_ERROR_NOT_INITIALIZED;
	for (i = 0; i < cu.nfaults; i++) {
		f = &cu.faults[i];
		if (strcmp(f->call, call))
			continue;
		f->seen++;
		if (f->seen == f->n || (f->for_ever && f->seen > f->n))
			return (CUresult)f->error;
	}
	return CUDA_SUCCESS;
}

static CUresult end(CUresult rc)
{
	pthread_mutex_unlock(&cu.lock);
	return rc;
}

static const struct {
	CUresult code;
	const char *name;
	const char *text;
} results[] = {
	{ CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
	{ CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE",
	  "invalid argument" },
	{ CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY",
	  "out of memory" },
	{ CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED",
	  "initialization error" },
	{ CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
	  "no CUDA-capable device is detected" },
	{ CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE",
	  "invalid device ordinal" },
	{ CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT",
	  "invalid device context" },
	{ CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE",
	  "invalid resource handle" },
	{ CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
	  "an illegal memory access was encountered" },
	{ CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED",
	  "operation not supported" },
	{ CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error" },
};

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **text)
{
	size_t i;

	*text = NULL;
	for (i = 0; i < sizeof(results) / sizeof(*results); i++)
		if (results[i].code == error)
			*text = results[i].name;
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text)
{
	size_t i;

	*text = NULL;
	for (i = 0; i < sizeof(results) / sizeof(*results); i++)
		if (results[i].code == error)
			*text = results[i].text;
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuInit(unsigned int flags)
{
	CUresult rc = begin("cuInit");

	if (!cu.reporting)
		atexit(report);
	cu.reporting = true;
	if (!rc && flags)
		rc = CUDA_ERROR_INVALID_VALUE;
	if (!rc && !cu.devices)
		rc = CUDA_ERROR_NO_DEVICE;
	if (!rc)
		cu.started = true;
	return end(rc);
}

CUresult CUDAAPI cuDriverGetVersion(int *version)
{
	CUresult rc = begin("cuDriverGetVersion");

	if (!rc)
		*version = 13000;
	return end(rc);
}

CUresult CUDAAPI cuDeviceGetCount(int *count)
{
	CUresult rc = begin("cuDeviceGetCount");

	if (!rc)
		*count = (int)cu.devices;
	return end(rc);
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal)
{
	CUresult rc = begin("cuDeviceGet");

	if (!rc && no_gpu(ordinal))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc)
		*device = ordinal;
	return end(rc);
}

CUresult CUDAAPI cuDeviceGetName(char *name, int len, CUdevice dev)
{
	CUresult rc = begin("cuDeviceGetName");

	if (!rc && no_gpu(dev))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc)
		snprintf(name, (size_t)len, "Stand-in GPU");
	return end(rc);
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	static const char fixed[] = "kvplan-stand-in";
	CUresult rc = begin("cuDeviceGetUuid");

	if (!rc && no_gpu(dev))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc) {
		memcpy(uuid->bytes, fixed, sizeof(uuid->bytes));
		uuid->bytes[sizeof(uuid->bytes) - 1] = (char)dev;
	}
	return end(rc);
}

CUresult CUDAAPI cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	CUresult rc = begin("cuDeviceTotalMem");

	if (!rc && no_gpu(dev))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc)
		*bytes = cu.memory_bytes;
	return end(rc);
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
				      CUdevice dev)
{
	CUresult rc = begin("cuDeviceGetAttribute");
	int a = (int)attribute;

	if (!rc && no_gpu(dev))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc)
		*value = a == MAPS || a == POSIX_FD || a == RDMA;
	return end(rc);
}

CUresult CUDAAPI cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
	CUresult rc = begin("cuDeviceCanAccessPeer");

	if (!rc && (no_gpu(dev) || no_gpu(peer)))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc)
		*can = dev != peer && !cu.gpus[dev].no_peer[peer];
	return end(rc);
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice dev)
{
	CUresult rc = begin("cuDevicePrimaryCtxRetain");

	if (!rc && no_gpu(dev))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc) {
		cu.gpus[dev].retained++;
		*context = context_of((uint32_t)dev);
	}
	return end(rc);
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	CUresult rc = begin("cuDevicePrimaryCtxRelease");

	return end(rc ? rc : context_release(dev));
}

CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext context)
{
	CUresult rc = begin("cuCtxPushCurrent");
	uint32_t device;

	if (!rc)
		rc = device_of(context, &device);
	/* A lost context may be current, it is of no use only. */
	if (rc == CUDA_ERROR_ILLEGAL_ADDRESS)
		rc = CUDA_SUCCESS;
	if (!rc && depth == MAX_DEPTH)
		rc = refuse("cuCtxPushCurrent: pushed too often");
	if (!rc)
		stack[depth++] = context;
	return end(rc);
}

CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext *context)
{
	CUresult rc = begin("cuCtxPopCurrent");

	if (!rc && !depth) {
		refuse("cuCtxPopCurrent: none was pushed");
		rc = CUDA_ERROR_INVALID_CONTEXT;
	}
	if (!rc)
		*context = stack[--depth];
	return end(rc);
}

CUresult CUDAAPI cuCtxSynchronize(void)
{
	CUresult rc = begin("cuCtxSynchronize");

	return end(rc ? rc : context_synchronize());
}

CUresult CUDAAPI cuMemGetInfo_v2(size_t *available, size_t *total)
{
	CUresult rc = begin("cuMemGetInfo");
	uint32_t device;

	if (!rc)
		rc = current(&device);
	if (!rc) {
		*available = cu.memory_bytes - cu.gpus[device].used_bytes;
		*total = cu.memory_bytes;
	}
	return end(rc);
}

CUresult CUDAAPI
cuMemGetAllocationGranularity(size_t *granularity,
			      const CUmemAllocationProp *prop,
			      CUmemAllocationGranularity_flags option)
{
	CUresult rc = begin("cuMemGetAllocationGranularity");

	(void)option;
	if (!rc && no_gpu(prop->location.id))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc)
		*granularity = GRANULE;
	return end(rc);
}

CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr *ptr, size_t size,
				     size_t alignment, CUdeviceptr addr,
				     unsigned long long flags)
{
	CUresult rc = begin("cuMemAddressReserve");

	return end(rc ? rc : reserve(ptr, size, alignment, addr, flags));
}

CUresult CUDAAPI cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
	CUresult rc = begin("cuMemAddressFree");

	return end(rc ? rc : unreserve(ptr, size));
}

CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
			     const CUmemAllocationProp *prop,
			     unsigned long long flags)
{
	CUresult rc = begin("cuMemCreate");

	return end(rc ? rc : create(handle, size, prop, flags));
}

CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle)
{
	CUresult rc = begin("cuMemRelease");

	return end(rc ? rc : release(handle));
}

CUresult CUDAAPI cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
			  CUmemGenericAllocationHandle handle,
			  unsigned long long flags)
{
	CUresult rc = begin("cuMemMap");

	return end(rc ? rc : map(ptr, size, offset, handle, flags));
}

CUresult CUDAAPI cuMemUnmap(CUdeviceptr ptr, size_t size)
{
	CUresult rc = begin("cuMemUnmap");

	return end(rc ? rc : unmap(ptr, size));
}

CUresult CUDAAPI cuMemSetAccess(CUdeviceptr ptr, size_t size,
				const CUmemAccessDesc *desc, size_t count)
{
	CUresult rc = begin("cuMemSetAccess");

	return end(rc ? rc : set_access(ptr, size, desc, count));
}

CUresult CUDAAPI cuMemGetAccess(unsigned long long *flags,
				const CUmemLocation *location, CUdeviceptr ptr)
{
	CUresult rc = begin("cuMemGetAccess");

	return end(rc ? rc : get_access(flags, location, ptr));
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr ptr, unsigned int value,
				  size_t count, CUstream stream)
{
	struct op op = { .address = ptr, .bytes = (uint64_t)count * 4,
			 .pattern = value };
	CUresult rc = begin("cuMemsetD32Async");

	if (!rc && ptr % 4)
		rc = CUDA_ERROR_INVALID_VALUE;
	return end(rc ? rc : enqueue("cuMemsetD32Async", stream, op));
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr ptr, unsigned char value,
				 size_t count, CUstream stream)
{
	struct op op = { .address = ptr, .bytes = count,
			 .pattern = value * UINT32_C(0x01010101) };
	CUresult rc = begin("cuMemsetD8Async");

	return end(rc ? rc : enqueue("cuMemsetD8Async", stream, op));
}

CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void *host, CUdeviceptr ptr,
				      size_t count, CUstream stream)
{
	struct op op = { .address = ptr, .bytes = count, .host = host };
	CUresult rc = begin("cuMemcpyDtoHAsync");

	if (!rc && !host)
		rc = CUDA_ERROR_INVALID_VALUE;
	return end(rc ? rc : enqueue("cuMemcpyDtoHAsync", stream, op));
}

CUresult CUDAAPI cuMemHostAlloc(void **p, size_t bytes, unsigned int flags)
{
	CUresult rc = begin("cuMemHostAlloc");

	(void)flags;
	return end(rc ? rc : host_alloc(p, bytes));
}

CUresult CUDAAPI cuMemFreeHost(void *p)
{
	CUresult rc = begin("cuMemFreeHost");

	return end(rc ? rc : host_free(p));
}

/* Modules hold one kernel, kvp_match, whatever their text; nothing of them
   is kept but that they are there. */
CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
	static char loaded;
	CUresult rc = begin("cuModuleLoadData");

	if (!rc && !strstr(image, "kvp_match"))
		rc = CUDA_ERROR_INVALID_PTX;
	if (!rc)
		*module = (CUmodule)(void *)&loaded;
	return end(rc);
}

CUresult CUDAAPI cuModuleUnload(CUmodule module)
{
	CUresult rc = begin("cuModuleUnload");

	return end(!rc && !module ? CUDA_ERROR_INVALID_HANDLE : rc);
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module,
				     const char *name)
{
	CUresult rc = begin("cuModuleGetFunction");

	if (!rc && (!module || strcmp(name, "kvp_match")))
		rc = CUDA_ERROR_NOT_FOUND;
	if (!rc)
		*function = (CUfunction)(void *)module;
	return end(rc);
}

CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy,
				unsigned int gz, unsigned int bx,
				unsigned int by, unsigned int bz,
				unsigned int shared, CUstream stream,
				void **arguments, void **extra)
{
	CUresult rc = begin("cuLaunchKernel");
	struct op op = { 0 };

	(void)shared;
	if (!rc && (!f || !gx || !gy || !gz || !bx || !by || !bz ||
		    bx * by * bz > 1024 || extra))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc)
		return end(rc);
	op.address = *(uint64_t *)arguments[0];
	op.bytes = *(uint64_t *)arguments[1] * VECTOR;
	op.pattern = *(uint32_t *)arguments[2];
	op.wrong = *(uint64_t **)arguments[3];
	if (op.address % VECTOR)
		rc = refuse("cuLaunchKernel: 0x%" PRIx64 " is not aligned",
			    op.address);
	return end(rc ? rc : enqueue("cuLaunchKernel", stream, op));
}

CUresult CUDAAPI cuStreamCreate(CUstream *stream, unsigned int flags)
{
	CUresult rc = begin("cuStreamCreate");

	return end(rc ? rc : stream_create(stream, flags));
}

CUresult CUDAAPI cuStreamDestroy_v2(CUstream stream)
{
	CUresult rc = begin("cuStreamDestroy");
	struct stream *s = NULL;

	if (!rc)
		rc = find_stream(stream, &s);
	/* Work still on it is done all the same. */
	if (!rc) {
		(void)run_stream(s);
		stream_free(s);
	}
	return end(rc);
}

CUresult CUDAAPI cuStreamSynchronize(CUstream stream)
{
	CUresult rc = begin("cuStreamSynchronize");
	struct stream *s = NULL;

	if (!rc)
		rc = find_stream(stream, &s);
	return end(rc ? rc : run_stream(s));
}

#endif
