/*
 * The stand-in's memory pools and the blocks in them.
 *
 * Stricter than a GPU: bytes that are freed are taken until their stream is
 * waited for, and for as long as the pool lives where its release threshold
 * is not 0, which a driver has from the start and this one only when told.
 * A pool is destroyed once everything in it is freed and waited for; a
 * driver would do it later, by itself.
 *
 * Kinder in another: blocks take exactly their bytes, where a driver takes
 * memory and gives it back 32 MiB at a time.  They lie above all reservations
 * and never have an address that another one had.
 */
#include "fake/libcuda.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 512

static struct pool *find_pool(CUmemoryPool handle)
{
	struct pool *p = cu.pools;

	while (p && (CUmemoryPool)(void *)p != handle)
		p = p->next;
	return p;
}

/* The block that begins at an address, or NULL. */
static struct block *block_at(uint64_t base)
{
	size_t low = 0;
	size_t high = cu.nblocks;
	size_t middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (cu.blocks[middle].base >= base)
			high = middle;
		else
			low = middle + 1;
	}
	if (low < cu.nblocks && cu.blocks[low].base == base)
		return &cu.blocks[low];
	return NULL;
}

CUresult pool_create(CUmemoryPool *pool, const CUmemPoolProps *props)
{
	CUmemPoolProps plain = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED };
	struct pool *p;

	if (!pool || !props ||
	    props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	if (no_gpu(props->location.id))
		return CUDA_ERROR_INVALID_DEVICE;
	if (cu.no_pools)
		return CUDA_ERROR_NOT_SUPPORTED;
	plain.location = props->location;
	/* Reserved bytes have to be 0; no kind of sharing is offered. */
	if (memcmp(props, &plain, sizeof(plain)))
		return CUDA_ERROR_INVALID_VALUE;
	p = zeroed(1, sizeof(*p));
	p->device = (uint32_t)props->location.id;
	p->threshold = UINT64_MAX;
	p->next = cu.pools;
	cu.pools = p;
	*pool = (CUmemoryPool)(void *)p;
	return CUDA_SUCCESS;
}

CUresult pool_set(CUmemoryPool handle, CUmemPool_attribute what,
		  const void *value)
{
	struct pool *p = find_pool(handle);

	if (!p)
		return refuse("cuMemPoolSetAttribute: no pool, or destroyed");
	if (what != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD || !value)
		return CUDA_ERROR_INVALID_VALUE;
	p->threshold = *(const cuuint64_t *)value;
	return CUDA_SUCCESS;
}

CUresult pool_destroy(CUmemoryPool handle)
{
	struct pool *p = find_pool(handle);
	struct pool **link = &cu.pools;
	size_t used = 0;
	size_t freed = 0;
	size_t i;

	if (!p)
		return refuse("cuMemPoolDestroy: no pool, or destroyed");
	for (i = 0; i < cu.nblocks; i++) {
		if (cu.blocks[i].pool != p)
			continue;
		used += !cu.blocks[i].freed;
		freed += cu.blocks[i].freed != NULL;
	}
	if (used || freed)
		return refuse("cuMemPoolDestroy: %zu blocks are in use, %zu"
			      " freed and not waited for", used, freed);
	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	node_give(cu.gpus[p->device].card, p->kept_bytes);
	free(p);
	return CUDA_SUCCESS;
}

CUresult block_alloc(CUdeviceptr *ptr, size_t size, CUmemoryPool handle,
		     CUstream stream)
{
	struct pool *p = find_pool(handle);
	struct stream *s = NULL;
	CUresult rc = find_stream(stream, &s);

	if (rc)
		return rc;
	if (!p)
		return refuse("cuMemAllocFromPoolAsync: no pool, or"
			      " destroyed");
	if (p->device != s->device)
		return refuse("cuMemAllocFromPoolAsync: a pool of device %"
			      PRIu32 " on a stream of %" PRIu32, p->device,
			      s->device);
	if (!ptr || !size)
		return CUDA_ERROR_INVALID_VALUE;
	if (!node_take(cu.gpus[p->device].card, size, 0))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!cu.blocks_end)
		cu.blocks_end = LAST;
	cu.blocks = grown(cu.blocks, cu.nblocks, &cu.blocks_room,
			  sizeof(*cu.blocks));
	cu.blocks[cu.nblocks++] = (struct block){
		.base = cu.blocks_end, .bytes = size, .pool = p,
	};
	*ptr = cu.blocks_end;
	cu.blocks_end += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return CUDA_SUCCESS;
}

CUresult block_free(CUdeviceptr ptr, CUstream stream)
{
	struct block *b = block_at(ptr);
	struct stream *s = NULL;
	CUresult rc = find_stream(stream, &s);

	if (rc)
		return rc;
	if (!b || b->freed)
		return refuse("cuMemFreeAsync: 0x%llx is no block, or freed",
			      ptr);
	if (b->pool->device != s->device)
		return refuse("cuMemFreeAsync: a block of device %" PRIu32
			      " on a stream of %" PRIu32, b->pool->device,
			      s->device);
	b->freed = s;
	return CUDA_SUCCESS;
}

void blocks_settle(const struct stream *s)
{
	const struct block *b;
	size_t kept = 0;
	size_t i;

	for (i = 0; i < cu.nblocks; i++) {
		b = &cu.blocks[i];
		if (b->freed != s)
			cu.blocks[kept++] = *b;
		else if (b->pool->threshold)
			b->pool->kept_bytes += b->bytes;
		else
			node_give(cu.gpus[b->pool->device].card, b->bytes);
	}
	cu.nblocks = kept;
}
