/*
 * Finds what would help if the table of mappings does not suffice: another
 * merge mode, larger tiles, fewer ranks.  Each is planned, and named only if
 * it needs no more entries than are available.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/u64.h"
#include "cli/realize.h"
#include "realize/obstacles.h"
#include "size/search.h"

#define N(value) out_number(value).text

/* The limit less the reserve. */
static uint64_t usable_entries(const struct kvp_plan *plan,
			       const struct realize_settings *s)
{
	return kvp_limits_entry_limit(s->options.limits, &plan->geometry) -
	       plan->geometry.entry_reserve;
}

/* Table entries of the ranks that are realized. */
static uint64_t count_entries(const struct kvp_plan *plan, const void *cookie)
{
	const struct realize_settings *s = cookie;

	return kvp_realize_entries(plan, &s->options);
}

/* Find the first later mode that fits; else the smallest larger tiles. */
static bool find_fitting(struct search *f, const struct kvp_plan *plan)
{
	bool found;

	/* A mode that cannot be planned does not fit. */
	(void)search_modes(f, plan->merge + 1, &found, NULL);
	/* The tiles of a recorded layout cannot change. */
	if (!found && !plan->geometry.base_chunks &&
	    plan->summary.base_chunks <= CURE_CHUNKS_MAX)
		found = search_tiles(f, KVP_MERGE_SPAN);
	return found;
}

/* How many ranks, from the first on, fit the available entries; 0: none. */
static uint32_t count_fitting_ranks(const struct kvp_plan *plan,
				    const struct realize_settings *s,
				    uint64_t available, uint64_t *need)
{
	struct kvp_realize_options o = s->options;

	while (--o.nranks) {
		*need = kvp_realize_entries(plan, &o);
		if (*need <= available)
			break;
	}
	return o.nranks;
}

/* Add "mode row needs 12 of 34", or the same with other tiles. */
static void describe_fitting(const struct search *f, char *text, size_t size)
{
	const char *mode = kvp_merge_name(f->merge);

	if (f->tile_granules == f->geometry->tile_granules)
		snprintf(text, size, "; mode %s needs %s of %s", mode,
			 N(f->need), N(f->available));
	else
		snprintf(text, size, "; no mode fits, but larger tiles do: "
			 "with tile_granules %llu mode %s needs %s of %s, and "
			 "a row conflicts with more pages",
			 (ull)f->tile_granules, mode,
			 N(f->need), N(f->available));
}

/* Nothing that was planned fits: add the fewest entries, and what else
   would help. */
static void describe_nearest(const struct search *f,
			     const struct kvp_plan *plan, int code,
			     char *text, size_t size)
{
	const struct realize_settings *s = f->cookie;
	const struct kvp_geometry *g = f->geometry;
	uint32_t first = s->options.first_rank, ranks;
	char nearest[128] = "", fewer[96] = "";
	uint64_t need = 0;

	ranks = count_fitting_ranks(plan, s, f->available, &need);
	if (f->need)
		snprintf(nearest, sizeof(nearest), ": the fewest are %s of %s, "
			 "mode %s with tile_granules %llu", N(f->need),
			 N(f->available), kvp_merge_name(f->merge),
			 (ull)f->tile_granules);
	if (ranks)
		snprintf(fewer, sizeof(fewer), ", or realize fewer ranks: "
			 "--ranks=%u-%u needs %s", first, first + ranks - 1,
			 N(need));
	if (g->static_entries > f->available)
		snprintf(text, size, "; static_entries alone are %s: end the "
			 "processes that hold them", N(g->static_entries));
	else
		snprintf(text, size, "; no mode fits, nor do larger tiles%s; "
			 "%s%s%s", nearest, code == KVP_ETABLE ?
			 "end other processes that hold entries on this node" :
			 "plan fewer rows", code == KVP_EENTRIES &&
			 g->dcp_group_size > 1 ? ", lower dcp_group_size" : "",
			 fewer);
}

/*
 * If preflight refused, the entries up to the limit are available.  If a call
 * failed, only as many as were held at that moment.
 */
static void describe_cure(const struct kvp_plan *plan,
			  const struct realize_settings *s, int code,
			  uint64_t held, char *text, size_t size)
{
	uint64_t limit = usable_entries(plan, s);
	struct search f = { .geometry = &plan->geometry, .available = limit,
			    .entries = count_entries, .cookie = s };
	uint64_t need = kvp_realize_entries(plan, &s->options);
	size_t used = 0;

	if (code == KVP_ETABLE)
		f.available = u64_min(limit, held);
	if (code == KVP_ETABLE && need <= limit)
		used = (size_t)snprintf(text, size, "; the plan needs %s of "
			"%s, so other processes on this node hold the rest: "
			"end them, or state their entries as static_entries",
			N(need), N(limit));
	if (find_fitting(&f, plan))
		describe_fitting(&f, text + used, size - used);
	else
		describe_nearest(&f, plan, code, text + used, size - used);
}

int realize_error(const struct kvp_plan *plan,
		  const struct realize_settings *s, uint64_t held,
		  const struct kvp_error *err)
{
	const char *also = NULL;
	char text[768] = "";
	int code = err->code;

	if (code == KVP_EENTRIES || code == KVP_ETABLE)
		describe_cure(plan, s, code, held, text, sizeof(text));
	/* The first obstacle is the table's: add the text to that one. */
	if (code == KVP_EENTRIES)
		also = strstr(err->text, OBSTACLES_ALSO);
	if (!also)
		also = err->text + strlen(err->text);
	fprintf(stderr, "kvplan: error: %.*s%s%s\n", (int)(also - err->text),
		err->text, text, also);
	return out_status(code);
}
