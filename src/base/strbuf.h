/*
 * A growing text.  After a failed allocation `failed` is true and further
 * calls do nothing, so callers check once, in strbuf_detach().
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

/* Make room for `more` bytes and the terminating zero.  Returns false if
   there is no memory. */
bool strbuf_grow(struct strbuf *b, size_t more);
static inline bool strbuf_reserve(struct strbuf *b, size_t more)
{
	return b->len + more < b->room ? !b->failed : strbuf_grow(b, more);
}

/*
 * Return where up to `most` more bytes can be written; then call
 * strbuf_used() with the end of what was written.  NULL if there is no
 * memory.
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

/* A text from outside, with '?' for control characters and invalid UTF-8. */
void strbuf_line(struct strbuf *b, const char *text);

/*
 * Move the text to the caller, who frees it with free().  The buffer is
 * empty afterwards.  On failure *text is NULL.  Errors: KVP_ENOMEM.
 */
int strbuf_detach(struct strbuf *b, char **text, size_t *len,
		  struct kvp_error *err);

void strbuf_release(struct strbuf *b);

#endif
