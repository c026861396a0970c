/*
 * What the planner's files share.  The aliased chunks of the base layout are
 * numbered by arena address, and number i has two meanings:
 *
 *   chunk i   base chunk i itself: bytes of one plane
 *   slot i    the arena range of base chunk i in the base layout
 *
 * The base layout puts chunk i on slot i.  Planning exchanges chunks between
 * slots whose base chunks have the same (bytes per page, offset, bytes): they
 * exchange their planes.  Then it orders and merges chunks within segments.
 */
#ifndef KVPLAN_PLAN_WORK_H
#define KVPLAN_PLAN_WORK_H

#include "plan/layout.h"

#define NONE UINT32_MAX

/*
 * segment.c: the slots in arena order, cut into segments.  A fixed segment is
 * one chunk that is not complete in one row; any other is an interval, the
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
 * junction.c: a junction is an offset, in planes with the same bytes per page,
 * at which chunks begin; those that end there can merge with them.
 */
struct junctions {
	uint32_t *order;	/* [aliased]: by class, offset, bytes, slot */
	uint32_t *start;	/* [aliased]: junction at which a slot's base
				   chunk begins */
	uint32_t *end;		/* [aliased]: at which it ends, or NONE */
	uint32_t *next;		/* [aliased]: the chunk of the same plane
				   that begins where a chunk ends, or NONE */
	uint32_t *prev;		/* [aliased]: the chunk whose next it is, or
				   NONE */
	uint32_t count;
};

int junctions_make(struct junctions *j, const struct layout *l,
		   const struct kvp_geometry *g, struct kvp_error *err);
void junctions_release(struct junctions *j);

/*
 * bound.c: the most chunks that merging can save and, in mode span, the
 * junction at which to merge across the boundary behind every segment, or
 * NONE.
 */
struct bound {
	uint64_t saving;
	uint32_t *chosen;	/* [segments] */
};

int bound_make(struct bound *b, const struct layout *l,
	       const struct segments *s, const struct junctions *j,
	       enum kvp_merge merge, struct kvp_error *err);
void bound_release(struct bound *b);

/* assign.c: which chunk lies on which slot. */
struct assignment {
	uint32_t *chunk;	/* [aliased]: on this slot */
	uint32_t *slot;		/* [aliased]: of this chunk */
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
 * arrange.c: order the chunks of every segment and merge neighbours.
 * out has room for the whole layout; *count is the chunks written.
 */
int arrange(struct kvp_chunk *out, uint32_t *count, const struct layout *l,
	    const struct segments *s, const struct junctions *j,
	    const struct assignment *a, enum kvp_merge merge,
	    struct kvp_error *err);

/* conflict.c: the plan's rows and spans from the base layout. */
int conflicts_make(struct kvp_plan *plan, const struct layout *l,
		   struct kvp_error *err);

/* access.c: the plan's access lists and table entries. */
int access_make(struct kvp_plan *plan, struct kvp_error *err);
int entries_make(struct kvp_plan *plan, struct kvp_error *err);

/*
 * radix.c: sort keys ascending, and move values[i] with keys[i]; equal keys
 * keep their order.  O(count).  Errors: KVP_ENOMEM.
 */
int radix_sort(uint64_t *keys, uint32_t *values, size_t count,
	       struct kvp_error *err);

#endif
