/*
 * A decode workload for an allocation cache: what an engine's temporaries do
 * to it, step by step.
 *
 * Every step asks for `sizes` tensors, one after the other, and puts each
 * back before the next: step_bytes in all.  With `grow` every tensor is one
 * token longer than in the step before, so no size is ever asked for twice.
 * With `preallocate` the tensors are allocated once, at their size in the
 * last step, and written in place: no step allocates anything.
 * live_bytes is one block that stays handed out from the first step to the
 * last: what else the engine holds.
 */
#ifndef KVPLAN_DECODE_H
#define KVPLAN_DECODE_H

#include <kvplan/alloc_cache.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that a token adds to a tensor, times the tensors: so that no two
   tensors of any step have the same size.  Assumed. */
#define KVP_DECODE_GRAIN_BYTES 16

struct kvp_decode {
	uint64_t step_bytes;	/* of one step's tensors, before they grow */
	uint32_t sizes;		/* tensors of a step, 1..4096 */
	uint64_t live_bytes;
	uint64_t steps;
	bool grow;
	bool preallocate;
};

/* What a step left behind. */
struct kvp_decode_row {
	uint64_t step;		/* from 1 */
	uint64_t free_bytes;	/* the backend's reading */
	struct kvp_alloc_cache_counters counters;	/* of this step */
};

typedef void kvp_decode_row_fn(void *cookie, const struct kvp_decode_row *row);

struct kvp_decode_result {
	uint64_t steps;		/* ended */
	bool exhausted;		/* out of memory in step steps + 1 */
	uint32_t tensor;	/* asked for then, from 1; 0: before step 1 */
	uint64_t wanted_bytes;
	uint64_t free_bytes;	/* then, or at the end */
	uint64_t held_most_bytes;
	uint64_t sizes_most;
	uint64_t freed_bytes;	/* evicted in all */
	uint64_t first_freed_step;	/* 0: nothing was */
	struct kvp_alloc_cache_counters counters;	/* then, or at the end */
};

/*
 * Run the workload.  The cache must have nothing handed out; afterwards it
 * has nothing handed out again.  `row` may be NULL.  Running out of memory
 * is an answer, not an error: KVP_OK with result->exhausted.
 * Errors: KVP_EINPUT for sizes the struct does not allow or a step_bytes
 * below `sizes`, and those of the cache.
 */
int kvp_decode_run(struct kvp_alloc_cache *c, struct kvp_backend *b,
		   uint32_t device, const struct kvp_decode *decode,
		   kvp_decode_row_fn *row, void *cookie,
		   struct kvp_decode_result *result, struct kvp_error *err);

#ifdef __cplusplus
}
#endif

#endif
