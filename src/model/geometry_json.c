/*
 * Reading a geometry by the table of its fields: types and ranges of each
 * key, defaults, expanding planes.  Checks of several keys work on the
 * struct, in geometry_check.c; if one fails, the error names the key in the
 * text that the field came from.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/geometry.h>

#include "base/error.h"
#include "base/u64.h"
#include "model/geometry_check.h"
#include "model/model.h"

/* The record that is being read. */
struct reading {
	const struct record *record;
	void *of;
	bool unsized;		/* pages and snapshot_rows may be missing */
	struct kvp_geometry *geometry;	/* NULL for other records */
	struct kvp_error *err;
};

static int read_record(struct reading *r, const struct json_at *at);

void record_keys(const struct record *record, struct json_field *keys)
{
	size_t i;

	assert(record->nfields <= RECORD_FIELDS);
	for (i = 0; i < record->nfields; i++)
		keys[i] = record->fields[i].key;
}

static uint64_t find_default(const struct reading *r, const struct field *f)
{
	const struct field *from = f->from ?
				   record_find(r->record, f->from) : NULL;

	return from ? u64_min(f->fallback, field_number(from, r->of)) :
		      f->fallback;
}

/* Report a missing number that sizing could compute.  A plan's geometry
   cannot be sized any more. */
static int fail_unstated(const struct json_at *at, struct kvp_error *err)
{
	return json_fail(at, err, KVP_EINPUT, at->up->up ? "missing; this key "
			 "is required" : "missing; state it, or let kvplan "
			 "size compute it");
}

/* If there are rows, row_bytes is required and at least 1. */
static int check_row_bytes(const struct reading *r, const struct json_at *at,
			   uint64_t *low)
{
	uint64_t rows = geometry_rows(r->geometry);

	*low = rows != 0;
	if (!rows || at->p)
		return KVP_OK;
	return json_fail(at, r->err, KVP_EINPUT,
		"missing; there are %llu rows, say how many bytes each has",
		(ull)rows);
}

static int read_number(const struct reading *r, const struct field *f,
		       const struct json_at *at)
{
	uint64_t low = f->low, value = at->p ? f->none : find_default(r, f);
	bool is_null = f->null && at->p && json_type(at) == JSON_NULL;
	int code = KVP_OK;

	if (f->sized && !at->p && !r->unsized)
		return fail_unstated(at, r->err);
	if (f->of_rows)
		code = check_row_bytes(r, at, &low);
	if (f->absence == FIELD_IF_FLAG)
		*(bool *)((char *)r->of + f->has) = at->p && !is_null;
	if (code || is_null || !at->p)
		;
	else if (f->kind == FIELD_BYTES)
		code = json_bytes(at, low, &value, r->err);
	else
		code = json_u64(at, low, f->high, &value, r->err);
	field_set_number(f, r->of, value);
	return code;
}

static int read_flag(const struct reading *r, const struct field *f,
		     const struct json_at *at)
{
	bool flag = f->fallback;
	int code = at->p ? json_bool(at, &flag, r->err) : KVP_OK;

	field_set_number(f, r->of, flag);
	return code;
}

static int read_word(const struct reading *r, const struct field *f,
		     const struct json_at *at)
{
	size_t which = f->fallback;
	int code = at->p ? json_choice(at, f->words, f->high + 1, &which,
				       r->err) : KVP_OK;

	field_set_number(f, r->of, which);
	return code;
}

static int read_text(const struct reading *r, const struct field *f,
		     const struct json_at *at)
{
	char *text = NULL;
	int code = json_string(at, f->high, &text, r->err);

	field_set_pointer(f, r->of, text);
	return code;
}

static int read_object(const struct reading *r, const struct field *f,
		       const struct json_at *at)
{
	struct reading inner = *r;

	if (f->absence == FIELD_IF_FLAG) {
		*(bool *)((char *)r->of + f->has) = at->p;
		if (!at->p)
			return KVP_OK;
	}
	inner.record = f->record;
	inner.of = (char *)r->of + f->at;
	return read_record(&inner, at);
}

