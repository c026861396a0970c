/*
 * The most that merging can save (design: lower bound), and the junctions
 * that a plan has to merge at segment boundaries to save that much.
 *
 * Within a segment a junction saves min(ends, starts).  Across a boundary
 * one junction may be chosen; it takes an end from the left segment and a
 * start from the right one.  Going over the boundaries once, with the
 * junction chosen at the last one as state:
 *
 *   - What a choice loses inside a segment depends on one side alone,
 *     except where the same junction is chosen left and right, and where
 *     a forced chain joins the left choice to the right one.
 *   - Choosing nothing is never more than 1 behind the best choice.  A pair
 *     joined by a forced chain loses 1 as well, so such pairs need not be
 *     looked at: they are left out, and the result is the same.
 *   - So for a right choice only the best left choices matter, and whether
 *     one of them is free of a forced chain to it: linear in the chunks.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plan/work.h"

/* A junction that may be chosen at a boundary; the first one is NONE. */
struct choice {
	uint32_t junction;
	uint32_t from;		/* the best choice at the boundary before */
	int64_t saving;		/* of all chosen boundaries, less losses;
				   a poor choice may be below 0 */
};

struct range {
	uint32_t first;
	uint32_t count;
};

/* Per junction, valid for the segment at hand. */
struct tally {
	uint32_t starts;
	uint32_t ends;
	uint32_t next_starts;	/* in the segment behind it */
	uint32_t starter;	/* a slot that begins here */
	uint32_t ender;		/* a slot that ends here */
	uint32_t left;		/* index of the left choice here, or NONE */
	uint32_t position;	/* in the marked run, or NONE */
	bool offered;		/* among the right choices already */
};

struct walk {
	const struct segments *s;
	const struct junctions *j;
	struct tally *tally;	/* [junctions] */
	struct choice *pool;
	uint32_t used;
	struct range left, right;
	/* The left choices that lose least: */
	int64_t best;
	uint32_t any;		/* one of them */
	uint32_t other;		/* one outside the marked run, or NONE */
	uint32_t low, high;	/* those in the run: first and last, by
				   position */
};

/* The value of a left choice once its loss in this segment is taken. */
static int64_t get_left_value(const struct walk *w, uint32_t i)
{
	const struct choice *c = &w->pool[i];
	const struct tally *t;

	if (c->junction == NONE)
		return c->saving;
	t = &w->tally[c->junction];
	return c->saving - (t->starts <= t->ends);
}

static void count_segment(struct walk *w, uint32_t segment)
{
	uint32_t i, end;

	for (i = w->s->first[segment]; i < w->s->first[segment + 1]; i++) {
		struct tally *t = &w->tally[w->j->start[i]];

		t->starts++;
		t->starter = i;
		end = w->j->end[i];
		if (end != NONE) {
			w->tally[end].ends++;
			w->tally[end].ender = i;
		}
	}
	if (segment + 1 == w->s->count)
		return;
	for (i = w->s->first[segment + 1]; i < w->s->first[segment + 2]; i++)
		w->tally[w->j->start[i]].next_starts++;
}

static void clear_junction(struct tally *t)
{
	*t = (struct tally){ .left = NONE, .position = NONE };
}

static void clear_segment(struct walk *w, uint32_t segment)
{
	uint32_t last = segment + 2 <= w->s->count ? segment + 2 :
						     segment + 1;
	uint32_t i;

	for (i = w->s->first[segment]; i < w->s->first[last]; i++) {
		clear_junction(&w->tally[w->j->start[i]]);
		if (w->j->end[i] != NONE)
			clear_junction(&w->tally[w->j->end[i]]);
	}
}

/* Sum of min(ends, starts); every junction is counted once. */
static uint64_t sum_inner_saving(struct walk *w, uint32_t segment)
{
	uint64_t sum = 0;
	uint32_t i, j;

	for (i = w->s->first[segment]; i < w->s->first[segment + 1]; i++) {
		j = w->j->start[i];
		if (w->tally[j].starter == i)
			sum += w->tally[j].starts < w->tally[j].ends ?
			       w->tally[j].starts : w->tally[j].ends;
	}
	return sum;
}

/* The junction behind a forced step from y, or NONE. */
static uint32_t step_right(const struct walk *w, uint32_t y)
{
	uint32_t z;

	if (w->tally[y].starts != 1)
		return NONE;
	z = w->j->end[w->tally[y].starter];
	return z != NONE && w->tally[z].ends == 1 ? z : NONE;
}

static uint32_t step_left(const struct walk *w, uint32_t z)
{
	uint32_t y;

	if (w->tally[z].ends != 1)
		return NONE;
	y = w->j->start[w->tally[z].ender];
	return w->tally[y].starts == 1 ? y : NONE;
}

/* Number the forced chain through y from its first junction on. */
static void mark_run(struct walk *w, uint32_t y)
{
	uint32_t before, position = 0;

	assert(w->tally[y].position == NONE);
	while ((before = step_left(w, y)) != NONE)
		y = before;
	for (; y != NONE; y = step_right(w, y))
		w->tally[y].position = position++;
}

