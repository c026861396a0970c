/*
 * Realizing: making the mappings of a verified plan on a backend's devices.
 * Either all of it succeeds, or everything is undone.
 *
 * Every rank goes through these states, all ranks one step at a time:
 *
 *   IDLE -> RESERVED -> CREATED -> MAPPED -> GRANTED -> CHECKED -> PUBLISHED
 *
 * After a failure every rank becomes UNWOUND.  Recorded addresses are
 * reserved first, then static storage is allocated, then all other address
 * ranges are reserved.  Capacities are published after every rank has access
 * and, if requested, was checked.  Undoing goes in reverse order, continues
 * after a step that cannot be undone, and reports what is left.
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
	KVP_CHECKED, KVP_PUBLISHED, KVP_UNWOUND,
	KVP_IN_DOUBT		/* of share.h alone */
};

/* How much of the memory the alias check writes and reads. */
enum kvp_check {
	KVP_CHECK_NONE,
	KVP_CHECK_QUICK,	/* a few words of every granule */
	KVP_CHECK_FULL		/* every byte */
};

/* One state change or one call of the backend, for progress bars and
   traces. */
struct kvp_event {
	enum kvp_event_kind { KVP_EVENT_STATE, KVP_EVENT_CALL } kind;
	uint32_t rank;
	enum kvp_state state;	/* KVP_EVENT_STATE: the state reached;
				   KVP_EVENT_CALL: the state that the call
				   leads to */
	const char *call;	/* KVP_EVENT_CALL: the verb */
	int code;		/* KVP_EVENT_CALL: what the verb returned */
	bool undo;		/* made while undoing */
	uint64_t address;	/* 0 if the verb has none */
	uint64_t bytes;		/* 0 if the verb has none */
	uint64_t calls_done;	/* of calls_total; without those of undoing
				   and of the alias check */
	uint64_t calls_total;
	uint64_t entries;	/* table entries held now */
	uint64_t entries_total;	/* held when all is granted */
};

typedef void kvp_event_fn(void *cookie, const struct kvp_event *event);

struct kvp_realize_options {
	/* The ranks to realize in this process: `nranks` ranks from
	   first_rank on, all of one node. */
	uint32_t first_rank;
	uint32_t nranks;
	/* [nranks]: the device of each rank; NULL: devices 0, 1, ... */
	const uint32_t *devices;
	enum kvp_check check;
	/* Continue if more table entries are needed than the limit. */
	bool over_limit;
	/* May be NULL.  Preflight then checks granularity and table entries
	   against these, see limits.h. */
	const struct kvp_limits *limits;
	/* How every chunk's physical allocation is created. */
	enum kvp_handle_type handle_type;
	bool rdma;
	/* May be NULL.  Called after every backend call and state change, in
	   the calling thread, until kvp_realization_free() has returned. */
	kvp_event_fn *event;
	void *cookie;
	/* May be NULL.  Once it holds a signal's number, realizing stops
	   before the next backend call and undoes everything. */
	const volatile sig_atomic_t *interrupt;
	/*
	 * May be NULL.  The file that the capacities are written to, either
	 * completely or not at all.  kvp_realize() checks that it can be
	 * written before it allocates anything.  A signal that ends the
	 * process while the file is replaced may leave a file ".kvplan-" and
	 * 16 digits beside it; a signal that sets `interrupt` does not.
	 */
	const char *publish;
	/*
	 * May be NULL.  The addresses that planes and arena of every rank
	 * realized here must get; needed until kvp_realize() returns.  NULL:
	 * those that the geometry records, which only one rank can have; a
	 * plane or arena without a recorded address gets any.
	 */
	const struct kvp_addresses *addresses;
	/* The cap of an allocation cache; zeroed: as headroom.h computes. */
	struct kvp_cap_override cap;
};

/* The readers of one rank's plane, and what granting them access took. */
struct kvp_access_record {
	uint32_t rank;
	uint32_t plane;
	size_t nreaders;	/* those that are realized here */
	const uint32_t *readers;	/* ranks: the owner, then importers */
	uint64_t entries;	/* table entries */
	/* [nreaders]: free bytes of each reader's device, before and after
	   access was granted. */
	const uint64_t *free_before;
	const uint64_t *free_after;
};

struct kvp_realization;

/*
 * The table entries that realizing these ranks takes: their chunks, aliases
 * and static storage, for the readers among these ranks, and the geometry's
 * static_entries.  0 if nranks is 0, if the plan does not have these ranks,
 * or if it does not list the readers of every rank.
 */
