/*
 * A growing text.  See strbuf.h.
 */
#include "base/strbuf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

bool strbuf_grow(struct strbuf *b, size_t more)
{
	size_t need = b->len + more + 1;
	size_t room = b->room ? b->room : 256;
	char *text;

	if (b->failed)
		return false;
	while (room < need)
		room += room / 2;
	text = realloc(b->text, room);
	if (!text) {
		b->failed = true;
		return false;
	}
	b->text = text;
	b->room = room;
	assert(b->len + more < b->room);
	return true;
}

void strbuf_add(struct strbuf *b, const char *text, size_t len)
{
	if (!strbuf_reserve(b, len))
		return;
	memcpy(b->text + b->len, text, len);
	b->len += len;
	b->text[b->len] = '\0';
}

void strbuf_str(struct strbuf *b, const char *text)
{
	strbuf_add(b, text, strlen(text));
}

void strbuf_printf(struct strbuf *b, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	assert(len >= 0);
	if (!strbuf_reserve(b, (size_t)len))
		return;
	va_start(args, format);
	vsnprintf(b->text + b->len, (size_t)len + 1, format, args);
	va_end(args);
	b->len += (size_t)len;
}

void strbuf_line(struct strbuf *b, const char *text)
{
	size_t at = b->len;

	strbuf_str(b, text);
	if (!b->failed && b->text)
		utf8_clean(b->text + at);
}

int strbuf_detach(struct strbuf *b, char **text, size_t *len,
		  struct kvp_error *err)
{
	assert(text && len);
	*text = NULL;
	*len = 0;
	strbuf_reserve(b, 0);
	if (b->failed) {
		strbuf_release(b);
		return kvp_error_nomem(err);
	}
	b->text[b->len] = '\0';
	*text = b->text;
	*len = b->len;
	*b = (struct strbuf){ 0 };
	return KVP_OK;
}

void strbuf_release(struct strbuf *b)
{
	free(b->text);
	*b = (struct strbuf){ 0 };
}
