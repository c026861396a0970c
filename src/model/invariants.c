/*
 * Invariants of geometries and plans.  This code follows the headers and
 * shares nothing with the code that it checks.
 */
#include "model/invariants.h"

#include <assert.h>
#include <string.h>

#include "base/u64.h"
#include "model/plan_view.h"

static bool is_listed(const struct kvp_ranks *list, uint32_t rank)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->rank[i] == rank)
			return true;
	return false;
}

/* A list of ranks is ascending and has the owner. */
static void check_ranks(const struct kvp_ranks *list, uint64_t ranks,
			uint32_t owner)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		assert(list->rank[i] < ranks);
		assert(!i || list->rank[i - 1] < list->rank[i]);
	}
	assert(is_listed(list, owner));
}

static void check_access(const struct kvp_geometry *g)
{
	uint32_t rank, owner;
	size_t i;

	assert(g->importer_mode <= KVP_IMPORT_READWRITE);
	for (rank = 0; rank < g->ranks; rank++) {
		check_ranks(&g->declared_readers[rank], g->ranks, rank);
		check_ranks(&g->imports[rank], g->ranks, rank);
		for (i = 0; i < g->imports[rank].count; i++) {
			owner = g->imports[rank].rank[i];
			assert(is_listed(&g->declared_readers[owner], rank));
			assert(owner / g->ranks_per_node ==
			       rank / g->ranks_per_node);
		}
	}
}

static void check_sizes(const struct kvp_geometry *g)
{
	assert(g->name && *g->name);
	assert(g->granularity >= KVP_GRANULARITY_MIN);
	assert(!(g->granularity & (g->granularity - 1)));
	assert(g->tile_granules && g->page_tokens);
	assert(g->tile_granules <= KVP_NUMBER_MAX / g->granularity);
	assert(g->row_bytes <= g->row_stride);
	assert(!g->row_bytes == !g->row_stride);
	assert(g->execution_rows <= KVP_ROWS_MAX);
	if (g->snapshot_rows != KVP_UNSTATED)
		assert(g->snapshot_rows <= KVP_ROWS_MAX - g->execution_rows);
	assert(g->ranks && g->ranks <= KVP_RANKS_MAX);
	assert(g->ranks_per_node && g->ranks % g->ranks_per_node == 0);
	assert(g->dcp_group_size && g->ranks % g->dcp_group_size == 0);
	assert(g->entry_limit <= KVP_ENTRIES_MAX);
	assert(g->entry_reserve <= g->entry_limit);
	assert(!g->has_arena_address || g->arena_address % g->granularity == 0);
}

static uint64_t plane_backing(const struct kvp_geometry *g, size_t plane)
{
	return u64_ceil_div(g->pages * g->planes[plane].bytes_per_page,
			    g->granularity) * g->granularity;
}

static void check_planes(const struct kvp_geometry *g)
{
	uint64_t total = 0;
	size_t i;

	assert(g->planes && g->nplanes);
	for (i = 0; i < g->nplanes; i++) {
		const struct kvp_plane *p = &g->planes[i];

		assert(*p->name && memchr(p->name, '\0', sizeof(p->name)));
		assert(p->bytes_per_page);
		assert(g->pages <= KVP_NUMBER_MAX / p->bytes_per_page);
		assert(plane_backing(g, i) <= KVP_NUMBER_MAX - total);
		total += plane_backing(g, i);
		assert(!p->has_address || p->address % g->granularity == 0);
	}
}

static void check_statics(const struct kvp_geometry *g)
{
	size_t i;

	assert(g->nstatics <= KVP_STATICS_MAX);
	for (i = 0; i < g->nstatics; i++) {
		assert(g->statics[i].name && *g->statics[i].name);
		assert(g->statics[i].importers <= KVP_STATIC_ALL);
		/* A DCP group must lie within one node. */
		assert(g->statics[i].importers != KVP_STATIC_GROUP ||
		       g->ranks_per_node % g->dcp_group_size == 0);
	}
}

static uint64_t dedicated_of(const struct kvp_geometry *g)
{
	return u64_ceil_div(g->execution_rows * g->row_stride,
			    g->granularity) * g->granularity;
}

/*
 * Aliased chunks come first and follow each other in the arena from D on;
 * the others ascend by plane and offset.  Returns the bytes of all chunks.
 */
