/*
 * The base layout, computed or recorded.  Owns everything that a struct
 * check_base points to.  Shares no code with the planner.
 */
#include "check/base_layout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/u64.h"
#include "check/conflict.h"

/* The next tile of one plane that is not laid yet. */
struct head {
	uint64_t page;		/* its first page */
	uint32_t plane;
};

/* All planes that still have tiles, the one to lay next on top. */
struct heap {
	struct head *head;
	size_t count;
	uint64_t *next;		/* [nplanes]: offset of the next tile */
};

static int fail_too_big(struct kvp_error *err)
{
	return kvp_error_set(err, KVP_ELIMIT,
			     "the base layout has more than %llu"
			     " chunks", (ull)KVP_CHUNKS_MAX);
}

static int fail_overflow(struct kvp_error *err)
{
	return kvp_error_set(err, KVP_ELIMIT,
			     "the geometry's sizes exceed 64 bits");
}

static bool lays_before(const struct head *x, const struct head *y)
{
	if (x->page != y->page)
		return x->page < y->page;
	return x->plane < y->plane;
}

static void sift_down(struct heap *heap, size_t at)
{
	struct head moved = heap->head[at];
	size_t child;

	assert(at < heap->count);
	for (;; at = child) {
		child = 2 * at + 1;
		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    lays_before(&heap->head[child + 1], &heap->head[child]))
			child++;
		if (!lays_before(&heap->head[child], &moved))
			break;
		heap->head[at] = heap->head[child];
	}
	heap->head[at] = moved;
}

/*
 * Compute D, A and the backings, and check that the rows fit before any tile
 * is laid.
 */
static int measure_sizes(struct check_base *base, const struct kvp_geometry *g,
			 struct kvp_error *err)
{
	uint64_t rows, bytes, room = 0;
	size_t i;

	if (!u64_mul(g->execution_rows, g->row_stride, &bytes) ||
	    !u64_round_up(bytes, g->granularity, &base->dedicated) ||
	    !u64_add(g->execution_rows, g->snapshot_rows, &rows) ||
	    !u64_mul(rows, g->row_stride, &base->arena_end))
		return fail_overflow(err);
	base->laid_end = base->dedicated;
	for (i = 0; i < g->nplanes; i++) {
		if (!u64_mul(g->pages, g->planes[i].bytes_per_page, &bytes) ||
		    !u64_round_up(bytes, g->granularity, &base->backing[i]) ||
		    !u64_add(base->physical_bytes, base->backing[i],
			     &base->physical_bytes))
			return fail_overflow(err);
		if (g->planes[i].alias)
			room += base->backing[i];
	}
	if (base->arena_end <= base->dedicated ||
	    base->arena_end - base->dedicated <= room)
		return KVP_OK;
	rows = g->row_stride ? (base->dedicated + room) / g->row_stride : 0;
	return kvp_error_set(err, KVP_EINFEASIBLE,
			     "%llu snapshot rows need %llu"
			     " bytes more than the aliased backing has;"
			     " %llu rows fit",
			     (ull)g->snapshot_rows,
			     (ull)(base->arena_end - base->dedicated - room),
			     (ull)(rows > g->execution_rows ?
				     rows - g->execution_rows : 0));
}

/* Lay tiles from the heap, end to end, until A is covered. */
static int lay_tiles(struct check_base *base, const struct kvp_geometry *g,
		     struct heap *heap, struct kvp_error *err)
{
	uint64_t tile_bytes = g->granularity * g->tile_granules;
	struct kvp_chunk *c;
	uint32_t plane;

	while (base->laid_end < base->arena_end) {
		if (base->nchunks == KVP_CHUNKS_MAX)
			return fail_too_big(err);
		assert(heap->count);
		plane = heap->head[0].plane;
		assert(heap->next[plane] < base->backing[plane]);
		c = &base->chunks[base->nchunks++];
		c->plane = plane;
		c->offset = heap->next[plane];
		c->bytes = u64_min(tile_bytes,
				   base->backing[plane] - c->offset);
		c->arena = base->laid_end;
		base->laid_end += c->bytes;
		heap->next[plane] += c->bytes;
		if (heap->next[plane] < base->backing[plane])
			heap->head[0].page = heap->next[plane] /
					     g->planes[plane].bytes_per_page;
		else
			heap->head[0] = heap->head[--heap->count];
		if (heap->count)
			sift_down(heap, 0);
	}
	assert(base->laid_end >= base->arena_end);
	base->naliased = base->nchunks;
	return KVP_OK;
}

/* Make the rest of each plane one unaliased chunk. */
static int lay_tails(struct check_base *base, const struct kvp_geometry *g,
		     const struct heap *heap, struct kvp_error *err)
{
	struct kvp_chunk *c;
	size_t i;

	for (i = 0; i < g->nplanes; i++) {
		assert(heap->next[i] <= base->backing[i]);
		if (heap->next[i] == base->backing[i])
			continue;
		if (base->nchunks == KVP_CHUNKS_MAX)
			return fail_too_big(err);
		c = &base->chunks[base->nchunks++];
		c->plane = (uint32_t)i;
		c->offset = heap->next[i];
		c->bytes = base->backing[i] - c->offset;
		c->arena = KVP_UNALIASED;
	}
	return KVP_OK;
}

/*
 * Allocate the most chunks that there can be, or fail if they are too many:
 * whole tiles, one that ends after A, and a short tile and a tail per plane.
 */
static int alloc_chunks(struct check_base *base, const struct kvp_geometry *g,
			struct kvp_error *err)
{
	uint64_t tile_bytes, need = 0, tiles;

