/*
 * Planning: making a chunk map from a geometry.
 *
 * The planner computes the base layout, or takes it from base_chunks.  Then,
 * as far as the mode allows, it exchanges the planes of chunks that cover
 * the same bytes, reorders the chunks of a row, and merges neighbours.
 * Every plane and row keeps its addresses, every row its conflicting pages.
 *
 * Cost: O(n log n) in the chunks of one rank, plus the length of all reader
 * lists.
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
 * A plan that needs more table entries than the limit is no error: compare
 * summary.per_node with summary.limit.
 *
 * Errors:
 *   KVP_EINFEASIBLE  the rows do not fit the aliased backing; the text says
 *                    how many bytes are missing and how many rows would fit
 *   KVP_ELIMIT       the layout would have more than KVP_CHUNKS_MAX chunks;
 *                    found before memory is allocated for them
 *   KVP_EINPUT       merge is not a declared mode, or the geometry is not
 *                    sized yet
 *   KVP_ENOMEM
 *   KVP_EBUG         the planner's result fails its own checks
 */
int kvp_plan_make(struct kvp_plan *plan, const struct kvp_geometry *geometry,
		  enum kvp_merge merge, struct kvp_error *err);

#ifdef __cplusplus
}
#endif

#endif
