/*
 * The decode workload: the blocks that an engine's temporary tensors get from
 * an allocation cache and put back, and what the cache holds after each step.
 */
#include "cache/decode_workload.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <kvplan/geometry.h>

#include "base/error.h"
#include "base/u64.h"

#define KEPT_FIRST 64

struct run {
	struct kvp_alloc_cache *cache;
	struct kvp_backend *backend;
	uint32_t device;
	const struct kvp_decode *decode;
	struct kvp_decode_result *result;
	/* As the run and as the step began. */
	struct kvp_alloc_cache_counters first, before;
	/* What stays handed out until after the last step. */
	uint64_t *kept;
	size_t nkept, room;
};

static uint64_t get_growth(const struct kvp_decode *d)
{
	return d->growth_bytes ? d->growth_bytes :
	       (uint64_t)KVP_DECODE_GROWTH_BYTES * d->sizes;
}

/* check_decode() has checked that this does not overflow. */
static uint64_t tensor_bytes(const struct kvp_decode *d, uint64_t step,
			     uint32_t i)
{
	const uint64_t n = (d->grow ? (step - 1) * d->sizes : 0) + i;
	const uint64_t growth = get_growth(d), grain = d->grain_bytes;
	uint64_t bytes = d->step_bytes / d->sizes +
			 (i < d->step_bytes % d->sizes) +
			 growth / d->sizes * n +
			 growth % d->sizes * n / d->sizes;

	return grain > 1 ? u64_ceil_div(bytes, grain) * grain : bytes;
}

/*
 * Sum up what all tensors grow by: growth * n / sizes each, for n = 0, 1, 2
 * ...  With `grow` n counts the tensors of all steps, else those of one step,
 * and the sum is taken once for every step.
 */
static bool sum_growth(const struct kvp_decode *d, uint64_t *sum)
{
	const uint64_t rounds = d->grow ? 1 : d->steps;
	const uint64_t growth = get_growth(d);
	uint64_t n = d->sizes, part;

	return (!d->grow || u64_mul(n, d->steps, &n)) &&
	       u64_mul(n, n - 1, &n) &&
	       u64_mul(growth / d->sizes, n / 2, sum) &&
	       u64_mul(growth % d->sizes, n / 2, &part) &&
	       u64_add(*sum, part / d->sizes, sum) &&
	       u64_mul(*sum, rounds, sum);
}

/* Do all tensors of all steps together have at most KVP_NUMBER_MAX bytes?
   Each is rounded up by less than the grain. */
static bool check_sums(const struct kvp_decode *d)
{
	const uint64_t most = d->grain_bytes > 1 ? d->grain_bytes - 1 : 0;
	uint64_t bytes, more;

	if (!d->steps)
		return true;
	return u64_mul(d->step_bytes, d->steps, &bytes) &&
	       sum_growth(d, &more) && u64_add(bytes, more, &bytes) &&
	       u64_mul(d->sizes, d->steps, &more) &&
	       u64_mul(more, most, &more) && u64_add(bytes, more, &bytes) &&
	       bytes <= KVP_NUMBER_MAX;
}

static int check_decode(const struct kvp_decode *d, struct kvp_error *err)
{
	char growth[48] = "", grain[64] = "are";

	if (!d->sizes || d->sizes > KVP_DECODE_SIZES_MAX)
		return kvp_error_set(err, KVP_EINPUT, "a step of %" PRIu32
			" tensors: must be from 1 to %d", d->sizes,
			KVP_DECODE_SIZES_MAX);
	if (d->step_bytes < d->sizes)
		return kvp_error_set(err, KVP_EINPUT, "%llu bytes are "
			"too few for the %" PRIu32 " tensors of a step, which "
			"take at least one each", (ull)d->step_bytes, d->sizes);
	if (check_sums(d))
		return KVP_OK;
	if (get_growth(d) != (uint64_t)KVP_DECODE_GROWTH_BYTES * d->sizes)
		snprintf(growth, sizeof(growth), " by %llu bytes each",
			 (ull)get_growth(d));
	if (d->grain_bytes > 1)
		snprintf(grain, sizeof(grain), "and rounded up to multiples "
			 "of %llu, can be", (ull)d->grain_bytes);
	return kvp_error_set(err, KVP_EINPUT, "%llu steps of %" PRIu32
		" tensors, %llu bytes a step before they grow%s, %s "
		"more than %llu bytes (2^53 - 1) in all", (ull)d->steps,
		d->sizes, (ull)d->step_bytes, growth, grain,
		(ull)KVP_NUMBER_MAX);
}

/*
 * The fewest bytes that KVP_DECODE_BLOCKS_MAX held tensors that grow take.  No
 * two held ones have the same size: the second would have been a hit.
 */
