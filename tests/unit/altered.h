/*
 * A backend of a test's own over another one: every call is handed on, until
 * the test puts verbs of its own into the slots, or says other things of the
 * backend.  The other one is left as it is.
 */
#ifndef KVPLAN_TESTS_UNIT_ALTERED_H
#define KVPLAN_TESTS_UNIT_ALTERED_H

#include <kvplan/backend.h>

struct altered {
	struct kvp_backend base;
	struct kvp_backend *inner;
};

/* Also again, to hand everything on as before.  Closing it closes `inner`. */
void alter_backend(struct altered *a, struct kvp_backend *inner);

/* The other one, for verbs that change only what it answers. */
struct kvp_backend *unaltered(struct kvp_backend *b);

#endif
