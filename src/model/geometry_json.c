/*
 * Reading a geometry: types and ranges key by key, defaults, expansion.
 * What follows from several keys is checked in geometry_check.c.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/geometry.h>

#include "base/error.h"
#include "base/u64.h"
#include "model/model.h"

enum key {
	FORMAT, NAME, GRANULARITY, TILE_GRANULES, PAGES, PAGE_TOKENS,
	SNAPSHOT_ROWS, EXECUTION_ROWS, ROW_BYTES, ROW_STRIDE, RANKS,
	RANKS_PER_NODE, DCP_GROUP_SIZE, PLANES, ACCESS, STATIC, STATIC_ENTRIES,
	ENTRY_LIMIT, ENTRY_RESERVE, PAGE_OVERHEAD_BYTES, ARENA_ADDRESS,
	HEADROOM, BASE_CHUNKS, KEYS
};

static const struct json_field keys[KEYS] = {
	[FORMAT] = { "format", true },
	[NAME] = { "name", true },
	[GRANULARITY] = { "granularity", false },
	[TILE_GRANULES] = { "tile_granules", false },
	[PAGES] = { "pages", false },	/* see sized() */
	[PAGE_TOKENS] = { "page_tokens", true },
	[SNAPSHOT_ROWS] = { "snapshot_rows", false },
	[EXECUTION_ROWS] = { "execution_rows", true },
	[ROW_BYTES] = { "row_bytes", false },
	[ROW_STRIDE] = { "row_stride", false },
	[RANKS] = { "ranks", true },
	[RANKS_PER_NODE] = { "ranks_per_node", false },
	[DCP_GROUP_SIZE] = { "dcp_group_size", true },
	[PLANES] = { "planes", true },
	[ACCESS] = { "access", false },
	[STATIC] = { "static", false },
	[STATIC_ENTRIES] = { "static_entries", false },
	[ENTRY_LIMIT] = { "entry_limit", false },
	[ENTRY_RESERVE] = { "entry_reserve", false },
	[PAGE_OVERHEAD_BYTES] = { "page_overhead_bytes", false },
	[ARENA_ADDRESS] = { "arena_address", false },
	[HEADROOM] = { "headroom", false },
	[BASE_CHUNKS] = { "base_chunks", false },
};

const char *const importer_mode_names[2] = { "read", "readwrite" };
const char *const static_importers_names[3] = { "none", "group", "all" };

/* A number with a default; `bytes` allows units. */
static int number(const struct json_at *at, bool bytes, uint64_t low,
		  uint64_t high, uint64_t fallback, uint64_t *out,
		  struct kvp_error *err)
{
	*out = fallback;
	if (!at->p)
		return KVP_OK;
	return bytes ? json_bytes(at, low, out, err)
		     : json_u64(at, low, high, out, err);
}

/* A number that sizing computes; without `unsized` it has to be there. */
static int sized(const struct json_at *at, bool unsized, uint64_t low,
		 uint64_t high, uint64_t unstated, uint64_t *out,
		 struct kvp_error *err)
{
	if (at->p || unsized)
		return number(at, false, low, high, unstated, out, err);
	/* In a plan it is too late to compute it. */
	return json_fail(at, err, KVP_EINPUT, at->up->up ? "missing; this key "
			 "is required" : "missing; state it, or let kvplan "
			 "size compute it");
}

static int read_counts(struct kvp_geometry *g, const struct json_at *v,
		       bool unsized, struct kvp_error *err)
{
	const uint64_t max = KVP_NUMBER_MAX;
	int code = json_string(&v[NAME], KVP_NAME_MAX, &g->name, err);

	if (!code)
		code = number(&v[GRANULARITY], true, KVP_GRANULARITY_MIN, max,
			      2 << 20, &g->granularity, err);
	if (!code && (g->granularity & (g->granularity - 1)))
		return json_fail(&v[GRANULARITY], err, KVP_EINPUT,
			"is %llu, must be a power of two such as 2097152",
			(unsigned long long)g->granularity);
	if (!code)
		code = number(&v[TILE_GRANULES], false, 1, max, 1,
			      &g->tile_granules, err);
	if (!code)
		code = sized(&v[PAGES], unsized, 1, max, 0, &g->pages, err);
	if (!code)
		code = json_u64(&v[PAGE_TOKENS], 1, max, &g->page_tokens, err);
	if (!code)
		code = sized(&v[SNAPSHOT_ROWS], unsized, 0, KVP_ROWS_MAX, 0,
			     &g->snapshot_rows, err);
	if (!code)
		code = json_u64(&v[EXECUTION_ROWS], 0, KVP_ROWS_MAX,
				&g->execution_rows, err);
	return code;
}

