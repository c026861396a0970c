/*
 * Products and sums of numbers in documents.  A function returns whether the
 * result is at most 2^53 - 1; if not, *out is undefined.
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
