/*
 * The base layout: the chunks of a geometry before any of them is merged.
 * Errors: KVP_EINFEASIBLE, KVP_ELIMIT, KVP_ENOMEM; on failure it is empty.
 */
#ifndef KVPLAN_PLAN_LAYOUT_H
#define KVPLAN_PLAN_LAYOUT_H

#include <kvplan/plan.h>

struct layout {
	struct kvp_chunk *chunks;	/* aliased ones by arena address, then
					   unaliased ones by plane, offset */
	uint32_t count;
	uint32_t aliased;
	uint64_t dedicated_bytes;	/* D */
	uint64_t arena_end;		/* A */
};

int layout_make(struct layout *l, const struct kvp_geometry *g,
		struct kvp_error *err);
void layout_release(struct layout *l);

/*
 * layout_invariants.c: assert the invariants of a layout.  For tests;
 * O(chunks).
 */
void layout_check_internal(const struct layout *l,
			   const struct kvp_geometry *g);

#endif
