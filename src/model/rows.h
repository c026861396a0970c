/*
 * The spans of a row, where it has any: a plan without spans has no pool to
 * point into.
 */
#ifndef KVPLAN_MODEL_ROWS_H
#define KVPLAN_MODEL_ROWS_H

#include <kvplan/plan.h>

static inline const struct kvp_span *row_spans(const struct kvp_plan *plan,
					       const struct kvp_row *row)
{
	return row->count ? plan->spans + row->first : NULL;
}

#endif
