/*
 * Searching what fits the table of mappings when a plan does not: another
 * mode, larger tiles, fewer snapshot rows.  Every candidate is planned and
 * its entries are counted; apart from small exceptions, each of the three
 * lowers them.
 */
#ifndef KVPLAN_SIZE_SEARCH_H
#define KVPLAN_SIZE_SEARCH_H

#include <kvplan/plan_make.h>

#include "base/error.h"

/*
 * A search plans about a dozen times.  That takes too long for layouts of
 * more chunks than this, and larger tiles than this are of no use.
 */
#define CURE_CHUNKS_MAX 300000
#define CURE_TILE_MAX 1024	/* granules */

/* Count the table entries of a plan's fullest node; *node is its number, node
   may be NULL. */
uint64_t search_fullest_node(const struct kvp_plan *plan, size_t *node);

struct search {
	const struct kvp_geometry *geometry;
	uint64_t available;	/* table entries that a plan may need */
	/* Counts the entries that a plan needs; NULL: those of its fullest
	   node. */
	uint64_t (*entries)(const struct kvp_plan *plan, const void *cookie);
	const void *cookie;

	/* The fewest entries of all plans so far, and their mode and tiles;
	   0: nothing was planned. */
	uint64_t need;
	enum kvp_merge merge;
	uint64_t tile_granules;
};

/*
 * Find the first mode from `merge` on that fits: *found is true and s->merge
 * is the mode.  Errors: those of kvp_plan_make(), which end the search.
 */
int search_modes(struct search *s, enum kvp_merge merge, bool *found,
		 struct kvp_error *err);

/*
 * Find the smallest larger tiles with which a mode from row to `last` fits:
 * s->tile_granules.  What cannot be planned does not fit.
 */
bool search_tiles(struct search *s, enum kvp_merge last);

/* Find the most snapshot rows with which a mode fits; KVP_UNSTATED: it does
   not even fit with 0. */
uint64_t search_rows(struct search *s, enum kvp_merge merge);

/* How a plan fits its node. */
struct plan_fit {
	uint64_t address_bytes;	/* of planes and arena of a rank, about */
	size_t node;		/* the fullest one */
	uint64_t entries;	/* of that node */
	uint64_t limit;		/* of entries */
	bool other_fits;	/* entries are over the limit, and mode `merge`
				   fits */
	enum kvp_merge merge;	/* the mode that needs the fewest entries */
	uint64_t need;		/* entries in that mode */
};

/* Errors: those of kvp_plan_make(). */
int plan_fit_find(struct plan_fit *fit, const struct kvp_plan *plan,
		  struct kvp_error *err);

#endif
