/*
 * A 64-bit fingerprint of everything a plan says, so that a verdict can be
 * held to the plan it was reached for.  It guards against mistakes (a plan
 * changed after it was verified), not against forgery.
 */
#ifndef KVPLAN_MODEL_FINGERPRINT_H
#define KVPLAN_MODEL_FINGERPRINT_H

#include <kvplan/plan.h>

uint64_t plan_fingerprint(const struct kvp_plan *plan);

#endif
