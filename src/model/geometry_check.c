/*
 * What follows from several keys of a geometry together: products and sums
 * stay below 2^53, chunks stay countable, importers are declared, a
 * recorded layout covers, recorded addresses do not overlap.
 */
#include "base/error.h"
#include "base/u64.h"
#include "model/model.h"
#include "model/number.h"

static int too_large(const struct json_at *at, const char *what,
		     struct kvp_error *err)
{
	return json_fail(at, err, KVP_EINPUT,
		"%s is more than 9007199254740991 (2^53 - 1)", what);
}

static int check_planes(const struct kvp_geometry *g,
			const struct json_at *at, struct kvp_error *err)
{
	uint64_t bytes = 0, total = 0;
	size_t i;

	for (i = 0; i < g->nplanes; i++) {
		if (!number_mul(g->pages, g->planes[i].bytes_per_page, &bytes) ||
		    !u64_round_up(bytes, g->granularity, &bytes) ||
		    !number_add(total, bytes, &total))
			return json_fail(at, err, KVP_EINPUT,
				"plane %zu (%s): pages * bytes_per_page = "
				"%llu * %llu, summed over the planes, is more "
				"than 9007199254740991 (2^53 - 1)", i,
				g->planes[i].name,
				(unsigned long long)g->pages,
				(unsigned long long)
				g->planes[i].bytes_per_page);
	}
	return KVP_OK;
}

static int check_rows(const struct kvp_geometry *g,
		      const struct geometry_places *places,
		      struct kvp_error *err)
{
	uint64_t rows = g->execution_rows + g->snapshot_rows, bytes;

	if (rows > KVP_ROWS_MAX)
		return json_fail(&places->root, err, KVP_ELIMIT,
			"execution_rows + snapshot_rows = %llu, must be at "
			"most %llu", (unsigned long long)rows,
			(unsigned long long)KVP_ROWS_MAX);
	if (!number_mul(rows, g->row_stride, &bytes) ||
	    !u64_round_up(bytes, g->granularity, &bytes) ||
	    bytes > KVP_NUMBER_MAX)
		return too_large(&places->rows, "rows * row_stride", err);
	return KVP_OK;
}

static int check_products(const struct kvp_geometry *g,
			  const struct geometry_places *places,
			  struct kvp_error *err)
{
	const struct json_at *root = &places->root;
	uint64_t value, total = 0;
	size_t i;

	if (!number_mul(g->tile_granules, g->granularity, &value))
		return too_large(root, "tile_granules * granularity", err);
	if (!number_mul(g->pages, g->page_tokens, &value) ||
	    !number_mul(value, g->dcp_group_size, &value))
		return too_large(root, "pages * page_tokens * dcp_group_size",
				 err);
	if (!number_mul(g->pages, g->page_overhead_bytes, &value))
		return too_large(root, "pages * page_overhead_bytes", err);
	for (i = 0; i < g->nstatics; i++)
		if (!number_add(total, g->statics[i].bytes, &total))
			return too_large(&places->statics,
					 "the sum of all bytes", err);
	return KVP_OK;
}

/* Static storage is granted within a node as well. */
static int check_statics(const struct kvp_geometry *g,
			 const struct json_at *at, struct kvp_error *err)
{
	size_t i;

	for (i = 0; i < g->nstatics; i++)
		if (g->statics[i].importers == KVP_STATIC_GROUP &&
		    g->ranks_per_node % g->dcp_group_size)
			return json_fail(at, err, KVP_EINPUT,
				"item %zu is for the DCP group, but groups of "
				"%llu ranks do not fit nodes of %llu", i,
				(unsigned long long)g->dcp_group_size,
				(unsigned long long)g->ranks_per_node);
	return KVP_OK;
}

static int check_arena_address(const struct kvp_geometry *g,
			       const struct json_at *at,
			       struct kvp_error *err)
{
	if (g->arena_address % g->granularity == 0)
		return KVP_OK;
	return json_fail(at, err, KVP_EINPUT,
		"is %llu, must be a multiple of the granularity, %llu",
		(unsigned long long)g->arena_address,
		(unsigned long long)g->granularity);
}

int geometry_check(struct kvp_geometry *g,
		   const struct geometry_places *places,
		   struct kvp_error *err)
{
	int code = check_planes(g, &places->planes, err);

	if (!code)
		code = check_rows(g, places, err);
	if (!code)
		code = check_products(g, places, err);
	if (!code)
		code = check_statics(g, &places->statics, err);
	if (!code)
		code = access_check(g, places, err);
	if (!code)
		code = check_arena_address(g, &places->arena_address, err);
	if (!code && places->base_chunks.p)
		code = base_chunks_check(g, &places->base_chunks, err);
	return code ? code : addresses_check(g, places, err);
}
