/*
 * The table of a geometry's fields, with one row for each key.  Reading,
 * writing, comparing, fingerprint, copying, releasing and checking ranges
 * are loops over this table.  To add a scalar key, add a member to the
 * struct, a row to the table and an entry to the manual.
 */
#ifndef KVPLAN_MODEL_FIELDS_H
#define KVPLAN_MODEL_FIELDS_H

#include <string.h>

#include <kvplan/plan.h>

#include "base/json.h"
#include "base/json_out.h"

struct record;
struct kvp_geometry;

enum field_kind {
	FIELD_FORMAT,	/* the document's format; no member */
	FIELD_INPUT,	/* read by the function of its list; no member */
	FIELD_TEXT,	/* char *, of 1 to `high` printable characters */
	FIELD_NAME,	/* char [high + 1], of A-Z a-z 0-9 _ - . */
	FIELD_COUNT,	/* uint64_t */
	FIELD_BYTES,	/* uint64_t; read also with a unit, "2 MiB" */
	FIELD_INDEX,	/* uint32_t */
	FIELD_FLAG,	/* bool */
	FIELD_WORD,	/* an enum whose names are `words` */
	FIELD_OBJECT,	/* a struct, or members of the same struct that are
			   one object in JSON */
	FIELD_LIST,	/* a pointer to records, and their number */
	FIELD_RANKS	/* struct kvp_ranks *, one list for each rank */
};

/* When a field has a value. */
enum field_absence {
	FIELD_ALWAYS,	/* always */
	FIELD_IF_FLAG,	/* if the bool at `has` is true */
	FIELD_UNLESS,	/* unless it is equal to `none` */
	FIELD_IF_LIST	/* if the pointer is not NULL */
};

struct field {
	struct json_field key;
	enum field_kind kind;
	size_t at;		/* offset of the member in its struct */
	size_t count;		/* FIELD_LIST: offset of the number of
				   records */
	uint64_t low, high;	/* range of a number, length of a text, or
				   number of records */
	uint64_t fallback;	/* the default; with `from`, the largest */
	const char *from;	/* the key whose value is the default */
	enum field_absence absence;
	size_t has;		/* FIELD_IF_FLAG: offset of the bool */
	uint64_t none;		/* FIELD_UNLESS */
	bool null;		/* without a value it is null in JSON;
				   otherwise the key is missing */
	const char *without;	/* text for no value, in a comparison */
	bool sized;		/* kvplan size computes it */
	bool of_rows;		/* if there are rows: required, at least 1 */
	const char *const *words;	/* FIELD_WORD: [high + 1];
					   FIELD_RANKS: the default's name */
	const struct record *record;	/* of an object or a list */
	/* If not NULL, reads a list instead of the common function. */
	int (*read)(struct kvp_geometry *g, const struct json_at *at,
		    struct kvp_error *err);
};

struct record {
	const struct field *fields;
	size_t nfields;
	size_t size;		/* of the struct */
	bool lines;		/* written with one key on each line */
};

/* No record has more fields. */
enum { RECORD_FIELDS = 32 };

extern const struct record geometry_record, plane_record, access_record,
	static_record, headroom_record, chunk_record;

/* The path to a field: its key, or the index of an element (key NULL), and
   the path of what it is in. */
struct field_path {
	const struct field_path *up;
	const char *key;
	size_t index;
};

/* Write the JSON pointer of a path, "/planes/3/address"; "" for NULL. */
void field_path_write(const struct field_path *at, char *text, size_t size);

/* The field with this key; NULL if there is none. */
const struct field *record_find(const struct record *record, const char *key);

/* In all functions below, `of` is the struct that has the member. */
static inline const void *field_member(const struct field *f, const void *of)
{
	return (const char *)of + f->at;
}

/* memcpy(), because the pointers have different types. */
static inline void *field_pointer(const struct field *f, const void *of)
{
	void *pointer;

	memcpy(&pointer, field_member(f, of), sizeof(pointer));
	return pointer;
}

static inline void field_set_pointer(const struct field *f, void *of,
				     void *pointer)
{
	memcpy((char *)of + f->at, &pointer, sizeof(pointer));
}

static inline size_t *field_count(const struct field *f, void *of)
{
	return (size_t *)(void *)((char *)of + f->count);
}

static inline size_t field_records(const struct field *f, const void *of)
{
	size_t count;

	memcpy(&count, (const char *)of + f->count, sizeof(count));
	return count;
}

/* Get and set a number, flag or enum; an enum may have any value. */
static inline uint64_t field_number(const struct field *f, const void *of)
{
	const void *member = field_member(f, of);

	if (f->kind == FIELD_FLAG)
		return *(const bool *)member;
	if (f->kind == FIELD_INDEX)
		return *(const uint32_t *)member;
	if (f->kind == FIELD_WORD)
		return *(const unsigned *)member;
	return *(const uint64_t *)member;
}

static inline void field_set_number(const struct field *f, void *of,
				    uint64_t value)
{
	void *member = (char *)of + f->at;

	if (f->kind == FIELD_FLAG)
		*(bool *)member = value;
	else if (f->kind == FIELD_INDEX)
		*(uint32_t *)member = (uint32_t)value;
	else if (f->kind == FIELD_WORD)
		*(unsigned *)member = (unsigned)value;
	else
		*(uint64_t *)member = value;
}

/* The text of FIELD_TEXT or FIELD_NAME. */
const char *field_text(const struct field *f, const void *of);

/* The word for an enum's value; "?" if the value is not declared. */
const char *field_word(const struct field *f, const void *of);

static inline bool field_has_value(const struct field *f, const void *of)
{
	switch (f->absence) {
	case FIELD_IF_FLAG:
		return *(const bool *)((const char *)of + f->has);
	case FIELD_UNLESS:
		return field_number(f, of) != f->none;
	case FIELD_IF_LIST:
		return field_pointer(f, of);
	case FIELD_ALWAYS:
		break;
	}
	return true;
}

/* Whether all characters of a plane's name are allowed. */
bool name_is_plain(const char *name);

/* geometry_json.c: read an array of records, and one record. */
int records_read(const struct record *record, size_t most, void **list,
		 size_t *count, const struct json_at *at,
		 struct kvp_error *err);
int record_read(const struct record *record, void *of,
		const struct json_at *at, struct kvp_error *err);
/* Read the fields of a record from the values that json_object() found,
   except those of kind FIELD_INPUT and FIELD_NAME. */
int record_read_fields(const struct record *record, void *of,
		       const struct json_at *values, struct kvp_error *err);
/* The keys of a record, for json_object(). */
void record_keys(const struct record *record, struct json_field *keys);

/* planes_json.c: read and expand the planes. */
int planes_read(struct kvp_geometry *g, const struct json_at *at,
		struct kvp_error *err);

/* geometry_access.c: read one list of ranks, and the lists of all ranks.  By
   default a rank's list is the block of `size` ranks that it belongs to;
   `word` is the name of that default. */
int ranks_read(struct kvp_ranks *list, const struct json_at *at,
	       uint64_t ranks, struct kvp_error *err);
int rank_lists_read(struct kvp_ranks **lists, const struct json_at *at,
		    const char *word, uint64_t ranks, uint64_t size,
		    struct kvp_error *err);

/* geometry_write.c */
void record_write(struct json_out *w, const char *key,
		  const struct record *record, const void *of);
void records_write(struct json_out *w, const char *key,
		   const struct record *record, const void *list,
		   size_t count);

#endif
