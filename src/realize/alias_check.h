/*
 * The alias check: do the mappings share memory exactly as the plan says?
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
 * Check one rank.  All of its memory is
 * overwritten.  depth is quick or full.
 *
 *   a  Every granule is written with its own pattern through the planes, and
 *      read back through the planes and the arena.
 *   b  Every snapshot row is written through the arena.  Each round
 *      overwrites, through the planes, every page that no live row conflicts
 *      with; every live row must be unchanged; then half of the live rows are
 *      released.
 *   c  Every reader must read in the planes what the owner wrote.
 *
 * Errors: KVP_EFAILED, whose text says which byte is wrong and what it holds;
 * errors of the calls.
 */
int alias_check(struct kvp_backend *b, const struct kvp_plan *plan,
		const struct check_rank *rank, enum kvp_check depth,
		struct kvp_error *err);

/*
 * The same for readers in other processes, in two halves.  The owner writes
 * every granule of its planes with a pattern of its own; when that is done,
 * an importer reads them, where planes are its own mappings and device is one
 * of its own.  Errors as above.
 */
int alias_write_planes(struct kvp_backend *b, const struct kvp_plan *plan,
		       const struct check_rank *rank, enum kvp_check depth,
		       struct kvp_error *err);
int alias_match_planes(struct kvp_backend *b, const struct kvp_plan *plan,
		       const struct check_rank *rank, enum kvp_check depth,
		       struct kvp_error *err);

#endif
