/*
 * The table of a geometry's fields, in the order of kvplan-geometry(5), and
 * access to a member through its row.
 */
#include <stddef.h>
#include <stdio.h>

#include "model/fields.h"

#define MEMBER(tag, member) offsetof(struct tag, member)
#define RECORD(fields, tag) \
	fields, sizeof(fields) / sizeof(*(fields)), sizeof(struct tag)

static const char *const importer_modes[] = { "read", "readwrite" };
static const char *const static_importers[] = { "none", "group", "all" };
static const char *const all_ranks = "all", *const group_ranks = "group";

static const struct field plane_fields[] = {
	{ .key = { "name", true }, .kind = FIELD_NAME,
	  .at = MEMBER(kvp_plane, name), .high = KVP_PLANE_NAME_MAX },
	{ .key = { "count", false }, .kind = FIELD_INPUT },
	{ .key = { "bytes_per_page", true }, .kind = FIELD_BYTES,
	  .at = MEMBER(kvp_plane, bytes_per_page),
	  .low = 1, .high = KVP_NUMBER_MAX },
	{ .key = { "alias", false }, .kind = FIELD_FLAG,
	  .at = MEMBER(kvp_plane, alias), .fallback = true },
	{ .key = { "address", false }, .kind = FIELD_BYTES,
	  .at = MEMBER(kvp_plane, address), .low = 1, .high = KVP_NUMBER_MAX,
	  .absence = FIELD_IF_FLAG, .has = MEMBER(kvp_plane, has_address),
	  .without = "absent" },
};

/* Members of the geometry itself. */
static const struct field access_fields[] = {
	{ .key = { "declared_readers", false }, .kind = FIELD_RANKS,
	  .at = MEMBER(kvp_geometry, declared_readers), .from = "ranks",
	  .words = &all_ranks },
	{ .key = { "imports", false }, .kind = FIELD_RANKS,
	  .at = MEMBER(kvp_geometry, imports), .from = "dcp_group_size",
	  .words = &group_ranks },
	{ .key = { "importer_mode", false }, .kind = FIELD_WORD,
	  .at = MEMBER(kvp_geometry, importer_mode), .words = importer_modes,
	  .high = KVP_IMPORT_READWRITE, .fallback = KVP_IMPORT_READ },
};

static const struct field static_fields[] = {
	{ .key = { "name", true }, .kind = FIELD_TEXT,
	  .at = MEMBER(kvp_static, name), .high = KVP_NAME_MAX },
	{ .key = { "bytes", true }, .kind = FIELD_BYTES,
	  .at = MEMBER(kvp_static, bytes), .low = 1, .high = KVP_NUMBER_MAX },
	{ .key = { "importers", true }, .kind = FIELD_WORD,
	  .at = MEMBER(kvp_static, importers), .words = static_importers,
	  .high = KVP_STATIC_ALL },
};

static const struct field headroom_fields[] = {
	{ .key = { "free_bytes", true }, .kind = FIELD_BYTES,
	  .at = MEMBER(kvp_headroom, free_bytes), .high = KVP_NUMBER_MAX },
	{ .key = { "cap_bytes", true }, .kind = FIELD_BYTES,
	  .at = MEMBER(kvp_headroom, cap_bytes), .high = KVP_NUMBER_MAX,
	  .absence = FIELD_IF_FLAG, .has = MEMBER(kvp_headroom, bounded),
	  .null = true, .without = "null" },
};

static const struct field chunk_fields[] = {
	{ .key = { "plane", true }, .kind = FIELD_INDEX,
	  .at = MEMBER(kvp_chunk, plane), .high = UINT32_MAX },
	{ .key = { "offset", true }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_chunk, offset), .high = KVP_NUMBER_MAX },
	{ .key = { "bytes", true }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_chunk, bytes), .high = KVP_NUMBER_MAX },
	{ .key = { "arena", true }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_chunk, arena), .high = KVP_NUMBER_MAX,
	  .absence = FIELD_UNLESS, .none = KVP_UNALIASED, .null = true,
	  .without = "18446744073709551615" },
};

