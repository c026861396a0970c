/*
 * Every backend call of a realization goes through here: it counts, tells
 * the caller's event function, and stops at an interrupt.
 */
#ifndef KVPLAN_REALIZE_CALLER_H
#define KVPLAN_REALIZE_CALLER_H

#include <kvplan/realize.h>

struct caller {
	struct kvp_backend *backend;
	kvp_event_fn *event;
	void *cookie;
	const volatile sig_atomic_t *interrupt;
	bool checking;		/* calls are the alias check's */
	bool undo;		/* unwinding: interrupts no longer count */
	const char *last;	/* the verb called last, */
	uint64_t last_bytes;	/* its length, 0 where it has none, */
	uint64_t last_entries;	/* and the table entries it asked for */
	uint32_t rank;		/* worked on */
	enum kvp_state state;	/* worked towards or reached */
	uint64_t calls_done;
	uint64_t calls_total;
	uint64_t entries;	/* table entries held */
	uint64_t entries_total;
};

/* A rank reached a state. */
void call_state(struct caller *c, uint32_t rank, enum kvp_state state);

/* Each is the backend's verb; also KVP_EINTERRUPTED. */
int call_device(struct caller *c, uint32_t device,
		struct kvp_device_info *info, struct kvp_error *err);
int call_peer(struct caller *c, uint32_t device, uint32_t owner, bool *can,
	      struct kvp_error *err);
int call_memory(struct caller *c, uint32_t device, uint64_t *free_bytes,
		struct kvp_error *err);
int call_reserve(struct caller *c, uint64_t bytes, uint64_t wanted,
		 uint64_t *address, struct kvp_error *err);
int call_unreserve(struct caller *c, uint64_t address, uint64_t bytes,
		   struct kvp_error *err);
int call_create(struct caller *c, const struct kvp_create *what,
		kvp_handle *handle, struct kvp_error *err);
int call_release(struct caller *c, kvp_handle handle, struct kvp_error *err);
int call_map(struct caller *c, uint64_t address, uint64_t bytes,
	     kvp_handle handle, struct kvp_error *err);
/* entries is what the mapping holds and gives back. */
int call_unmap(struct caller *c, uint64_t address, uint64_t bytes,
	       uint32_t entries, struct kvp_error *err);
int call_grant(struct caller *c, uint64_t address, uint64_t bytes,
	       const struct kvp_grant *grants, size_t count,
	       struct kvp_error *err);
int call_granted(struct caller *c, uint64_t address, uint32_t device,
		 enum kvp_flags *flags, struct kvp_error *err);
int call_fill(struct caller *c, uint32_t device, uint64_t address,
	      uint64_t bytes, uint32_t pattern, struct kvp_error *err);
int call_match(struct caller *c, uint32_t device, uint64_t address,
	       uint64_t bytes, uint32_t pattern, uint64_t *same_bytes,
	       struct kvp_error *err);
int call_synchronize(struct caller *c, uint32_t device, struct kvp_error *err);

#endif
