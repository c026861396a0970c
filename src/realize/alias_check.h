/*
 * The alias check: on the real mappings, is the memory what the plan says?
 */
#ifndef KVPLAN_REALIZE_ALIAS_CHECK_H
#define KVPLAN_REALIZE_ALIAS_CHECK_H

#include <kvplan/realize.h>

/* One realized rank as the check needs it. */
struct check_rank {
	uint32_t rank;
	uint32_t device;		/* the owner's */
	const uint64_t *planes;		/* address of every plane */
	uint64_t arena;			/* address of the row arena */
	const uint32_t *readers;	/* devices of all importers realized
					   here, the owner left out */
	size_t nreaders;
};

/*
 * Check one rank (design: alias check, a to c).  All of its memory is
 * overwritten.  depth is quick or full.
 *
 *   a  a pattern of its own in every granule through the planes, read back
 *      through the arena and the planes
 *   b  every snapshot row written through the arena; half of the live rows
 *      released each round, every page no live row conflicts with
 *      overwritten through the planes; every live row has to stand
 *   c  every reader sees in the planes what the owner wrote
 *
 * Errors: KVP_EFAILED, whose text says which byte is wrong and what it holds;
 * errors of the calls.
 */
int alias_check(struct kvp_backend *b, const struct kvp_plan *plan,
		const struct check_rank *rank, enum kvp_check depth,
		struct kvp_error *err);

#endif
