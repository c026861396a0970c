/*
 * The stand-in's addresses, physical memory, and mappings of one at the
 * other with their access.
 */
#include "fake/libcuda.h"

#include <stdlib.h>
#include <string.h>

#define UNTOLD 0xff

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

struct mapping *mapping_at(uint64_t address)
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

CUresult reserve(CUdeviceptr *ptr, uint64_t size, uint64_t alignment,
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

CUresult unreserve(uint64_t base, uint64_t size)
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

/* Before allocation number take_at is made, for good. */
static void let_others_take(uint32_t card)
{
	struct card *c = &cu.cards[card];
	uint64_t left;

	if (c->others_took || c->allocations + 1 != cu.take_at)
		return;
	left = node_left(card);
	node_take(card, cu.take_bytes < left ? cu.take_bytes : left, 0);
	c->others_took = true;
}

/* A handle for memory that is taken. */
static CUmemGenericAllocationHandle new_memory(struct memory with)
{
	uint32_t i = cu.memory_free ? cu.memory_free - 1 : cu.nmemories;
	struct memory *m;

	if (!cu.memory_free) {
		cu.memories = grown32(cu.memories, cu.nmemories,
				      &cu.memories_room, sizeof(*m));
		cu.memories[cu.nmemories++] = (struct memory){ .bytes = 0 };
	}
	m = &cu.memories[i];
	if (cu.memory_free)
		cu.memory_free = m->mappings;	/* the next free slot */
	with.generation = m->generation + 1;
	*m = with;
	cu.cards[m->card].allocations += !m->imported;
	cu.memories_alive++;
	return (uint64_t)m->generation << 32 | (i + 1);
}

CUresult create(CUmemGenericAllocationHandle *handle, uint64_t size,
		const CUmemAllocationProp *prop,
		unsigned long long flags)
{
	struct memory m = { .bytes = size };
	bool fits;

	if (!handle || !size || size % GRANULE || flags || !prop ||
	    prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    prop->location.id < 0 || (uint32_t)prop->location.id >= cu.devices)
		return CUDA_ERROR_INVALID_VALUE;
	if ((int)prop->requestedHandleTypes &
	    ~(int)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_NOT_SUPPORTED;
	m.card = cu.gpus[prop->location.id].card;
	let_others_take(m.card);
	if (prop->requestedHandleTypes && node_identity())
		fits = node_create(m.card, size, &m.slot);
	else
		fits = node_take(m.card, size, cu.keep_bytes);
	if (!fits)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*handle = new_memory(m);
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
	if (m->slot)
		node_drop(m->slot);
	else
		node_give(m->card, m->bytes);
	cu.cards[m->card].allocations -= !m->imported;
	cu.memories_alive--;
	*m = (struct memory){ .generation = m->generation,
			      .mappings = cu.memory_free };
	cu.memory_free = (uint32_t)(m - cu.memories) + 1;
}

CUresult release(CUmemGenericAllocationHandle handle)
{
	struct memory *m = memory_of(handle);

	if (!m)
		return refuse("cuMemRelease: 0x%llx is no handle, or released",
			      handle);
	m->released = true;
	memory_drop(m);
	return CUDA_SUCCESS;
}

CUresult export_handle(int *fd, CUmemGenericAllocationHandle handle,
		       CUmemAllocationHandleType type,
		       unsigned long long flags)
{
	const struct memory *m = memory_of(handle);

	if (!m)
		return refuse("cuMemExportToShareableHandle: 0x%llx is no"
			      " handle, or released", handle);
	if (!node_identity())
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!fd || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
	    !m->slot || m->imported)
		return CUDA_ERROR_INVALID_VALUE;
	return node_export(m->slot, fd);
}

CUresult import_handle(CUmemGenericAllocationHandle *handle, int fd,
		       CUmemAllocationHandleType type)
{
	struct memory m = { .imported = true };
	const struct allocation *a;

	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	if (!node_identity() ||
	    type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_NOT_SUPPORTED;
	a = node_import(fd, &m.slot);
	if (!a)
		return CUDA_ERROR_UNKNOWN;
	m.bytes = a->bytes;
	m.card = a->card;
	*handle = new_memory(m);
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

CUresult map(uint64_t address, uint64_t size, uint64_t offset,
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
	if (offset || size != m->bytes)
		return CUDA_ERROR_NOT_SUPPORTED;
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

CUresult unmap(uint64_t address, uint64_t size)
{
	CUresult rc = whole("cuMemUnmap", address, size);
	uint64_t end = address + size;
	struct reservation *r;
	struct mapping *m;
	uint64_t entries = 0;
	uint32_t device;

	if (rc)
		return rc;
	while (address < end) {
		r = reservation_at(address);
		m = mapping_at(address);
		for (device = 0; device < cu.devices; device++)
			entries += m->flags[device] != 0;
		set_slots(r, address, m->bytes, 0);
		address += m->bytes;
		r->mappings--;
		cu.mappings_alive--;
		cu.memories[m->memory].mappings--;
		memory_drop(&cu.memories[m->memory]);
		*m = (struct mapping){ .memory = cu.mapping_free };
		cu.mapping_free = (uint32_t)(m - cu.mappings) + 1;
	}
	node_give_entries(entries);
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
	const struct card *owner = &cu.cards[cu.memories[m->memory].card];
	uint32_t i;

	for (i = 0; i < cu.devices; i++) {
		if (want[i] == UNTOLD)
			continue;
		/* Assumed: the driver's answer was not measured. */
		if (want[i] && owner->no_peer[cu.gpus[i].card])
			return CUDA_ERROR_INVALID_DEVICE;
		*entries += (want[i] != 0) - (m->flags[i] != 0);
	}
	return CUDA_SUCCESS;
}

CUresult set_access(uint64_t address, uint64_t size,
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
	if (entries > 0 && !node_take_entries((uint64_t)entries))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (entries < 0)
		node_give_entries((uint64_t)-entries);
	for (at = address; at < end; at += m->bytes) {
		m = mapping_at(at);
		for (i = 0; i < cu.devices; i++)
			if (want[i] != UNTOLD)
				m->flags[i] = want[i];
	}
	return CUDA_SUCCESS;
}

CUresult get_access(unsigned long long *flags,
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
