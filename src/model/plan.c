/*
 * The names of the modes; checking a plan's rows; releasing a plan.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/plan_view.h"

static const char *const merge_names[] = {
	[KVP_MERGE_NONE] = "none",
	[KVP_MERGE_ROW] = "row",
	[KVP_MERGE_SPAN] = "span",
};

const char *kvp_merge_name(enum kvp_merge merge)
{
	return (size_t)merge < sizeof(merge_names) / sizeof(*merge_names) ?
		merge_names[merge] : "?";
}

int kvp_merge_find(const char *name, enum kvp_merge *merge)
{
	size_t i;

	assert(name && merge);
	for (i = 0; i < sizeof(merge_names) / sizeof(*merge_names); i++)
		if (!strcmp(name, merge_names[i])) {
			*merge = (enum kvp_merge)i;
			return KVP_OK;
		}
	return KVP_EINPUT;
}

static bool row_is_valid(const struct kvp_plan *plan, size_t row)
{
	const struct kvp_row *r = &plan->rows[row];
	const struct kvp_span *span;
	uint64_t from = 0;
	size_t i;

	if (r->row != row || !row_has_spans(plan, r))
		return false;
	span = row_spans(plan, r);
	for (i = 0; i < r->count; i++) {
		if (span[i].first < from || span[i].first >= span[i].end ||
		    span[i].end > plan->geometry.pages)
			return false;
		from = span[i].end;
	}
	return true;
}

int plan_check_rows(const struct kvp_plan *plan, struct kvp_error *err)
{
	size_t row;

	if (plan->nrows > KVP_ROWS_MAX)
		return kvp_error_set(err, KVP_EINPUT,
				     "%zu rows, must be at most %llu",
				     plan->nrows, (ull)KVP_ROWS_MAX);
	for (row = 0; row < plan->nrows; row++)
		if (!row_is_valid(plan, row))
			return kvp_error_set(err, KVP_EINPUT,
				"rows[%zu]: must be row %zu with ascending "
				"ranges of the %llu pages", row, row,
				(ull)plan->geometry.pages);
	return KVP_OK;
}

void kvp_plan_release(struct kvp_plan *plan)
{
	size_t i;

	assert(plan);
	for (i = 0; i < plan->naccess; i++)
		free(plan->access[i].readers.rank);
	free(plan->access);
	free(plan->summary.per_rank);
	free(plan->summary.per_node);
	free(plan->spans);
	free(plan->rows);
	free(plan->chunks);
	kvp_geometry_release(&plan->geometry);
	*plan = (struct kvp_plan){ 0 };
}

size_t kvp_plan_sizeof(void)
{
	return sizeof(struct kvp_plan);
}
