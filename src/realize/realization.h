/*
 * What the files of a realization share.
 */
#ifndef KVPLAN_REALIZE_REALIZATION_H
#define KVPLAN_REALIZE_REALIZATION_H

#include <kvplan/realize.h>

#include "backend/backend_watch.h"
#include "base/file.h"
#include "realize/addresses.h"
#include "realize/undo.h"

/* The fewest descriptors that passing chunks to other processes needs, beside
   one per process. */
#define SHARE_DESCRIPTORS 48

/* A physical allocation, and the undo step that created it. */
struct memory {
	kvp_handle handle;
	size_t step;
};

/* One mapping of a rank. */
struct mapping {
	uint64_t address;
	uint64_t bytes;
	size_t step;		/* in the undo log */
};

struct rank {
	uint32_t rank;
	uint32_t device;
	enum kvp_state state;
	const struct addresses_rank *recorded;	/* of the options' addresses */
	uint64_t *planes;	/* addresses, [nplanes] */
	uint64_t arena;
	uint64_t arena_bytes;	/* 0: no rows */
	struct memory *statics;	/* [nstatics] */
	struct memory *memory;	/* [nchunks], then dedicated backing */
	/* Those of the planes, by plane and then in the plan's order; those of
	   the arena's aliased chunks; the dedicated backing's. */
	struct mapping *mappings;
	size_t nmappings;
	/* Its planes' readers among the ranks realized here: the owner first,
	   then its importers. */
	uint32_t *readers;	/* ranks */
	uint32_t *devices;	/* their devices */
	struct kvp_grant *grants;
	size_t nreaders;
	uint64_t *free;		/* free memory of the readers' devices, before
				   the first plane and after each */
	uint64_t left;		/* free memory of its device at the end */
};

/*
 * What ranks of this process import from a rank of another process of the
 * node: its planes if one of them is its reader, its static storage where it
 * has importers.
 */
struct import {
	uint32_t rank;		/* the owner */
	uint64_t *planes;	/* addresses in this process, [nplanes]; 0: not
				   imported */
	uint32_t *readers;	/* ranks, their devices and what they get */
	uint32_t *devices;
	struct kvp_grant *grants;
	size_t nreaders;	/* 0: static storage alone */
	uint64_t *free;		/* as in struct rank */
};

/* How far a realization is; its events report this. */
struct stage {
	uint32_t rank;		/* that calls are made for */
	enum kvp_state state;	/* that the rank gets or has got */
	bool checking;		/* calls are made by the alias check */
	bool undo;		/* unwinding; a signal does not stop it */
	uint64_t calls_done;
	uint64_t calls_total;
	uint64_t entries_total;	/* table entries that all mappings need;
				   watch.entries are held now */
};

struct kvp_realization {
	const struct kvp_plan *plan;
	struct kvp_realize_options options;
	struct backend_watch watch;	/* every call goes through it */
	struct stage stage;
	struct undo undo;
	struct rank *ranks;
	uint32_t nranks;
	uint32_t *order;	/* chunks by plane, [nchunks] */
	size_t *plane_first;	/* into order, [nplanes + 1] */
	struct kvp_device_info *devices;	/* [nranks] */
	struct kvp_access_record *records;	/* [nranks * nplanes] */
	/*
	 * Only if other processes hold ranks of the same realization.  Its
	 * parts have the same id; 0: not known yet, or this process is alone.
	 */
	bool shared;
	uint64_t share_id;
	char node[64];		/* that this process runs on */
	struct import *imports;	/* by owner */
	uint32_t nimports;
	struct kvp_access_record *import_records; /* of planes they import */
	size_t nimport_records;
	void (*tick)(void *cookie);	/* may be NULL: after every call */
	void *tick_cookie;
	struct kvp_file_out file;	/* where to publish, if asked */
	bool published;
};

static inline const struct kvp_geometry *
geometry_of(const struct kvp_realization *r)
{
	return &r->plan->geometry;
}

/* The backend, watched. */
static inline struct kvp_backend *backend_of(struct kvp_realization *r)
{
	return &r->watch.base;
}

/* events.c: stop at a signal, report every call. */
extern const struct watch_hooks realization_hooks;
/* KVP_EINTERRUPTED if a signal has come; unwinding is not interrupted. */
int check_interrupt(const struct kvp_realization *r, struct kvp_error *err);
/* Report that a rank has reached a state. */
void report_state(struct kvp_realization *r, uint32_t rank,
		  enum kvp_state state);

/*
 * realization.c: allocate a realization; no backend call is made.  Errors:
 * KVP_EREFUSED for ranks that the plan does not have, KVP_ENOMEM.
 */
int realization_new(struct kvp_realization **out, const struct kvp_plan *plan,
		    struct kvp_backend *backend,
		    const struct kvp_realize_options *options, bool shared,
		    struct kvp_error *err);
void realization_delete(struct kvp_realization *r);

/*
 * realize.c: verify that the plan can be realized, and run all steps for the
 * ranks of this process up to GRANTED and, if asked for, CHECKED.  `shared`:
 * other processes hold other ranks.  Everything is undone on failure.
 */
