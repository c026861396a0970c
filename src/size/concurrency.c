/*
 * How many sequences a plan holds at the same time, and how many snapshot
 * rows in addition: a page that several rows share is counted once.
 */
#include <assert.h>
#include <stdlib.h>

#include <kvplan/plan.h>
#include <kvplan/size.h>

#include "base/error.h"
#include "base/u64.h"
#include "model/plan_view.h"

/*
 * All spans' ends cut the pages into cells: cell i is the pages [edge[i],
 * edge[i + 1]), which every row takes whole or not at all.  A tree over the
 * cells, with node 1 as root, counts the pages that are taken; adding or
 * removing a row takes O(log cells) for each of its spans.
 */
struct cells {
	uint64_t *edge;
	size_t nedges;
	size_t leaves;		/* a power of two, at least the cells */
	struct node {
		uint64_t rows;	/* rows that take all cells of the node */
		uint64_t pages;	/* pages taken in the cells of the node */
	} *node;		/* [2 * leaves] */
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void cells_release(struct cells *c)
{
	free(c->edge);
	free(c->node);
}

static int cells_make(struct cells *c, const struct kvp_plan *plan,
		      struct kvp_error *err)
{
	size_t n = 2 * plan->nspans, i;

	c->edge = malloc((n + 1) * sizeof(*c->edge));
	if (!c->edge)
		return kvp_error_nomem(err);
	for (i = 0; i < plan->nspans; i++) {
		c->edge[2 * i] = plan->spans[i].first;
		c->edge[2 * i + 1] = plan->spans[i].end;
	}
	qsort(c->edge, n, sizeof(*c->edge), by_value);
	for (i = 0; i < n; i++)
		if (!c->nedges || c->edge[i] != c->edge[c->nedges - 1])
			c->edge[c->nedges++] = c->edge[i];
	assert(c->nedges <= n);
	for (c->leaves = 1; c->leaves < c->nedges; c->leaves *= 2)
		;
	c->node = calloc(2 * c->leaves, sizeof(*c->node));
	return c->node ? KVP_OK : kvp_error_nomem(err);
}

static size_t find_cell(const struct cells *c, uint64_t page)
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

/* Count the pages of the cells [first, end); there may be fewer cells. */
static uint64_t count_pages(const struct cells *c, size_t first, size_t end)
{
	if (first + 1 >= c->nedges)
		return 0;
	assert(first <= end);
	return c->edge[end < c->nedges ? end : c->nedges - 1] -
	       c->edge[first];
}

/*
 * Mark the cells [from, to) as taken by one row more or, with `less`, fewer.
 * `at` is the node over the `width` cells from `first` on.  It recurses as
 * deep as the tree: 22 levels for 2^22 cells.
 */
static void mark_cells(struct cells *c, size_t at, size_t first, size_t width,
		       size_t from, size_t to, bool less)
{
	struct node *n = &c->node[at];

	assert(at < 2 * c->leaves && width && from <= to);
	if (to <= first || first + width <= from)
		return;
	if (from <= first && first + width <= to) {
		assert(!less || n->rows);
		n->rows += less ? UINT64_MAX : 1;
	} else {
		mark_cells(c, 2 * at, first, width / 2, from, to, less);
		mark_cells(c, 2 * at + 1, first + width / 2, width / 2, from,
			   to, less);
	}
	if (n->rows)
		n->pages = count_pages(c, first, first + width);
	else
		n->pages = width > 1 ? c->node[2 * at].pages +
				       c->node[2 * at + 1].pages : 0;
}

/* Mark a row's cells; returns how many pages all marked rows take. */
static uint64_t mark_row(struct cells *c, const struct kvp_plan *plan,
			 const struct kvp_row *row, bool less)
{
	const struct kvp_span *span = row_spans(plan, row);
	size_t i;

	for (i = 0; i < row->count; i++)
		mark_cells(c, 1, 0, c->leaves, find_cell(c, span[i].first),
			   find_cell(c, span[i].end), less);
	return c->node[1].pages;
}

/* Find the most consecutive rows that take at most `pages` pages. */
static uint64_t find_most_rows(struct cells *c, const struct kvp_plan *plan,
			       uint64_t pages)
{
	uint64_t taken, most = 0;
	size_t first = 0, i;

	for (i = 0; i < plan->nrows; i++) {
		taken = mark_row(c, plan, &plan->rows[i], false);
		while (taken > pages)
			taken = mark_row(c, plan, &plan->rows[first++], true);
		most = u64_max(most, i + 1 - first);
	}
	for (; first < plan->nrows; first++)
		(void)mark_row(c, plan, &plan->rows[first], true);
	assert(!c->node[1].pages);	/* no row is marked any more */
	return most;
}

/* Count the sequences in `pages` pages, at most one per execution row. */
static uint64_t count_sequences(const struct kvp_geometry *g, uint64_t pages,
				uint64_t pages_each)
{
	uint64_t n;

	assert(pages_each);
	n = pages / pages_each;
	return g->execution_rows ? u64_min(n, g->execution_rows) : n;
}

int kvp_size_concurrency(struct kvp_concurrency *c,
			 const struct kvp_plan *plan, uint64_t tokens,
			 struct kvp_error *err)
{
	const struct kvp_geometry *g = &plan->geometry;
	struct cells cells = { 0 };
	uint64_t spare, taken = 0, page = 0;
	size_t i;
	int code = plan_check_rows(plan, err);

	*c = (struct kvp_concurrency){ 0 };
	if (!code && (!u64_mul(g->page_tokens, g->dcp_group_size, &page) ||
		      !page || !tokens))
		code = kvp_error_set(err, KVP_EINPUT, "sequences of %llu "
			"tokens in pages of %llu * %llu: all must be at least "
			"1, and the product less than 2^64",
			(ull)tokens,
			(ull)g->page_tokens,
			(ull)g->dcp_group_size);
	if (!code)
		code = cells_make(&cells, plan, err);
	if (code)
		goto done;
	c->longest_tokens = g->pages * page;
	c->pages_each = u64_ceil_div(tokens, page);
	c->sequences = count_sequences(g, g->pages, c->pages_each);
	assert(c->sequences <= g->pages / c->pages_each);
	spare = g->pages - c->sequences * c->pages_each;
	c->rows_beside = find_most_rows(&cells, plan, spare);
	for (i = 0; i < plan->nrows; i++)
		taken = mark_row(&cells, plan, &plan->rows[i], false);
	c->sequences_all_rows = count_sequences(g, g->pages -
						u64_min(taken, g->pages),
						c->pages_each);
done:
	cells_release(&cells);
	return code;
}
