/*
 * What would fit the table where a sizing does not: fewer snapshot rows, or
 * larger tiles.  Found by planning; entries fall with either, but for a
 * little.
 */
#include <stdio.h>

#include "base/u64.h"
#include "cli/size.h"

#define N(value) out_number(value).text

uint64_t size_entries(const struct kvp_plan *plan)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < plan->summary.nper_node; i++)
		most = u64_max(most, plan->summary.per_node[i]);
	return most;
}

/* Does it fit with so many rows and such tiles?  No where it has no plan. */
static bool fits(const struct kvp_geometry *sized, uint64_t rows,
		 uint64_t tile_granules, enum kvp_merge merge)
{
	struct kvp_geometry g = *sized;
	struct kvp_plan plan = { 0 };
	bool fit;

	g.snapshot_rows = rows;
	g.tile_granules = tile_granules;
	if (!rows && !g.execution_rows)
		g.row_bytes = g.row_stride = 0;
	fit = !kvp_plan_make(&plan, &g, merge, NULL) &&
	      size_entries(&plan) <= plan.summary.limit;
	kvp_plan_release(&plan);
	return fit;
}

/* The most rows that fit in a mode; KVP_UNSTATED: not even none do. */
static uint64_t most_rows(const struct kvp_geometry *sized,
			  enum kvp_merge merge)
{
	uint64_t low = 0, high = sized->snapshot_rows, mid;

	if (!fits(sized, 0, sized->tile_granules, merge))
		return KVP_UNSTATED;
	while (low < high) {
		mid = low + (high - low + 1) / 2;
		if (fits(sized, mid, sized->tile_granules, merge))
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

static uint64_t least_tile(const struct kvp_geometry *sized)
{
	uint64_t tile = sized->tile_granules;

	while (tile <= CURE_TILE_MAX / 2) {
		tile *= 2;
		if (fits(sized, sized->snapshot_rows, tile, KVP_MERGE_ROW))
			return tile;
	}
	return 0;
}

void size_cure(const struct kvp_geometry *sized, const struct kvp_plan *row)
{
	uint64_t rows, span, tile;

	if (size_entries(row) <= row->summary.limit ||
	    row->summary.base_chunks > CURE_CHUNKS_MAX)
		return;
	rows = most_rows(sized, KVP_MERGE_ROW);
	span = most_rows(sized, KVP_MERGE_SPAN);
	tile = least_tile(sized);
	if (rows != KVP_UNSTATED)
		fprintf(stderr, "kvplan: note: with --snapshots=%llu mode row "
			"fits, with --snapshots=%llu mode span\n",
			(unsigned long long)rows, (unsigned long long)span);
	if (tile)
		fprintf(stderr, "kvplan: note: with --tile-granules=%llu mode "
			"row fits as well; a row then conflicts with more "
			"pages, which kvplan plan tells\n",
			(unsigned long long)tile);
}
