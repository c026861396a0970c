/*
 * What the planner's files hand to each other.  Chunks are numbered by
 * their place in the base layout; a number names two things:
 *
 *   slot i    the place of base chunk i: a segment and a tile's
 *             (bytes per page, offset, bytes)
 *   piece i   the memory of base chunk i: a tile of one plane
 *
 * The base layout puts piece i on slot i.  Planning exchanges pieces among
 * slots of one (bytes per page, offset, bytes), which is what "exchange
 * their planes" means, and then orders and merges within segments.
 */
#ifndef KVPLAN_PLAN_WORK_H
#define KVPLAN_PLAN_WORK_H

#include "plan/layout.h"

#define NONE UINT32_MAX

/*
 * segment.c: the aliased chunks in arena order, cut into segments.  A fixed
 * segment is one crossing or partial chunk; the others are intervals, the
 * complete chunks of one row.
 */
struct segments {
	uint32_t *of;		/* [aliased]: the segment of a slot */
	uint32_t *first;	/* [count + 1]: its first slot */
	bool *fixed;		/* [count] */
	uint32_t count;
};

int segments_make(struct segments *s, const struct layout *l,
		  const struct kvp_geometry *g, struct kvp_error *err);
void segments_release(struct segments *s);

/*
 * junction.c: where chunks of planes with one bytes-per-page meet.
 * A junction is named by the group of chunks that begin there; where none
 * begins nothing can merge.
 */
struct junctions {
	uint32_t *order;	/* [aliased]: by class, offset, bytes, slot */
	uint32_t *start;	/* [aliased]: junction where a slot begins */
	uint32_t *end;		/* [aliased]: where it ends, or NONE */
	uint32_t *next;		/* [aliased]: the piece of the same plane
				   that begins where a piece ends, or NONE */
	uint32_t *prev;		/* [aliased]: the other way */
	uint32_t count;
};

int junctions_make(struct junctions *j, const struct layout *l,
		   const struct kvp_geometry *g, struct kvp_error *err);
void junctions_release(struct junctions *j);

/*
 * bound.c: the most that can be saved and, for span, the junction chosen at
 * the boundary behind every segment, or NONE.
 */
struct bound {
	uint64_t saving;
	uint32_t *chosen;	/* [segments] */
};

int bound_make(struct bound *b, const struct layout *l,
	       const struct segments *s, const struct junctions *j,
	       enum kvp_merge merge, struct kvp_error *err);
void bound_release(struct bound *b);

/* assign.c: which piece lies on which slot. */
struct assignment {
	uint32_t *piece;	/* [aliased]: on this slot */
	uint32_t *slot;		/* [aliased]: of this piece */
	uint32_t *first;	/* [segments]: slot that merges to the left,
				   or NONE */
	uint32_t *last;		/* [segments]: slot that merges to the right,
				   or NONE */
};

int assignment_make(struct assignment *a, const struct layout *l,
		    const struct segments *s, const struct junctions *j,
		    const struct bound *b, struct kvp_error *err);
int assignment_identity(struct assignment *a, const struct layout *l,
			const struct segments *s, struct kvp_error *err);
void assignment_release(struct assignment *a);

/*
 * arrange.c: order the pieces of every segment and merge neighbours.
 * out has room for the whole layout; *count is the chunks written.
 */
int arrange(struct kvp_chunk *out, uint32_t *count, const struct layout *l,
	    const struct segments *s, const struct junctions *j,
	    const struct assignment *a, enum kvp_merge merge,
	    struct kvp_error *err);

/* conflict.c: the plan's rows and spans from the base layout. */
int conflicts_make(struct kvp_plan *plan, const struct layout *l,
		   struct kvp_error *err);

/* access.c: the plan's readers and table entries. */
int access_make(struct kvp_plan *plan, struct kvp_error *err);
int entries_make(struct kvp_plan *plan, struct kvp_error *err);

/*
 * radix.c: sort keys, and the values beside them, ascending; equal keys
 * keep their order.  Linear.  Errors: KVP_ENOMEM.
 */
int radix_sort(uint64_t *keys, uint32_t *values, size_t count,
	       struct kvp_error *err);

#endif
