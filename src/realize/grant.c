/*
 * Granting: every mapping is granted to its owner and the importers of the
 * plan, and the access of every device is read back.  One record per rank
 * and plane says who was granted access and how much memory that took.
 */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "realize/realization.h"

static enum kvp_flags find_flags(const struct kvp_grant *grants, size_t count,
				 uint32_t device)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (grants[i].device == device)
			return grants[i].flags;
	return KVP_NO_ACCESS;
}

/* Check that every device has exactly the access that was granted. */
static int read_back(struct kvp_realization *r, const struct mapping *m,
		     const struct kvp_grant *grants, size_t count,
		     struct kvp_error *err)
{
	struct kvp_backend *b = backend_of(r);
	enum kvp_flags is, should;
	uint32_t i, device;
	int code;

	assert(m->address && m->bytes);
	for (i = 0; i < r->nranks; i++) {
		device = r->ranks[i].device;
		code = b->mapping.granted(b, m->address, device, &is, err);
		if (code)
			return code;
		should = find_flags(grants, count, device);
		if (is != should)
			return kvp_error_set(err, KVP_EFAILED,
				"access of device %u reads back as %d, the "
				"plan says %d", device, (int)is, (int)should);
	}
	return KVP_OK;
}

int grant_mapping(struct kvp_realization *r, const struct mapping *m,
		  const struct kvp_grant *grants, size_t count,
		  struct kvp_error *err)
{
	struct kvp_backend *b = backend_of(r);
	int code = b->mapping.grant(b, m->address, m->bytes, grants, count,
				    err);

	assert(count);
	if (code)
		return code;
	undo_add_entries(&r->undo, m->step, (uint32_t)count);
	return read_back(r, m, grants, count, err);
}

int read_free_memory(struct kvp_realization *r, const uint32_t *devices,
		     size_t count, uint64_t *bytes, struct kvp_error *err)
{
	struct kvp_backend *b = backend_of(r);
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < count && !code; i++)
		code = b->device.memory(b, devices[i], &bytes[i], err);
	return code;
}

/* Grant all chunks of one plane and fill its record. */
static int grant_plane(struct kvp_realization *r, uint32_t index,
		       uint32_t plane, const uint64_t *before, uint64_t *after,
		       struct kvp_error *err)
{
	struct rank *k = &r->ranks[index];
	struct kvp_access_record *record =
		&r->records[index * geometry_of(r)->nplanes + plane];
	size_t i;
	int code = KVP_OK;

	assert(record->rank == k->rank && record->plane == plane);
	assert(!record->free_after);	/* one grant for each plane */
	for (i = r->plane_first[plane]; i < r->plane_first[plane + 1]; i++) {
		code = grant_mapping(r, &k->mappings[i], k->grants,
				     k->nreaders, err);
		if (code)
			return add_chunk_context(r, k, r->order[i], "plane",
						 code, err);
	}
	code = read_free_memory(r, k->devices, k->nreaders, after, err);
	if (code)
		return add_rank_context(r, k, "reading free memory", code, err);
	record->entries = (i - r->plane_first[plane]) * k->nreaders;
	record->free_before = before;
	record->free_after = after;
	return KVP_OK;
}

/* Grant the arena's mappings, which only the owner may use. */
static int grant_arena(struct kvp_realization *r, struct rank *k,
		       struct kvp_error *err)
{
	size_t i, chunks = r->plan->nchunks;
	int code;

	assert(k->nmappings >= chunks && k->grants[0].device == k->device);
	for (i = chunks; i < k->nmappings; i++) {
		code = grant_mapping(r, &k->mappings[i], k->grants, 1, err);
		if (!code)
			continue;
		if (k->mappings[i].address == k->arena &&
		    r->plan->dedicated_bytes)
			return add_rank_context(r, k, "dedicated backing", code,
						err);
		return add_chunk_context(r, k, i - chunks, "arena", code, err);
	}
	return KVP_OK;
}

int grant_rank(struct kvp_realization *r, uint32_t index,
	       struct kvp_error *err)
{
	struct rank *k = &r->ranks[index];
	uint64_t *free = k->free;
	uint32_t plane;
	int code = read_free_memory(r, k->devices, k->nreaders, free, err);

	assert(k->nreaders && k->state == KVP_MAPPED);
	if (code)
		return add_rank_context(r, k, "reading free memory", code, err);
	/* The free memory after one plane is that before the next. */
	for (plane = 0; plane < geometry_of(r)->nplanes; plane++) {
		code = grant_plane(r, index, plane, free, free + k->nreaders,
				   err);
		free += k->nreaders;
		if (code)
			return code;
	}
	return grant_arena(r, k, err);
}
