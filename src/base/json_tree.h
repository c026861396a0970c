/*
 * A whole JSON document in memory, a tree of cJSON's, printed when it is
 * complete.  For documents of a few hundred values; base/json_out.h writes
 * those of millions, and prints these.
 *
 * Zeroed, a tree is ready.  Each function adds to what was opened last: a
 * member of that name, a constant, or with NULL an element of a list or the
 * document itself, which is an object or a list.  A tree that met no memory
 * stays failed: every later call does nothing, and json_tree_finish() says
 * so.
 */
#ifndef KVPLAN_BASE_JSON_TREE_H
#define KVPLAN_BASE_JSON_TREE_H

#include "base/json_out.h"

struct cJSON;

struct json_tree {
	struct cJSON *root;
	struct cJSON *open[JSON_DEPTH_MAX];	/* [depth] */
	unsigned depth;
	bool failed;
};

void json_tree_object(struct json_tree *t, const char *key,
		      enum json_layout layout);
void json_tree_list(struct json_tree *t, const char *key,
		    enum json_layout layout);
/* Close what was opened last. */
void json_tree_end(struct json_tree *t);

void json_tree_u64(struct json_tree *t, const char *key, uint64_t value);
/* The number, or null where it is not known. */
void json_tree_u64_or_null(struct json_tree *t, const char *key, bool known,
			   uint64_t value);
void json_tree_u64s(struct json_tree *t, const char *key,
		    const uint64_t *numbers, size_t count);
void json_tree_u32s(struct json_tree *t, const char *key,
		    const uint32_t *numbers, size_t count);
/* null for NULL. */
void json_tree_text(struct json_tree *t, const char *key, const char *text);
void json_tree_bool(struct json_tree *t, const char *key, bool value);
void json_tree_null(struct json_tree *t, const char *key);

/*
 * The document as text; free() it.  The tree is empty afterwards.  On failure
 * *text is NULL and *len 0.  Errors: KVP_ENOMEM.
 */
int json_tree_finish(struct json_tree *t, char **text, size_t *len,
		     struct kvp_error *err);

/*
 * The members of the tree's object as the next of what the writer has open;
 * a failed tree fails the writer.  The tree is empty afterwards.
 */
void json_tree_members(struct json_tree *t, struct json_out *w);

#endif
