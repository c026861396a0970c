/*
 * Realizing: a verified plan becomes mappings on real devices.  One attempt,
 * all or nothing.
 *
 * Every rank goes through
 *
 *   IDLE -> RESERVED -> CREATED -> MAPPED -> GRANTED -> CHECKED -> PUBLISHED
 *
 * all ranks one step together; any failure -> UNWOUND.  Recorded addresses
 * are reserved first, exactly or not at all, then static storage is
 * allocated.  Capacities are published after every rank is granted
 * and, where asked for, checked.  Undoing goes in reverse, never stops at
 * a failed undo and says what is left.
 */
#ifndef KVPLAN_REALIZE_H
#define KVPLAN_REALIZE_H

#include <signal.h>

#include <kvplan/addresses.h>
#include <kvplan/backend.h>
#include <kvplan/headroom.h>
#include <kvplan/limits.h>
#include <kvplan/plan.h>
#include <kvplan/verify.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kvp_state {
	KVP_IDLE, KVP_RESERVED, KVP_CREATED, KVP_MAPPED, KVP_GRANTED,
	KVP_CHECKED, KVP_PUBLISHED, KVP_UNWOUND
};

/* How much of the memory the alias check writes and reads. */
enum kvp_check {
	KVP_CHECK_NONE,
	KVP_CHECK_QUICK,	/* a few words of every granule */
	KVP_CHECK_FULL		/* every byte */
};

/* What happens, one at a time, for progress bars and traces. */
struct kvp_event {
	enum kvp_event_kind { KVP_EVENT_STATE, KVP_EVENT_CALL } kind;
	uint32_t rank;
	enum kvp_state state;	/* the state reached, or the one worked on */
	const char *call;	/* KVP_EVENT_CALL: the verb */
	int code;		/* its outcome */
	bool undo;		/* made while unwinding */
	uint64_t address;	/* 0 where the verb has none */
	uint64_t bytes;
	uint64_t calls_done;	/* of calls_total; those of undoing and of
				   the alias check are not counted */
	uint64_t calls_total;
	uint64_t entries;	/* table entries held now */
	uint64_t entries_total;
};

typedef void kvp_event_fn(void *cookie, const struct kvp_event *event);

struct kvp_realize_options {
	/* The ranks realized here: [first_rank, first_rank + nranks). */
	uint32_t first_rank;
	uint32_t nranks;
	/* Device of each; NULL: device i for the i-th. */
	const uint32_t *devices;
	enum kvp_check check;
	/* Go on although the entries exceed the limit. */
	bool over_limit;
	/* May be NULL: what this node can really do.  Preflight then judges
	   granularity and entries by it, see limits.h. */
	const struct kvp_limits *limits;
	/* The create verb's flags for every chunk. */
	enum kvp_handle_type handle_type;
	bool rdma;
	/* May be NULL: called after every call and state change, until
	   kvp_realization_free() has returned. */
	kvp_event_fn *event;
	void *cookie;
	/* May be NULL: set to a signal's number, unwinds at the next call. */
	const volatile sig_atomic_t *interrupt;
	/* May be NULL: where capacities are published, whole or not at all.
	   It is made sure that the file can be written before anything is
	   allocated.  A signal that ends the process just when the file is
	   put in place may leave ".kvplan-" and 16 digits beside it; one
	   that sets `interrupt` does not. */
	const char *publish;
	/*
	 * May be NULL: where planes and arena have to lie, those of every
	 * rank realized here.  Read by kvp_realize() only.  NULL: the
	 * geometry's own addresses, which are good for one rank; a plane or
	 * arena without one lies anywhere.
	 */
	const struct kvp_addresses *addresses;
	/* In the place of the policy's cap for what is left beside the
	   cache; zeroed: the policy's. */
	struct kvp_cap_override cap;
};

/* Who was granted a rank's plane, and what it cost. */
struct kvp_access_record {
	uint32_t rank;
	uint32_t plane;
	size_t nreaders;	/* those realized here */
	const uint32_t *readers;	/* ranks: the owner, then importers */
	uint64_t entries;
	const uint64_t *free_before;	/* bytes, [nreaders] */
	const uint64_t *free_after;
};

