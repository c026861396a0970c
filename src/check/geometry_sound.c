/*
 * Is a plan's geometry sound?  One that was read is.  One that a program put
 * together, or changed, may have ranks, sizes and groups that every rule
 * would stumble over; it is refused before the first rule runs.
 */
#include <inttypes.h>

#include "base/error.h"
#include "base/u64.h"
#include "check/check.h"

static int not_sound(const char *key, uint64_t value, struct kvp_error *err)
{
	return kvp_error_set(err, KVP_EINPUT,
		"the plan's geometry is none that can be read: %s is %" PRIu64,
		key, value);
}

/* Beyond what a document can state, sums of two could wrap around. */
static int judge_numbers(const struct kvp_geometry *g, struct kvp_error *err)
{
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {
		{ "granularity", g->granularity },
		{ "tile_granules", g->tile_granules },
		{ "pages", g->pages },
		{ "page_tokens", g->page_tokens },
		{ "row_bytes", g->row_bytes },
		{ "row_stride", g->row_stride },
		{ "static_entries", g->static_entries },
		{ "entry_limit", g->entry_limit },
	};
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i].value > KVP_NUMBER_MAX)
			return not_sound(numbers[i].key, numbers[i].value,
					 err);
	for (i = 0; i < g->nplanes; i++)
		if (g->planes[i].bytes_per_page > KVP_NUMBER_MAX)
			return not_sound("bytes_per_page",
					 g->planes[i].bytes_per_page, err);
	for (i = 0; i < g->nstatics; i++)
		if (g->statics[i].bytes > KVP_NUMBER_MAX)
			return not_sound("bytes of static storage",
					 g->statics[i].bytes, err);
	return KVP_OK;
}

static int judge_sizes(const struct kvp_geometry *g, struct kvp_error *err)
{
	size_t i;

	if (g->granularity < KVP_GRANULARITY_MIN ||
	    g->granularity & (g->granularity - 1))
		return not_sound("granularity", g->granularity, err);
	if (!g->tile_granules)
		return not_sound("tile_granules", g->tile_granules, err);
	if (!g->pages)
		return not_sound("pages", g->pages, err);
	if (!g->page_tokens)
		return not_sound("page_tokens", g->page_tokens, err);
	if (!g->nplanes)
		return not_sound("the number of planes", g->nplanes, err);
	for (i = 0; i < g->nplanes; i++)
		if (!g->planes[i].bytes_per_page)
			return not_sound("bytes_per_page", 0, err);
	if (g->row_stride < g->row_bytes)
		return not_sound("row_stride", g->row_stride, err);
	if (g->execution_rows > KVP_ROWS_MAX)
		return not_sound("execution_rows", g->execution_rows, err);
	if (g->snapshot_rows > KVP_ROWS_MAX)
		return not_sound("snapshot_rows", g->snapshot_rows, err);
	if (!g->row_bytes && g->execution_rows + g->snapshot_rows)
		return not_sound("row_bytes", g->row_bytes, err);
	if (g->entry_reserve > g->entry_limit)
		return not_sound("entry_reserve", g->entry_reserve, err);
	return KVP_OK;
}

static int judge_ranks(const struct kvp_geometry *g, struct kvp_error *err)
{
	uint64_t rank;
	size_t i;

	if (!g->ranks || g->ranks > KVP_RANKS_MAX)
		return not_sound("ranks", g->ranks, err);
	if (!g->ranks_per_node || g->ranks % g->ranks_per_node)
		return not_sound("ranks_per_node", g->ranks_per_node, err);
	if (!g->dcp_group_size || g->ranks % g->dcp_group_size)
		return not_sound("dcp_group_size", g->dcp_group_size, err);
	for (rank = 0; rank < g->ranks; rank++)
		for (i = 0; i < g->imports[rank].count; i++)
			if (g->imports[rank].rank[i] >= g->ranks)
				return not_sound("a rank in imports",
					g->imports[rank].rank[i], err);
	return KVP_OK;
}

int check_geometry_sound(const struct kvp_plan *plan, struct kvp_error *err)
{
	int rc;

	if ((unsigned)plan->merge > KVP_MERGE_SPAN)
		return kvp_error_set(err, KVP_EINPUT,
				     "the plan's merge is %d, which is no mode",
				     (int)plan->merge);
	rc = judge_numbers(&plan->geometry, err);
	if (!rc)
		rc = judge_sizes(&plan->geometry, err);
	return rc ? rc : judge_ranks(&plan->geometry, err);
}
