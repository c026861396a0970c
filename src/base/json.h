/*
 * Strict JSON reading.
 *
 * json_open() checks the whole text once: UTF-8, grammar, depth.  After that
 * the other functions read values from the text itself, without building a
 * tree: a tree of a million chunks would take half a gigabyte.  Every error
 * says where it is: SOURCE:LINE:COLUMN if the text is not JSON, otherwise
 * SOURCE: /json/pointer.
 *
 * A struct json_at is usually on the caller's stack.  It points to the one
 * of its parent, which must outlive it.
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

/* A value in the text, and the path to it. */
struct json_at {
	const struct json_text *in;
	const struct json_at *up;	/* the object or array it is in */
	const char *key;	/* its name; NULL for an element */
	size_t index;		/* of an element */
	const char *p;		/* its first character; NULL: there is no
				   such member */
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

#define JSON_NAME_MAX 63		/* bytes; longer names are cut */

struct json_members {
	const struct json_at *at;
	const char *p;
	char name[JSON_NAME_MAX + 1];
};

enum json_type {
	JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT
};

/* Check the text and set *root to its value.  Errors: KVP_ESYNTAX. */
int json_open(struct json_text *in, struct json_at *root, const char *source,
	      const char *text, size_t len, struct kvp_error *err);

/*
 * The same for texts that Python wrote: the words NaN, Infinity and
 * -Infinity are accepted as numbers.  They are not whole numbers, so
 * json_u64() and json_bytes() refuse them.
 */
int json_open_lenient(struct json_text *in, struct json_at *root,
		      const char *source, const char *text, size_t len,
		      struct kvp_error *err);

enum json_type json_type(const struct json_at *at);

/* Check a value's type.  KVP_EINPUT "is a list, must be WANTED" if it has
   another one. */
int json_expect(const struct json_at *at, enum json_type type,
		const char *wanted, struct kvp_error *err);

/*
 * Find the members of an object.  values[i] becomes the value of fields[i],
 * with p == NULL if it is optional and absent.  Errors: KVP_EINPUT for an
 * unknown, duplicate or missing key; KVP_ENOMEM.
 */
int json_object(const struct json_at *at, const struct json_field *fields,
		size_t count, struct json_at *values, struct kvp_error *err);

/*
 * Find one member of an object that may have any others.  value->p is NULL
 * if there is none.  Errors: KVP_EINPUT if it is not an object; KVP_ENOMEM.
 */
int json_member(const struct json_at *at, const char *name,
		struct json_at *value, struct kvp_error *err);

/* The same, and KVP_EINPUT if the object has that member twice. */
int json_unique_member(const struct json_at *at, const char *name,
		       struct json_at *value, struct kvp_error *err);

/*
 * Walk the members of an object.  member->p is NULL after the last one.
 * member->key is the decoded name, cut to JSON_NAME_MAX bytes, and valid
 * until the next call.  Errors: KVP_EINPUT, KVP_ENOMEM.
 */
int json_members_begin(struct json_members *walk, const struct json_at *at,
		       struct kvp_error *err);
int json_members_next(struct json_members *walk, struct json_at *member,
		      struct kvp_error *err);

/* Walk an array.  json_list_next() returns false after the last element. */
int json_list_begin(struct json_list *list, const struct json_at *at,
		    struct kvp_error *err);
bool json_list_next(struct json_list *list, struct json_at *element);

/* Count the elements of an array; KVP_ELIMIT if more than `most`. */
int json_list_count(const struct json_at *at, size_t most, size_t *count,
		    struct kvp_error *err);

/*
 * Read a scalar.  Errors: KVP_EINPUT for a wrong type or a value below the
 * range, KVP_ELIMIT for one above it; *out is untouched then.
 */
int json_u64(const struct json_at *at, uint64_t low, uint64_t high,
	     uint64_t *out, struct kvp_error *err);
int json_bytes(const struct json_at *at, uint64_t low, uint64_t *out,
	       struct kvp_error *err);	/* integer, or "2 MiB" */
int json_bool(const struct json_at *at, bool *out, struct kvp_error *err);
int json_choice(const struct json_at *at, const char *const *names,
		size_t count, size_t *out, struct kvp_error *err);

/* Read any string, decoded; free *out with free().  Errors: KVP_EINPUT,
   KVP_ENOMEM. */
int json_text(const struct json_at *at, char **out, struct kvp_error *err);

/*
 * Read a string of 1..most printable characters; free *out with free().
 * Errors: KVP_EINPUT, KVP_ENOMEM.
 */
int json_string(const struct json_at *at, size_t most, char **out,
		struct kvp_error *err);

/* Set the error "SOURCE: /pointer: text" for this value; returns code. */
int json_fail(const struct json_at *at, struct kvp_error *err, int code,
	      const char *format, ...) KVP_PRINTF(4, 5);

/* The same for a value inside this one at the pointer `below`, such as
   "/key/0", which need not exist. */
int json_fail_below(const struct json_at *at, const char *below,
		    struct kvp_error *err, int code, const char *format, ...)
	KVP_PRINTF(5, 6);

/* For use in base only: check a text (json_scan.c). */
int json_scan(const struct json_text *in, struct kvp_error *err);

/*
 * For use in base only: decode a string; p is its opening quote and `past`
 * follows its closing one (json_string.c).  Free the result with free();
 * NULL if there is no memory.
 */
char *json_string_decode(const char *p, const char *past);

/* For use in base only: whether c can be part of a number or a word, in any
   locale. */
static inline bool json_is_token(char c)
{
	return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' ||
	       ((c | 32) >= 'a' && (c | 32) <= 'z');
}

#endif
