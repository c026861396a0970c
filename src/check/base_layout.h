/*
 * The checker's own base layout: the chunks that follow from the geometry
 * alone before any of them is merged, and the numbers that the rules compare
 * with.  It is computed from the definitions, without the planner's code.
 *
 *   arena  0        D                                      A   laid_end
 *          | exec.. | tile | tile | tile | ...            | tile |
 *                   < segment ><fixed>< segment         ><fixed  >
 */
#ifndef KVPLAN_CHECK_BASE_LAYOUT_H
#define KVPLAN_CHECK_BASE_LAYOUT_H

#include <kvplan/plan.h>

#include "check/key_list.h"

/* The row of a segment that is one chunk, not complete in any row. */
#define CHECK_FIXED UINT64_MAX

/*
 * Neighbouring aliased chunks that a plan may reorder among themselves: the
 * complete chunks of one snapshot row, or one fixed chunk.
 */
struct check_segment {
	uint64_t row;		/* snapshot row, or CHECK_FIXED */
	uint32_t first;		/* chunks[first .. first + count) */
	uint32_t count;
};

/* Chunks by plane and offset: chunk[first[p] .. first[p + 1]) are plane p's. */
struct check_order {
	uint32_t *first;	/* [nplanes + 1] */
	uint32_t *chunk;
};

struct check_base {
	uint64_t dedicated;	/* D */
	uint64_t arena_end;	/* A */
	uint64_t laid_end;	/* end of the last aliased chunk, or D */
	uint64_t physical_bytes;

	struct kvp_chunk *chunks;	/* aliased ones by arena address, then
					   the others by plane, offset */
	size_t nchunks;
	size_t naliased;
	struct check_order order;

	uint64_t *backing;	/* [nplanes] */
	uint32_t *kind;		/* [nplanes]: equal for equal page sizes */

	struct check_segment *segments;
	size_t nsegments;

	/* Conflicting pages of row r: spans[row_first[r] ..
	   row_first[r + 1]). */
	struct kvp_span *spans;
	size_t nspans;
	size_t *row_first;	/* [snapshot_rows + 1] */
};

/*
 * Lay out *base.  On failure it is empty.  Errors: KVP_EINFEASIBLE,
 * KVP_ELIMIT, KVP_ENOMEM.
 */
int check_base_make(struct check_base *base, const struct kvp_geometry *g,
		    struct kvp_error *err);

void check_base_release(struct check_base *base);

/*
 * Order chunks by plane and offset; chunks of planes that do not exist are
 * left out.  The caller releases *order, also on failure.
 * Errors: KVP_ENOMEM.
 */
int check_order_make(struct check_order *order, const struct kvp_chunk *chunks,
		     size_t n, size_t nplanes, struct kvp_error *err);

void check_order_release(struct check_order *order);

#endif
