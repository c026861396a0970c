/*
 * What a realization needs: entries, bytes, calls.  Counted for the ranks
 * realized here and the readers among them; what others on the node hold is
 * the geometry's static_entries.
 */
#include "base/u64.h"
#include "realize/realization.h"

uint64_t demand_aliased(const struct kvp_plan *plan)
{
	uint64_t n = 0;

	while (n < plan->nchunks && plan->chunks[n].arena != KVP_UNALIASED)
		n++;
	return n;
}

uint64_t demand_chunk_entries(const struct kvp_realization *r,
			      const struct rank *k)
{
	return r->plan->nchunks * k->nreaders +
	       demand_aliased(r->plan) + (r->plan->dedicated_bytes != 0);
}

static bool is_importer(const struct kvp_realization *r, uint32_t owner,
			uint32_t other, enum kvp_static_importers importers)
{
	uint64_t group = geometry_of(r)->dcp_group_size;
	uint64_t node = geometry_of(r)->ranks_per_node;

	switch (importers) {
	case KVP_STATIC_NONE:
		return false;
	case KVP_STATIC_GROUP:
		return other / group == owner / group;
	case KVP_STATIC_ALL:
		return other / node == owner / node;
	}
	return false;
}

size_t static_grants(const struct kvp_realization *r, const struct rank *k,
		     enum kvp_static_importers importers,
		     struct kvp_grant *grants)
{
	enum kvp_flags flags =
		geometry_of(r)->importer_mode == KVP_IMPORT_READ ?
		KVP_READ : KVP_READWRITE;
	size_t count = 0;
	uint32_t i;

	grants[count++] = (struct kvp_grant){ k->device, KVP_READWRITE };
	for (i = 0; i < r->nranks; i++)
		if (&r->ranks[i] != k &&
		    is_importer(r, k->rank, r->ranks[i].rank, importers))
			grants[count++] = (struct kvp_grant){
				r->ranks[i].device, flags };
	return count;
}

/* How many ranks realized here are granted a static item of rank k. */
static uint64_t count_importers(const struct kvp_realization *r,
				const struct rank *k,
				enum kvp_static_importers importers)
{
	uint64_t count = 1;
	uint32_t i;

	for (i = 0; i < r->nranks; i++)
		count += &r->ranks[i] != k &&
			 is_importer(r, k->rank, r->ranks[i].rank, importers);
	return count;
}

uint64_t demand_entries(const struct kvp_realization *r)
{
	const struct kvp_geometry *g = geometry_of(r);
	uint64_t entries = g->static_entries;
	uint32_t i;
	size_t item;

	for (i = 0; i < r->nranks; i++) {
		entries += demand_chunk_entries(r, &r->ranks[i]);
		for (item = 0; item < g->nstatics; item++)
			entries += count_importers(r, &r->ranks[i],
						   g->statics[item].importers);
	}
	return entries;
}

uint64_t demand_static_bytes(const struct kvp_realization *r, size_t item)
{
	uint64_t g = geometry_of(r)->granularity;

	return u64_ceil_div(geometry_of(r)->statics[item].bytes, g) * g;
}

uint64_t demand_bytes(const struct kvp_realization *r)
{
	uint64_t bytes = r->plan->dedicated_bytes;
	size_t i;

	for (i = 0; i < r->plan->nchunks; i++)
		bytes += r->plan->chunks[i].bytes;
	for (i = 0; i < geometry_of(r)->nstatics; i++)
		bytes += demand_static_bytes(r, i);
	return bytes;
}

uint64_t demand_calls(const struct kvp_realization *r)
{
	uint64_t statics = geometry_of(r)->nstatics, ranks = r->nranks;
	uint64_t dedicated = r->plan->dedicated_bytes != 0;
	uint64_t planes = geometry_of(r)->nplanes, readers = 0;
	uint64_t mappings = r->plan->nchunks + demand_aliased(r->plan) +
			    dedicated;
	uint32_t i;

	for (i = 0; i < r->nranks; i++)
		readers += r->ranks[i].nreaders;
	return ranks * 2 + readers - ranks +		/* preflight */
	       ranks * (statics * (4 + ranks) +		/* and read back */
			planes + (r->ranks[0].arena_bytes != 0) +
			r->plan->nchunks + dedicated +
			mappings * (2 + ranks)) +
	       readers * (planes + 1);			/* free memory */
}
