/*
 * The CUDA backend: reserving address ranges.  The driver reserves at the
 * wanted address only if it takes new addresses from the system: a range that
 * fits into addresses that the driver holds already is reserved there instead
 * (measured: below 1 GiB in a process that runs PyTorch).  If the driver
 * returns another address, a larger block around the wanted range is
 * reserved; all wanted ranges inside that block are parts of it.  Addresses
 * take no memory.
 */
#include "backend/backend_cuda.h"

#ifdef KVP_HAVE_CUDA

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"

/*
 * Blocks of 1 TiB, 64 GiB and 4 GiB are tried in this order.  Each begins at
 * a multiple of its size, so that one block holds the other recorded ranges
 * near the wanted one, on both sides.
 */
#define LARGEST_BLOCK (UINT64_C(1) << 40)
#define SMALLEST_BLOCK (UINT64_C(4) << 30)

/* An address range that was reserved, larger than asked for. */
struct cuda_block {
	uint64_t address;
	uint64_t bytes;
};

/* A range inside a block that a caller has reserved. */
struct cuda_part {
	uint64_t address;
	uint64_t bytes;
	uint64_t block;		/* the block's address */
};

/* Make room for one more block and part, so that adding cannot fail. */
static int make_room(struct cuda *c, struct kvp_error *err)
{
	struct cuda_block *blocks;
	struct cuda_part *parts;

	blocks = realloc(c->blocks, (c->nblocks + 1) * sizeof(*blocks));
	if (blocks)
		c->blocks = blocks;
	parts = realloc(c->parts, (c->nparts + 1) * sizeof(*parts));
	if (parts)
		c->parts = parts;
	return blocks && parts ? KVP_OK : kvp_error_nomem(err);
}

static int reserve_range(struct cuda *c, uint64_t bytes, uint64_t wanted,
			 uint64_t *got, struct kvp_error *err)
{
	CUdeviceptr address;
	int code = cuda_enter_range(c, wanted, bytes, err);

	if (!code)
		code = LAST(c, err, MemAddressReserve,
			    (&address, bytes, 0, wanted, 0));
	if (!code)
		*got = address;
	return code;
}

static int free_range(struct cuda *c, uint64_t address, uint64_t bytes,
		      struct kvp_error *err)
{
	int code = cuda_enter_range(c, address, bytes, err);

	return code ? code : LAST(c, err, MemAddressFree, (address, bytes));
}

/* Reserve at the wanted address.  If the driver returns another one, that is
   freed again: it is *offered, and *got is 0. */
static int reserve_at(struct cuda *c, uint64_t bytes, uint64_t wanted,
		      uint64_t *got, uint64_t *offered, struct kvp_error *err)
{
	int code = reserve_range(c, bytes, wanted, got, err);

	if (code || *got == wanted)
		return code;
	*offered = *got;
	*got = 0;
	code = free_range(c, *offered, bytes, err);
	return code ? kvp_error_wrap(err, KVP_ESTUCK, "0x%llx is not "
				     "free, and cannot give back 0x%llx",
				     (ull)wanted, (ull)*offered) : KVP_OK;
}

static bool holds_range(const struct cuda_block *b, uint64_t address,
			uint64_t bytes)
{
	return address >= b->address && address - b->address < b->bytes &&
	       bytes <= b->bytes - (address - b->address);
}

static void add_part(struct cuda *c, uint64_t block, uint64_t address,
		     uint64_t bytes)
{
	c->parts[c->nparts++] =
		(struct cuda_part){ address, bytes, block };
}

/* Reserve a part of a block that exists; false: no block holds the range, or
   a part overlaps it. */
static bool reserve_in_block(struct cuda *c, uint64_t address, uint64_t bytes)
{
	uint64_t block = 0;
	size_t i;

	for (i = 0; i < c->nblocks; i++)
		if (holds_range(&c->blocks[i], address, bytes))
			block = c->blocks[i].address;
	for (i = 0; i < c->nparts; i++)
		if (address < c->parts[i].address + c->parts[i].bytes &&
		    c->parts[i].address < address + bytes)
			return false;
	if (block)
		add_part(c, block, address, bytes);
	return block;
}

/* Where a block of `block` bytes around the wanted range begins. */
static uint64_t block_start(uint64_t block, uint64_t wanted, uint64_t bytes)
{
	uint64_t start = wanted - wanted % block;

	assert(block >= bytes && wanted);
	/* Address 0 means any address, and the block must hold the range. */
	return start && wanted + bytes <= start + block ? start : wanted;
}

static int reserve_wanted(struct cuda *c, uint64_t bytes, uint64_t wanted,
			  struct kvp_error *err)
{
	uint64_t block, start, got = 0, offered = 0;
	int code = make_room(c, err);

	if (code || reserve_in_block(c, wanted, bytes))
		return code;
	code = reserve_at(c, bytes, wanted, &got, &offered, err);
	for (block = LARGEST_BLOCK; !code && !got && block >= SMALLEST_BLOCK;
	     block /= 16) {
		if (block < bytes)
			continue;
		start = block_start(block, wanted, bytes);
		code = reserve_at(c, block, start, &got, &offered, err);
		/* A smaller block may still fit. */
		if (code == KVP_EEXHAUSTED)
			code = KVP_OK;
		if (code || !got)
			continue;
		c->blocks[c->nblocks++] = (struct cuda_block){ got, block };
		add_part(c, got, wanted, bytes);
	}
	if (code || got)
		return code;
	return kvp_error_set(err, KVP_EDRIVER, "cuMemAddressReserve: 0x%llx"
			     " is not free, the driver offers 0x%llx",
			     (ull)wanted, (ull)offered);
}

int cuda_reserve(struct kvp_backend *b, uint64_t bytes, uint64_t wanted,
		 uint64_t *address, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int code;

	assert(address);
	if (!wanted)
		return reserve_range(c, bytes, 0, address, err);
	code = reserve_wanted(c, bytes, wanted, err);
	if (!code)
		*address = wanted;
	return code;
}

/* Remove a part; free its block if it was the last one. */
static int drop_part(struct cuda *c, size_t i, struct kvp_error *err)
{
	uint64_t block = c->parts[i].block;
	size_t k;
	int code;

	assert(i < c->nparts);
	for (k = 0; k < c->nparts; k++)
		if (k != i && c->parts[k].block == block)
			break;
	if (k == c->nparts) {
		for (k = 0; c->blocks[k].address != block; k++)
			assert(k + 1 < c->nblocks);
		code = free_range(c, block, c->blocks[k].bytes, err);
		if (code)
			return code;
		c->blocks[k] = c->blocks[--c->nblocks];
	}
	c->parts[i] = c->parts[--c->nparts];
	return KVP_OK;
}

int cuda_unreserve(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		   struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	size_t i;

	for (i = 0; i < c->nparts; i++)
		if (c->parts[i].address == address)
			return drop_part(c, i, err);
	return free_range(c, address, bytes, err);
}

#endif
