/*
 * The checker's own base layout: what the geometry alone says the chunks
 * are before anything is merged, and the facts every rule compares with.
 * Worked out from the definitions, apart from the planner's.
 *
 *   arena  0        D                                      A   laid_end
 *          | exec.. | tile | tile | tile | ...            | tile |
 *                   < segment ><fixed>< segment         ><fixed  >
 */
#ifndef KVPLAN_CHECK_BASE_LAYOUT_H
#define KVPLAN_CHECK_BASE_LAYOUT_H

#include <kvplan/plan.h>

#include "check/key_list.h"

/* The row of a segment that is one crossing or partial chunk. */
#define CHECK_FIXED UINT64_MAX

/*
 * Neighbouring aliased chunks whose places are free among themselves: the
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

	struct kvp_chunk *chunks;	/* by place, then by plane, offset */
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
 * left out.  On failure the caller releases what there is.
 * Errors: KVP_ENOMEM.
 */
int check_order_make(struct check_order *order, const struct kvp_chunk *chunks,
		     size_t n, size_t nplanes, struct kvp_error *err);

void check_order_release(struct check_order *order);

#endif
