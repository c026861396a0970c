/*
 * A JSON document as a cJSON tree in memory, which is printed when it is
 * complete.  For documents of a few hundred values; use base/json_out.h for
 * those with millions.
 *
 * A zeroed tree is ready for use.  Each function adds to the object or list
 * that was opened last.  `key` is the name of the new member, a constant; it
 * is NULL for an element of a list and for the document itself, which is an
 * object or a list.  After a failed allocation every further call does
 * nothing, and json_tree_finish() returns KVP_ENOMEM.
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
/* Close the object or list that was opened last. */
void json_tree_end(struct json_tree *t);

void json_tree_u64(struct json_tree *t, const char *key, uint64_t value);
/* The number, or null if it is not known. */
void json_tree_u64_or_null(struct json_tree *t, const char *key, bool known,
			   uint64_t value);
void json_tree_u64s(struct json_tree *t, const char *key,
		    const uint64_t *numbers, size_t count);
void json_tree_u32s(struct json_tree *t, const char *key,
		    const uint32_t *numbers, size_t count);
/* A string; null if text is NULL. */
void json_tree_text(struct json_tree *t, const char *key, const char *text);
void json_tree_bool(struct json_tree *t, const char *key, bool value);
void json_tree_null(struct json_tree *t, const char *key);

/*
 * Print the document; free *text with free().  The tree is empty afterwards.
 * On failure *text is NULL and *len 0.  Errors: KVP_ENOMEM.
 */
int json_tree_finish(struct json_tree *t, char **text, size_t *len,
		     struct kvp_error *err);

/*
 * Write the members of the tree's object into the object that the writer has
 * open.  If the tree has failed, the writer fails.  The tree is empty
 * afterwards.
 */
void json_tree_members(struct json_tree *t, struct json_out *w);

#endif
