/*
 * The host backend's pools: every block is an anonymous mapping of its own.
 *
 * A GPU's pool frees memory in the order of a stream; so does this one.  A
 * deallocated block is pending: it stays mapped until its device is
 * synchronized, and a caller that does not synchronize finds its memory still
 * used.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* MAP_ANONYMOUS */
#endif

#include "backend/host.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"

int host_pool_create(struct kvp_backend *b, uint32_t device, kvp_pool *pool,
		     struct kvp_error *err)
{
	struct host *h = host_of(b);
	struct pool *made = NULL;
	int code = host_check_device(h, "pool_create", device, err);

	if (!code)
		code = pool_new(&made, device, err);
	if (code)
		return code;
	*pool = pools_add(&h->pools, made);
	h->alive.pools++;
	return KVP_OK;
}

int host_allocate(struct kvp_backend *b, kvp_pool pool, uint64_t bytes,
		  uint64_t *address, struct kvp_error *err)
{
	struct host *h = host_of(b);
	struct pool_block *block = NULL;
	void *got;
	int code = pools_prepare_block(&h->pools, "allocate", pool, bytes,
				       &block, err);

	if (code)
		return code;
	if (!h->spare)
		h->spare = host_spare_make();
	got = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (got == MAP_FAILED) {
		code = host_fail_call(err, "allocate", "mmap", 0, bytes);
		free(block);
		return code;
	}
	pools_add_block(&h->pools, block, (uint64_t)(uintptr_t)got);
	h->alive.blocks++;
	*address = block->address;
	return KVP_OK;
}

int host_deallocate(struct kvp_backend *b, kvp_pool pool, uint64_t address,
		    struct kvp_error *err)
{
	struct host *h = host_of(b);
	struct pool_block *block = NULL;
	int code = pools_find_block(&h->pools, "deallocate", pool, address,
				    &block, err);

	if (code)
		return code;
	pools_remove_block(&h->pools, block);
	assert(!block->before && !block->after);
	block->after = block->pool->pending;
	block->pool->pending = block;
	return KVP_OK;
}

/*
 * The kernel joins neighbouring blocks to one map.  Unmapping one in the
 * middle takes one more map, which the spare maps provide.
 */
static bool unmap_block(struct host *h, const struct pool_block *block)
{
	void *at = (void *)(uintptr_t)block->address;
	int failed = munmap(at, (size_t)block->bytes);

	if (failed && errno == ENOMEM && h->spare) {
		host_spare_free(h->spare);
		failed = munmap(at, (size_t)block->bytes);
		h->spare = NULL;
	}
	return !failed;
}

/* Unmap a pool's pending blocks.  One that cannot be unmapped stays pending. */
static int free_pending(struct host *h, const char *call, struct pool *pool,
			struct kvp_error *err)
{
	struct pool_block **link = &pool->pending;
	struct pool_block *block;
	int code = KVP_OK;

	while ((block = *link) != NULL) {
		if (!unmap_block(h, block)) {
			if (!code)
				code = host_fail_call(err, call, "munmap",
						      block->address,
						      block->bytes);
			link = &block->after;
			continue;
		}
		*link = block->after;
		free(block);
		assert(h->alive.blocks);
		h->alive.blocks--;
	}
	return code;
}

int host_pool_destroy(struct kvp_backend *b, kvp_pool pool,
		      struct kvp_error *err)
{
	struct host *h = host_of(b);
	struct pool *gone = NULL;
	int code = pools_find_unused(&h->pools, "pool_destroy", pool, &gone,
				     err);

	if (!code)
		code = free_pending(h, "pool_destroy", gone, err);
	if (code)
		return code;
	assert(!gone->blocks && !gone->pending && h->alive.pools);
	pools_drop(&h->pools, gone);
	h->alive.pools--;
	return KVP_OK;
}

int host_pools_free_pending(struct host *h, uint32_t device,
			    struct kvp_error *err)
{
	struct pool *pool;
	int code = KVP_OK;
	int each;

	for (pool = h->pools.first; pool; pool = pool->next) {
		if (pool->device != device)
			continue;
		each = free_pending(h, "synchronize", pool, code ? NULL : err);
		if (!code)
			code = each;
	}
	return code;
}

static void unmap_all(const struct pool_block *block)
{
	for (; block; block = block->after)
		munmap((void *)(uintptr_t)block->address,
		       (size_t)block->bytes);
}

void host_pools_release(struct host *h)
{
	struct pool *pool;

	for (pool = h->pools.first; pool; pool = pool->next) {
		unmap_all(pool->blocks);
		unmap_all(pool->pending);
	}
	pools_release(&h->pools);
}
