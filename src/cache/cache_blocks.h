/*
 * The blocks of an allocation cache: which there are, whether each one is
 * handed out, held or pinned, and in which order the held ones were filed.  A
 * block that was put back is filed: it is held, or pinned.  Knows addresses
 * and sizes, neither a backend nor a cap.
 *
 *               prepare, add                move                  remove
 *   no address -------------> handed out <---------> held, pinned -------> gone
 *
 * Only prepare allocates; it makes room for all that happens to the block
 * later.  Finding a block by size takes O(log sizes), everything else constant
 * time, apart from doubling the table of addresses.
 */
#ifndef KVPLAN_CACHE_CACHE_BLOCKS_H
#define KVPLAN_CACHE_CACHE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address_table.h"

/* The state of a block.  ALLOC_PINNED: filed and pinned.  ALLOC_LIVE: handed
   out; it may be pinned, too. */
enum alloc_state { ALLOC_LIVE, ALLOC_HELD, ALLOC_PINNED, ALLOC_STATES };

/* The lists that a held block is in: of all blocks, of those of its size. */
enum alloc_order { ALLOC_ALL, ALLOC_SAME, ALLOC_ORDERS };

struct alloc_block;

/* In the order of filing: the first is the least recently used one. */
struct alloc_list {
	struct alloc_block *first;
	struct alloc_block *last;
};

/* All blocks of one size, in any state; removed with the last one. */
struct alloc_size {
	uint64_t bytes;		/* found in a tree by this first member */
	uint64_t blocks;
	uint64_t filed;
	struct alloc_list held;
};

struct alloc_block {
	struct address_node at;
	struct alloc_size *size;
	bool filed;
	bool pinned;
	struct alloc_block *before[ALLOC_ORDERS];
	struct alloc_block *after[ALLOC_ORDERS];
};

struct alloc_sum {
	uint64_t bytes;
	uint64_t blocks;
};

/* Zeroed: no blocks. */
struct alloc_blocks {
	struct alloc_sum sum[ALLOC_STATES];
	uint64_t sizes;		/* sizes that have a filed block */
	struct alloc_list held;
	void *tree;		/* of struct alloc_size */
	struct address_table table;
};

/*
 * Make a block without an address; it is to be added or discarded.  Errors:
 * KVP_ENOMEM; nothing has changed then.
 */
int alloc_blocks_prepare(struct alloc_blocks *bs, uint64_t bytes,
			 struct alloc_block **block, struct kvp_error *err);
void alloc_blocks_discard(struct alloc_blocks *bs, struct alloc_block *block);

/* Add a block, handed out.  No other block may have this address. */
void alloc_blocks_add(struct alloc_blocks *bs, struct alloc_block *block,
		      uint64_t address);

/* Remove a block and free it. */
void alloc_blocks_remove(struct alloc_blocks *bs, struct alloc_block *block);

/* Change a block's state; a held block becomes the most recently used one. */
void alloc_blocks_move(struct alloc_blocks *bs, struct alloc_block *block,
		       bool filed, bool pinned);

enum alloc_state alloc_block_state(const struct alloc_block *block);

/* The block at an address, or NULL. */
struct alloc_block *alloc_blocks_at(const struct alloc_blocks *bs,
				    uint64_t address);

/* The most recently used held block of a size, or NULL. */
struct alloc_block *alloc_blocks_held(const struct alloc_blocks *bs,
				      uint64_t bytes);

/* Assert that sums, lists and states agree.  O(blocks). */
void alloc_blocks_check_internal(const struct alloc_blocks *bs);

/* Free all blocks that are left. */
void alloc_blocks_release(struct alloc_blocks *bs);

#endif
