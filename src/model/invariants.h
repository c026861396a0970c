/*
 * What always holds of a geometry that was read or sized, and of a plan that
 * was made.  Tests call these after each step; a broken invariant is an
 * assertion.  A plan that was read may break them all: that is for
 * kvp_verify() to find.
 */
#ifndef KVPLAN_MODEL_INVARIANTS_H
#define KVPLAN_MODEL_INVARIANTS_H

#include <kvplan/plan.h>

void geometry_check_internal(const struct kvp_geometry *g);
void plan_check_internal(const struct kvp_plan *plan);

#endif
