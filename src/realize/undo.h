/*
 * The undo log: what was acquired, in order.  Room is made before an
 * acquisition and the step is recorded right after it, so everything acquired
 * is in the log.  undo_all() undoes the steps in reverse order, after a
 * failure as well as when a realization is freed; it continues after a step
 * that fails and counts what is stuck.
 */
#ifndef KVPLAN_REALIZE_UNDO_H
#define KVPLAN_REALIZE_UNDO_H

#include "backend/backend_watch.h"

enum undo_kind { UNDO_RESERVE, UNDO_CREATE, UNDO_MAP };

struct undo_step {
	uint64_t address;	/* or the handle */
	uint64_t bytes;
	uint32_t rank;
	uint32_t entries;	/* table entries an unmap gives back */
	enum undo_kind kind;
	bool kept;		/* an allocation that a stuck mapping uses */
	size_t create;		/* the step that created what is mapped */
};

struct undo {
	struct undo_step *steps;
	size_t count;
	size_t room;
	size_t stuck[3];	/* what could not be undone, by kind */
};

/* Make room for one more step.  Errors: KVP_ENOMEM. */
int undo_room(struct undo *u, struct kvp_error *err);

/*
 * Record a step and return its number; cannot fail after undo_room().
 * `create` is the number of the step that created what is mapped.
 */
size_t undo_record(struct undo *u, enum undo_kind kind, uint32_t rank,
		   uint64_t address, uint64_t bytes, size_t create);

/* Record that the mapping of this step now holds table entries. */
void undo_add_entries(struct undo *u, size_t step, uint32_t entries);

/*
 * Undo everything, last first; during a call *rank is the rank it is made
 * for.  KVP_OK, or KVP_ESTUCK with a text that counts what is left behind.
 */
int undo_all(struct undo *u, struct backend_watch *w, uint32_t *rank,
	     struct kvp_error *err);

void undo_release(struct undo *u);

#endif
