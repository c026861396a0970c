/*
 * Conflicting pages, computed from bytes, for the base layout and for a plan's
 * chunks; and the parts of the base layout that have files of their own.
 */
#ifndef KVPLAN_CHECK_CONFLICT_H
#define KVPLAN_CHECK_CONFLICT_H

#include "check/base_layout.h"

/* The aliased bytes of snapshot row `row`: [*from, *to), which may be empty. */
void check_row_bytes(const struct kvp_geometry *g, uint64_t dedicated,
		     uint64_t row, uint64_t *from, uint64_t *to);

/*
 * Find the pages that conflict with one snapshot row.  The aliased chunks are
 * sorted by arena address, do not overlap and lie in existing planes.
 * pages->key[i] holds the range [a, b); ranges ascend and do not touch.  The
 * caller passes rows in ascending order, and the same *cursor, at first 0.
 * False if there is no memory.
 */
bool check_row_conflicts(const struct kvp_geometry *g, uint64_t dedicated,
			 const struct kvp_chunk *chunks, size_t n,
			 uint64_t row, size_t *cursor,
			 struct check_keys *pages);

/* Fill base->spans and base->row_first. */
int check_base_conflicts(struct check_base *base, const struct kvp_geometry *g,
			 struct kvp_error *err);

/* Copy geometry->base_chunks, sorted. */
int check_base_copy_recorded(struct check_base *base,
			     const struct kvp_geometry *g,
			     struct kvp_error *err);

/* Check that they cover planes and arena, and set laid_end.  Errors:
   KVP_EINFEASIBLE. */
int check_base_verify_recorded(struct check_base *base,
			       const struct kvp_geometry *g,
			       struct kvp_error *err);

#endif
