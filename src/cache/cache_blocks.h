/*
 * The blocks of an allocation cache: which there are, whether each one is
 * handed out, held or pinned, and in which order the held ones were filed.
 * Knows addresses and sizes, neither a backend nor a cap.
 *
 *               prepare, add                move                  remove
 *   no address -------------> handed out <---------> held, pinned -------> gone
 *
 * Only prepare takes memory: a block brings with it all it will ever need.
 * Finding by address takes constant time, by size O(log sizes), the rest
 * constant time, but that the table of addresses doubles now and then.
 */
#ifndef KVPLAN_CACHE_CACHE_BLOCKS_H
#define KVPLAN_CACHE_CACHE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address_table.h"

/* The state of a block.  ALLOC_PINNED is filed and pinned; one that is handed
   out (ALLOC_LIVE) may be pinned as well. */
enum alloc_place { ALLOC_LIVE, ALLOC_HELD, ALLOC_PINNED, ALLOC_PLACES };

/* The lists a held block is in: of all, and of those of its size. */
enum alloc_order { ALLOC_ALL, ALLOC_SAME, ALLOC_ORDERS };

struct alloc_block;

/* As filed: the first is the least recently used one. */
struct alloc_list {
	struct alloc_block *first;
	struct alloc_block *last;
};

/* All blocks of one size, wherever they are; it goes with the last one. */
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
	struct alloc_sum sum[ALLOC_PLACES];
	uint64_t sizes;		/* with a filed block */
	struct alloc_list held;
	void *tree;		/* of struct alloc_size */
	struct address_table table;
};

/*
 * A block without an address yet, to be added or discarded.  Errors:
 * KVP_ENOMEM, and nothing has changed.
 */
int alloc_blocks_prepare(struct alloc_blocks *bs, uint64_t bytes,
			 struct alloc_block **block, struct kvp_error *err);
void alloc_blocks_discard(struct alloc_blocks *bs, struct alloc_block *block);

/* Hand it out.  No other block has this address. */
void alloc_blocks_add(struct alloc_blocks *bs, struct alloc_block *block,
		      uint64_t address);

/* The end of a block: free it. */
void alloc_blocks_remove(struct alloc_blocks *bs, struct alloc_block *block);

/* Change its state; if it is held now it is the most recent one. */
void alloc_blocks_move(struct alloc_blocks *bs, struct alloc_block *block,
		       bool filed, bool pinned);

enum alloc_place alloc_block_place(const struct alloc_block *block);

/* The block at an address, or NULL. */
struct alloc_block *alloc_blocks_at(const struct alloc_blocks *bs,
				    uint64_t address);

/* The held block of a size that was filed last, or NULL. */
struct alloc_block *alloc_blocks_held(const struct alloc_blocks *bs,
				      uint64_t bytes);

/* Assert that sums, lists and states agree.  O(blocks). */
void alloc_blocks_check_internal(const struct alloc_blocks *bs);

/* Free all blocks that are left. */
void alloc_blocks_release(struct alloc_blocks *bs);

#endif