static int read_rows(struct kvp_geometry *g, const struct json_at *v,
		     bool unsized, struct kvp_error *err)
{
	bool rows = g->snapshot_rows || g->execution_rows;
	int code;

	if (rows && !v[ROW_BYTES].p)
		return json_fail(&v[ROW_BYTES], err, KVP_EINPUT,
			"missing; there are %llu rows, say how many bytes "
			"each has", (unsigned long long)
			(g->snapshot_rows + g->execution_rows));
	code = number(&v[ROW_BYTES], true, rows, 0, 0, &g->row_bytes, err);
	if (!code)
		code = number(&v[ROW_STRIDE], true, 0, 0, g->row_bytes,
			      &g->row_stride, err);
	if (code)
		return code;
	if (g->row_stride < g->row_bytes)
		return json_fail(&v[ROW_STRIDE], err, KVP_EINPUT,
			"is %llu, must be at least row_bytes, %llu",
			(unsigned long long)g->row_stride,
			(unsigned long long)g->row_bytes);
	if (!rows && !unsized)
		g->row_bytes = g->row_stride = 0;
	return KVP_OK;
}

/* A number that has to divide `ranks`. */
static int divisor(const struct json_at *at, uint64_t ranks, uint64_t value,
		   struct kvp_error *err)
{
	if (ranks % value == 0)
		return KVP_OK;
	return json_fail(at, err, KVP_EINPUT,
		"is %llu, must divide ranks, %llu",
		(unsigned long long)value, (unsigned long long)ranks);
}

static int read_ranks(struct kvp_geometry *g, const struct json_at *v,
		      struct kvp_error *err)
{
	int code = json_u64(&v[RANKS], 1, KVP_RANKS_MAX, &g->ranks, err);

	if (!code)
		code = number(&v[RANKS_PER_NODE], false, 1, KVP_RANKS_MAX,
			      g->ranks, &g->ranks_per_node, err);
	if (!code)
		code = divisor(&v[RANKS_PER_NODE], g->ranks,
			       g->ranks_per_node, err);
	if (!code)
		code = json_u64(&v[DCP_GROUP_SIZE], 1, KVP_RANKS_MAX,
				&g->dcp_group_size, err);
	if (!code)
		code = divisor(&v[DCP_GROUP_SIZE], g->ranks,
			       g->dcp_group_size, err);
	return code;
}

static int read_table(struct kvp_geometry *g, const struct json_at *v,
		      struct kvp_error *err)
{
	const uint64_t max = KVP_ENTRIES_MAX;
	uint64_t reserve;
	int code = number(&v[STATIC_ENTRIES], false, 0, max, 0,
			  &g->static_entries, err);

	if (!code)
		code = number(&v[ENTRY_LIMIT], false, 0, max, 524288,
			      &g->entry_limit, err);
	/* The default reserve may not exceed a tiny table. */
	reserve = u64_min(4096, g->entry_limit);
	if (!code)
		code = number(&v[ENTRY_RESERVE], false, 0, max, reserve,
			      &g->entry_reserve, err);
	if (!code && g->entry_reserve > g->entry_limit)
		return json_fail(&v[ENTRY_RESERVE], err, KVP_EINPUT,
			"is %llu, must be at most entry_limit, %llu",
			(unsigned long long)g->entry_reserve,
			(unsigned long long)g->entry_limit);
	if (!code)
		code = number(&v[PAGE_OVERHEAD_BYTES], true, 0, 0, 0,
			      &g->page_overhead_bytes, err);
	return code;
}

static int read_static_item(struct kvp_static *item, const struct json_at *at,
			    struct kvp_error *err)
{
	enum { S_NAME, S_BYTES, S_IMPORTERS, S_KEYS };
	static const struct json_field fields[S_KEYS] = {
		{ "name", true }, { "bytes", true }, { "importers", true },
	};
	struct json_at v[S_KEYS];
	size_t which = 0;
	int code = json_object(at, fields, S_KEYS, v, err);

