/*
 * What the driver can do with a mapping: each ability is tried once, and the
 * driver's result is recorded.  A refusal is a finding; any other error ends
 * the probe.
 */
#include "probe/probe.h"

#ifdef KVP_HAVE_CUDA

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "backend/backend_util.h"

#define HINT_GRANULES 64
#define WRITTEN UINT32_C(0x5ca1ab1e)
#define OVERWRITTEN UINT32_C(0x0ddba115)

static bool is_refusal(CUresult r)
{
	return r == CUDA_ERROR_NOT_SUPPORTED ||
	       r == CUDA_ERROR_INVALID_VALUE ||
	       r == CUDA_ERROR_NOT_PERMITTED;
}

/* Record the result of the call that decides; `works` is whether the ability
   was found. */
static int record_result(struct probe *p, enum kvp_ability_kind kind,
			 const char *call, CUresult r, bool works,
			 struct kvp_error *err)
{
	struct kvp_ability *a = &p->limits->ability[kind];
	const char *name = NULL;

	if (r != CUDA_SUCCESS && !is_refusal(r))
		return cuda_api_result(&p->c->api, call, r, err);
	if (p->c->api.GetErrorName(r, &name) != CUDA_SUCCESS || !name)
		name = "unknown";
	snprintf(a->answer, sizeof(a->answer), "%s", name);
	a->works = works ? KVP_YES : KVP_NO;
	return KVP_OK;
}

/* Try to map one granule of an allocation that has more. */
static int ask_map(struct probe *p, enum kvp_ability_kind kind,
		   uint64_t offset, struct kvp_error *err)
{
	uint64_t g = probe_granularity(p);
	CUresult r = p->c->api.MemMap(p->hold.base, g, offset,
				      p->hold.memory[0].handle, 0);

	if (!r)
		hold_unmap_range(p, p->hold.base, g, 0);
	return record_result(p, kind, "cuMemMap", r, !r, err);
}

