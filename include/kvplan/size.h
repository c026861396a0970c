/*
 * Sizing: computing the most pages and snapshot rows that fit into memory.
 *
 *   budget = free memory - the reserve of the limit - cache_bytes
 *   used   = sum over planes of pages * bytes_per_page, each rounded up
 *          + D, the execution rows' dedicated backing
 *          + static storage, each item rounded up
 *          + pages * page_overhead_bytes
 *
 *   pages  = the most with used <= budget
 *   rows   = floor((D + aliased backing) / row_stride) - execution_rows,
 *            at least 0 and at most the number requested
 *
 * Rounding is up to the granularity.  Snapshot rows are aliases and take no
 * memory of their own.  More memory never gives fewer pages or rows.
 *
 * No reserve is added automatically: the limit has to leave the bytes that
 * the driver keeps free, see KVP_DRIVER_BYTES in limits.h.  Memory that the
 * driver uses itself is not part of the free memory that it reports.
 *
 * All sizes are bytes of one rank, at most KVP_NUMBER_MAX.
 */
#ifndef KVPLAN_SIZE_H
#define KVPLAN_SIZE_H

#include <kvplan/geometry.h>
#include <kvplan/headroom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The part of the free memory that may be used. */
struct kvp_memory_limit {
	enum kvp_memory_limit_kind {
		KVP_LIMIT_LEAVE,	/* all but `bytes`: "-1G" */
		KVP_LIMIT_USE,		/* at most `bytes`: "70GiB" */
		KVP_LIMIT_PERCENT	/* `percent` of it: "90%" */
	} kind;
	uint64_t bytes;
	uint32_t percent;		/* 0..100 */
};

/*
 * Read a limit from a text such as "-1G", "-0G", "90%" or "70GiB".  A unit
 * may be shortened to one letter.  Without a unit the number is in bytes; a
 * limit to use that is below 1 MiB must have a unit.  A percentage is a
 * whole number.  Errors: KVP_EINPUT; *limit is untouched then.
 */
int kvp_memory_limit_read(struct kvp_memory_limit *limit, const char *text,
			  struct kvp_error *err);

/* The bytes that a limit allows to use: from 0 to free_bytes.  A percentage
   above 100 counts as 100.  0 if the kind is not a declared enum value. */
uint64_t kvp_memory_limit_apply(const struct kvp_memory_limit *limit,
				uint64_t free_bytes);

/* What to size for.  Initialize it with kvp_size_wish_init(); a zeroed one
   requests no snapshot rows. */
struct kvp_size_wish {
	/* Free memory: one value that holds for every rank, or one for each
	   rank.  nfree 0: not known; `pages` must be given then. */
	const uint64_t *free_bytes;
	size_t nfree;
	struct kvp_memory_limit limit;	/* zeroed: use all of it */
	uint64_t cache_bytes;	/* kept free for an allocation cache */
	uint64_t pages;		/* exactly so many; 0: the most that fit */
	uint64_t snapshots;	/* at most so many rows; KVP_UNSTATED: the
				   most that fit */
};

/* Free memory not known, no limit, the most pages and rows. */
void kvp_size_wish_init(struct kvp_size_wish *wish);

/* The result of sizing, with every term of the sum. */
struct kvp_size {
	bool bounded;		/* free memory is known: the next six are
				   valid */
	uint32_t rank;		/* the rank with the least free memory */
	uint64_t free_bytes;	/* of that rank */
	uint64_t reserve_bytes;	/* what the limit leaves.  KVP_LIMIT_LEAVE:
				   its `bytes`, possibly more than are free;
				   otherwise free - allowed to use */
	uint64_t cache_bytes;	/* kept free for the allocation cache */
	uint64_t budget_bytes;	/* free - reserve - cache, at least 0 */
	uint64_t left_bytes;	/* free - used, with reserve and cache */

	uint64_t page_bytes;	/* of all planes, before rounding */
	uint64_t rounding_bytes;	/* added by rounding planes up */
	uint64_t dedicated_bytes;	/* D */
	uint64_t static_bytes;	/* rounded up */
	uint64_t overhead_bytes;	/* pages * page_overhead_bytes */
	uint64_t used_bytes;	/* the sum of those five */

	uint64_t pages;
	uint64_t snapshot_rows;
	uint64_t rows_that_fit;	/* the most rows for so many pages */
	uint64_t pages_for_snapshots;	/* if fewer rows fit than requested:
					   the fewest pages that hold those;
					   0 if no number of pages does */
	uint64_t kv_tokens;	/* pages * page_tokens * dcp_group_size */
};

/*
 * Size a geometry.  The pages and snapshot_rows that it states are ignored.
 * With the result applied, kvp_geometry_read() and kvp_plan_make() accept
 * the geometry.  If row_bytes is 0 there are no rows; there are never more
 * than KVP_ROWS_MAX.  On failure *size is zeroed.
 *
 * Errors:
 *   KVP_EINFEASIBLE  the budget does not suffice; the text has every term
 *                    and the nearest setting that fits
 *   KVP_EINPUT       the geometry has base_chunks, which fit only the pages
 *                    they were recorded with; nfree is not 0, 1 or the
 *                    number of ranks; neither free memory nor pages are
 *                    given; the kind of the limit is not a declared enum
 *                    value
 *   KVP_ELIMIT       a size or product is above KVP_NUMBER_MAX, the layout
 *                    has more than KVP_CHUNKS_MAX chunks, or recorded
 *                    addresses are too close together for so many pages;
 *                    the text says what helps
 *   KVP_ENOMEM
 */
int kvp_size_find(struct kvp_size *size, const struct kvp_geometry *geometry,
		  const struct kvp_size_wish *wish, struct kvp_error *err);

/*
 * Store a sizing in the geometry that it was computed for: pages,
 * snapshot_rows and, if free memory is known, the headroom: the bytes left
 * and the cap for them.  override may be NULL, see headroom.h.  If there is
 * no row, row_bytes and row_stride become 0, as in every sized geometry.
 */
void kvp_size_apply(const struct kvp_size *size,
		    const struct kvp_cap_override *override,
		    struct kvp_geometry *geometry);

/*
 * How many sequences of equal length a plan holds at the same time.  A
 * sequence takes whole pages and, if there are execution rows, one of them.
 * Snapshot rows use the pages that are left.  The rows counted follow each
 * other in the arena, because neighbours share pages, and begin where the
 * most fit; other choices of rows may give a few more.
 */
struct kvp_concurrency {
	uint64_t pages_each;	/* of one sequence, per rank */
	uint64_t sequences;	/* the most at the same time */
	uint64_t rows_beside;	/* the most snapshot rows in use together
				   with that many sequences */
	uint64_t sequences_all_rows;	/* the most sequences while every
					   snapshot row is in use */
	uint64_t longest_tokens;	/* of one sequence that has all pages */
};

struct kvp_plan;
/*
 * Compute *c for sequences of `tokens` tokens.  On failure *c is zeroed.
 * Errors: KVP_EINPUT for 0 tokens, and if the plan's rows are not in order
 * or name pages that the geometry does not have; KVP_ENOMEM.
 */
int kvp_size_concurrency(struct kvp_concurrency *c,
			 const struct kvp_plan *plan, uint64_t tokens,
			 struct kvp_error *err);

#ifdef __cplusplus
}
#endif

#endif
