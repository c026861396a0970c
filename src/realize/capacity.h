/*
 * A capacity document as data: publish.c fills it from a realization, and
 * capacity_join.c from the parts of one.  It borrows texts and lists.
 */
#ifndef KVPLAN_REALIZE_CAPACITY_H
#define KVPLAN_REALIZE_CAPACITY_H

#include <kvplan/realize.h>

struct capacity_plane {
	const char *name;
	uint64_t stride;
};

struct capacity_rank {
	uint32_t rank;
	uint64_t device;
	uint64_t entries;
	uint64_t readers;	/* in the plan, with itself; in a part */
	const char *uuid;
	const char *device_name;
	uint64_t free_bytes;	/* of its device, and the cap in them */
	bool bounded;		/* false: there is no cap */
	uint64_t cap_bytes;
	const char *cap_term;
	const uint64_t *planes;	/* addresses, [nplanes] */
	uint64_t arena;
};

struct capacity {
	const char *name;
	const char *merge;
	const char *backend;
	const char *driver;
	const char *version;
	const char *checked;
	uint64_t ranks_total;

	/* The process is one of a joint realization, see realization.h: the
	   document is a part and never complete.  NULL: it is alone. */
	const char *plan;	/* fingerprint */
	const char *share;
	const char *node;

	/* The same for every rank. */
	uint64_t pages;
	uint64_t snapshot_rows;
	uint64_t execution_rows;
	uint64_t bytes;
	uint64_t chunks;
	struct capacity_plane *planes;
	size_t nplanes;
	uint64_t arena_stride;	/* 0: there are no rows */

	uint64_t kv_tokens;	/* of all ranks of the plan */
	uint64_t entries;	/* held, without those of others */
	uint64_t static_entries;	/* of others, on all nodes */
	uint64_t static_storage_entries;	/* among entries; in a part */
	struct capacity_rank *ranks;
	size_t nranks;

	const struct kvp_access_record *records;
	size_t nrecords;
	const struct kvp_access_record *imports;	/* follow the records */
	size_t nimports;
};

/* Write it as JSON.  On failure *text is NULL.  Errors: KVP_ENOMEM. */
int capacity_write(const struct capacity *c, bool access, char **text,
		   size_t *len, struct kvp_error *err);

#endif
