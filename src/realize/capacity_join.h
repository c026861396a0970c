/*
 * The parts of a joint realization while they are joined.
 */
#ifndef KVPLAN_REALIZE_CAPACITY_JOIN_H
#define KVPLAN_REALIZE_CAPACITY_JOIN_H

#include <kvplan/capacity.h>

#include "base/json.h"
#include "realize/capacity.h"

/* No part has this rank yet. */
#define NO_PART UINT32_MAX

/* One reader of one plane. */
struct join_reader {
	uint32_t rank;		/* the owner */
	uint32_t plane;
	uint32_t reader;
	uint64_t entries;	/* of all readers in its record, if it is the
				   first one there; else 0 */
	uint64_t free_before;
	uint64_t free_after;
};

/* What a part says of its process. */
struct join_process {
	const char *node;
	uint64_t entries;	/* it must be the sum of the other three */
	uint64_t ranks;		/* entries of its ranks */
	uint64_t imports;	/* of planes of other processes */
	uint64_t statics;	/* of static storage */
};

struct kept;

/* Zeroed, with the parts set: nothing has been read. */
struct join {
	const struct kvp_capacity_part *parts;
	size_t count;
	uint32_t part;		/* that is being read */
	uint32_t ranks_read;
	/* The joined document.  ranks is [ranks_total], by rank. */
	struct capacity c;
	uint32_t *part_of;	/* [ranks_total], or NO_PART */
	struct join_process *processes;	/* [count], of each part */
	struct join_reader *readers;
	size_t nreaders;
	size_t room;
	struct kept *kept;	/* texts and lists, until join_release() */
};

/* Allocate zeroed memory that join_release() frees; NULL if there is none. */
void *join_keep(struct join *j, size_t count, size_t size);
void join_release(struct join *j);

/*
 * capacity_part.c: read a part and add it.  All values that parts and ranks
 * must have in common are compared with those of the first one.  Errors, also
 * of the functions below: KVP_ESYNTAX, KVP_EINPUT, KVP_ELIMIT, KVP_ENOMEM.
 */
int join_read_part(struct join *j, uint32_t part, struct kvp_error *err);

/* Keep a text until join_release(), and free the one given. */
int join_keep_text(struct join *j, char *text, const char **kept,
		   struct kvp_error *err);
/* Read a text of 1 to KVP_NAME_MAX printable characters. */
int join_text(struct join *j, const struct json_at *at, const char **kept,
	      struct kvp_error *err);
/* Read a value into *kept; if it is known, both must be the same. */
int join_same_text(struct join *j, const struct json_at *at, bool known,
		   const char **kept, struct kvp_error *err);
int join_same_u64(struct join *j, const struct json_at *at, bool known,
		  uint64_t low, uint64_t *kept, struct kvp_error *err);

/* capacity_ranks.c, capacity_access.c: read the lists of a part. */
int join_read_ranks(struct join *j, const struct json_at *at,
		    struct kvp_error *err);
int join_read_access(struct join *j, const struct json_at *at,
		     struct kvp_error *err);

#endif
