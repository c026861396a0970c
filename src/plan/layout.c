/*
 * The base layout: tiles of all aliasable planes in page order, laid end to
 * end over the snapshot rows; the rest of each plane is one unaliased chunk.
 * How many tiles are taken of every plane is computed first, so that a layout
 * beyond the chunk limit is refused before memory is allocated.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/geometry.h>

#include "base/error.h"
#include "base/u64.h"
#include "plan/work.h"

/* The geometry reader has checked that none of this overflows. */
static uint64_t round_up(uint64_t bytes, uint64_t to)
{
	return u64_ceil_div(bytes, to) * to;
}

static uint64_t backing(const struct kvp_geometry *g, size_t plane)
{
	assert(plane < g->nplanes);
	return round_up(g->pages * g->planes[plane].bytes_per_page,
			g->granularity);
}

static uint64_t tile_bytes(const struct kvp_geometry *g)
{
	return g->granularity * g->tile_granules;
}

/* The bytes of a plane in tiles whose first page is before `page`. */
static uint64_t bytes_below(const struct kvp_geometry *g, size_t plane,
			    uint64_t page)
{
	uint64_t tile = tile_bytes(g);
	uint64_t tiles = u64_ceil_div(page * g->planes[plane].bytes_per_page,
				      tile);
	uint64_t all = backing(g, plane);

	return tiles > all / tile ? all : tiles * tile;
}

static uint64_t all_bytes_below(const struct kvp_geometry *g, uint64_t page)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < g->nplanes; i++)
		if (g->planes[i].alias)
			sum += bytes_below(g, i, page);
	return sum;
}

/* The first page whose tiles, with those of all pages before, have `need`
   bytes. */