static uint64_t count_fewest_bytes(const struct kvp_decode *d)
{
	const uint64_t n = KVP_DECODE_BLOCKS_MAX, pairs = n * (n - 1) / 2;
	uint64_t bytes, more;

	if (!u64_mul(d->step_bytes / d->sizes, n, &bytes) ||
	    !u64_mul(get_growth(d) / d->sizes, pairs, &more) ||
	    !u64_add(bytes, more, &bytes))
		return UINT64_MAX;
	return u64_max(bytes, n + pairs);	/* 1 + 2 + 3 ... */
}

/* Check that free memory or the cap limits the tensors that are held. */
static int check_held(const struct kvp_decode *d, uint64_t free_bytes,
		      const struct kvp_cap *cap, struct kvp_error *err)
{
	const uint64_t tensors = d->steps * d->sizes;	/* see check_sums() */
	const uint64_t bytes = count_fewest_bytes(d);
	char text[64] = "without a cap";

	if (!d->grow || d->preallocate || tensors <= KVP_DECODE_BLOCKS_MAX ||
	    free_bytes <= bytes || (cap->bounded && cap->bytes <= bytes))
		return KVP_OK;
	if (cap->bounded)
		snprintf(text, sizeof(text), "under a cap of %llu"
			 " bytes", (ull)cap->bytes);
	return kvp_error_set(err, KVP_ELIMIT, "%llu steps of %" PRIu32
		" growing tensors are %llu blocks, and more than %llu"
		" of them may be held at once: %llu bytes are "
		"free, %s; at most %llu such steps can be run, or all "
		"of them with at most %llu bytes free or under a cap "
		"of at most %llu", (ull)d->steps, d->sizes, (ull)tensors,
		(ull)KVP_DECODE_BLOCKS_MAX, (ull)free_bytes, text,
		(ull)(KVP_DECODE_BLOCKS_MAX / d->sizes), (ull)bytes,
		(ull)bytes);
}

static int check_live(const struct kvp_decode *d, uint64_t free_bytes,
		      struct kvp_error *err)
{
	if (!d->live_growth_bytes || d->steps <= KVP_DECODE_BLOCKS_MAX ||
	    free_bytes / d->live_growth_bytes <= KVP_DECODE_BLOCKS_MAX)
		return KVP_OK;
	return kvp_error_set(err, KVP_ELIMIT, "live memory that grows by %llu"
		" bytes in each of %llu steps: at most %llu"
		" steps can be run, unless memory runs out before: %llu"
		" bytes are free", (ull)d->live_growth_bytes, (ull)d->steps,
		(ull)KVP_DECODE_BLOCKS_MAX, (ull)free_bytes);
}

/* Check that the records of all blocks fit this process's memory. */
static int check_blocks(struct run *r, struct kvp_error *err)
{
	const struct kvp_decode *d = r->decode;
	uint64_t free_bytes = 0;
	int code;

	if (d->steps <= KVP_DECODE_BLOCKS_MAX / d->sizes)
		return KVP_OK;
	code = r->backend->device.memory(r->backend, r->device, &free_bytes,
					 err);
	/* What is held now may be freed and used again. */
	if (!code && !u64_add(free_bytes, r->first.held_bytes, &free_bytes))
		free_bytes = UINT64_MAX;
	if (!code)
		code = check_held(d, free_bytes, &r->first.cap, err);
	return code ? code : check_live(d, free_bytes, err);
}

/* Read the counters, and record what is held and whether this step freed
   blocks. */
static void record_counters(struct run *r, uint64_t step,
			    struct kvp_alloc_cache_counters *now)
{
	struct kvp_decode_result *result = r->result;

	kvp_alloc_cache_counters(r->cache, now);
	assert(now->hits_total >= r->before.hits_total);
	assert(now->freed_bytes_total >= r->before.freed_bytes_total);
	now->hits = now->hits_total - r->before.hits_total;
	now->misses = now->misses_total - r->before.misses_total;
	now->freed_bytes = now->freed_bytes_total -
			   r->before.freed_bytes_total;
	result->held_most_bytes = u64_max(result->held_most_bytes,
					  now->held_bytes);
	result->sizes_most = u64_max(result->sizes_most, now->sizes);
	if (now->freed_bytes && !result->first_freed_step)
		result->first_freed_step = step;
}

/* Record the state at the end, or when memory ran out. */
static int record_end(struct run *r, uint64_t step, struct kvp_error *err)
{
	struct kvp_decode_result *result = r->result;

	record_counters(r, step, &result->counters);
	result->freed_bytes = result->counters.freed_bytes_total -
			      r->first.freed_bytes_total;
	return r->backend->device.memory(r->backend, r->device,
					 &result->free_bytes, err);
}

/* Get a block for tensor `tensor`, from 1; 0: before step 1. */
static int get_block(struct run *r, uint64_t step, uint32_t tensor,
		     uint64_t bytes, uint64_t *address, struct kvp_error *err)
{
	struct kvp_decode_result *result = r->result;
	struct kvp_error one = { 0 };
	int code = kvp_alloc_cache_get(r->cache, bytes, address, &one);

	assert(bytes && !result->exhausted);
	if (code == KVP_EEXHAUSTED) {
		result->exhausted = true;
		result->tensor = tensor;
		result->wanted_bytes = bytes;
		return record_end(r, step, err);
	}
	if (code && err)
		*err = one;
	return code;
}

