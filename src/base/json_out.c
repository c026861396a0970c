/*
 * The one writer of JSON.
 */
#include "base/json_out.h"

#include <assert.h>
#include <string.h>

#include "base/u64.h"
#include "base/utf8.h"

/* Most bytes beside name and value: comma, line feed, indent, quotes, colon. */
#define AROUND (6 + 2 * JSON_DEPTH_MAX)

static char *new_line(const struct json_out *w, char *to, unsigned depth)
{
	*to++ = '\n';
	if (!w->spaced)
		return to;
	memset(to, ' ', 2 * depth);
	return to + 2 * depth;
}

/*
 * What stands before a value.  Answers where the value goes, with room for
 * `most` bytes of it; NULL where there is no memory.
 */
static char *begin(struct json_out *w, const char *key, size_t most)
{
	enum json_layout layout = w->layout[w->depth];
	size_t len = key ? strlen(key) : 0;
	char *to = strbuf_room(&w->text, AROUND + len + most);

	assert((key != NULL) == (w->close[w->depth] == '}'));
	if (!to)
		return NULL;
	if (w->filled)
		*to++ = ',';
	if (w->newline || layout == JSON_LINES ||
	    (layout == JSON_HANGING && w->filled))
		to = new_line(w, to, w->depth);
	else if (w->filled && w->spaced)
		*to++ = ' ';
	w->newline = false;
	w->filled = true;
	if (!key)
		return to;
	*to++ = '"';
	for (; *key; key++)	/* short: quicker than memcpy() */
		*to++ = *key;
	*to++ = '"';
	*to++ = ':';
	if (w->spaced)
		*to++ = ' ';
	return to;
}

/* The value ends there. */
static void end(struct json_out *w, char *to)
{
	if (!w->depth) {
		*to++ = '\n';
		w->filled = false;
	}
	strbuf_used(&w->text, to);
}

static void open_bracket(struct json_out *w, const char *key,
			 enum json_layout layout, const char *brackets)
{
	char *to = begin(w, key, 1);

	assert(w->depth < JSON_DEPTH_MAX);
	w->depth++;
	w->close[w->depth] = brackets[1];
	w->layout[w->depth] = layout;
	w->filled = false;
	if (!to)
		return;
	*to++ = brackets[0];
	strbuf_used(&w->text, to);
}

void json_put_object(struct json_out *w, const char *key,
		     enum json_layout layout)
{
	open_bracket(w, key, layout, "{}");
}

void json_put_list(struct json_out *w, const char *key,
		   enum json_layout layout)
{
	open_bracket(w, key, layout, "[]");
}

void json_put_end(struct json_out *w)
{
	char *to = strbuf_room(&w->text, AROUND);
	bool line = w->newline ||
		    (w->filled && w->layout[w->depth] != JSON_INLINE);
	char close = w->close[w->depth];

	assert(w->depth);
	w->depth--;
	w->newline = false;
	w->filled = true;
	if (!to)
		return;
	if (line)
		to = new_line(w, to, w->depth);
	*to++ = close;
	end(w, to);
}

void json_put_raw(struct json_out *w, const char *key, const char *value)
{
	size_t len = strlen(value);
	char *to = begin(w, key, len);

	if (!to)
		return;
	memcpy(to, value, len);
	end(w, to + len);
}

void json_put_u64(struct json_out *w, const char *key, uint64_t value)
{
	char *to = begin(w, key, U64_DIGITS);

	if (to)
		end(w, u64_digits(to, value));
}

void json_put_u64_or_null(struct json_out *w, const char *key, bool known,
			  uint64_t value)
{
	if (known)
		json_put_u64(w, key, value);
	else
		json_put_null(w, key);
}

void json_put_u64s(struct json_out *w, const char *key,
		   const uint64_t *numbers, size_t count)
{
	size_t i;

	assert(numbers || !count);
	json_put_list(w, key, JSON_INLINE);
	for (i = 0; i < count; i++)
		json_put_u64(w, NULL, numbers[i]);
	json_put_end(w);
}

void json_put_u32s(struct json_out *w, const char *key,
		   const uint32_t *numbers, size_t count)
{
	size_t i;

	assert(numbers || !count);
	json_put_list(w, key, JSON_INLINE);
	for (i = 0; i < count; i++)
		json_put_u64(w, NULL, numbers[i]);
	json_put_end(w);
}

/* The character at *text, escaped where it has to be. */
static char *put_character(char *to, const char **text, size_t *left)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char c = (unsigned char)**text;
	size_t len = utf8_length(*text, *left);

	if (c < 0x20) {
		memcpy(to, "\\u00", 4);
		to[4] = digits[c >> 4];
		to[5] = digits[c & 15];
		to += 6;
		len = 1;
	} else if (!len) {
		*to++ = '?';
		len = 1;
	} else {
		if (c == '"' || c == '\\')
			*to++ = '\\';
		memcpy(to, *text, len);
		to += len;
	}
	*text += len;
	*left -= len;
	return to;
}

void json_put_text(struct json_out *w, const char *key, const char *text)
{
	size_t left = text ? strlen(text) : 0;
	char *to;

	if (!text) {
		json_put_null(w, key);
		return;
	}
	to = begin(w, key, 2 + 6 * left);
	if (!to)
		return;
	*to++ = '"';
	while (left)
		to = put_character(to, &text, &left);
	*to++ = '"';
	end(w, to);
}

void json_put_bool(struct json_out *w, const char *key, bool value)
{
	json_put_raw(w, key, value ? "true" : "false");
}

void json_put_null(struct json_out *w, const char *key)
{
	json_put_raw(w, key, "null");
}

void json_put_newline(struct json_out *w)
{
	w->newline = true;
}
