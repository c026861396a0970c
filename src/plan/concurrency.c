/*
 * How many sequences a plan holds at the same time, and how many snapshot
 * rows beside them: pages are counted once, whatever rows share them.
 */
#include <assert.h>
#include <stdlib.h>

#include <kvplan/plan.h>
#include <kvplan/size.h>

#include "base/error.h"
#include "base/u64.h"
#include "model/plan_view.h"

/*
 * The pages cut at every end of a span: cell i is [edge[i], edge[i + 1]),
 * taken whole or not at all.
 */
struct cells {
	uint64_t *edge;
	size_t nedges;
	size_t *next;	/* [nedges]: from cell i on, a step towards the first
			   one that no row has taken; itself if it is free */
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void cells_release(struct cells *c)
{
	free(c->edge);
	free(c->next);
}

static int cells_make(struct cells *c, const struct kvp_plan *plan,
		      struct kvp_error *err)
{
	size_t n = 2 * plan->nspans, i;

	c->edge = malloc((n + 1) * sizeof(*c->edge));
	c->next = malloc((n + 1) * sizeof(*c->next));
	if (!c->edge || !c->next)
		return kvp_error_nomem(err);
	for (i = 0; i < plan->nspans; i++) {
		c->edge[2 * i] = plan->spans[i].first;
		c->edge[2 * i + 1] = plan->spans[i].end;
	}
	qsort(c->edge, n, sizeof(*c->edge), by_value);
	c->nedges = 0;
	for (i = 0; i < n; i++)
		if (!c->nedges || c->edge[i] != c->edge[c->nedges - 1])
			c->edge[c->nedges++] = c->edge[i];
	for (i = 0; i <= c->nedges; i++)
		c->next[i] = i;
	return KVP_OK;
}

static size_t cell_of(const struct cells *c, uint64_t page)
{
	size_t low = 0, high = c->nedges, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (c->edge[mid] < page)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The first free cell from i on; the ways there become shorter. */
static size_t next_free(struct cells *c, size_t i)
{
	while (c->next[i] != i) {
		c->next[i] = c->next[c->next[i]];
		i = c->next[i];
	}
	return i;
}

/* Take the pages of a row; returns how many no row had taken. */
static uint64_t take_row(struct cells *c, const struct kvp_plan *plan,
			 const struct kvp_row *row)
{
	const struct kvp_span *span = row_spans(plan, row);
	uint64_t pages = 0;
	size_t i, j, end;

	for (i = 0; i < row->count; i++) {
		end = cell_of(c, span[i].end);
		for (j = next_free(c, cell_of(c, span[i].first)); j < end;
		     j = next_free(c, j)) {
			pages += c->edge[j + 1] - c->edge[j];
			c->next[j] = j + 1;
		}
	}
	return pages;
}

/* Sequences in so many pages, at most one for each execution row. */
static uint64_t sequences_in(const struct kvp_geometry *g, uint64_t pages,
			     uint64_t pages_each)
{
	uint64_t n = pages / pages_each;

	return g->execution_rows ? u64_min(n, g->execution_rows) : n;
}

int kvp_size_concurrency(struct kvp_concurrency *c,
			 const struct kvp_plan *plan, uint64_t tokens,
			 struct kvp_error *err)
{
	const struct kvp_geometry *g = &plan->geometry;
	struct cells cells = { 0 };
	uint64_t spare, taken = 0;
	size_t i;
	int code = cells_make(&cells, plan, err);

	assert(tokens);
	*c = (struct kvp_concurrency){ 0 };
	if (code)
		goto done;
	c->pages_each = u64_ceil_div(tokens,
				     g->page_tokens * g->dcp_group_size);
	c->sequences = sequences_in(g, g->pages, c->pages_each);
	spare = g->pages - c->sequences * c->pages_each;
	for (i = 0; i < plan->nrows; i++) {
		taken += take_row(&cells, plan, &plan->rows[i]);
		if (taken <= spare)
			c->rows_beside = i + 1;
	}
	c->sequences_all_rows = sequences_in(g, g->pages -
					     u64_min(taken, g->pages),
					     c->pages_each);
done:
	cells_release(&cells);
	return code;
}
