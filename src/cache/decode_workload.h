/*
 * A decode workload for an allocation cache: the blocks that an engine's
 * temporary tensors get from it, step by step.
 *
 * Every step gets `sizes` tensors, one after the other, and puts each back
 * before the next: step_bytes in all, plus what they grow by.  Tensor i, from
 * 0, of step s, from 1, has this many bytes, rounded up to a multiple of
 * grain_bytes:
 *
 *   step_bytes/sizes + [i < step_bytes % sizes] + growth_bytes * n / sizes,
 *   where
 *
 *   n = (s - 1) * sizes + i   with `grow`: every tensor is one token longer
 *                             than in the step before
 *   n = i                     otherwise: every step asks for the same
 *                             `sizes` sizes
 *
 * Divisions round down.  Without a grain, and with growth_bytes of at least
 * 2 * sizes, no two tensors have the same size, so that with `grow` no size is
 * used twice.
 *
 * With `preallocate` the tensors are allocated once, before step 1, at their
 * size in the last step, and written in place: no step allocates them.
 * They are put back after the last step.
 * live_bytes is one block that is got first and stays handed out until after
 * the last step: what else the engine holds.  Every step ends with getting a
 * block of live_growth_bytes, which also stays handed out: free memory
 * shrinks.
 */
#ifndef KVPLAN_CACHE_DECODE_WORKLOAD_H
#define KVPLAN_CACHE_DECODE_WORKLOAD_H

#include <kvplan/alloc_cache.h>

/* A token adds this times `sizes` to a tensor if growth_bytes is 0; an assumed
   value. */
#define KVP_DECODE_GROWTH_BYTES 16

#define KVP_DECODE_SIZES_MAX 4096	/* tensors of a step */

/*
 * The most blocks of each kind that may exist at the same time: held tensors
 * that grow, and blocks of live memory.  It limits what a run takes of this
 * process's memory: about 250 bytes a block on the simulated card.  A run may
 * have more tensors if free memory, or the cap, has no room for more than that.
 */
#define KVP_DECODE_BLOCKS_MAX (UINT64_C(1) << 20)

struct kvp_decode {
	uint64_t step_bytes;	/* of one step's tensors, before they grow */
	uint32_t sizes;		/* tensors of a step */
	uint64_t live_bytes;	/* 0: none */
	uint64_t steps;
	bool grow;
	bool preallocate;
	uint64_t growth_bytes;	/* of every tensor, with a token; 0:
				   KVP_DECODE_GROWTH_BYTES * sizes */
	uint64_t live_growth_bytes;	/* of live memory, in a step; 0: none */
	uint64_t grain_bytes;	/* of tensors; 0 or 1: none */
};

/* The state after a step and its kvp_alloc_cache_step(). */
struct kvp_decode_row {
	uint64_t step;		/* from 1 */
	uint64_t free_bytes;	/* of the backend's device */
	/* Its hits, misses and freed bytes are those of this step. */
	struct kvp_alloc_cache_counters counters;
};

typedef void kvp_decode_row_fn(void *cookie, const struct kvp_decode_row *row);

struct kvp_decode_result {
	uint64_t steps;		/* that ended */
	bool exhausted;		/* out of memory in step steps + 1 */
	uint32_t tensor;	/* that had no memory, from 1; sizes + 1: the
				   growth of live memory; 0: before step 1 */
	uint64_t wanted_bytes;	/* of that tensor; 0 if not exhausted */
	uint64_t free_bytes;	/* then, or at the end */
	uint64_t held_most_bytes;	/* after any put or step */
	uint64_t sizes_most;
	uint64_t freed_bytes;	/* evicted in all */
	uint64_t first_freed_step;	/* 0: nothing was evicted */
	/* Then, or at the end; hits, misses and freed bytes as in a row, of
	   the step that ran out of memory or the last. */
	struct kvp_alloc_cache_counters counters;
};

/*
 * Run the workload.  The cache must have no block handed out, and has none
 * afterwards.  "Then" and "at the end" above are before the last blocks are
 * put back.  `row` may be NULL.  Running out of memory is no error: it returns
 * KVP_OK with result->exhausted.
 * Errors: KVP_EINPUT for sizes the struct does not allow, a step_bytes below
 * `sizes`, or tensors of more than 2^53 - 1 bytes in all steps together;
 * KVP_ELIMIT if more than KVP_DECODE_BLOCKS_MAX tensors that grow, or blocks
 * of live memory, may exist at the same time; and those of the cache and of
 * reading free memory.  *result is undefined then.
 */
int kvp_decode_run(struct kvp_alloc_cache *c, struct kvp_backend *b,
		   uint32_t device, const struct kvp_decode *decode,
		   kvp_decode_row_fn *row, void *cookie,
		   struct kvp_decode_result *result, struct kvp_error *err);

#endif
