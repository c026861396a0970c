/*
 * Which chunk lies on which slot, so that as many neighbours are of one plane
 * as the bound says.
 *
 * Slots with the same (bytes per page, offset, bytes) are a group.  Groups are
 * assigned from the last to the first, since the last aliased tiles may exist
 * for some planes only.  So when a group is assigned, every chunk that follows
 * one of its chunks in a plane, the follower, already has a slot.  A segment
 * (see work.h) prefers the chunks whose follower lies in that segment: it takes
 * as many of them as it has slots of the group.
 *
 * Two slots of a segment are special: the first one, if it merges with the
 * segment on the left, and the last one, if it merges with the one on the
 * right.  They must not be in one chain if the segment holds other chunks.  So
 * chains use the low slots of a group, beginning with the first slot, and the
 * last slot is the highest of its group.  In a segment, `ends` are the group's
 * slots and `starts` the slots of the followers, both ascending:
 *
 *   fewer ends than starts   ends 0..e-1 are bound to starts 0..e-1
 *   more ends than starts    the lowest ends are bound to none
 */
#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "plan/work.h"

/* A chunk of the current group; the next one of its plane lies on `slot`. */
struct follower {
	uint32_t slot;
	uint32_t chunk;
};

struct assigner {
	const struct layout *l;
	const struct segments *s;
	const struct junctions *j;
	const struct bound *b;
	struct assignment *a;
	struct follower *followers;
	const uint32_t *slots;	/* the group's, ascending */
	uint32_t count;
};

static void bind(struct assigner *g, uint32_t slot, uint32_t chunk)
{
	assert(g->a->chunk[slot] == NONE && g->a->slot[chunk] == NONE);
	g->a->chunk[slot] = chunk;
	g->a->slot[chunk] = slot;
}

static int by_slot(const void *a, const void *b)
{
	uint32_t x = ((const struct follower *)a)->slot;
	uint32_t y = ((const struct follower *)b)->slot;

	return (x > y) - (x < y);
}

/* Most groups have at most as many slots as there are planes. */
static void sort_followers(struct follower *f, uint32_t count)
{
	struct follower keep;
	uint32_t i, k;

	if (count > 64) {
		qsort(f, count, sizeof(*f), by_slot);
		return;
	}
	for (i = 1; i < count; i++) {
		keep = f[i];
		for (k = i; k && f[k - 1].slot > keep.slot; k--)
			f[k] = f[k - 1];
		f[k] = keep;
	}
}

static uint32_t find_followers(struct assigner *g)
{
	uint32_t i, next, count = 0;

	for (i = 0; i < g->count; i++) {
		next = g->j->next[g->slots[i]];
		/* The next chunk is in a group that is assigned already. */
		assert(next == NONE || g->a->slot[next] != NONE);
		if (next != NONE)
			g->followers[count++] = (struct follower){
				g->a->slot[next], g->slots[i] };
	}
	sort_followers(g->followers, count);
	return count;
}

/* The junction chosen at the boundary left of a segment. */
static uint32_t get_chosen_left(const struct assigner *g, uint32_t segment)
{
	return segment ? g->b->chosen[segment - 1] : NONE;
}

