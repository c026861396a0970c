/*
 * Checking a recorded base layout: its chunks must cover every plane and the
 * arena exactly once, on granule boundaries.  They are sorted as in a plan.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/u64.h"
#include "model/model.h"

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_plane(const void *a, const void *b)
{
	const struct kvp_chunk *x = a, *y = b;
	int order = compare(x->plane, y->plane);

	return order ? order : compare(x->offset, y->offset);
}

/* The order of a plan: by arena address, then those without one. */
static int by_arena(const void *a, const void *b)
{
	const struct kvp_chunk *x = a, *y = b;
	int order = compare(x->arena, y->arena);

	return order ? order : by_plane(a, b);
}

static bool is_aligned(const struct kvp_geometry *g, const struct kvp_chunk *c)
{
	uint64_t arena = c->arena == KVP_UNALIASED ? 0 : c->arena;

	return c->bytes && c->bytes % g->granularity == 0 &&
	       c->offset % g->granularity == 0 && arena % g->granularity == 0;
}

/* Report what is wrong with one chunk; fault->path is already set. */
static int report_chunk(const struct kvp_geometry *g, const struct kvp_chunk *c,
			struct geometry_fault *fault)
{
	if (c->plane >= g->nplanes)
		return geometry_fail(fault, KVP_EINPUT, fault->path,
			"plane is %u, must be at most %zu", c->plane,
			g->nplanes - 1);
	if (c->arena != KVP_UNALIASED && !g->planes[c->plane].alias &&
	    is_aligned(g, c))
		return geometry_fail(fault, KVP_EINPUT, fault->path,
			"has an arena address, but plane %u (%s) may not be "
			"aliased", c->plane, g->planes[c->plane].name);
	return geometry_fail(fault, KVP_EINPUT, fault->path,
		"offset %llu, bytes %llu and arena must be multiples of the "
		"granularity, %llu", (ull)c->offset,
		(ull)c->bytes,
		(ull)g->granularity);
}

static int check_chunk(const struct kvp_geometry *g, size_t index,
		       struct geometry_fault *fault)
{
	const struct kvp_chunk *c = &g->base_chunks[index];

	if (c->plane < g->nplanes && is_aligned(g, c) &&
	    (c->arena == KVP_UNALIASED || g->planes[c->plane].alias))
		return KVP_OK;
	snprintf(fault->path, sizeof(fault->path), "/base_chunks/%zu", index);
	return report_chunk(g, c, fault);
}

static int report_misplaced(struct geometry_fault *fault, const char *view,
			    size_t plane, uint64_t is, uint64_t must)
{
	char where[64] = "the arena";

	if (view)
		snprintf(where, sizeof(where), "%s %zu", view, plane);
	return geometry_fail(fault, KVP_EINPUT, "/base_chunks",
		"%s %s: a chunk begins at %llu, must begin at %llu",
		is > must ? "leave a gap in" : "overlap in", where,
		(ull)is, (ull)must);
}

/* Check that the chunks, sorted by plane, cover each plane's backing once. */
static int check_planes(const struct kvp_geometry *g,
			struct geometry_fault *fault)
{
	const struct kvp_chunk *c = g->base_chunks;
	const struct kvp_chunk *end = c + g->nbase_chunks;
	uint64_t next, backing;
	size_t plane;

	assert(c && g->granularity);
	for (plane = 0; plane < g->nplanes; plane++) {
		next = 0;
		backing = g->pages * g->planes[plane].bytes_per_page;
		u64_round_up(backing, g->granularity, &backing);
		for (; c < end && c->plane == plane; c++) {
			if (c->offset != next)
				return report_misplaced(fault, "plane", plane,
							c->offset, next);
			next += c->bytes;
			if (next > backing)
				break;
		}
		if (next != backing)
			return geometry_fail(fault, KVP_EINPUT, "/base_chunks",
				"cover plane %zu (%s) up to byte %llu, but its "
				"backing is %llu bytes", plane,
				g->planes[plane].name,
				(ull)next,
				(ull)backing);
	}
	return KVP_OK;
}

/* Check that the chunks, sorted by arena address, cover the arena once from
   D to A or beyond. */
static int check_arena(const struct kvp_geometry *g,
		       struct geometry_fault *fault)
{
	uint64_t next = g->execution_rows * g->row_stride;
	uint64_t end = next + g->snapshot_rows * g->row_stride;
	const struct kvp_chunk *c = g->base_chunks;
	size_t i;

	assert(end <= KVP_NUMBER_MAX);
	u64_round_up(next, g->granularity, &next);
	for (i = 0; i < g->nbase_chunks && c[i].arena != KVP_UNALIASED; i++) {
		if (c[i].arena != next)
			return report_misplaced(fault, NULL, 0, c[i].arena,
						next);
		if (next >= end)
			return geometry_fail(fault, KVP_EINPUT, "/base_chunks",
				"have a chunk at arena address %llu, but the "
				"arena ends at %llu", (ull)next,
				(ull)end);
		next += c[i].bytes;
	}
	if (next < end)
		return geometry_fail(fault, KVP_EINPUT, "/base_chunks",
			"cover the arena up to byte %llu, but its rows end "
			"at %llu",
			(ull)next, (ull)end);
	return KVP_OK;
}

int base_chunks_check(struct kvp_geometry *g, struct geometry_fault *fault)
{
	int code = KVP_OK;
	size_t i;

	if (!g->pages || g->snapshot_rows == KVP_UNSTATED)
		return geometry_fail(fault, KVP_EINPUT, "/base_chunks",
			"needs the pages and snapshot_rows it was recorded "
			"with; state them or remove it");
	for (i = 0; i < g->nbase_chunks && !code; i++)
		code = check_chunk(g, i, fault);
	if (code)
		return code;
	qsort(g->base_chunks, g->nbase_chunks, sizeof(*g->base_chunks),
	      by_plane);
	code = check_planes(g, fault);
	if (code)
		return code;
	qsort(g->base_chunks, g->nbase_chunks, sizeof(*g->base_chunks),
	      by_arena);
	return check_arena(g, fault);
}
