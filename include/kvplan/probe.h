/*
 * Probing: finding out what the GPUs of this node can really do.
 *
 * Everything is tried on a little memory that is given back, also after a
 * failure: a few allocations of the granularity, at most 512 at a time for
 * the costs.  No kernel runs, so no context is lost.
 *
 * Counting the free table entries maps one allocation over and over until
 * the driver has no more.  From the first refusal until all is given back
 * no process of the node can map memory.
 */
#ifndef KVPLAN_PROBE_H
#define KVPLAN_PROBE_H

#include <signal.h>

#include <kvplan/limits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Entries counted where options.max_entries is 0, and for how long at most
   (giving back comes on top). */
#define KVP_PROBE_ENTRIES UINT64_C(600000)
#define KVP_PROBE_SECONDS 120
/* Largest max_entries. */
#define KVP_PROBE_ENTRIES_MAX UINT64_C(16777216)

struct kvp_probe_options {
	bool entries;		/* count the free table entries */
	uint64_t max_entries;	/* and stop at this many; 0: the default */
	/* May be NULL: called before the first entry is counted, with 0, and
	   every 1,024 entries. */
	void (*counting)(void *cookie, uint64_t entries);
	void *cookie;
	/* May be NULL: set to a signal's number, stops at the next call. */
	const volatile sig_atomic_t *interrupt;
};

/*
 * Probe GPUs through the CUDA driver.  devices[i] is the driver's ordinal
 * of device i; count 0 takes every visible GPU.  `options` may be
 * NULL.  On success release *limits; on failure it is empty and everything
 * is given back.
 *
 * Where two GPUs are peers, what needs a second reader is asked of the first
 * such pair.
 *
 * Errors: KVP_EINPUT for options.max_entries above KVP_PROBE_ENTRIES_MAX;
 * those of kvp_backend_cuda(); KVP_EEXHAUSTED and KVP_EDRIVER for a
 * call that has to work; KVP_EINTERRUPTED; KVP_ESTUCK where something could
 * not be given back.
 */
int kvp_probe_run(struct kvp_limits *limits, const uint32_t *devices,
		  size_t count, const struct kvp_probe_options *options,
		  struct kvp_error *err);

#ifdef __cplusplus
}
#endif

#endif
