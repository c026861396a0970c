/*
 * What the files of a realization share.
 */
#ifndef KVPLAN_REALIZE_REALIZATION_H
#define KVPLAN_REALIZE_REALIZATION_H

#include "base/file.h"
#include "realize/caller.h"
#include "realize/undo.h"

/* One mapping of a rank; its grants follow from what it is. */
struct mapping {
	uint64_t address;
	uint64_t bytes;
	size_t step;		/* in the undo log */
	bool shared;		/* importers are granted, not just the owner */
};

struct rank {
	uint32_t rank;
	uint32_t device;
	enum kvp_state state;
	uint64_t *planes;	/* addresses, [nplanes] */
	uint64_t arena;
	uint64_t arena_bytes;	/* 0: no rows */
	kvp_handle *handles;	/* [nchunks], then dedicated backing */
	/* By plane and place, then aliases, then dedicated backing. */
	struct mapping *mappings;
	size_t nmappings;
	/* Importers of its planes realized here, without the owner. */
	uint32_t *readers;	/* ranks */
	uint32_t *devices;	/* their devices */
	size_t nreaders;
	struct kvp_grant *grants;	/* owner first, then importers */
};

struct kvp_realization {
	const struct kvp_plan *plan;
	struct kvp_realize_options options;
	struct caller caller;
	struct undo undo;
	struct rank *ranks;
	uint32_t nranks;
	uint32_t *order;	/* chunks by plane, [nchunks] */
	size_t *plane_first;	/* into order, [nplanes + 1] */
	struct kvp_device_info *devices;	/* [nranks] */
	struct kvp_access_record *records;	/* [nranks * nplanes] */
	size_t nrecords;
	uint32_t *record_ranks;	/* pools the records point into */
	uint64_t *record_free;
	struct kvp_file_out *file;	/* where to publish, or NULL */
	bool published;
};

static inline const struct kvp_geometry *
geometry_of(const struct kvp_realization *r)
{
	return &r->plan->geometry;
}

/* preflight.c: may it begin?  Reads, touches nothing. */
int preflight(struct kvp_realization *r, const struct kvp_verdict *verdict,
	      struct kvp_error *err);
/* Entries and bytes one rank needs, static storage included. */
uint64_t rank_entries(const struct kvp_realization *r, const struct rank *k);
uint64_t rank_bytes(const struct kvp_realization *r);
/* GPUs a static item of a rank is granted to, those realized here. */
uint32_t static_grants(const struct kvp_realization *r, const struct rank *k,
		       enum kvp_static_importers importers,
		       struct kvp_grant *grants);

/* grant.c: grants of all mappings of a rank, read back, with records. */
int grant_rank(struct kvp_realization *r, uint32_t index,
	       struct kvp_error *err);
/* One mapping; the undo step learns how many entries it holds. */
int grant_mapping(struct kvp_realization *r, const struct rank *k,
		  const struct mapping *m, const struct kvp_grant *grants,
		  size_t count, struct kvp_error *err);

/* context.c: say where a failure was, how far it got, what is free. */
int context_wrap(struct kvp_realization *r, struct kvp_error *err, int code,
		 const struct rank *k, const char *format, ...);
int context_chunk(struct kvp_realization *r, struct kvp_error *err, int code,
		  const struct rank *k, size_t chunk);

#endif