static int read_list(const struct reading *r, const struct field *f,
		     const struct json_at *at)
{
	void *list = NULL;
	int code;

	if (f->read)
		return f->read(r->of, at, r->err);
	if (!at->p)
		return KVP_OK;
	code = records_read(f->record, f->high, &list,
			    field_count(f, r->of), at, r->err);
	field_set_pointer(f, r->of, list);
	return code;
}

static int read_rank_lists(const struct reading *r, const struct field *f,
			   const struct json_at *at)
{
	const struct field *from = record_find(&geometry_record, f->from);
	struct kvp_ranks *lists = NULL;
	int code = rank_lists_read(&lists, at, f->words[0],
				   r->geometry->ranks,
				   field_number(from, r->geometry), r->err);

	field_set_pointer(f, r->of, lists);
	return code;
}

static int read_field(const struct reading *r, const struct field *f,
		      const struct json_at *at)
{
	switch (f->kind) {
	case FIELD_FORMAT:	/* checked before any other key */
	case FIELD_INPUT:
	case FIELD_NAME:	/* by the list's own function */
		return KVP_OK;
	case FIELD_TEXT:
		return read_text(r, f, at);
	case FIELD_COUNT:
	case FIELD_BYTES:
	case FIELD_INDEX:
		return read_number(r, f, at);
	case FIELD_FLAG:
		return read_flag(r, f, at);
	case FIELD_WORD:
		return read_word(r, f, at);
	case FIELD_OBJECT:
		return read_object(r, f, at);
	case FIELD_LIST:
		return read_list(r, f, at);
	case FIELD_RANKS:
		return read_rank_lists(r, f, at);
	}
	return KVP_OK;
}

static int read_fields(const struct reading *r, const struct json_at *values)
{
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < r->record->nfields && !code; i++)
		code = read_field(r, &r->record->fields[i], &values[i]);
	return code;
}

/* Without the object, every field gets its default. */
static int read_record(struct reading *r, const struct json_at *at)
{
	struct json_field keys[RECORD_FIELDS];
	struct json_at values[RECORD_FIELDS] = { { .p = NULL } };
	int code = KVP_OK;

	record_keys(r->record, keys);
	if (at->p)
		code = json_object(at, keys, r->record->nfields, values,
				   r->err);
	return code ? code : read_fields(r, values);
}

int record_read(const struct record *record, void *of,
		const struct json_at *at, struct kvp_error *err)
{
	struct reading r = { .record = record, .of = of, .err = err };

	return read_record(&r, at);
}

int record_read_fields(const struct record *record, void *of,
		       const struct json_at *values, struct kvp_error *err)
{
	struct reading r = { .record = record, .of = of, .err = err };

	return read_fields(&r, values);
}

int records_read(const struct record *record, size_t most, void **list,
		 size_t *count, const struct json_at *at,
		 struct kvp_error *err)
{
	struct reading r = { .record = record, .err = err };
	struct json_field keys[RECORD_FIELDS];
	struct json_at element, values[RECORD_FIELDS];
	struct json_list walk;
	size_t room;
	int code = json_list_count(at, most, &room, err);

	if (code)
		return code;
	*list = calloc(room + 1, record->size);
	if (!*list)
		return kvp_error_nomem(err);
	*count = 0;
	record_keys(record, keys);
	code = json_list_begin(&walk, at, err);
	while (!code && json_list_next(&walk, &element)) {
		r.of = (char *)*list + (*count)++ * record->size;
		code = json_object(&element, keys, record->nfields, values,
				   err);
		if (!code)
			code = read_fields(&r, values);
	}
	return code;
}

/* --- which key a fault is reported at --- */