/* The index of the group's first slot in `segment` or after it. */
static uint32_t find_lower_slot(const struct assigner *g, uint32_t segment)
{
	uint32_t low = 0, high = g->count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (g->s->of[g->slots[mid]] < segment)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Mark the group's slots that merge with the segment on their left. */
static void mark_first_slots(struct assigner *g)
{
	uint32_t start = g->j->start[g->slots[0]], i, segment;

	for (i = 0; i < g->count; i++) {
		segment = g->s->of[g->slots[i]];
		if (get_chosen_left(g, segment) == start &&
		    g->a->first[segment] == NONE)
			g->a->first[segment] = g->slots[i];
	}
}

/*
 * If a chunk's follower lies on a segment's first slot, bind the chunk to the
 * last slot of the segment before.  False: the follower lies on another slot.
 */
static bool bind_boundary(struct assigner *g, const struct follower *f)
{
	uint32_t segment = g->s->of[f->slot], at, slot;

	if (g->a->first[segment] != f->slot)
		return false;
	at = find_lower_slot(g, segment);
	if (!at || g->s->of[g->slots[at - 1]] != segment - 1)
		return true;
	slot = g->slots[at - 1];
	assert(segment && slot < f->slot);
	if (g->a->chunk[slot] == NONE && g->a->last[segment - 1] == NONE) {
		bind(g, slot, f->chunk);
		g->a->last[segment - 1] = slot;
	}
	return true;
}

/* Bind chunks whose followers lie in one segment to the group's slots there. */
static void bind_segment(struct assigner *g, const struct follower *f,
			 uint32_t starts)
{
	uint32_t segment = g->s->of[f->slot];
	uint32_t at = find_lower_slot(g, segment), ends = 0, i, skip;

	assert(starts);
	if (g->s->fixed[segment])
		return;
	while (at + ends < g->count &&
	       g->s->of[g->slots[at + ends]] == segment &&
	       g->a->chunk[g->slots[at + ends]] == NONE)
		ends++;
	skip = ends > starts ? ends - starts : 0;
	for (i = 0; i < starts && i < ends; i++)
		bind(g, g->slots[at + skip + i], f[i].chunk);
}

static void bind_followers(struct assigner *g)
{
	uint32_t count = find_followers(g), kept = 0, i, k;
	struct follower *f = g->followers;

	for (i = 0; i < count; i++)
		if (!bind_boundary(g, &f[i]))
			f[kept++] = f[i];
	for (i = 0; i < kept; i = k) {
		for (k = i + 1; k < kept &&
		     g->s->of[f[k].slot] == g->s->of[f[i].slot]; k++)
			;
		bind_segment(g, &f[i], k - i);
	}
}

/* Bind every other chunk to its own slot if that is free, else to the first
   free slot. */
static void bind_rest(struct assigner *g)
{
	uint32_t i, k = 0, slot;

	for (i = 0; i < g->count; i++) {
		slot = g->slots[i];
		if (g->a->chunk[slot] == NONE && g->a->slot[slot] == NONE)
			bind(g, slot, slot);
	}
	for (i = 0; i < g->count; i++) {
		if (g->a->chunk[g->slots[i]] != NONE)
			continue;
		while (g->a->slot[g->slots[k]] != NONE)
			k++;
		assert(k < g->count);
		bind(g, g->slots[i], g->slots[k]);
	}
}

/* The index in the sorted order at which the group before `end` begins. */
static uint32_t find_group_start(const struct assigner *g, uint32_t end)
{
	const uint32_t *order = g->j->order;
	uint32_t last = order[end - 1], at = end - 1;

	assert(end && end <= g->l->aliased);
	while (at && g->j->start[order[at - 1]] == g->j->start[last] &&
	       g->l->chunks[order[at - 1]].bytes == g->l->chunks[last].bytes)
		at--;
	return at;
}

static int alloc_assignment(struct assignment *a, const struct layout *l,
			    const struct segments *s, struct kvp_error *err)
{
	size_t n = (size_t)l->aliased + 1, segments = (size_t)s->count + 1, i;

	*a = (struct assignment){
		.chunk = malloc(n * sizeof(*a->chunk)),
		.slot = malloc(n * sizeof(*a->slot)),
		.first = malloc(segments * sizeof(*a->first)),
		.last = malloc(segments * sizeof(*a->last)),
	};
	if (!a->chunk || !a->slot || !a->first || !a->last) {
		assignment_release(a);
		return kvp_error_nomem(err);
	}
	for (i = 0; i < n; i++)
		a->chunk[i] = a->slot[i] = NONE;
	for (i = 0; i < segments; i++)
		a->first[i] = a->last[i] = NONE;
	return KVP_OK;
}

int assignment_make(struct assignment *a, const struct layout *l,
		    const struct segments *s, const struct junctions *j,
		    const struct bound *b, struct kvp_error *err)
{
	struct assigner g = {
		.l = l, .s = s, .j = j, .b = b, .a = a,
		.followers = malloc(((size_t)l->aliased + 1) *
				    sizeof(*g.followers)),
	};
	uint32_t end, start;
	int code = alloc_assignment(a, l, s, err);

	if (!code && !g.followers) {
		assignment_release(a);
		code = kvp_error_nomem(err);
	}
	for (end = code ? 0 : l->aliased; end; end = start) {
		start = find_group_start(&g, end);
		g.slots = j->order + start;
		g.count = end - start;
		mark_first_slots(&g);
		bind_followers(&g);
		bind_rest(&g);
	}
	free(g.followers);
	return code;
}

int assignment_identity(struct assignment *a, const struct layout *l,
			const struct segments *s, struct kvp_error *err)
{
	uint32_t i;
	int code = alloc_assignment(a, l, s, err);

	for (i = 0; i < l->aliased && !code; i++)
		a->chunk[i] = a->slot[i] = i;
	return code;
}

void assignment_release(struct assignment *a)
{
	free(a->chunk);
	free(a->slot);
	free(a->first);
	free(a->last);
	*a = (struct assignment){ 0 };
}
