/*
 * Parts of a joint realization without its processes.
 */
#ifndef KVPLAN_TESTS_UNIT_PART_H
#define KVPLAN_TESTS_UNIT_PART_H

#include <kvplan/realize.h>

/* The free memory that a rank's device is said to have. */
typedef uint64_t part_free(uint32_t rank);

/*
 * The text, with access records, of a realization that also imports what its
 * ranks read of all others.  free() it.  The realization is left as it was.
 */
char *part_text(struct kvp_realization *r, const char *node,
		part_free *free_of);

#endif
