/*
 * Writing JSON, a value at a time: lists of a million records never stand in
 * memory but as text.  Commas, quotes and brackets are written here and
 * nowhere else.
 *
 * Zeroed, a writer is ready.  Each function takes the name of the member it
 * writes, a constant that needs no escape, or NULL for an element of a list
 * and for the document itself.  A failed allocation is remembered in
 * text.failed, as in every strbuf.  A line feed ends a document.
 */
#ifndef KVPLAN_BASE_JSON_OUT_H
#define KVPLAN_BASE_JSON_OUT_H

#include "base/json.h"
#include "base/strbuf.h"

enum json_layout {
	JSON_INLINE,		/* {"a":1,"b":2} */
	JSON_LINES,		/* each member and the bracket on a new line */
	JSON_HANGING,		/* the same, but the first beside the bracket */
};

struct json_out {
	struct strbuf text;
	bool spaced;		/* for people: blanks, and indented lines */

	/* The rest is the writer's own. */
	bool filled;		/* there is an element to put a comma behind */
	bool newline;		/* asked for */
	unsigned depth;		/* of what is open; 0: the document */
	char close[JSON_DEPTH_MAX + 1];
	enum json_layout layout[JSON_DEPTH_MAX + 1];
};

void json_put_object(struct json_out *w, const char *key,
		     enum json_layout layout);
void json_put_list(struct json_out *w, const char *key,
		   enum json_layout layout);
/* Close what was opened last. */
void json_put_end(struct json_out *w);

void json_put_u64(struct json_out *w, const char *key, uint64_t value);
/* The number, or null where it is not known. */
void json_put_u64_or_null(struct json_out *w, const char *key, bool known,
			  uint64_t value);
/* "[1,2,3]" */
void json_put_u64s(struct json_out *w, const char *key,
		   const uint64_t *numbers, size_t count);
void json_put_u32s(struct json_out *w, const char *key,
		   const uint32_t *numbers, size_t count);
/* Escaped, broken UTF-8 as '?'; null for NULL. */
void json_put_text(struct json_out *w, const char *key, const char *text);
void json_put_bool(struct json_out *w, const char *key, bool value);
void json_put_null(struct json_out *w, const char *key);

/* What comes next, also a closing bracket, stands on a new line. */
void json_put_newline(struct json_out *w);

/* Within base: a value that is JSON already. */
void json_put_raw(struct json_out *w, const char *key, const char *value);

#endif
