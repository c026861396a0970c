/*
 * Questions about a plan that several rooms ask.
 */
#ifndef KVPLAN_MODEL_PLAN_VIEW_H
#define KVPLAN_MODEL_PLAN_VIEW_H

#include <kvplan/plan.h>

/* Whether the plan has all of these ranks, and lists every rank's readers. */
static inline bool plan_has_ranks(const struct kvp_plan *plan, uint32_t first,
				  uint32_t count)
{
	uint64_t ranks = plan->geometry.ranks;

	return count && first < ranks && count <= ranks - first &&
	       plan->naccess == ranks && plan->geometry.ranks_per_node &&
	       plan->geometry.dcp_group_size;
}

/* Whether the plan has all the spans that a row uses. */
static inline bool row_has_spans(const struct kvp_plan *plan,
				 const struct kvp_row *row)
{
	return row->first <= plan->nspans &&
	       row->count <= plan->nspans - row->first;
}

/*
 * plan.c: check that rows[i] is row i and that its spans are ascending,
 * disjoint ranges of the geometry's pages; KVP_EINPUT if not.  Call this
 * before using the rows of a plan that has no verdict.
 */
int plan_check_rows(const struct kvp_plan *plan, struct kvp_error *err);

/* The spans of a row; NULL if it has none. */
static inline const struct kvp_span *row_spans(const struct kvp_plan *plan,
					       const struct kvp_row *row)
{
	return row->count ? plan->spans + row->first : NULL;
}

/* The number of aliased chunks, which come first in a plan. */
static inline uint64_t plan_count_aliased(const struct kvp_plan *plan)
{
	uint64_t n = 0;

	while (n < plan->nchunks && plan->chunks[n].arena != KVP_UNALIASED)
		n++;
	return n;
}

#endif
