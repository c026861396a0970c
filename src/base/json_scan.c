/*
 * Checking a text against the grammar of JSON (RFC 8259).
 */
#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

/* The value of a constant as a string literal. */
#define TEXT(name) TEXT_OF(name)
#define TEXT_OF(value) #value

struct scan {
	const struct json_text *in;
	const char *p;
	struct kvp_error *err;
};

/* Report an error.  Lines and columns are counted only here. */
static int fail_syntax(const struct scan *s, const char *at, const char *what)
{
	unsigned long line = 1, column = 1;
	const char *p;

	assert(at >= s->in->text && at <= s->in->end);
	for (p = s->in->text; p < at; p++) {
		if (*p == '\n') {
			line++;
			column = 1;
		} else if (((unsigned char)*p & 0xc0) != 0x80) {
			column++;
		}
	}
	return kvp_error_set(s->err, KVP_ESYNTAX, "%s:%lu:%lu: %s",
			     s->in->source, line, column, what);
}

static bool at_end(const struct scan *s)
{
	return s->p == s->in->end;
}

static void skip_blanks(struct scan *s)
{
	while (!at_end(s) && (*s->p == ' ' || *s->p == '\n' ||
			      *s->p == '\r' || *s->p == '\t'))
		s->p++;
}

static bool is_digit(const struct scan *s)
{
	return !at_end(s) && *s->p >= '0' && *s->p <= '9';
}

static int scan_digits(struct scan *s, const char *what)
{
	if (!is_digit(s))
		return fail_syntax(s, s->p, what);
	while (is_digit(s))
		s->p++;
	return KVP_OK;
}

static int scan_number(struct scan *s)
{
	int code;

	if (*s->p == '-')
		s->p++;
	if (!at_end(s) && *s->p == '0') {
		s->p++;
		if (is_digit(s))
			return fail_syntax(s, s->p,
				"a number may not begin with 0; remove the 0");
	} else {
		code = scan_digits(s, "a digit must follow the sign");
		if (code)
			return code;
	}
	if (!at_end(s) && *s->p == '.') {
		s->p++;
		code = scan_digits(s, "a digit must follow the point");
		if (code)
			return code;
	}
	if (!at_end(s) && (*s->p == 'e' || *s->p == 'E')) {
		s->p++;
		if (!at_end(s) && (*s->p == '+' || *s->p == '-'))
			s->p++;
		return scan_digits(s, "a digit must follow the exponent");
	}
	return KVP_OK;
}

