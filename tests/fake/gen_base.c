/*
 * The base layout a second time, in the slowest and plainest way: every tile
 * in one list, one qsort().  Recorded layouts are made of it by cutting the
 * same bytes differently, or by laying them in another order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/gen.h"

struct tile {
	struct kvp_chunk chunk;
	uint64_t page;
};

void *gen_alloc(size_t bytes)
{
	void *p = calloc(1, bytes + 1);

	if (!p) {
		fputs("gen: no memory\n", stderr);
		exit(3);
	}
	return p;
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t backing(const struct kvp_geometry *g, size_t plane)
{
	return round_up(g->pages * g->planes[plane].bytes_per_page,
			g->granularity);
}

static int by_page(const void *x, const void *y)
{
	const struct tile *a = x, *b = y;

	if (a->page != b->page)
		return a->page < b->page ? -1 : 1;
	if (a->chunk.plane != b->chunk.plane)
		return a->chunk.plane < b->chunk.plane ? -1 : 1;
	return a->chunk.offset < b->chunk.offset ? -1 : 1;
}

static size_t cut_tiles(struct tile **tiles, const struct kvp_geometry *g)
{
	uint64_t step = g->granularity * g->tile_granules, offset, left;
	size_t count = 0, i;

	for (i = 0; i < g->nplanes; i++)
		count += (size_t)(backing(g, i) / step) + 1;
	*tiles = gen_alloc(count * sizeof(**tiles));
	count = 0;
	for (i = 0; i < g->nplanes; i++)
		for (offset = 0; offset < backing(g, i); offset += step) {
			if (!g->planes[i].alias)
				break;
			left = backing(g, i) - offset;
			(*tiles)[count++] = (struct tile){
				.chunk = { .plane = (uint32_t)i,
					   .offset = offset,
					   .bytes = left < step ? left :
								  step },
				.page = offset / g->planes[i].bytes_per_page,
			};
		}
	qsort(*tiles, count, sizeof(**tiles), by_page);
	return count;
}

bool gen_base_make(struct gen_base *base, const struct kvp_geometry *g)
{
	uint64_t *used = gen_alloc(g->nplanes * sizeof(*used));
	uint64_t place = round_up(g->execution_rows * g->row_stride,
				  g->granularity);
	struct tile *tiles = NULL;
	size_t n = cut_tiles(&tiles, g), i;
	bool fits;

	*base = (struct gen_base){
		.chunks = gen_alloc((n + g->nplanes) * sizeof(*base->chunks)),
		.dedicated = place,
		.arena_end = (g->execution_rows + g->snapshot_rows) *
			     g->row_stride,
	};
	for (i = 0; i < n && place < base->arena_end; i++) {
		tiles[i].chunk.arena = place;
		place += tiles[i].chunk.bytes;
		used[tiles[i].chunk.plane] += tiles[i].chunk.bytes;
		base->chunks[base->count++] = tiles[i].chunk;
	}
	fits = place >= base->arena_end;
	base->aliased = base->count;
	for (i = 0; i < g->nplanes; i++)
		if (used[i] < backing(g, i))
			base->chunks[base->count++] = (struct kvp_chunk){
				.plane = (uint32_t)i,
				.offset = used[i],
				.bytes = backing(g, i) - used[i],
				.arena = KVP_UNALIASED,
			};
	free(tiles);
	free(used);
	if (!fits)
		gen_base_release(base);
	return fits;
}

void gen_base_release(struct gen_base *base)
{
	free(base->chunks);
	*base = (struct gen_base){ 0 };
}

/* Lay the aliased tiles in another order, places anew. */
static void shuffle(struct gen_base *base, struct gen_rng *r)
{
	uint64_t place = base->dedicated;
	struct kvp_chunk keep;
	size_t i, k, near = (size_t)gen_range(r, 1, base->aliased);

	for (i = base->aliased; i-- > 1;) {
		k = i - (size_t)gen_below(r, i < near ? i + 1 : near);
		keep = base->chunks[i];
		base->chunks[i] = base->chunks[k];
		base->chunks[k] = keep;
	}
	for (i = 0; i < base->aliased; i++) {
		base->chunks[i].arena = place;
		place += base->chunks[i].bytes;
	}
}

