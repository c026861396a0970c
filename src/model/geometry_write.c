/*
 * Writing the normalized geometry by its table of fields: keys in the order
 * of the format, one plane, one rank, one recorded chunk to a line.
 */
#include "base/error.h"
#include "model/model.h"

static void write_rank_lists(struct json_out *w, const char *key,
			     const struct kvp_ranks *lists, uint64_t count)
{
	uint64_t i;

	json_put_list(w, key, JSON_LINES);
	for (i = 0; i < count; i++)
		json_put_u32s(w, NULL, lists[i].rank, lists[i].count);
	json_put_end(w);
}

void records_write(struct json_out *w, const char *key,
		   const struct record *record, const void *list, size_t count)
{
	const char *element = list;
	size_t i;

	json_put_list(w, key, JSON_LINES);
	for (i = 0; i < count; i++, element += record->size)
		record_write(w, NULL, record, element);
	json_put_end(w);
}

static void write_field(struct json_out *w, const struct field *f,
			const void *of)
{
	const char *key = f->key.name;

	switch (f->kind) {
	case FIELD_FORMAT:
		json_put_text(w, key, KVP_GEOMETRY_FORMAT);
		break;
	case FIELD_INPUT:
		break;
	case FIELD_TEXT:
	case FIELD_NAME:
		json_put_text(w, key, field_text(f, of));
		break;
	case FIELD_COUNT:
	case FIELD_BYTES:
	case FIELD_INDEX:
		json_put_u64(w, key, field_number(f, of));
		break;
	case FIELD_FLAG:
		json_put_bool(w, key, field_number(f, of));
		break;
	case FIELD_WORD:
		json_put_text(w, key, field_word(f, of));
		break;
	case FIELD_OBJECT:
		record_write(w, key, f->record, field_member(f, of));
		break;
	case FIELD_LIST:
		records_write(w, key, f->record, field_pointer(f, of),
			      field_records(f, of));
		break;
	case FIELD_RANKS:	/* a member of the geometry itself */
		write_rank_lists(w, key, field_pointer(f, of),
				 ((const struct kvp_geometry *)of)->ranks);
		break;
	}
}

void record_write(struct json_out *w, const char *key,
		  const struct record *record, const void *of)
{
	const struct field *f = record->fields, *end = f + record->nfields;

	json_put_object(w, key, record->lines ? JSON_LINES : JSON_INLINE);
	for (; f < end; f++)
		if (field_has_value(f, of))
			write_field(w, f, of);
		else if (f->null)
			json_put_null(w, f->key.name);
	json_put_end(w);
}

int kvp_geometry_write(const struct kvp_geometry *g, char **text, size_t *len,
		       struct kvp_error *err)
{
	struct json_out w = { .spaced = false };
	int code = geometry_check_words(g, err);

	*text = NULL;
	if (code)
		return code;
	record_write(&w, NULL, &geometry_record, g);
	return strbuf_detach(&w.text, text, len, err);
}
