/*
 * Rules on where chunks lie: alignment, plane-coverage, arena-coverage,
 * physical-bytes, addresses, address-space.  Arena-coverage may rely on
 * chunks being aligned and not empty, addresses on their covering planes and
 * arena.
 */
#include <assert.h>

#include "base/u64.h"
#include "check/check.h"
#include "check/conflict.h"

static uint64_t get_end(const struct kvp_chunk *chunk)
{
	return chunk->offset + chunk->bytes;
}

/* Check that a number could stand in a document, so that no sum of two wraps
   around. */
static void check_number(struct check *c, size_t i, const char *what,
			 uint64_t value)
{
	if (value > KVP_NUMBER_MAX)
		check_report_limit(c, KVP_AT_CHUNK, i, what, value,
				   KVP_AT_MOST, KVP_NUMBER_MAX);
}

int check_rule_alignment(struct check *c)
{
	uint64_t g = c->geometry->granularity;
	size_t i;

	assert(g && !(g & (g - 1)));
	for (i = 0; i < c->plan->nchunks; i++) {
		const struct kvp_chunk *chunk = &c->plan->chunks[i];

		check_number(c, i, "begins at byte", chunk->offset);
		check_number(c, i, "has bytes", chunk->bytes);
		if (chunk->arena != KVP_UNALIASED)
			check_number(c, i, "begins in the arena at byte",
				     chunk->arena);
		if (chunk->offset & (g - 1))
			check_report(c, KVP_AT_CHUNK, i, "begins at byte",
				     chunk->offset, chunk->offset & ~(g - 1));
		if (!chunk->bytes || chunk->bytes & (g - 1))
			check_report(c, KVP_AT_CHUNK, i, "has bytes",
				     chunk->bytes,
				     u64_max(chunk->bytes & ~(g - 1), g));
		if (chunk->arena != KVP_UNALIASED && chunk->arena & (g - 1))
			check_report(c, KVP_AT_CHUNK, i,
				     "begins in the arena at byte",
				     chunk->arena, chunk->arena & ~(g - 1));
	}
	return KVP_OK;
}

/*
 * Check that unaliased chunks are listed last, by plane and offset.  Only
 * neighbours are compared: one chunk that is listed late is one finding, not
 * one for every chunk after it.
 */
static void check_list_order(struct check *c)
{
	const struct kvp_chunk *chunk, *last = NULL;
	size_t i;

	for (i = 0; i < c->plan->nchunks; i++) {
		chunk = &c->plan->chunks[i];
		if (chunk->arena != KVP_UNALIASED) {
			if (last && last == chunk - 1)
				check_report(c, KVP_AT_CHUNK, i - 1,
					     "is unaliased amid aliased ones:",
					     1, 0);
			continue;
		}
		if (last && chunk->plane < last->plane)
			check_report(c, KVP_AT_CHUNK, i,
				     "is unaliased, listed late, of plane",
				     chunk->plane, last->plane);
		else if (last && chunk->plane == last->plane &&
			 chunk->offset < last->offset)
			check_report(c, KVP_AT_CHUNK, i,
				     "is unaliased, listed late, at byte",
				     chunk->offset, get_end(last));
		last = chunk;
	}
}

static void check_plane(struct check *c, size_t plane)
{
	uint64_t pos = 0, backing = c->base.backing[plane];
	uint32_t i;

	assert(c->order.first[plane] <= c->order.first[plane + 1]);
	for (i = c->order.first[plane]; i < c->order.first[plane + 1]; i++) {
		const uint32_t at = c->order.chunk[i];
		const struct kvp_chunk *chunk = &c->plan->chunks[at];

		/* A gap if it begins later, an overlap if earlier. */
		if (chunk->offset != pos)
			check_report(c, KVP_AT_CHUNK, at, "begins at byte",
				     chunk->offset, pos);
		if (get_end(chunk) > backing)
			check_report(c, KVP_AT_CHUNK, at,
				     "ends beyond its plane at byte",
				     get_end(chunk), backing);
		pos = u64_max(pos, get_end(chunk));
	}
	if (pos < backing)
		check_report(c, KVP_AT_PLANE, plane, "is covered up to byte",
			     pos, backing);
}

int check_rule_plane_coverage(struct check *c)
{
	const size_t nplanes = c->geometry->nplanes;
	size_t i;

	assert(c->order.first[nplanes] <= c->plan->nchunks);
	for (i = 0; i < c->plan->nchunks; i++)
		if (c->plan->chunks[i].plane >= nplanes)
			check_report(c, KVP_AT_CHUNK, i,
				     "names a plane that is not there",
				     c->plan->chunks[i].plane, nplanes - 1);
	for (i = 0; i < nplanes; i++)
		check_plane(c, i);
	check_list_order(c);
	return KVP_OK;
}

/* Sort aliased chunks by arena address, and check that they are listed in
   that order. */
