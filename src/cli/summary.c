/*
 * Prints a plan's summary and warnings to standard error.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/u64.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "size/search.h"

#define N(value) out_number(value).text
#define C(value, noun) out_count(value, noun).text

static const char *mode_name(const struct kvp_plan *plan)
{
	return kvp_merge_name(plan->merge);
}

/* Entries of a node in the base layout.  Merging changes aliased chunks only:
   each takes one entry for every reader and one in the arena. */
static uint64_t count_entries_before(const struct kvp_plan *plan, size_t node)
{
	const struct kvp_summary *s = &plan->summary;
	uint64_t per_node = plan->geometry.ranks_per_node, saved, entries, i;

	saved = s->base_chunks - s->chunks;
	entries = s->per_node[node];
	for (i = node * per_node; i < (node + 1) * per_node; i++)
		entries += saved * (plan->access[i].readers.count + 1);
	return entries;
}

static void print_chunks(const struct kvp_plan *plan)
{
	const struct kvp_summary *s = &plan->summary;

	fprintf(stderr, "  chunks per rank  %s -> %s in mode %s; lower bound "
		"%s", N(s->base_chunks), N(s->chunks), mode_name(plan),
		N(s->lower_bound));
	if (s->optimal)
		fprintf(stderr, ", proven optimal\n");
	else
		fprintf(stderr, ", %s more than that\n",
			N(s->chunks - s->lower_bound));
}

static void print_entries(const struct kvp_plan *plan)
{
	const struct kvp_geometry *g = &plan->geometry;
	size_t node;
	uint64_t entries = search_fullest_node(plan, &node);

	fprintf(stderr, "  table entries    %s -> %s on a node of %s; limit "
		"%s = %s - %s reserved: %s\n",
		N(count_entries_before(plan, node)), N(entries),
		C(g->ranks_per_node, "rank"), N(plan->summary.limit),
		N(g->entry_limit), N(g->entry_reserve),
		entries <= plan->summary.limit ? "fits" : "does not fit");
}

static void print_capacity(const struct kvp_plan *plan)
{
	const struct kvp_geometry *g = &plan->geometry;

	fprintf(stderr, "  bytes per rank   %s in %s, %s dedicated to rows\n",
		N(plan->summary.physical_bytes), C(g->nplanes, "plane"),
		N(plan->dedicated_bytes));
	fprintf(stderr, "  capacity         %s in %s per rank; %s, %s\n",
		C(plan->summary.kv_tokens, "token"), C(g->pages, "page"),
		C(g->snapshot_rows, "snapshot row"),
		C(g->execution_rows, "execution row"));
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int print_conflicts(const struct kvp_plan *plan, struct kvp_error *err)
{
	uint64_t *pages;
	size_t i, j;

	if (!plan->nrows)
		return KVP_OK;
	pages = calloc(plan->nrows, sizeof(*pages));
	if (!pages)
		return kvp_error_nomem(err);
	for (i = 0; i < plan->nrows; i++)
		for (j = 0; j < plan->rows[i].count; j++) {
			const struct kvp_span *s =
				&plan->spans[plan->rows[i].first + j];

			pages[i] += s->end - s->first;
		}
	qsort(pages, plan->nrows, sizeof(*pages), by_value);
	fprintf(stderr, "  conflicts        min %s, median %s, max %s per "
		"snapshot row\n", N(pages[0]), N(pages[(plan->nrows - 1) / 2]),
		C(pages[plan->nrows - 1], "page"));
	free(pages);
	return KVP_OK;
}

/*
 * Rounding up adds bytes to the planes that hold no page, and bytes to the
 * dedicated backing that hold no row.  The first snapshot rows begin where
 * execution rows end and use what rounding added there.
 */
static void print_waste(const struct kvp_plan *plan)
{
	const struct kvp_geometry *g = &plan->geometry;
	uint64_t rows = g->execution_rows + g->snapshot_rows, planes = 0;
	uint64_t used = u64_min(plan->dedicated_bytes, rows * g->row_stride);
	size_t i;

	for (i = 0; i < g->nplanes; i++)
		planes += g->pages * g->planes[i].bytes_per_page;
	fprintf(stderr, "  waste            %s bytes by rounding up, %s by "
		"row padding\n",
		N(plan->summary.physical_bytes - planes +
		  plan->dedicated_bytes - used),
		N((g->row_stride - g->row_bytes) * rows));
}

int summary_print(const struct kvp_plan *plan, struct kvp_error *err)
{
	int code;

	fprintf(stderr, "%s\n", plan->geometry.name);
	print_chunks(plan);
	print_entries(plan);
	print_capacity(plan);
	code = print_conflicts(plan, err);
	print_waste(plan);
	return code;
}

void summary_limits(const struct kvp_plan *plan,
		    const struct kvp_limits *limits, const char *path)
{
	char label[256];

	snprintf(label, sizeof(label), "%s", kvp_file_label(path));
	utf8_clean(label);
	if (limits->entries_counted)
		fprintf(stderr, "  entry limit      from %s: %s%s free, %s "
			"held by others\n", label,
			limits->entries_exact ? "" : "at least ",
			N(limits->entries_free),
			N(plan->geometry.static_entries));
	else
		fprintf(stderr, "  entry limit      the geometry's: %s has "
			"no count of entries\n", label);
}

/* Warn if the cap is never reached; verify reports that as an error. */
static void warn_headroom(const struct kvp_headroom *h)
{
	if (h && !cap_is_reached(h->bounded, h->cap_bytes, h->free_bytes))
		out_warning("headroom: cap_bytes is %s; a cap is reached "
			"before memory runs out if it is at most half of "
			"free_bytes, %s", h->bounded ? N(h->cap_bytes) : "null",
			N(h->free_bytes / 2));
}

/* Warn if no GPU has addresses enough; realize refuses such a plan. */
static void warn_addresses(uint64_t bytes)
{
	if (bytes > KVP_ADDRESS_END)
		out_warning("planes and arena take %s bytes of addresses, no "
			"GPU has more than %s (2^47 - 4096): plan fewer pages",
			N(bytes), N(KVP_ADDRESS_END));
}

void summary_warn(const struct kvp_geometry *g, const struct kvp_headroom *h,
		  const struct plan_fit *fit)
{
	warn_headroom(h);
	warn_addresses(fit->address_bytes);
	if (fit->entries <= fit->limit)
		return;
	if (fit->other_fits)
		out_warning("node %zu needs %s table entries, the limit is "
			"%s; mode %s fits with %s", fit->node,
			N(fit->entries), N(fit->limit),
			kvp_merge_name(fit->merge), N(fit->need));
	else if (g->static_entries > fit->limit)
		out_warning("node %zu needs %s table entries, the limit is %s; "
			"static_entries alone are %s", fit->node,
			N(fit->entries), N(fit->limit), N(g->static_entries));
	else
		out_warning("node %zu needs %s table entries, the limit is %s; "
			"no mode fits, the fewest are %s: raise tile_granules"
			"%s or plan fewer rows", fit->node, N(fit->entries),
			N(fit->limit), N(fit->need), g->dcp_group_size > 1 ?
			", lower dcp_group_size" : "");
}
