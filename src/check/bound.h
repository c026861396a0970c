/*
 * The lower bound on chunks, design.md section 5, "Lower bound".
 */
#ifndef KVPLAN_CHECK_BOUND_H
#define KVPLAN_CHECK_BOUND_H

#include "check/base_layout.h"

/* Errors: KVP_ENOMEM. */
int check_lower_bound(const struct check_base *base, enum kvp_merge merge,
		      uint64_t *bound, struct kvp_error *err);

#endif
