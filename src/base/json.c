/*
 * Reading a checked JSON text: objects and arrays are walked in the text
 * itself.  Numbers are read from their digits, because a double cannot
 * tell 9007199254740990.6 from an integer.
 */
#include "base/json.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_list.h"
#include "base/utf8.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static const char *skip_blanks(const char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

static int check_text(struct json_text *in, struct json_at *root,
		      struct kvp_error *err)
{
	int code = json_scan(in, err);

	*root = (struct json_at){ .in = in };
	if (!code)
		root->p = skip_blanks(in->text);
	return code;
}

int json_open(struct json_text *in, struct json_at *root, const char *source,
	      const char *text, size_t len, struct kvp_error *err)
{
	*in = (struct json_text){ source, text, text + len, false };
	return check_text(in, root, err);
}

int json_open_lenient(struct json_text *in, struct json_at *root,
		      const char *source, const char *text, size_t len,
		      struct kvp_error *err)
{
	*in = (struct json_text){ source, text, text + len, true };
	return check_text(in, root, err);
}

/* Write a value's JSON pointer.  Returns its length, also if it was cut. */
static size_t write_pointer(const struct json_at *at, char *text, size_t size)
{
	size_t used;
	int len;

	if (!at->up)
		return 0;
	assert(at->up->in == at->in);
	used = write_pointer(at->up, text, size);
	if (used >= size)
		return used;
	if (at->key)
		len = snprintf(text + used, size - used, "/%s", at->key);
	else
		len = snprintf(text + used, size - used, "/%zu", at->index);
	return used + (size_t)len;
}

static void set_error(const struct json_at *at, const char *below,
		      struct kvp_error *err, int code, const char *format,
		      va_list args)
{
	char pointer[256] = "";
	char text[KVP_ERROR_MAX];
	size_t used = write_pointer(at, pointer, sizeof(pointer));

	if (used < sizeof(pointer))
		snprintf(pointer + used, sizeof(pointer) - used, "%s", below);
	kvp_error_format(text, sizeof(text), format, args);
	kvp_error_set(err, code, "%s: %s: %s", at->in->source,
		      *pointer ? pointer : "/", text);
}

int json_fail(const struct json_at *at, struct kvp_error *err, int code,
	      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_error(at, "", err, code, format, args);
	va_end(args);
	return code;
}

int json_fail_below(const struct json_at *at, const char *below,
		    struct kvp_error *err, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_error(at, below, err, code, format, args);
	va_end(args);
	return code;
}

enum json_type json_type(const struct json_at *at)
{
	switch (*at->p) {
	case '{':
		return JSON_OBJECT;
	case '[':
		return JSON_ARRAY;
	case '"':
		return JSON_STRING;
	case 't':
	case 'f':
		return JSON_BOOL;
	case 'n':
		return JSON_NULL;
	default:
		return JSON_NUMBER;
	}
}

int json_expect(const struct json_at *at, enum json_type type,
		const char *wanted, struct kvp_error *err)
{
	static const char *const names[] = {
		[JSON_NULL] = "null", [JSON_BOOL] = "true or false",
		[JSON_NUMBER] = "a number", [JSON_STRING] = "a string",
		[JSON_ARRAY] = "a list", [JSON_OBJECT] = "an object",
	};

	if (json_type(at) == type)
		return KVP_OK;
	return json_fail(at, err, KVP_EINPUT, "is %s, must be %s",
			 names[json_type(at)], wanted);
}