static int ask_part_grant(struct probe *p, struct kvp_error *err)
{
	CUmemAccessDesc desc = { .flags =
		CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	uint64_t g = probe_granularity(p);
	CUresult r;

	desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	desc.location.id = gpu_of(p->c, p->owner)->device;
	r = p->c->api.MemSetAccess(p->hold.base + g, g, &desc, 1);
	return record_result(p, KVP_PART_GRANT, "cuMemSetAccess", r, !r, err);
}

static int ask_half_unmap(struct probe *p, struct kvp_error *err)
{
	uint64_t half = p->hold.each / 2;
	CUresult r = p->c->api.MemUnmap(p->hold.base, half);

	if (!r) {		/* the other half is still mapped */
		p->hold.mapped = 0;
		hold_unmap_range(p, p->hold.base + half, half, 0);
	}
	return record_result(p, KVP_HALF_UNMAP, "cuMemUnmap", r, !r, err);
}

/* Map, grant and unmap parts of one allocation of four granules. */
static int try_parts(struct probe *p, struct kvp_error *err)
{
	uint64_t g = probe_granularity(p);
	int code = hold_reserve(p, 1, 4 * g, err);

	if (!code)
		code = hold_create(p, 1, err);
	if (!code)
		code = ask_map(p, KVP_OFFSET_MAP, g, err);
	if (!code)
		code = ask_map(p, KVP_PARTIAL_MAP, 0, err);
	if (!code)
		code = hold_map(p, err);
	if (!code)
		code = hold_grant(p, 0, 1, err);
	if (!code)
		code = ask_part_grant(p, err);
	if (!code)
		code = ask_half_unmap(p, err);
	hold_release(p);
	return code;
}

/*
 * Read mapping i as a device, by a copy.  A copy without access fails; the
 * kernel that the backend compares with would destroy the context.
 */
static int read_back(struct probe *p, uint32_t device, uint64_t i,
		     uint32_t pattern, CUresult *r, bool *same,
		     struct kvp_error *err)
{
	uint64_t each = p->hold.each, address = p->hold.base + i * each;
	struct gpu *g = gpu_of(p->c, device);
	void *bytes = malloc(each);
	int code;

	if (!bytes)
		return kvp_error_nomem(err);
	code = cuda_enter(p->c, device, err);
	if (!code) {
		*r = p->c->api.MemcpyDtoHAsync(bytes, address, each,
					       g->stream);
		if (!*r)
			*r = p->c->api.StreamSynchronize(g->stream);
		cuda_leave(p->c, code);
		*same = !*r && backend_pattern_compare(bytes, address, each,
						    pattern) == each;
	}
	free(bytes);
	return code;
}

/* Write the pattern to mapping i as the owner, and wait. */
static int write_as_owner(struct probe *p, uint64_t i, uint32_t pattern,
			  struct kvp_error *err)
{
	struct kvp_backend *b = &p->c->base;
	int code = b->mapping.fill(b, p->owner, p->hold.base + i * p->hold.each,
				   p->hold.each, pattern, err);

	return code ? code : b->device.synchronize(b, p->owner, err);
}

static int try_alias(struct probe *p, struct kvp_error *err)
{
	bool there = false, back = false;
	CUresult r = CUDA_SUCCESS;
	int code = hold_reserve(p, 2, probe_granularity(p), err);
	uint64_t i;

	if (!code)
		code = hold_create(p, 1, err);
	for (i = 0; !code && i < 2; i++) {
		code = hold_map(p, err);
		if (!code)
			code = hold_grant(p, i, 1, err);
	}
	if (!code)
		code = write_as_owner(p, 0, WRITTEN, err);
	if (!code)
		code = read_back(p, p->owner, 1, WRITTEN, &r, &there, err);
	if (!code && !r)
		code = write_as_owner(p, 1, OVERWRITTEN, err);
	if (!code && !r)
		code = read_back(p, p->owner, 0, OVERWRITTEN, &r, &back, err);
	if (!code)
		code = record_result(p, KVP_ALIAS_COHERENT,
				     "cuMemcpyDtoHAsync", r, there && back,
				     err);
	hold_release(p);
	return code;
}

/* Overwrite the owner's memory as the peer, by a memset: without access it
   fails at once, while a kernel's store would destroy the context. */
static int write_as_peer(struct probe *p, CUresult *r, struct kvp_error *err)
{
	struct gpu *g = gpu_of(p->c, p->peer);
	int code = cuda_enter(p->c, p->peer, err);

	if (code)
		return code;
	g->busy = true;
	*r = p->c->api.MemsetD32Async(p->hold.base, OVERWRITTEN,
				      p->hold.each / 4, g->stream);
	if (!*r)
		*r = p->c->api.StreamSynchronize(g->stream);
	return cuda_leave(p->c, KVP_OK);
}

/* Make one mapping that the owner may write and the peer may only read. */
static int share_read_only(struct probe *p, struct kvp_error *err)
{
	struct kvp_backend *b = &p->c->base;
	struct kvp_grant grants[2] = { { p->owner, KVP_READWRITE },
				       { p->peer, KVP_READ } };
	int code = hold_reserve(p, 1, probe_granularity(p), err);

	if (!code)
		code = hold_create(p, 1, err);
	if (!code)
		code = hold_map(p, err);
	if (!code)
		code = b->mapping.grant(b, p->hold.base, p->hold.each, grants,
					2, err);
	return code ? code : write_as_owner(p, 0, WRITTEN, err);
}

static int try_read_only(struct probe *p, struct kvp_error *err)
{
	CUresult read = CUDA_SUCCESS, written = CUDA_SUCCESS, r = read;
	bool reads = false, keeps = false;
	int code;

	if (!p->has_peer)
		return KVP_OK;
	code = share_read_only(p, err);
	if (!code)
		code = read_back(p, p->peer, 0, WRITTEN, &read, &reads, err);
	if (!code)
		code = write_as_peer(p, &written, err);
	/* Does the owner still read what it wrote? */
	if (!code)
		code = read_back(p, p->owner, 0, WRITTEN, &r, &keeps, err);
	if (!code && r)
		code = cuda_api_result(&p->c->api, "cuMemcpyDtoHAsync", r, err);
	if (!code)
		code = record_result(p, KVP_READ_ONLY_PEERS, "cuMemsetD32Async",
				     read ? read : written,
				     reads && written && keeps, err);
	hold_release(p);
	return code;
}

/* Reserve at an address that is free, then again while it is reserved. */
static int try_hints(struct probe *p, struct kvp_error *err)
{
	uint64_t g = probe_granularity(p), bytes = HINT_GRANULES * g, wanted;
	CUdeviceptr got = 0, other = 0;
	CUresult r;
	int code = hold_reserve(p, HINT_GRANULES, g, err);

	if (code)
		return code;
	wanted = p->hold.base;
	hold_release(p);
	code = CALL(p->c, err, MemAddressReserve, (&got, bytes, 0, wanted, 0));
	if (code)
		return code;
	p->hold = (struct probe_hold){ .base = got, .bytes = bytes,
				       .each = g };
	code = record_result(p, KVP_HINT_HONOURED, "cuMemAddressReserve",
			     CUDA_SUCCESS, got == wanted, err);
	r = p->c->api.MemAddressReserve(&other, bytes, 0, got, 0);
	if (!r && p->c->api.MemAddressFree(other, bytes))
		p->stuck_reservations++;
	if (!code)
		code = record_result(p, KVP_HINT_MOVES, "cuMemAddressReserve",
				     r, !r && other != got, err);
	hold_release(p);
	return code;
}

int probe_abilities(struct probe *p, struct kvp_error *err)
{
	static int (*const tries[])(struct probe *, struct kvp_error *) = {
		try_parts, try_alias, try_read_only, try_hints,
	};
	int code = KVP_OK;
	size_t i;

	for (i = 0; !code && i < sizeof(tries) / sizeof(*tries); i++) {
		code = probe_interrupted(p, err);
		if (!code)
			code = tries[i](p, err);
	}
	return code;
}

#endif
