/*
 * The fields of a geometry: one row for each key, from which reading,
 * writing, comparing, fingerprint, copying, releasing and checking of ranges
 * come.  A new scalar is a member, a row and its entry in the manual.
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
	FIELD_INPUT,	/* read by the list's own function; no member */
	FIELD_TEXT,	/* char *, of 1 to `high` printable characters */
	FIELD_NAME,	/* char [high + 1], of A-Z a-z 0-9 _ - . */
	FIELD_COUNT,	/* uint64_t */
	FIELD_BYTES,	/* uint64_t; read also with a unit, "2 MiB" */
	FIELD_INDEX,	/* uint32_t */
	FIELD_FLAG,	/* bool */
	FIELD_WORD,	/* an enum whose names are `words` */
	FIELD_OBJECT,	/* a struct, or members of the same struct */
	FIELD_LIST,	/* a pointer to records, and their number */
	FIELD_RANKS	/* struct kvp_ranks *, one list for each rank */
};

/* When a field has no value. */
enum field_absence {
	FIELD_ALWAYS,	/* never */
	FIELD_IF_FLAG,	/* where the bool at `has` is false */
	FIELD_UNLESS,	/* where it is `none` */
	FIELD_IF_LIST	/* where the pointer is NULL */
};

struct field {
	struct json_field key;
	enum field_kind kind;
	size_t at;		/* of the member within its struct */
	size_t count;		/* of a list's number of records */
	uint64_t low, high;	/* of a number; records of a list */
	uint64_t fallback;	/* without the key; with `from` at most */
	const char *from;	/* the key whose value is the default */
	enum field_absence absence;
	size_t has;
	uint64_t none;
	bool null;		/* absent is null in JSON, not a missing key */
	const char *without;	/* absent, in a comparison */
	bool sized;		/* kvplan size computes it */
	bool of_rows;		/* required, and at least 1, with any row */
	const char *const *words;	/* of an enum, up to `high`; of lists
					   of ranks the word for the default */
	const struct record *record;	/* of an object or a list */
	/* Reads a list in place of the common function. */
	int (*read)(struct kvp_geometry *g, const struct json_at *at,
		    struct kvp_error *err);
};

struct record {
	const struct field *fields;
	size_t nfields;
	size_t size;		/* of the struct */
	bool lines;		/* written with a key to a line */
};

/* The most fields of a record. */
enum { RECORD_FIELDS = 32 };

extern const struct record geometry_record, plane_record, access_record,
	static_record, headroom_record, chunk_record;

/* Where a field is, up to the geometry; of an element without a key. */
struct place {
	const struct place *up;
	const char *key;
	size_t index;
};

/* Its JSON pointer, "/planes/3/address"; "" for a NULL place. */
void place_path(const struct place *place, char *path, size_t size);

const struct field *record_find(const struct record *record, const char *key);

static inline const void *field_member(const struct field *f, const void *of)
{
	return (const char *)of + f->at;
}

/* Pointers are copied: members have many types. */
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

/* Numbers, flags and enums, and writing them; of an enum any int. */
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

static inline void field_set_number(const struct field *f, void *of, uint64_t value)
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

/* A text or a name. */
const char *field_text(const struct field *f, const void *of);

/* An enum's word; "?" where the value is none. */
const char *field_word(const struct field *f, const void *of);

static inline bool field_is_there(const struct field *f, const void *of)
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

/* Are all characters of a plane's name allowed? */
bool name_is_plain(const char *name);

/* geometry_json.c: read records, and one record, as a document has them. */
int records_read(const struct record *record, size_t most, void **list,
		 size_t *count, const struct json_at *at,
		 struct kvp_error *err);
int record_read(const struct record *record, void *of,
		const struct json_at *at, struct kvp_error *err);
/* The fields whose places are known, all but INPUT and NAME. */
int record_read_fields(const struct record *record, void *of,
		       const struct json_at *values, struct kvp_error *err);
/* The keys of a record, for json_object(). */
void record_keys(const struct record *record, struct json_field *keys);

/* planes_json.c: read and expand the planes. */
int planes_read(struct kvp_geometry *g, const struct json_at *at,
		struct kvp_error *err);

/* geometry_access.c: one list of ranks; and the lists of all ranks, whose
   default are blocks of `size` ranks. */
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
