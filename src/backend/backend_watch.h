/*
 * The watching backend: passes every call on to the backend it wraps, calls
 * one hook before and one after it, and counts the entries of the driver's
 * table that grants take and unmaps give back.  It does not know what a call
 * is made for.
 */
#ifndef KVPLAN_BACKEND_BACKEND_WATCH_H
#define KVPLAN_BACKEND_BACKEND_WATCH_H

#include <kvplan/backend.h>

/* A call that was made. */
struct watch_call {
	enum kvp_op op;
	const char *name;	/* of the verb */
	int code;		/* that it returned */
	uint64_t address;	/* 0: the verb has no address */
	uint64_t bytes;
	uint64_t entries;	/* table entries: of a grant those asked for,
				   of an unmap those it gives back */
};

struct watch_hooks {
	/* KVP_OK: make the call.  Any other code is returned from the verb;
	   then the call is not made and `after` is not called. */
	int (*before)(void *cookie, struct kvp_error *err);
	/* Called when `entries` of the wrapper counts the call already. */
	void (*after)(void *cookie, const struct watch_call *call);
};

struct backend_watch {
	struct kvp_backend base;
	struct kvp_backend *inner;
	const struct watch_hooks *hooks;
	void *cookie;
	uint64_t entries;	/* held */
	uint64_t unmap_entries;	/* that the next unmap gives back; the owner
				   sets it before each unmap */
	struct watch_call last;	/* the last one; op 0: no call yet */
};

/*
 * Wrap a backend; the wrapper has the backend's name.  The hooks and what
 * cookie points to must outlive the wrapper.  It need not be closed.
 */
void backend_watch_init(struct backend_watch *w, struct kvp_backend *inner,
			const struct watch_hooks *hooks, void *cookie);

#endif
