/*
 * The kinds of a geometry, read off its numbers.
 */
#include "fake/shape.h"

const char *const feature_names[FEATURES] = {
	"mixed bpp", "bpp < tile", "bpp = tile", "bpp multiple of tile",
	"bpp unrelated", "bpp >> tile", "unaliased plane", "padded rows",
	"rows < granule", "stride multiple of g", "stride = g",
	"2-granule tiles", "3-granule tiles", "no rows",
	"no snapshot rows", "no execution rows", "one plane", "one page",
	"D cuts a row", "D swallows a row", "two nodes", "import lists",
	"readwrite", "static", "headroom", "recorded layout",
	"over the limit", "rows do not fit", "crossing chunk",
	"row saves", "span saves",
	"recorded, off the bound",
};

#define SET(feature, condition) \
	(f |= (uint64_t)((condition) ? 1 : 0) << (feature))

static uint64_t shape_of_planes(const struct kvp_geometry *g)
{
	const uint64_t tile = g->granularity * g->tile_granules;
	uint64_t f = 0, bpp;
	size_t i;

	for (i = 0; i < g->nplanes; i++) {
		bpp = g->planes[i].bytes_per_page;
		SET(MIXED_BPP, bpp != g->planes[0].bytes_per_page);
		SET(BPP_SMALLER, bpp < tile);
		SET(BPP_EQUAL, bpp == tile);
		SET(BPP_MULTIPLE, bpp > tile && bpp % tile == 0);
		SET(BPP_UNRELATED, bpp > tile && bpp % tile);
		SET(BPP_HUGE, bpp > 4 * tile);
		SET(UNALIASED, !g->planes[i].alias);
	}
	return f;
}

static uint64_t shape_of_rows(const struct kvp_geometry *g)
{
	const uint64_t rows = g->snapshot_rows + g->execution_rows;
	const uint64_t exec = g->execution_rows * g->row_stride;
	const uint64_t d = (exec + g->granularity - 1) / g->granularity *
			   g->granularity;
	uint64_t f = 0;

	SET(PADDED, g->row_stride > g->row_bytes);
	SET(SMALL_ROWS, rows && g->row_stride < g->granularity);
	SET(ALIGNED_ROWS, rows && g->row_stride % g->granularity == 0);
	SET(GRANULE_ROWS, g->row_stride == g->granularity);
	SET(NO_ROWS, !rows);
	SET(NO_SNAPSHOTS, rows && !g->snapshot_rows);
	SET(NO_EXECUTION, rows && !g->execution_rows);
	SET(D_CUTS_ROW, g->snapshot_rows && d > exec);
	SET(D_SWALLOWS_ROW, g->snapshot_rows && d >= exec + g->row_bytes);
	return f;
}

uint64_t shape_of(const struct kvp_geometry *g)
{
	uint64_t f = shape_of_planes(g) | shape_of_rows(g);
	size_t i;

	SET(TILE_2, g->tile_granules == 2);
	SET(TILE_3, g->tile_granules == 3);
	SET(ONE_PLANE, g->nplanes == 1);
	SET(ONE_PAGE, g->pages == 1);
	SET(NODES, g->ranks > g->ranks_per_node);
	SET(READWRITE, g->importer_mode == KVP_IMPORT_READWRITE);
	SET(STATICS, g->nstatics > 0);
	SET(HEADROOM, g->has_headroom);
	SET(RECORDED, g->base_chunks);
	for (i = 0; i < g->ranks; i++)
		SET(LISTS, g->imports[i].count != g->dcp_group_size);
	return f;
}
