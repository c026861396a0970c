/*
 * cJSON holds the tree and no more than that.  Its numbers are doubles, and
 * of 2^53 - 1 it prints another number, so numbers go in as their digits; and
 * it prints either one line or a line for every value, so what it holds is
 * printed by our own writer.  The layout of an object or list is kept in
 * valueint, which cJSON uses for numbers alone.
 */
#include "base/json_tree.h"

#include <assert.h>

#include <cjson/cJSON.h>

#include "base/u64.h"

/* Hang a new item, NULL where there was no memory, below what is open. */
static void add(struct json_tree *t, const char *key, cJSON *item)
{
	cJSON *in = t->depth ? t->open[t->depth - 1] : NULL;

	if (!item) {
		t->failed = true;
		return;
	}
	assert(in ? (key != NULL) == (cJSON_IsObject(in) != 0) :
		    !key && !t->root);
	if (!in)
		t->root = item;
	else if (key)
		cJSON_AddItemToObjectCS(in, key, item);
	else
		cJSON_AddItemToArray(in, item);
}

static void open_item(struct json_tree *t, const char *key, cJSON *item,
		      enum json_layout layout)
{
	add(t, key, item);
	if (t->failed)
		return;
	assert(t->depth < JSON_DEPTH_MAX);
	item->valueint = (int)layout;
	t->open[t->depth++] = item;
}

void json_tree_object(struct json_tree *t, const char *key,
		      enum json_layout layout)
{
	if (!t->failed)
		open_item(t, key, cJSON_CreateObject(), layout);
}

void json_tree_list(struct json_tree *t, const char *key,
		    enum json_layout layout)
{
	if (!t->failed)
		open_item(t, key, cJSON_CreateArray(), layout);
}

void json_tree_end(struct json_tree *t)
{
	if (t->failed)
		return;
	assert(t->depth);
	t->depth--;
}

void json_tree_u64(struct json_tree *t, const char *key, uint64_t value)
{
	char digits[U64_DIGITS + 1];

	if (t->failed)
		return;
	*u64_digits(digits, value) = '\0';
	add(t, key, cJSON_CreateRaw(digits));
}

void json_tree_u64_or_null(struct json_tree *t, const char *key, bool known,
			   uint64_t value)
{
	if (known)
		json_tree_u64(t, key, value);
	else
		json_tree_null(t, key);
}

/* A list of numbers is one item: there may be a thousand readers in each. */
static void add_list(struct json_tree *t, const char *key, struct json_out *w)
{
	add(t, key, w->text.failed ? NULL : cJSON_CreateRaw(w->text.text));
	strbuf_release(&w->text);
}

void json_tree_u64s(struct json_tree *t, const char *key,
		    const uint64_t *numbers, size_t count)
{
	struct json_out w = { .depth = 1 };

	if (t->failed)
		return;
	json_put_u64s(&w, NULL, numbers, count);
	add_list(t, key, &w);
}

void json_tree_u32s(struct json_tree *t, const char *key,
		    const uint32_t *numbers, size_t count)
{
	struct json_out w = { .depth = 1 };

	if (t->failed)
		return;
	json_put_u32s(&w, NULL, numbers, count);
	add_list(t, key, &w);
}

/* Whatever bytes there are: the writer escapes them. */
void json_tree_text(struct json_tree *t, const char *key, const char *text)
{
	if (!text)
		json_tree_null(t, key);
	else if (!t->failed)
		add(t, key, cJSON_CreateString(text));
}

void json_tree_bool(struct json_tree *t, const char *key, bool value)
{
	if (!t->failed)
		add(t, key, cJSON_CreateBool(value));
}

void json_tree_null(struct json_tree *t, const char *key)
{
	if (!t->failed)
		add(t, key, cJSON_CreateNull());
}

static void print(struct json_out *w, const cJSON *item);

static void print_below(struct json_out *w, const cJSON *item)
{
	const cJSON *child;

	cJSON_ArrayForEach(child, item)
		print(w, child);
}

static void print(struct json_out *w, const cJSON *item)
{
	const char *key = item->string;

	if (cJSON_IsObject(item)) {
		json_put_object(w, key, (enum json_layout)item->valueint);
		print_below(w, item);
		json_put_end(w);
	} else if (cJSON_IsArray(item)) {
		json_put_list(w, key, (enum json_layout)item->valueint);
		print_below(w, item);
		json_put_end(w);
	} else if (cJSON_IsRaw(item)) {
		json_put_raw(w, key, item->valuestring);
	} else if (cJSON_IsBool(item)) {
		json_put_bool(w, key, cJSON_IsTrue(item));
	} else {	/* a text, or null, which has none */
		json_put_text(w, key, item->valuestring);
	}
}

static void release(struct json_tree *t)
{
	cJSON_Delete(t->root);
	*t = (struct json_tree){ .root = NULL };
}

int json_tree_finish(struct json_tree *t, char **text, size_t *len,
		     struct kvp_error *err)
{
	struct json_out w = { .text = { .failed = t->failed } };

	assert(t->failed || (t->root && !t->depth));
	if (!t->failed)
		print(&w, t->root);
	release(t);
	return strbuf_detach(&w.text, text, len, err);
}

void json_tree_members(struct json_tree *t, struct json_out *w)
{
	assert(t->failed || (cJSON_IsObject(t->root) && !t->depth));
	if (t->failed)
		w->text.failed = true;
	else
		print_below(w, t->root);
	release(t);
}