static int reserve_kept(struct run *r, struct kvp_error *err)
{
	size_t room = r->room ? 2 * r->room : KEPT_FIRST;
	uint64_t *more;

	if (r->nkept < r->room)
		return KVP_OK;
	more = realloc(r->kept, room * sizeof(*more));
	if (!more)
		return kvp_error_nomem(err);
	r->kept = more;
	r->room = room;
	assert(r->nkept < r->room);
	return KVP_OK;
}

/* The same for a block that stays handed out. */
static int keep_block(struct run *r, uint64_t step, uint32_t tensor,
		      uint64_t bytes, struct kvp_error *err)
{
	int code = reserve_kept(r, err);

	if (!code)
		code = get_block(r, step, tensor, bytes, &r->kept[r->nkept],
				 err);
	if (!code && !r->result->exhausted)
		r->nkept++;
	return code;
}

static int get_lasting_blocks(struct run *r, struct kvp_error *err)
{
	const struct kvp_decode *d = r->decode;
	int code = KVP_OK;
	uint32_t i;

	if (d->live_bytes)
		code = keep_block(r, 0, 0, d->live_bytes, err);
	if (d->preallocate && d->steps)
		for (i = 0; !code && !r->result->exhausted && i < d->sizes;
		     i++)
			code = keep_block(r, 0, 0,
					  tensor_bytes(d, d->steps, i), err);
	return code;
}

static int run_tensors(struct run *r, uint64_t step, struct kvp_error *err)
{
	const struct kvp_decode *d = r->decode;
	struct kvp_alloc_cache_counters now;
	uint64_t address = 0;
	uint32_t i;
	int code;

	for (i = 0; i < d->sizes; i++) {
		code = get_block(r, step, i + 1, tensor_bytes(d, step, i),
				 &address, err);
		if (code || r->result->exhausted)
			return code;
		code = kvp_alloc_cache_put(r->cache, address, err);
		if (code)
			return code;
		record_counters(r, step, &now);
	}
	return KVP_OK;
}

static int run_step(struct run *r, uint64_t step, kvp_decode_row_fn *row,
		    void *cookie, struct kvp_error *err)
{
	const struct kvp_decode *d = r->decode;
	struct kvp_decode_row now = { .step = step };
	int code = KVP_OK;

	assert(step == r->result->steps + 1);
	kvp_alloc_cache_counters(r->cache, &r->before);
	if (!d->preallocate)
		code = run_tensors(r, step, err);
	if (!code && !r->result->exhausted && d->live_growth_bytes)
		code = keep_block(r, step, d->sizes + 1, d->live_growth_bytes,
				  err);
	if (code || r->result->exhausted)
		return code;
	code = kvp_alloc_cache_step(r->cache, err);
	if (code)
		return code;
	record_counters(r, step, &now.counters);
	r->result->steps = step;
	if (!row)
		return KVP_OK;
	code = r->backend->device.memory(r->backend, r->device, &now.free_bytes,
					 err);
	if (!code)
		row(cookie, &now);
	return code;
}

/* Put all of them back; after a put that fails the block is filed as well. */
static int put_kept_blocks(struct run *r, struct kvp_error *err)
{
	int code = KVP_OK, each;

	while (r->nkept) {
		each = kvp_alloc_cache_put(r->cache, r->kept[--r->nkept],
					   code ? NULL : err);
		code = code ? code : each;
	}
	assert(!r->nkept);
	free(r->kept);
	r->kept = NULL;
	return code;
}

int kvp_decode_run(struct kvp_alloc_cache *c, struct kvp_backend *b,
		   uint32_t device, const struct kvp_decode *decode,
		   kvp_decode_row_fn *row, void *cookie,
		   struct kvp_decode_result *result, struct kvp_error *err)
{
	struct run r = { .cache = c, .backend = b, .device = device,
			 .decode = decode, .result = result };
	uint64_t step;
	int code, put;

	*result = (struct kvp_decode_result){ .steps = 0 };
	code = check_decode(decode, err);
	if (code)
		return code;
	kvp_alloc_cache_counters(c, &r.first);
	assert(!r.first.live_blocks);
	r.before = r.first;
	code = check_blocks(&r, err);
	if (code)
		return code;
	code = get_lasting_blocks(&r, err);
	for (step = 1; !code && !result->exhausted && step <= decode->steps;
	     step++)
		code = run_step(&r, step, row, cookie, err);
	if (!code && !result->exhausted)
		code = record_end(&r, result->steps, err);
	put = put_kept_blocks(&r, code ? NULL : err);
	return code ? code : put;
}
