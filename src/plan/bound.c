/*
 * The most that merging can save (design: lower bound), and the junctions
 * that a plan has to merge at segment boundaries to save that much.
 *
 * Within a segment a junction saves min(ends, starts) chunks.  At the
 * boundary between two segments one junction may be chosen: a chunk that ends
 * there in the left segment merges with one that begins there in the right
 * segment, and neither can merge at that junction inside its own segment.  In
 * a forced chain every chunk is the only one of the segment that begins at its
 * junction and the only one that ends at the next.
 *
 * The boundaries are passed once, and the state is the junction chosen at the
 * last one:
 *
 *   - What a choice costs inside a segment depends on the choice at one side
 *     of it only, with two exceptions: the same junction is chosen on both
 *     sides, or a forced chain joins the left choice to the right one.
 *   - Choosing nothing saves at most 1 less than the best choice.  A forced
 *     chain that joins the left choice to the right one makes the pair save
 *     at least 1 less.  So such a pair is never better than choosing nothing
 *     on the left, and leaving it out does not change the result.
 *   - So a right choice only needs a best left choice that no forced chain
 *     joins to it.  This takes time linear in the chunks.
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
	int64_t saving;		/* at all boundaries so far, less what the
				   choices cost; may be below 0 */
};

struct range {
	uint32_t first;
	uint32_t count;
};

/* Of a junction, in the current segment. */
struct tally {
	uint32_t starts;
	uint32_t ends;
	uint32_t next_starts;	/* in the next segment */
	uint32_t starter;	/* a slot that begins here */
	uint32_t ender;		/* a slot that ends here */
	uint32_t left;		/* the left choice of this junction, or NONE */
	uint32_t position;	/* in the marked chain, or NONE */
	bool offered;		/* a right choice has this junction */
};

struct walk {
	const struct segments *s;
	const struct junctions *j;
	struct tally *tally;	/* [junctions] */
	struct choice *pool;
	uint32_t used;
	struct range left, right;
	/* The left choices of the highest value: */
	int64_t best;		/* that value */
	uint32_t any;		/* one of them; the forced chain through it is
				   marked */
	uint32_t other;		/* one outside the marked chain, or NONE */
	uint32_t low, high;	/* the first and the last in the marked chain */
};

/* The saving of a left choice, less what it costs in this segment. */
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

/* The next junction of the forced chain after y, or NONE. */
static uint32_t step_right(const struct walk *w, uint32_t y)
{
	uint32_t z;

	if (w->tally[y].starts != 1)
		return NONE;
	z = w->j->end[w->tally[y].starter];
	return z != NONE && w->tally[z].ends == 1 ? z : NONE;
}

/* The junction of the forced chain before z, or NONE. */
static uint32_t step_left(const struct walk *w, uint32_t z)
{
	uint32_t y;

	if (w->tally[z].ends != 1)
		return NONE;
	y = w->j->start[w->tally[z].ender];
	return w->tally[y].starts == 1 ? y : NONE;
}

/* Number the junctions of the forced chain through y, from its first on. */
static void mark_run(struct walk *w, uint32_t y)
{
	uint32_t before, position = 0;

	assert(w->tally[y].position == NONE);
	while ((before = step_left(w, y)) != NONE)
		y = before;
	for (; y != NONE; y = step_right(w, y))
		w->tally[y].position = position++;
}

/* Find the left choices of the highest value; see struct walk. */
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

	/* Outside the marked chain `any` is free; in it, what is not before
	   b. */
	if (position == NONE)
		return w->any;
	if (w->other != NONE)
		return w->other;
	if (position <= w->tally[w->pool[w->high].junction].position)
		return w->high;
	low = w->tally[w->pool[w->low].junction].position;
	assert(low < position);
	/* A chain that is the whole segment can merge on both sides. */
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
	/* The same junction on both sides lowers min() by 1, not by 2. */
	if (t->left != NONE && w->pool[t->left].saving > c.saving) {
		c.from = t->left;
		c.saving = w->pool[t->left].saving;
	}
	t->offered = true;
	w->pool[w->used++] = c;
}

/* Make the choices at a segment's right from those at its left. */
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

/* Follow the choices back from the boundary after the last segment. */
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
		/* The best is at least 0: choosing nothing saves that. */
		assert(w->pool[w->right.first].saving >= 0);
		b->saving += (uint64_t)w->pool[w->right.first].saving;
		trace_back(w, b);
	}
}

int bound_make(struct bound *b, const struct layout *l,
	       const struct segments *s, const struct junctions *j,
	       enum kvp_merge merge, struct kvp_error *err)
{
	/* Every chunk gives at most one choice, every boundary a NONE. */
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
