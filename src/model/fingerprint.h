/*
 * A 64-bit fingerprint of all data of a plan.  A verdict keeps the one of
 * its plan, to detect that a plan was changed after it was verified by
 * mistake; it does not protect against forgery.
 */
#ifndef KVPLAN_MODEL_FINGERPRINT_H
#define KVPLAN_MODEL_FINGERPRINT_H

#include <kvplan/plan.h>

uint64_t plan_fingerprint(const struct kvp_plan *plan);

#endif
