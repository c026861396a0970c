/*
 * Headroom: the cap of whatever caches allocations beside the KV cache.
 *
 * A cap that cannot be reached before memory runs out is no cap: nothing is
 * ever evicted and the process dies first.  So the cap follows what is free
 * (design of kvplan; the policy is published with the failure it cures):
 *
 *   cap(free) = min(1 GiB, free/2, max(64 MiB, free/8))
 *
 *   free      0 .. 128 MiB   .. 512 MiB   .. 8 GiB   ..
 *   cap       free/2           64 MiB      free/8     1 GiB
 *   term      half             floor       eighth     ceiling
 *
 * `free` is the driver's reading; bytes the cache itself holds count as
 * used.  Divisions round down.  All sizes are bytes.
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

/* What set a cap.  Where two terms are equal, the later one of this list. */
enum kvp_cap_term {
	KVP_CAP_HALF,		/* half of what is free */
	KVP_CAP_FLOOR,		/* 64 MiB */
	KVP_CAP_EIGHTH,		/* an eighth of what is free */
	KVP_CAP_CEILING,	/* 1 GiB */
	KVP_CAP_NO_READING,	/* what is free is not known: 1 GiB */
	KVP_CAP_OVERRIDE	/* stated by the user */
};

struct kvp_cap {
	uint64_t bytes;		/* 0: cache nothing.  Valid if bounded */
	bool bounded;		/* false: no cap at all, JSON null */
	enum kvp_cap_term term;
};

/* What a user states in the policy's place; zeroed: nothing. */
struct kvp_cap_override {
	bool given;
	bool bounded;		/* false: no cap at all */
	uint64_t bytes;		/* valid if bounded */
};

/*
 * An override in MiB as text: decimal digits, blanks around them allowed;
 * "0" is unbounded.  NULL states nothing.  Anything else, empty text too, is
 * KVP_EINPUT, never unbounded, as is more than 2^53 - 1 bytes; *o is
 * untouched then.  `source` begins the error's text.
 */
int kvp_cap_override_read(struct kvp_cap_override *o, const char *source,
			  const char *text, struct kvp_error *err);

/*
 * The cap for what is free; free_bytes NULL: not known.  An override (may
 * be NULL) wins outright.
 */
struct kvp_cap kvp_cap_plan(const uint64_t *free_bytes,
			    const struct kvp_cap_override *override);

/* What stays free when the cache is full: 0 where it is unbounded. */
uint64_t kvp_cap_left(const struct kvp_cap *cap, uint64_t free_bytes);

/*
 * The least free memory for which the policy's cap is at least `cap_bytes`:
 * kvp_cap_plan() the other way round.  UINT64_MAX for a cap above 1 GiB, which
 * the policy never gives.
 */
uint64_t kvp_cap_free_needed(uint64_t cap_bytes);

/* "half", "floor", "eighth", "ceiling", "no-reading", "override"; "?" for
   a term that is none. */
const char *kvp_cap_term_name(enum kvp_cap_term term);

#ifdef __cplusplus
}
#endif

#endif
