/*
 * Operators on what a plan states beside its chunks, and on the geometry
 * beneath it.
 */
#include <stdlib.h>
#include <string.h>

#include "fake/mutate.h"

bool dedicated(plan_t *p, rng_t *r, int arg)
{
	uint64_t by = p->geometry.granularity;

	(void)r;
	if (arg <= 0 && !p->dedicated_bytes)
		return false;
	p->dedicated_bytes = !arg ? 0 : arg > 0 ? p->dedicated_bytes + by :
						  p->dedicated_bytes - by;
	return true;
}

/* A row at random, with that many ranges at least. */
static struct kvp_row *pick_row(plan_t *p, rng_t *r, size_t least)
{
	size_t from, i;

	if (!p->nrows)
		return NULL;
	from = gen_below(r, p->nrows);
	for (i = from; i < from + p->nrows; i++)
		if (p->rows[i % p->nrows].count >= least)
			return &p->rows[i % p->nrows];
	return NULL;
}

/* The row's ranges at the end of the pool, with room for one more. */
static struct kvp_span *own_spans(plan_t *p, struct kvp_row *row)
{
	struct kvp_span *to;

	p->spans = realloc(p->spans, (p->nspans + row->count + 1) *
				     sizeof(*p->spans));
	if (!p->spans)
		abort();
	to = p->spans + p->nspans;
	memcpy(to, p->spans + row->first, row->count * sizeof(*to));
	row->first = p->nspans;
	p->nspans += row->count + 1;
	return to;
}

bool change_spans(plan_t *p, rng_t *r, int arg)
{
	struct kvp_row *row = pick_row(p, r, arg == REORDER ? 2 : 1);
	struct kvp_span *s, *last;

	if (!row)
		return false;
	s = own_spans(p, row);
	last = &s[row->count - 1];
	if (((arg == SPLIT || arg == SHRINK) &&
	     last->end - last->first < 2) || (arg == GROW_DOWN && !s->first))
		return false;
	if (arg == GROW) {
		last->end++;
	} else if (arg == GROW_DOWN) {
		s->first--;
	} else if (arg == SHRINK) {
		last->first++;
	} else if (arg == REORDER) {
		last[1] = *last;
		*last = last[-1];
		last[-1] = last[1];
	} else if (arg == REMOVE) {
		row->count--;
	} else {
		last[1].first = arg == ADD ? last->end + 1 : last->end - 1;
		last[1].end = arg == ADD ? last->end + 2 : last->end;
		last->end -= arg == SPLIT;
		row->count++;
	}
	return true;
}

bool change_rows(plan_t *p, rng_t *r, int arg)
{
	struct kvp_row *row = pick_row(p, r, 0), keep;

	if (!row)
		return false;
	keep = *row;
	if (arg == DROP) {
		*row = p->rows[--p->nrows];
	} else if (arg == REPEAT) {
		p->rows = realloc(p->rows, (p->nrows + 1) * sizeof(*row));
		if (!p->rows)
			abort();
		p->rows[p->nrows++] = keep;
	} else if (arg == RENUMBER) {
		row->row += gen_range(r, 1, 3);
	} else {
		if (row == p->rows)
			return false;
		*row = row[-1];
		row[-1] = keep;
	}
	return true;
}

static void lose(struct kvp_ranks *list, size_t at)
{
	list->count--;
	memmove(list->rank + at, list->rank + at + 1,
		(list->count - at) * sizeof(*list->rank));
}

static bool gain(struct kvp_ranks *list, uint32_t rank)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->rank[i] >= rank)
			return false;
	list->rank = realloc(list->rank, (i + 1) * sizeof(rank));
	if (!list->rank)
		abort();
	list->rank[list->count++] = rank;
	return true;
}

bool change_access(plan_t *p, rng_t *r, int arg)
{
	uint32_t rank = (uint32_t)gen_below(r, p->naccess), keep;
	struct kvp_ranks *list = &p->access[rank].readers;
	size_t i = (size_t)gen_below(r, list->count);

	if (arg == GAIN)
		return gain(list, gen_chance(r, 20) ? 999 : (uint32_t)
			    gen_below(r, p->geometry.ranks));
	if (arg == NO_RANK) {
		free(p->access[--p->naccess].readers.rank);
		return true;
	}
	if (arg == RELABEL) {
		p->access[rank].rank++;
		return true;
	}
	if (list->count < 2)
		return false;
	if (arg == UNSORT) {
		i = i ? i : 1;
		keep = list->rank[i];
		list->rank[i] = list->rank[i - 1];
		list->rank[i - 1] = keep;
		return true;
	}
	while ((list->rank[i] == rank) != (arg == LOSE_OWNER))
		i = (i + 1) % list->count;
	lose(list, i);
	return true;
}

