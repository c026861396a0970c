/*
 * Decoding the strings of a checked JSON text.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* The value of four hexadecimal digits, which json_scan() has checked. */
static unsigned long read_hex4(const char *p)
{
	unsigned long value = 0;
	int i;

	for (i = 0; i < 4; i++)
		value = value * 16 + (unsigned long)
			(p[i] <= '9' ? p[i] - '0' : (p[i] | 32) - 'a' + 10);
	return value;
}

static char *put_utf8(char *to, unsigned long c)
{
	assert(c && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff));
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (c & 0x3f));
	return to;
}

/* Decode the escape, or the pair of surrogates, at *p and move past it. */
static unsigned long read_escape(const char **p)
{
	static const char letters[] = "bfnrt", stand_for[] = "\b\f\n\r\t";
	const char *letter = strchr(letters, (*p)[1]);
	unsigned long c = (unsigned char)(*p)[1];

	if (c != 'u') {
		*p += 2;
		return letter ? (unsigned long)stand_for[letter - letters] : c;
	}
	c = read_hex4(*p + 2);
	*p += 6;
	if (c < 0xd800 || c > 0xdfff)
		return c;
	assert(c < 0xdc00 && (*p)[0] == '\\' && (*p)[1] == 'u');
	c = 0x10000 + (c - 0xd800) * 0x400 + (read_hex4(*p + 2) - 0xdc00);
	*p += 6;
	return c;
}

char *json_string_decode(const char *p, const char *past)
{
	char *text = malloc((size_t)(past - p)), *to = text;

	assert(past - p >= 2 && *p == '"' && past[-1] == '"');
	if (!text)
		return NULL;
	for (p++; p < past - 1;) {
		if (*p == '\\')
			to = put_utf8(to, read_escape(&p));
		else
			*to++ = *p++;
	}
	*to = '\0';
	return text;
}
