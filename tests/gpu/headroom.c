/*
 * The measured legs of the allocation cache, for real: GPU 0 is filled until
 * so much is free, then the growing workload runs through the cache.
 *
 *   headroom          every leg
 *   headroom paper    the same legs on a simulated card, without a GPU
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/kvplan.h>

#include "cache/decode_workload.h"

#define MIB (UINT64_C(1) << 20)
#define GRANULE (2 * MIB)
#define GIB (UINT64_C(1) << 30)

struct leg {
	const char *name;
	uint64_t free_mib;
	struct kvp_cap_override cap;
	bool off;
	struct kvp_decode decode;
	bool dies;
};

/* 12.8 MiB a step in ten sizes, 24 MiB live: reconstructed. */
#define STEPS(n) { 13421772, 10, 24 * MIB, (n), true, false, 0, 0, 0 }
#define POLICY { false, false, 0 }
#define ONE_GIB { true, true, GIB }

static const struct leg legs[] = {
	{ "262 MiB free, cap 1 GiB", 262, ONE_GIB, false, STEPS(256), true },
	{ "262 MiB free, cap of the policy", 262, POLICY, false, STEPS(256),
	  false },
	{ "262 MiB free, cap of the policy, 1,000 steps", 262, POLICY, false,
	  STEPS(1000), false },
	{ "262 MiB free, cache off", 262, POLICY, true, STEPS(1000), false },
	{ "262 MiB free, preallocated", 262, POLICY, false,
	  { 13421772, 10, 24 * MIB, 1000, true, true, 0, 0, 0 }, false },
	{ "64,262 MiB free, cap 1 GiB", 64262, ONE_GIB, false, STEPS(256),
	  false },
};

static int failures;

static void expect(bool ok, const char *what)
{
	printf("%s %s\n", ok ? "ok  " : "FAIL", what);
	failures += !ok;
}

static void must(int code, const struct kvp_error *err)
{
	if (!code)
		return;
	fprintf(stderr, "headroom: %s: %s\n", kvp_code_name(code), err->text);
	exit(1);
}

/* --- what takes the rest of the card --- */

struct ballast {
	kvp_handle handle[8];
	size_t count;
};

static uint64_t free_on(struct kvp_backend *b)
{
	struct kvp_error err;
	uint64_t bytes = 0;

	must(b->device.synchronize(b, 0, &err), &err);
	must(b->device.memory(b, 0, &bytes, &err), &err);
	return bytes;
}

/* A few rounds: an allocation may take more than its bytes. */
static void ballast_load(struct ballast *x, struct kvp_backend *b,
			 uint64_t left)
{
	struct kvp_create what = { .device = 0 };
	struct kvp_error err;
	uint64_t have = free_on(b);

	for (x->count = 0; x->count < 8 && have >= left + GRANULE;
	     x->count++, have = free_on(b)) {
		what.bytes = (have - left) / GRANULE * GRANULE;
		must(b->mapping.create(b, &what, &x->handle[x->count], &err),
		     &err);
	}
}

static void ballast_drop(struct ballast *x, struct kvp_backend *b)
{
	struct kvp_error err;

	while (x->count)
		must(b->mapping.release(b, x->handle[--x->count], &err), &err);
}

/* --- a leg --- */

static double mib(uint64_t bytes)
{
	return (double)bytes / (double)MIB;
}

static void row(void *cookie, const struct kvp_decode_row *r)
{
	const struct kvp_alloc_cache_counters *c = &r->counters;

	(void)cookie;
	if (r->step > 8 && r->step != 16 && r->step != 18 && r->step % 128)
		return;
	printf("  step %4" PRIu64 ": held %6.1f, cap %6.1f, sizes %4" PRIu64
	       ", hits %" PRIu64 ", freed %5.1f, free %8.1f MiB\n", r->step,
	       mib(c->held_bytes), mib(c->cap.bytes), c->sizes, c->hits,
	       mib(c->freed_bytes), mib(r->free_bytes));
}

static void judge(const struct leg *leg, const struct kvp_decode_result *r)
{
	const struct kvp_alloc_cache_counters *c = &r->counters;
	bool policy = !leg->cap.given && !leg->off && !leg->decode.preallocate;

	printf("  %s after step %" PRIu64 " (tensor %u): held %.1f at most, "
	       "%.1f then, sizes %" PRIu64 " at most, freed %.1f, first in "
	       "step %" PRIu64 ", free %.1f MiB\n",
	       r->exhausted ? "out of memory" : "lives", r->steps, r->tensor,
	       mib(r->held_most_bytes), mib(c->held_bytes), r->sizes_most,
	       mib(r->freed_bytes), r->first_freed_step, mib(r->free_bytes));
	expect(r->exhausted == leg->dies, leg->name);
	if (leg->dies)
		expect(!r->freed_bytes && r->steps >= 15 && r->steps <= 18,
		       "it died by step 19 and never evicted");
	if (policy)
		expect(r->held_most_bytes <= 64 * MIB && r->freed_bytes &&
		       r->first_freed_step <= 6, "held stays at its plateau, "
		       "evictions from the first steps on");
	if (leg->off)
		expect(!r->held_most_bytes && !r->sizes_most,
		       "held 0, sizes 0");
	if (leg->decode.preallocate)
		expect(r->sizes_most == 0, "sizes stay flat");
}

static struct kvp_backend *backend(bool paper, const struct leg *leg)
{
	struct kvp_backend *b;
	struct kvp_error err;

	if (paper)
		must(kvp_backend_card(&b, leg->free_mib * MIB, &err), &err);
	else
		must(kvp_backend_cuda(&b, (uint32_t[]){ 0 }, 1, &err), &err);
	return b;
}

static void run(const struct leg *leg, bool paper)
{
	const struct kvp_alloc_cache_options options = {
		.off = leg->off, .override = leg->cap,
	};
	struct kvp_backend *b = backend(paper, leg);
	struct kvp_alloc_cache *cache;
	struct kvp_decode_result result;
	struct ballast ballast = { .count = 0 };
	struct kvp_error err;
	uint64_t before;

	if (!paper)
		ballast_load(&ballast, b, leg->free_mib * MIB);
	before = free_on(b);
	printf("%s: %.1f MiB free\n", leg->name, mib(before));
	must(kvp_alloc_cache_new(&cache, b, &options, &err), &err);
	must(kvp_decode_run(cache, b, 0, &leg->decode, row, NULL, &result,
			    &err), &err);
	judge(leg, &result);
	must(kvp_alloc_cache_free(cache, &err), &err);
	printf("  free again: %.1f MiB\n", mib(free_on(b)));
	expect(free_on(b) == before, "all is given back");
	ballast_drop(&ballast, b);
	kvp_backend_close(b);
}

int main(int argc, char **argv)
{
	bool paper = argc > 1 && !strcmp(argv[1], "paper");
	size_t i;

	for (i = 0; i < sizeof(legs) / sizeof(*legs); i++)
		run(&legs[i], paper);
	return failures ? 1 : 0;
}
