/*
 * Checking a struct kvp_geometry.  A check that fails gives the path of the
 * field that is wrong; the function that read the geometry from a text turns
 * that path into the key to report.
 */
#ifndef KVPLAN_MODEL_GEOMETRY_CHECK_H
#define KVPLAN_MODEL_GEOMETRY_CHECK_H

#include <kvplan/geometry.h>

#include "base/error.h"

struct geometry_fault {
	char path[96];		/* "/planes/3/address"; "": all of it */
	struct kvp_error error;	/* what is wrong there */
};

/*
 * All functions return KVP_OK, or the code that they store in the fault:
 * KVP_EINPUT or KVP_ELIMIT for the first check that failed, KVP_ENOMEM if
 * nothing could be checked.
 */

/* Check every field by itself: that the format can express it, and that it
   has its normalized form. */
int geometry_check_fields(const struct kvp_geometry *g,
			  struct geometry_fault *fault);

/* Check that every enum has a declared value; others have no JSON. */
int geometry_check_words(const struct kvp_geometry *g, struct kvp_error *err);

/*
 * Check what involves several fields, each of which is valid by itself:
 * sizes that must divide others, products and sums below 2^53, different
 * names, imports that are declared.  An unsized geometry is checked as one
 * without snapshot rows.  base_chunks are not checked.
 */
int geometry_check(const struct kvp_geometry *g, struct geometry_fault *fault);

/* Check that the recorded addresses of planes and arena do not overlap. */
int geometry_check_addresses(const struct kvp_geometry *g,
			     struct geometry_fault *fault);

/*
 * All of the above, for a geometry that a program has put together or changed:
 * KVP_OK if a document can state it, else KVP_EINPUT or KVP_ENOMEM.  With
 * `unsized` its pages and snapshot_rows are ignored.  Whether base_chunks
 * cover the planes is left to base_chunks_check().
 */
int geometry_check_statable(const struct kvp_geometry *g, bool unsized,
			    struct kvp_error *err);

/* Make an error of a fault: "/planes/3/address: what is wrong", with this code
   unless memory ran out.  Returns the error's code. */
int geometry_fault_error(const struct geometry_fault *fault, int code,
			 struct kvp_error *err);

/* Set a fault; returns code. */
int geometry_fail(struct geometry_fault *fault, int code, const char *path,
		       const char *format, ...)
	KVP_PRINTF(4, 5);

/* The number of snapshot rows, 0 if not sized yet; and of all rows. */
static inline uint64_t geometry_snapshot_rows(const struct kvp_geometry *g)
{
	return g->snapshot_rows == KVP_UNSTATED ? 0 : g->snapshot_rows;
}

static inline uint64_t geometry_rows(const struct kvp_geometry *g)
{
	return g->execution_rows + geometry_snapshot_rows(g);
}

#endif
