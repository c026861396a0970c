/*
 * Checking recorded addresses: the address ranges of a rank's planes and
 * arena may not overlap.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/u64.h"
#include "model/geometry_check.h"

struct range {
	uint64_t first;
	uint64_t end;
	size_t plane;		/* nplanes: the arena */
};

static int by_first(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	int order = (x->first > y->first) - (x->first < y->first);

	return order ? order : (x->plane > y->plane) - (x->plane < y->plane);
}

/* No sum overflows: addresses and sizes are below 2^53. */
static struct range make_range(const struct kvp_geometry *g, size_t plane,
			       uint64_t address, uint64_t bytes)
{
	return (struct range){ address, address +
		u64_ceil_div(bytes, g->granularity) * g->granularity, plane };
}

/*
 * The bytes of the arena: the rows, and the chunks of a recorded layout that
 * end after them.  A computed layout may need a few granules more; if those
 * overlap something, reserving the address range fails.
 */
static uint64_t arena_bytes(const struct kvp_geometry *g)
{
	uint64_t bytes = geometry_rows(g) * g->row_stride;
	size_t i;

	for (i = 0; i < g->nbase_chunks; i++)
		if (g->base_chunks[i].arena != KVP_UNALIASED)
			bytes = u64_max(bytes, g->base_chunks[i].arena +
					       g->base_chunks[i].bytes);
	return bytes;
}

static size_t collect_ranges(const struct kvp_geometry *g, struct range *ranges)
{
	size_t count = 0, i;

	for (i = 0; i < g->nplanes; i++)
		if (g->planes[i].has_address)
			ranges[count++] = make_range(g, i, g->planes[i].address,
				g->pages * g->planes[i].bytes_per_page);
	if (g->has_arena_address && arena_bytes(g))
		ranges[count++] = make_range(g, g->nplanes, g->arena_address,
					     arena_bytes(g));
	return count;
}

static void write_name(char *text, size_t size, const struct kvp_geometry *g,
		       size_t plane)
{
	if (plane == g->nplanes)
		snprintf(text, size, "the arena");
	else
		snprintf(text, size, "plane %zu (%s)", plane,
			 g->planes[plane].name);
}

static int report_overlap(const struct kvp_geometry *g, const struct range *a,
			  const struct range *b, struct geometry_fault *fault)
{
	char before[KVP_PLANE_NAME_MAX + 32], behind[KVP_PLANE_NAME_MAX + 32];

	assert(a->first <= b->first && b->first < a->end);
	write_name(before, sizeof(before), g, a->plane);
	write_name(behind, sizeof(behind), g, b->plane);
	return geometry_fail(fault, KVP_EINPUT, b->plane == g->nplanes ?
				  "/arena_address" : "/planes",
		"%s is recorded at %llu, within %s, which ends at %llu",
		behind, (ull)b->first, before,
		(ull)a->end);
}

int geometry_check_addresses(const struct kvp_geometry *g,
			     struct geometry_fault *fault)
{
	struct range *ranges = malloc((g->nplanes + 1) * sizeof(*ranges));
	size_t count, i;
	int code = KVP_OK;

	if (!ranges)
		return kvp_error_nomem(&fault->error);
	count = collect_ranges(g, ranges);
	assert(count <= g->nplanes + 1);
	qsort(ranges, count, sizeof(*ranges), by_first);
	/* Where any two overlap, two neighbours do. */
	for (i = 1; i < count && !code; i++)
		if (ranges[i].first < ranges[i - 1].end)
			code = report_overlap(g, &ranges[i - 1], &ranges[i],
					      fault);
	free(ranges);
	return code;
}
