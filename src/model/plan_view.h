/*
 * What is read off a plan in more than one place.
 */
#ifndef KVPLAN_MODEL_PLAN_VIEW_H
#define KVPLAN_MODEL_PLAN_VIEW_H

#include <kvplan/plan.h>

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
