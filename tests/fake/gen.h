/*
 * Random geometries for the property tests, each from one seed.
 *
 * The text is what a user could have written: units, defaults left out,
 * planes counted instead of listed.  So the real reader is exercised, too.
 * Every geometry is well formed; the rows of some do not fit.
 */
#ifndef TESTS_FAKE_GEN_H
#define TESTS_FAKE_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kvplan/geometry.h>

/* splitmix64 */
struct gen_rng {
	uint64_t state;
};

uint64_t gen_next(struct gen_rng *r);
uint64_t gen_below(struct gen_rng *r, uint64_t n);	/* [0, n), n > 0 */
uint64_t gen_range(struct gen_rng *r, uint64_t low, uint64_t high);
bool gen_chance(struct gen_rng *r, unsigned percent);

/* The seed of case `index` of the run that began with `seed`. */
uint64_t gen_seed(uint64_t seed, uint64_t index);

/* Chunks per rank: up to about 25, 250 and 1,800. */
enum gen_size { GEN_TINY, GEN_SMALL, GEN_MEDIUM };
#define GEN_SIZES 3

/* A geometry as JSON; free() it. */
char *gen_geometry(uint64_t seed, enum gen_size size);

/*
 * A geometry with base_chunks that no computation makes: planes cut unalike,
 * chunks in any order.  Up to 36 chunks; free() it.  Every one reads and fits.
 */
char *gen_recorded(uint64_t seed);

/* The base layout, from the design's definition and apart from src/. */
struct gen_base {
	struct kvp_chunk *chunks;	/* by place, then by plane, offset */
	size_t count;
	size_t aliased;
	uint64_t dedicated;	/* D */
	uint64_t arena_end;	/* A */
};

/* False when the rows do not fit; then *base is empty. */
bool gen_base_make(struct gen_base *base, const struct kvp_geometry *g);
void gen_base_release(struct gen_base *base);

/* Cut a computed base layout anew, as a recorded one could have been. */
void gen_base_recut(struct gen_base *base, const struct kvp_geometry *g,
		    struct gen_rng *r);

/* malloc() that ends the test where there is no memory. */
void *gen_alloc(size_t bytes);

#endif
