/*
 * The allocation cache: its operations, its cap and its counters.
 * cache_blocks.c keeps the blocks; headroom.h computes the cap.
 *
 * While caching is turned off the cap in force is 0, whatever the cap is: only
 * pinned blocks are kept, and those that the backend failed to free.
 */
#include <kvplan/alloc_cache.h>

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/u64.h"
#include "cache/cache_blocks.h"
#include "cache/cache_check.h"

/* Invariants are checked up to this many blocks: it takes O(blocks). */
#define CHECKED_MAX 64

struct kvp_alloc_cache {
	struct kvp_backend *backend;
	struct kvp_alloc_cache_options options;
	kvp_pool pool;
	bool on;
	struct alloc_blocks blocks;
	/* Those that are not computed from the blocks; the others are 0. */
	struct kvp_alloc_cache_counters count;
};

/* Add to a total; it stays at UINT64_MAX instead of wrapping around. */
static void count_bytes(uint64_t *total, uint64_t bytes)
{
	if (!u64_add(*total, bytes, total))
		*total = UINT64_MAX;
}

static int synchronize(struct kvp_alloc_cache *c, struct kvp_error *err)
{
	int code = c->backend->device.synchronize(c->backend, c->options.device,
						  err);

	if (!code)
		c->count.pending_bytes = 0;
	return code;
}

/* The cap in force. */
static struct kvp_cap get_cap(const struct kvp_alloc_cache *c)
{
	return c->on ? c->count.cap :
		       (struct kvp_cap){ 0, true, KVP_CAP_OVERRIDE };
}

static int give_back(struct kvp_alloc_cache *c, struct alloc_block *block,
		     struct kvp_error *err)
{
	const uint64_t bytes = block->size->bytes;
	int code;

	assert(alloc_block_state(block) == ALLOC_HELD);
	code = c->backend->pool.deallocate(c->backend, c->pool,
					   block->at.address, err);
	if (code) {
		/* Move it to the end of the list: others are tried first. */
		alloc_blocks_move(&c->blocks, block, true, false);
		return code;
	}
	count_bytes(&c->count.pending_bytes, bytes);
	count_bytes(&c->count.freed_bytes, bytes);
	count_bytes(&c->count.freed_bytes_total, bytes);
	alloc_blocks_remove(&c->blocks, block);
	return KVP_OK;
}

/* If more than the cap is held, free blocks down to 7/8 of the cap. */
static int evict(struct kvp_alloc_cache *c, struct kvp_error *err)
{
	const struct alloc_sum *held = &c->blocks.sum[ALLOC_HELD];
	const struct kvp_cap cap = get_cap(c);
	int code = KVP_OK;

	if (!cap.bounded || held->bytes <= cap.bytes)
		return KVP_OK;
	while (!code && held->bytes > cap.bytes - cap.bytes / 8) {
		assert(c->blocks.held.first);
		code = give_back(c, c->blocks.held.first, err);
	}
	assert(code || held->bytes <= cap.bytes);
	return code;
}

/* File a block that was handed out, or whose pinning changes. */
static int file_block(struct kvp_alloc_cache *c, struct alloc_block *block,
		      bool pinned, struct kvp_error *err)
{
	const struct kvp_cap cap = get_cap(c);
	int code = KVP_OK;

	assert(!block->filed || block->pinned != pinned);
	alloc_blocks_move(&c->blocks, block, true, pinned);
	if (pinned)
		return KVP_OK;
	/* If it were held, all other blocks would be evicted before it. */
	if (cap.bounded && block->size->bytes > cap.bytes)
		code = give_back(c, block, err);
	return code ? code : evict(c, err);
}

/* Free all held blocks; continues after a block that cannot be freed. */
static int give_back_all(struct kvp_alloc_cache *c, struct kvp_error *err)
{
	uint64_t n;
	int code = KVP_OK, each;

	for (n = c->blocks.sum[ALLOC_HELD].blocks; n; n--) {
		assert(c->blocks.held.first);
		each = give_back(c, c->blocks.held.first, code ? NULL : err);
		code = code ? code : each;
	}
	return code;
}

