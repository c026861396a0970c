/*
 * Writing JSON one value at a time, without a tree in memory.  All commas,
 * quotes and brackets are written here.
 *
 * A zeroed writer is ready for use.  `key` is the name of the member to
 * write, a constant that needs no escape; it is NULL for an element of a
 * list and for the document itself.  After a failed allocation text.failed is
 * true, see strbuf.h.  A document ends with a newline.
 */
#ifndef KVPLAN_BASE_JSON_OUT_H
#define KVPLAN_BASE_JSON_OUT_H

#include "base/json.h"
#include "base/strbuf.h"

enum json_layout {
	JSON_INLINE,		/* {"a":1,"b":2} */
	JSON_LINES,		/* each member, and the closing bracket, on a
				   line of its own */
	JSON_HANGING,		/* the same, but the first member follows the
				   opening bracket on its line */
};

struct json_out {
	struct strbuf text;
	bool spaced;		/* for people: blanks, and indented lines */

	/* Only json_out.c uses the rest. */
	bool filled;		/* the next element needs a comma before it */
	bool newline;		/* json_put_newline() was called */
	unsigned depth;		/* of open brackets; 0: the document */
	char close[JSON_DEPTH_MAX + 1];
	enum json_layout layout[JSON_DEPTH_MAX + 1];
};

void json_put_object(struct json_out *w, const char *key,
		     enum json_layout layout);
void json_put_list(struct json_out *w, const char *key,
		   enum json_layout layout);
/* Close the object or list that was opened last. */
void json_put_end(struct json_out *w);

void json_put_u64(struct json_out *w, const char *key, uint64_t value);
/* The number, or null if it is not known. */
void json_put_u64_or_null(struct json_out *w, const char *key, bool known,
			  uint64_t value);
/* "[1,2,3]" */
void json_put_u64s(struct json_out *w, const char *key,
		   const uint64_t *numbers, size_t count);
void json_put_u32s(struct json_out *w, const char *key,
		   const uint32_t *numbers, size_t count);
/* A string, escaped, with '?' for invalid UTF-8; null if text is NULL. */
void json_put_text(struct json_out *w, const char *key, const char *text);
void json_put_bool(struct json_out *w, const char *key, bool value);
void json_put_null(struct json_out *w, const char *key);

/* Begin a new line before the next value or closing bracket. */
void json_put_newline(struct json_out *w);

/* For use in base only: a value that is JSON already. */
void json_put_raw(struct json_out *w, const char *key, const char *value);

#endif
