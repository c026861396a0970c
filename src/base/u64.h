/*
 * Checked 64-bit arithmetic.  A function that returns bool returns whether
 * the result fits into 64 bits; if not, *out is untouched.  Also a number's
 * decimal digits.
 */
#ifndef KVPLAN_BASE_U64_H
#define KVPLAN_BASE_U64_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool u64_add(uint64_t a, uint64_t b, uint64_t *out)
{
	if (a > UINT64_MAX - b)
		return false;
	*out = a + b;
	return true;
}

/* The sum, or UINT64_MAX if it does not fit; to compare with a limit. */
static inline uint64_t u64_add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline bool u64_mul(uint64_t a, uint64_t b, uint64_t *out)
{
	if (b && a > UINT64_MAX / b)
		return false;
	*out = a * b;
	return true;
}

/* Round up to a multiple of `to`, which must not be 0. */
static inline bool u64_round_up(uint64_t a, uint64_t to, uint64_t *out)
{
	uint64_t rest;

	assert(to);
	rest = a % to;
	return u64_add(a, rest ? to - rest : 0, out);
}

static inline uint64_t u64_ceil_div(uint64_t a, uint64_t b)
{
	assert(b);
	return a / b + (a % b != 0);
}

static inline uint64_t u64_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t u64_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#define U64_DIGITS 20

/*
 * The decimal digits, without a zero behind them; answers where they end.
 * Plans hold millions of numbers, so the digits are counted first and
 * written where they belong, two at a time.
 */
static inline char *u64_digits(char *to, uint64_t value)
{
	uint64_t power = 10;
	size_t count = 1, at;
	unsigned two;

	for (; count < U64_DIGITS && value >= power; power *= 10)
		count++;
	for (at = count; at > 1; value /= 100) {
		two = (unsigned)(value % 100);
		to[--at] = (char)('0' + two % 10);
		to[--at] = (char)('0' + two / 10);
	}
	if (at)
		*to = (char)('0' + value);
	return to + count;
}

#endif
