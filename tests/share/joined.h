/*
 * What the parts of a job join to.
 */
#ifndef TESTS_SHARE_JOINED_H
#define TESTS_SHARE_JOINED_H

#include "share/launch.h"

struct joined {
	uint64_t entries;	/* table entries of the node */
	uint32_t records;	/* of access */
	uint32_t least, most;	/* readers of a record */
};

/* Join all parts and read what they joined to. */
int join_parts(const struct job *j, struct joined *out, struct kvp_error *err);

#endif