/* Whether the text has a value at this path. */
static bool is_given(const struct json_at *root, const char *path)
{
	struct json_at at[3] = { *root };
	char keys[3][64];
	size_t depth, n = 0;

	for (depth = 0; *path && depth < 2; depth++) {
		path++;
		n = strcspn(path, "/");
		snprintf(keys[depth], sizeof(keys[depth]), "%.*s", (int)n,
			 path);
		path += n;
		if (json_type(&at[depth]) != JSON_OBJECT)
			break;
		if (json_member(&at[depth], keys[depth], &at[depth + 1],
				NULL) || !at[depth + 1].p)
			return false;
	}
	return true;
}

/* A fault of a field that is not in the text is reported at the key that its
   default came from. */
static void use_default_key(struct geometry_fault *fault,
			    const struct json_at *root)
{
	const char *key = strrchr(fault->path, '/');
	const struct field *f;

	if (!key)
		return;
	f = record_find(&geometry_record, key + 1);
	f = f ? f : record_find(&access_record, key + 1);
	if (f && f->from && !is_given(root, fault->path))
		snprintf(fault->path, sizeof(fault->path), "/%s", f->from);
}

/* A fault of a plane is reported at the entry it was expanded from. */
static void use_plane_entry(struct geometry_fault *fault,
			    const struct json_at *root)
{
	struct json_at planes, element, count;
	struct json_list list;
	size_t plane, seen = 0;
	uint64_t each;
	char key[32];

	if (sscanf(fault->path, "/planes/%zu/%31s", &plane, key) != 2 ||
	    json_member(root, "planes", &planes, NULL) ||
	    json_list_begin(&list, &planes, NULL))
		return;
	while (seen <= plane && json_list_next(&list, &element)) {
		each = 1;
		if (!json_member(&element, "count", &count, NULL) && count.p)
			(void)json_u64(&count, 1, KVP_CHUNKS_MAX, &each, NULL);
		seen += each;
	}
	snprintf(fault->path, sizeof(fault->path), "/planes/%zu/%s",
		 element.index, key);
}

static int report_fault(struct geometry_fault *fault,
			const struct json_at *root, struct kvp_error *err)
{
	if (fault->error.code == KVP_ENOMEM)
		return kvp_error_nomem(err);
	use_default_key(fault, root);
	use_plane_entry(fault, root);
	return json_fail_below(root, fault->path, err, fault->error.code,
			       "%s", fault->error.text);
}

/* --- the geometry --- */

static int check_struct(struct kvp_geometry *g, const struct json_at *at,
			struct kvp_error *err)
{
	struct geometry_fault fault = { .path = "" };
	int code = geometry_check(g, &fault);

	if (!code && g->base_chunks)
		code = base_chunks_check(g, &fault);
	if (!code)
		code = geometry_check_addresses(g, &fault);
	return code ? report_fault(&fault, at, err) : KVP_OK;
}

int geometry_read_at(struct kvp_geometry *g, const struct json_at *at,
		     bool unsized, struct kvp_error *err)
{
	struct reading r = { .record = &geometry_record, .of = g,
			     .unsized = unsized, .geometry = g, .err = err };
	int code = document_check(at, KVP_GEOMETRY_FORMAT, err);

	*g = (struct kvp_geometry){ 0 };
	if (!code)
		code = read_record(&r, at);
	if (!code)
		code = check_struct(g, at, err);
	if (code)
		kvp_geometry_release(g);
	else if (!unsized && !geometry_rows(g))
		g->row_bytes = g->row_stride = 0;
	return code;
}

static int read_document(struct kvp_geometry *g, bool unsized,
			 const char *source, const char *text, size_t len,
			 struct kvp_error *err)
{
	struct json_text in;
	struct json_at root;
	int code;

	*g = (struct kvp_geometry){ 0 };
	code = json_open(&in, &root, source, text, len, err);
	return code ? code : geometry_read_at(g, &root, unsized, err);
}

int kvp_geometry_read(struct kvp_geometry *g, const char *source,
		      const char *text, size_t len, struct kvp_error *err)
{
	return read_document(g, false, source, text, len, err);
}

int kvp_geometry_read_unsized(struct kvp_geometry *g, const char *source,
			      const char *text, size_t len,
			      struct kvp_error *err)
{
	return read_document(g, true, source, text, len, err);
}
