/*
 * The geometry: what one rank's KV cache looks like, and who reads it.
 *
 * A geometry is the input of planning, format "kvplan/geometry/1".  It is
 * plain data.  kvp_geometry_read() fills in every default, expands planes
 * and writes the access lists out per rank, so a struct kvp_geometry always
 * holds the normalized form; kvp_geometry_write() writes that form.
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
 * All sizes are bytes, all counts exact, all at most KVP_NUMBER_MAX.
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

/* Largest integer that every JSON program carries exactly: 2^53 - 1. */
#define KVP_NUMBER_MAX UINT64_C(9007199254740991)

/* Limits.  Beyond them kvp_geometry_read() answers KVP_ELIMIT. */
#define KVP_CHUNKS_MAX UINT64_C(2097152)	/* chunks of one rank */
#define KVP_ROWS_MAX UINT64_C(2097152)		/* rows of one rank */
#define KVP_RANKS_MAX UINT64_C(1024)
#define KVP_STATICS_MAX UINT64_C(65536)		/* items of static storage */
#define KVP_GRANULARITY_MIN UINT64_C(4096)
/* static_entries, entry_limit and entry_reserve: far from where sums with a
   plan's own entries would overflow. */
#define KVP_ENTRIES_MAX (UINT64_C(1) << 50)

#define KVP_NAME_MAX 128	/* characters of a geometry's name */
#define KVP_PLANE_NAME_MAX 64	/* characters of a plane's name */

/* A number of rows that a geometry still to be sized does not state. */
#define KVP_UNSTATED UINT64_MAX

/* The arena place of a chunk that has none. */
#define KVP_UNALIASED UINT64_MAX

/* One physical allocation and its place in the arena, if it has one. */
struct kvp_chunk {
	uint64_t offset;	/* first byte within the plane */
	uint64_t bytes;
	uint64_t arena;		/* first byte in the arena, KVP_UNALIASED */
	uint32_t plane;		/* index into the geometry's planes */
};

struct kvp_plane {
	uint64_t bytes_per_page;
	uint64_t address;	/* recorded; valid if has_address */
	bool has_address;
	bool alias;		/* snapshot rows may share its memory */
	char name[KVP_PLANE_NAME_MAX + 1];
};

/* A list of ranks, ascending, without duplicates. */
struct kvp_ranks {
	uint32_t *rank;
	size_t count;
};

enum kvp_importer_mode { KVP_IMPORT_READ, KVP_IMPORT_READWRITE };

enum kvp_static_importers {
	KVP_STATIC_NONE,	/* the owner alone: 1 entry */
	KVP_STATIC_GROUP,	/* its DCP group: dcp_group_size entries */
	KVP_STATIC_ALL		/* its node: ranks_per_node entries */
};

/* Storage every rank allocates before the cache. */
struct kvp_static {
	char *name;
	uint64_t bytes;
	enum kvp_static_importers importers;
};

/* What is left beside the cache and the cap planned for it. */
struct kvp_headroom {
	uint64_t free_bytes;
	uint64_t cap_bytes;	/* valid if bounded */
	bool bounded;		/* false: no cap at all (JSON null) */
};

struct kvp_geometry {
	char *name;		/* UTF-8, 1..KVP_NAME_MAX characters */
	uint64_t granularity;	/* a power of two, >= 4096 */
	uint64_t tile_granules;	/* >= 1 */
	uint64_t pages;		/* KV pages per rank, >= 1; 0: unstated */
	uint64_t page_tokens;	/* tokens per page and rank, >= 1 */
	uint64_t snapshot_rows;	/* KVP_UNSTATED: unstated */
	uint64_t execution_rows;
	uint64_t row_bytes;	/* 0 without rows */
	uint64_t row_stride;	/* >= row_bytes; 0 without rows */
	uint64_t ranks;
	uint64_t ranks_per_node;	/* divides ranks */
	uint64_t dcp_group_size;	/* divides ranks */