	if (!code)
		code = json_string(&v[S_NAME], KVP_NAME_MAX, &item->name, err);
	if (!code)
		code = json_bytes(&v[S_BYTES], 1, &item->bytes, err);
	if (!code)
		code = json_choice(&v[S_IMPORTERS], static_importers_names, 3,
				   &which, err);
	item->importers = (enum kvp_static_importers)which;
	return code;
}

static int read_statics(struct kvp_geometry *g, const struct json_at *at,
			struct kvp_error *err)
{
	struct json_list list;
	struct json_at element;
	size_t count;
	int code;

	if (!at->p)
		return KVP_OK;
	code = json_list_count(at, KVP_STATICS_MAX, &count, err);
	if (code)
		return code;
	g->statics = calloc(count + 1, sizeof(*g->statics));
	if (!g->statics)
		return kvp_error_nomem(err);
	code = json_list_begin(&list, at, err);
	while (!code && json_list_next(&list, &element))
		code = read_static_item(&g->statics[g->nstatics++], &element,
					err);
	return code;
}

static int read_recorded(struct kvp_geometry *g, const struct json_at *v,
			 struct kvp_error *err)
{
	int code = KVP_OK;

	if (v[ARENA_ADDRESS].p) {
		g->has_arena_address = true;
		code = json_bytes(&v[ARENA_ADDRESS], 1, &g->arena_address,
				  err);
	}
	if (!code && v[HEADROOM].p) {
		g->has_headroom = true;
		code = headroom_read(&g->headroom, &v[HEADROOM], err);
	}
	if (!code && v[BASE_CHUNKS].p)
		code = chunks_read(&g->base_chunks, &g->nbase_chunks,
				   &v[BASE_CHUNKS], err);
	return code;
}

/* A recorded layout covers the pages and rows it was recorded with. */
static int check_unstated(const struct json_at *v, struct kvp_error *err)
{
	if (!v[BASE_CHUNKS].p || (v[PAGES].p && v[SNAPSHOT_ROWS].p))
		return KVP_OK;
	return json_fail(&v[BASE_CHUNKS], err, KVP_EINPUT,
		"needs the pages and snapshot_rows it was recorded with; "
		"state them or remove it");
}

int geometry_read_at(struct kvp_geometry *g, const struct json_at *at,
		     bool unsized, struct kvp_error *err)
{
	struct geometry_places places = { .root = *at };
	struct json_at v[KEYS];
	int code = document_check(at, KVP_GEOMETRY_FORMAT, err);

	*g = (struct kvp_geometry){ 0 };
	if (!code)
		code = json_object(at, keys, KEYS, v, err);
	if (!code)
		code = read_counts(g, v, unsized, err);
	if (!code)
		code = read_rows(g, v, unsized, err);
	if (!code)
		code = read_ranks(g, v, err);
	if (!code)
		code = read_table(g, v, err);
	if (!code)
		code = planes_read(g, &v[PLANES], err);
	if (!code)
		code = access_read(g, &v[ACCESS], &places.imports, err);
	if (!code)
		code = read_statics(g, &v[STATIC], err);
	if (!code)
		code = read_recorded(g, v, err);
	if (!code)
		code = check_unstated(v, err);
	if (!code) {
		places.planes = v[PLANES];
		places.group_size = v[DCP_GROUP_SIZE];
		places.rows = v[v[ROW_STRIDE].p ? ROW_STRIDE : ROW_BYTES];
		places.base_chunks = v[BASE_CHUNKS];
		places.arena_address = v[ARENA_ADDRESS];
		places.statics = v[STATIC];
		code = geometry_check(g, &places, err);
	}
	if (!code && !v[SNAPSHOT_ROWS].p)
		g->snapshot_rows = KVP_UNSTATED;
	if (code)
		kvp_geometry_release(g);
	return code;
}

static int read_text(struct kvp_geometry *g, bool unsized, const char *source,
		     const char *text, size_t len, struct kvp_error *err)
{
	struct json_text in;
	struct json_at root;
	int code;

	*g = (struct kvp_geometry){ 0 };
	code = json_open(&in, &root, source, text, len, err);
	return code ? code : geometry_read_at(g, &root, unsized, err);
}

int kvp_geometry_read(struct kvp_geometry *g, const char *source,
		      const char *text, size_t len, struct kvp_error *err)
{
	return read_text(g, false, source, text, len, err);
}

int kvp_geometry_read_unsized(struct kvp_geometry *g, const char *source,
			      const char *text, size_t len,
			      struct kvp_error *err)
{
	return read_text(g, true, source, text, len, err);
}
