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

bool planes_are_imported(const struct kvp_plan *plan, uint32_t owner,
			 uint32_t first, uint32_t count)
{
	const struct kvp_ranks *readers = &plan->access[owner].readers;
	size_t i;

	for (i = 0; i < readers->count; i++)
		if (readers->rank[i] >= first &&
		    readers->rank[i] - first < count)
			return true;
	return false;
}

bool static_is_imported(const struct kvp_geometry *g, size_t item,
			uint32_t owner, uint32_t first, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (static_is_importer(g, owner, first + i,
				       g->statics[item].importers))
			return true;
	return false;
}

/* The entries of what ranks here import from ranks of other processes. */
static uint64_t count_imported_entries(const struct kvp_realization *r)
{
	const struct kvp_geometry *g = geometry_of(r);
	uint64_t entries = 0;
	uint32_t i, j;
	size_t item;

	for (i = 0; i < r->nimports; i++) {
		entries += r->plan->nchunks * r->imports[i].nreaders;
		for (item = 0; item < g->nstatics; item++)
			for (j = 0; j < r->nranks; j++)
				entries += static_is_imported(g, item,
					r->imports[i].rank, r->ranks[j].rank,
					1);
	}
	return entries;
}

uint64_t required_entries(const struct kvp_realization *r)
{
	return kvp_realize_entries(r->plan, &r->options) +
	       count_imported_entries(r);
}

uint64_t required_node_entries(const struct kvp_realization *r)
{
	struct kvp_realize_options node = r->options;
	uint32_t count = (uint32_t)geometry_of(r)->ranks_per_node;

	if (!r->shared)
		return required_entries(r);
	node.first_rank = node.first_rank / count * count;
	node.nranks = count;
	return kvp_realize_entries(r->plan, &node);
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
	uint64_t imports = r->nimports;

	/* Counted as if there were dedicated backing and an arena. */
	return (struct kvp_demand){
		.devices = r->nranks,
		.mappings = ranks * (r->plan->nchunks +
				     plan_count_aliased(r->plan) +
				     statics + 1) +
			    imports * (r->plan->nchunks + statics),
		.reservations = ranks * (geometry_of(r)->nplanes + statics +
					 1) +
				imports * (geometry_of(r)->nplanes + statics),
		.descriptors = r->shared ? SHARE_DESCRIPTORS +
			       geometry_of(r)->ranks_per_node : 0,
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

/* Does a rank of another process of the node import planes, or a static item,
   of this owner?  item nstatics: planes. */
static bool is_exported(const struct kvp_realization *r, uint32_t owner,
			size_t item)
{
	const struct kvp_geometry *g = geometry_of(r);
	uint32_t count = (uint32_t)g->ranks_per_node;
	uint32_t own = r->options.first_rank;
	uint32_t first = own / count * count, other;

	for (other = first; other < first + count; other++) {
		if (other >= own && other - own < r->nranks)
			continue;
		if (item < g->nstatics ?
		    static_is_imported(g, item, owner, other, 1) :
		    planes_are_imported(r->plan, owner, other, 1))
			return true;
	}
	return false;
}

/* Count the calls that pass memory to other processes and get theirs. */
static uint64_t count_sharing_calls(const struct kvp_realization *r)
{
	const struct kvp_geometry *g = geometry_of(r);
	uint64_t planes = g->nplanes, chunks = r->plan->nchunks, calls = 0;
	const struct import *m = r->imports;
	uint32_t i;
	size_t item;

	for (i = 0; i < r->nimports; i++, m++) {
		if (m->nreaders)
			calls += planes + chunks * (3 + r->nranks) +
				 (planes + 1) * m->nreaders;
		for (item = 0; item < g->nstatics; item++)
			if (static_is_imported(g, item, m->rank,
					       r->options.first_rank,
					       r->nranks))
				calls += 4 + r->nranks;
	}
	for (i = 0; r->shared && i < r->nranks; i++)
		for (item = 0; item <= g->nstatics; item++)
			if (is_exported(r, r->ranks[i].rank, item))
				calls += item < g->nstatics ? 1 : chunks;
	return calls;
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
	       readers * (planes + 1) + ranks +		/* free memory */
	       count_sharing_calls(r);
}
