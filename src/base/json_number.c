/*
 * Reading whole numbers exactly.  "2.0" and "1e3" are whole numbers; a
 * number with a fraction is refused, however small the fraction is.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"

/* The number mantissa * 10^scale. */
struct digits {
	uint64_t mantissa;	/* without trailing zeros */
	int64_t scale;
	bool negative;
	bool big;		/* the mantissa is above 2^53 - 1 */
};

/* Append a digit.  Zeros are only counted until another digit follows. */
static void add_digit(struct digits *d, int64_t *zeros, unsigned digit)
{
	if (!digit) {
		++*zeros;
		return;
	}
	for (; *zeros > 0 && d->mantissa && !d->big; --*zeros) {
		d->mantissa *= 10;
		d->big = d->mantissa > JSON_NUMBER_MAX;
	}
	*zeros = 0;
	if (!d->big)
		d->mantissa = d->mantissa * 10 + digit;
	d->big = d->big || d->mantissa > JSON_NUMBER_MAX;
}

static int64_t read_exponent(const char *p, const char *end)
{
	bool negative = false;
	int64_t value = 0;

	if (p < end && (*p == '+' || *p == '-'))
		negative = *p++ == '-';
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (value < INT64_C(1) << 40)
			value = value * 10 + (*p - '0');
	return negative ? -value : value;
}

static struct digits read_digits(const char *p, const char *end)
{
	struct digits d = { 0 };
	int64_t zeros = 0, fraction = 0;
	bool point = false;

	assert(p < end);
	if (*p == '-') {
		d.negative = true;
		p++;
	}
	for (; p < end && (*p == '.' || (*p >= '0' && *p <= '9')); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		fraction += point;
		add_digit(&d, &zeros, (unsigned)(*p - '0'));
	}
	d.scale = zeros - fraction;
	if (p < end && (*p == 'e' || *p == 'E'))
		d.scale += read_exponent(p + 1, end);
	return d;
}

static bool is_token_at(const struct json_at *at, size_t i)
{
	return at->p + i < at->in->end && json_is_token(at->p[i]);
}

/* Copy the number from the text; one that does not fit ends in "...". */
static const char *copy_token(const struct json_at *at, char *text, size_t size)
{
	size_t i;

	assert(size > 3);
	for (i = 0; i + 1 < size && is_token_at(at, i); i++)
		text[i] = at->p[i];
	text[i] = '\0';
	if (is_token_at(at, i))
		memcpy(text + i - 3, "...", 3);
	return text;
}

/* Whether this is NaN, Infinity or -Infinity, in a lenient text. */
static bool is_word(const struct json_at *at)
{
	const char *p = at->p + (*at->p == '-');

	return at->in->lenient && p < at->in->end && (*p == 'N' || *p == 'I');
}

static int read_whole(const struct json_at *at, uint64_t *out,
		      struct kvp_error *err)
{
	struct digits d = read_digits(at->p, at->in->end);
	char text[40];

	if (is_word(at))
		return json_fail(at, err, KVP_EINPUT,
			"is %s, must be a whole number",
			copy_token(at, text, sizeof(text)));
	if (d.mantissa && d.negative)
		return json_fail(at, err, KVP_EINPUT,
			"is %s, must not be negative",
			copy_token(at, text, sizeof(text)));
	if (d.mantissa && d.scale < 0)
		return json_fail(at, err, KVP_EINPUT,
			"is %s, must be a whole number",
			copy_token(at, text, sizeof(text)));
	assert(!d.mantissa || d.big || d.scale >= 0);
	for (; d.mantissa && d.scale && !d.big; d.scale--) {
		d.mantissa *= 10;
		d.big = d.mantissa > JSON_NUMBER_MAX;
	}
	if (d.big)
		return json_fail(at, err, KVP_EINPUT,
			"is %s, must be at most 9007199254740991 (2^53 - 1)",
			copy_token(at, text, sizeof(text)));
	*out = d.mantissa;
	return KVP_OK;
}

static int check_range(const struct json_at *at, uint64_t low, uint64_t high,
		       uint64_t value, uint64_t *out, struct kvp_error *err)
{
	assert(low <= high);
	if (value < low)
		return json_fail(at, err, KVP_EINPUT,
			"is %llu, must be at least %llu",
			(ull)value, (ull)low);
	if (value > high)
		return json_fail(at, err, KVP_ELIMIT,
			"is %llu, must be at most %llu",
			(ull)value, (ull)high);
	*out = value;
	return KVP_OK;
}

int json_u64(const struct json_at *at, uint64_t low, uint64_t high,
	     uint64_t *out, struct kvp_error *err)
{
	uint64_t value = 0;
	int code;

	if (json_type(at) != JSON_NUMBER)
		return json_expect(at, JSON_NUMBER, "a whole number", err);
	code = read_whole(at, &value, err);
	return code ? code : check_range(at, low, high, value, out, err);
}

static int fail_bytes(const struct json_at *at, struct kvp_error *err)
{
	return json_fail(at, err, KVP_EINPUT, "must be a whole number of "
		"bytes or text such as \"2 MiB\" (B, KiB, MiB, GiB, TiB)");
}

static int parse_text_bytes(const struct json_at *at, const char *text,
			    uint64_t low, uint64_t *out, struct kvp_error *err)
{
	uint64_t value = 0;
	int code = bytes_parse(text, &value);

	if (code == KVP_ELIMIT)
		return json_fail(at, err, KVP_EINPUT, "is more than "
			"9007199254740991 bytes (2^53 - 1)");
	return code ? fail_bytes(at, err) :
		      check_range(at, low, JSON_NUMBER_MAX, value, out, err);
}

int json_bytes(const struct json_at *at, uint64_t low, uint64_t *out,
	       struct kvp_error *err)
{
	char *text;
	int code;

	if (json_type(at) == JSON_NUMBER)
		return json_u64(at, low, JSON_NUMBER_MAX, out, err);
	if (json_type(at) != JSON_STRING)
		return fail_bytes(at, err);
	code = json_text(at, &text, err);
	if (code)
		return code;
	code = parse_text_bytes(at, text, low, out, err);
	free(text);
	return code;
}
