/*
 * The allocation cache: freed blocks of one device, kept for the next
 * request of exactly their size, bounded by the headroom there is.
 *
 *   get   a held block of that size, or a new one from the pool
 *   put   file the block; over the cap, evict the least recently used ones
 *         down to the low-water mark, cap - cap/8 (assumed)
 *
 *   handed out  --put-->  held  --evicted, drained-->  given to the pool
 *               <--get--                                  |
 *                            free for others <--synchronize
 *
 * Least recently used is what was put back first.  A get takes the block of
 * its size that was put back last.
 *
 * Memory comes from a pool of the cache's own (the backend's pool verbs; on
 * CUDA stream-ordered, release threshold 0).  What is evicted counts as
 * free only after a synchronize: until then it is `pending`.  The driver's
 * pool takes and gives back memory in whole blocks of 32 MiB (measured on
 * H200): evicted bytes serve the same cache at once, and others when all of
 * their block is evicted.
 *
 * The cap is the policy's (headroom.h): planned when the cache is enabled
 * and again every KVP_ALLOC_CACHE_ARM_STEPS steps, since free memory
 * shrinks.  Nothing is freed behind an allocation that fails: the caller
 * hears KVP_EEXHAUSTED, may drain and ask again.
 *
 * A pinned block has its address baked into something that will use it
 * again, such as a captured graph.  Held and pinned, it is neither evicted
 * nor handed out until it is unpinned, and is counted apart.  Unpinned it is
 * filed anew, as if it were put back then.
 *
 * One thread at a time.  Errors of the backend's verbs are passed on:
 * KVP_EEXHAUSTED, KVP_EDRIVER, KVP_ENOMEM.  A block whose giving back failed
 * stays held, as the most recently used one; nothing is given back twice.
 * Evicting ends there and goes on with the next block at the next occasion,
 * draining goes through all blocks and passes the first error on.
 */
#ifndef KVPLAN_ALLOC_CACHE_H
#define KVPLAN_ALLOC_CACHE_H

#include <kvplan/backend.h>
#include <kvplan/headroom.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVP_ALLOC_CACHE_ARM_STEPS 64

struct kvp_alloc_cache;

struct kvp_alloc_cache_counters {
	uint64_t held_bytes;	/* filed and not pinned: what the cap bounds */
	uint64_t held_blocks;
	uint64_t pinned_bytes;	/* filed and pinned */
	uint64_t pinned_blocks;
	uint64_t live_bytes;	/* handed out */
	uint64_t live_blocks;
	uint64_t pending_bytes;	/* given back, not free before a synchronize;
				   as far as this cache knows */
	struct kvp_cap cap;	/* as set last; before that, 0 bytes */
	uint64_t pinned_over_cap_bytes;	/* pinned_bytes less the cap, or 0 */
	uint64_t sizes;		/* distinct sizes filed, pinned or not */
	uint64_t steps;		/* ended so far */
	/* Since the last step ended. */
	uint64_t hits;
	uint64_t misses;	/* whether or not a new block came of it */
	uint64_t freed_bytes;	/* evicted, drained, or too large to file */
	/* Since the beginning. */
	uint64_t hits_total;
	uint64_t misses_total;
	uint64_t freed_bytes_total;
};

typedef void kvp_alloc_cache_report(void *cookie,
				    const struct kvp_alloc_cache_counters *now);

struct kvp_alloc_cache_options {
	uint32_t device;
	bool off;		/* begin disabled: put gives back at once */
	struct kvp_cap_override override;	/* in the policy's place */
	/* May be NULL: called at the end of every report_steps-th step,
	   before the per-step counters begin anew.  0 means never. */
	kvp_alloc_cache_report *report;
	void *cookie;
	uint64_t report_steps;
};

/*
 * A cache over one device of a backend, which must outlive it.  Arms, unless
 * it begins disabled.  On failure *c is NULL and no pool is left.
 * KVP_EINPUT: the backend has no such device.
 */
int kvp_alloc_cache_new(struct kvp_alloc_cache **c, struct kvp_backend *b,
			const struct kvp_alloc_cache_options *options,
			struct kvp_error *err);

/*
 * A block of exactly `bytes` bytes.  KVP_EINPUT for 0 bytes, not counted as
 * a miss.  On failure *address is untouched and nothing has changed but the
 * misses.
 */
int kvp_alloc_cache_get(struct kvp_alloc_cache *c, uint64_t bytes,
			uint64_t *address, struct kvp_error *err);

/*
 * Take a block back.  Work queued on the device's stream may still use it.
 * KVP_EBUSY: no such block is handed out, nothing has changed.  Any other
 * error is one of evicting; the block is taken back all the same.
 */
int kvp_alloc_cache_put(struct kvp_alloc_cache *c, uint64_t address,
			struct kvp_error *err);

/*
 * Set the cap until the next arming; over it, evict at once.  Pinned bytes
 * above the cap are no error: see pinned_over_cap_bytes.
 */
int kvp_alloc_cache_set_cap(struct kvp_alloc_cache *c,
			    const struct kvp_cap *cap, struct kvp_error *err);

/*
 * Synchronize, read what is free, plan the cap and set it.  A reading that
 * fails is no reading: 1 GiB, and no error.  Where synchronizing fails the
 * cap stays what it was.
 */
int kvp_alloc_cache_arm(struct kvp_alloc_cache *c, struct kvp_error *err);

/*
 * Turn caching on, which arms, or off, which drains.  Where synchronizing
 * fails it is not turned on; off it is turned in any case.
 */
int kvp_alloc_cache_enable(struct kvp_alloc_cache *c, bool on,
			   struct kvp_error *err);

/*
 * Pin or unpin a block, handed out or held.  KVP_EBUSY: no such block, or
 * it is pinned or unpinned already.  Unpinning may evict.
 */
int kvp_alloc_cache_pin(struct kvp_alloc_cache *c, uint64_t address,
			struct kvp_error *err);
int kvp_alloc_cache_unpin(struct kvp_alloc_cache *c, uint64_t address,
			  struct kvp_error *err);

/*
 * End a step: synchronize where bytes are pending, arm when due and caching
 * is on, report.  The step has ended whatever the answer.
 */
int kvp_alloc_cache_step(struct kvp_alloc_cache *c, struct kvp_error *err);

/* Give back everything held, pinned blocks apart, and synchronize. */
int kvp_alloc_cache_drain(struct kvp_alloc_cache *c, struct kvp_error *err);

void kvp_alloc_cache_counters(const struct kvp_alloc_cache *c,
			      struct kvp_alloc_cache_counters *counters);

/*
 * Drain, destroy the pool, free.  KVP_EBUSY: blocks are handed out or
 * pinned; nothing has changed.  KVP_ESTUCK: the backend would not take
 * everything back, or not synchronize; the cache is freed all the same, and
 * blocks that were not taken leave their pool behind.  NULL is fine.
 */
int kvp_alloc_cache_free(struct kvp_alloc_cache *c, struct kvp_error *err);

#ifdef __cplusplus
}
#endif

#endif
