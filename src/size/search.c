/*
 * Searching for a plan that fits the table of mappings.
 */
#include "size/search.h"

#include "base/u64.h"

uint64_t search_fullest_node(const struct kvp_plan *plan, size_t *node)
{
	const struct kvp_summary *s = &plan->summary;
	size_t most = 0, i;

	for (i = 1; i < s->nper_node; i++)
		if (s->per_node[i] > s->per_node[most])
			most = i;
	if (node)
		*node = most;
	return s->per_node[most];
}

/* Plan in a mode with this many rows and these tiles; *fits: it fits. */
static int try_plan(struct search *s, uint64_t rows, uint64_t tile_granules,
		    enum kvp_merge merge, bool *fits, struct kvp_error *err)
{
	struct kvp_geometry g = *s->geometry;
	struct kvp_plan plan = { 0 };
	uint64_t need;
	int code;

	*fits = false;
	g.snapshot_rows = rows;
	g.tile_granules = tile_granules;
	code = kvp_plan_make(&plan, &g, merge, err);
	if (code)
		return code;
	need = s->entries ? s->entries(&plan, s->cookie) :
			    search_fullest_node(&plan, NULL);
	kvp_plan_release(&plan);
	if (!s->need || need < s->need) {
		s->need = need;
		s->merge = merge;
		s->tile_granules = tile_granules;
	}
	*fits = need <= s->available;
	return KVP_OK;
}

int search_modes(struct search *s, enum kvp_merge merge, bool *found,
		 struct kvp_error *err)
{
	int code = KVP_OK;

	*found = false;
	for (; merge <= KVP_MERGE_SPAN && !code && !*found; merge++)
		code = try_plan(s, s->geometry->snapshot_rows,
				s->geometry->tile_granules, merge, found, err);
	return code;
}

bool search_tiles(struct search *s, enum kvp_merge last)
{
	uint64_t tile = s->geometry->tile_granules;
	enum kvp_merge merge;
	bool found = false;

	while (!found && tile <= CURE_TILE_MAX / 2) {
		tile *= 2;
		for (merge = KVP_MERGE_ROW; merge <= last && !found; merge++)
			(void)try_plan(s, s->geometry->snapshot_rows, tile,
				       merge, &found, NULL);
	}
	return found;
}

static bool do_rows_fit(struct search *s, uint64_t rows, enum kvp_merge merge)
{
	bool fits;

	(void)try_plan(s, rows, s->geometry->tile_granules, merge, &fits, NULL);
	return fits;
}

uint64_t search_rows(struct search *s, enum kvp_merge merge)
{
	uint64_t low = 0, high = s->geometry->snapshot_rows, mid;

	if (!do_rows_fit(s, 0, merge))
		return KVP_UNSTATED;
	while (low < high) {
		mid = low + (high - low + 1) / 2;
		if (do_rows_fit(s, mid, merge))
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

int plan_fit_find(struct plan_fit *fit, const struct kvp_plan *plan,
		  struct kvp_error *err)
{
	const struct kvp_geometry *g = &plan->geometry;
	struct search s = { .geometry = g, .available = plan->summary.limit };
	int code = KVP_OK;

	*fit = (struct plan_fit){ .limit = plan->summary.limit };
	fit->address_bytes = u64_add_capped((g->execution_rows +
		g->snapshot_rows) * g->row_stride,
		plan->summary.physical_bytes);
	fit->entries = search_fullest_node(plan, &fit->node);
	if (fit->entries > fit->limit)
		code = search_modes(&s, plan->merge + 1, &fit->other_fits,
				    err);
	fit->merge = s.merge;
	fit->need = s.need ? s.need : fit->entries;
	return code;
}
