/*
 * Writing the normalized geometry: keys in the order of the format's table,
 * one plane, one rank, one recorded chunk to a line.
 */
#include "base/error.h"
#include "model/model.h"

static void member(struct strbuf *b, const char *key)
{
	strbuf_str(b, ",\n\"");
	strbuf_str(b, key);
	strbuf_str(b, "\":");
}

static void number(struct strbuf *b, const char *key, uint64_t value)
{
	member(b, key);
	strbuf_u64(b, value);
}

static void write_planes(struct strbuf *b, const struct kvp_geometry *g)
{
	const struct kvp_plane *plane = g->planes;
	size_t i;

	member(b, "planes");
	strbuf_str(b, "[");
	for (i = 0; i < g->nplanes; i++, plane++) {
		strbuf_str(b, i ? ",\n{\"name\":" : "\n{\"name\":");
		strbuf_json_string(b, plane->name);
		strbuf_str(b, ",\"bytes_per_page\":");
		strbuf_u64(b, plane->bytes_per_page);
		strbuf_str(b, plane->alias ? ",\"alias\":true" :
					     ",\"alias\":false");
		if (plane->has_address) {
			strbuf_str(b, ",\"address\":");
			strbuf_u64(b, plane->address);
		}
		strbuf_str(b, "}");
	}
	strbuf_str(b, "\n]");
}

static void write_lists(struct strbuf *b, const struct kvp_ranks *lists,
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

static void write_access(struct strbuf *b, const struct kvp_geometry *g)
{
	member(b, "access");
	strbuf_str(b, "{\n\"declared_readers\":");
	write_lists(b, g->declared_readers, g->ranks);
	strbuf_str(b, ",\n\"imports\":");
	write_lists(b, g->imports, g->ranks);
	strbuf_str(b, ",\n\"importer_mode\":");
	strbuf_json_string(b, importer_mode_names[g->importer_mode]);
	strbuf_str(b, "\n}");
}

static void write_statics(struct strbuf *b, const struct kvp_geometry *g)
{
	const struct kvp_static *item = g->statics;
	size_t i;

	member(b, "static");
	strbuf_str(b, "[");
	for (i = 0; i < g->nstatics; i++, item++) {
		strbuf_str(b, i ? ",\n{\"name\":" : "\n{\"name\":");
		strbuf_json_string(b, item->name);
		strbuf_str(b, ",\"bytes\":");
		strbuf_u64(b, item->bytes);
		strbuf_str(b, ",\"importers\":");
		strbuf_json_string(b,
			static_importers_names[item->importers]);
		strbuf_str(b, "}");
	}
	strbuf_str(b, g->nstatics ? "\n]" : "]");
}

int geometry_check_enums(const struct kvp_geometry *g, struct kvp_error *err)
{
	size_t i;

	if ((unsigned)g->importer_mode > KVP_IMPORT_READWRITE)
		return kvp_error_set(err, KVP_EINPUT,
			"importer_mode is %d, which is no mode",
			(int)g->importer_mode);
	for (i = 0; i < g->nstatics; i++)
		if ((unsigned)g->statics[i].importers > KVP_STATIC_ALL)
			return kvp_error_set(err, KVP_EINPUT,
				"importers of static item %zu are %d, which "
				"are none", i, (int)g->statics[i].importers);
	return KVP_OK;
}

void geometry_write_to(struct strbuf *b, const struct kvp_geometry *g)
{
	strbuf_str(b, "{\n\"format\":\"" KVP_GEOMETRY_FORMAT "\"");
	member(b, "name");
	strbuf_json_string(b, g->name);
	number(b, "granularity", g->granularity);
	number(b, "tile_granules", g->tile_granules);
	if (g->pages)
		number(b, "pages", g->pages);
	number(b, "page_tokens", g->page_tokens);
	if (g->snapshot_rows != KVP_UNSTATED)
		number(b, "snapshot_rows", g->snapshot_rows);
	number(b, "execution_rows", g->execution_rows);
	number(b, "row_bytes", g->row_bytes);
	number(b, "row_stride", g->row_stride);
	number(b, "ranks", g->ranks);
	number(b, "ranks_per_node", g->ranks_per_node);
	number(b, "dcp_group_size", g->dcp_group_size);
	write_planes(b, g);
	write_access(b, g);
	write_statics(b, g);
	number(b, "static_entries", g->static_entries);
	number(b, "entry_limit", g->entry_limit);
	number(b, "entry_reserve", g->entry_reserve);
	number(b, "page_overhead_bytes", g->page_overhead_bytes);
	if (g->has_arena_address)
		number(b, "arena_address", g->arena_address);
	if (g->has_headroom) {
		member(b, "headroom");
		headroom_write(b, &g->headroom);
	}
	if (g->base_chunks) {
		member(b, "base_chunks");
		chunks_write(b, g->base_chunks, g->nbase_chunks);
	}
	strbuf_str(b, "\n}");
}

int kvp_geometry_write(const struct kvp_geometry *g, char **text, size_t *len,
		       struct kvp_error *err)
{
	struct strbuf b = { 0 };
	int code = geometry_check_enums(g, err);

	*text = NULL;
	if (code)
		return code;
	geometry_write_to(&b, g);
	strbuf_str(&b, "\n");
	return strbuf_detach(&b, text, len, err);
}
