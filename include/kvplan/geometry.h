/*
 * The geometry: the shape of one rank's KV cache, and which ranks read it.
 *
 * A geometry is the input of planning, format "kvplan/geometry/1".  It is
 * plain data.  kvp_geometry_read() fills in every default, expands entries
 * that stand for several planes, and makes one access list for each rank:
 * the normalized form.  kvp_geometry_write() writes that form.
 *
 *   rank r           plane 0   | page 0 | page 1 | ...         |pad|
 *                    plane 1   | page 0 | page 1 | ...         |pad|
 *                               <------- backing = multiple of g ->
 *
 *   row arena  | execution rows |  snapshot row 0  | snapshot row 1 | ..
 *              0 <- row_stride ->                                    A
 *              |<- dedicated ->D|<- aliases of plane memory --------->
 *
 *   D = execution_rows * row_stride rounded up to the granularity g
 *   A = (execution_rows + snapshot_rows) * row_stride
 *
 * All sizes are in bytes.  All numbers are at most KVP_NUMBER_MAX.
 */
#ifndef KVPLAN_GEOMETRY_H
#define KVPLAN_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kvplan/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVP_GEOMETRY_FORMAT "kvplan/geometry/1"

/* The largest integer that every JSON reader keeps exactly: 2^53 - 1. */
#define KVP_NUMBER_MAX UINT64_C(9007199254740991)

/* Limits.  kvp_geometry_read() returns KVP_ELIMIT for a larger number. */
#define KVP_CHUNKS_MAX UINT64_C(2097152)	/* chunks of one rank */
#define KVP_ROWS_MAX UINT64_C(2097152)		/* rows of one rank */
#define KVP_RANKS_MAX UINT64_C(1024)
#define KVP_STATICS_MAX UINT64_C(65536)		/* items of static storage */
#define KVP_GRANULARITY_MIN UINT64_C(4096)
/* static_entries, entry_limit and entry_reserve: small enough that sums with
   a plan's own entries do not overflow. */
#define KVP_ENTRIES_MAX (UINT64_C(1) << 50)

#define KVP_NAME_MAX 128	/* characters of a geometry's name */
#define KVP_PLANE_NAME_MAX 64	/* characters of a plane's name */

/* snapshot_rows of a geometry that is not sized yet. */
#define KVP_UNSTATED UINT64_MAX

/* The arena address of a chunk that is not in the arena. */
#define KVP_UNALIASED UINT64_MAX

/* One physical allocation: its range in a plane and, if it is aliased, in
   the arena. */
struct kvp_chunk {
	uint64_t offset;	/* first byte in the plane */
	uint64_t bytes;
	uint64_t arena;		/* first byte in the arena; KVP_UNALIASED if
				   it is not in the arena */
	uint32_t plane;		/* index into the geometry's planes */
};

struct kvp_plane {
	uint64_t bytes_per_page;
	uint64_t address;	/* recorded; valid if has_address */
	bool has_address;
	bool alias;		/* its chunks may be mapped in the arena */
	char name[KVP_PLANE_NAME_MAX + 1];
};

/* A list of ranks: ascending, without duplicates. */
struct kvp_ranks {
	uint32_t *rank;
	size_t count;
};

enum kvp_importer_mode { KVP_IMPORT_READ, KVP_IMPORT_READWRITE };

/* Which ranks map an item of static storage, and the table entries that its
   owner's copy takes. */
enum kvp_static_importers {
	KVP_STATIC_NONE,	/* the owner alone: 1 entry */
	KVP_STATIC_GROUP,	/* its DCP group: dcp_group_size entries */
	KVP_STATIC_ALL		/* its node: ranks_per_node entries */
};

/* Storage that every rank allocates before the KV cache. */
struct kvp_static {
	char *name;
	uint64_t bytes;
	enum kvp_static_importers importers;
};

/* The memory left beside the KV cache, and the cap that an allocation cache
   gets there. */
struct kvp_headroom {
	uint64_t free_bytes;
	uint64_t cap_bytes;	/* valid if bounded */
	bool bounded;		/* false: there is no cap (JSON null) */
};

struct kvp_geometry {
	char *name;		/* UTF-8, 1..KVP_NAME_MAX characters */
	uint64_t granularity;	/* a power of two, >= 4096 */
	uint64_t tile_granules;	/* >= 1 */
	uint64_t pages;		/* KV pages per rank, >= 1; 0: not sized yet */
	uint64_t page_tokens;	/* tokens per page and rank, >= 1 */
	uint64_t snapshot_rows;	/* KVP_UNSTATED: not sized yet */
	uint64_t execution_rows;
	uint64_t row_bytes;	/* 0 without rows */
	uint64_t row_stride;	/* >= row_bytes; 0 without rows */
	uint64_t ranks;
	uint64_t ranks_per_node;	/* divides ranks */
	uint64_t dcp_group_size;	/* divides ranks */

