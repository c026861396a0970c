/*
 * Checks of a geometry.  They work on the struct and answer with the path of
 * a field; who has read the geometry from a text makes a place in it of that.
 */
#ifndef KVPLAN_MODEL_GEOMETRY_CHECK_H
#define KVPLAN_MODEL_GEOMETRY_CHECK_H

#include <kvplan/geometry.h>

#include "base/error.h"

struct geometry_fault {
	char path[96];		/* "/planes/3/address"; "": the whole */
	struct kvp_error error;	/* what is wrong there */
};

/*
 * All answer KVP_OK or the code of the fault: KVP_EINPUT, KVP_ELIMIT, and
 * KVP_ENOMEM, with which no check was made.
 */

/* Is every field one that the format can state, and in its normal form? */
int geometry_check_fields(const struct kvp_geometry *g,
			  struct geometry_fault *fault);

/* Is every enum one of its words?  Others have no JSON. */
int geometry_check_words(const struct kvp_geometry *g, struct kvp_error *err);

/*
 * What follows from several fields that the format can state: sizes that
 * divide, products and sums below 2^53, names that differ, importers that are
 * declared.  Rows that are not stated count as none, recorded chunks are not
 * looked at.
 */
int geometry_check(const struct kvp_geometry *g, struct geometry_fault *fault);

/* Recorded addresses of planes and arena do not overlap. */
int geometry_check_addresses(const struct kvp_geometry *g,
			     struct geometry_fault *fault);

/* Fill in a fault; returns code. */
int geometry_fault(struct geometry_fault *fault, int code, const char *path,
		   const char *format, ...)
	KVP_PRINTF(4, 5);

/* Snapshot rows, none where they are not stated; and all rows. */
static inline uint64_t geometry_snapshots(const struct kvp_geometry *g)
{
	return g->snapshot_rows == KVP_UNSTATED ? 0 : g->snapshot_rows;
}

static inline uint64_t geometry_rows(const struct kvp_geometry *g)
{
	return g->execution_rows + geometry_snapshots(g);
}

#endif
