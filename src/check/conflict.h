/*
 * Conflicting pages from the byte-level definition, for the base layout and
 * for a plan's chunks alike; and the parts of the base layout that live in
 * files of their own.
 */
#ifndef KVPLAN_CHECK_CONFLICT_H
#define KVPLAN_CHECK_CONFLICT_H

#include "check/base_layout.h"

/* The aliased bytes of snapshot row `row`: [*from, *to), maybe none. */
void check_row_bytes(const struct kvp_geometry *g, uint64_t dedicated,
		     uint64_t row, uint64_t *from, uint64_t *to);

/*
 * The pages that conflict with one snapshot row, given aliased chunks by
 * place, none overlapping and all within existing planes.  pages->key[i]
 * holds [a, b): ascending, as long as they can be.  Rows are asked for in
 * ascending order; *cursor begins at 0 and belongs to this function.
 * False when there is no memory.
 */
bool check_row_conflicts(const struct kvp_geometry *g, uint64_t dedicated,
			 const struct kvp_chunk *chunks, size_t n,
			 uint64_t row, size_t *cursor,
			 struct check_keys *pages);

/* Fill base->spans and base->row_first. */
int check_base_conflicts(struct check_base *base, const struct kvp_geometry *g,
			 struct kvp_error *err);

/* Take over geometry->base_chunks, in order. */
int check_base_copy_recorded(struct check_base *base,
			     const struct kvp_geometry *g,
			     struct kvp_error *err);

/* Do they tile planes and arena?  Sets laid_end.  KVP_EINFEASIBLE if not. */
int check_base_judge_recorded(struct check_base *base,
			      const struct kvp_geometry *g,
			      struct kvp_error *err);

#endif
