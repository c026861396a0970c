/*
 * Strict JSON reading.
 *
 * json_open() checks the whole text once: UTF-8, grammar, depth.  After that
 * places in it are walked without a tree, so reading takes no memory beyond
 * the text; a tree of a million chunks would take half a gigabyte.  Every
 * error names its place: FILE:LINE:COLUMN for broken JSON, FILE: /json/pointer
 * for everything else.
 *
 * A struct json_at lives on the caller's stack and points at its parent,
 * which must outlive it.
 */
#ifndef KVPLAN_BASE_JSON_H
#define KVPLAN_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define JSON_DEPTH_MAX 16
#define JSON_NUMBER_MAX UINT64_C(9007199254740991)	/* 2^53 - 1 */

struct json_text {
	const char *source;
	const char *text;
	const char *end;
	bool lenient;		/* see json_open_lenient() */
};

/* A value's place.  p == NULL: the member is absent. */
struct json_at {
	const struct json_text *in;
	const struct json_at *up;
	const char *key;	/* member name, or NULL for an element */
	size_t index;
	const char *p;
};

struct json_field {
	const char *name;
	bool required;
};

struct json_list {
	const struct json_at *at;
	const char *p;
	size_t index;
};

#define JSON_NAME_MAX 63		/* bytes of a walked member's name */

struct json_members {
	const struct json_at *at;
	const char *p;
	char name[JSON_NAME_MAX + 1];
};

enum json_type {
	JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT
};

/* Check the text and point *root at its value.  Errors: KVP_ESYNTAX. */
int json_open(struct json_text *in, struct json_at *root, const char *source,
	      const char *text, size_t len, struct kvp_error *err);

/*
 * The same for texts that Python wrote: the bare words NaN, Infinity and
 * -Infinity are taken as numbers.  They are no whole number, so json_u64()
 * and json_bytes() refuse them where such a value is wanted.
 */
int json_open_lenient(struct json_text *in, struct json_at *root,
		      const char *source, const char *text, size_t len,
		      struct kvp_error *err);

enum json_type json_type(const struct json_at *at);

/* KVP_EINPUT "is a list, must be WANTED" where the type is another. */
int json_expect(const struct json_at *at, enum json_type type,
		const char *wanted, struct kvp_error *err);

/*
 * Find the members of an object.  values[i] is the place of fields[i], with
 * p == NULL where an optional one is absent.  Unknown, duplicate and missing
 * keys are KVP_EINPUT.
 */
int json_object(const struct json_at *at, const struct json_field *fields,
		size_t count, struct json_at *values, struct kvp_error *err);

/*
 * Find one member, whatever else the object holds.  *value has p == NULL
 * where there is none.
 */
int json_member(const struct json_at *at, const char *name,
		struct json_at *value, struct kvp_error *err);

/* The same, and KVP_EINPUT where the object has that member twice. */
int json_only_member(const struct json_at *at, const char *name,
		     struct json_at *value, struct kvp_error *err);

/*
 * Walk an object.  member->p is NULL at its end; member->key is walk->name,
 * decoded and cut, and good until the next call.  Errors: KVP_EINPUT,
 * KVP_ENOMEM.
 */
int json_members_begin(struct json_members *walk, const struct json_at *at,
		       struct kvp_error *err);
int json_members_next(struct json_members *walk, struct json_at *member,
		      struct kvp_error *err);

/* Walk an array.  json_list_next() answers false at its end. */
int json_list_begin(struct json_list *list, const struct json_at *at,
		    struct kvp_error *err);
bool json_list_next(struct json_list *list, struct json_at *element);

/* The number of elements; more than `most` are KVP_ELIMIT. */
int json_list_count(const struct json_at *at, size_t most, size_t *count,
		    struct kvp_error *err);

/*
 * Scalars.  All answer KVP_EINPUT for a wrong type or a value below the
 * range, KVP_ELIMIT for one above it, and leave *out untouched then.
 */
int json_u64(const struct json_at *at, uint64_t low, uint64_t high,
	     uint64_t *out, struct kvp_error *err);
int json_bytes(const struct json_at *at, uint64_t low, uint64_t *out,
	       struct kvp_error *err);	/* integer, or "2 MiB" */
int json_bool(const struct json_at *at, bool *out, struct kvp_error *err);
int json_choice(const struct json_at *at, const char *const *names,
		size_t count, size_t *out, struct kvp_error *err);

/* Any string, decoded; free() *out.  Errors: KVP_EINPUT, KVP_ENOMEM. */
int json_text(const struct json_at *at, char **out, struct kvp_error *err);

/*
 * A string of 1..most characters, all printable; free() *out.
 * Errors also KVP_ENOMEM.
 */
int json_string(const struct json_at *at, size_t most, char **out,
		struct kvp_error *err);

/* Report something wrong with this value: "SOURCE: /pointer: text". */
int json_fail(const struct json_at *at, struct kvp_error *err, int code,
	      const char *format, ...) KVP_PRINTF(4, 5);

/* The same of a value below this one, "/key/0", which need not be there. */
int json_fail_below(const struct json_at *at, const char *below,
		    struct kvp_error *err, int code, const char *format, ...)
	KVP_PRINTF(5, 6);

/* Within base: check a text (json_scan.c). */
int json_scan(const struct json_text *in, struct kvp_error *err);

/*
 * Within base: decode the string from its opening quote to past its closing
 * one (json_string.c); free() it.  NULL when there is no memory.
 */
char *json_string_decode(const char *p, const char *past);

/* Within base: part of a number or a word, in any locale. */
static inline bool json_is_token(char c)
{
	return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' ||
	       ((c | 32) >= 'a' && (c | 32) <= 'z');
}

#endif