	if (!u64_mul(g->granularity, g->tile_granules, &tile_bytes))
		return fail_overflow(err);
	if (base->arena_end > base->dedicated)
		need = base->arena_end - base->dedicated;
	tiles = u64_ceil_div(need, tile_bytes);
	if (tiles > KVP_CHUNKS_MAX)
		return fail_too_big(err);
	tiles = u64_min(tiles + 1 + 2 * (uint64_t)g->nplanes, KVP_CHUNKS_MAX);
	base->chunks = malloc((size_t)tiles * sizeof(*base->chunks));
	return base->chunks ? KVP_OK : kvp_error_nomem(err);
}

static int compute_chunks(struct check_base *base,
			  const struct kvp_geometry *g, struct kvp_error *err)
{
	struct heap heap = { 0 };
	size_t i;
	int code;

	code = alloc_chunks(base, g, err);
	if (code)
		return code;
	code = KVP_ENOMEM;
	heap.head = malloc(g->nplanes * sizeof(*heap.head));
	heap.next = calloc(g->nplanes, sizeof(*heap.next));
	if (!heap.head || !heap.next) {
		kvp_error_nomem(err);
		goto done;
	}
	/* All first pages are 0, so the planes in order are a heap. */
	for (i = 0; i < g->nplanes; i++) {
		if (!g->planes[i].alias)
			continue;
		heap.head[heap.count].page = 0;
		heap.head[heap.count++].plane = (uint32_t)i;
	}
	code = lay_tiles(base, g, &heap, err);
	if (!code)
		code = lay_tails(base, g, &heap, err);
done:
	free(heap.head);
	free(heap.next);
	return code;
}

/* Two page sizes are of one kind when they are equal. */
static int find_kinds(struct check_base *base, const struct kvp_geometry *g,
		      struct kvp_error *err)
{
	struct check_keys keys = { 0 };
	uint32_t kind = 0;
	int code = KVP_ENOMEM;
	size_t i;

	for (i = 0; i < g->nplanes; i++)
		if (!check_keys_add(&keys, g->planes[i].bytes_per_page, i, 0))
			goto done;
	if (!check_keys_sort(&keys))
		goto done;
	for (i = 0; i < keys.count; i++) {
		if (i && keys.key[i].a != keys.key[i - 1].a)
			kind++;
		base->kind[keys.key[i].b] = kind;
	}
	assert(keys.count == g->nplanes);
	code = KVP_OK;
done:
	check_keys_release(&keys);
	return code ? kvp_error_nomem(err) : KVP_OK;
}

/* The snapshot row a chunk is complete in, or CHECK_FIXED. */
static uint64_t find_complete_row(const struct check_base *base,
				  const struct kvp_geometry *g,
				  const struct kvp_chunk *c)
{
	uint64_t row;

	if (c->arena + c->bytes > base->arena_end)
		return CHECK_FIXED;
	assert(g->row_stride);	/* it ends by A, so there is a row */
	row = c->arena / g->row_stride;
	assert(row >= g->execution_rows);
	if (c->arena + c->bytes > row * g->row_stride + g->row_bytes)
		return CHECK_FIXED;
	return row - g->execution_rows;
}

static int find_segments(struct check_base *base,
			 const struct kvp_geometry *g, struct kvp_error *err)
{
	struct check_segment *s;
	uint64_t row;
	size_t i;

	base->segments = malloc((base->naliased + 1) *
				sizeof(*base->segments));
	if (!base->segments)
		return kvp_error_nomem(err);
	for (i = 0; i < base->naliased; i++) {
		row = find_complete_row(base, g, &base->chunks[i]);
		s = base->segments + base->nsegments;
		if (row != CHECK_FIXED && base->nsegments &&
		    s[-1].row == row) {
			s[-1].count++;
			continue;
		}
		s->row = row;
		s->first = (uint32_t)i;
		s->count = 1;
		base->nsegments++;
	}
	return KVP_OK;
}

static int make_all(struct check_base *base, const struct kvp_geometry *g,
		    struct kvp_error *err)
{
	int code;

	if (g->nplanes > KVP_CHUNKS_MAX)
		return fail_too_big(err);
	if (g->snapshot_rows > KVP_ROWS_MAX)
		return kvp_error_set(err, KVP_ELIMIT,
				     "%llu snapshot rows, must be at "
				     "most %llu", (ull)g->snapshot_rows,
				     (ull)KVP_ROWS_MAX);
	base->backing = calloc(g->nplanes, sizeof(*base->backing));
	base->kind = malloc(g->nplanes * sizeof(*base->kind));
	if (!base->backing || !base->kind)
		return kvp_error_nomem(err);
	code = measure_sizes(base, g, err);
	if (!code && g->base_chunks)
		code = check_base_copy_recorded(base, g, err);
	else if (!code)
		code = compute_chunks(base, g, err);
	if (!code)
		code = check_order_make(&base->order, base->chunks,
					base->nchunks, g->nplanes, err);
	if (!code && g->base_chunks)
		code = check_base_verify_recorded(base, g, err);
	if (!code)
		code = find_kinds(base, g, err);
	if (!code)
		code = find_segments(base, g, err);
	if (!code)
		code = check_base_conflicts(base, g, err);
	return code;
}

int check_base_make(struct check_base *base, const struct kvp_geometry *g,
		    struct kvp_error *err)
{
	int code;

	memset(base, 0, sizeof(*base));
	assert(g->nplanes && g->granularity && g->tile_granules);
	code = make_all(base, g, err);
	if (code)
		check_base_release(base);
	return code;
}

void check_base_release(struct check_base *base)
{
	free(base->chunks);
	check_order_release(&base->order);
	free(base->backing);
	free(base->kind);
	free(base->segments);
	free(base->spans);
	free(base->row_first);
	memset(base, 0, sizeof(*base));
}
