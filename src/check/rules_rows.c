/*
 * Rules on snapshot rows: conflicts (pages computed from the plan's chunks)
 * and rows (pages that the plan states).  Both compare with the conflicting
 * pages of the base layout.
 */
#include <assert.h>

#include "base/u64.h"
#include "check/check.h"
#include "check/conflict.h"
#include "model/plan_view.h"

/* A sorted list of page ranges. */
struct ranges {
	const struct kvp_span *span;
	size_t count;
};

static struct ranges base_ranges(const struct check *c, uint64_t row)
{
	struct ranges r;

	assert(row < c->geometry->snapshot_rows);
	assert(c->base.row_first[row] <= c->base.row_first[row + 1]);
	assert(c->base.row_first[row + 1] <= c->base.nspans);
	r.count = c->base.row_first[row + 1] - c->base.row_first[row];
	r.span = r.count ? c->base.spans + c->base.row_first[row] : NULL;
	return r;
}

/* Report the first range that differs: one finding per row. */
static void compare_computed(struct check *c, uint64_t row,
			     const struct check_keys *pages)
{
	struct ranges base = base_ranges(c, row);
	size_t i;

	for (i = 0; i < base.count && i < pages->count; i++) {
		if (pages->key[i].a != base.span[i].first) {
			check_report(c, KVP_AT_ROW, row,
				     "conflicts from page", pages->key[i].a,
				     base.span[i].first);
			return;
		}
		if (pages->key[i].b != base.span[i].end) {
			check_report(c, KVP_AT_ROW, row,
				     "conflicts up to page", pages->key[i].b,
				     base.span[i].end);
			return;
		}
	}
	if (pages->count != base.count)
		check_report(c, KVP_AT_ROW, row,
			     "ranges of conflicting pages", pages->count,
			     base.count);
}

int check_rule_conflicts(struct check *c)
{
	struct check_keys pages = { 0 };
	size_t cursor = 0;
	int code = KVP_OK;
	uint64_t row;

	for (row = 0; row < c->geometry->snapshot_rows; row++) {
		if (!check_row_conflicts(c->geometry, c->base.dedicated,
					 c->plan->chunks, c->naliased, row,
					 &cursor, &pages)) {
			code = KVP_ENOMEM;
			break;
		}
		compare_computed(c, row, &pages);
	}
	check_keys_release(&pages);
	return code;
}

static void compare_stated(struct check *c, uint64_t row,
			   const struct ranges *stated)
{
	struct ranges base = base_ranges(c, row);
	size_t i;

	for (i = 0; i < base.count && i < stated->count; i++) {
		if (stated->span[i].first != base.span[i].first) {
			check_report(c, KVP_AT_ROW, row,
				     "states a range from page",
				     stated->span[i].first,
				     base.span[i].first);
			return;
		}
		if (stated->span[i].end != base.span[i].end) {
			check_report(c, KVP_AT_ROW, row,
				     "states a range up to page",
				     stated->span[i].end, base.span[i].end);
			return;
		}
	}
	if (stated->count != base.count)
		check_report(c, KVP_AT_ROW, row, "states ranges of pages",
			     stated->count, base.count);
}

int check_rule_rows(struct check *c)
{
	const struct kvp_plan *plan = c->plan;
	struct ranges stated;
	uint64_t rows = c->geometry->snapshot_rows, i;

	if (plan->nrows != rows)
		check_report(c, KVP_AT_PLAN, 0, "lists rows", plan->nrows,
			     rows);
	for (i = 0; i < u64_min(plan->nrows, rows); i++) {
		const struct kvp_row *row = &plan->rows[i];

		if (row->row != i) {
			check_report(c, KVP_AT_ROW, i, "is listed as row",
				     row->row, i);
			continue;
		}
		if (!row_has_spans(plan, row)) {
			check_report(c, KVP_AT_ROW, i,
				     "states ranges beyond the pool",
				     row->count, 0);
			continue;
		}
		stated.count = row->count;
		stated.span = row_spans(plan, row);
		compare_stated(c, i, &stated);
	}
	return KVP_OK;
}
