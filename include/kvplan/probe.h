/*
 * Probing: finding out what the GPUs of this node can do.
 *
 * The probe makes a few allocations as large as the granularity, at most 512
 * at a time to time the calls, and releases them, also after a failure.  It
 * runs no GPU kernel, so no context is lost.
 *
 * To count the free table entries, the probe maps one allocation again and
 * again until the driver refuses.  From then until everything is unmapped,
 * no process on the node can map memory.
 */
#ifndef KVPLAN_PROBE_H
#define KVPLAN_PROBE_H

#include <signal.h>

#include <kvplan/limits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most entries counted if options.max_entries is 0, and the most seconds
   that counting takes (unmapping takes more time after that). */
#define KVP_PROBE_ENTRIES UINT64_C(600000)
#define KVP_PROBE_SECONDS 120
/* Largest max_entries. */
#define KVP_PROBE_ENTRIES_MAX UINT64_C(16777216)

struct kvp_probe_options {
	bool entries;		/* count the free table entries */
	uint64_t max_entries;	/* stop counting at this many; 0:
				   KVP_PROBE_ENTRIES */
	/* May be NULL.  Called with the number of entries counted so far:
	   once before the first, then after every 1,024. */
	void (*counting)(void *cookie, uint64_t entries);
	void *cookie;
	/* May be NULL.  Once it holds a signal's number, the probe stops
	   before its next call of the driver. */
	const volatile sig_atomic_t *interrupt;
};

/*
 * Probe GPUs through the CUDA driver.  devices[i] is the driver's ordinal
 * of device i; if count is 0, every visible GPU is probed.  options may be
 * NULL: entries are not counted.  On success release *limits with
 * kvp_limits_release(); on failure it is empty.  Everything that the probe
 * acquired is released in both cases, except with KVP_ESTUCK.
 *
 * Abilities and costs that need two GPUs are taken from the first pair of
 * GPUs that are peers.
 *
 * Errors:
 *   KVP_EINPUT        options->max_entries is above KVP_PROBE_ENTRIES_MAX, or
 *                     an ordinal does not exist or is given twice
 *   KVP_EUNAVAILABLE  no driver, no GPU, or built without the CUDA headers
 *   KVP_EEXHAUSTED, KVP_EDRIVER  a driver call failed that must work
 *   KVP_EINTERRUPTED  *options->interrupt was set
 *   KVP_ESTUCK        something could not be released
 *   KVP_ENOMEM
 */
int kvp_probe_run(struct kvp_limits *limits, const uint32_t *devices,
		  size_t count, const struct kvp_probe_options *options,
		  struct kvp_error *err);

#ifdef __cplusplus
}
#endif

#endif
