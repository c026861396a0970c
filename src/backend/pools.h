/*
 * The records of a backend's pools: which pools there are, and which of their
 * blocks are in use.  They know no memory system: the backend makes a record,
 * calls its system, and adds the record.  Adding cannot fail, so everything
 * that was acquired has a record.
 *
 *   pool_new             call the system  pools_add        pools_drop
 *   pools_prepare_block  call the system  pools_add_block  pools_remove_block
 */
#ifndef KVPLAN_BACKEND_POOLS_H
#define KVPLAN_BACKEND_POOLS_H

#include <stddef.h>

#include <kvplan/backend.h>

#include "base/address_table.h"

struct pool_block {
	union {
		struct address_node node;
		uint64_t address;	/* the node's first member */
	};
	struct pool_block *before;	/* in its pool */
	struct pool_block *after;
	struct pool *pool;
	uint64_t bytes;
};

struct pool {
	struct pool *next;
	struct pool_block *blocks;	/* in use */
	uint64_t nblocks;
	/* Removed and not yet free, linked by `after`.  The backend moves
	   blocks here and frees them. */
	struct pool_block *pending;
	void *system;			/* the system's own pool, if any */
	kvp_pool name;			/* no other pool ever has it */
	uint32_t device;
};

/* Zeroed: no pools. */
struct pools {
	struct pool *first;
	kvp_pool last;			/* the newest name */
	struct address_table blocks;	/* in use, of all pools */
};

/*
 * Make a record of a pool or, in the pool `name`, of a block, and room for
 * it.  It is to be added, before another one is made, or passed to free().
 * Errors: KVP_ENOMEM; for a block KVP_EDRIVER, with `call` in front, if there
 * is no such pool or `bytes` is 0.
 */
int pool_new(struct pool **pool, uint32_t device, struct kvp_error *err);
int pools_prepare_block(struct pools *p, const char *call, kvp_pool name,
			uint64_t bytes, struct pool_block **block,
			struct kvp_error *err);

/* Add a pool; returns its name. */
kvp_pool pools_add(struct pools *p, struct pool *pool);
void pools_add_block(struct pools *p, struct pool_block *block,
		     uint64_t address);

/*
 * Find a pool that has no block in use, and a block in use.  Errors:
 * KVP_EDRIVER, with `call` in front, if there is none.
 */
int pools_find_unused(const struct pools *p, const char *call, kvp_pool name,
		      struct pool **pool, struct kvp_error *err);
int pools_find_block(const struct pools *p, const char *call, kvp_pool name,
		     uint64_t address, struct pool_block **block,
		     struct kvp_error *err);

/* Remove a block; the caller owns it. */
void pools_remove_block(struct pools *p, struct pool_block *block);
/* Free a pool's record and those of its blocks, in use and pending. */
void pools_drop(struct pools *p, struct pool *pool);
/* Drop all pools. */
void pools_release(struct pools *p);

#endif
