/*
 * The plan: the chunk map of one geometry, format "kvplan/plan/1".
 *
 * A plan is a document: plain data that round-trips through JSON byte for
 * byte and needs nothing beside it to be verified or realized.  The same
 * geometry and mode give the same bytes.
 *
 * kvp_plan_read() takes what the format can express, also wrong plans: a
 * plane index that does not exist, overlapping chunks, false counts.
 * Finding those is the business of kvp_verify().
 */
#ifndef KVPLAN_PLAN_H
#define KVPLAN_PLAN_H

#include <kvplan/geometry.h>
#include <kvplan/span.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVP_PLAN_FORMAT "kvplan/plan/1"

/* What a plan may change; each mode is a superset of the one before. */
enum kvp_merge {
	KVP_MERGE_NONE,		/* the base layout */
	KVP_MERGE_ROW,		/* permute, reorder, merge within a row */
	KVP_MERGE_SPAN		/* merge across row boundaries too */
};

/*
 * The conflicting pages of one snapshot row: spans[first .. first + count)
 * of the plan, ascending, disjoint, as long as they can be.
 */
struct kvp_row {
	uint64_t row;		/* snapshot row, from 0 */
	size_t first;
	size_t count;
};

/* Who may access a rank's planes: ascending, the owner included. */
struct kvp_access {
	uint32_t rank;
	struct kvp_ranks readers;
};

/* What the plan states about itself; kvp_verify() works it out again. */
struct kvp_summary {
	uint64_t base_chunks;	/* per rank, unmerged */
	uint64_t chunks;	/* per rank, as planned */
	uint64_t lower_bound;	/* no plan of this mode has fewer chunks */
	bool optimal;		/* chunks == lower_bound */
	uint64_t physical_bytes;	/* of one rank's chunks, dedicated
					   backing apart */
	uint64_t kv_tokens;	/* pages * page_tokens * dcp_group_size */
	uint64_t *per_rank;	/* table entries of each rank */
	size_t nper_rank;
	uint64_t *per_node;	/* table entries of each node, static
				   storage included */
	size_t nper_node;
	uint64_t limit;		/* entry_limit - entry_reserve: what every
				   per_node count has to fit */
};

struct kvp_plan {
	struct kvp_geometry geometry;
	enum kvp_merge merge;
	uint64_t dedicated_bytes;	/* D; 0: no dedicated backing */

	struct kvp_chunk *chunks;	/* by arena place, then unaliased by
					   plane and offset */
	size_t nchunks;

	struct kvp_row *rows;	/* one per snapshot row, ascending */
	size_t nrows;
	struct kvp_span *spans;	/* the pool rows point into */
	size_t nspans;

	struct kvp_access *access;	/* one per rank, ascending */
	size_t naccess;

	struct kvp_summary summary;

	struct kvp_headroom headroom;	/* the geometry's, if it has one */
	bool has_headroom;
};

/* "none", "row", "span"; "?" for a value that is no mode. */
const char *kvp_merge_name(enum kvp_merge merge);

/* The mode of that name.  Returns KVP_OK or KVP_EINPUT. */
int kvp_merge_find(const char *name, enum kvp_merge *merge);

/*
 * Read a plan from text.  On success release it with kvp_plan_release(); on
 * failure *plan is empty and need not be.  `source` begins the error texts.
 *
 * Errors: KVP_ESYNTAX, KVP_EINPUT, KVP_ELIMIT, KVP_ENOMEM.
 */
int kvp_plan_read(struct kvp_plan *plan, const char *source, const char *text,
		  size_t len, struct kvp_error *err);

/*
 * Write a plan as JSON, one chunk, one row, one rank to a line.  *text is
 * zero-terminated, *len does not count the zero; give it back with free().
 * On failure *text is NULL.  A plan that is wrong is written as it is; only
 * what has no JSON is refused.  Errors: KVP_EINPUT for a mode, importer mode or
 * importers that are none and for a row that points beyond the spans; KVP_ENOMEM.
 */
int kvp_plan_write(const struct kvp_plan *plan, char **text, size_t *len,
		   struct kvp_error *err);

/* What a JSON text says it is, by its "format" key. */
enum kvp_document { KVP_DOC_GEOMETRY, KVP_DOC_PLAN };

/*
 * Find out whether a text is a geometry or a plan.  Checks that the text is
 * JSON and reads "format", nothing else.
 *
 * Errors: KVP_ESYNTAX, KVP_EINPUT (no object, no format or an unknown one),
 * KVP_ENOMEM.
 */
int kvp_document_kind(enum kvp_document *kind, const char *source,
		      const char *text, size_t len, struct kvp_error *err);

/* Give everything back and leave *plan empty.  Safe twice. */
void kvp_plan_release(struct kvp_plan *plan);

/* sizeof(struct kvp_plan), for callers without this header. */
size_t kvp_plan_sizeof(void);

#ifdef __cplusplus
}
#endif

#endif
