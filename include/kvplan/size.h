/*
 * Sizing: the most pages and snapshot rows that fit the memory there is.
 *
 *   budget = what is free, less the reserve that was asked for
 *   used   = sum over planes of pages * bytes_per_page, each rounded up
 *          + D, the execution rows' dedicated backing
 *          + static storage, each item rounded up
 *          + pages * page_overhead_bytes
 *
 *   pages  = the most with used <= budget
 *   rows   = floor((D + aliased backing) / row_stride) - execution_rows,
 *            at least 0 and at most what was asked for
 *
 * Everything that is rounded up is rounded to the granularity.  Snapshot
 * rows are aliases and take no memory of their own.  There is no automatic
 * reserve: what the driver keeps free has to be left by the limit, see
 * KVP_DRIVER_BYTES in limits.h.  What the driver holds for itself is inside
 * what it calls used.  More memory never gives fewer pages or
 * rows.  All sizes are bytes of one rank, all at most KVP_NUMBER_MAX.
 */
#ifndef KVPLAN_SIZE_H
#define KVPLAN_SIZE_H

#include <kvplan/geometry.h>
#include <kvplan/headroom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How much of what is free may be used. */
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
 * A limit as text: "-1G", "-0G", "90%", "70GiB".  Less than 1 MiB to use
 * needs a unit.  Bytes are as people write
 * them, the unit may be cut or left out; a percentage is whole.
 * Errors: KVP_EINPUT; *limit is untouched then.
 */
int kvp_memory_limit_read(struct kvp_memory_limit *limit, const char *text,
			  struct kvp_error *err);

/* What may be used: never more than is free, never below 0; 0 for a kind that
   is none.  A percentage above 100 is 100. */
uint64_t kvp_memory_limit_apply(const struct kvp_memory_limit *limit,
				uint64_t free_bytes);

/* See kvp_size_wish_init(): zeroed, it asks for no snapshot rows. */
struct kvp_size_wish {
	/* Free memory, one value for every rank or one for each of them;
	   count 0: not known, pages has to be stated then. */
	const uint64_t *free_bytes;
	size_t nfree;
	struct kvp_memory_limit limit;	/* zeroed: all of it */
	uint64_t cache_bytes;	/* kept free beside: see headroom.h */
	uint64_t pages;		/* exactly these; 0: the most that fit */
	uint64_t snapshots;	/* at most these; KVP_UNSTATED: the most */
};

/* Nothing known, nothing asked for: the most of everything. */
void kvp_size_wish_init(struct kvp_size_wish *wish);

/* One sizing, term by term. */
struct kvp_size {
	bool bounded;		/* free memory is known: the next five hold */
	uint32_t rank;		/* whose free memory decides: the least */
	uint64_t free_bytes;	/* its */
	uint64_t reserve_bytes;	/* what the limit keeps free: of KVP_LIMIT_LEAVE
				   its bytes, which can be more than are free;
				   of the others, free less what may be used */
	uint64_t cache_bytes;	/* kept free for the allocation cache */
	uint64_t budget_bytes;	/* free - reserve - cache, at least 0 */
	uint64_t left_bytes;	/* free - used: reserve and cache included */

	uint64_t page_bytes;	/* planes, before rounding */
	uint64_t rounding_bytes;	/* planes, by rounding up */
	uint64_t dedicated_bytes;	/* D */
	uint64_t static_bytes;	/* rounded up */
	uint64_t overhead_bytes;	/* pages * page_overhead_bytes */
	uint64_t used_bytes;	/* the sum of those five */

	uint64_t pages;
	uint64_t snapshot_rows;
	uint64_t rows_that_fit;	/* what the pages could alias */
	uint64_t pages_for_snapshots;	/* fewer rows than asked for: the
					   fewest pages that alias those; 0
					   where no number of pages does */
	uint64_t kv_tokens;	/* pages * page_tokens * dcp_group_size */
};

/*
 * Size a geometry, whatever pages and snapshot_rows it states.  What comes
 * out is accepted by kvp_geometry_read() and kvp_plan_make(); without
 * row_bytes there are no rows, and never more than KVP_ROWS_MAX.  On failure
 * *size is zeroed.
 *
 * Errors:
 *   KVP_EINFEASIBLE  the budget does not suffice; the text has every term
 *                    and the nearest setting that fits
 *   KVP_EINPUT       base_chunks are recorded, which are for their own
 *                    pages; the free values are neither 1 nor one per rank;
 *                    neither free memory nor pages are stated; the kind of
 *                    limit is none
 *   KVP_ELIMIT       a size or product above KVP_NUMBER_MAX, a layout of
 *                    more than KVP_CHUNKS_MAX chunks, recorded addresses
 *                    too close for so many pages; the text says what helps
 *   KVP_ENOMEM
 */
int kvp_size_find(struct kvp_size *size, const struct kvp_geometry *geometry,
		  const struct kvp_size_wish *wish, struct kvp_error *err);

/*
 * Put a sizing into the geometry it is of: pages, snapshot_rows and, where
 * free memory is known, what is left and the cap planned for it; override
 * may be NULL.  Without any row row_bytes and row_stride become 0, as in
 * every normalized geometry.
 */
void kvp_size_apply(const struct kvp_size *size,
		    const struct kvp_cap_override *override,
		    struct kvp_geometry *geometry);

/*
 * Sequences of `tokens` tokens that a plan holds at the same time.  They
 * take whole pages and, where there are execution rows, one of those each;
 * snapshot rows live in what is left.  Rows are counted one after the other
 * in the arena, from wherever the most fit: neighbours share pages.  Rows
 * picked one by one could now and then be a few more.
 */
struct kvp_concurrency {
	uint64_t pages_each;	/* of one sequence, per rank */
	uint64_t sequences;	/* the most at the same time */
	uint64_t rows_beside;	/* the most alive together with them */
	uint64_t sequences_all_rows;	/* with every snapshot row alive */
	uint64_t longest_tokens;	/* of one sequence, alone in all pages */
};

struct kvp_plan;
/*
 * On failure *c is zeroed.  Errors: KVP_EINPUT for 0 tokens and where a row
 * names pages that the geometry does not have; KVP_ENOMEM.
 */
int kvp_size_concurrency(struct kvp_concurrency *c,
			 const struct kvp_plan *plan, uint64_t tokens,
			 struct kvp_error *err);

#ifdef __cplusplus
}
#endif

#endif