	struct kvp_plane *planes;	/* expanded: one entry per plane */
	size_t nplanes;

	struct kvp_ranks *declared_readers;	/* [ranks], owner included */
	struct kvp_ranks *imports;		/* [ranks], owner included */
	enum kvp_importer_mode importer_mode;

	struct kvp_static *statics;
	size_t nstatics;
	uint64_t static_entries;	/* table entries others hold */
	uint64_t entry_limit;		/* size of the node's table */
	uint64_t entry_reserve;		/* kept free; <= entry_limit */
	uint64_t page_overhead_bytes;

	uint64_t arena_address;		/* valid if has_arena_address */
	bool has_arena_address;

	struct kvp_headroom headroom;	/* valid if has_headroom */
	bool has_headroom;

	/* A recorded layout to start from; NULL where it is computed. */
	struct kvp_chunk *base_chunks;
	size_t nbase_chunks;
};

/*
 * Read a geometry from text.  `source` is the name errors begin with,
 * usually the file's.  The text need not end in a zero byte.
 *
 * On success *g holds the normalized geometry; release it with
 * kvp_geometry_release().  On failure *g is empty and need not be.
 *
 * Everything that can be known without laying out chunks is checked here:
 * types, ranges, exactness, every product, the chunk and row limits, group
 * sizes, undeclared importers, imports across nodes, and whether a recorded
 * layout covers planes and arena.
 *
 * Errors: KVP_ESYNTAX, KVP_EINPUT, KVP_ELIMIT, KVP_ENOMEM.  Whether the
 * rows fit is not asked here; kvp_plan_make() answers that.
 */
int kvp_geometry_read(struct kvp_geometry *g, const char *source,
		      const char *text, size_t len, struct kvp_error *err);

/*
 * The same for a geometry that is still to be sized: `pages` and
 * `snapshot_rows` may be missing, and are 0 and KVP_UNSTATED then.  Such a
 * geometry keeps its row_bytes without any row.  Of the library's functions
 * only those of size.h, copying, comparing, writing and releasing take it;
 * kvp_plan_make() answers KVP_EINPUT.
 */
int kvp_geometry_read_unsized(struct kvp_geometry *g, const char *source,
			      const char *text, size_t len,
			      struct kvp_error *err);

/*
 * Write the normalized geometry as JSON, one plane, one rank, one recorded
 * chunk to a line.  *text is zero-terminated, *len does not count the zero;
 * give it back with free().  On failure *text is NULL.  Errors: KVP_EINPUT for
 * an importer mode or importers that are none; KVP_ENOMEM.
 */
int kvp_geometry_write(const struct kvp_geometry *g, char **text, size_t *len,
		       struct kvp_error *err);

/* Copy src into *dst, which owns its copy.  Errors: KVP_ENOMEM. */
int kvp_geometry_copy(struct kvp_geometry *dst, const struct kvp_geometry *src,
		      struct kvp_error *err);

/*
 * Where two geometries differ.  Calls `differ` once for every difference
 * with a JSON pointer and both values as text; all are valid during the
 * call only.  Returns the number of differences; 0 means the same geometry.
 */
typedef void kvp_geometry_differ(void *cookie, const char *pointer,
				 const char *a, const char *b);
size_t kvp_geometry_compare(const struct kvp_geometry *a,
			    const struct kvp_geometry *b,
			    kvp_geometry_differ *differ, void *cookie);

/* Give everything back and leave *g empty.  Safe twice and on a zeroed one. */
void kvp_geometry_release(struct kvp_geometry *g);

/*
 * sizeof(struct kvp_geometry), for callers without this header, such as
 * Python's ctypes: they give that many zeroed bytes and need not mirror a
 * struct that later versions extend.
 */
size_t kvp_geometry_sizeof(void);

#ifdef __cplusplus
}
#endif

#endif