static uint64_t last_page(const struct kvp_geometry *g, uint64_t need)
{
	uint64_t low = 0, high = g->pages - 1, mid;

	assert(g->pages && need);
	while (low < high) {
		mid = low + (high - low) / 2;
		if (all_bytes_below(g, mid + 1) >= need)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static int fail_rows_do_not_fit(const struct layout *l,
				const struct kvp_geometry *g, uint64_t have,
				struct kvp_error *err)
{
	uint64_t need = l->arena_end - l->dedicated_bytes;
	uint64_t fit = (l->dedicated_bytes + have) / g->row_stride;

	assert(need > have);
	fit = fit > g->execution_rows ? fit - g->execution_rows : 0;
	return kvp_error_set(err, KVP_EINFEASIBLE,
		"/snapshot_rows: %llu rows need %llu bytes of aliased backing, "
		"the planes have %llu, %llu too few; rows that would fit: %llu",
		(ull)g->snapshot_rows, (ull)need,
		(ull)have, (ull)(need - have),
		(ull)fit);
}

/* Count the bytes of every plane that lie in the arena: taken[plane]. */
static int count_taken_bytes(uint64_t *taken, const struct layout *l,
			     const struct kvp_geometry *g,
			     struct kvp_error *err)
{
	uint64_t need = l->arena_end > l->dedicated_bytes ?
			l->arena_end - l->dedicated_bytes : 0;
	uint64_t have = all_bytes_below(g, g->pages);
	uint64_t page, more;
	size_t i;

	if (!need)
		return KVP_OK;
	if (have < need)
		return fail_rows_do_not_fit(l, g, have, err);
	page = last_page(g, need);
	assert(all_bytes_below(g, page) < need && page < g->pages);
	need -= all_bytes_below(g, page);
	for (i = 0; i < g->nplanes; i++) {
		if (!g->planes[i].alias)
			continue;
		taken[i] = bytes_below(g, i, page);
		more = bytes_below(g, i, page + 1) - taken[i];
		/* A tile is laid whole, the last one as well. */
		if (need < more)
			more = u64_min(more, round_up(need, tile_bytes(g)));
		taken[i] += more;
		assert(taken[i] <= backing(g, i));
		need -= u64_min(need, more);
	}
	assert(!need);
	return KVP_OK;
}

static int count_chunks(struct layout *l, const uint64_t *taken,
			const struct kvp_geometry *g, struct kvp_error *err)
{
	uint64_t aliased = 0, tails = 0;
	size_t i;

	for (i = 0; i < g->nplanes; i++) {
		aliased += u64_ceil_div(taken[i], tile_bytes(g));
		tails += taken[i] < backing(g, i);
		if (aliased + tails > KVP_CHUNKS_MAX)
			return kvp_error_set(err, KVP_ELIMIT,
				"/planes: the base layout has more than %llu "
				"chunks; tile_granules above %llu makes fewer",
				(ull)KVP_CHUNKS_MAX,
				(ull)g->tile_granules);
	}
	assert(aliased + tails <= UINT32_MAX);
	l->aliased = (uint32_t)aliased;
	l->count = (uint32_t)(aliased + tails);
	return KVP_OK;
}

/*
 * The tiles of every plane, plane by plane: tile n is tile n - first[p] of
 * plane p = plane_of[n], and begins in page pages[n].  Sorting moves pages
 * and index.
 */
struct tiles {
	uint64_t *pages;
	uint32_t *index;
	uint32_t *plane_of;
	uint32_t *first;
};

static void cut_tiles(struct tiles *t, const uint64_t *taken,
		      const struct kvp_geometry *g)
{
	uint64_t tile = tile_bytes(g), offset;
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < g->nplanes; i++) {
		t->first[i] = n;
		for (offset = 0; offset < taken[i]; offset += tile) {
			t->pages[n] = offset / g->planes[i].bytes_per_page;
			t->plane_of[n] = (uint32_t)i;
			t->index[n] = n;
			n++;
		}
	}
}

/* Tiles in their order become chunks, end to end in the arena from D on. */
static void place_tiles(struct layout *l, const struct tiles *t,
			const uint64_t *taken, uint64_t tile)
{
	uint64_t arena = l->dedicated_bytes, offset;
	uint32_t i, n, plane;

	for (i = 0; i < l->aliased; i++) {
		n = t->index[i];
		plane = t->plane_of[n];
		offset = (n - t->first[plane]) * tile;
		assert(n >= t->first[plane] && offset < taken[plane]);
		l->chunks[i] = (struct kvp_chunk){
			.plane = plane, .offset = offset, .arena = arena,
			.bytes = u64_min(tile, taken[plane] - offset),
		};
		arena += l->chunks[i].bytes;
	}
}

/* Lay tiles by first page, then plane, then offset: tiles are cut by plane and
   offset, and the sort by page is stable. */
static int lay_tiles(struct layout *l, const uint64_t *taken,
		     const struct kvp_geometry *g, struct kvp_error *err)
{
	size_t n = (size_t)l->aliased + 1;
	struct tiles t = {
		.pages = malloc(n * sizeof(*t.pages)),
		.index = malloc(n * sizeof(*t.index)),
		.plane_of = malloc(n * sizeof(*t.plane_of)),
		.first = malloc(g->nplanes * sizeof(*t.first)),
	};
	int code = t.pages && t.index && t.plane_of && t.first ? KVP_OK :
		   kvp_error_nomem(err);

	if (!code) {
		cut_tiles(&t, taken, g);
		code = radix_sort(t.pages, t.index, l->aliased, err);
	}
	if (!code)
		place_tiles(l, &t, taken, tile_bytes(g));
	free(t.pages);
	free(t.index);
	free(t.plane_of);
	free(t.first);
	return code;
}

static void add_tails(struct layout *l, const uint64_t *taken,
		      const struct kvp_geometry *g)
{
	struct kvp_chunk *tail = l->chunks + l->aliased;
	size_t i;

	for (i = 0; i < g->nplanes; i++)
		if (taken[i] < backing(g, i))
			*tail++ = (struct kvp_chunk){
				.plane = (uint32_t)i,
				.offset = taken[i],
				.bytes = backing(g, i) - taken[i],
				.arena = KVP_UNALIASED,
			};
	assert(tail == l->chunks + l->count);
}

static int compute_layout(struct layout *l, const struct kvp_geometry *g,
			  struct kvp_error *err)
{
	uint64_t *taken = calloc(g->nplanes, sizeof(*taken));
	int code = taken ? count_taken_bytes(taken, l, g, err) :
			   kvp_error_nomem(err);

	if (!code)
		code = count_chunks(l, taken, g, err);
	if (!code) {
		l->chunks = malloc((l->count + 1u) * sizeof(*l->chunks));
		code = l->chunks ? lay_tiles(l, taken, g, err) :
				   kvp_error_nomem(err);
	}
	if (!code)
		add_tails(l, taken, g);
	free(taken);
	return code;
}

/* The geometry reader has checked that the recorded chunks are sorted and
   cover planes and arena. */
static int copy_recorded(struct layout *l, const struct kvp_geometry *g,
			 struct kvp_error *err)
{
	size_t n = g->nbase_chunks;

	l->chunks = malloc((n + 1) * sizeof(*l->chunks));
	if (!l->chunks)
		return kvp_error_nomem(err);
	memcpy(l->chunks, g->base_chunks, n * sizeof(*l->chunks));
	l->count = (uint32_t)n;
	assert(n && n <= KVP_CHUNKS_MAX);
	while (l->aliased < n && l->chunks[l->aliased].arena != KVP_UNALIASED)
		l->aliased++;
	return KVP_OK;
}

int layout_make(struct layout *l, const struct kvp_geometry *g,
		struct kvp_error *err)
{
	int code;

	assert(g->pages && g->nplanes && g->granularity);
	*l = (struct layout){
		.dedicated_bytes = round_up(g->execution_rows * g->row_stride,
					    g->granularity),
		.arena_end = (g->execution_rows + g->snapshot_rows) *
			     g->row_stride,
	};
	code = g->base_chunks ? copy_recorded(l, g, err) :
				compute_layout(l, g, err);
	if (code)
		layout_release(l);
	return code;
}

void layout_release(struct layout *l)
{
	free(l->chunks);
	*l = (struct layout){ 0 };
}