struct kvp_realization;

/*
 * Table entries a realization of these ranks needs: their chunks, aliases
 * and static storage for the readers among them, and static_entries.  0 where
 * the options ask for no rank or for ranks that the plan does not have, or
 * where the plan does not list the access of every rank.
 */
uint64_t kvp_realize_entries(const struct kvp_plan *plan,
			     const struct kvp_realize_options *options);

/*
 * Realize a plan.  `verdict` must be realizable, see
 * kvp_verdict_is_realizable(), and reached for this very plan, unchanged
 * since; anything else is refused before the first call, and before the plan
 * is relied on in any way.  plan and backend must outlive the realization.
 *
 * On success *r holds everything until kvp_realization_free().  On failure
 * *r is NULL and everything is undone:
 *
 *   KVP_EREFUSED     preflight: the verdict, devices, peers, granularity,
 *                    memory, addresses or, on the host, the kernel's limits
 *                    do not suffice, or the addresses are not those of the
 *                    plan; nothing was touched
 *   KVP_EINPUT       options.check or options.handle_type is none of the
 *                    enum's
 *   KVP_EENTRIES     preflight: more table entries than the limit
 *   KVP_EFAILED      the alias check found a wrong byte or flag
 *   KVP_ETABLE       out of memory at a grant, with KVP_DRIVER_BYTES free on
 *                    every reader or a table full by what is counted
 *   KVP_EEXHAUSTED, KVP_EDRIVER, KVP_ENOMEM, KVP_EIO   a call failed
 *   KVP_EINTERRUPTED options.interrupt was set
 *   KVP_ESTUCK       undoing failed as well: the text begins with what went
 *                    wrong first and ends with what is left behind
 *
 * Preflight tells all that stands in the way, each with both numbers and what
 * helps, the one first that changes the others: entries, memory, addresses,
 * peers, granularity, the kernel's limits.  The code is that of the first.
 *
 * The text of a call that failed names rank, device, plane, chunk, row, call
 * and error, how far realizing got, and the free memory of every reader.
 */
int kvp_realize(struct kvp_realization **r, const struct kvp_plan *plan,
		const struct kvp_verdict *verdict, struct kvp_backend *backend,
		const struct kvp_realize_options *options,
		struct kvp_error *err);

/*
 * Give everything back.  KVP_ESTUCK: the text says how many steps could not
 * be undone; the realization is freed all the same.  NULL is fine.
 */
int kvp_realization_free(struct kvp_realization *r, struct kvp_error *err);

/* Address of a plane or of the row arena of a rank realized here; 0 for
   another rank or plane, and where there are no rows. */
uint64_t kvp_realization_plane(const struct kvp_realization *r, uint32_t rank,
			       uint32_t plane);
uint64_t kvp_realization_arena(const struct kvp_realization *r, uint32_t rank);

/* KVP_IDLE for a rank that is not realized here. */
enum kvp_state kvp_realization_state(const struct kvp_realization *r,
				     uint32_t rank);

/* One record per (rank realized here, plane); owned by the realization. */
const struct kvp_access_record *
kvp_realization_access(const struct kvp_realization *r, size_t *count);

/*
 * What is left on a rank's device beside everything realized, read after
 * the last grant and check, and the cap of an allocation cache in it.  Both
 * are 0 for a rank that is not realized here.
 */
struct kvp_cap kvp_realization_cap(const struct kvp_realization *r,
				   uint32_t rank, uint64_t *free_bytes);

/* Table entries held: chunks and aliases, static storage included. */
uint64_t kvp_realization_entries(const struct kvp_realization *r);

/*
 * The capacities as JSON, format "kvplan/capacity/1": what options.publish
 * gets and, with `access`, the access records too.  free() *text.
 * Errors: KVP_ENOMEM.
 */
int kvp_realization_write(const struct kvp_realization *r, bool access,
			  char **text, size_t *len, struct kvp_error *err);

/* "IDLE" ...; "?" for a state that is none. */
const char *kvp_state_name(enum kvp_state state);

#ifdef __cplusplus
}
#endif

#endif
