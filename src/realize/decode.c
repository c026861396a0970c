/*
 * The decode workload: what an engine's temporaries ask of an allocation
 * cache, and what that leaves behind.  Knows no policy and no card.
 */
#include <kvplan/decode.h>

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include <kvplan/geometry.h>

#include "base/error.h"
#include "base/u64.h"

#define SIZES_MAX 4096

struct run {
	struct kvp_alloc_cache *cache;
	struct kvp_backend *backend;
	uint32_t device;
	const struct kvp_decode *decode;
	struct kvp_decode_result *result;
	/* As the run and as the step began. */
	struct kvp_alloc_cache_counters first, before;
	/* What is handed out from before step 1 to after the last. */
	uint64_t *kept;
	uint32_t nkept;
};

/* check() has seen that it fits. */
static uint64_t tensor_bytes(const struct kvp_decode *d, uint64_t step,
			     uint32_t i)
{
	const uint64_t grown = d->grow ? (step - 1) * d->sizes : 0;

	return d->step_bytes / d->sizes + (i < d->step_bytes % d->sizes) +
	       KVP_DECODE_GRAIN_BYTES * (grown + i);
}

/*
 * All tensors of all steps.  Of the grains there are 0 + 1 + 2 ..., once for
 * all steps where tensors grow and once a step where they do not.
 */
static bool fits(const struct kvp_decode *d)
{
	const uint64_t rounds = d->grow ? 1 : d->steps;
	uint64_t n = d->sizes, bytes, grains;

	if (!d->steps)
		return true;
	return (!d->grow || u64_mul(n, d->steps, &n)) &&
	       u64_mul(n, n - 1, &grains) &&
	       u64_mul(grains / 2, KVP_DECODE_GRAIN_BYTES, &grains) &&
	       u64_mul(grains, rounds, &grains) &&
	       u64_mul(d->step_bytes, d->steps, &bytes) &&
	       u64_add(bytes, grains, &bytes) && bytes <= KVP_NUMBER_MAX;
}

static int check(const struct kvp_decode *d, struct kvp_error *err)
{
	if (!d->sizes || d->sizes > SIZES_MAX)
		return kvp_error_set(err, KVP_EINPUT, "a step of %" PRIu32
			" tensors: must be from 1 to %d", d->sizes, SIZES_MAX);
	if (d->step_bytes < d->sizes)
		return kvp_error_set(err, KVP_EINPUT, "%" PRIu64 " bytes are "
			"too few for the %" PRIu32 " tensors of a step, which "
			"take at least one each", d->step_bytes, d->sizes);
	if (!fits(d))
		return kvp_error_set(err, KVP_EINPUT, "%" PRIu64 " steps of %"
			PRIu32 " tensors, %" PRIu64 " bytes a step before they "
			"grow, are more than %" PRIu64 " bytes (2^53 - 1) in "
			"all", d->steps, d->sizes, d->step_bytes,
			KVP_NUMBER_MAX);
	return KVP_OK;
}

/* See what is held now, and whether something was freed in this step. */
static void observe(struct run *r, uint64_t step,
		    struct kvp_alloc_cache_counters *now)
{
	struct kvp_decode_result *result = r->result;

	kvp_alloc_cache_counters(r->cache, now);
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

/* The state at the end, or where memory ran out. */
static int conclude(struct run *r, uint64_t step, struct kvp_error *err)
{
	struct kvp_decode_result *result = r->result;

	observe(r, step, &result->counters);
	result->freed_bytes = result->counters.freed_bytes_total -
			      r->first.freed_bytes_total;
	return r->backend->ops->memory(r->backend, r->device,
				       &result->free_bytes, err);
}

/* tensor is from 1; 0: before step 1. */
static int ask(struct run *r, uint64_t step, uint32_t tensor, uint64_t bytes,
	       uint64_t *address, struct kvp_error *err)
{
	struct kvp_decode_result *result = r->result;
	struct kvp_error one = { 0 };
	int code = kvp_alloc_cache_get(r->cache, bytes, address, &one);

	if (code == KVP_EEXHAUSTED) {
		result->exhausted = true;
		result->tensor = tensor;
		result->wanted_bytes = bytes;
		return conclude(r, step, err);
	}
	if (code && err)
		*err = one;
	return code;
}

static int keep(struct run *r, uint64_t bytes, struct kvp_error *err)
{
	int code = ask(r, 0, 0, bytes, &r->kept[r->nkept], err);

	if (!code && !r->result->exhausted)
		r->nkept++;
	return code;
}

static int begin(struct run *r, struct kvp_error *err)
{
	const struct kvp_decode *d = r->decode;
	int code = KVP_OK;
	uint32_t i;

	r->kept = malloc((d->sizes + (size_t)1) * sizeof(*r->kept));
	if (!r->kept)
		return kvp_error_nomem(err);
	if (d->live_bytes)
		code = keep(r, d->live_bytes, err);
	if (d->preallocate && d->steps)
		for (i = 0; !code && !r->result->exhausted && i < d->sizes;
		     i++)
			code = keep(r, tensor_bytes(d, d->steps, i), err);
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
		code = ask(r, step, i + 1, tensor_bytes(d, step, i), &address,
			   err);
		if (code || r->result->exhausted)
			return code;
		code = kvp_alloc_cache_put(r->cache, address, err);
		if (code)
			return code;
		observe(r, step, &now);
	}
	return KVP_OK;
}

static int run_step(struct run *r, uint64_t step, kvp_decode_row_fn *row,
		    void *cookie, struct kvp_error *err)
{
	struct kvp_decode_row now = { .step = step };
	int code = KVP_OK;

	kvp_alloc_cache_counters(r->cache, &r->before);
	if (!r->decode->preallocate)
		code = run_tensors(r, step, err);
	if (code || r->result->exhausted)
		return code;
	code = kvp_alloc_cache_step(r->cache, err);
	if (code)
		return code;
	observe(r, step, &now.counters);
	r->result->steps = step;
	if (!row)
		return KVP_OK;
	code = r->backend->ops->memory(r->backend, r->device, &now.free_bytes,
				       err);
	if (!code)
		row(cookie, &now);
	return code;
}

/* Goes on past a failed put: the block is taken back all the same. */
static int put_back(struct run *r, struct kvp_error *err)
{
	int code = KVP_OK, each;

	while (r->nkept) {
		each = kvp_alloc_cache_put(r->cache, r->kept[--r->nkept],
					   code ? NULL : err);
		code = code ? code : each;
	}
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
	code = check(decode, err);
	if (code)
		return code;
	kvp_alloc_cache_counters(c, &r.first);
	assert(!r.first.live_blocks);
	r.before = r.first;
	code = begin(&r, err);
	for (step = 1; !code && !result->exhausted && step <= decode->steps;
	     step++)
		code = run_step(&r, step, row, cookie, err);
	if (!code && !result->exhausted)
		code = conclude(&r, result->steps, err);
	put = put_back(&r, code ? NULL : err);
	return code ? code : put;
}
