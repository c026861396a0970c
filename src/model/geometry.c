/*
 * Copying and releasing a geometry, by the table of its fields.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/fields.h"

/* --- releasing --- */

static void release_rank_lists(struct kvp_ranks *lists, uint64_t count)
{
	uint64_t i;

	for (i = 0; lists && i < count; i++)
		free(lists[i].rank);
	free(lists);
}

static void release_record(const struct record *record, void *of);

static void release_list(const struct field *f, void *of)
{
	char *list = field_pointer(f, of), *element = list;
	size_t count = list ? field_records(f, of) : 0, i;

	for (i = 0; i < count; i++, element += f->record->size)
		release_record(f->record, element);
	free(list);
}

/* Free the texts and lists of a record.  FIELD_RANKS are members of the
   geometry itself. */
static void release_record(const struct record *record, void *of)
{
	const struct field *f = record->fields, *end = f + record->nfields;

	for (; f < end; f++)
		if (f->kind == FIELD_TEXT)
			free(field_pointer(f, of));
		else if (f->kind == FIELD_LIST)
			release_list(f, of);
		else if (f->kind == FIELD_RANKS)
			release_rank_lists(field_pointer(f, of),
				((struct kvp_geometry *)of)->ranks);
		else if (f->kind == FIELD_OBJECT)
			release_record(f->record, (char *)of + f->at);
}

void kvp_geometry_release(struct kvp_geometry *g)
{
	release_record(&geometry_record, g);
	*g = (struct kvp_geometry){ 0 };
}

/* --- copying --- */

/* After a record was copied byte by byte, clear the pointers that still
   belong to the original. */
static void clear_owned(const struct record *record, void *of)
{
	const struct field *f = record->fields, *end = f + record->nfields;

	for (; f < end; f++) {
		if (f->kind == FIELD_LIST)
			*field_count(f, of) = 0;
		if (f->kind == FIELD_TEXT || f->kind == FIELD_LIST ||
		    f->kind == FIELD_RANKS)
			field_set_pointer(f, of, NULL);
		else if (f->kind == FIELD_OBJECT)
			clear_owned(f->record, (char *)of + f->at);
	}
}

static bool copy_rank_lists(struct kvp_ranks *to, const struct kvp_ranks *from,
			    uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++) {
		to[i].rank = malloc((from[i].count + 1) *
				    sizeof(*to[i].rank));
		if (!to[i].rank)
			return false;
		to[i].count = from[i].count;
		if (from[i].count)
			memcpy(to[i].rank, from[i].rank,
			       from[i].count * sizeof(*to[i].rank));
	}
	return true;
}

static bool copy_record(const struct record *record, void *to,
			const void *from);

static bool copy_list(const struct field *f, void *to, const void *from)
{
	const char *source = field_pointer(f, from);
	size_t count = field_records(f, from), size = f->record->size, i;
	char *element = source ? calloc(count + 1, size) : NULL;

	field_set_pointer(f, to, element);
	if (!element)
		return !source;
	for (i = 0; i < count; i++, element += size, source += size) {
		memcpy(element, source, size);
		clear_owned(f->record, element);
		++*field_count(f, to);
		if (!copy_record(f->record, element, source))
			return false;
	}
	return true;
}

static bool copy_field(const struct field *f, void *to, const void *from)
{
	uint64_t ranks;
	void *copy;

	if (f->kind == FIELD_LIST)
		return copy_list(f, to, from);
	if (f->kind == FIELD_OBJECT)
		return copy_record(f->record, (char *)to + f->at,
				   field_member(f, from));
	if (f->kind == FIELD_TEXT) {
		copy = strdup(field_pointer(f, from));
		field_set_pointer(f, to, copy);
		return copy;
	}
	if (f->kind == FIELD_RANKS) {
		ranks = ((const struct kvp_geometry *)from)->ranks;
		copy = calloc(ranks + 1, sizeof(struct kvp_ranks));
		field_set_pointer(f, to, copy);
		return copy && copy_rank_lists(copy, field_pointer(f, from),
					       ranks);
	}
	return true;
}

/* Copy what a record owns; on failure `to` owns what was copied so far. */
static bool copy_record(const struct record *record, void *to,
			const void *from)
{
	size_t i;

	for (i = 0; i < record->nfields; i++)
		if (!copy_field(&record->fields[i], to, from))
			return false;
	return true;
}

int kvp_geometry_copy(struct kvp_geometry *dst, const struct kvp_geometry *src,
		      struct kvp_error *err)
{
	*dst = *src;
	clear_owned(&geometry_record, dst);
	if (copy_record(&geometry_record, dst, src))
		return KVP_OK;
	kvp_geometry_release(dst);
	return kvp_error_nomem(err);
}

size_t kvp_geometry_sizeof(void)
{
	return sizeof(struct kvp_geometry);
}