static uint64_t check_chunks(const struct kvp_geometry *g,
			     const struct kvp_chunk *chunks, size_t count)
{
	uint64_t arena = dedicated_of(g), total = 0;
	size_t i = 0;

	for (; i < count && chunks[i].arena != KVP_UNALIASED; i++) {
		assert(chunks[i].arena == arena);
		assert(g->planes[chunks[i].plane].alias);
		arena += chunks[i].bytes;
	}
	assert(arena >= (g->execution_rows + g->snapshot_rows) *
			g->row_stride);
	for (; i < count; i++) {
		assert(chunks[i].arena == KVP_UNALIASED);
		assert(!i || chunks[i - 1].arena != KVP_UNALIASED ||
		       chunks[i - 1].plane < chunks[i].plane ||
		       (chunks[i - 1].plane == chunks[i].plane &&
			chunks[i - 1].offset < chunks[i].offset));
	}
	for (i = 0; i < count; i++) {
		assert(chunks[i].plane < g->nplanes && chunks[i].bytes);
		assert(chunks[i].offset % g->granularity == 0);
		assert(chunks[i].bytes % g->granularity == 0);
		total += chunks[i].bytes;
	}
	return total;
}

static uint64_t backing_of(const struct kvp_geometry *g)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < g->nplanes; i++)
		total += plane_backing(g, i);
	return total;
}

void geometry_check_internal(const struct kvp_geometry *g)
{
	assert(g);
	check_sizes(g);
	check_planes(g);
	check_access(g);
	check_statics(g);
	assert(!g->base_chunks == !g->nbase_chunks);
	if (g->base_chunks)
		assert(check_chunks(g, g->base_chunks, g->nbase_chunks) ==
		       backing_of(g));
}

/* The spans of every row follow those of the row before. */
static void check_rows(const struct kvp_plan *plan)
{
	size_t next = 0, i;

	assert(plan->nrows == plan->geometry.snapshot_rows);
	assert(!plan_check_rows(plan, NULL));
	for (i = 0; i < plan->nrows; i++) {
		assert(plan->rows[i].first == next);
		next += plan->rows[i].count;
	}
	assert(next == plan->nspans);
}

static void check_readers(const struct kvp_plan *plan)
{
	const struct kvp_geometry *g = &plan->geometry;
	uint32_t rank;
	size_t i;

	assert(plan->naccess == g->ranks);
	for (rank = 0; rank < g->ranks; rank++) {
		const struct kvp_ranks *readers = &plan->access[rank].readers;

		assert(plan->access[rank].rank == rank);
		check_ranks(readers, g->ranks, rank);
		for (i = 0; i < readers->count; i++)
			assert(is_listed(&g->imports[readers->rank[i]], rank));
	}
}

static void check_summary(const struct kvp_plan *plan, uint64_t bytes)
{
	const struct kvp_geometry *g = &plan->geometry;
	const struct kvp_summary *s = &plan->summary;
	uint64_t per_rank = 0, per_node = 0;
	size_t i;

	assert(s->chunks == plan->nchunks && s->chunks <= s->base_chunks);
	assert(s->lower_bound <= s->chunks);
	assert(s->optimal == (s->chunks == s->lower_bound));
	assert(s->physical_bytes == bytes && bytes == backing_of(g));
	assert(s->kv_tokens == g->pages * g->page_tokens * g->dcp_group_size);
	assert(s->limit == g->entry_limit - g->entry_reserve);
	assert(s->nper_rank == g->ranks);
	assert(s->nper_node == g->ranks / g->ranks_per_node);
	for (i = 0; i < s->nper_rank; i++)
		per_rank += s->per_rank[i];
	for (i = 0; i < s->nper_node; i++)
		per_node += s->per_node[i];
	assert(per_rank + s->nper_node * g->static_entries <= per_node);
}

void plan_check_internal(const struct kvp_plan *plan)
{
	assert(plan);
	geometry_check_internal(&plan->geometry);
	assert(plan->geometry.pages);
	assert(plan->merge <= KVP_MERGE_SPAN);
	assert(plan->dedicated_bytes == dedicated_of(&plan->geometry));
	assert(plan->has_headroom == plan->geometry.has_headroom);
	check_summary(plan, check_chunks(&plan->geometry, plan->chunks,
					 plan->nchunks));
	check_rows(plan);
	check_readers(plan);
}
