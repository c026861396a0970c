/*
 * Assertions of everything that must hold for a geometry that was read or
 * sized, and for a plan that kvp_plan_make() made.  Tests call these after
 * each step.  Do not call them for a plan that was read from a file: it may
 * be wrong in any way, which kvp_verify() finds.
 */
#ifndef KVPLAN_MODEL_INVARIANTS_H
#define KVPLAN_MODEL_INVARIANTS_H

#include <kvplan/plan.h>

void geometry_check_internal(const struct kvp_geometry *g);
void plan_check_internal(const struct kvp_plan *plan);

#endif
