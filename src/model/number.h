/*
 * Products and sums that a document can state: at most 2^53 - 1.  Each
 * answers whether the result is one; on false *out is not meaningful.
 */
#ifndef KVPLAN_MODEL_NUMBER_H
#define KVPLAN_MODEL_NUMBER_H

#include <kvplan/geometry.h>

#include "base/u64.h"

static inline bool number_mul(uint64_t a, uint64_t b, uint64_t *out)
{
	return u64_mul(a, b, out) && *out <= KVP_NUMBER_MAX;
}

static inline bool number_add(uint64_t a, uint64_t b, uint64_t *out)
{
	return u64_add(a, b, out) && *out <= KVP_NUMBER_MAX;
}

#endif
