/*
 * The blocks of an allocation cache: a table of them by address, a tree of
 * their sizes, and lists of the held ones in the order of filing.
 */
#include "cache/cache_blocks.h"

#include <assert.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/u64.h"

/* Lists. */

static void list_append(struct alloc_list *list, struct alloc_block *b,
			enum alloc_order order)
{
	assert(!list->first == !list->last);
	assert(list->last != b);
	b->before[order] = list->last;
	b->after[order] = NULL;
	if (list->last)
		list->last->after[order] = b;
	else
		list->first = b;
	list->last = b;
}

static void list_remove(struct alloc_list *list, struct alloc_block *b,
			enum alloc_order order)
{
	struct alloc_block *before = b->before[order];
	struct alloc_block *after = b->after[order];

	assert(before ? before->after[order] == b : list->first == b);
	assert(after ? after->before[order] == b : list->last == b);
	if (before)
		before->after[order] = after;
	else
		list->first = after;
	if (after)
		after->before[order] = before;
	else
		list->last = before;
}

/* The block of a node, its first member; NULL for NULL. */
static struct alloc_block *get_block(struct address_node *node)
{
	return (struct alloc_block *)node;
}

struct alloc_block *alloc_blocks_at(const struct alloc_blocks *bs,
				    uint64_t address)
{
	return get_block(address_table_find(&bs->table, address));
}

/* Sizes. */

