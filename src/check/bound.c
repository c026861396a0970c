/*
 * The lower bound: base chunks less the most that a plan of a mode can save.
 *
 * In every segment, node v is a junction (kind of page, plane offset) with the
 * number of chunks that end and that start there.  Mode row saves
 * min(ends, starts) at every node.
 *
 * Mode span also chooses at most one node at every boundary between segments:
 * a chunk that ends at the node in the left segment merges with one that
 * starts there in the right segment.  That saves 1, and costs a segment 1 if
 * it has no end or start to spare.  Let best[v] be the most that all
 * boundaries up to this one save if v is chosen here, and `none` the same if
 * nothing is chosen.  Dropping a choice loses at most 1, so best[v] is at most
 * none + 1; all that is kept of v is whether it is `top`: best[v] == none + 1.
 *
 * A forced chunk is the only one that starts at its node and the only one that
 * ends at its other node; a forced chain is a run of them.  Then, for a
 * segment with choice a at its left and b at its right:
 *
 *  - together they cost loss_left(a) + loss_right(b), and 1 less if a == b and
 *    ends == starts;
 *  - if a forced chain joins a to b they cost 1 more or exclude each other;
 *    that is no better than choosing nothing for a, so it is left out;
 *  - so b can follow a choice that saves `none` + 1 if there is a node a for
 *    which `top` is true and loss_left(a) is 0, and which is not in the forced
 *    chain that ends at b.  Every node has at most one forced chunk on each
 *    side, so chains are paths, and the nodes without loss are counted along
 *    the path.
 */
#include "check/bound.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define NO_NODE UINT32_MAX

struct node {
	uint64_t offset;
	uint32_t kind;
	uint32_t ends;
	uint32_t starts;
	uint32_t next;		/* where the forced chunk that starts here
				   ends, or NO_NODE */
	uint32_t head;		/* where the forced chain to here begins */
	uint32_t steps;		/* chunks of that chain */
	uint32_t good;		/* its good nodes, without this one */
	bool top;		/* as a choice at the left boundary */
	bool out_top;		/* as a choice at the right boundary */
};

/* The nodes of one segment, ascending by kind and offset. */
struct nodes {
	struct node *node;
	uint32_t count;
};

struct bound {
	const struct check_base *base;
	struct check_keys events;	/* kind, offset, chunk * 2 + is end */
	uint32_t *end_node;		/* by chunk within the segment */
	uint32_t *start_node;
	struct nodes left, right;
	uint64_t merges;		/* the sum of min(ends, starts) */
	uint64_t none;			/* saved at boundaries if nothing is
					   chosen at the last */
};

static bool sort_events(struct bound *b, const struct check_segment *s)
{
	const struct kvp_chunk *c = b->base->chunks + s->first;
	uint32_t i, kind;

	b->events.count = 0;
	for (i = 0; i < s->count; i++) {
		kind = b->base->kind[c[i].plane];
		if (!check_keys_add(&b->events, kind, c[i].offset,
				    2 * (uint64_t)i) ||
		    !check_keys_add(&b->events, kind,
				    c[i].offset + c[i].bytes,
				    2 * (uint64_t)i + 1))
			return false;
	}
	return check_keys_sort(&b->events);
}

static bool is_node_at(const struct node *v, uint64_t kind, uint64_t offset)
{
	return v->kind == kind && v->offset == offset;
}

/* Find the nodes at which a segment's chunks start and end. */
static void find_nodes(struct bound *b)
{
	struct nodes *nodes = &b->right;
	struct node *v = NULL;
	size_t i;

	assert(b->events.count && b->events.count % 2 == 0);
	nodes->count = 0;
	for (i = 0; i < b->events.count; i++) {
		const struct check_key *e = &b->events.key[i];

		if (!v || !is_node_at(v, e->a, e->b)) {
			v = &nodes->node[nodes->count++];
			memset(v, 0, sizeof(*v));
			v->kind = (uint32_t)e->a;
			v->offset = e->b;
			v->next = NO_NODE;
			v->head = nodes->count - 1;
		}
		if (e->c & 1) {
			v->ends++;
			b->end_node[e->c / 2] = nodes->count - 1;
		} else {
			v->starts++;
			b->start_node[e->c / 2] = nodes->count - 1;
		}
	}
}

