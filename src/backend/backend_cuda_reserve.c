/*
 * Address space.  A hint is honoured by the driver only where it takes new
 * address space from the system: what fits into space that it holds already
 * lands there instead, whatever the hint (measured: below 1 GiB in a process
 * that runs PyTorch).  So a wanted place that is missed is asked for again,
 * larger; the block that comes then serves all wanted places inside it.
 * Address space costs nothing.
 */
#include "backend/backend_cuda.h"

#ifdef KVP_HAVE_CUDA

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"

/*
 * The sizes that are tried, the largest first and at multiples of itself,
 * so that all that is recorded close by, on either side, lies inside one
 * block: 1 TiB, 64 GiB, 4 GiB.
 */
#define LARGEST_BLOCK (UINT64_C(1) << 40)
#define SMALLEST_BLOCK (UINT64_C(4) << 30)

/* Address space that the driver gave, larger than asked for. */
struct cuda_block {
	uint64_t address;
	uint64_t bytes;
};

/* A part of it that is handed out. */
struct cuda_piece {
	uint64_t address;
	uint64_t bytes;
	uint64_t block;		/* its address */
};

/* Room for one more block and piece, so that nothing fails later. */
static int make_room(struct cuda *c, struct kvp_error *err)
{
	struct cuda_block *blocks;
	struct cuda_piece *pieces;

	blocks = realloc(c->blocks, (c->nblocks + 1) * sizeof(*blocks));
	if (blocks)
		c->blocks = blocks;
	pieces = realloc(c->pieces, (c->npieces + 1) * sizeof(*pieces));
	if (pieces)
		c->pieces = pieces;
	return blocks && pieces ? KVP_OK : kvp_error_nomem(err);
}

static int take(struct cuda *c, uint64_t bytes, uint64_t wanted,
		uint64_t *got, struct kvp_error *err)
{
	CUdeviceptr address;
	int rc = cuda_enter_range(c, wanted, bytes, err);

	if (!rc)
		rc = LAST(c, err, MemAddressReserve,
			  (&address, bytes, 0, wanted, 0));
	if (!rc)
		*got = address;
	return rc;
}

static int give_back(struct cuda *c, uint64_t address, uint64_t bytes,
		     struct kvp_error *err)
{
	int rc = cuda_enter_range(c, address, bytes, err);

	return rc ? rc : LAST(c, err, MemAddressFree, (address, bytes));
}

/* A place that missed must not stay: *got is 0 once it is given back. */
static int take_there(struct cuda *c, uint64_t bytes, uint64_t wanted,
		      uint64_t *got, uint64_t *offered, struct kvp_error *err)
{
	int rc = take(c, bytes, wanted, got, err);

	if (rc || *got == wanted)
		return rc;
	*offered = *got;
	*got = 0;
	rc = give_back(c, *offered, bytes, err);
	return rc ? kvp_error_wrap(err, KVP_ESTUCK, "0x%" PRIx64 " is not "
				   "free, and cannot give back 0x%" PRIx64,
				   wanted, *offered) : KVP_OK;
}

static bool inside(const struct cuda_block *b, uint64_t address,
		   uint64_t bytes)
{
	return address >= b->address && address - b->address < b->bytes &&
	       bytes <= b->bytes - (address - b->address);
}

static void hand_out(struct cuda *c, uint64_t block, uint64_t address,
		     uint64_t bytes)
{
	c->pieces[c->npieces++] =
		(struct cuda_piece){ address, bytes, block };
}

/* A wanted place within a block that was taken before. */
static bool find_block(struct cuda *c, uint64_t address, uint64_t bytes)
{
	uint64_t block = 0;
	size_t i;

	for (i = 0; i < c->nblocks; i++)
		if (inside(&c->blocks[i], address, bytes))
			block = c->blocks[i].address;
	for (i = 0; i < c->npieces; i++)
		if (address < c->pieces[i].address + c->pieces[i].bytes &&
		    c->pieces[i].address < address + bytes)
			return false;
	if (block)
		hand_out(c, block, address, bytes);
	return block;
}

/* Where a block around a wanted place begins. */
static uint64_t block_start(uint64_t block, uint64_t wanted, uint64_t bytes)
{
	uint64_t start = wanted - wanted % block;

	assert(block >= bytes && wanted);
	/* 0 would be no hint; and it has to hold the place whole. */
	return start && wanted + bytes <= start + block ? start : wanted;
}

static int reserve_there(struct cuda *c, uint64_t bytes, uint64_t wanted,
			 struct kvp_error *err)
{
	uint64_t block, start, got = 0, offered = 0;
	int rc = make_room(c, err);

	if (rc || find_block(c, wanted, bytes))
		return rc;
	rc = take_there(c, bytes, wanted, &got, &offered, err);
	for (block = LARGEST_BLOCK; !rc && !got && block >= SMALLEST_BLOCK;
	     block /= 16) {
		if (block < bytes)
			continue;
		start = block_start(block, wanted, bytes);
		rc = take_there(c, block, start, &got, &offered, err);
		/* No room for one so large says nothing about the next. */
		if (rc == KVP_EEXHAUSTED)
			rc = KVP_OK;
		if (rc || !got)
			continue;
		c->blocks[c->nblocks++] = (struct cuda_block){ got, block };
		hand_out(c, got, wanted, bytes);
	}
	if (rc || got)
		return rc;
	return kvp_error_set(err, KVP_EDRIVER, "cuMemAddressReserve: 0x%"
			     PRIx64 " is not free, the driver offers 0x%"
			     PRIx64, wanted, offered);
}

int cuda_reserve(struct kvp_backend *b, uint64_t bytes, uint64_t wanted,
		 uint64_t *address, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int rc;

	assert(address);
	if (!wanted)
		return take(c, bytes, 0, address, err);
	rc = reserve_there(c, bytes, wanted, err);
	if (!rc)
		*address = wanted;
	return rc;
}

/* A block goes with its last piece. */
static int drop_piece(struct cuda *c, size_t i, struct kvp_error *err)
{
	uint64_t block = c->pieces[i].block;
	size_t k;
	int rc;

	assert(i < c->npieces);
	for (k = 0; k < c->npieces; k++)
		if (k != i && c->pieces[k].block == block)
			break;
	if (k == c->npieces) {
		for (k = 0; c->blocks[k].address != block; k++)
			assert(k + 1 < c->nblocks);
		rc = give_back(c, block, c->blocks[k].bytes, err);
		if (rc)
			return rc;
		c->blocks[k] = c->blocks[--c->nblocks];
	}
	c->pieces[i] = c->pieces[--c->npieces];
	return KVP_OK;
}

int cuda_unreserve(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		   struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	size_t i;

	for (i = 0; i < c->npieces; i++)
		if (c->pieces[i].address == address)
			return drop_piece(c, i, err);
	return give_back(c, address, bytes, err);
}

#endif
