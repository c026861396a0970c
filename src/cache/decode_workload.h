/*
 * A decode workload for an allocation cache: what an engine's temporaries do
 * to it, step by step.
 *
 * Every step asks for `sizes` tensors, one after the other, and puts each
 * back before the next: step_bytes in all, and what they grow by.  Tensor i,
 * from 0, of step s, from 1, has so many bytes, rounded up to a multiple of
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
 * 2 * sizes, no two tensors have one size, so that with `grow` no size is
 * ever asked for twice.
 *
 * With `preallocate` the tensors are allocated once, before step 1, at their
 * size in the last step, and written in place: no step allocates them.
 * They are put back after the last step.
 * live_bytes is one block that stays handed out from before step 1 to after
 * the last: what else the engine holds.  It is the first to be asked for.
 * Every step asks for live_growth_bytes more, as the last thing it does, and
 * keeps them too: free memory shrinks.
 */
#ifndef KVPLAN_CACHE_DECODE_WORKLOAD_H
#define KVPLAN_CACHE_DECODE_WORKLOAD_H

#include <kvplan/alloc_cache.h>

/* What a token adds to a tensor is this times `sizes`, unless growth_bytes
   says otherwise.  Assumed. */
#define KVP_DECODE_GROWTH_BYTES 16

#define KVP_DECODE_SIZES_MAX 4096	/* tensors of a step */

/*
 * Blocks that may be there at once, of each kind: held tensors that grow, and
 * pieces of live memory.  What a run takes of this process's memory follows
 * from that: some 250 bytes a block on a card on paper.  More tensors than
 * that can be run where what is free, or the cap, has no room for so many.
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
	uint64_t grain_bytes;	/* of tensors; 0, as 1: none */
};

/* What a step left behind, after kvp_alloc_cache_step(). */
struct kvp_decode_row {
	uint64_t step;		/* from 1 */
	uint64_t free_bytes;	/* the backend's reading */
	/* Its hits, misses and freed bytes are those of this step. */
	struct kvp_alloc_cache_counters counters;
};

typedef void kvp_decode_row_fn(void *cookie, const struct kvp_decode_row *row);

struct kvp_decode_result {
	uint64_t steps;		/* ended */
	bool exhausted;		/* out of memory in step steps + 1 */
	uint32_t tensor;	/* asked for then, from 1; sizes + 1: what live
				   memory grows by; 0: before step 1 */
	uint64_t wanted_bytes;	/* 0 where it was not */
	uint64_t free_bytes;	/* then, or at the end */
	uint64_t held_most_bytes;	/* after any put or step */
	uint64_t sizes_most;
	uint64_t freed_bytes;	/* evicted in all */
	uint64_t first_freed_step;	/* 0: nothing was */
	/* Then, or at the end; hits, misses and freed bytes as in a row, of
	   the step that ran out of memory or the last. */
	struct kvp_alloc_cache_counters counters;
};

/*
 * Run the workload.  The cache must have nothing handed out; afterwards it
 * has nothing handed out again.  "Then" and "at the end" are before that is
 * put back.  `row` may be NULL.  Running out of memory is an answer, not an
 * error: KVP_OK with result->exhausted.
 * Errors: KVP_EINPUT for sizes the struct does not allow, a step_bytes below
 * `sizes`, or tensors of more than 2^53 - 1 bytes in all steps together;
 * KVP_ELIMIT where more than KVP_DECODE_BLOCKS_MAX tensors that grow, or
 * pieces of live memory, may be there at once; and those of the cache and of
 * reading free memory.  *result is of no use then.
 */
int kvp_decode_run(struct kvp_alloc_cache *c, struct kvp_backend *b,
		   uint32_t device, const struct kvp_decode *decode,
		   kvp_decode_row_fn *row, void *cookie,
		   struct kvp_decode_result *result, struct kvp_error *err);

#endif