/* One stated number one up, or one down where arg is negative. */
bool change_number(plan_t *p, rng_t *r, int arg)
{
	struct kvp_summary *s = &p->summary;
	uint64_t *const numbers[] = {
		[BASE] = &s->base_chunks, [CHUNKS] = &s->chunks,
		[BOUND] = &s->lower_bound, [PHYSICAL] = &s->physical_bytes,
		[TOKENS] = &s->kv_tokens, [LIMIT] = &s->limit,
		[RANK] = &s->per_rank[gen_below(r, s->nper_rank)],
		[NODE] = &s->per_node[gen_below(r, s->nper_node)],
	};
	uint64_t *n = numbers[arg < 0 ? ~arg : arg];

	if (arg < 0 && !*n)
		return false;
	*n += arg < 0 ? UINT64_MAX : 1;
	return true;
}

bool flip_optimal(plan_t *p, rng_t *r, int arg)
{
	(void)r;
	(void)arg;
	p->summary.optimal = !p->summary.optimal;
	return true;
}

bool drop_count(plan_t *p, rng_t *r, int arg)
{
	(void)r;
	--*(arg ? &p->summary.nper_node : &p->summary.nper_rank);
	return true;
}

bool change_headroom(plan_t *p, rng_t *r, int arg)
{
	struct kvp_headroom *h = &p->headroom;

	(void)r;
	if (p->has_headroom == (arg == NEW_HEADROOM))
		return false;
	switch (arg) {
	case NO_HEADROOM:
		p->has_headroom = false;
		break;
	case NEW_HEADROOM:
		p->has_headroom = true;
		*h = (struct kvp_headroom){ 1000, 100, true };
		break;
	case FREE:
		h->free_bytes++;
		break;
	case CAP:
		h->cap_bytes++;
		break;
	case UNBOUNDED:
		h->bounded = p->geometry.headroom.bounded = false;
		break;
	default:
		h->cap_bytes = h->free_bytes / 2 + 1;
		p->geometry.headroom = *h;
		break;
	}
	return true;
}

/* Another mode's name, where that mode has another bound. */
bool change_mode(plan_t *p, rng_t *r, int up)
{
	enum kvp_merge to = (enum kvp_merge)gen_below(r, 3);
	plan_t other = { 0 };
	bool differs;

	if (up ? to <= p->merge : to >= p->merge)
		return false;
	if (kvp_plan_make(&other, &p->geometry, to, NULL))
		abort();
	differs = other.nchunks != p->nchunks;
	kvp_plan_release(&other);
	p->merge = to;
	return differs;
}

/* Where the addresses of GPUs end. */
static void record_far(uint64_t *address, bool *has)
{
	*address = KVP_ADDRESS_END;
	*has = true;
}

bool change_geometry(plan_t *p, rng_t *r, int arg)
{
	struct kvp_geometry *g = &p->geometry;
	uint32_t rank = (uint32_t)gen_below(r, g->ranks);
	struct kvp_ranks *list = &g->imports[rank];
	size_t i = (size_t)gen_below(r, list->count);

	if ((arg == FEWER_ROWS && !g->snapshot_rows) ||
	    (arg == FAR_ARENA && !g->row_bytes) ||
	    (arg == IMPORT && list->rank[i] == rank))
		return false;
	if (arg == PAGE_TOKENS)
		g->page_tokens++;
	else if (arg == ENTRY_LIMIT)
		g->entry_limit++;
	else if (arg == STATIC_ENTRIES)
		g->static_entries++;
	else if (arg == FEWER_ROWS)
		g->snapshot_rows--;
	else if (arg == IMPORT)
		lose(list, i);
	else if (arg == FAR_PLANE)
		record_far(&g->planes[0].address, &g->planes[0].has_address);
	else if (arg == FAR_ARENA)
		record_far(&g->arena_address, &g->has_arena_address);
	if (arg != TIGHT)
		return true;
	p->summary.limit = p->summary.per_node[0] - 1;
	g->entry_limit = g->entry_reserve + p->summary.limit;
	return true;
}
