/*
 * Conflicting pages: for every snapshot row the pages that share a physical
 * byte with it, in any plane.  Planning does not change them, so they are
 * computed from the base layout, where chunks lie in page order.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/u64.h"
#include "plan/work.h"

struct collector {
	const struct kvp_geometry *g;
	const struct layout *l;
	struct kvp_span *spans;
	size_t count;
	size_t room;
	size_t start;		/* of the current row's spans */
	bool sorted;		/* they are ascending and do not touch */
};

static int reserve(struct collector *c, size_t more, struct kvp_error *err)
{
	struct kvp_span *spans;

	if (c->count + more <= c->room)
		return KVP_OK;
	c->room = c->room * 2 + more;
	spans = realloc(c->spans, c->room * sizeof(*spans));
	if (!spans)
		return kvp_error_nomem(err);
	c->spans = spans;
	assert(c->count + more <= c->room);
	return KVP_OK;
}

/*
 * Add pages to the current row.  Chunks come in page order, except one that
 * the row before shares, so nearly all pages extend the last span.
 */
static void add_span(struct collector *c, uint64_t first, uint64_t end)
{
	bool alone = c->count == c->start;
	struct kvp_span *last = alone ? NULL : &c->spans[c->count - 1];

	assert(first < end && c->count < c->room);
	if (alone || first > last->end || end < last->first) {
		c->sorted = c->sorted && (alone || first > last->end);
		c->spans[c->count++] = (struct kvp_span){ first, end };
		return;
	}
	last->end = u64_max(last->end, end);
	if (first < last->first) {
		last->first = first;
		c->sorted = c->sorted && (c->count - 1 == c->start ||
					  first > last[-1].end);
	}
}

/* Add the pages at the bytes [from, to) of the arena, which are one chunk's. */
static void add_pages(struct collector *c, const struct kvp_chunk *chunk,
		      uint64_t from, uint64_t to)
{
	uint64_t bpp = c->g->planes[chunk->plane].bytes_per_page;
	uint64_t first = (chunk->offset + (from - chunk->arena)) / bpp;
	uint64_t end = u64_ceil_div(chunk->offset + (to - chunk->arena), bpp);

	/* The backing after the last page belongs to no page. */
	end = u64_min(end, c->g->pages);
	if (first < end)
		add_span(c, first, end);
}

static int by_first(const void *a, const void *b)
{
	const struct kvp_span *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Sort and join the spans of the current row, unless they are sorted. */
static void join_spans(struct collector *c)
{
	size_t n = c->count - c->start, i, kept = 0;
	struct kvp_span *s;

	if (c->sorted)
		return;
	assert(n > 1);
	s = c->spans + c->start;
	qsort(s, n, sizeof(*s), by_first);
	for (i = 1; i < n; i++) {
		if (s[i].first <= s[kept].end)
			s[kept].end = u64_max(s[kept].end, s[i].end);
		else
			s[++kept] = s[i];
	}
	c->count = c->start + kept + 1;
}

/* *walk is the first chunk that may overlap this row or a later one. */
static int collect_row(struct collector *c, uint64_t row, uint32_t *walk,
		       struct kvp_error *err)
{
	uint64_t begin = (c->g->execution_rows + row) * c->g->row_stride;
	uint64_t end = begin + c->g->row_bytes;
	const struct kvp_chunk *chunk = c->l->chunks;
	uint32_t i;
	int code;

	c->start = c->count;
	c->sorted = true;
	assert(row < c->g->snapshot_rows && begin <= end);
	while (*walk < c->l->aliased &&
	       chunk[*walk].arena + chunk[*walk].bytes <= begin)
		++*walk;
	for (i = *walk; i < c->l->aliased && chunk[i].arena < end; i++) {
		code = reserve(c, 1, err);
		if (code)
			return code;
		add_pages(c, &chunk[i], u64_max(begin, chunk[i].arena),
			  u64_min(end, chunk[i].arena + chunk[i].bytes));
	}
	join_spans(c);
	return KVP_OK;
}

int conflicts_make(struct kvp_plan *plan, const struct layout *l,
		   struct kvp_error *err)
{
	const struct kvp_geometry *g = &plan->geometry;
	struct collector c = { .g = g, .l = l };
	uint32_t walk = 0;
	uint64_t row;
	int code = KVP_OK;

	plan->rows = malloc((g->snapshot_rows + 1) * sizeof(*plan->rows));
	if (!plan->rows)
		return kvp_error_nomem(err);
	for (row = 0; row < g->snapshot_rows && !code; row++) {
		plan->rows[row] = (struct kvp_row){ .row = row,
						    .first = c.count };
		code = collect_row(&c, row, &walk, err);
		plan->rows[row].count = c.count - plan->rows[row].first;
	}
	plan->nrows = g->snapshot_rows;
	plan->spans = c.spans;
	plan->nspans = c.count;
	return code;
}