/* By plane, so that many neighbours in a plane become so in the arena. */
static int by_plane(const void *x, const void *y)
{
	const struct kvp_chunk *a = x, *b = y;

	if (a->plane != b->plane)
		return a->plane < b->plane ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Sort short stretches by plane, places anew. */
static void gather(struct gen_base *base, struct gen_rng *r)
{
	uint64_t place = base->dedicated;
	size_t i, n;

	for (i = 0; i < base->aliased; i += n) {
		n = (size_t)gen_range(r, 1, 12);
		if (n > base->aliased - i)
			n = base->aliased - i;
		qsort(base->chunks + i, n, sizeof(*base->chunks), by_plane);
	}
	for (i = 0; i < base->aliased; i++) {
		base->chunks[i].arena = place;
		place += base->chunks[i].bytes;
	}
}

/*
 * A layout that covers planes and arena may not begin a chunk behind A:
 * after shuffling, the shortest tile need not be last any more.
 */
static bool ends_well(const struct gen_base *base)
{
	return !base->aliased ||
	       base->chunks[base->aliased - 1].arena < base->arena_end;
}

/* Neighbours in plane and arena become one, each plane by its own odds. */
static void join(struct gen_base *base, const struct kvp_geometry *g,
		 struct gen_rng *r)
{
	unsigned *odds = gen_alloc(g->nplanes * sizeof(*odds));
	struct kvp_chunk *to = base->chunks, *last;
	size_t i, n = 0;

	for (i = 0; i < g->nplanes; i++)
		odds[i] = (unsigned)gen_below(r, 101);
	for (i = 0; i < base->aliased; i++) {
		last = n ? &to[n - 1] : NULL;
		if (last && last->plane == to[i].plane &&
		    last->offset + last->bytes == to[i].offset &&
		    gen_chance(r, odds[to[i].plane]))
			last->bytes += to[i].bytes;
		else
			to[n++] = to[i];
	}
	memmove(to + n, to + base->aliased,
		(base->count - base->aliased) * sizeof(*to));
	base->count -= base->aliased - n;
	base->aliased = n;
	free(odds);
}

/* Cut some chunks in two, at a granule. */
static void split(struct gen_base *base, const struct kvp_geometry *g,
		  struct gen_rng *r)
{
	struct kvp_chunk *to, *c;
	size_t i, n = 0, aliased = 0;
	uint64_t first;

	to = gen_alloc(2 * base->count * sizeof(*to));
	for (i = 0; i < base->count; i++) {
		c = &base->chunks[i];
		to[n++] = *c;
		if (c->bytes > g->granularity && gen_chance(r, 20)) {
			first = gen_range(r, 1, c->bytes / g->granularity - 1)
				* g->granularity;
			to[n - 1].bytes = first;
			to[n] = *c;
			to[n].offset += first;
			to[n].bytes -= first;
			if (c->arena != KVP_UNALIASED)
				to[n].arena += first;
			/* The half behind A would have no place. */
			if (c->arena == KVP_UNALIASED ||
			    to[n].arena < base->arena_end)
				n++;
			else
				to[n - 1].bytes = c->bytes;
		}
		aliased = i + 1 == base->aliased ? n : aliased;
	}
	free(base->chunks);
	base->chunks = to;
	base->count = n;
	base->aliased = aliased;
}

void gen_base_recut(struct gen_base *base, const struct kvp_geometry *g,
		    struct gen_rng *r)
{
	struct kvp_chunk *keep;
	size_t bytes = base->count * sizeof(*keep);

	if (base->aliased > 1 && gen_chance(r, 50)) {
		keep = gen_alloc(bytes);
		memcpy(keep, base->chunks, bytes);
		if (gen_chance(r, 50))
			shuffle(base, r);
		else
			gather(base, r);
		if (!ends_well(base))
			memcpy(base->chunks, keep, bytes);
		free(keep);
	}
	if (gen_chance(r, 40))
		split(base, g, r);
	join(base, g, r);
}