/* Find the left choices that lose least, and where they stand. */
static void find_best(struct walk *w)
{
	uint32_t end = w->left.first + w->left.count, i, p, low, high;

	assert(w->left.count && w->pool[w->left.first].junction == NONE);
	w->best = w->pool[w->left.first].saving;
	w->any = w->other = w->left.first;
	for (i = w->left.first + 1; i < end; i++)
		if (get_left_value(w, i) > w->best) {
			w->best = get_left_value(w, i);
			w->any = i;
		}
	if (w->any == w->other)
		return;		/* choosing nothing is as good as any */
	mark_run(w, w->pool[w->any].junction);
	w->other = NONE;
	w->low = w->high = w->any;
	for (i = w->any + 1; i < end; i++) {
		if (get_left_value(w, i) != w->best)
			continue;
		p = w->tally[w->pool[i].junction].position;
		low = w->tally[w->pool[w->low].junction].position;
		high = w->tally[w->pool[w->high].junction].position;
		if (p == NONE)
			w->other = i;
		else if (p < low)
			w->low = i;
		else if (p > high)
			w->high = i;
	}
}

/* The best left choice that no forced chain joins to right choice b. */
static uint32_t find_free_choice(const struct walk *w, uint32_t b,
				 uint32_t chunks)
{
	uint32_t position = w->tally[b].position, low;

	/* Outside the marked run `any` is free; on it what is not before b. */
	if (position == NONE)
		return w->any;
	if (w->other != NONE)
		return w->other;
	if (position <= w->tally[w->pool[w->high].junction].position)
		return w->high;
	low = w->tally[w->pool[w->low].junction].position;
	assert(low < position);
	/* A chain that is the whole segment can serve both sides. */
	if (position - low == chunks)
		return w->low;
	return w->left.first;
}

static void add_choice(struct walk *w, uint32_t junction, uint32_t chunks)
{
	struct tally *t = &w->tally[junction];
	struct choice c = { .junction = junction };

	c.from = find_free_choice(w, junction, chunks);
	c.saving = get_left_value(w, c.from) + 1 - (t->ends <= t->starts);
	/* One junction on both sides: min() falls by 1 once, not twice. */
	if (t->left != NONE && w->pool[t->left].saving > c.saving) {
		c.from = t->left;
		c.saving = w->pool[t->left].saving;
	}
	t->offered = true;
	w->pool[w->used++] = c;
}

/* From the choices on a segment's left to those on its right. */
static void cross_segment(struct walk *w, uint32_t segment)
{
	uint32_t first = w->s->first[segment];
	uint32_t end = w->s->first[segment + 1], i, j;

	assert(first < end);
	for (i = 1; i < w->left.count; i++)
		w->tally[w->pool[w->left.first + i].junction].left =
			w->left.first + i;
	find_best(w);
	w->right.first = w->used;
	w->pool[w->used++] = (struct choice){ NONE, w->any, w->best };
	for (i = first; i < end; i++) {
		j = w->j->end[i];
		if (j != NONE && w->tally[j].next_starts &&
		    !w->tally[j].offered)
			add_choice(w, j, end - first);
	}
	w->right.count = w->used - w->right.first;
}

/* The choice behind the last segment leads back through all others. */
static void trace_back(const struct walk *w, struct bound *b)
{
	uint32_t at = w->right.first, segment = w->s->count;

	while (segment-- > 0) {
		assert(at < w->used);
		b->chosen[segment] = w->pool[at].junction;
		at = w->pool[at].from;
	}
}

static void walk_segments(struct walk *w, struct bound *b, bool span)
{
	uint32_t segment;

	w->pool[w->used++] = (struct choice){ NONE, 0, 0 };
	w->right = (struct range){ 0, 1 };
	for (segment = 0; segment < w->s->count; segment++) {
		b->chosen[segment] = NONE;
		count_segment(w, segment);
		b->saving += sum_inner_saving(w, segment);
		if (span) {
			w->left = w->right;
			cross_segment(w, segment);
		}
		clear_segment(w, segment);
	}
	assert(b->saving <= w->s->first[w->s->count]);
	if (span && w->s->count) {
		/* Choosing nothing anywhere saves 0, so the best is no less. */
		assert(w->pool[w->right.first].saving >= 0);
		b->saving += (uint64_t)w->pool[w->right.first].saving;
		trace_back(w, b);
	}
}

int bound_make(struct bound *b, const struct layout *l,
	       const struct segments *s, const struct junctions *j,
	       enum kvp_merge merge, struct kvp_error *err)
{
	/* Every chunk is offered once at most, every boundary has a NONE. */
	size_t most = (size_t)l->aliased + s->count + 1;
	struct walk w = {
		.s = s, .j = j,
		.tally = malloc(((size_t)j->count + 1) * sizeof(*w.tally)),
		.pool = malloc(most * sizeof(*w.pool)),
	};
	uint32_t i;
	int code = KVP_OK;

	*b = (struct bound){
		.chosen = malloc(((size_t)s->count + 1) * sizeof(*b->chosen)),
	};
	if (!w.tally || !w.pool || !b->chosen) {
		bound_release(b);
		code = kvp_error_nomem(err);
	} else {
		for (i = 0; i < j->count; i++)
			clear_junction(&w.tally[i]);
		for (i = 0; i < s->count; i++)
			b->chosen[i] = NONE;
		if (merge != KVP_MERGE_NONE)
			walk_segments(&w, b, merge == KVP_MERGE_SPAN);
	}
	free(w.tally);
	free(w.pool);
	return code;
}

void bound_release(struct bound *b)
{
	free(b->chosen);
	*b = (struct bound){ 0 };
}
