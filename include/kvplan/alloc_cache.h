/*
 * The allocation cache: blocks of one device that were freed, kept for the
 * next request of exactly the same size, up to a cap.
 *
 *   get   take a held block of that size, or allocate one from the pool
 *   put   hold the block; if the held bytes exceed the cap, evict the least
 *         recently used blocks until at most cap - cap/8 are held
 *
 *   handed out  --put-->  held  --evict, drain-->  deallocated, pending
 *               <--get--                              |
 *                         free for others  <--synchronize
 *
 * The least recently used block is the one that was put back first.  A get
 * takes the block of its size that was put back last.
 *
 * The cache allocates from a pool of its own (the backend's pool verbs; on
 * CUDA stream-ordered, with release threshold 0).  Evicted bytes are
 * `pending` until the next synchronize; after it they are free for this
 * cache's pool.  The CUDA driver returns a pool's memory in steps of 32 MiB
 * (measured on H200), so others can use evicted bytes only after a synchronize
 * that finds everything in their step evicted.
 *
 * The cap is the one of headroom.h.  It is computed when the cache is
 * enabled and again after every KVP_ALLOC_CACHE_ARM_STEPS steps, because
 * free memory changes; this is called arming.  If an allocation fails with
 * KVP_EEXHAUSTED, the cache frees nothing by itself: the caller may drain it
 * and try again.
 *
 * Pin a block whose address is stored in something that will use it again,
 * such as a captured graph.  A block that is held and pinned is neither
 * evicted nor handed out, and does not count against the cap.  When it is
 * unpinned, it is held as if it were put back at that time.
 *
 * All sizes are in bytes.  One thread at a time.
 *
 * Every function that returns int may return the errors of the backend's
 * verbs: KVP_EEXHAUSTED, KVP_EDRIVER, KVP_ENOMEM; the comments below list
 * the others.  If deallocating a block fails, the block stays held, as the
 * most recently used one, and is tried again later.  Evicting stops at such
 * a failure; draining tries all blocks and returns the first error.
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
	uint64_t held_bytes;	/* put back and not pinned: at most the cap */
	uint64_t held_blocks;
	uint64_t pinned_bytes;	/* put back and pinned */
	uint64_t pinned_blocks;
	uint64_t live_bytes;	/* handed out */
	uint64_t live_blocks;
	uint64_t pending_bytes;	/* deallocated since the last synchronize
				   that this cache made */
	struct kvp_cap cap;	/* in force; 0 bytes before the first */
	uint64_t pinned_over_cap_bytes;	/* pinned_bytes - cap, at least 0 */
	uint64_t sizes;		/* distinct sizes of held and pinned blocks */
	uint64_t steps;		/* that have ended */
	/* Since the last step ended. */
	uint64_t hits;
	uint64_t misses;	/* also those whose allocation failed */
	uint64_t freed_bytes;	/* evicted, drained, or too large to hold */
	/* Since the cache was made. */
	uint64_t hits_total;
	uint64_t misses_total;
	uint64_t freed_bytes_total;
};

typedef void kvp_alloc_cache_report(void *cookie,
				    const struct kvp_alloc_cache_counters *now);

struct kvp_alloc_cache_options {
	uint32_t device;
	bool off;		/* start disabled: put deallocates at once */
	struct kvp_cap_override override;	/* the cap to use instead of
						   the computed one */
	/* May be NULL.  Called at the end of every report_steps-th step,
	   before the counters of the step are set to 0.  If report_steps is
	   0 it is never called. */
	kvp_alloc_cache_report *report;
	void *cookie;
	uint64_t report_steps;
};

/*
 * Make a cache for one device of a backend, which must outlive the cache,
 * and arm it unless options->off is set.  Free *c with
 * kvp_alloc_cache_free().  On failure *c is NULL and the pool is destroyed.
 * Also KVP_EINPUT if the backend has no such device.
 */
int kvp_alloc_cache_new(struct kvp_alloc_cache **c, struct kvp_backend *b,
			const struct kvp_alloc_cache_options *options,
			struct kvp_error *err);

/*
 * Get a block of exactly `bytes` bytes.  On failure *address is untouched
 * and only the misses are counted.  Also KVP_EINPUT for 0 bytes, which
 * counts no miss.
 */
int kvp_alloc_cache_get(struct kvp_alloc_cache *c, uint64_t bytes,
			uint64_t *address, struct kvp_error *err);

/*
 * Give a block back to the cache.  Work that is queued on the device's
 * stream may still use it.  Also KVP_EBUSY if no block with this address is
 * handed out; nothing changes then.  Any other error comes from evicting:
 * the cache has taken the block back.
 */
int kvp_alloc_cache_put(struct kvp_alloc_cache *c, uint64_t address,
			struct kvp_error *err);

/*
 * Set the cap until the cache is armed next, and evict if more is held.  On
 * failure the cap is set.  Pinned bytes above the cap are no error, see
 * pinned_over_cap_bytes.
 */
int kvp_alloc_cache_set_cap(struct kvp_alloc_cache *c,
			    const struct kvp_cap *cap, struct kvp_error *err);

/*
 * Arm the cache: synchronize, read the free memory, compute the cap and set
 * it.  If free memory cannot be read, the cap is 1 GiB; that is no error.
 * If synchronizing fails, the cap is unchanged.
 */
int kvp_alloc_cache_arm(struct kvp_alloc_cache *c, struct kvp_error *err);

/*
 * Turn caching on and arm the cache, or turn it off and drain it.  If
 * synchronizing fails, caching is not turned on.  It is turned off also when
 * draining fails.
 */
int kvp_alloc_cache_enable(struct kvp_alloc_cache *c, bool on,
			   struct kvp_error *err);

/*
 * Pin or unpin a block that is handed out or held.  Unpinning may evict.
 * Also KVP_EBUSY if there is no such block, or it is already pinned or
 * already unpinned; nothing changes then.
 */
int kvp_alloc_cache_pin(struct kvp_alloc_cache *c, uint64_t address,
			struct kvp_error *err);
int kvp_alloc_cache_unpin(struct kvp_alloc_cache *c, uint64_t address,
			  struct kvp_error *err);

/*
 * End a step: synchronize if bytes are pending, arm the cache if that is due
 * and caching is on, and call the report.  The step ends also on failure.
 */
int kvp_alloc_cache_step(struct kvp_alloc_cache *c, struct kvp_error *err);

/* Deallocate every held block that is not pinned, and synchronize.  Blocks
   that could not be deallocated stay held. */
int kvp_alloc_cache_drain(struct kvp_alloc_cache *c, struct kvp_error *err);

/* Copy the counters as they are now. */
void kvp_alloc_cache_counters(const struct kvp_alloc_cache *c,
			      struct kvp_alloc_cache_counters *counters);

/*
 * Drain the cache, destroy its pool and free it.  NULL is allowed.
 *
 * Errors: KVP_EBUSY if blocks are handed out or pinned; nothing changes
 * then.  KVP_ESTUCK if a block could not be deallocated, the pool not
 * destroyed, or the device not synchronized; the cache is freed, what could
 * not be given back stays allocated in the backend.
 */
int kvp_alloc_cache_free(struct kvp_alloc_cache *c, struct kvp_error *err);

#ifdef __cplusplus
}
#endif

#endif