/* The value of the four hexadecimal digits at s->p; -1 if there are none. */
static long read_hex4(const struct scan *s)
{
	long value = 0;
	int i;

	if (s->in->end - s->p < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		char c = s->p[i];

		if (c >= '0' && c <= '9')
			value = value * 16 + (c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			value = value * 16 + ((c | 32) - 'a' + 10);
		else
			return -1;
	}
	return value;
}

/* Scan what follows "\u": one code unit, or a surrogate pair. */
static int scan_unicode(struct scan *s, const char *start)
{
	long unit = read_hex4(s);

	if (unit < 0)
		return fail_syntax(s, start,
				   "\\u needs four hexadecimal digits");
	if (!unit)
		return fail_syntax(s, start,
				   "\\u0000 may not stand in a string");
	s->p += 4;
	if (unit >= 0xd800 && unit <= 0xdbff) {
		if (s->in->end - s->p < 6 || s->p[0] != '\\' ||
		    s->p[1] != 'u')
			return fail_syntax(s, start, "half a surrogate pair");
		s->p += 2;
		unit = read_hex4(s);
		if (unit < 0xdc00 || unit > 0xdfff)
			return fail_syntax(s, start, "half a surrogate pair");
		s->p += 4;
	} else if (unit >= 0xdc00 && unit <= 0xdfff) {
		return fail_syntax(s, start, "half a surrogate pair");
	}
	return KVP_OK;
}

static int scan_escape(struct scan *s)
{
	const char *start = s->p++;

	if (at_end(s))
		return fail_syntax(s, s->p, "the text ends inside a string");
	if (*s->p == 'u') {
		s->p++;
		return scan_unicode(s, start);
	}
	if (!*s->p || !strchr("\"\\/bfnrt", *s->p))
		return fail_syntax(s, start, "unknown escape in a string");
	s->p++;
	return KVP_OK;
}

static int scan_string(struct scan *s)
{
	size_t len;
	int code;

	assert(*s->p == '"');
	for (s->p++; !at_end(s) && *s->p != '"';) {
		if ((unsigned char)*s->p < 0x20)
			return fail_syntax(s, s->p,
				"control character in a string; escape it");
		if (*s->p == '\\') {
			code = scan_escape(s);
			if (code)
				return code;
			continue;
		}
		len = utf8_length(s->p, (size_t)(s->in->end - s->p));
		if (!len)
			return fail_syntax(s, s->p, "not UTF-8");
		s->p += len;
	}
	if (at_end(s))
		return fail_syntax(s, s->p, "the text ends inside a string");
	s->p++;
	return KVP_OK;
}

static int scan_word(struct scan *s)
{
	/* The last three are written by Python and are not JSON. */
	static const char *const words[] = {
		"true", "false", "null", "NaN", "Infinity", "-Infinity",
	};
	size_t i, len, count = s->in->lenient ? 6 : 3;

	for (i = 0; i < count; i++) {
		len = strlen(words[i]);
		if ((size_t)(s->in->end - s->p) >= len &&
		    !memcmp(s->p, words[i], len)) {
			s->p += len;
			return KVP_OK;
		}
	}
	if (*s->p == '\0')
		return fail_syntax(s, s->p, "NUL byte; a text file has none");
	if (s->in->end - s->p >= 3 && !memcmp(s->p, "\xef\xbb\xbf", 3))
		return fail_syntax(s, s->p,
				   "byte-order mark; save the file without it");
	return fail_syntax(s, s->p, "expected a value");
}

/* Whether s->p is at "-Infinity" and the text is lenient. */
static bool is_word(const struct scan *s)
{
	return s->in->lenient && s->in->end - s->p > 1 && s->p[1] == 'I';
}

static int scan_value(struct scan *s, int depth);

static int scan_key(struct scan *s)
{
	int code;

	if (at_end(s) || *s->p != '"')
		return fail_syntax(s, s->p, at_end(s) ?
				   "the text ends inside an object" :
				   "expected a key in double quotes");
	code = scan_string(s);
	if (code)
		return code;
	skip_blanks(s);
	if (at_end(s) || *s->p != ':')
		return fail_syntax(s, s->p, "expected ':' after the key");
	s->p++;
	return KVP_OK;
}

/* Scan an object (close is '}') or array (']') from its opening bracket. */
static int scan_container(struct scan *s, char close, int depth)
{
	bool object = close == '}', comma = false;
	int code;

	assert(depth >= 0 && depth <= JSON_DEPTH_MAX);
	if (depth == JSON_DEPTH_MAX)
		return fail_syntax(s, s->p, "nested deeper than "
				   TEXT(JSON_DEPTH_MAX));
	s->p++;
	skip_blanks(s);
	if (!at_end(s) && *s->p == close) {
		s->p++;
		return KVP_OK;
	}
	for (;;) {
		skip_blanks(s);
		if (comma && !at_end(s) && *s->p == close)
			return fail_syntax(s, s->p,
				"nothing follows the comma; remove it");
		code = object ? scan_key(s) : KVP_OK;
		if (!code)
			code = scan_value(s, depth + 1);
		if (code)
			return code;
		skip_blanks(s);
		if (at_end(s))
			return fail_syntax(s, s->p, object ?
					   "the text ends inside an object" :
					   "the text ends inside an array");
		if (*s->p == close)
			break;
		if (*s->p != ',')
			return fail_syntax(s, s->p, object ?
					   "expected ',' or '}'" :
					   "expected ',' or ']'");
		s->p++;
		comma = true;
	}
	s->p++;
	return KVP_OK;
}

static int scan_value(struct scan *s, int depth)
{
	skip_blanks(s);
	if (at_end(s))
		return fail_syntax(s, s->p, s->p == s->in->text ? "empty text" :
				   "the text ends where a value should be");
	switch (*s->p) {
	case '{':
		return scan_container(s, '}', depth);
	case '[':
		return scan_container(s, ']', depth);
	case '"':
		return scan_string(s);
	default:
		if (is_digit(s) || (*s->p == '-' && !is_word(s)))
			return scan_number(s);
		return scan_word(s);
	}
}

int json_scan(const struct json_text *in, struct kvp_error *err)
{
	struct scan s = { .in = in, .p = in->text, .err = err };
	int code = scan_value(&s, 0);

	if (code)
		return code;
	skip_blanks(&s);
	if (!at_end(&s))
		return fail_syntax(&s, s.p, *s.p ?
				   "text after the end of the value" :
				   "NUL byte after the end of the value");
	return KVP_OK;
}