int kvp_alloc_cache_get(struct kvp_alloc_cache *c, uint64_t bytes,
			uint64_t *address, struct kvp_error *err)
{
	struct alloc_block *block;
	uint64_t at = 0;
	int code;

	assert(c && address);
	if (!bytes)
		return kvp_error_set(err, KVP_EINPUT,
				     "get: a block of 0 bytes");
	block = alloc_blocks_held(&c->blocks, bytes);
	if (block) {
		assert(block->size->bytes == bytes && !block->pinned);
		alloc_blocks_move(&c->blocks, block, false, false);
		c->count.hits++;
		c->count.hits_total++;
		*address = block->at.address;
		return KVP_OK;
	}
	c->count.misses++;
	c->count.misses_total++;
	code = alloc_blocks_prepare(&c->blocks, bytes, &block, err);
	if (code)
		return code;
	code = c->backend->pool.allocate(c->backend, c->pool, bytes, &at, err);
	if (code) {
		alloc_blocks_discard(&c->blocks, block);
		return code;
	}
	assert(at);
	alloc_blocks_add(&c->blocks, block, at);
	*address = at;
	return KVP_OK;
}

int kvp_alloc_cache_put(struct kvp_alloc_cache *c, uint64_t address,
			struct kvp_error *err)
{
	struct alloc_block *block = alloc_blocks_at(&c->blocks, address);

	if (!block || block->filed)
		return kvp_error_set(err, KVP_EBUSY, block ?
			"put: the block at 0x%llx is not handed out, it "
			"was put back already" :
			"put: no block is handed out at 0x%llx", (ull)address);
	return file_block(c, block, block->pinned, err);
}

int kvp_alloc_cache_set_cap(struct kvp_alloc_cache *c,
			    const struct kvp_cap *cap, struct kvp_error *err)
{
	assert(c && cap);
	c->count.cap = *cap;
	return evict(c, err);
}

void cache_check_internal(const struct kvp_alloc_cache *c)
{
	const struct alloc_sum *sum = c->blocks.sum;
	const struct kvp_alloc_cache_counters *n = &c->count;

	alloc_blocks_check_internal(&c->blocks);
	assert(c->backend && c->options.device < c->backend->devices);
	assert(sum[ALLOC_LIVE].blocks + sum[ALLOC_HELD].blocks +
	       sum[ALLOC_PINNED].blocks == c->blocks.table.count);
	assert(n->hits <= n->hits_total && n->misses <= n->misses_total);
	assert(n->freed_bytes <= n->freed_bytes_total);
	assert(n->pending_bytes <= n->freed_bytes_total);
	/* These are computed from the blocks when counters are read. */
	assert(!n->held_bytes && !n->pinned_bytes && !n->live_bytes);
	assert(!n->sizes && !n->pinned_over_cap_bytes);
}

static void check_few(const struct kvp_alloc_cache *c)
{
	if (c->blocks.table.count <= CHECKED_MAX)
		cache_check_internal(c);
}

/* Compute and set the cap from the memory that is free now. */
static int plan_cap(struct kvp_alloc_cache *c, struct kvp_error *err)
{
	uint64_t free_bytes = 0;
	int unread = c->backend->device.memory(c->backend, c->options.device,
					       &free_bytes, NULL);
	struct kvp_cap cap = kvp_cap_plan(unread ? NULL : &free_bytes,
					  &c->options.override);

	check_few(c);
	return kvp_alloc_cache_set_cap(c, &cap, err);
}

int kvp_alloc_cache_arm(struct kvp_alloc_cache *c, struct kvp_error *err)
{
	int code = synchronize(c, err);

	return code ? code : plan_cap(c, err);
}

int kvp_alloc_cache_drain(struct kvp_alloc_cache *c, struct kvp_error *err)
{
	int code = give_back_all(c, err);
	int synced = synchronize(c, code ? NULL : err);

	return code ? code : synced;
}

int kvp_alloc_cache_enable(struct kvp_alloc_cache *c, bool on,
			   struct kvp_error *err)
{
	int code;

	if (!on) {
		c->on = false;
		return kvp_alloc_cache_drain(c, err);
	}
	code = synchronize(c, err);
	if (code)
		return code;
	c->on = true;
	return plan_cap(c, err);
}

static int set_pinned(struct kvp_alloc_cache *c, uint64_t address, bool pinned,
		      struct kvp_error *err)
{
	struct alloc_block *block = alloc_blocks_at(&c->blocks, address);
	const char *call = pinned ? "pin" : "unpin";

	if (!block)
		return kvp_error_set(err, KVP_EBUSY,
				     "%s: no block at 0x%llx", call,
				     (ull)address);
	if (block->pinned == pinned)
		return kvp_error_set(err, KVP_EBUSY, "%s: the block at 0x%llx"
				     " is %s", call, (ull)address,
				     pinned ? "pinned already" : "not pinned");
	if (block->filed)
		return file_block(c, block, pinned, err);
	alloc_blocks_move(&c->blocks, block, false, pinned);
	return KVP_OK;
}

int kvp_alloc_cache_pin(struct kvp_alloc_cache *c, uint64_t address,
			struct kvp_error *err)
{
	return set_pinned(c, address, true, err);
}

