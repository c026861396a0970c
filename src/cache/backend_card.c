/*
 * The simulated card: it counts bytes and invents addresses, so that an
 * allocation cache can be tried on a card of any size without having one.
 *
 * It refuses what the other backends refuse.  No two blocks ever have the same
 * address: each new one follows the last, until 2^64 bytes of addresses are
 * used.
 */
#include <kvplan/backend.h>

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/u64.h"
#include "backend/pools.h"

#define ADDRESS_ALIGN UINT64_C(256)

struct card {
	struct kvp_backend base;
	uint64_t total_bytes;
	uint64_t free_bytes;
	uint64_t pending_bytes;	/* free after the next synchronize */
	uint64_t next_address;
	struct pools pools;
};

static struct card *card_of(struct kvp_backend *b)
{
	return (struct card *)b;
}

static int check_device(const char *call, uint32_t device,
			struct kvp_error *err)
{
	if (!device)
		return KVP_OK;
	return kvp_error_set(err, KVP_EDRIVER, "%s: no device %" PRIu32
			     ": there is 1", call, device);
}

static int card_device(struct kvp_backend *b, uint32_t device,
		       struct kvp_device_info *info, struct kvp_error *err)
{
	int code = check_device("device", device, err);

	if (code)
		return code;
	memset(info, 0, sizeof(*info));
	strcpy(info->label, "card");
	strcpy(info->name, "simulated card");
	info->granularity = ADDRESS_ALIGN;
	info->total_bytes = card_of(b)->total_bytes;
	return KVP_OK;
}

static int card_peer(struct kvp_backend *b, uint32_t device, uint32_t owner,
		     bool *can, struct kvp_error *err)
{
	int code = check_device("peer", device, err);

	(void)b;
	if (!code)
		code = check_device("peer", owner, err);
	if (!code)
		*can = true;
	return code;
}

static int card_memory(struct kvp_backend *b, uint32_t device,
		       uint64_t *free_bytes, struct kvp_error *err)
{
	int code = check_device("memory", device, err);

	if (!code)
		*free_bytes = card_of(b)->free_bytes;
	return code;
}

static int card_synchronize(struct kvp_backend *b, uint32_t device,
			    struct kvp_error *err)
{
	struct card *c = card_of(b);
	int code = check_device("synchronize", device, err);

	if (code)
		return code;
	assert(c->pending_bytes <= c->total_bytes - c->free_bytes);
	c->free_bytes += c->pending_bytes;
	c->pending_bytes = 0;
	return KVP_OK;
}

/* Pools and their blocks. */

static int card_pool_create(struct kvp_backend *b, uint32_t device,
			    kvp_pool *pool, struct kvp_error *err)
{
	struct pool *made = NULL;
	int code = check_device("pool_create", device, err);

	if (!code)
		code = pool_new(&made, device, err);
	if (!code)
		*pool = pools_add(&card_of(b)->pools, made);
	return code;
}

static int card_pool_destroy(struct kvp_backend *b, kvp_pool pool,
			     struct kvp_error *err)
{
	struct card *c = card_of(b);
	struct pool *gone = NULL;
	int code = pools_find_unused(&c->pools, "pool_destroy", pool, &gone,
				     err);

	if (!code)
		pools_drop(&c->pools, gone);
	return code;
}

/* Check that a block has room; *next is the address of the block after it. */
static int check_room(const struct card *c, uint64_t bytes, uint64_t *next,
		      struct kvp_error *err)
{
	if (bytes > c->free_bytes)
		return kvp_error_set(err, KVP_EEXHAUSTED, "allocate: %llu"
			" bytes wanted, %llu free", (ull)bytes,
			(ull)c->free_bytes);
	if (!u64_add(c->next_address, bytes, next) ||
	    !u64_round_up(*next, ADDRESS_ALIGN, next))
		return kvp_error_set(err, KVP_EEXHAUSTED, "allocate: %llu"
			" bytes wanted, %llu bytes of addresses are "
			"left", (ull)bytes,
			(ull)(UINT64_MAX - c->next_address));
	return KVP_OK;
}

static int card_allocate(struct kvp_backend *b, kvp_pool pool, uint64_t bytes,
			 uint64_t *address, struct kvp_error *err)
{
	struct card *c = card_of(b);
	struct pool_block *block = NULL;
	uint64_t next = 0;
	int code = pools_prepare_block(&c->pools, "allocate", pool, bytes,
				       &block, err);

	if (!code)
		code = check_room(c, bytes, &next, err);
	if (code) {
		free(block);
		return code;
	}
	pools_add_block(&c->pools, block, c->next_address);
	c->next_address = next;
	c->free_bytes -= bytes;
	*address = block->address;
	return KVP_OK;
}

static int card_deallocate(struct kvp_backend *b, kvp_pool pool,
			   uint64_t address, struct kvp_error *err)
{
	struct card *c = card_of(b);
	struct pool_block *block = NULL;
	int code = pools_find_block(&c->pools, "deallocate", pool, address,
				    &block, err);

	if (code)
		return code;
	pools_remove_block(&c->pools, block);
	c->pending_bytes += block->bytes;
	free(block);
	return KVP_OK;
}

static void card_close(struct kvp_backend *b)
{
	struct card *c = card_of(b);

	pools_release(&c->pools);
	free(c);
}

static const struct kvp_backend card_backend = {
	.device = {
		.device = card_device, .peer = card_peer, .memory = card_memory,
		.synchronize = card_synchronize,
	},
	.pool = {
		.pool_create = card_pool_create,
		.pool_destroy = card_pool_destroy,
		.allocate = card_allocate, .deallocate = card_deallocate,
	},
	.close = card_close,
	.name = "card", .devices = 1,
};

int kvp_backend_card(struct kvp_backend **b, uint64_t free_bytes,
		     struct kvp_error *err)
{
	struct card *c = calloc(1, sizeof(*c));

	*b = NULL;
	if (!c)
		return kvp_error_nomem(err);
	c->base = card_backend;
	kvp_backend_complete(&c->base);
	c->total_bytes = free_bytes;
	c->free_bytes = free_bytes;
	c->next_address = ADDRESS_ALIGN;
	*b = &c->base;
	return KVP_OK;
}
