/*
 * A stable least-digit-first radix sort.  Digits that are the same in all
 * keys are skipped, so short keys cost few passes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plan/work.h"

#define DIGIT_BITS 11
#define BUCKETS (1u << DIGIT_BITS)

static unsigned get_digit(uint64_t key, unsigned shift)
{
	return (unsigned)(key >> shift) & (BUCKETS - 1);
}

static void sort_by_digit(const uint64_t *keys, const uint32_t *values,
			  uint64_t *to_keys, uint32_t *to_values, size_t count,
			  unsigned shift)
{
	uint32_t at[BUCKETS] = { 0 };
	uint32_t sum = 0, here;
	unsigned b;
	size_t i;

	assert(shift < 64 && keys != to_keys && values != to_values);
	for (i = 0; i < count; i++)
		at[get_digit(keys[i], shift)]++;
	for (b = 0; b < BUCKETS; b++) {
		here = at[b];
		at[b] = sum;
		sum += here;
	}
	assert(sum == count);
	for (i = 0; i < count; i++) {
		here = at[get_digit(keys[i], shift)]++;
		to_keys[here] = keys[i];
		to_values[here] = values[i];
	}
}

/* The bits in which keys differ; 0 if they are in order already. */
static uint64_t find_differing_bits(const uint64_t *keys, size_t count)
{
	uint64_t bits = 0;
	bool ordered = true;
	size_t i;

	for (i = 1; i < count; i++) {
		bits |= keys[i] ^ keys[0];
		ordered = ordered && keys[i - 1] <= keys[i];
	}
	return ordered ? 0 : bits;
}

int radix_sort(uint64_t *keys, uint32_t *values, size_t count,
	       struct kvp_error *err)
{
	uint64_t bits = find_differing_bits(keys, count);
	uint64_t *keys_from = keys, *keys_to, *keys_swap;
	uint32_t *from = values, *to, *swap;
	uint64_t *spare_keys;
	uint32_t *spare;
	unsigned shift;
	int code = KVP_OK;

	assert(count <= UINT32_MAX);
	if (!bits)
		return KVP_OK;
	spare_keys = keys_to = malloc(count * sizeof(*keys));
	spare = to = malloc(count * sizeof(*values));
	if (!spare_keys || !spare) {
		code = kvp_error_nomem(err);
		goto done;
	}
	for (shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (!get_digit(bits, shift))
			continue;
		sort_by_digit(keys_from, from, keys_to, to, count, shift);
		keys_swap = keys_from;
		keys_from = keys_to;
		keys_to = keys_swap;
		swap = from;
		from = to;
		to = swap;
	}
	if (from != values) {
		memcpy(keys, keys_from, count * sizeof(*keys));
		memcpy(values, from, count * sizeof(*values));
	}
done:
	free(spare_keys);
	free(spare);
	return code;
}
