/*
 * Times the allocation cache against malloc() and free() of the same sizes in
 * the same order: hits alone, and misses that evict.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <kvplan/kvplan.h>

#define ROUNDS 2000
#define BLOCKS 512	/* handed out at a time */
#define MIB (UINT64_C(1) << 20)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(int code, const struct kvp_error *err)
{
	if (!code)
		return;
	fprintf(stderr, "bench: %s\n", err->text);
	exit(1);
}

/* Of block i in a round: 64 sizes again and again, or new ones. */
static uint64_t size_of(uint64_t round, uint64_t i, int grow)
{
	return 4096 + 16 * (grow ? round * BLOCKS + i : i % 64);
}

static double cache_ns(int grow)
{
	const struct kvp_alloc_cache_options options = {
		.override = { true, true, 64 * MIB },
	};
	static uint64_t at[BLOCKS];
	struct kvp_alloc_cache *c;
	struct kvp_backend *b;
	struct kvp_error err;
	uint64_t round, i;
	double start;

	must(kvp_backend_card(&b, UINT64_C(1) << 50, &err), &err);
	must(kvp_alloc_cache_new(&c, b, &options, &err), &err);
	start = now();
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < BLOCKS; i++)
			must(kvp_alloc_cache_get(c, size_of(round, i, grow),
						 &at[i], &err), &err);
		for (i = 0; i < BLOCKS; i++)
			must(kvp_alloc_cache_put(c, at[i], &err), &err);
		must(kvp_alloc_cache_step(c, &err), &err);
	}
	start = now() - start;
	must(kvp_alloc_cache_free(c, &err), &err);
	kvp_backend_close(b);
	return start / ROUNDS / BLOCKS * 1e9;
}

static double malloc_ns(int grow)
{
	static void *volatile at[BLOCKS];
	uint64_t round, i;
	double start = now();

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < BLOCKS; i++)
			at[i] = malloc((size_t)size_of(round, i, grow));
		for (i = 0; i < BLOCKS; i++)
			free(at[i]);
	}
	return (now() - start) / ROUNDS / BLOCKS * 1e9;
}

int main(void)
{
	static const char *const what[] = {
		"hits", "misses, each evicted later"
	};
	double cache, plain;
	int grow;

	for (grow = 0; grow < 2; grow++) {
		cache = cache_ns(grow);
		plain = malloc_ns(grow);
		printf("allocation cache, %s: get and put %.0f ns, %.2f of "
		       "malloc and free of the same sizes\n", what[grow],
		       cache, cache / plain);
	}
	return 0;
}
