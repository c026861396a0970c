/*
 * Headroom: the cap of a cache of allocations beside the KV cache.
 *
 * A cap larger than the free memory has no effect: memory runs out before
 * the cache evicts anything.  So the cap is computed from the free memory:
 *
 *   cap(free) = min(1 GiB, free/2, max(64 MiB, free/8))
 *
 *   free      0 .. 128 MiB   .. 512 MiB   .. 8 GiB   ..
 *   cap       free/2           64 MiB      free/8     1 GiB
 *   term      half             floor       eighth     ceiling
 *
 * `free` is what the driver reports; bytes that the cache holds count as
 * used.  Divisions round down.  All sizes are in bytes.
 */
#ifndef KVPLAN_HEADROOM_H
#define KVPLAN_HEADROOM_H

#include <stdbool.h>
#include <stdint.h>

#include <kvplan/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVP_CAP_CEILING_BYTES (UINT64_C(1) << 30)
#define KVP_CAP_FLOOR_BYTES (UINT64_C(64) << 20)

/* The term of the formula that gave a cap; if two terms are equal, the later
   one in this list. */
enum kvp_cap_term {
	KVP_CAP_HALF,		/* half of the free memory */
	KVP_CAP_FLOOR,		/* 64 MiB */
	KVP_CAP_EIGHTH,		/* an eighth of the free memory */
	KVP_CAP_CEILING,	/* 1 GiB */
	KVP_CAP_NO_READING,	/* the free memory is not known: 1 GiB */
	KVP_CAP_OVERRIDE	/* given by the user */
};

struct kvp_cap {
	uint64_t bytes;		/* valid if bounded; 0: cache nothing */
	bool bounded;		/* false: there is no cap (JSON null) */
	enum kvp_cap_term term;
};

/* A cap that the user gives instead of the formula's; zeroed: none given. */
struct kvp_cap_override {
	bool given;
	bool bounded;		/* false: there is no cap */
	uint64_t bytes;		/* valid if bounded */
};

/*
 * Read an override from a text that gives it in MiB: decimal digits, with
 * blanks around them allowed; "0" means no cap.  If text is NULL, *o is
 * untouched and the result is KVP_OK.  `source` is the name with which the
 * error text begins.
 *
 * Errors: KVP_EINPUT for any other text, also an empty one, and for more
 * than 2^53 - 1 bytes; *o is untouched.
 */
int kvp_cap_override_read(struct kvp_cap_override *o, const char *source,
			  const char *text, struct kvp_error *err);

/*
 * The cap for *free_bytes of free memory; free_bytes is NULL if that is not
 * known.  If override is not NULL and one is given, that is the cap.
 */
struct kvp_cap kvp_cap_plan(const uint64_t *free_bytes,
			    const struct kvp_cap_override *override);

/* The bytes that stay free when the cache is full; 0 if there is no cap or
   the cap is larger than free_bytes. */
uint64_t kvp_cap_left(const struct kvp_cap *cap, uint64_t free_bytes);

/*
 * The least free memory for which the formula gives a cap of at least
 * cap_bytes.  UINT64_MAX for more than 1 GiB, which it never gives.
 */
uint64_t kvp_cap_free_needed(uint64_t cap_bytes);

/* "half", "floor", "eighth", "ceiling", "no-reading" or "override"; "?" for
   any other value.  The text is static. */
const char *kvp_cap_term_name(enum kvp_cap_term term);

#ifdef __cplusplus
}
#endif

#endif
