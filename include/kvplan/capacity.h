/*
 * Joining the capacities of processes that realized a plan together, see
 * share.h.
 *
 * After the commit each process writes a part with kvp_realization_write(),
 * access records included.  A part is a capacity document, see addresses.h,
 * that has the ranks of one process and says of which joint realization it is.
 * All parts together make the document that one process with all ranks would
 * have written.
 */
#ifndef KVPLAN_CAPACITY_H
#define KVPLAN_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>

#include <kvplan/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A part: `text` has `len` bytes and needs no zero at its end. */
struct kvp_capacity_part {
	const char *name;	/* for error texts, usually that of a file */
	const char *text;
	size_t len;
};

/*
 * Join the parts of one joint realization, in any order.  If `access` is
 * true, the result has access records.  It does not say that the processes
 * still live.
 *
 * Every rank of the plan must be in exactly one part, and all parts must be
 * of the same plan and joint realization and agree in what all ranks share.
 * The owner and every importer of a rank must be readers of each of its
 * planes, no more than once, with as many table entries each, and run on its
 * node; they must be as many as the part says that the plan has.  What a part
 * holds must be the sum of its ranks, imports and static storage.  What only
 * one process knows is believed: addresses, devices, free memory, and the
 * entries of its static storage.  An error names the part, the key, and where
 * parts differ both values and both parts.
 *
 * *text ends in a zero that *len does not count; free it with free().  On
 * failure *text is NULL and *len 0.
 *
 * Errors: KVP_ESYNTAX; KVP_EINPUT, also if there is no part; KVP_ELIMIT for
 * more than KVP_RANKS_MAX parts or a larger number than KVP_NUMBER_MAX, see
 * geometry.h; KVP_ENOMEM.
 */
int kvp_capacity_join(const struct kvp_capacity_part *parts, size_t count,
		      bool access, char **text, size_t *len,
		      struct kvp_error *err);

#ifdef __cplusplus
}
#endif

#endif
