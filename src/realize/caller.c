/*
 * Every backend call of a realization: counted, told, stoppable.
 */
#include "realize/caller.h"

#include "base/error.h"

void call_state(struct caller *c, uint32_t rank, enum kvp_state state)
{
	struct kvp_event e = {
		.kind = KVP_EVENT_STATE, .rank = rank, .state = state,
		.undo = c->undo, .calls_done = c->calls_done,
		.calls_total = c->calls_total, .entries = c->entries,
		.entries_total = c->entries_total,
	};

	c->rank = rank;
	c->state = state;
	if (c->event)
		c->event(c->cookie, &e);
}

/* Before a call: has somebody asked to stop? */
static int begin(const struct caller *c, struct kvp_error *err)
{
	if (c->undo || !c->interrupt || !*c->interrupt)
		return KVP_OK;
	return kvp_error_set(err, KVP_EINTERRUPTED,
			     "interrupted by signal %d", (int)*c->interrupt);
}

static void tell(struct caller *c, const char *call, int code,
		 uint64_t address, uint64_t bytes)
{
	struct kvp_event e = {
		.kind = KVP_EVENT_CALL, .rank = c->rank, .state = c->state,
		.call = call, .code = code, .undo = c->undo,
		.address = address, .bytes = bytes,
		.calls_done = c->calls_done, .calls_total = c->calls_total,
		.entries = c->entries, .entries_total = c->entries_total,
	};

	c->event(c->cookie, &e);
}

/* After a call: count it, tell it, hand its code on. */
static int end(struct caller *c, const char *call, int code, uint64_t address,
	       uint64_t bytes)
{
	c->calls_done += !c->undo && !c->checking;
	c->last = call;
	c->last_bytes = bytes;
	if (c->event)
		tell(c, call, code, address, bytes);
	return code;
}

/* One verb: begin, the backend's own, end. */
#define CALL(table, verb, address, bytes, ...)					\
	do {								\
		int code = begin(c, err);				\
									\
		if (code)						\
			return code;					\
		code = c->backend->table.verb(c->backend, __VA_ARGS__,	\
					      err);			\
		return end(c, #verb, code, address, bytes);		\
	} while (0)

int call_device(struct caller *c, uint32_t device,
		struct kvp_device_info *info, struct kvp_error *err)
{
	CALL(device, device, 0, 0, device, info);
}

int call_peer(struct caller *c, uint32_t device, uint32_t owner, bool *can,
	      struct kvp_error *err)
{
	CALL(device, peer, 0, 0, device, owner, can);
}

int call_memory(struct caller *c, uint32_t device, uint64_t *free_bytes,
		struct kvp_error *err)
{
	CALL(device, memory, 0, 0, device, free_bytes);
}

int call_reserve(struct caller *c, uint64_t bytes, uint64_t wanted,
		 uint64_t *address, struct kvp_error *err)
{
	CALL(mapping, reserve, wanted, bytes, bytes, wanted, address);
}

int call_unreserve(struct caller *c, uint64_t address, uint64_t bytes,
		   struct kvp_error *err)
{
	CALL(mapping, unreserve, address, bytes, address, bytes);
}

int call_create(struct caller *c, const struct kvp_create *what,
		kvp_handle *handle, struct kvp_error *err)
{
	CALL(mapping, create, 0, what->bytes, what, handle);
}

int call_release(struct caller *c, kvp_handle handle, struct kvp_error *err)
{
	CALL(mapping, release, 0, 0, handle);
}

int call_map(struct caller *c, uint64_t address, uint64_t bytes,
	     kvp_handle handle, struct kvp_error *err)
{
	CALL(mapping, map, address, bytes, address, bytes, handle);
}

/* Entries change with the call, so that its event tells what is held now. */

int call_unmap(struct caller *c, uint64_t address, uint64_t bytes,
	       uint32_t entries, struct kvp_error *err)
{
	int code = begin(c, err);

	if (code)
		return code;
	code = c->backend->mapping.unmap(c->backend, address, bytes, err);
	c->entries -= code ? 0 : entries;
	return end(c, "unmap", code, address, bytes);
}

int call_grant(struct caller *c, uint64_t address, uint64_t bytes,
	       const struct kvp_grant *grants, size_t count,
	       struct kvp_error *err)
{
	int code = begin(c, err);

	if (code)
		return code;
	code = c->backend->mapping.grant(c->backend, address, bytes, grants,
					 count, err);
	c->last_entries = count;
	c->entries += code ? 0 : count;
	return end(c, "grant", code, address, bytes);
}

int call_granted(struct caller *c, uint64_t address, uint32_t device,
		 enum kvp_flags *flags, struct kvp_error *err)
{
	CALL(mapping, granted, address, 0, address, device, flags);
}

int call_fill(struct caller *c, uint32_t device, uint64_t address,
	      uint64_t bytes, uint32_t pattern, struct kvp_error *err)
{
	CALL(mapping, fill, address, bytes, device, address, bytes, pattern);
}

int call_match(struct caller *c, uint32_t device, uint64_t address,
	       uint64_t bytes, uint32_t pattern, uint64_t *same_bytes,
	       struct kvp_error *err)
{
	CALL(mapping, match, address, bytes, device, address, bytes, pattern,
	     same_bytes);
}

int call_synchronize(struct caller *c, uint32_t device, struct kvp_error *err)
{
	CALL(device, synchronize, 0, 0, device);
}
