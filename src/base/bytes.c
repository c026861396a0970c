#include "base/bytes.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include <kvplan/error.h>

#define BYTES_MAX UINT64_C(9007199254740991)	/* 2^53 - 1 */

/* The bytes of a unit; 0 if there is no such unit. */
static uint64_t unit_factor(const char *unit, bool loose)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i;

	if (loose && !*unit)
		return 1;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(unit, units[i]) ||
		    (loose && i && *unit == *units[i] && !unit[1]))
			return UINT64_C(1) << (10 * i);
	return 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int parse_bytes(const char *p, bool loose, uint64_t *out)
{
	uint64_t whole = 0, part = 0, parts = 1, factor;
	int decimals = 0;

	if (!is_digit(*p))
		return KVP_EINPUT;
	for (; is_digit(*p); p++)
		if (whole <= BYTES_MAX)
			whole = whole * 10 + (uint64_t)(*p - '0');
	if (loose && *p == '.' && is_digit(p[1]))
		for (p++; is_digit(*p); p++, parts *= 10) {
			if (++decimals > BYTES_DECIMALS_MAX)
				return KVP_EINPUT;
			part = part * 10 + (uint64_t)(*p - '0');
		}
	if (*p == ' ')
		p++;
	factor = unit_factor(p, loose);
	if (!factor || (decimals && factor == 1))
		return KVP_EINPUT;
	assert(part < parts);
	if (whole > BYTES_MAX / factor ||
	    whole * factor > BYTES_MAX - part * factor / parts)
		return KVP_ELIMIT;
	*out = whole * factor + part * factor / parts;
	return KVP_OK;
}

int bytes_parse(const char *text, uint64_t *out)
{
	return parse_bytes(text, false, out);
}

int bytes_parse_loose(const char *text, uint64_t *out)
{
	return parse_bytes(text, true, out);
}

bool bytes_has_many_decimals(const char *text)
{
	const char *point = strchr(text, '.');

	return point && strspn(point + 1, "0123456789") > BYTES_DECIMALS_MAX;
}
