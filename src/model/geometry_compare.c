/*
 * Comparing two geometries, by the table of their fields.
 */
#include <stdio.h>
#include <string.h>

#include "base/text_list.h"
#include "model/fields.h"

struct compare {
	kvp_geometry_differ *differ;
	void *cookie;
	size_t count;
	const struct kvp_geometry *a, *b;
};

static void report_difference(struct compare *c, const struct field_path *at,
			      const char *a, const char *b)
{
	char pointer[96];

	c->count++;
	if (!c->differ)
		return;
	field_path_write(at, pointer, sizeof(pointer));
	c->differ(c->cookie, pointer, a, b);
}

static void compare_texts(struct compare *c, const struct field_path *at,
			  const char *a, const char *b)
{
	if (strcmp(a, b))
		report_difference(c, at, a, b);
}

/* A number as text, or the field's text for no value. */
static const char *number_text(const struct field *f, const void *of,
			       char *text, size_t size)
{
	if (!field_has_value(f, of))
		return f->without;
	snprintf(text, size, "%llu", (ull)field_number(f, of));
	return text;
}

static void compare_numbers(struct compare *c, const struct field *f,
			    const struct field_path *at, const void *a,
			    const void *b)
{
	bool there = field_has_value(f, a);
	char x[24], y[24];

	if (there == field_has_value(f, b) &&
	    (!there || field_number(f, a) == field_number(f, b)))
		return;
	compare_texts(c, at, number_text(f, a, x, sizeof(x)),
		      number_text(f, b, y, sizeof(y)));
}

static const char *flag_text(bool flag)
{
	return flag ? "true" : "false";
}

/* Whether both have a value; if only one has, that is a difference. */
static bool compare_presence(struct compare *c, const struct field *f,
			     const struct field_path *at, const void *a,
			     const void *b)
{
	bool in_a = field_has_value(f, a), in_b = field_has_value(f, b);

	if (in_a != in_b)
		report_difference(c, at, in_a ? "given" : "absent",
				  in_b ? "given" : "absent");
	return in_a && in_b;
}

static void compare_records(struct compare *c, const struct record *record,
			    const struct field_path *at, const void *a,
			    const void *b);

static void compare_lists(struct compare *c, const struct field *f,
			  const struct field_path *at, const void *a,
			  const void *b)
{
	const char *x = field_pointer(f, a), *y = field_pointer(f, b);
	size_t na = field_records(f, a), nb = field_records(f, b);
	struct field_path place = { .up = at };
	char in_a[32], in_b[32];

	if (na != nb) {
		snprintf(in_a, sizeof(in_a), "%zu entries", na);
		snprintf(in_b, sizeof(in_b), "%zu entries", nb);
		report_difference(c, at, in_a, in_b);
		return;
	}
	for (; place.index < na; place.index++) {
		compare_records(c, f->record, &place, x, y);
		x += f->record->size;
		y += f->record->size;
	}
}

/* "[0,1,2]", or "[0,1 and 9 more]" if that is too long for a message. */
static const char *list_text(char *to, size_t size,
			     const struct kvp_ranks *ranks)
{
	struct text_list list;
	size_t i;

	to[0] = '[';
	text_list_begin(&list, to + 1, size - 2, ",");
	for (i = 0; i < ranks->count; i++)
		text_list_add(&list, 1, "%u", ranks->rank[i]);
	text_list_end(&list);
	strcat(to, "]");
	return to;
}

static void compare_rank_lists(struct compare *c, const struct field *f,
			       const struct field_path *at)
{
	const struct kvp_ranks *a = field_pointer(f, c->a);
	const struct kvp_ranks *b = field_pointer(f, c->b);
	struct field_path place = { .up = at };
	char x[160], y[160];

	if (c->a->ranks != c->b->ranks)
		return;
	for (; place.index < c->a->ranks; place.index++, a++, b++)
		if (a->count != b->count ||
		    memcmp(a->rank, b->rank, a->count * sizeof(*a->rank)))
			report_difference(c, &place, list_text(x, sizeof(x), a),
					  list_text(y, sizeof(y), b));
}

static void compare_fields(struct compare *c, const struct field *f,
			   const struct field_path *at, const void *a,
			   const void *b)
{
	switch (f->kind) {
	case FIELD_FORMAT:
	case FIELD_INPUT:
		break;
	case FIELD_TEXT:
	case FIELD_NAME:
		compare_texts(c, at, field_text(f, a), field_text(f, b));
		break;
	case FIELD_COUNT:
	case FIELD_BYTES:
	case FIELD_INDEX:
		compare_numbers(c, f, at, a, b);
		break;
	case FIELD_FLAG:
		compare_texts(c, at, flag_text(field_number(f, a)),
			      flag_text(field_number(f, b)));
		break;
	case FIELD_WORD:
		compare_texts(c, at, field_word(f, a), field_word(f, b));
		break;
	case FIELD_OBJECT:
		if (compare_presence(c, f, at, a, b))
			compare_records(c, f->record, at, field_member(f, a),
					field_member(f, b));
		break;
	case FIELD_LIST:
		if (compare_presence(c, f, at, a, b))
			compare_lists(c, f, at, a, b);
		break;
	case FIELD_RANKS:
		compare_rank_lists(c, f, at);
		break;
	}
}

static void compare_records(struct compare *c, const struct record *record,
			    const struct field_path *at, const void *a,
			    const void *b)
{
	struct field_path place = { .up = at };
	size_t i;

	for (i = 0; i < record->nfields; i++) {
		place.key = record->fields[i].key.name;
		compare_fields(c, &record->fields[i], &place, a, b);
	}
}

size_t kvp_geometry_compare(const struct kvp_geometry *a,
			    const struct kvp_geometry *b,
			    kvp_geometry_differ *differ, void *cookie)
{
	struct compare c = { differ, cookie, 0, a, b };

	compare_records(&c, &geometry_record, NULL, a, b);
	return c.count;
}
