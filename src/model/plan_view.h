/*
 * What is read off a plan in more than one place.
 */
#ifndef KVPLAN_MODEL_PLAN_VIEW_H
#define KVPLAN_MODEL_PLAN_VIEW_H

#include <kvplan/plan.h>

/* Are all of these ranks the plan's, and is their access listed? */
static inline bool plan_has_ranks(const struct kvp_plan *plan, uint32_t first,
				  uint32_t count)
{
	uint64_t ranks = plan->geometry.ranks;

	return count && first < ranks && count <= ranks - first &&
	       plan->naccess == ranks && plan->geometry.ranks_per_node &&
	       plan->geometry.dcp_group_size;
}

/* Does a row point into the plan's pool of spans? */
static inline bool row_has_spans(const struct kvp_plan *plan,
				 const struct kvp_row *row)
{
	return row->first <= plan->nspans &&
	       row->count <= plan->nspans - row->first;
}

/*
 * plan.c: KVP_EINPUT unless row i of the list is row i and its spans are
 * ascending, disjoint ranges of the geometry's pages.  What uses a plan's
 * rows without a verdict asks this first.
 */
int plan_check_rows(const struct kvp_plan *plan, struct kvp_error *err);

/* The spans of a row; a plan without any has no pool to point into. */
static inline const struct kvp_span *row_spans(const struct kvp_plan *plan,
					       const struct kvp_row *row)
{
	return row->count ? plan->spans + row->first : NULL;
}

/* Aliased chunks: they come first in a plan. */
static inline uint64_t plan_aliased(const struct kvp_plan *plan)
{
	uint64_t n = 0;

	while (n < plan->nchunks && plan->chunks[n].arena != KVP_UNALIASED)
		n++;
	return n;
}

#endif
