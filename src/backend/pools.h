/*
 * The books of a backend's pools: which pools there are, and which blocks of
 * them are in use.  They know no memory system: the backend makes a record
 * here, asks its system, and enters the record.  Entering cannot fail, so
 * nothing is acquired that is not in the books.
 *
 *   pool_new    ask the system   pools_enter        pools_drop
 *   pools_room  ask the system   pools_enter_block  pools_take_block
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
	/* Taken out and not yet free, linked by `after`: the backend's. */
	struct pool_block *pending;
	void *system;			/* the system's own pool, if any */
	kvp_pool name;			/* never used again */
	uint32_t device;
};

/* Zeroed: no pools. */
struct pools {
	struct pool *first;
	kvp_pool last;			/* name given last */
	struct address_table blocks;	/* in use, of all pools */
};

/*
 * A record that is not entered yet; free() it where it never is.  A block's,
 * of the pool `name`, has room in the table until another one is entered.
 * Errors: KVP_ENOMEM; for a block KVP_EDRIVER, with `call` in front, where
 * there is no such pool or no byte is asked for.
 */
int pool_new(struct pool **pool, uint32_t device, struct kvp_error *err);
int pools_room(struct pools *p, const char *call, kvp_pool name,
	       uint64_t bytes, struct pool_block **block,
	       struct kvp_error *err);

/* Enter a pool: its name. */
kvp_pool pools_enter(struct pools *p, struct pool *pool);
void pools_enter_block(struct pools *p, struct pool_block *block,
		       uint64_t address);

/*
 * The pool of a name, which has no block in use, and a block in use.
 * Errors: KVP_EDRIVER, with `call` in front.
 */
int pools_find_unused(const struct pools *p, const char *call, kvp_pool name,
		      struct pool **pool, struct kvp_error *err);
int pools_find_block(const struct pools *p, const char *call, kvp_pool name,
		     uint64_t address, struct pool_block **block,
		     struct kvp_error *err);

/* Out of the books; the block is the caller's. */
void pools_take_block(struct pools *p, struct pool_block *block);
/* Free a pool's record and those of its blocks, in use or pending. */
void pools_drop(struct pools *p, struct pool *pool);
/* Drop all pools. */
void pools_release(struct pools *p);

#endif