uint64_t kvp_realize_entries(const struct kvp_plan *plan,
			     const struct kvp_realize_options *options);

/*
 * Realize a plan.  `verdict` must be realizable, see
 * kvp_verdict_is_realizable(), and must be the verdict on this plan, which
 * has not changed since.  Otherwise the result is KVP_EREFUSED, before any
 * other field of the plan is used.  The plan must stay unchanged, and the
 * backend open, until kvp_realization_free().
 *
 * On success *r holds everything until kvp_realization_free().  On failure
 * *r is NULL and everything is undone, except with KVP_ESTUCK.  Errors:
 *
 *   KVP_EREFUSED     the verdict is not suitable, the plan does not have
 *                    these ranks, or preflight found that devices, peers,
 *                    granularity, memory, addresses or the kernel's limits
 *                    do not suffice; nothing was allocated
 *   KVP_EENTRIES     preflight: more table entries than the limit; nothing
 *                    was allocated
 *   KVP_EINPUT       options->check or options->handle_type is not a
 *                    declared enum value
 *   KVP_EFAILED      the alias check found a wrong byte or wrong access
 *   KVP_ETABLE       granting access failed with out of memory, although
 *                    KVP_DRIVER_BYTES are free on every reader's device, or
 *                    when the entries counted have reached the limit
 *   KVP_EEXHAUSTED, KVP_EDRIVER, KVP_ENOMEM   a call failed
 *   KVP_EIO          options->publish cannot be written
 *   KVP_EINTERRUPTED *options->interrupt was set
 *   KVP_ESTUCK       a step could not be undone: the text begins with the
 *                    failure that made undoing necessary and ends with what
 *                    is left behind
 *
 * Preflight reports every obstacle, each with the number needed, the number
 * there is and what helps, in this order: table entries, memory, addresses,
 * peers, granularity, the kernel's limits.  The code is that of the first.
 *
 * After a failed call the text names rank, device, plane, chunk, row, call
 * and system error, how far realizing had got, and the free memory of every
 * reader's device.
 */
int kvp_realize(struct kvp_realization **r, const struct kvp_plan *plan,
		const struct kvp_verdict *verdict, struct kvp_backend *backend,
		const struct kvp_realize_options *options,
		struct kvp_error *err);

/*
 * Undo and free a realization.  All work on its memory must have completed.
 * NULL is allowed.  Errors: KVP_ESTUCK if steps could not be undone; the text
 * says how many, and the realization is freed.
 */
int kvp_realization_free(struct kvp_realization *r, struct kvp_error *err);

/* The address of a rank's plane or row arena.  0 if the rank is not realized
   here, if there is no such plane, or if there are no rows. */
uint64_t kvp_realization_plane(const struct kvp_realization *r, uint32_t rank,
			       uint32_t plane);
uint64_t kvp_realization_arena(const struct kvp_realization *r, uint32_t rank);

/* The state of a rank; KVP_IDLE if it is not realized here. */
enum kvp_state kvp_realization_state(const struct kvp_realization *r,
				     uint32_t rank);

/* The access records, one for each plane of each rank realized here; *count
   is their number.  The realization owns them. */
const struct kvp_access_record *
kvp_realization_access(const struct kvp_realization *r, size_t *count);

/*
 * The cap of an allocation cache on a rank's device.  *free_bytes becomes
 * the free memory of that device, read after the last grant and check.  Both
 * are 0 if the rank is not realized here.
 */
struct kvp_cap kvp_realization_cap(const struct kvp_realization *r,
				   uint32_t rank, uint64_t *free_bytes);

/* The table entries held: of chunks, aliases and static storage, and the
   geometry's static_entries. */
uint64_t kvp_realization_entries(const struct kvp_realization *r);

/*
 * Write the capacities as JSON, format "kvplan/capacity/1": what
 * options.publish gets and, if `access` is true, the access records.  *text
 * ends in a zero that *len does not count; free it with free().  On failure
 * *text is NULL.  Errors: KVP_ENOMEM.
 */
int kvp_realization_write(const struct kvp_realization *r, bool access,
			  char **text, size_t *len, struct kvp_error *err);

/* The name of a state, such as "GRANTED"; "?" for any other value.  The text
   is static. */
const char *kvp_state_name(enum kvp_state state);

#ifdef __cplusplus
}
#endif

#endif