int realization_begin(struct kvp_realization **out, const struct kvp_plan *plan,
		      const struct kvp_verdict *verdict,
		      struct kvp_backend *backend,
		      const struct kvp_realize_options *options, bool shared,
		      struct kvp_error *err);
/* Read the free memory that is left for allocation caches. */
int realization_read_headroom(struct kvp_realization *r,
			      struct kvp_error *err);
/* All ranks have reached this state. */
void realization_set_state(struct kvp_realization *r, enum kvp_state state);
/*
 * Undo everything.  If that fails, its error is appended to that of `code`,
 * the failure that made unwinding necessary.
 */
int realization_unwind(struct kvp_realization *r, int code,
		       struct kvp_error *err);

/* acquire.c: make room in the undo log, make one backend call, record it. */
int acquire_addresses(struct kvp_realization *r, struct rank *k,
		      uint64_t bytes, uint64_t wanted, uint64_t *address,
		      struct kvp_error *err);
int acquire_memory(struct kvp_realization *r, struct rank *k, uint64_t bytes,
		   struct memory *memory, struct kvp_error *err);
int acquire_import(struct kvp_realization *r, struct rank *k,
		   const struct kvp_shared *shared, struct memory *memory,
		   struct kvp_error *err);
int acquire_mapping(struct kvp_realization *r, struct rank *k,
		    struct mapping *m, uint64_t address, uint64_t bytes,
		    const struct memory *memory, struct kvp_error *err);

/* The access that importers are granted. */
static inline enum kvp_flags importer_flags(const struct kvp_realization *r)
{
	return geometry_of(r)->importer_mode == KVP_IMPORT_READ ?
		KVP_READ : KVP_READWRITE;
}

/*
 * preflight.c.  KVP_EREFUSED unless the verdict is for this plan and
 * realizable.  Before that, nothing in the plan may be relied on.
 */
int check_verdict(const struct kvp_plan *plan,
		  const struct kvp_verdict *verdict, struct kvp_error *err);
/* Report everything that prevents the realization; changes nothing. */
int preflight(struct kvp_realization *r, struct kvp_error *err);

/* requirements.c: what a rank needs when these ranks are realized here. */
uint64_t required_entries(const struct kvp_realization *r);
/* Those of all ranks of the node if other processes hold ranks. */
uint64_t required_node_entries(const struct kvp_realization *r);
uint64_t required_chunk_entries(const struct kvp_realization *r,
				const struct rank *k);
uint64_t required_bytes(const struct kvp_realization *r);
/* What all ranks need of the process, to compare with the system's limits. */
struct kvp_demand required_of_system(const struct kvp_realization *r);
uint64_t required_calls(const struct kvp_realization *r);
uint64_t required_plane_bytes(const struct kvp_realization *r, uint32_t plane);
uint64_t required_static_bytes(const struct kvp_realization *r, size_t item);

/* Do ranks [first, first + count) of another process import planes, or a
   static item, of `owner`? */
bool planes_are_imported(const struct kvp_plan *plan, uint32_t owner,
			 uint32_t first, uint32_t count);
bool static_is_imported(const struct kvp_geometry *g, size_t item,
			uint32_t owner, uint32_t first, uint32_t count);

/* Is `other`, another rank, granted a static item of `owner`? */
bool static_is_importer(const struct kvp_geometry *g, uint32_t owner,
			uint32_t other, enum kvp_static_importers importers);

/* grant.c: grant all mappings of a rank, read the access back, fill the
   records. */
int grant_rank(struct kvp_realization *r, uint32_t index,
	       struct kvp_error *err);

/*
 * Grant one mapping, record the entries it holds in its undo step, and read
 * the access of every device back.
 */
int grant_mapping(struct kvp_realization *r, const struct mapping *m,
		  const struct kvp_grant *grants, size_t count,
		  struct kvp_error *err);

/* Read the free memory of these devices. */
int read_free_memory(struct kvp_realization *r, const uint32_t *devices,
		     size_t count, uint64_t *bytes, struct kvp_error *err);

/*
 * context.c: add to an error the rank, the device and `what` or the chunk in
 * front, and behind it how far the realization got and how much memory is
 * free.  `chunk` is an index into the plan's chunks.  Returns the code; it is
 * KVP_ETABLE instead of KVP_EEXHAUSTED if the driver's table is full.
 */
int add_chunk_context(struct kvp_realization *r, const struct rank *k,
		      size_t chunk, const char *view, int code,
		      struct kvp_error *err);
int add_rank_context(struct kvp_realization *r, const struct rank *k,
		     const char *what, int code, struct kvp_error *err);

/*
 * recorded_addresses.c: KVP_EREFUSED if the recorded addresses do not fit the
 * plan and its ranks.  If they do, the other two return the address that a
 * plane or an arena must have; 0: any.
 */
int recorded_check(const struct kvp_realization *r, struct kvp_error *err);
uint64_t recorded_plane(const struct kvp_realization *r, const struct rank *k,
			size_t plane);
uint64_t recorded_arena(const struct kvp_realization *r, const struct rank *k);

/* publish.c */
int publish(struct kvp_realization *r, struct kvp_error *err);

#endif
