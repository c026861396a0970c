/*
 * Operators on a plan's list of chunks.  Each keeps the list as sound as it
 * can otherwise, so that the rule it is for has to find it.
 */
#include <stdlib.h>
#include <string.h>

#include "fake/mutate.h"

static size_t aliased_count(const plan_t *p)
{
	size_t n = 0;

	while (n < p->nchunks && p->chunks[n].arena != KVP_UNALIASED)
		n++;
	return n;
}

/* A chunk at random among [from, to); NULL where there is none. */
static struct kvp_chunk *pick(plan_t *p, rng_t *r, size_t from, size_t to)
{
	return from < to ? &p->chunks[from + gen_below(r, to - from)] : NULL;
}

static struct kvp_chunk *pick_aliased(plan_t *p, rng_t *r)
{
	return pick(p, r, 0, aliased_count(p));
}

static struct kvp_chunk *pick_unaliased(plan_t *p, rng_t *r)
{
	return pick(p, r, aliased_count(p), p->nchunks);
}

static void remove_chunk(plan_t *p, const struct kvp_chunk *c)
{
	size_t at = (size_t)(c - p->chunks);

	p->nchunks--;
	memmove(p->chunks + at, p->chunks + at + 1,
		(p->nchunks - at) * sizeof(*p->chunks));
}

/* The list moves: pointers into it are void. */
static void insert_chunk(plan_t *p, size_t at, struct kvp_chunk c)
{
	p->chunks = realloc(p->chunks, (p->nchunks + 1) * sizeof(c));
	if (!p->chunks)
		abort();
	memmove(p->chunks + at + 1, p->chunks + at,
		(p->nchunks - at) * sizeof(c));
	p->chunks[at] = c;
	p->nchunks++;
}

static void insert_unaliased(plan_t *p, struct kvp_chunk c)
{
	size_t i = aliased_count(p);

	while (i < p->nchunks && (p->chunks[i].plane < c.plane ||
				  (p->chunks[i].plane == c.plane &&
				   p->chunks[i].offset < c.offset)))
		i++;
	c.arena = KVP_UNALIASED;
	insert_chunk(p, i, c);
}

static uint64_t bpp_of(const plan_t *p, const struct kvp_chunk *c)
{
	return p->geometry.planes[c->plane].bytes_per_page;
}

/* The arena row a chunk lies complete in, or ~0. */
static uint64_t row_of(const plan_t *p, const struct kvp_chunk *c)
{
	const struct kvp_geometry *g = &p->geometry;
	uint64_t row = c->arena / g->row_stride;

	return row < g->execution_rows + g->snapshot_rows &&
	       c->arena + c->bytes <= row * g->row_stride + g->row_bytes ?
	       row : UINT64_MAX;
}

static void swap_contents(struct kvp_chunk *a, struct kvp_chunk *b)
{
	struct kvp_chunk keep = *a;

	a->plane = b->plane;
	a->offset = b->offset;
	b->plane = keep.plane;
	b->offset = keep.offset;
}

bool swap_planes(plan_t *p, rng_t *r, int arg)
{
	struct kvp_chunk *a = pick_aliased(p, r), *b = pick_aliased(p, r);
	uint32_t keep;

	(void)arg;
	if (!a || a->plane == b->plane || a->offset == b->offset)
		return false;
	keep = a->plane;
	a->plane = b->plane;
	b->plane = keep;
	return true;
}

/* Two chunks of one length that hold different tiles change places. */
bool swap_places(plan_t *p, rng_t *r, int arg)
{
	struct kvp_chunk *a = pick_aliased(p, r), *b;
	uint64_t x, y;
	int tries;

	for (tries = 0; a && tries < 20; tries++) {
		b = pick_aliased(p, r);
		x = row_of(p, a);
		y = row_of(p, b);
		if (a == b || a->bytes != b->bytes ||
		    (a->offset == b->offset && bpp_of(p, a) == bpp_of(p, b)))
			continue;
		if (arg == WITHIN ? x != y || x == UINT64_MAX ||
				    p->merge != KVP_MERGE_NONE :
		    arg == ACROSS ? x == y || (x & y) == UINT64_MAX ||
				    x == UINT64_MAX || y == UINT64_MAX :
				    (x == UINT64_MAX) == (y == UINT64_MAX))
			continue;
		swap_contents(a, b);
		return true;
	}
	return false;
}

/* In mode none not even equal tiles may change places. */
bool swap_equal_in_none(plan_t *p, rng_t *r, int arg)
{
	struct kvp_chunk *a = pick_aliased(p, r), *b;
	int tries;

	(void)arg;
	if (!a || p->merge != KVP_MERGE_NONE)
		return false;
	for (tries = 0; tries < 40; tries++) {
		b = pick_aliased(p, r);
		if (a->plane != b->plane && bpp_of(p, a) == bpp_of(p, b) &&
		    a->offset == b->offset && a->bytes == b->bytes) {
			swap_contents(a, b);
			return true;
		}
	}
	return false;
}

bool shift_place(plan_t *p, rng_t *r, int arg)
{
	struct kvp_chunk *c = pick_aliased(p, r);
	uint64_t by = p->geometry.granularity;

	if (!c || (arg < 0 && c->arena < by))
		return false;
	c->arena += arg > 0 ? by : 0 - by;
	return true;
}

