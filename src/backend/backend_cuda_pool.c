/*
 * The CUDA backend's pools: stream-ordered allocation on the GPU's stream for
 * fills.
 *
 * With a release threshold of 0 the driver frees at a synchronize the memory
 * of blocks that were freed before it, in multiples of 32 MiB.  The driver
 * would accept destroying a pool that has blocks, and its manual does not say
 * what freeing an unknown address does; both are refused here.
 */
#include "backend/backend_cuda.h"

#ifdef KVP_HAVE_CUDA

#include <stdlib.h>

#define POOLS CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED

static int check_supported(struct cuda *c, const struct gpu *g,
			   struct kvp_error *err)
{
	int able = 0;
	int code = CALL(c, err, DeviceGetAttribute, (&able, POOLS, g->device));

	if (code || able)
		return code;
	return kvp_error_set(err, KVP_EDRIVER, "cuMemPoolCreate: GPU %d has no"
			     " memory pools", (int)g->device);
}

/* The pool cannot be shared, uses the GPU's memory only and keeps none. */
static int create_pool(struct cuda *c, struct pool *pool, struct kvp_error *err)
{
	CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED };
	CUmemoryPool made = NULL;
	cuuint64_t kept_bytes = 0;
	int code = cuda_enter(c, pool->device, err);

	if (code)
		return code;
	props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	props.location.id = gpu_of(c, pool->device)->device;
	code = CALL(c, err, MemPoolCreate, (&made, &props));
	if (!code) {
		code = CALL(c, err, MemPoolSetAttribute,
			    (made, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
			     &kept_bytes));
		if (code)
			(void)c->api.MemPoolDestroy(made);
	}
	pool->system = made;
	return cuda_leave(c, code);
}

int cuda_pool_create(struct kvp_backend *b, uint32_t device, kvp_pool *pool,
		     struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	struct pool *made = NULL;
	int code;

	assert(pool);
	code = cuda_check_device(c, device, err);
	if (!code)
		code = check_supported(c, gpu_of(c, device), err);
	if (!code)
		code = pool_new(&made, device, err);
	if (!code)
		code = create_pool(c, made, err);
	if (code)
		free(made);
	else
		*pool = pools_add(&c->pools, made);
	return code;
}

int cuda_pool_destroy(struct kvp_backend *b, kvp_pool pool,
		      struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	struct pool *gone = NULL;
	int code = pools_find_unused(&c->pools, "cuMemPoolDestroy", pool, &gone,
				     err);

	if (!code)
		code = cuda_enter(c, gone->device, err);
	if (code)
		return code;
	/* The last frees may still be running. */
	code = CALL(c, err, StreamSynchronize,
		    (gpu_of(c, gone->device)->stream));
	if (!code)
		code = CALL(c, err, MemPoolDestroy, (gone->system));
	cuda_leave(c, code);
	if (!code)
		pools_drop(&c->pools, gone);
	return code;
}

int cuda_allocate(struct kvp_backend *b, kvp_pool pool, uint64_t bytes,
		  uint64_t *address, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	struct pool_block *block = NULL;
	const struct pool *from;
	CUdeviceptr got = 0;
	int code;

	assert(address);
	code = pools_prepare_block(&c->pools, "cuMemAllocFromPoolAsync", pool,
				   bytes, &block, err);
	if (code)
		return code;
	from = block->pool;
	code = cuda_enter(c, from->device, err);
	if (!code)
		code = LAST(c, err, MemAllocFromPoolAsync,
			    (&got, bytes, from->system,
			     gpu_of(c, from->device)->stream));
	if (code) {
		free(block);
		return code;
	}
	pools_add_block(&c->pools, block, got);
	*address = got;
	return KVP_OK;
}

int cuda_deallocate(struct kvp_backend *b, kvp_pool pool, uint64_t address,
		    struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	struct pool_block *block = NULL;
	uint32_t device;
	int code = pools_find_block(&c->pools, "cuMemFreeAsync", pool, address,
				    &block, err);

	if (code)
		return code;
	device = block->pool->device;
	code = cuda_enter(c, device, err);
	if (!code)
		code = LAST(c, err, MemFreeAsync,
			    (address, gpu_of(c, device)->stream));
	if (code)
		return code;
	pools_remove_block(&c->pools, block);
	free(block);
	return KVP_OK;
}

void cuda_pools_release(struct cuda *c)
{
	const struct pool_block *block;
	const struct pool *pool;
	CUstream stream;

	for (pool = c->pools.first; pool; pool = pool->next) {
		if (cuda_enter(c, pool->device, NULL))
			continue;
		stream = gpu_of(c, pool->device)->stream;
		for (block = pool->blocks; block; block = block->after)
			(void)c->api.MemFreeAsync(block->address, stream);
		(void)c->api.StreamSynchronize(stream);
		(void)c->api.MemPoolDestroy(pool->system);
		cuda_leave(c, KVP_OK);
	}
	pools_release(&c->pools);
}

#endif
