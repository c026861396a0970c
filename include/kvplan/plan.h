/*
 * The plan: the chunk map of one geometry, format "kvplan/plan/1".
 *
 * A plan is plain data.  It contains its geometry, so it can be verified and
 * realized without any other file.  Reading and writing it gives the same
 * bytes again, and the same geometry and mode always give the same plan.
 *
 * kvp_plan_read() accepts every text that the format allows, also a wrong
 * plan: a plane index that does not exist, overlapping chunks, false counts.
 * kvp_verify() finds these.  All sizes are in bytes.
 */
#ifndef KVPLAN_PLAN_H
#define KVPLAN_PLAN_H

#include <kvplan/geometry.h>
#include <kvplan/span.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVP_PLAN_FORMAT "kvplan/plan/1"

/* What the planner may change; each mode allows all that the one before it
   allows. */
enum kvp_merge {
	KVP_MERGE_NONE,		/* nothing: the plan is the base layout */
	KVP_MERGE_ROW,		/* exchange planes, reorder and merge the
				   chunks within a row */
	KVP_MERGE_SPAN		/* also merge across row boundaries */
};

/*
 * The conflicting pages of one snapshot row: `count` elements of the plan's
 * `spans` from index `first` on, ascending, with a gap between any two.
 */
struct kvp_row {
	uint64_t row;		/* snapshot row, from 0 */
	size_t first;
	size_t count;
};

/* The ranks that may access a rank's planes: ascending, with the owner. */
struct kvp_access {
	uint32_t rank;		/* the owner */
	struct kvp_ranks readers;
};

/* Counts that the plan states; kvp_verify() computes them again. */
struct kvp_summary {
	uint64_t base_chunks;	/* per rank, in the base layout */
	uint64_t chunks;	/* per rank, in this plan */
	uint64_t lower_bound;	/* no plan of this mode has fewer chunks */
	bool optimal;		/* chunks == lower_bound */
	uint64_t physical_bytes;	/* of one rank's chunks, without the
					   dedicated backing */
	uint64_t kv_tokens;	/* pages * page_tokens * dcp_group_size */
	uint64_t *per_rank;	/* table entries of each rank */
	size_t nper_rank;
	uint64_t *per_node;	/* table entries of each node, with those of
				   static storage */
	size_t nper_node;
	uint64_t limit;		/* entry_limit - entry_reserve: no per_node
				   count should be larger */
};

struct kvp_plan {
	struct kvp_geometry geometry;
	enum kvp_merge merge;
	uint64_t dedicated_bytes;	/* D; 0: no dedicated backing */

	struct kvp_chunk *chunks;	/* the aliased ones, by arena
					   address; then the others, by plane
					   and offset */
	size_t nchunks;

	struct kvp_row *rows;	/* one for each snapshot row, ascending */
	size_t nrows;
	struct kvp_span *spans;	/* of all rows */
	size_t nspans;

	struct kvp_access *access;	/* one for each rank, ascending */
	size_t naccess;

	struct kvp_summary summary;

	struct kvp_headroom headroom;	/* the geometry's, if it has one */
	bool has_headroom;
};

/* "none", "row" or "span"; "?" for any other value.  The text is static. */
const char *kvp_merge_name(enum kvp_merge merge);

/* Find the mode with this name.  Returns KVP_OK, or KVP_EINPUT if there is
   none; *merge is untouched then. */
int kvp_merge_find(const char *name, enum kvp_merge *merge);

/*
 * Read a plan from text.  `source` is the name with which error texts begin;
 * `text` has `len` bytes and needs no zero at its end.  On success release
 * *plan with kvp_plan_release(); on failure *plan is empty.
 *
 * Errors: KVP_ESYNTAX, KVP_EINPUT, KVP_ELIMIT, KVP_ENOMEM.
 */
int kvp_plan_read(struct kvp_plan *plan, const char *source, const char *text,
		  size_t len, struct kvp_error *err);

/*
 * Write a plan as JSON, with one chunk, one row or one rank on each line.
 * *text ends in a zero that *len does not count; free it with free().  On
 * failure *text is NULL.  A wrong plan is written as it is, unless the
 * format cannot express it.
 *
 * Errors: KVP_EINPUT if the mode, importer_mode or the importers of a static
 * item are not a declared enum value, or if a row uses spans that the plan
 * does not have; KVP_ENOMEM.
 */
int kvp_plan_write(const struct kvp_plan *plan, char **text, size_t *len,
		   struct kvp_error *err);

/* The kind of a document, stated by its "format" key. */
enum kvp_document { KVP_DOC_GEOMETRY, KVP_DOC_PLAN };

/*
 * Find out whether a text is a geometry or a plan.  This checks that the
 * text is JSON and reads its key "format" alone.  On failure *kind is
 * untouched.
 *
 * Errors: KVP_ESYNTAX; KVP_EINPUT if the text is not an object or its format
 * is missing or unknown; KVP_ENOMEM.
 */
int kvp_document_kind(enum kvp_document *kind, const char *source,
		      const char *text, size_t len, struct kvp_error *err);

/* Free everything that *plan holds and leave it empty.  An empty or zeroed
   plan may be released again. */
void kvp_plan_release(struct kvp_plan *plan);

/* sizeof(struct kvp_plan), for callers that do not compile this header. */
size_t kvp_plan_sizeof(void);

#ifdef __cplusplus
}
#endif

#endif
