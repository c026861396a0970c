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

/* Physical memory, and the undo step that created it. */
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
	struct memory *memory;	/* [nchunks], then dedicated backing */
	/* By plane and place, then aliases, then dedicated backing. */
	struct mapping *mappings;
	size_t nmappings;
	/* Who reads its planes, of the ranks realized here: the owner first,
	   then its importers. */
	uint32_t *readers;	/* ranks */
	uint32_t *devices;	/* their devices */
	struct kvp_grant *grants;
	size_t nreaders;
	uint64_t *free;		/* free memory of the readers, before the
				   first plane and after each */
	uint64_t left;		/* free memory of the device at the end */
};

/* How far it is, as its events tell. */
struct stage {
	uint32_t rank;		/* worked on */
	enum kvp_state state;	/* worked towards or reached */
	bool checking;		/* calls are the alias check's */
	bool undo;		/* unwinding: interrupts no longer count */
	uint64_t calls_done;
	uint64_t calls_total;
	uint64_t entries_total;	/* of the table; held: watch.entries */
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

/* events.c: tell what happens, and stop at an interrupt. */
extern const struct watch_hooks realization_hooks;
/* A rank reached a state. */
void event_state(struct kvp_realization *r, uint32_t rank,
		 enum kvp_state state);

/*
 * realization.c: everything but the backend's part.  Errors: KVP_EREFUSED
 * for ranks the plan does not have, KVP_ENOMEM.
 */
int realization_new(struct kvp_realization **out, const struct kvp_plan *plan,
		    struct kvp_backend *backend,
		    const struct kvp_realize_options *options,
		    struct kvp_error *err);
void realization_delete(struct kvp_realization *r);

/* What importers may do. */
static inline enum kvp_flags importer_flags(const struct kvp_realization *r)
{
	return geometry_of(r)->importer_mode == KVP_IMPORT_READ ?
		KVP_READ : KVP_READWRITE;
}

/*
 * preflight.c.  KVP_EREFUSED unless the verdict is for this plan and
 * realizable.  Nothing of the plan may be relied on before.
 */
int check_verdict(const struct kvp_plan *plan,
		  const struct kvp_verdict *verdict, struct kvp_error *err);
/* May it begin?  Reads, touches nothing. */
int preflight(struct kvp_realization *r, struct kvp_error *err);

/* requirements.c: what a rank needs, counted for the ranks realized here. */
uint64_t demand_chunk_entries(const struct kvp_realization *r,
			      const struct rank *k);
uint64_t demand_bytes(const struct kvp_realization *r);
/* Of all ranks, for the system's limits. */
struct kvp_demand demand_system(const struct kvp_realization *r);
uint64_t demand_calls(const struct kvp_realization *r);
uint64_t demand_plane_bytes(const struct kvp_realization *r, uint32_t plane);
uint64_t demand_static_bytes(const struct kvp_realization *r, size_t item);

/* Is `other`, another rank, granted a static item of `owner`? */
bool static_is_importer(const struct kvp_geometry *g, uint32_t owner,
			uint32_t other, enum kvp_static_importers importers);

/* grant.c: grants of all mappings of a rank, read back, with records. */
int grant_rank(struct kvp_realization *r, uint32_t index,
	       struct kvp_error *err);

/*
 * One mapping: grant, tell the undo step how many entries it holds, read
 * every device's flags back.
 */
int grant_mapping(struct kvp_realization *r, const struct mapping *m,
		  const struct kvp_grant *grants, size_t count,
		  struct kvp_error *err);

/*
 * context.c: put in front of an error where it was, and behind it how far
 * realizing got and what is free.  `chunk` is an index into the plan's
 * chunks.  Answers the code, which is KVP_ETABLE in the place of
 * KVP_EEXHAUSTED where the driver's table is full.
 */
int context_chunk(struct kvp_realization *r, const struct rank *k,
		  size_t chunk, const char *view, int code,
		  struct kvp_error *err);
int context_other(struct kvp_realization *r, const struct rank *k,
		  const char *what, int code, struct kvp_error *err);

/*
 * recorded_addresses.c: KVP_EREFUSED where the recorded addresses are not
 * those of the plan's ranks; after that the address a plane or an arena has
 * to have, 0 for any.
 */
int recorded_check(const struct kvp_realization *r, struct kvp_error *err);
uint64_t recorded_plane(const struct kvp_realization *r, const struct rank *k,
			size_t plane);
uint64_t recorded_arena(const struct kvp_realization *r, const struct rank *k);

/* publish.c */
int publish(struct kvp_realization *r, struct kvp_error *err);

#endif
