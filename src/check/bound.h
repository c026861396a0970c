/*
 * The lower bound on chunks; LOWER BOUND in kvplan-plan(5) says what it is.
 */
#ifndef KVPLAN_CHECK_BOUND_H
#define KVPLAN_CHECK_BOUND_H

#include "check/base_layout.h"

/* Errors: KVP_ENOMEM. */
int check_lower_bound(const struct check_base *base, enum kvp_merge merge,
		      uint64_t *bound, struct kvp_error *err);

#endif
