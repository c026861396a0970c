/*
 * What fits the table of mappings where a plan does not: another mode, larger
 * tiles, fewer snapshot rows.  Found by planning; entries fall with each, but
 * for a little.
 */
#ifndef KVPLAN_SIZE_SEARCH_H
#define KVPLAN_SIZE_SEARCH_H

#include <kvplan/plan_make.h>

#include "base/error.h"

/*
 * Searching plans a dozen times over.  That takes too long for layouts of
 * more chunks; tiles larger than this help nobody.
 */
#define CURE_CHUNKS_MAX 300000
#define CURE_TILE_MAX 1024	/* granules */

/* Table entries of a plan's fullest node, and which one that is; node may be
   NULL. */
uint64_t search_fullest_node(const struct kvp_plan *plan, size_t *node);

struct search {
	const struct kvp_geometry *geometry;
	uint64_t available;	/* table entries that there are */
	/* Those that a plan needs; NULL: of its fullest node. */
	uint64_t (*entries)(const struct kvp_plan *plan, const void *cookie);
	const void *cookie;

	/* The fewest of all that were planned, and of what; 0: of nothing. */
	uint64_t need;
	enum kvp_merge merge;
	uint64_t tile_granules;
};

/*
 * The first mode from `merge` on that fits: *found, and the search holds it.
 * Errors: those of kvp_plan_make(), with which the search has ended.
 */
int search_modes(struct search *s, enum kvp_merge merge, bool *found,
		 struct kvp_error *err);

/*
 * The smallest larger tiles with which a mode from row to `last` fits.  What
 * cannot be planned does not fit.
 */
bool search_tiles(struct search *s, enum kvp_merge last);

/* The most snapshot rows that fit in a mode; KVP_UNSTATED: not even none. */
uint64_t search_rows(struct search *s, enum kvp_merge merge);

/* How a plan fits its node. */
struct plan_fit {
	uint64_t address_bytes;	/* of planes and arena of a rank, about */
	size_t node;		/* the fullest one */
	uint64_t entries;	/* of it */
	uint64_t limit;
	bool other_fits;	/* where they are over it: mode `merge` fits */
	enum kvp_merge merge;
	uint64_t need;		/* of that; else the fewest of any mode */
};

/* Errors: those of kvp_plan_make(). */
int plan_fit_find(struct plan_fit *fit, const struct kvp_plan *plan,
		  struct kvp_error *err);

#endif