static int compare_bytes(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Count one more block of a size; NULL: no memory. */
static struct alloc_size *add_to_size(struct alloc_blocks *bs, uint64_t bytes)
{
	struct alloc_size *size = calloc(1, sizeof(*size));
	struct alloc_size **node;

	if (!size)
		return NULL;
	size->bytes = bytes;
	node = tsearch(size, &bs->tree, compare_bytes);
	if (!node || *node != size)
		free(size);
	if (!node)
		return NULL;
	assert((*node)->bytes == bytes);
	(*node)->blocks++;
	return *node;
}

static void remove_from_size(struct alloc_blocks *bs, struct alloc_size *size)
{
	assert(size->blocks);
	if (--size->blocks)
		return;
	assert(!size->filed && !size->held.first);
	tdelete(size, &bs->tree, compare_bytes);
	free(size);
}

struct alloc_block *alloc_blocks_held(const struct alloc_blocks *bs,
				      uint64_t bytes)
{
	struct alloc_size **node = tfind(&bytes, &bs->tree, compare_bytes);

	return node ? (*node)->held.last : NULL;
}

/* States. */

enum alloc_state alloc_block_state(const struct alloc_block *b)
{
	if (!b->filed)
		return ALLOC_LIVE;
	return b->pinned ? ALLOC_PINNED : ALLOC_HELD;
}

static void enter_state(struct alloc_blocks *bs, struct alloc_block *b)
{
	struct alloc_sum *sum = &bs->sum[alloc_block_state(b)];

	if (!u64_add(sum->bytes, b->size->bytes, &sum->bytes))
		abort();	/* more bytes than there are addresses */
	sum->blocks++;
	assert(b->size->filed <= b->size->blocks);
	if (b->filed)
		bs->sizes += !b->size->filed++;
	if (alloc_block_state(b) == ALLOC_HELD) {
		list_append(&bs->held, b, ALLOC_ALL);
		list_append(&b->size->held, b, ALLOC_SAME);
	}
}

static void leave_state(struct alloc_blocks *bs, struct alloc_block *b)
{
	struct alloc_sum *sum = &bs->sum[alloc_block_state(b)];

	assert(sum->blocks && sum->bytes >= b->size->bytes);
	sum->bytes -= b->size->bytes;
	sum->blocks--;
	assert(!b->filed || (b->size->filed && bs->sizes));
	if (b->filed)
		bs->sizes -= !--b->size->filed;
	if (alloc_block_state(b) == ALLOC_HELD) {
		list_remove(&bs->held, b, ALLOC_ALL);
		list_remove(&b->size->held, b, ALLOC_SAME);
	}
}

void alloc_blocks_move(struct alloc_blocks *bs, struct alloc_block *block,
		       bool filed, bool pinned)
{
	leave_state(bs, block);
	block->filed = filed;
	block->pinned = pinned;
	enter_state(bs, block);
}

/* Making and freeing blocks. */

int alloc_blocks_prepare(struct alloc_blocks *bs, uint64_t bytes,
			 struct alloc_block **block, struct kvp_error *err)
{
	struct alloc_block *b = calloc(1, sizeof(*b));

	assert(bytes);
	*block = NULL;
	if (b && !address_table_make_room(&bs->table, err))
		b->size = add_to_size(bs, bytes);
	if (!b || !b->size) {
		free(b);
		return kvp_error_nomem(err);
	}
	*block = b;
	return KVP_OK;
}

void alloc_blocks_discard(struct alloc_blocks *bs, struct alloc_block *block)
{
	remove_from_size(bs, block->size);
	free(block);
}

void alloc_blocks_add(struct alloc_blocks *bs, struct alloc_block *block,
		      uint64_t address)
{
	assert(!block->filed && !block->pinned);
	block->at.address = address;
	address_table_add(&bs->table, &block->at);
	enter_state(bs, block);
}

void alloc_blocks_remove(struct alloc_blocks *bs, struct alloc_block *block)
{
	leave_state(bs, block);
	address_table_remove(&bs->table, &block->at);
	alloc_blocks_discard(bs, block);
}

/* Check the list of all held blocks or that of one size; returns its length. */
static uint64_t check_list(const struct alloc_list *list,
			   enum alloc_order order)
{
	const struct alloc_block *b, *before = NULL;
	uint64_t blocks = 0;

	for (b = list->first; b; b = b->after[order]) {
		assert(b->before[order] == before);
		assert(alloc_block_state(b) == ALLOC_HELD);
		blocks++;
		before = b;
	}
	assert(list->last == before);
	return blocks;
}

static void check_block(const struct alloc_blocks *bs,
			const struct alloc_block *b)
{
	const struct alloc_size *size = b->size;

	assert(alloc_blocks_at(bs, b->at.address) == b);
	assert(size->bytes && size->blocks);
	assert(size->filed <= size->blocks);
	assert(!b->filed || size->filed);
	assert(tfind(size, &bs->tree, compare_bytes));
	assert(!size->held.first ||
	       size->held.first->size == size->held.last->size);
}

void alloc_blocks_check_internal(const struct alloc_blocks *bs)
{
	struct alloc_sum sum[ALLOC_STATES] = { { 0 } };
	const struct alloc_block *b;
	uint64_t listed = 0, sizes = 0;
	size_t i;

	assert(address_table_is_sound(&bs->table));
	for (i = 0; i < bs->table.nbuckets; i++)
		for (b = get_block(bs->table.buckets[i]); b;
		     b = get_block(b->at.chain)) {
			check_block(bs, b);
			sum[alloc_block_state(b)].bytes += b->size->bytes;
			sum[alloc_block_state(b)].blocks++;
			/* Every size is counted once, at its first held
			   block. */
			if (b == b->size->held.first)
				listed += check_list(&b->size->held,
						     ALLOC_SAME);
			sizes += b == b->size->held.first;
		}
	assert(!memcmp(sum, bs->sum, sizeof(sum)));
	assert(listed == sum[ALLOC_HELD].blocks);
	assert(check_list(&bs->held, ALLOC_ALL) == sum[ALLOC_HELD].blocks);
	/* A size may have filed blocks that are all pinned. */
	assert(sizes <= bs->sizes);
	assert(bs->sizes <= sum[ALLOC_HELD].blocks + sum[ALLOC_PINNED].blocks);
}

void alloc_blocks_release(struct alloc_blocks *bs)
{
	size_t i;

	for (i = 0; i < bs->table.nbuckets; i++)
		while (bs->table.buckets[i])
			alloc_blocks_remove(bs,
					    get_block(bs->table.buckets[i]));
	address_table_release(&bs->table);
	assert(!bs->tree);
	*bs = (struct alloc_blocks){ .sizes = 0 };
}
