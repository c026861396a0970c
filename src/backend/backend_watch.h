/*
 * The watching backend: passes every call on to the backend it wraps, asks
 * its owner before and tells it after, and counts the entries of the driver's
 * table that grants take and unmaps give back.  It knows no reason for a
 * call.
 */
#ifndef KVPLAN_BACKEND_BACKEND_WATCH_H
#define KVPLAN_BACKEND_BACKEND_WATCH_H

#include <kvplan/backend.h>

/* A call that was made. */
struct watch_call {
	enum kvp_op op;
	const char *name;	/* the verb */
	int code;		/* its outcome */
	uint64_t address;	/* 0 where it has none */
	uint64_t bytes;
	uint64_t entries;	/* that it asked for or was to give back */
};

struct watch_hooks {
	/* KVP_OK lets the call be made; anything else is its outcome, and
	   neither the backend nor `after` sees the call. */
	int (*before)(void *cookie, struct kvp_error *err);
	/* The entries held have changed by then. */
	void (*after)(void *cookie, const struct watch_call *call);
};

struct backend_watch {
	struct kvp_backend base;
	struct kvp_backend *inner;
	const struct watch_hooks *hooks;
	void *cookie;
	uint64_t entries;	/* held */
	uint64_t unmap_entries;	/* what the next unmap gives back; set it
				   before each */
	struct watch_call last;	/* op 0: none yet */
};

/*
 * Wrap a backend, under its name.  The hooks and what cookie points to must
 * outlive the wrapper, which has nothing to be closed.
 */
void backend_watch_init(struct backend_watch *w, struct kvp_backend *inner,
			const struct watch_hooks *hooks, void *cookie);

#endif