int kvp_alloc_cache_unpin(struct kvp_alloc_cache *c, uint64_t address,
			  struct kvp_error *err)
{
	return set_pinned(c, address, false, err);
}

int kvp_alloc_cache_step(struct kvp_alloc_cache *c, struct kvp_error *err)
{
	const uint64_t every = c->options.report_steps;
	struct kvp_alloc_cache_counters now;
	int code = KVP_OK;

	c->count.steps++;
	if (c->on && c->count.steps % KVP_ALLOC_CACHE_ARM_STEPS == 0)
		code = kvp_alloc_cache_arm(c, err);
	/* After this, what arming evicted is free as well. */
	if (!code && c->count.pending_bytes)
		code = synchronize(c, err);
	if (c->options.report && every && c->count.steps % every == 0) {
		kvp_alloc_cache_counters(c, &now);
		c->options.report(c->options.cookie, &now);
	}
	c->count.hits = 0;
	c->count.misses = 0;
	c->count.freed_bytes = 0;
	return code;
}

void kvp_alloc_cache_counters(const struct kvp_alloc_cache *c,
			      struct kvp_alloc_cache_counters *counters)
{
	const struct alloc_sum *sum = c->blocks.sum;
	const struct kvp_cap *cap = &c->count.cap;
	struct kvp_alloc_cache_counters n = c->count;

	n.held_bytes = sum[ALLOC_HELD].bytes;
	n.held_blocks = sum[ALLOC_HELD].blocks;
	n.pinned_bytes = sum[ALLOC_PINNED].bytes;
	n.pinned_blocks = sum[ALLOC_PINNED].blocks;
	n.live_bytes = sum[ALLOC_LIVE].bytes;
	n.live_blocks = sum[ALLOC_LIVE].blocks;
	n.sizes = c->blocks.sizes;
	if (cap->bounded && n.pinned_bytes > cap->bytes)
		n.pinned_over_cap_bytes = n.pinned_bytes - cap->bytes;
	*counters = n;
}

/*
 * The pool is created last, so that nothing has to be given back after a
 * failure: that could fail, too.
 */
int kvp_alloc_cache_new(struct kvp_alloc_cache **cache, struct kvp_backend *b,
			const struct kvp_alloc_cache_options *options,
			struct kvp_error *err)
{
	struct kvp_alloc_cache *c;
	int code = KVP_OK;

	assert(cache && b && options);
	*cache = NULL;
	if (options->device >= b->devices)
		return kvp_error_set(err, KVP_EINPUT, "no device %" PRIu32
				     ": the %s backend has %u",
				     options->device, b->name, b->devices);
	c = calloc(1, sizeof(*c));
	if (!c)
		return kvp_error_nomem(err);
	c->backend = b;
	c->options = *options;
	c->count.cap = (struct kvp_cap){ 0, true, KVP_CAP_OVERRIDE };
	if (!options->off)
		code = kvp_alloc_cache_enable(c, true, err);
	if (!code)
		code = b->pool.pool_create(b, options->device, &c->pool, err);
	if (!code) {
		*cache = c;
		c = NULL;
	}
	free(c);
	return code;
}

/* Free all held blocks, then destroy the pool unless blocks are left. */
static int give_back_pool(struct kvp_alloc_cache *c, struct kvp_error *err)
{
	int code = kvp_alloc_cache_drain(c, err), gone;

	assert(code || !c->blocks.table.count);
	if (c->blocks.table.count)
		return code;
	gone = c->backend->pool.pool_destroy(c->backend, c->pool,
					     code ? NULL : err);
	return code ? code : gone;
}

int kvp_alloc_cache_free(struct kvp_alloc_cache *c, struct kvp_error *err)
{
	struct kvp_alloc_cache_counters n;
	int code;

	if (!c)
		return KVP_OK;
	check_few(c);
	kvp_alloc_cache_counters(c, &n);
	if (n.live_blocks || n.pinned_blocks)
		return kvp_error_set(err, KVP_EBUSY, "the allocation cache "
			"is in use: %llu blocks are handed out, %llu"
			" are pinned; put back and unpin them first",
			(ull)n.live_blocks, (ull)n.pinned_blocks);
	code = give_back_pool(c, err);
	if (code)
		code = kvp_error_wrap(err, KVP_ESTUCK, "the allocation cache "
			"is gone, and %llu blocks of %llu"
			" bytes are left",
			(ull)c->blocks.sum[ALLOC_HELD].blocks,
			(ull)c->blocks.sum[ALLOC_HELD].bytes);
	alloc_blocks_release(&c->blocks);
	free(c);
	return code;
}
