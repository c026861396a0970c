/*
 * alloc_cache [SEED [COUNT]]: random operations on the allocation cache on a
 * simulated card, against the plain model of cache_model.h.  After each one
 * the code, every counter, the very blocks that the card has given away and
 * what it has free must be the model's.
 *
 * Every third case has a backend that fails some calls, once or for ever;
 * then every call of every verb in turn is made to fail in a few cases.
 * Whatever happens, everything can be given back after the fault has ended,
 * and exactly once: the card refuses what it did not give.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cache/cache_check.h"
#include "fake/gen.h"
#include "random/cache_model.h"

#define SEED UINT64_C(20261130)
#define CASES UINT64_C(4000)
#define OPERATIONS 400
#define SWEEP_SEEDS 3
#define LIVE_MAX 40
#define PINNED_MAX 5
#define ONCE (KVP_OP_POOL_CREATE | KVP_OP_POOL_DESTROY)

/* What the card has given away, by its own calls. */
static struct {
	struct kvp_backend *card;
	struct kvp_pool_ops ops;	/* its own */
	kvp_pool pool;
	bool has_pool;
	struct {
		uint64_t address;
		uint64_t bytes;
	} block[MODEL_BLOCKS];
	size_t count;
} truth;

/* One case. */
static struct {
	struct gen_rng rng;
	struct kvp_fault fault;
	struct kvp_backend *b;
	struct kvp_alloc_cache *cache;
	uint64_t unit;		/* sizes are a few of it */
	const char *did;
	uint64_t operation;
	uint64_t reports;
	struct kvp_alloc_cache_counters reported;
	bool failed;
	char name[96];
} now;

static struct model model;

enum kind { HITS, EVICTIONS, TOO_LARGE, PINNED_OVER, EXHAUSTED, PLANNED,
	    REFUSED, FAULTS, STUCK, NOT_BEGUN, UNBOUNDED, KINDS };
static const char *const kind_names[KINDS] = {
	"hits", "evictions", "blocks larger than the cap",
	"pinned over the cap", "out of memory", "caps planned anew",
	"refused", "faults met", "left behind", "not begun", "unbounded",
};
static uint64_t seen[KINDS], passed, failed;

