/*
 * Planning: from a geometry to a chunk map.
 *
 * The base layout is laid out or taken from base_chunks, planes are
 * exchanged among byte-identical chunks, chunks of one row are reordered and
 * neighbours merged, as the mode allows.  No byte of any plane or row
 * changes its address, no row its conflicting pages.
 *
 * Cost: O(n log n) in the chunks of one rank, plus the ranks' reader lists.
 */
#ifndef KVPLAN_PLAN_MAKE_H
#define KVPLAN_PLAN_MAKE_H

#include <kvplan/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Plan a geometry.  On success *plan holds its own copy of the geometry;
 * release it with kvp_plan_release().  On failure *plan is empty.
 *
 * Mode row never gives more chunks than none, and span never more than row.
 *
 * A plan over the table's limit is still a plan: look at
 * summary.per_node and summary.limit.
 *
 * Errors: KVP_EINFEASIBLE when the rows do not fit the aliased backing (the
 * text says by how much and how many would fit), KVP_ELIMIT when the layout
 * would have more than KVP_CHUNKS_MAX chunks (found before memory is taken),
 * KVP_EINPUT for a mode that is none and for a geometry still to be sized,
 * KVP_ENOMEM, KVP_EBUG when the planner's own checks fail.
 */
int kvp_plan_make(struct kvp_plan *plan, const struct kvp_geometry *geometry,
		  enum kvp_merge merge, struct kvp_error *err);

#ifdef __cplusplus
}
#endif

#endif
