/*
 * Writing the normalized geometry by its table of fields: keys in the order
 * of the format, one plane, one rank, one recorded chunk to a line.  All
 * JSON of a geometry is written here.
 */
#include <stdio.h>

#include "base/error.h"
#include "model/model.h"

/* What stands ahead of a field's value: `,"key":`. */
struct head {
	char text[48];
	size_t len;
};

static void make_heads(struct head *heads, const struct record *record)
{
	const char *format = record->lines ? ",\n\"%s\":" : ",\"%s\":";
	size_t i;

	for (i = 0; i < record->nfields; i++)
		heads[i].len = (size_t)snprintf(heads[i].text,
			sizeof(heads[i].text), format,
			record->fields[i].key.name);
}

static void write_fields(struct strbuf *b, const struct record *record,
			 const struct head *heads, const void *of);

static void write_flag(struct strbuf *b, bool flag)
{
	strbuf_str(b, flag ? "true" : "false");
}

void ranks_write(struct strbuf *b, const struct kvp_ranks *list)
{
	size_t i;

	strbuf_str(b, "[");
	for (i = 0; i < list->count; i++) {
		if (i)
			strbuf_str(b, ",");
		strbuf_u64(b, list->rank[i]);
	}
	strbuf_str(b, "]");
}

static void write_rank_lists(struct strbuf *b, const struct kvp_ranks *lists,
			     uint64_t count)
{
	uint64_t i;

	strbuf_str(b, "[");
	for (i = 0; i < count; i++) {
		strbuf_str(b, i ? ",\n" : "\n");
		ranks_write(b, &lists[i]);
	}
	strbuf_str(b, "\n]");
}

void records_write(struct strbuf *b, const struct record *record,
		   const void *list, size_t count)
{
	struct head heads[RECORD_FIELDS];
	const char *element = list;
	size_t i;

	/* There may be millions. */
	make_heads(heads, record);
	strbuf_str(b, "[");
	for (i = 0; i < count; i++, element += record->size) {
		strbuf_str(b, i ? ",\n" : "\n");
		write_fields(b, record, heads, element);
	}
	strbuf_str(b, count ? "\n]" : "]");
}

static void write_value(struct strbuf *b, const struct field *f,
			const void *of)
{
	switch (f->kind) {
	case FIELD_FORMAT:
		strbuf_json_string(b, KVP_GEOMETRY_FORMAT);
		break;
	case FIELD_INPUT:
		break;
	case FIELD_TEXT:
	case FIELD_NAME:
		strbuf_json_string(b, field_text(f, of));
		break;
	case FIELD_COUNT:
	case FIELD_BYTES:
	case FIELD_INDEX:
		strbuf_u64(b, field_number(f, of));
		break;
	case FIELD_FLAG:
		write_flag(b, field_number(f, of));
		break;
	case FIELD_WORD:
		strbuf_json_string(b, field_word(f, of));
		break;
	case FIELD_OBJECT:
		record_write(b, f->record, field_member(f, of));
		break;
	case FIELD_LIST:
		records_write(b, f->record, field_pointer(f, of),
			      field_records(f, of));
		break;
	case FIELD_RANKS:	/* a member of the geometry itself */
		write_rank_lists(b, field_pointer(f, of),
				 ((const struct kvp_geometry *)of)->ranks);
		break;
	}
}

static void write_fields(struct strbuf *b, const struct record *record,
			 const struct head *heads, const void *of)
{
	const struct field *f = record->fields, *end = f + record->nfields;
	size_t cut = 1;		/* no comma ahead of the first */
	bool there;

	strbuf_str(b, "{");
	for (; f < end; f++, heads++) {
		there = field_is_there(f, of);
		if (f->kind == FIELD_INPUT || (!there && !f->null))
			continue;
		strbuf_add(b, heads->text + cut, heads->len - cut);
		if (there)
			write_value(b, f, of);
		else
			strbuf_str(b, "null");
		cut = 0;
	}
	strbuf_str(b, record->lines ? "\n}" : "}");
}

void record_write(struct strbuf *b, const struct record *record,
		  const void *of)
{
	struct head heads[RECORD_FIELDS];

	make_heads(heads, record);
	write_fields(b, record, heads, of);
}

int kvp_geometry_write(const struct kvp_geometry *g, char **text, size_t *len,
		       struct kvp_error *err)
{
	struct strbuf b = { 0 };
	int code = geometry_check_words(g, err);

	*text = NULL;
	if (code)
		return code;
	record_write(&b, &geometry_record, g);
	strbuf_str(&b, "\n");
	return strbuf_detach(&b, text, len, err);
}