static bool sort_by_arena(struct check *c, struct check_keys *sorted)
{
	uint64_t before = 0;
	size_t i;

	for (i = 0; i < c->plan->nchunks; i++) {
		uint64_t arena = c->plan->chunks[i].arena;

		if (arena == KVP_UNALIASED)
			continue;
		if (arena < before)
			check_report(c, KVP_AT_CHUNK, i,
				     "is listed late, with arena place",
				     arena, before);
		before = arena;
		if (!check_keys_add(sorted, arena, i, 0))
			return false;
	}
	return check_keys_sort(sorted);
}

int check_rule_arena_coverage(struct check *c)
{
	struct check_keys sorted = { 0 };
	uint64_t pos = c->base.dedicated, end;
	int code = KVP_ENOMEM;
	size_t i;

	if (!sort_by_arena(c, &sorted))
		goto done;
	assert(sorted.count == c->naliased);
	for (i = 0; i < sorted.count; i++) {
		const struct check_key *k = &sorted.key[i];

		if (k->a != pos)
			check_report(c, KVP_AT_CHUNK, k->b,
				     "begins in the arena at byte", k->a, pos);
		end = k->a + c->plan->chunks[k->b].bytes;
		if (end > c->base.laid_end)
			check_report(c, KVP_AT_CHUNK, k->b,
				     "ends in the arena at byte", end,
				     c->base.laid_end);
		pos = u64_max(pos, end);
	}
	if (pos < c->base.laid_end)
		check_report(c, KVP_AT_PLAN, 0, "arena is covered up to byte",
			     pos, c->base.laid_end);
	code = KVP_OK;
done:
	check_keys_release(&sorted);
	return code;
}

int check_rule_physical_bytes(struct check *c)
{
	uint64_t sum = 0, stated = c->plan->summary.physical_bytes;
	size_t i;

	for (i = 0; i < c->plan->nchunks; i++)
		sum = u64_add_capped(sum, c->plan->chunks[i].bytes);
	if (sum != c->base.physical_bytes)
		check_report(c, KVP_AT_PLAN, 0, "chunks have bytes in all",
			     sum, c->base.physical_bytes);
	if (stated != c->base.physical_bytes)
		check_report(c, KVP_AT_PLAN, 0, "physical_bytes is", stated,
			     c->base.physical_bytes);
	return KVP_OK;
}

/* Check that the last chunk of every plane ends where its backing ends. */
static void check_plane_ends(struct check *c)
{
	size_t i;

	for (i = 0; i < c->geometry->nplanes; i++) {
		uint32_t first = c->order.first[i];
		uint32_t last = c->order.first[i + 1];
		uint64_t end = 0;

		if (first < last)
			end = get_end(&c->plan->chunks
					      [c->order.chunk[last - 1]]);
		if (end != c->base.backing[i])
			check_report(c, KVP_AT_PLANE, i, "ends at byte", end,
				     c->base.backing[i]);
	}
}

int check_rule_addresses(struct check *c)
{
	const struct kvp_chunk *chunk = c->plan->chunks;
	uint64_t row, from, to, pos;
	size_t i = 0;

	if (c->plan->dedicated_bytes != c->base.dedicated)
		check_report(c, KVP_AT_PLAN, 0, "dedicated_bytes is",
			     c->plan->dedicated_bytes, c->base.dedicated);
	/* Needs arena-coverage: aliased chunks come first, by arena address. */
	assert(c->naliased <= c->plan->nchunks);
	check_plane_ends(c);
	for (row = 0; row < c->geometry->snapshot_rows; row++) {
		check_row_bytes(c->geometry, c->base.dedicated, row, &from,
				&to);
		pos = from;
		/* The last chunk of a row may reach into the next row. */
		while (i < c->naliased && pos < to &&
		       chunk[i].arena <= pos) {
			pos = u64_max(pos, chunk[i].arena + chunk[i].bytes);
			if (pos <= to)
				i++;
		}
		if (pos < to)
			check_report(c, KVP_AT_ROW, row, "is mapped up to byte",
				     pos, to);
	}
	return KVP_OK;
}

static void check_end(struct check *c, enum kvp_place place, uint64_t index,
		      const char *what, uint64_t end)
{
	if (end > KVP_ADDRESS_END)
		check_report_limit(c, place, index, what, end, KVP_AT_MOST,
				   KVP_ADDRESS_END);
}

int check_rule_address_space(struct check *c)
{
	const struct kvp_geometry *g = c->geometry;
	uint64_t arena = u64_max(c->base.arena_end, c->base.laid_end);
	uint64_t all;
	size_t i;

	if (!u64_round_up(arena, g->granularity, &arena))
		arena = UINT64_MAX;
	all = arena;
	for (i = 0; i < g->nplanes; i++)
		all = u64_add_capped(all, c->base.backing[i]);
	check_end(c, KVP_AT_PLAN, 0,
		  "planes and arena take bytes of addresses:", all);
	if (g->has_arena_address)
		check_end(c, KVP_AT_PLAN, 0, "arena is recorded to end at",
			  u64_add_capped(g->arena_address, arena));
	for (i = 0; i < g->nplanes; i++)
		if (g->planes[i].has_address)
			check_end(c, KVP_AT_PLANE, i, "is recorded to end at",
				  u64_add_capped(g->planes[i].address,
						 c->base.backing[i]));
	return KVP_OK;
}
