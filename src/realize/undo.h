/*
 * The undo log: what was acquired, in order.  Room is made before an
 * acquisition and the step is recorded right after it succeeded, so nothing
 * acquired is ever forgotten.  Rollback and giving back are the same reverse
 * walk; it goes on past a failed step and counts what is stuck.
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
	bool kept;		/* an allocation that a stuck mapping keeps */
	size_t create;		/* the step that created what is mapped */
};

struct undo {
	struct undo_step *steps;
	size_t count;
	size_t room;
	size_t stuck[3];	/* what could not be undone, by kind */
};

/* Make room for one step more.  Errors: KVP_ENOMEM. */
int undo_room(struct undo *u, struct kvp_error *err);

/*
 * Record a step and answer its number; cannot fail after undo_room().
 * `create` is the number of the step that created what is mapped.
 */
size_t undo_record(struct undo *u, enum undo_kind kind, uint32_t rank,
		   uint64_t address, uint64_t bytes, size_t create);

/* The mapping recorded as this step now holds entries. */
void undo_add_entries(struct undo *u, size_t step, uint32_t entries);

/*
 * Undo everything, last first; *rank is the one that a call is made for.
 * KVP_OK, or KVP_ESTUCK with a text that counts what is left behind.
 */
int undo_all(struct undo *u, struct backend_watch *w, uint32_t *rank,
	     struct kvp_error *err);

void undo_release(struct undo *u);

#endif
