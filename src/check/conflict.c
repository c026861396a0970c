/*
 * Conflicting pages: the pages that share a physical byte with a row.  Only
 * bytes are compared; whether a chunk is merged or complete does not matter.
 */
#include "check/conflict.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/u64.h"

void check_row_bytes(const struct kvp_geometry *g, uint64_t dedicated,
		     uint64_t row, uint64_t *from, uint64_t *to)
{
	uint64_t begin = (g->execution_rows + row) * g->row_stride;

	*from = u64_max(begin, dedicated);
	*to = u64_max(begin + g->row_bytes, *from);
	assert(row < g->snapshot_rows);
}

/* Add the pages of one chunk at the bytes [from, to) of the arena. */
static bool add_pages(const struct kvp_geometry *g, const struct kvp_chunk *c,
		      uint64_t from, uint64_t to, struct check_keys *pages)
{
	uint64_t bpp = g->planes[c->plane].bytes_per_page;
	uint64_t begin = u64_max(from, c->arena) - c->arena + c->offset;
	uint64_t end = u64_min(to, c->arena + c->bytes) - c->arena + c->offset;
	uint64_t first, last;

	assert(begin < end);
	first = begin / bpp;
	last = (end - 1) / bpp;
	/* The backing after the last page belongs to no page. */
	if (first >= g->pages)
		return true;
	last = u64_min(last, g->pages - 1);
	return check_keys_add(pages, first, last + 1, 0);
}

/* Join sorted ranges that touch or overlap. */
static void join_ranges(struct check_keys *pages)
{
	size_t i, n = 0;

	for (i = 0; i < pages->count; i++) {
		assert(pages->key[i].a < pages->key[i].b);
		if (n && pages->key[i].a <= pages->key[n - 1].b)
			pages->key[n - 1].b = u64_max(pages->key[n - 1].b,
						      pages->key[i].b);
		else
			pages->key[n++] = pages->key[i];
	}
	pages->count = n;
}

bool check_row_conflicts(const struct kvp_geometry *g, uint64_t dedicated,
			 const struct kvp_chunk *chunks, size_t n,
			 uint64_t row, size_t *cursor,
			 struct check_keys *pages)
{
	uint64_t from, to;
	size_t i;

	pages->count = 0;
	check_row_bytes(g, dedicated, row, &from, &to);
	if (from == to)
		return true;
	while (*cursor < n &&
	       chunks[*cursor].arena + chunks[*cursor].bytes <= from)
		++*cursor;
	for (i = *cursor; i < n && chunks[i].arena < to; i++)
		if (!add_pages(g, &chunks[i], from, to, pages))
			return false;
	if (!check_keys_sort(pages))
		return false;
	join_ranges(pages);
	return true;
}

static bool keep_row(struct check_base *base, const struct check_keys *pages,
		     size_t *room)
{
	struct kvp_span *grown;
	size_t i;

	if (*room - base->nspans < pages->count) {
		*room = 2 * *room + pages->count;
		grown = realloc(base->spans, *room * sizeof(*grown));
		if (!grown)
			return false;
		base->spans = grown;
	}
	for (i = 0; i < pages->count; i++) {
		base->spans[base->nspans].first = pages->key[i].a;
		base->spans[base->nspans++].end = pages->key[i].b;
	}
	return true;
}

int check_base_conflicts(struct check_base *base, const struct kvp_geometry *g,
			 struct kvp_error *err)
{
	struct check_keys pages = { 0 };
	size_t row, cursor = 0, room = 0;
	int code = KVP_ENOMEM;

	base->row_first = malloc(((size_t)g->snapshot_rows + 1) *
				 sizeof(*base->row_first));
	if (!base->row_first)
		goto done;
	base->row_first[0] = 0;
	for (row = 0; row < g->snapshot_rows; row++) {
		if (!check_row_conflicts(g, base->dedicated, base->chunks,
					 base->naliased, row, &cursor, &pages))
			goto done;
		if (!keep_row(base, &pages, &room))
			goto done;
		assert(base->nspans <= room);
		base->row_first[row + 1] = base->nspans;
	}
	code = KVP_OK;
done:
	check_keys_release(&pages);
	return code ? kvp_error_nomem(err) : KVP_OK;
}