static const struct field geometry_fields[] = {
	{ .key = { "format", true }, .kind = FIELD_FORMAT },
	{ .key = { "name", true }, .kind = FIELD_TEXT,
	  .at = MEMBER(kvp_geometry, name), .high = KVP_NAME_MAX },
	{ .key = { "granularity", false }, .kind = FIELD_BYTES,
	  .at = MEMBER(kvp_geometry, granularity), .low = KVP_GRANULARITY_MIN,
	  .high = KVP_NUMBER_MAX, .fallback = 2 << 20 },
	{ .key = { "tile_granules", false }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_geometry, tile_granules),
	  .low = 1, .high = KVP_NUMBER_MAX, .fallback = 1 },
	{ .key = { "pages", false }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_geometry, pages), .low = 1, .high = KVP_NUMBER_MAX,
	  .sized = true, .absence = FIELD_UNLESS, .none = 0,
	  .without = "unstated" },
	{ .key = { "page_tokens", true }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_geometry, page_tokens),
	  .low = 1, .high = KVP_NUMBER_MAX },
	{ .key = { "snapshot_rows", false }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_geometry, snapshot_rows), .high = KVP_ROWS_MAX,
	  .fallback = KVP_UNSTATED, .sized = true, .absence = FIELD_UNLESS,
	  .none = KVP_UNSTATED, .without = "unstated" },
	{ .key = { "execution_rows", true }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_geometry, execution_rows), .high = KVP_ROWS_MAX },
	{ .key = { "row_bytes", false }, .kind = FIELD_BYTES,
	  .at = MEMBER(kvp_geometry, row_bytes), .high = KVP_NUMBER_MAX,
	  .of_rows = true },
	{ .key = { "row_stride", false }, .kind = FIELD_BYTES,
	  .at = MEMBER(kvp_geometry, row_stride), .high = KVP_NUMBER_MAX,
	  .fallback = UINT64_MAX, .from = "row_bytes" },
	{ .key = { "ranks", true }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_geometry, ranks), .low = 1, .high = KVP_RANKS_MAX },
	{ .key = { "ranks_per_node", false }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_geometry, ranks_per_node),
	  .low = 1, .high = KVP_RANKS_MAX,
	  .fallback = UINT64_MAX, .from = "ranks" },
	{ .key = { "dcp_group_size", true }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_geometry, dcp_group_size),
	  .low = 1, .high = KVP_RANKS_MAX },
	{ .key = { "planes", true }, .kind = FIELD_LIST,
	  .at = MEMBER(kvp_geometry, planes),
	  .count = MEMBER(kvp_geometry, nplanes), .low = 1,
	  .high = KVP_CHUNKS_MAX, .record = &plane_record,
	  .read = planes_read },
	{ .key = { "access", false }, .kind = FIELD_OBJECT,
	  .record = &access_record },
	{ .key = { "static", false }, .kind = FIELD_LIST,
	  .at = MEMBER(kvp_geometry, statics),
	  .count = MEMBER(kvp_geometry, nstatics), .high = KVP_STATICS_MAX,
	  .record = &static_record },
	{ .key = { "static_entries", false }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_geometry, static_entries),
	  .high = KVP_ENTRIES_MAX },
	{ .key = { "entry_limit", false }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_geometry, entry_limit), .high = KVP_ENTRIES_MAX,
	  .fallback = 524288 },
	/* By default 4096, but not more than entry_limit. */
	{ .key = { "entry_reserve", false }, .kind = FIELD_COUNT,
	  .at = MEMBER(kvp_geometry, entry_reserve), .high = KVP_ENTRIES_MAX,
	  .fallback = 4096, .from = "entry_limit" },
	{ .key = { "page_overhead_bytes", false }, .kind = FIELD_BYTES,
	  .at = MEMBER(kvp_geometry, page_overhead_bytes),
	  .high = KVP_NUMBER_MAX },
	{ .key = { "arena_address", false }, .kind = FIELD_BYTES,
	  .at = MEMBER(kvp_geometry, arena_address),
	  .low = 1, .high = KVP_NUMBER_MAX, .absence = FIELD_IF_FLAG,
	  .has = MEMBER(kvp_geometry, has_arena_address),
	  .without = "absent" },
	{ .key = { "headroom", false }, .kind = FIELD_OBJECT,
	  .at = MEMBER(kvp_geometry, headroom), .absence = FIELD_IF_FLAG,
	  .has = MEMBER(kvp_geometry, has_headroom),
	  .record = &headroom_record },
	{ .key = { "base_chunks", false }, .kind = FIELD_LIST,
	  .at = MEMBER(kvp_geometry, base_chunks),
	  .count = MEMBER(kvp_geometry, nbase_chunks), .high = KVP_CHUNKS_MAX,
	  .absence = FIELD_IF_LIST, .record = &chunk_record },
};

const struct record plane_record = { RECORD(plane_fields, kvp_plane), false };
const struct record access_record = {
	RECORD(access_fields, kvp_geometry), true
};
const struct record static_record = {
	RECORD(static_fields, kvp_static), false
};
const struct record headroom_record = {
	RECORD(headroom_fields, kvp_headroom), false
};
const struct record chunk_record = { RECORD(chunk_fields, kvp_chunk), false };
const struct record geometry_record = {
	RECORD(geometry_fields, kvp_geometry), true
};

_Static_assert(sizeof(geometry_fields) / sizeof(*geometry_fields) <=
	       RECORD_FIELDS, "the largest record");

void field_path_write(const struct field_path *at, char *text, size_t size)
{
	size_t used;

	*text = '\0';
	if (!at)
		return;
	field_path_write(at->up, text, size);
	used = strlen(text);
	if (at->key)
		snprintf(text + used, size - used, "/%s", at->key);
	else
		snprintf(text + used, size - used, "/%zu", at->index);
}

const struct field *record_find(const struct record *record, const char *key)
{
	size_t i;

	for (i = 0; i < record->nfields; i++)
		if (!strcmp(record->fields[i].key.name, key))
			return &record->fields[i];
	return NULL;
}

_Static_assert(sizeof(enum kvp_importer_mode) == sizeof(unsigned) &&
	       sizeof(enum kvp_static_importers) == sizeof(unsigned),
	       "field_number() reads enums as unsigned");

const char *field_text(const struct field *f, const void *of)
{
	return f->kind == FIELD_NAME ? field_member(f, of) :
				       field_pointer(f, of);
}

const char *field_word(const struct field *f, const void *of)
{
	uint64_t value = field_number(f, of);

	return value <= f->high ? f->words[value] : "?";
}

bool name_is_plain(const char *name)
{
	return !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "abcdefghijklmnopqrstuvwxyz0123456789_-.")];
}
