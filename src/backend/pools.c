/*
 * The records of a backend's pools; see pools.h.
 *
 * There are few pools and many blocks: pools are in a list, blocks in a table
 * by address and in a list of their pool.
 */
#include "backend/pools.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int pool_new(struct pool **pool, uint32_t device, struct kvp_error *err)
{
	struct pool *made = calloc(1, sizeof(*made));

	if (!made)
		return kvp_error_nomem(err);
	made->device = device;
	*pool = made;
	return KVP_OK;
}

static int find_pool(const struct pools *p, const char *call, kvp_pool name,
		     struct pool **pool, struct kvp_error *err)
{
	struct pool *at = p->first;

	while (at && at->name != name)
		at = at->next;
	if (!at)
		return kvp_error_set(err, KVP_EDRIVER, "%s: no pool %llu"
				     ", or it is destroyed already", call,
				     (ull)name);
	*pool = at;
	return KVP_OK;
}

kvp_pool pools_add(struct pools *p, struct pool *pool)
{
	assert(!pool->blocks && !pool->pending && !pool->name);
	pool->name = ++p->last;
	pool->next = p->first;
	p->first = pool;
	return pool->name;
}

int pools_prepare_block(struct pools *p, const char *call, kvp_pool name,
			uint64_t bytes, struct pool_block **block,
			struct kvp_error *err)
{
	struct pool_block *made;
	struct pool *pool = NULL;
	int code = find_pool(p, call, name, &pool, err);

	if (!code && !bytes)
		code = kvp_error_set(err, KVP_EDRIVER,
				     "%s: a block of 0 bytes", call);
	if (!code)
		code = address_table_make_room(&p->blocks, err);
	if (code)
		return code;
	made = calloc(1, sizeof(*made));
	if (!made)
		return kvp_error_nomem(err);
	made->pool = pool;
	made->bytes = bytes;
	*block = made;
	return KVP_OK;
}

void pools_add_block(struct pools *p, struct pool_block *block,
		     uint64_t address)
{
	struct pool *pool = block->pool;

	assert(!block->before && !block->after);
	assert(block->bytes && !pool->blocks == !pool->nblocks);
	block->address = address;
	block->after = pool->blocks;
	if (pool->blocks)
		pool->blocks->before = block;
	pool->blocks = block;
	pool->nblocks++;
	address_table_add(&p->blocks, &block->node);
}

int pools_find_block(const struct pools *p, const char *call, kvp_pool name,
		     uint64_t address, struct pool_block **block,
		     struct kvp_error *err)
{
	struct pool_block *at;
	struct pool *pool = NULL;
	int code = find_pool(p, call, name, &pool, err);

	if (code)
		return code;
	at = (struct pool_block *)address_table_find(&p->blocks, address);
	if (!at || at->pool != pool)
		return kvp_error_set(err, KVP_EDRIVER, "%s: pool %llu"
				     " has no block at 0x%llx, or it is"
				     " given back already", call, (ull)name,
				     (ull)address);
	*block = at;
	return KVP_OK;
}

int pools_find_unused(const struct pools *p, const char *call, kvp_pool name,
		      struct pool **pool, struct kvp_error *err)
{
	struct pool *at = NULL;
	int code = find_pool(p, call, name, &at, err);

	if (!code && at->nblocks)
		code = kvp_error_set(err, KVP_EDRIVER, "%s: pool %llu"
				     " still has blocks in use: %llu",
				     call, (ull)name, (ull)at->nblocks);
	if (!code)
		*pool = at;
	return code;
}

void pools_remove_block(struct pools *p, struct pool_block *block)
{
	assert(block->pool->nblocks);
	assert(block->before ? block->before->after == block :
	       block->pool->blocks == block);
	assert(!block->after || block->after->before == block);
	address_table_remove(&p->blocks, &block->node);
	if (block->before)
		block->before->after = block->after;
	else
		block->pool->blocks = block->after;
	if (block->after)
		block->after->before = block->before;
	block->before = block->after = NULL;
	block->pool->nblocks--;
}

void pools_drop(struct pools *p, struct pool *pool)
{
	struct pool **link = &p->first;
	struct pool_block *block;

	while ((block = pool->blocks) != NULL) {
		pools_remove_block(p, block);
		free(block);
	}
	while ((block = pool->pending) != NULL) {
		pool->pending = block->after;
		free(block);
	}
	assert(!pool->nblocks);
	while (*link != pool) {
		assert(*link);
		link = &(*link)->next;
	}
	*link = pool->next;
	free(pool);
}

void pools_release(struct pools *p)
{
	while (p->first)
		pools_drop(p, p->first);
	address_table_release(&p->blocks);
	memset(p, 0, sizeof(*p));
}
