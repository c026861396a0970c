/*
 * The invariants of a base layout, from its definition.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/u64.h"
#include "plan/layout.h"

static uint64_t backing(const struct kvp_geometry *g, size_t plane)
{
	return u64_ceil_div(g->pages * g->planes[plane].bytes_per_page,
			    g->granularity) * g->granularity;
}

static uint64_t first_page(const struct kvp_geometry *g,
			   const struct kvp_chunk *c)
{
	return c->offset / g->planes[c->plane].bytes_per_page;
}

/* Tiles are laid by first page, then plane, then offset. */
static void check_order(const struct kvp_geometry *g,
			const struct kvp_chunk *a, const struct kvp_chunk *b)
{
	assert(first_page(g, a) <= first_page(g, b));
	if (first_page(g, a) == first_page(g, b))
		assert(a->plane < b->plane ||
		       (a->plane == b->plane && a->offset < b->offset));
}

/* Aliased chunks cover the arena from D to A; the last may end after A. */
static void check_arena(const struct layout *l, const struct kvp_geometry *g)
{
	const struct kvp_chunk *c = l->chunks;
	uint64_t arena = l->dedicated_bytes;
	uint32_t i;

	for (i = 0; i < l->aliased; i++) {
		assert(c[i].arena == arena && arena < l->arena_end);
		assert(g->planes[c[i].plane].alias);
		if (!g->base_chunks) {
			assert(c[i].bytes <= g->granularity *
			       g->tile_granules);
			if (i)
				check_order(g, &c[i - 1], &c[i]);
		}
		arena += c[i].bytes;
	}
	assert(arena >= l->arena_end);
	for (; i < l->count; i++) {
		assert(c[i].arena == KVP_UNALIASED);
		assert(i == l->aliased || c[i - 1].plane < c[i].plane ||
		       (c[i - 1].plane == c[i].plane &&
			c[i - 1].offset < c[i].offset));
	}
}

/*
 * In a computed layout the chunks of a plane are listed end to end; in a
 * recorded one they have as many bytes as the plane.
 */
static void check_planes(const struct layout *l, const struct kvp_geometry *g,
			 uint64_t *end)
{
	const struct kvp_chunk *c = l->chunks;
	size_t i;

	for (i = 0; i < l->count; i++) {
		assert(c[i].plane < g->nplanes && c[i].bytes);
		assert((c[i].offset | c[i].bytes) % g->granularity == 0);
		assert(g->base_chunks || c[i].offset == end[c[i].plane]);
		end[c[i].plane] += c[i].bytes;
	}
	for (i = 0; i < g->nplanes; i++)
		assert(end[i] == backing(g, i));
}

void layout_check_internal(const struct layout *l,
			   const struct kvp_geometry *g)
{
	uint64_t *end;

	assert(l && g);
	assert(l->chunks && l->aliased <= l->count);
	assert(l->count <= KVP_CHUNKS_MAX);
	assert(l->dedicated_bytes % g->granularity == 0);
	assert(l->dedicated_bytes >= g->execution_rows * g->row_stride);
	check_arena(l, g);
	end = calloc(g->nplanes, sizeof(*end));
	if (end)
		check_planes(l, g, end);
	free(end);
}