	struct kvp_plane *planes;	/* one entry for each plane */
	size_t nplanes;

	struct kvp_ranks *declared_readers;	/* [ranks], owner included */
	struct kvp_ranks *imports;		/* [ranks], owner included */
	enum kvp_importer_mode importer_mode;

	struct kvp_static *statics;
	size_t nstatics;
	uint64_t static_entries;	/* table entries that other software
					   on the node takes */
	uint64_t entry_limit;		/* entries of the node's table */
	uint64_t entry_reserve;		/* kept free; <= entry_limit */
	uint64_t page_overhead_bytes;

	uint64_t arena_address;		/* valid if has_arena_address */
	bool has_arena_address;

	struct kvp_headroom headroom;	/* valid if has_headroom */
	bool has_headroom;

	/* A recorded base layout; NULL: the planner computes one. */
	struct kvp_chunk *base_chunks;
	size_t nbase_chunks;
};

/*
 * Read a geometry from text.  `source` is the name with which error texts
 * begin, usually that of the file; `text` has `len` bytes and needs no zero
 * at its end.
 *
 * On success *g holds the normalized geometry; release it with
 * kvp_geometry_release().  On failure *g is empty, and releasing it is
 * allowed but not needed.
 *
 * This checks everything that does not need a layout: types, ranges, whole
 * numbers, overflow of every product, the limits on planes, ranks and rows,
 * group sizes, imports that are not declared or cross nodes, overlapping
 * addresses, and that base_chunks cover planes and arena exactly.
 *
 * Errors: KVP_ESYNTAX, KVP_EINPUT, KVP_ELIMIT, KVP_ENOMEM.  It does not
 * check that the rows fit; kvp_plan_make() does.
 */
int kvp_geometry_read(struct kvp_geometry *g, const char *source,
		      const char *text, size_t len, struct kvp_error *err);

/*
 * As kvp_geometry_read(), for a geometry that is not sized yet: `pages` and
 * `snapshot_rows` may be missing and then are 0 and KVP_UNSTATED.  row_bytes
 * is kept also where there is no row.  Only the functions of size.h, and
 * those that copy, compare, write and release, accept an unsized geometry;
 * kvp_plan_make() returns KVP_EINPUT for it.
 */
int kvp_geometry_read_unsized(struct kvp_geometry *g, const char *source,
			      const char *text, size_t len,
			      struct kvp_error *err);

/*
 * Write the normalized geometry as JSON, with one plane, one rank or one
 * recorded chunk on each line.  *text ends in a zero that *len does not
 * count; free it with free().  On failure *text is NULL.
 *
 * Errors: KVP_EINPUT if importer_mode or the importers of a static item are
 * not a declared enum value; KVP_ENOMEM.
 */
int kvp_geometry_write(const struct kvp_geometry *g, char **text, size_t *len,
		       struct kvp_error *err);

/*
 * Make *dst a copy of *src that shares no memory with it.  *dst is
 * overwritten, not released first; release it with kvp_geometry_release().
 * On failure *dst is empty.  Errors: KVP_ENOMEM.
 */
int kvp_geometry_copy(struct kvp_geometry *dst, const struct kvp_geometry *src,
		      struct kvp_error *err);

/*
 * Compare two geometries.  Calls `differ` (which may be NULL) once for every
 * difference, with a JSON pointer to the key and both values as text; the
 * three texts are valid only during that call.  Returns the number of
 * differences: 0 if the geometries are the same.
 */
typedef void kvp_geometry_differ(void *cookie, const char *pointer,
				 const char *a, const char *b);
size_t kvp_geometry_compare(const struct kvp_geometry *a,
			    const struct kvp_geometry *b,
			    kvp_geometry_differ *differ, void *cookie);

/* Free everything that *g holds and leave it empty.  An empty or zeroed
   geometry may be released again. */
void kvp_geometry_release(struct kvp_geometry *g);

/*
 * sizeof(struct kvp_geometry), for callers that do not compile this header,
 * such as Python's ctypes: they pass that many zeroed bytes and need no copy
 * of a struct that may grow in a later version.
 */
size_t kvp_geometry_sizeof(void);

#ifdef __cplusplus
}
#endif

#endif