static void bad(const char *format, ...)
{
	va_list args;

	if (now.failed)
		return;
	now.failed = true;
	printf("FAIL %s, operation %" PRIu64 ", %s: ", now.name,
	       now.operation, now.did);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* The card, watched. */

static int card_allocate(struct kvp_backend *b, kvp_pool pool, uint64_t bytes,
			 uint64_t *address, struct kvp_error *err)
{
	int code = truth.ops.allocate(b, pool, bytes, address, err);

	if (!code) {
		truth.block[truth.count].address = *address;
		truth.block[truth.count++].bytes = bytes;
	}
	return code;
}

static int card_deallocate(struct kvp_backend *b, kvp_pool pool,
			   uint64_t address, struct kvp_error *err)
{
	int code = truth.ops.deallocate(b, pool, address, err);
	size_t i;

	if (code)
		bad("gives back what is not there");
	for (i = 0; i < truth.count; i++)
		if (truth.block[i].address == address) {
			truth.block[i] = truth.block[--truth.count];
			break;
		}
	return code;
}

static int card_pool_create(struct kvp_backend *b, uint32_t device,
			    kvp_pool *pool, struct kvp_error *err)
{
	int code = truth.ops.pool_create(b, device, pool, err);

	if (truth.has_pool)
		bad("has two pools");
	truth.has_pool = !code;
	truth.pool = *pool;
	return code;
}

static int card_pool_destroy(struct kvp_backend *b, kvp_pool pool,
			     struct kvp_error *err)
{
	int code = truth.ops.pool_destroy(b, pool, err);

	if (code)
		bad("destroys a pool in use");
	truth.has_pool = false;
	return code;
}

static bool open_card(uint64_t bytes)
{
	memset(&truth, 0, sizeof(truth));
	if (kvp_backend_card(&truth.card, bytes, NULL))
		return false;
	truth.ops = truth.card->pool;
	truth.card->pool.allocate = card_allocate;
	truth.card->pool.deallocate = card_deallocate;
	truth.card->pool.pool_create = card_pool_create;
	truth.card->pool.pool_destroy = card_pool_destroy;
	return !kvp_backend_fault(&now.b, truth.card, &now.fault, NULL);
}

static uint64_t card_free(void)
{
	uint64_t free_bytes = 0;

	if (truth.card->device.memory(truth.card, 0, &free_bytes, NULL))
		bad("the card cannot be read");
	return free_bytes;
}

/* Cache and model, compared. */

static void same(const char *what, uint64_t got, uint64_t expected)
{
	if (got != expected)
		bad("%s is %" PRIu64 ", must be %" PRIu64, what, got,
		    expected);
}

#define SAME(field) same(#field, got->field, expected->field)

static void same_counters(const struct kvp_alloc_cache_counters *got,
			  const struct kvp_alloc_cache_counters *expected)
{
	SAME(held_bytes);
	SAME(held_blocks);
	SAME(pinned_bytes);
	SAME(pinned_blocks);
	SAME(live_bytes);
	SAME(live_blocks);
	SAME(pending_bytes);
	SAME(cap.bounded);
	if (expected->cap.bounded)
		SAME(cap.bytes);
	SAME(cap.term);
	SAME(pinned_over_cap_bytes);
	SAME(sizes);
	SAME(steps);
	SAME(hits);
	SAME(misses);
	SAME(freed_bytes);
	SAME(hits_total);
	SAME(misses_total);
	SAME(freed_bytes_total);
}

static void same_blocks(void)
{
	const struct model_block *b;
	size_t i;

	same("blocks of the pool", truth.count, model.count);
	for (i = 0; i < truth.count; i++) {
		b = model_at(&model, truth.block[i].address);
		if (!b || b->bytes != truth.block[i].bytes)
			bad("the card has a block at 0x%" PRIx64 " that "
			    "should have been given back",
			    truth.block[i].address);
	}
	same("free bytes", card_free(), model_free_bytes(&model));
	same("faults", now.fault.hits, model.fault.hits);
	same("a pool", truth.has_pool, model.pool);
}

static void same_state(void)
{
	struct kvp_alloc_cache_counters got, expected = model_counters(&model);

	cache_check_internal(now.cache);
	kvp_alloc_cache_counters(now.cache, &got);
	same_counters(&got, &expected);
	same_blocks();
	same("reports", now.reports, model.reports);
	if (now.reports)
		same_counters(&now.reported, &model.reported);
	seen[EVICTIONS] += got.freed_bytes > 0;
	seen[PINNED_OVER] += got.pinned_over_cap_bytes > 0;
	seen[UNBOUNDED] += !got.cap.bounded;
}

static void same_code(int got, int expected, const struct kvp_error *err)
{
	if (got != expected || err->code != got)
		bad("answers %s (%s), must be %s", kvp_code_name(got),
		    err->text, kvp_code_name(expected));
	else if (got && !*err->text)
		bad("an error without a text");
}

static void report(void *cookie, const struct kvp_alloc_cache_counters *n)
{
	if (cookie != &now)
		bad("the cookie is another one");
	now.reports++;
	now.reported = *n;
}

/* The operations. */

static uint64_t below(uint64_t n)
{
	return gen_below(&now.rng, n);
}

static uint64_t random_bytes(void)
{
	switch (below(20)) {
	case 0:
		return below(model.total_bytes / 2 + 2);
	case 1:
		return now.unit * (8 + below(6)) + below(3);
	default:
		return now.unit * (1 + below(6)) / (1 + below(3)) + 1;
	}
}

/* Of a block, or of none. */
static uint64_t random_address(void)
{
	if (!model.count || below(12) == 0)
		return below(5000) * 128;
	return model.block[below(model.count)].address;
}

static void do_get(void)
{
	const uint64_t bytes = random_bytes();
	struct kvp_error err = { 0 };
	uint64_t address = 7, expected;
	int code, wanted;

	now.did = "get";
	if (model_counters(&model).live_blocks > LIVE_MAX)
		return;
	wanted = model_get(&model, bytes, &expected);
	code = kvp_alloc_cache_get(now.cache, bytes, &address, &err);
	same_code(code, wanted, &err);
	seen[EXHAUSTED] += code == KVP_EEXHAUSTED;
	if (code) {
		same("the address after a failure", address, 7);
	} else if (expected) {
		same("the address of a hit", address, expected);
		seen[HITS]++;
	} else if (model_at(&model, address)) {
		bad("hands out 0x%" PRIx64 " twice", address);
	} else {
		model_add(&model, address, bytes);
	}
}

static void put(uint64_t address)
{
	const struct model_block *b = model_at(&model, address);
	struct kvp_error err = { 0 };
	int wanted;

	now.did = "put";
	seen[TOO_LARGE] += b && !b->filed && !b->pinned && model.on &&
			   b->bytes > model_limit(&model);
	wanted = model_put(&model, address);
	seen[REFUSED] += wanted == KVP_EBUSY;
	same_code(kvp_alloc_cache_put(now.cache, address, &err), wanted,
		  &err);
}

static void pin(uint64_t address, bool pinned)
{
	struct kvp_error err = { 0 };
	int wanted = model_pin(&model, address, pinned);

	now.did = pinned ? "pin" : "unpin";
	seen[REFUSED] += wanted == KVP_EBUSY;
	same_code(pinned ? kvp_alloc_cache_pin(now.cache, address, &err) :
			   kvp_alloc_cache_unpin(now.cache, address, &err),
		  wanted, &err);
}

static void do_set_cap(void)
{
	const struct kvp_cap cap = { now.unit * below(16) + below(3),
				     below(8) != 0, KVP_CAP_OVERRIDE };
	struct kvp_error err = { 0 };
	int wanted = model_set_cap(&model, &cap);

	now.did = "set_cap";
	same_code(kvp_alloc_cache_set_cap(now.cache, &cap, &err), wanted,
		  &err);
}

static void do_arm(void)
{
	struct kvp_error err = { 0 };
	int wanted = model_arm(&model);

	now.did = "arm";
	same_code(kvp_alloc_cache_arm(now.cache, &err), wanted, &err);
}

static void do_step(void)
{
	struct kvp_error err = { 0 };
	int wanted = model_step(&model);

	now.did = "step";
	seen[PLANNED] += model.on && model.n.steps % 64 == 0;
	same_code(kvp_alloc_cache_step(now.cache, &err), wanted, &err);
}

static void do_drain(void)
{
	struct kvp_error err = { 0 };
	int wanted = model_drain(&model);

	now.did = "drain";
	same_code(kvp_alloc_cache_drain(now.cache, &err), wanted, &err);
}

static void do_enable(void)
{
	struct kvp_error err = { 0 };
	bool on = below(3) != 0;
	int wanted = model_enable(&model, on);

	now.did = on ? "enable" : "disable";
	same_code(kvp_alloc_cache_enable(now.cache, on, &err), wanted, &err);
}

static bool few_pinned(void)
{
	size_t pinned = 0, i;

	for (i = 0; i < model.count; i++)
		pinned += model.block[i].pinned;
	return pinned < PINNED_MAX;
}

static void operate(void)
{
	uint64_t which = below(100), i;

	if (which < 36)
		do_get();
	else if (which < 66)
		put(random_address());
	else if (which < 82)
		pin(random_address(), which < 70 && few_pinned());
	else if (which < 85)
		do_set_cap();
	else if (which < 87)
		do_arm();
	else if (which < 96)
		do_step();
	else if (which < 97)
		for (i = below(40); i && !now.failed; i--) {
			do_step();
			same_state();
		}
	else if (which < 98)
		do_drain();
	else
		do_enable();
}

/* Beginning and end of a case. */

static bool begin(void)
{
	static const uint64_t cards[] = {
		20000, UINT64_C(200) << 20, UINT64_C(800) << 20,
		UINT64_C(20) << 30,
	};
	struct kvp_alloc_cache_options options = {
		.off = below(8) == 0, .report = report, .cookie = &now,
		.report_steps = below(4),
	};
	struct kvp_error err = { 0 };
	int wanted;

	memset(&model, 0, sizeof(model));
	model.fault = now.fault;
	model.total_bytes = cards[below(4)] - below(1000);
	now.unit = model_policy(model.total_bytes).bytes / 8;
	if (below(4) == 0)
		options.override = (struct kvp_cap_override){
			true, below(4) != 0, now.unit * below(12) };
	model.override = options.override;
	model.report_steps = options.report_steps;
	now.did = "new";
	if (!open_card(model.total_bytes)) {
		bad("no memory");
		return false;
	}
	wanted = model_new(&model, options.off);
	same_code(kvp_alloc_cache_new(&now.cache, now.b, &options, &err),
		  wanted, &err);
	if (wanted && now.cache)
		bad("the cache is not NULL");
	seen[NOT_BEGUN] += wanted != KVP_OK;
	if (wanted)
		same_blocks();
	return !wanted && !now.failed;
}

static void end_fault(void)
{
	now.fault.countdown = 0;
	model.fault.countdown = 0;
}

/* Nothing handed out, nothing pinned. */
static void put_all(void)
{
	uint64_t address[MODEL_BLOCKS];
	const size_t count = model.count;
	const struct model_block *b;
	size_t i;

	for (i = 0; i < count; i++)
		address[i] = model.block[i].address;
	for (i = 0; i < count && !now.failed; i++) {
		b = model_at(&model, address[i]);
		if (b && b->pinned)
			pin(address[i], false);
		b = model_at(&model, address[i]);
		if (b && !b->filed)
			put(address[i]);
		same_state();
	}
}

static void free_cache(void)
{
	struct kvp_error err = { 0 };
	int wanted;

	now.did = "free";
	wanted = model_free(&model);
	same_code(kvp_alloc_cache_free(now.cache, &err), wanted, &err);
	seen[STUCK] += wanted == KVP_ESTUCK;
	if (wanted != KVP_EBUSY) {
		now.cache = NULL;
		same_blocks();
	} else {
		same_state();
	}
}

/* What was left behind goes back to the card, and then all of it is free. */
static void clear_card(void)
{
	const struct kvp_pool_ops *ops = &truth.ops;

	now.did = "clearing";
	while (truth.count)
		if (ops->deallocate(truth.card, truth.pool,
				    truth.block[--truth.count].address, NULL))
			bad("a block was given back twice");
	if (truth.has_pool && ops->pool_destroy(truth.card, truth.pool, NULL))
		bad("the pool has a block that nobody knows");
	if (truth.card->device.synchronize(truth.card, 0, NULL) ||
	    card_free() != model.total_bytes)
		bad("bytes are lost");
}

/* Answers whether the fault was met. */
static bool run_case(uint64_t seed, const struct kvp_fault *fault,
		     uint64_t operations)
{
	memset(&now, 0, sizeof(now));
	now.rng.state = seed;
	now.fault = *fault;
	snprintf(now.name, sizeof(now.name), "seed %" PRIu64 ", ops %#x, call "
		 "%" PRIu64 "%s", seed, fault->ops, fault->countdown,
		 fault->for_ever ? " for ever" : "");
	if (begin()) {
		same_state();
		for (; now.operation < operations && !now.failed;
		     now.operation++) {
			operate();
			same_state();
		}
		if (!now.failed)
			free_cache();
		if (!now.failed && now.cache && below(2))
			end_fault();
		if (!now.failed && now.cache)
			put_all();
		if (!now.failed && now.cache)
			free_cache();
	}
	if (!now.failed)
		clear_card();
	if (!now.failed) {
		kvp_backend_close(now.b);
		kvp_backend_close(truth.card);
	}
	seen[FAULTS] += now.fault.hits > 0;
	passed += !now.failed;
	failed += now.failed;
	return now.fault.hits > 0;
}

static const unsigned verbs[] = {
	KVP_OP_ALLOCATE, KVP_OP_DEALLOCATE, KVP_OP_SYNCHRONIZE,
	KVP_OP_MEMORY, KVP_OP_POOL_CREATE, KVP_OP_POOL_DESTROY, KVP_OP_ALL,
};
#define VERBS (sizeof(verbs) / sizeof(*verbs))

static void random_cases(uint64_t seed, uint64_t count)
{
	static const int codes[] = { KVP_EDRIVER, KVP_EEXHAUSTED, KVP_ENOMEM };
	struct kvp_fault fault;
	uint64_t i, each;

	for (i = 0; i < count; i++) {
		each = gen_seed(seed, i);
		fault = (struct kvp_fault){ .ops = 0 };
		if (i % 3 == 0)
			fault = (struct kvp_fault){
				verbs[each % VERBS], 1 + each / 8 % 100,
				each / 1024 % 2, codes[each / 2048 % 3], 0 };
		/* There are not many calls of those. */
		if (fault.ops & ONCE && fault.ops != KVP_OP_ALL)
			fault.countdown = 1;
		run_case(each, &fault, OPERATIONS);
	}
}

/* Every call of every verb, once and for ever. */
static void sweep(uint64_t seed)
{
	struct kvp_fault fault;
	uint64_t n, i;
	size_t v;

	for (i = 0; i < SWEEP_SEEDS; i++)
		for (v = 0; v < 2 * VERBS; v++)
			for (n = 1; !failed; n++) {
				fault = (struct kvp_fault){
					verbs[v / 2], n, v % 2, KVP_EDRIVER,
					0 };
				if (!run_case(gen_seed(seed, i), &fault,
					      OPERATIONS / 4))
					break;
			}
}

/* A generator that no longer comes by something would pass unseen. */
static void check_kinds(uint64_t count)
{
	size_t i;

	for (i = 0; i < KINDS; i++) {
		printf("  %-28s %8" PRIu64 "\n", kind_names[i], seen[i]);
		if (seen[i] < count / 100) {
			printf("FAIL too few: %s\n", kind_names[i]);
			failed++;
		}
	}
}

int main(int argc, char **argv)
{
	const char *san = getenv("SAN");
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : SEED;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) :
			 san && *san ? CASES / 8 : CASES;

	printf("seed %" PRIu64 ", %" PRIu64 " cases of %d operations%s\n",
	       seed, count, OPERATIONS,
	       san && *san ? " (sanitized: an eighth)" : "");
	fflush(stdout);
	random_cases(seed, count);
	sweep(seed);
	check_kinds(count);
	printf("%" PRIu64 " passed, %" PRIu64 " failed, 0 skipped\n", passed,
	       failed);
	return failed != 0;
}
