/*
 * UTF-8 (RFC 3629).  See utf8.h.
 */
#include "base/utf8.h"

#include <assert.h>
#include <string.h>

size_t utf8_length(const char *text, size_t left)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 :
		     p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
	size_t i;

	assert(left);
	if (!len || len > left)
		return 0;
	for (i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

bool utf8_is_control(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	/* U+200B..200F, 2028..202E and 2060..206F: direction marks, line
	   ends and invisible characters, which can disguise a line. */
	if (p[0] == 0xe2 && p[1] == 0x80)
		return (p[2] >= 0x8b && p[2] <= 0x8f) ||
		       (p[2] >= 0xa8 && p[2] <= 0xae);
	if (p[0] == 0xe2 && p[1] == 0x81)
		return p[2] >= 0xa0 && p[2] <= 0xaf;
	return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

bool utf8_is_printable(const char *text, size_t *count)
{
	size_t left = strlen(text), len;

	for (*count = 0; left; text += len, left -= len, ++*count) {
		len = utf8_length(text, left);
		if (!len || utf8_is_control(text))
			return false;
	}
	return true;
}

void utf8_clean(char *text)
{
	size_t left = strlen(text), len, i;

	for (; left; text += len, left -= len) {
		len = utf8_length(text, left);
		if (len && !utf8_is_control(text))
			continue;
		len = len ? len : 1;
		for (i = 0; i < len; i++)
			text[i] = '?';
	}
}