static void find_forced(struct bound *b, uint32_t nchunks)
{
	struct node *node = b->right.node;
	uint32_t i, start, end;

	for (i = 0; i < nchunks; i++) {
		start = b->start_node[i];
		end = b->end_node[i];
		assert(start < end);
		if (node[start].starts == 1 && node[end].ends == 1)
			node[start].next = end;
	}
}

/* Mark the nodes that are top at the boundary to the left segment. */
static void carry_choices(struct bound *b)
{
	uint32_t l = 0, r = 0;

	while (l < b->left.count && r < b->right.count) {
		const struct node *x = &b->left.node[l];
		struct node *y = &b->right.node[r];

		if (is_node_at(y, x->kind, x->offset)) {
			y->top = x->out_top && x->ends && y->starts;
			l++;
			r++;
		} else if (x->kind < y->kind ||
			   (x->kind == y->kind && x->offset < y->offset)) {
			l++;
		} else {
			r++;
		}
	}
}

/* Is the node top, and does its start cost this segment nothing? */
static bool is_good(const struct node *v)
{
	return v->top && v->starts > v->ends;
}

/* Compute the forced chain to every node; chains ascend, so one pass is
   enough.  Returns how many nodes are good. */
static uint32_t follow_chains(struct bound *b)
{
	struct node *node = b->right.node, *next;
	uint32_t i, good = 0;

	for (i = 0; i < b->right.count; i++) {
		good += is_good(&node[i]);
		if (node[i].next == NO_NODE)
			continue;
		assert(node[i].next > i && node[i].next < b->right.count);
		next = node + node[i].next;
		next->head = node[i].head;
		next->steps = node[i].steps + 1;
		next->good = node[i].good + is_good(&node[i]);
	}
	return good;
}

/* Find the top choices at the right boundary from those at the left. */
static void cross_segment(struct bound *b, uint32_t nchunks)
{
	struct node *node = b->right.node;
	uint32_t i, good = follow_chains(b), barred;
	int gain;

	for (i = 0; i < b->right.count; i++) {
		struct node *v = &node[i];

		b->merges += v->ends < v->starts ? v->ends : v->starts;
		if (!v->ends)
			continue;
		/* A chain that is the whole segment excludes nothing. */
		barred = v->good;
		assert(v->good <= good && v->steps <= nchunks);
		if (v->steps == nchunks)
			barred -= is_good(&node[v->head]);
		gain = good > barred || (v->top && v->ends == v->starts);
		gain += v->ends > v->starts;
		v->out_top = gain == 1 + (good > 0);
	}
	b->none += good > 0;
}

static int walk_segments(struct bound *b, struct kvp_error *err)
{
	const struct check_base *base = b->base;
	struct nodes swap;
	size_t i;

	for (i = 0; i < base->nsegments; i++) {
		const struct check_segment *s = &base->segments[i];

		if (!sort_events(b, s))
			return kvp_error_nomem(err);
		find_nodes(b);
		find_forced(b, s->count);
		carry_choices(b);
		cross_segment(b, s->count);
		swap = b->left;
		b->left = b->right;
		b->right = swap;
	}
	return KVP_OK;
}

int check_lower_bound(const struct check_base *base, enum kvp_merge merge,
		      uint64_t *bound, struct kvp_error *err)
{
	struct bound b = { .base = base };
	size_t i, most = 1;
	int code = KVP_OK;

	assert(merge <= KVP_MERGE_SPAN && base->naliased <= base->nchunks);
	*bound = base->nchunks;
	if (merge == KVP_MERGE_NONE)
		return KVP_OK;
	for (i = 0; i < base->nsegments; i++)
		if (base->segments[i].count > most)
			most = base->segments[i].count;
	b.end_node = malloc(most * sizeof(*b.end_node));
	b.start_node = malloc(most * sizeof(*b.start_node));
	b.left.node = malloc(2 * most * sizeof(*b.left.node));
	b.right.node = malloc(2 * most * sizeof(*b.right.node));
	if (b.end_node && b.start_node && b.left.node && b.right.node)
		code = walk_segments(&b, err);
	else
		code = kvp_error_nomem(err);
	assert(b.merges + b.none <= base->nchunks);
	if (!code)
		*bound -= b.merges + (merge == KVP_MERGE_SPAN ? b.none : 0);
	free(b.end_node);
	free(b.start_node);
	free(b.left.node);
	free(b.right.node);
	check_keys_release(&b.events);
	return code;
}
