/*
 * Junctions: aliased chunks are sorted by (bytes per page, offset, bytes), and
 * the chunks that begin where others end are found in that order.
 */
#include <assert.h>
#include <stdlib.h>

#include <kvplan/geometry.h>

#include "base/error.h"
#include "plan/work.h"

/* An offset in granules has at most 41 bits: 2^53 / 4096. */
#define OFFSET_BITS 42

/* Planes of one bytes_per_page form a class: class_of[plane]. */
static int find_classes(uint32_t *class_of, const struct kvp_geometry *g,
			struct kvp_error *err)
{
	uint64_t *sizes = malloc(g->nplanes * sizeof(*sizes));
	uint32_t *index = malloc(g->nplanes * sizeof(*index));
	int code = KVP_OK;
	uint32_t class = 0;
	size_t i;

	if (!sizes || !index) {
		code = kvp_error_nomem(err);
		goto done;
	}
	for (i = 0; i < g->nplanes; i++) {
		sizes[i] = g->planes[i].bytes_per_page;
		index[i] = (uint32_t)i;
	}
	code = radix_sort(sizes, index, g->nplanes, err);
	for (i = 0; i < g->nplanes && !code; i++) {
		class += i && sizes[i] != sizes[i - 1];
		assert(index[i] < g->nplanes && class < g->nplanes);
		class_of[index[i]] = class;
	}
done:
	free(sizes);
	free(index);
	return code;
}

/* The granularity is a power of two; a shift is faster than a division. */
static unsigned count_granule_bits(const struct kvp_geometry *g)
{
	unsigned bits = 0;

	while (UINT64_C(1) << bits < g->granularity)
		bits++;
	assert(UINT64_C(1) << bits == g->granularity);
	return bits;
}

static uint64_t make_key(uint32_t class, uint64_t offset, unsigned bits)
{
	return (uint64_t)class << OFFSET_BITS | offset >> bits;
}

/* Fill j->order, and sort the keys with it. */
static int sort_slots(struct junctions *j, uint64_t *keys,
		      const uint32_t *class_of, const struct layout *l,
		      const struct kvp_geometry *g, struct kvp_error *err)
{
	unsigned bits = count_granule_bits(g);
	const struct kvp_chunk *c;
	uint32_t i;
	int code;

	/* The bits of an offset and those of a class do not overlap. */
	assert(bits + OFFSET_BITS > 53 && g->nplanes <= UINT32_MAX >> 10);
	for (i = 0; i < l->aliased; i++) {
		j->order[i] = i;
		keys[i] = l->chunks[i].bytes;
	}
	code = radix_sort(keys, j->order, l->aliased, err);
	if (code)
		return code;
	for (i = 0; i < l->aliased; i++) {
		c = &l->chunks[j->order[i]];
		keys[i] = make_key(class_of[c->plane], c->offset, bits);
	}
	return radix_sort(keys, j->order, l->aliased, err);
}

/* Number the junctions; keys[i] becomes the key of junction i. */
static void number_starts(struct junctions *j, uint64_t *keys, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!j->count || keys[i] != keys[j->count - 1])
			keys[j->count++] = keys[i];
		j->start[j->order[i]] = j->count - 1;
	}
}

/* The junction with this key, number `from` or higher, or NONE. */
static uint32_t find_junction(const uint64_t *keys, uint32_t count,
			      uint32_t from, uint64_t wanted)
{
	uint32_t low = from, high = count, mid;

	/* Mostly a tile ends where the next junction is: look there first. */
	if (low < high && keys[low] >= wanted)
		return keys[low] == wanted ? low : NONE;
	while (low < high) {
		mid = low + (high - low) / 2;
		if (keys[mid] < wanted)
			low = mid + 1;
		else
			high = mid;
	}
	return low < count && keys[low] == wanted ? low : NONE;
}

static void find_ends(struct junctions *j, const uint64_t *keys,
		      const uint32_t *class_of, const struct layout *l,
		      const struct kvp_geometry *g)
{
	unsigned bits = count_granule_bits(g);
	const struct kvp_chunk *c;
	uint64_t end;
	uint32_t i;

	for (i = 0; i < l->aliased; i++) {
		c = &l->chunks[i];
		end = make_key(class_of[c->plane], c->offset + c->bytes, bits);
		j->end[i] = find_junction(keys, j->count, j->start[i] + 1, end);
	}
}

/* Link every chunk to the next of its plane: chunks come in offset order, so
   last[plane] is the one before. */
static int link_chunks(struct junctions *j, const struct layout *l,
		       size_t nplanes, struct kvp_error *err)
{
	uint32_t *last = malloc(nplanes * sizeof(*last));
	uint32_t i, chunk, before;
	size_t plane;

	if (!last)
		return kvp_error_nomem(err);
	for (plane = 0; plane < nplanes; plane++)
		last[plane] = NONE;
	for (i = 0; i < l->aliased; i++) {
		chunk = j->order[i];
		before = last[l->chunks[chunk].plane];
		j->next[chunk] = j->prev[chunk] = NONE;
		if (before != NONE && j->end[before] == j->start[chunk]) {
			j->next[before] = chunk;
			j->prev[chunk] = before;
		}
		last[l->chunks[chunk].plane] = chunk;
	}
	free(last);
	return KVP_OK;
}

int junctions_make(struct junctions *j, const struct layout *l,
		   const struct kvp_geometry *g, struct kvp_error *err)
{
	size_t n = (size_t)l->aliased + 1;
	uint32_t *class_of = malloc(g->nplanes * sizeof(*class_of));
	uint64_t *keys = malloc(n * sizeof(*keys));
	int code;

	*j = (struct junctions){
		.order = malloc(n * sizeof(*j->order)),
		.start = malloc(n * sizeof(*j->start)),
		.end = malloc(n * sizeof(*j->end)),
		.next = malloc(n * sizeof(*j->next)),
		.prev = malloc(n * sizeof(*j->prev)),
	};
	code = class_of && keys && j->order && j->start && j->end && j->next &&
	       j->prev ? KVP_OK : kvp_error_nomem(err);
	if (!code)
		code = find_classes(class_of, g, err);
	if (!code)
		code = sort_slots(j, keys, class_of, l, g, err);
	if (!code) {
		number_starts(j, keys, l->aliased);
		find_ends(j, keys, class_of, l, g);
		code = link_chunks(j, l, g->nplanes, err);
	}
	free(class_of);
	free(keys);
	if (code)
		junctions_release(j);
	return code;
}

void junctions_release(struct junctions *j)
{
	free(j->order);
	free(j->start);
	free(j->end);
	free(j->next);
	free(j->prev);
	*j = (struct junctions){ 0 };
}