static const char *skip_string(const char *p)
{
	for (p++; *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p + 1;
}

/*
 * Skip a value and the blanks after it.  The text is valid JSON, so this
 * needs to recognize only strings and brackets.
 */
static const char *skip_value(const char *p, const char *end)
{
	int depth = 0;

	do {
		switch (*p) {
		case '"':
			p = skip_string(p);
			break;
		case '{':
		case '[':
			depth++;
			p++;
			break;
		case '}':
		case ']':
			depth--;
			p++;
			break;
		case ',':
		case ':':
			p++;
			break;
		default:	/* a number or a word */
			while (p < end && json_is_token(*p))
				p++;
		}
		while (p < end && is_blank(*p))
			p++;
	} while (depth);
	assert(p <= end);
	return p;
}

/* Decode the string at p; NULL if there is no memory. */
static char *decode_string(const char *p, const char *end)
{
	const char *past = skip_string(p);

	assert(past <= end);
	(void)end;
	return json_string_decode(p, past);
}

/* *is becomes whether the key at p (its opening quote) is `name`. */
static int compare_key(const char *p, const char *end, const char *name,
		       bool *is, struct kvp_error *err)
{
	size_t len = strlen(name);
	const char *past = skip_string(p);
	char *key;

	if (!memchr(p, '\\', (size_t)(past - p))) {
		*is = (size_t)(past - p) == len + 2 &&
		      !memcmp(p + 1, name, len);
		return KVP_OK;
	}
	key = decode_string(p, end);
	if (!key)
		return kvp_error_nomem(err);
	*is = !strcmp(key, name);
	free(key);
	return KVP_OK;
}

/* Write a key as part of a JSON pointer (RFC 6901), cut to 60 bytes. */
static void write_pointer_key(char *to, const char *key, size_t len)
{
	size_t i;

	for (i = 0; i < len && i < 60; i++) {
		if (key[i] == '~' || key[i] == '/')
			*to++ = '~';
		*to++ = key[i] == '~' ? '0' : key[i] == '/' ? '1' : key[i];
	}
	*to = '\0';
}

static int fail_unknown_key(const struct json_at *at, const char *p,
			    const struct json_field *fields, size_t count,
			    struct kvp_error *err)
{
	char known[512], shown[128];
	struct text_list list;
	struct json_at member = *at;
	size_t i;

	write_pointer_key(shown, p + 1, (size_t)(skip_string(p) - p) - 2);
	text_list_begin(&list, known, sizeof(known), ", ");
	for (i = 0; i < count; i++)
		text_list_add(&list, 1, "%s", fields[i].name);
	text_list_end(&list);
	member.up = at;
	member.key = shown;
	return json_fail(&member, err, KVP_EINPUT,
			 "unknown key; known here: %s", known);
}

static int find_field(const struct json_at *at, const char *p,
		      const struct json_field *fields, size_t count,
		      size_t *found, struct kvp_error *err)
{
	bool is;
	size_t i;
	int code;

	for (i = 0; i < count; i++) {
		code = compare_key(p, at->in->end, fields[i].name, &is, err);
		if (code)
			return code;
		if (is) {
			*found = i;
			return KVP_OK;
		}
	}
	return fail_unknown_key(at, p, fields, count, err);
}

int json_object(const struct json_at *at, const struct json_field *fields,
		size_t count, struct json_at *values, struct kvp_error *err)
{
	const char *p;
	size_t i, guess = 0;
	int code = json_expect(at, JSON_OBJECT, "an object", err);

	if (code)
		return code;
	for (i = 0; i < count; i++)
		values[i] = (struct json_at){ .in = at->in, .up = at,
					      .key = fields[i].name };
	for (p = skip_blanks(at->p + 1); *p != '}'; guess = i + 1) {
		/* Keys are mostly in the table's order: try the next one. */
		bool is = false;

		i = guess;
		if (guess < count) {
			code = compare_key(p, at->in->end, fields[i].name,
					   &is, err);
			if (code)
				return code;
		}
		if (!is)
			code = find_field(at, p, fields, count, &i, err);
		if (code)
			return code;
		if (values[i].p)
			return json_fail(&values[i], err, KVP_EINPUT,
				"given twice; remove one");
		p = skip_blanks(skip_blanks(skip_string(p)) + 1);
		values[i].p = p;
		p = skip_value(p, at->in->end);
		if (*p == ',')
			p = skip_blanks(p + 1);
	}
	for (i = 0; i < count; i++)
		if (fields[i].required && !values[i].p)
			return json_fail(&values[i], err, KVP_EINPUT,
					 "missing; this key is required");
	return KVP_OK;
}

/*
 * Find the first member with this name at or after *p, and move *p past it;
 * if there is none, to the closing brace.
 */
static int next_member(const struct json_at *at, const char *name,
		       const char **p, struct json_at *value,
		       struct kvp_error *err)
{
	bool is = false;
	int code = KVP_OK;

	while (**p != '}' && !is && !code) {
		code = compare_key(*p, at->in->end, name, &is, err);
		*p = skip_blanks(skip_blanks(skip_string(*p)) + 1);
		if (is)
			value->p = *p;
		*p = skip_value(*p, at->in->end);
		if (**p == ',')
			*p = skip_blanks(*p + 1);
	}
	return code;
}

static int first_member(const struct json_at *at, const char *name,
			const char **p, struct json_at *value,
			struct kvp_error *err)
{
	int code = json_expect(at, JSON_OBJECT, "an object", err);

	*value = (struct json_at){ .in = at->in, .up = at, .key = name };
	if (code)
		return code;
	*p = skip_blanks(at->p + 1);
	return next_member(at, name, p, value, err);
}

int json_member(const struct json_at *at, const char *name,
		struct json_at *value, struct kvp_error *err)
{
	const char *p;

	return first_member(at, name, &p, value, err);
}

int json_unique_member(const struct json_at *at, const char *name,
		       struct json_at *value, struct kvp_error *err)
{
	struct json_at again;
	const char *p;
	int code = first_member(at, name, &p, value, err);

	again = *value;
	if (!code && value->p)
		code = next_member(at, name, &p, &again, err);
	if (!code && again.p != value->p)
		code = json_fail(value, err, KVP_EINPUT,
				 "given twice; remove one");
	return code;
}

int json_members_begin(struct json_members *walk, const struct json_at *at,
		       struct kvp_error *err)
{
	int code = json_expect(at, JSON_OBJECT, "an object", err);

	*walk = (struct json_members){ .at = at };
	if (!code)
		walk->p = skip_blanks(at->p + 1);
	return code;
}

int json_members_next(struct json_members *walk, struct json_at *member,
		      struct kvp_error *err)
{
	const struct json_at *at = walk->at;
	char *name;

	*member = (struct json_at){ .in = at->in, .up = at,
				    .key = walk->name };
	if (*walk->p == '}')
		return KVP_OK;
	name = decode_string(walk->p, at->in->end);
	if (!name)
		return kvp_error_nomem(err);
	snprintf(walk->name, sizeof(walk->name), "%s", name);
	free(name);
	walk->p = skip_blanks(skip_blanks(skip_string(walk->p)) + 1);
	member->p = walk->p;
	walk->p = skip_value(walk->p, at->in->end);
	if (*walk->p == ',')
		walk->p = skip_blanks(walk->p + 1);
	return KVP_OK;
}

int json_list_begin(struct json_list *list, const struct json_at *at,
		    struct kvp_error *err)
{
	int code = json_expect(at, JSON_ARRAY, "a list", err);

	*list = (struct json_list){ .at = at };
	if (!code)
		list->p = skip_blanks(at->p + 1);
	return code;
}

bool json_list_next(struct json_list *list, struct json_at *element)
{
	const struct json_at *at = list->at;

	if (list->index) {
		list->p = skip_value(list->p, at->in->end);
		if (*list->p == ',')
			list->p = skip_blanks(list->p + 1);
	}
	if (*list->p == ']')
		return false;
	*element = (struct json_at){ .in = at->in, .up = at,
				     .index = list->index++, .p = list->p };
	return true;
}

int json_list_count(const struct json_at *at, size_t most, size_t *count,
		    struct kvp_error *err)
{
	struct json_list list;
	struct json_at element;
	int code = json_list_begin(&list, at, err);

	if (code)
		return code;
	while (json_list_next(&list, &element))
		if (list.index > most)
			return json_fail(at, err, KVP_ELIMIT,
				"more than %zu entries", most);
	*count = list.index;
	return KVP_OK;
}

int json_bool(const struct json_at *at, bool *out, struct kvp_error *err)
{
	int code = json_expect(at, JSON_BOOL, "true or false", err);

	if (!code)
		*out = *at->p == 't';
	return code;
}

int json_text(const struct json_at *at, char **out, struct kvp_error *err)
{
	int code = json_expect(at, JSON_STRING, "a string", err);

	if (code)
		return code;
	*out = decode_string(at->p, at->in->end);
	return *out ? KVP_OK : kvp_error_nomem(err);
}

/* The number of characters of a valid UTF-8 text; *printable becomes whether
   none of them is a control character. */
static size_t count_characters(const char *text, bool *printable)
{
	size_t left = strlen(text), len, count = 0;

	*printable = true;
	for (; left; text += len, left -= len, count++) {
		len = utf8_length(text, left);
		assert(len);
		*printable = *printable && !utf8_is_control(text);
	}
	return count;
}

int json_string(const struct json_at *at, size_t most, char **out,
		struct kvp_error *err)
{
	bool printable;
	size_t count;
	char *text;
	int code = json_text(at, &text, err);

	if (code)
		return code;
	count = count_characters(text, &printable);
	if (!count || count > most)
		code = json_fail(at, err, KVP_EINPUT,
			"has %zu characters, must have 1 to %zu", count, most);
	else if (!printable)
		code = json_fail(at, err, KVP_EINPUT,
			"holds a control character, must be printable");
	if (code)
		free(text);
	else
		*out = text;
	return code;
}

int json_choice(const struct json_at *at, const char *const *names,
		size_t count, size_t *out, struct kvp_error *err)
{
	char known[128];
	struct text_list list;
	size_t i;
	char *text;
	int code = json_text(at, &text, err);

	if (code)
		return code;
	text_list_begin(&list, known, sizeof(known), ", ");
	for (i = 0; i < count && strcmp(text, names[i]); i++)
		text_list_add(&list, 1, "\"%s\"", names[i]);
	text_list_end(&list);
	if (i == count)
		code = json_fail(at, err, KVP_EINPUT,
				 "is \"%.60s\", must be one of %s", text,
				 known);
	else
		*out = i;
	free(text);
	return code;
}
