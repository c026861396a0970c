/*
 * The fingerprint of a plan: every field in a fixed order, mixed one by
 * one, so that padding between fields does not count.  A test compares the
 * fields with the members in the headers.
 */
#include <assert.h>
#include <string.h>

#include "model/fingerprint.h"

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014). */
static void mix(uint64_t *h, uint64_t value)
{
	uint64_t x = (*h ^ value) + UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	*h = x ^ x >> 31;
}

static void mix_text(uint64_t *h, const char *text)
{
	mix(h, strlen(text));
	for (; *text; text++)
		mix(h, (unsigned char)*text);
}

static void mix_chunks(uint64_t *h, const struct kvp_chunk *chunks,
		       size_t count)
{
	size_t i;

	mix(h, count);
	for (i = 0; i < count; i++) {
		mix(h, chunks[i].plane);
		mix(h, chunks[i].offset);
		mix(h, chunks[i].bytes);
		mix(h, chunks[i].arena);
	}
}

static void mix_ranks(uint64_t *h, const struct kvp_ranks *list)
{
	size_t i;

	mix(h, list->count);
	for (i = 0; i < list->count; i++)
		mix(h, list->rank[i]);
}

static void mix_headroom(uint64_t *h, bool has, const struct kvp_headroom *x)
{
	mix(h, has);
	mix(h, x->free_bytes);
	mix(h, x->cap_bytes);
	mix(h, x->bounded);
}

static void mix_planes(uint64_t *h, const struct kvp_geometry *g)
{
	size_t i;

	mix(h, g->nplanes);
	for (i = 0; i < g->nplanes; i++) {
		mix_text(h, g->planes[i].name);
		mix(h, g->planes[i].bytes_per_page);
		mix(h, g->planes[i].alias);
		mix(h, g->planes[i].has_address);
		mix(h, g->planes[i].address);
	}
}

static void mix_geometry(uint64_t *h, const struct kvp_geometry *g)
{
	const uint64_t numbers[] = {
		g->granularity, g->tile_granules, g->pages, g->page_tokens,
		g->snapshot_rows, g->execution_rows, g->row_bytes,
		g->row_stride, g->ranks, g->ranks_per_node,
		g->dcp_group_size, g->importer_mode, g->static_entries,
		g->entry_limit, g->entry_reserve, g->page_overhead_bytes,
		g->has_arena_address, g->arena_address, g->nstatics,
	};
	size_t i;

	mix_text(h, g->name);
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		mix(h, numbers[i]);
	mix_planes(h, g);
	for (i = 0; i < g->ranks; i++) {
		mix_ranks(h, &g->declared_readers[i]);
		mix_ranks(h, &g->imports[i]);
	}
	for (i = 0; i < g->nstatics; i++) {
		mix_text(h, g->statics[i].name);
		mix(h, g->statics[i].bytes);
		mix(h, g->statics[i].importers);
	}
	mix_headroom(h, g->has_headroom, &g->headroom);
	mix_chunks(h, g->base_chunks, g->nbase_chunks);
}

static void mix_rows(uint64_t *h, const struct kvp_plan *plan)
{
	size_t i;

	mix(h, plan->nrows);
	for (i = 0; i < plan->nrows; i++) {
		mix(h, plan->rows[i].row);
		mix(h, plan->rows[i].first);
		mix(h, plan->rows[i].count);
	}
	mix(h, plan->nspans);
	for (i = 0; i < plan->nspans; i++) {
		mix(h, plan->spans[i].first);
		mix(h, plan->spans[i].end);
	}
}

static void mix_summary(uint64_t *h, const struct kvp_summary *s)
{
	const uint64_t numbers[] = {
		s->base_chunks, s->chunks, s->lower_bound, s->optimal,
		s->physical_bytes, s->kv_tokens, s->nper_rank, s->nper_node,
		s->limit,
	};
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		mix(h, numbers[i]);
	for (i = 0; i < s->nper_rank; i++)
		mix(h, s->per_rank[i]);
	for (i = 0; i < s->nper_node; i++)
		mix(h, s->per_node[i]);
}

uint64_t plan_fingerprint(const struct kvp_plan *plan)
{
	uint64_t h = 0;
	size_t i;

	assert(plan);
	mix_geometry(&h, &plan->geometry);
	mix(&h, plan->merge);
	mix(&h, plan->dedicated_bytes);
	mix_chunks(&h, plan->chunks, plan->nchunks);
	mix_rows(&h, plan);
	mix(&h, plan->naccess);
	for (i = 0; i < plan->naccess; i++) {
		mix(&h, plan->access[i].rank);
		mix_ranks(&h, &plan->access[i].readers);
	}
	mix_summary(&h, &plan->summary);
	mix_headroom(&h, plan->has_headroom, &plan->headroom);
	return h;
}