bool misalign(plan_t *p, rng_t *r, int arg)
{
	struct kvp_chunk *c = pick_aliased(p, r);

	if (!c)
		return false;
	if (arg < 2)
		*(arg ? &c->bytes : &c->offset) += 1;
	else if (arg == 2)
		c->arena += 1;
	else
		c->bytes = 0;
	return true;
}

bool resize(plan_t *p, rng_t *r, int arg)
{
	struct kvp_chunk *c = pick(p, r, 0, p->nchunks);
	uint64_t by = p->geometry.granularity;

	if (arg < 0 && c->bytes <= by)
		return false;
	c->bytes += arg > 0 ? by : 0 - by;
	return true;
}

bool drop_chunk(plan_t *p, rng_t *r, int arg)
{
	(void)arg;
	remove_chunk(p, pick(p, r, 0, p->nchunks));
	return true;
}

bool duplicate_chunk(plan_t *p, rng_t *r, int arg)
{
	const struct kvp_chunk *c = pick(p, r, 0, p->nchunks);

	(void)arg;
	insert_chunk(p, (size_t)(c - p->chunks), *c);
	return true;
}

/* Split an aliased chunk, or an unaliased one. */
bool split_chunk(plan_t *p, rng_t *r, int unaliased)
{
	struct kvp_chunk *c = unaliased ? pick_unaliased(p, r) :
					  pick_aliased(p, r), rest;
	uint64_t g = p->geometry.granularity, first;

	if (!c || c->bytes <= g)
		return false;
	rest = *c;
	first = gen_range(r, 1, c->bytes / g - 1) * g;
	c->bytes = first;
	rest.offset += first;
	rest.bytes -= first;
	if (!unaliased)
		rest.arena += first;
	insert_chunk(p, (size_t)(c - p->chunks) + 1, rest);
	return true;
}

/* Neighbours in arena and plane that the mode does not let merge. */
bool merge_illegally(plan_t *p, rng_t *r, int arg)
{
	size_t n = aliased_count(p), i, k, from;
	struct kvp_chunk *a, *b;

	(void)arg;
	if (p->merge == KVP_MERGE_SPAN || n < 2)
		return false;
	from = gen_below(r, n - 1);
	for (k = 0; k < n - 1; k++) {
		i = (from + k) % (n - 1);
		a = &p->chunks[i];
		b = &p->chunks[i + 1];
		if (a->plane != b->plane || a->offset + a->bytes != b->offset)
			continue;
		a->bytes += b->bytes;
		remove_chunk(p, b);
		return true;
	}
	return false;
}

/* The tail of a plane goes to the aliased chunk before it. */
bool absorb_tail(plan_t *p, rng_t *r, int arg)
{
	const struct kvp_chunk *tail = pick_unaliased(p, r);
	size_t n = aliased_count(p), i;

	(void)arg;
	for (i = 0; tail && i < n; i++) {
		struct kvp_chunk *c = &p->chunks[i];

		if (c->plane != tail->plane ||
		    c->offset + c->bytes != tail->offset)
			continue;
		c->bytes += tail->bytes;
		remove_chunk(p, tail);
		return true;
	}
	return false;
}

bool reorder_list(plan_t *p, rng_t *r, int arg)
{
	size_t n = aliased_count(p), from, to, i;
	struct kvp_chunk keep;

	from = arg == AMONG_UNALIASED ? n : arg == BETWEEN ? n - 1 : 0;
	to = arg == AMONG_UNALIASED ? p->nchunks : arg == BETWEEN ? n + 1 : n;
	if (to > p->nchunks || from > to || to - from < 2)
		return false;
	i = from + gen_below(r, to - from - 1);
	keep = p->chunks[i];
	p->chunks[i] = p->chunks[i + 1];
	p->chunks[i + 1] = keep;
	return true;
}

bool no_such_plane(plan_t *p, rng_t *r, int arg)
{
	uint32_t n = (uint32_t)p->geometry.nplanes;

	pick(p, r, 0, p->nchunks)->plane = arg ? UINT32_MAX : n;
	return true;
}

bool unalias(plan_t *p, rng_t *r, int arg)
{
	struct kvp_chunk *c = pick_aliased(p, r), keep;

	(void)arg;
	if (!c)
		return false;
	keep = *c;
	remove_chunk(p, c);
	insert_unaliased(p, keep);
	return true;
}

/* An unaliased chunk gets the next place in the arena. */
bool alias_more(plan_t *p, rng_t *r, int arg)
{
	struct kvp_chunk *c = pick_unaliased(p, r), keep;
	size_t n = aliased_count(p);

	(void)arg;
	if (!c)
		return false;
	keep = *c;
	remove_chunk(p, c);
	keep.arena = n ? p->chunks[n - 1].arena + p->chunks[n - 1].bytes :
			 p->dedicated_bytes;
	insert_chunk(p, n, keep);
	return true;
}

/* Memory no row may have takes the place of an aliased chunk. */
bool alias_instead(plan_t *p, rng_t *r, int kept_out)
{
	struct kvp_chunk *a = pick_aliased(p, r), *u = pick_unaliased(p, r);
	struct kvp_chunk freed;

	if (!a || !u || u->bytes < a->bytes ||
	    (kept_out && p->geometry.planes[u->plane].alias))
		return false;
	freed = *a;
	a->plane = u->plane;
	a->offset = u->offset;
	u->offset += a->bytes;
	u->bytes -= a->bytes;
	if (!u->bytes)
		remove_chunk(p, u);
	insert_unaliased(p, freed);
	return true;
}
