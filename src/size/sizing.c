/*
 * Sizing for one memory limit, and planning what came out.
 */
#include "size/sizing.h"

#include <kvplan/limits.h>

#include "base/u64.h"

/* If mode row does not fit, find the rows and the tiles that would. */
static void find_cures(struct sizing *s, const struct kvp_geometry *sized,
		       const struct kvp_plan *row)
{
	struct search f = { .geometry = sized, .available = s->fit.limit };

	s->rows_in_row_mode = s->rows_in_span_mode = KVP_UNSTATED;
	if (s->fit.entries <= s->fit.limit ||
	    row->summary.base_chunks > CURE_CHUNKS_MAX)
		return;
	s->rows_in_row_mode = search_rows(&f, KVP_MERGE_ROW);
	s->rows_in_span_mode = search_rows(&f, KVP_MERGE_SPAN);
	f.need = 0;
	if (search_tiles(&f, KVP_MERGE_ROW))
		s->tile_granules = f.tile_granules;
}

static int measure_row_mode(struct sizing *s, const struct kvp_geometry *sized,
			    const struct kvp_plan *row,
			    const struct sizing_wish *wish,
			    struct kvp_error *err)
{
	int code = KVP_OK;

	if (wish->length)
		code = kvp_size_concurrency(&s->concurrency, row,
					    wish->length, err);
	if (!code)
		code = plan_fit_find(&s->fit, row, err);
	if (!code)
		find_cures(s, sized, row);
	return code;
}

/* Plan the sized geometry in every mode and count the table entries. */
static int plan_sized(struct sizing *s, const struct kvp_geometry *sized,
		      const struct sizing_wish *wish, struct kvp_error *err)
{
	struct kvp_plan plan = { .nchunks = 0 };
	enum kvp_merge merge;
	int code = KVP_OK;

	for (merge = KVP_MERGE_NONE; !code && merge <= KVP_MERGE_SPAN;
	     merge++) {
		code = kvp_plan_make(&plan, sized, merge, err);
		if (!code)
			s->entries[merge] = search_fullest_node(&plan, NULL);
		if (!code && merge == KVP_MERGE_ROW)
			code = measure_row_mode(s, sized, &plan, wish, err);
		kvp_plan_release(&plan);
	}
	return code;
}

static void find_lacks(struct sizing *s, const struct kvp_geometry *g,
		       const struct sizing_wish *wish)
{
	const struct kvp_size *z = &s->size;

	s->lacks_rows = wish->size.snapshots != KVP_UNSTATED &&
			z->snapshot_rows < wish->size.snapshots;
	/* Without row_bytes there can be no row. */
	s->lacks_all_rows = s->lacks_rows && g->row_bytes &&
			    !z->snapshot_rows;
	s->lacks_driver_bytes = z->bounded && z->left_bytes < KVP_DRIVER_BYTES;
	s->lacks_sequence = wish->length && !s->concurrency.sequences;
}

int sizing_make(struct sizing *s, struct kvp_geometry *sized,
		const struct kvp_geometry *g, const struct sizing_wish *wish,
		struct kvp_error *err)
{
	struct kvp_size_wish size = wish->size;
	int code;

	*sized = (struct kvp_geometry){ 0 };
	size.limit = s->memory_limit;
	if (wish->tokens)
		size.pages = u64_ceil_div(wish->tokens, g->page_tokens *
							g->dcp_group_size);
	code = kvp_size_find(&s->size, g, &size, err);
	if (!code)
		code = kvp_geometry_copy(sized, g, err);
	if (!code) {
		kvp_size_apply(&s->size, &wish->override, sized);
		s->headroom = sized->headroom;
		code = plan_sized(s, sized, wish, err);
	}
	s->fits = !code;
	if (code) {
		s->error = *err;
		kvp_geometry_release(sized);
	} else {
		find_lacks(s, g, wish);
	}
	return code;
}

bool sizing_falls_short(const struct sizing *s)
{
	return s->fits && (s->lacks_sequence || s->lacks_all_rows);
}

bool sizing_find_mode(const struct sizing *s, enum kvp_merge *merge)
{
	for (*merge = KVP_MERGE_NONE; *merge <= KVP_MERGE_SPAN; ++*merge)
		if (s->entries[*merge] <= s->fit.limit)
			return true;
	return false;
}
