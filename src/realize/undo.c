/*
 * The undo log.
 */
#include "realize/undo.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"

int undo_room(struct undo *u, struct kvp_error *err)
{
	struct undo_step *steps;
	size_t room;

	if (u->count < u->room)
		return KVP_OK;
	room = u->room ? u->room * 2 : 256;
	steps = realloc(u->steps, room * sizeof(*steps));
	if (!steps)
		return kvp_error_nomem(err);
	u->steps = steps;
	u->room = room;
	assert(u->count < u->room);
	return KVP_OK;
}

size_t undo_record(struct undo *u, enum undo_kind kind, uint32_t rank,
		   uint64_t address, uint64_t bytes, size_t create)
{
	assert(u->count < u->room && (kind == UNDO_CREATE || bytes));
	assert(kind != UNDO_MAP || (create < u->count &&
	       u->steps[create].kind == UNDO_CREATE));
	u->steps[u->count] = (struct undo_step){
		.kind = kind, .rank = rank, .address = address, .bytes = bytes,
		.create = create,
	};
	return u->count++;
}

void undo_add_entries(struct undo *u, size_t step, uint32_t entries)
{
	assert(step < u->count && u->steps[step].kind == UNDO_MAP);
	assert(!u->steps[step].entries);
	u->steps[step].entries = entries;
}

static int undo_step(const struct undo_step *s, struct backend_watch *w,
		     struct kvp_error *err)
{
	struct kvp_backend *b = &w->base;
	int code = KVP_EBUG;

	switch (s->kind) {
	case UNDO_RESERVE:
		code = b->mapping.unreserve(b, s->address, s->bytes, err);
		break;
	case UNDO_CREATE:
		code = b->mapping.release(b, s->address, err);
		break;
	case UNDO_MAP:
		w->unmap_entries = s->entries;
		code = b->mapping.unmap(b, s->address, s->bytes, err);
		break;
	}
	return code;
}

/* Count a step that leaves something behind: its undoing failed, or a mapping
   that is stuck uses its allocation. */
static void count_stuck(struct undo *u, struct undo_step *s, bool failed)
{
	assert(s->kind != UNDO_MAP || u->steps + s->create < s);
	if (failed && s->kind == UNDO_MAP)
		u->steps[s->create].kept = true;
	u->stuck[s->kind] += failed || s->kept;
}

int undo_all(struct undo *u, struct backend_watch *w, uint32_t *rank,
	     struct kvp_error *err)
{
	struct kvp_error first = { 0 }, one = { 0 };
	size_t failed = 0;
	int code;

	while (u->count) {
		struct undo_step *s = &u->steps[--u->count];

		*rank = s->rank;
		code = undo_step(s, w, &one);
		count_stuck(u, s, code);
		if (code && !failed++)
			first = one;
	}
	if (!failed)
		return KVP_OK;
	return kvp_error_set(err, KVP_ESTUCK,
		"steps that could not be undone: %zu; left behind are "
		"mappings: %zu, allocations: %zu, reservations: %zu, given "
		"back when the process ends; the first was %.200s", failed,
		u->stuck[UNDO_MAP], u->stuck[UNDO_CREATE],
		u->stuck[UNDO_RESERVE], first.text);
}

void undo_release(struct undo *u)
{
	assert(u->count <= u->room);
	free(u->steps);
	*u = (struct undo){ 0 };
}
