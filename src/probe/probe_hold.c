/*
 * What a step of the probe holds: one address range, some allocations and
 * their mappings; and how they are given back, also after an error.
 */
#include "probe/probe.h"

#ifdef KVP_HAVE_CUDA

#include <stdlib.h>

#include "base/error.h"
#include "base/u64.h"

int hold_reserve(struct probe *p, uint64_t slots, uint64_t each,
		 struct kvp_error *err)
{
	CUdeviceptr base = 0;
	uint64_t bytes = 0;
	int code;

	assert(!p->hold.bytes && !p->hold.created && slots && each);
	if (!u64_mul(slots, each, &bytes))
		return kvp_error_set(err, KVP_EREFUSED, "%llu mappings of "
				     "%llu bytes exceed all addresses",
				     (ull)slots,
				     (ull)each);
	code = CALL(p->c, err, MemAddressReserve, (&base, bytes, 0, 0, 0));
	if (!code)
		p->hold = (struct probe_hold){ .base = base, .bytes = bytes,
					       .each = each };
	return code;
}

int hold_create(struct probe *p, uint64_t count, struct kvp_error *err)
{
	CUmemAllocationProp prop = cuda_allocation(gpu_of(p->c, p->owner));
	struct probe_hold *h = &p->hold;
	int code = KVP_OK;

	assert(h->each && !h->memory);
	h->memory = calloc(count, sizeof(*h->memory));
	if (!h->memory)
		return kvp_error_nomem(err);
	while (!code && h->created < count) {
		code = CALL(p->c, err, MemCreate,
			    (&h->memory[h->created].handle, h->each, &prop, 0));
		h->created += !code;
	}
	return code;
}

int hold_map(struct probe *p, struct kvp_error *err)
{
	struct probe_hold *h = &p->hold;
	int code;

	assert(h->created && (h->mapped + 1) * h->each <= h->bytes);
	code = CALL(p->c, err, MemMap,
		    (h->base + h->mapped * h->each, h->each, 0,
		     h->memory[h->mapped % h->created].handle, 0));
	h->mapped += !code;
	return code;
}

CUresult hold_set_access(struct probe *p, uint64_t i, uint32_t readers)
{
	CUmemAccessDesc desc[2] = { { .flags =
		CU_MEM_ACCESS_FLAGS_PROT_READWRITE } };

	assert(i < p->hold.mapped && readers >= 1 && readers <= 2);
	desc[0].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	desc[1] = desc[0];
	desc[0].location.id = gpu_of(p->c, p->owner)->device;
	desc[1].location.id = gpu_of(p->c, p->peer)->device;
	return p->c->api.MemSetAccess(p->hold.base + i * p->hold.each,
				      p->hold.each, desc, readers);
}

/* A grant takes table entries and no memory: out of memory, while memory is
   free, means that the table is full. */
static int explain_full(struct probe *p, int code, struct kvp_error *err)
{
	uint64_t bytes = 0;

	if (code != KVP_EEXHAUSTED ||
	    p->c->base.device.memory(&p->c->base, p->owner, &bytes, NULL))
		return code;
	return kvp_error_wrap(err, code, "%s, %llu bytes free: the driver's "
			      "table of mappings is full (" KVP_TABLE_WORD
			      "); end what else holds entries on this node",
			      p->limits->devices[p->owner].label,
			      (ull)bytes);
}

int hold_grant(struct probe *p, uint64_t i, uint32_t readers,
	       struct kvp_error *err)
{
	int code = cuda_api_result(&p->c->api, "cuMemSetAccess",
				   hold_set_access(p, i, readers), err);

	return explain_full(p, code, err);
}

void hold_unmap_range(struct probe *p, uint64_t address, uint64_t bytes,
		      uint64_t i)
{
	if (!p->c->api.MemUnmap(address, bytes))
		return;
	p->stuck_mappings++;
	p->hold.memory[i].kept = true;
	p->hold.kept = true;
}

void hold_unmap(struct probe *p)
{
	struct probe_hold *h = &p->hold;

	assert(h->mapped);
	h->mapped--;
	hold_unmap_range(p, h->base + h->mapped * h->each, h->each,
			 h->mapped % h->created);
}

void hold_drop(struct probe *p)
{
	struct probe_memory *m;

	assert(p->hold.created && !p->hold.mapped);
	m = &p->hold.memory[--p->hold.created];
	if (p->c->api.MemRelease(m->handle) || m->kept)
		p->stuck_allocations++;
}

void hold_release(struct probe *p)
{
	struct probe_hold *h = &p->hold;

	cuda_wait_all(p->c);
	while (h->mapped)
		hold_unmap(p);
	while (h->created)
		hold_drop(p);
	/* Addresses that are still mapped cannot be freed. */
	if (h->bytes &&
	    (h->kept || p->c->api.MemAddressFree(h->base, h->bytes)))
		p->stuck_reservations++;
	free(h->memory);
	*h = (struct probe_hold){ .bytes = 0 };
}

#endif
