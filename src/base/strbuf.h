/*
 * A growing text.  A failed allocation is remembered in `failed`, further
 * calls do nothing, so that writers check once at the end.
 */
#ifndef KVPLAN_BASE_STRBUF_H
#define KVPLAN_BASE_STRBUF_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct strbuf {
	char *text;		/* zero-terminated unless empty */
	size_t len;
	size_t room;
	bool failed;
};

/* Room for `more` bytes and the terminating zero; false: no memory. */
bool strbuf_grow(struct strbuf *b, size_t more);
static inline bool strbuf_reserve(struct strbuf *b, size_t more)
{
	return b->len + more < b->room ? !b->failed : strbuf_grow(b, more);
}

/*
 * Where `most` more bytes can be written, then counted by strbuf_used().
 * NULL where there is no memory.
 */
static inline char *strbuf_room(struct strbuf *b, size_t most)
{
	return strbuf_reserve(b, most) ? b->text + b->len : NULL;
}

static inline void strbuf_used(struct strbuf *b, const char *end)
{
	b->len = (size_t)(end - b->text);
	assert(b->len < b->room);
	b->text[b->len] = '\0';
}

void strbuf_add(struct strbuf *b, const char *text, size_t len);
void strbuf_str(struct strbuf *b, const char *text);
void strbuf_printf(struct strbuf *b, const char *format, ...) KVP_PRINTF(2, 3);

/* A text from outside, control characters and broken UTF-8 as '?'. */
void strbuf_line(struct strbuf *b, const char *text);

/*
 * Move the text out; free() it.  On failure *text is NULL and the buffer is
 * empty all the same.  Errors: KVP_ENOMEM.
 */
int strbuf_detach(struct strbuf *b, char **text, size_t *len,
		  struct kvp_error *err);

void strbuf_release(struct strbuf *b);

#endif
