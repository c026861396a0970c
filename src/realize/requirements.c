/*
 * What a realization needs: table entries, bytes, calls.  They are counted
 * for the ranks realized here and the readers among them; entries that others
 * hold on the node are the geometry's static_entries.
 */
#include <assert.h>

#include "base/u64.h"
#include "model/plan_view.h"
#include "realize/realization.h"

/* Count the mappings that only the owner is granted: those of the arena. */
static uint64_t count_owned_mappings(const struct kvp_plan *plan)
{
	return plan_count_aliased(plan) + (plan->dedicated_bytes != 0);
}

bool static_is_importer(const struct kvp_geometry *g, uint32_t owner,
			uint32_t other, enum kvp_static_importers importers)
{
	uint64_t group = g->dcp_group_size, node = g->ranks_per_node;

	assert(group && node && owner != other);
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

static bool is_realized_here(const struct kvp_realize_options *o, uint32_t rank)
{
	return rank >= o->first_rank && rank - o->first_rank < o->nranks;
}

/* Count the readers of a rank's planes among the ranks realized here. */
static uint64_t count_readers(const struct kvp_plan *plan,
			      const struct kvp_realize_options *o,
			      uint32_t rank)
{
	const struct kvp_ranks *readers = &plan->access[rank].readers;
	uint64_t count = 0;
	size_t i;

	assert(rank < plan->naccess);
	for (i = 0; i < readers->count; i++)
		count += is_realized_here(o, readers->rank[i]);
	return count;
}

/* Count the ranks realized here that are granted a rank's static item. */
static uint64_t count_importers(const struct kvp_geometry *g,
				const struct kvp_realize_options *o,
				uint32_t rank,
				enum kvp_static_importers importers)
{
	uint64_t count = 1;
	uint32_t i;

	for (i = 0; i < o->nranks; i++)
		count += o->first_rank + i != rank &&
			 static_is_importer(g, rank, o->first_rank + i,
					    importers);
	return count;
}

uint64_t kvp_realize_entries(const struct kvp_plan *plan,
			     const struct kvp_realize_options *options)
{
	const struct kvp_geometry *g = &plan->geometry;
	uint64_t entries = g->static_entries;
	uint64_t owned = count_owned_mappings(plan);
	uint32_t rank, end = options->first_rank + options->nranks;
	size_t item;

	if (!plan_has_ranks(plan, options->first_rank, options->nranks))
		return 0;
	for (rank = options->first_rank; rank < end; rank++) {
		entries += plan->nchunks * count_readers(plan, options, rank) +
			   owned;
		for (item = 0; item < g->nstatics; item++)
			entries += count_importers(g, options, rank,
						   g->statics[item].importers);
	}
	return entries;
}

uint64_t required_chunk_entries(const struct kvp_realization *r,
				const struct rank *k)
{
	return r->plan->nchunks * k->nreaders + count_owned_mappings(r->plan);
}

uint64_t required_static_bytes(const struct kvp_realization *r, size_t item)
{
	uint64_t g = geometry_of(r)->granularity;

	assert(item < geometry_of(r)->nstatics);
	return u64_ceil_div(geometry_of(r)->statics[item].bytes, g) * g;
}

struct kvp_demand required_of_system(const struct kvp_realization *r)
{
	uint64_t ranks = r->nranks, statics = geometry_of(r)->nstatics;

	/* Counted as if there were dedicated backing and an arena. */
	return (struct kvp_demand){
		.devices = r->nranks,
		.mappings = ranks * (r->plan->nchunks +
				     plan_count_aliased(r->plan) +
				     statics + 1),
		.reservations = ranks * (geometry_of(r)->nplanes + statics +
					 1),
	};
}

uint64_t required_plane_bytes(const struct kvp_realization *r, uint32_t plane)
{
	uint64_t bytes = 0;
	size_t i;

	assert(plane < geometry_of(r)->nplanes);
	for (i = r->plane_first[plane]; i < r->plane_first[plane + 1]; i++)
		bytes += r->plan->chunks[r->order[i]].bytes;
	return bytes;
}

uint64_t required_bytes(const struct kvp_realization *r)
{
	uint64_t bytes = r->plan->dedicated_bytes;
	size_t i;

	for (i = 0; i < r->plan->nchunks; i++)
		bytes += r->plan->chunks[i].bytes;
	for (i = 0; i < geometry_of(r)->nstatics; i++)
		bytes += required_static_bytes(r, i);
	return bytes;
}

/* Preflight reads free memory of a lazy backend only before a full check. */
static uint64_t required_memory_calls(const struct kvp_realization *r)
{
	return !r->watch.base.lazy ||
	       r->options.check == KVP_CHECK_FULL ? r->nranks : 0;
}

uint64_t required_calls(const struct kvp_realization *r)
{
	uint64_t statics = geometry_of(r)->nstatics, ranks = r->nranks;
	uint64_t dedicated = r->plan->dedicated_bytes != 0;
	uint64_t planes = geometry_of(r)->nplanes, readers = 0;
	uint64_t mappings = r->plan->nchunks + count_owned_mappings(r->plan);
	uint64_t memory = required_memory_calls(r);
	uint32_t i;

	for (i = 0; i < r->nranks; i++)
		readers += r->ranks[i].nreaders;
	return readers + memory +			/* preflight */
	       ranks * (statics * (4 + ranks) +		/* and read back */
			planes + (r->ranks[0].arena_bytes != 0) +
			r->plan->nchunks + dedicated +
			mappings * (2 + ranks)) +
	       readers * (planes + 1) + ranks;		/* free memory */
}
