/*
 * The memory limit: how much of the free memory may be used.
 */
#include <assert.h>
#include <string.h>

#include <kvplan/size.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/u64.h"

/* The fewest bytes to use that may be given without a unit: "90" is taken
   for a percentage that lacks its sign, not for 90 bytes. */
#define UNITLESS_MIN (UINT64_C(1) << 20)

/* Read "90%": a number up to 100 and the sign. */
static bool is_percentage(const char *text, uint32_t *percent)
{
	uint32_t value = 0;
	const char *p;

	for (p = text; *p >= '0' && *p <= '9' && value <= 100; p++)
		value = value * 10 + (uint32_t)(*p - '0');
	if (p == text || strcmp(p, "%") || value > 100)
		return false;
	*percent = value;
	return true;
}

int kvp_memory_limit_read(struct kvp_memory_limit *limit, const char *text,
			  struct kvp_error *err)
{
	struct kvp_memory_limit got = { .kind = KVP_LIMIT_PERCENT };
	int code;

	assert(limit && text);
	if (!is_percentage(text, &got.percent)) {
		got.kind = *text == '-' ? KVP_LIMIT_LEAVE : KVP_LIMIT_USE;
		code = bytes_parse_loose(text + (*text == '-'), &got.bytes);
		if (code == KVP_ELIMIT)
			return kvp_error_set(err, KVP_EINPUT, "'%s' is more "
				"than 9007199254740991 bytes (2^53 - 1)",
				text);
		if (code && bytes_has_many_decimals(text))
			return kvp_error_set(err, KVP_EINPUT, "'%s' has more "
				"than %d decimals", text, BYTES_DECIMALS_MAX);
		if (code)
			return kvp_error_set(err, KVP_EINPUT, "'%s' must be "
				"what is left free, such as -1G, a whole "
				"percentage of what is free up to 100%%, such "
				"as 90%%, or the most to use, such as 70GiB",
				text);
	}
	if (got.kind == KVP_LIMIT_USE && got.bytes < UNITLESS_MIN &&
	    text[strlen(text) - 1] >= '0' && text[strlen(text) - 1] <= '9')
		return kvp_error_set(err, KVP_EINPUT, "'%s' has no unit and "
			"would be %s bytes; less than 1 MiB needs one: say "
			"%s%% or %sGiB", text, text,
			got.bytes <= 100 ? text : "90", text);
	*limit = got;
	return KVP_OK;
}

uint64_t kvp_memory_limit_apply(const struct kvp_memory_limit *limit,
				uint64_t free_bytes)
{
	const uint64_t percent = u64_min(limit->percent, 100);

	switch (limit->kind) {
	case KVP_LIMIT_LEAVE:
		return free_bytes > limit->bytes ?
		       free_bytes - limit->bytes : 0;
	case KVP_LIMIT_USE:
		return u64_min(free_bytes, limit->bytes);
	case KVP_LIMIT_PERCENT:
		/* free * percent / 100, without overflow. */
		return free_bytes / 100 * percent +
		       free_bytes % 100 * percent / 100;
	}
	return 0;
}
