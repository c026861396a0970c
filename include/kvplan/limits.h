/*
 * Limits: what one node can do, as kvp_probe_run() measured it.  The file
 * format is "kvplan/limits/1".  Functions that are given limits use them
 * instead of the constants that a geometry states.
 *
 * Limits are plain data.  Reading and writing them gives the same bytes
 * again.
 */
#ifndef KVPLAN_LIMITS_H
#define KVPLAN_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kvplan/error.h>
#include <kvplan/geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVP_LIMITS_FORMAT "kvplan/limits/1"

#define KVP_LIMITS_DEVICES_MAX UINT64_C(1024)
#define KVP_LIMITS_ENTRIES_MAX UINT32_MAX	/* free table entries */

/* Bytes of the strings, without the zero at their end. */
#define KVP_LIMITS_LABEL_MAX 31
#define KVP_LIMITS_NAME_MAX 127
#define KVP_LIMITS_UUID_MAX 47
#define KVP_LIMITS_DRIVER_MAX 47
#define KVP_LIMITS_ANSWER_MAX 63

/*
 * The first address that a process cannot use: one page below 2^47, on
 * x86-64 with page tables of four levels.  The driver reserves nothing above
 * (measured with driver 580).  All ranks of one process share the addresses
 * below.
 */
#define KVP_ADDRESS_END ((UINT64_C(1) << 47) - 4096)

/* The driver's message for a full table of mappings, and where it appears. */
#define KVP_TABLE_WORD \
	"NV_ERR_INSUFFICIENT_RESOURCES, 0x1a, in the kernel log"

/*
 * Bytes of a GPU's memory that the driver keeps free: an allocation that
 * would leave less fails (measured on H200, driver 580, with 1 to 70,000
 * allocations).  The driver's page tables, 2 MiB for every 256 GiB mapped,
 * come from the free memory above that; if there is none, from other memory.
 * They make no allocation and no grant fail.
 */
#define KVP_DRIVER_BYTES (UINT64_C(2) << 20)

struct kvp_limits_device {
	char label[KVP_LIMITS_LABEL_MAX + 1];	/* for messages: "GPU 2" */
	char name[KVP_LIMITS_NAME_MAX + 1];
	char uuid[KVP_LIMITS_UUID_MAX + 1];
	uint64_t granularity;	/* every allocation is a multiple of it */
	uint64_t recommended_granularity;
	uint64_t total_bytes;
	uint64_t free_bytes;	/* at the time of the probe */
};

/* The abilities that the probe tries. */
enum kvp_ability_kind {
	KVP_OFFSET_MAP,		/* map an allocation from an offset on */
	KVP_PARTIAL_MAP,	/* map a part of an allocation */
	KVP_PART_GRANT,		/* grant access to a part of a mapping */
	KVP_HALF_UNMAP,		/* unmap half of a mapping */
	KVP_ALIAS_COHERENT,	/* after synchronizing, a write through one
				   mapping is read through the other */
	KVP_READ_ONLY_PEERS,	/* a peer that was granted read access can
				   read and cannot write */
	KVP_HINT_HONOURED,	/* reserving at a free address gives it */
	KVP_HINT_MOVES		/* reserving at an address in use succeeds
				   and gives another address */
};
#define KVP_ABILITIES 8

enum kvp_answer {
	KVP_NOT_ASKED,		/* not tried: no second GPU that is a peer */
	KVP_NO,
	KVP_YES
};

struct kvp_ability {
	enum kvp_answer works;
	/* The result of the driver call that decided it, such as
	   "CUDA_ERROR_NOT_SUPPORTED"; "" if it was not tried. */
	char answer[KVP_LIMITS_ANSWER_MAX + 1];
};

/* The calls that the probe times, each for one allocation as large as the
   granularity. */
enum kvp_cost {
	KVP_COST_CREATE, KVP_COST_MAP,
	KVP_COST_GRANT,		/* to one reader: one table entry */
	KVP_COST_GRANT_TWO,	/* to two readers: two table entries */
	KVP_COST_UNMAP,		/* of a mapping with one reader */
	KVP_COST_UNMAP_TWO,	/* of a mapping with two readers */
	KVP_COST_RELEASE
};
#define KVP_COSTS 7
#define KVP_NOT_TIMED UINT64_MAX	/* no second reader to time it with */

struct kvp_limits {
	char driver[KVP_LIMITS_DRIVER_MAX + 1];	/* "CUDA driver API 13.0" */
	struct kvp_limits_device *devices;
	size_t ndevices;	/* at least 1 */
	/* [ndevices * ndevices]: whether device i can be granted access to
	   memory of device j is at i * ndevices + j. */
	bool *peers;
	struct kvp_ability ability[KVP_ABILITIES];
	uint64_t cost_ns[KVP_COSTS];	/* nanoseconds, or KVP_NOT_TIMED */
	bool entries_counted;
	bool entries_exact;	/* false: at least entries_free */
	uint64_t entries_free;	/* free table entries of the node; valid if
				   entries_counted */
};

/*
 * Read limits from text.  `source` is the name with which error texts begin;
 * `text` has `len` bytes and needs no zero at its end.  On success release
 * *limits with kvp_limits_release(); on failure *limits is empty.
 *
 * Errors: KVP_ESYNTAX, KVP_EINPUT, KVP_ELIMIT, KVP_ENOMEM.
 */
int kvp_limits_read(struct kvp_limits *limits, const char *source,
		    const char *text, size_t len, struct kvp_error *err);

/*
 * Write limits as JSON, with one device on each line.  *text ends in a zero
 * that *len does not count; free it with free().  On failure *text is NULL.
 *
 * Errors: KVP_EINPUT if an ability's `works` is not a declared enum value;
 * KVP_ENOMEM.
 */
int kvp_limits_write(const struct kvp_limits *limits, char **text,
		     size_t *len, struct kvp_error *err);

/*
 * The entry_limit to use for a geometry on this node.
 *
 * If entries were counted, it is entries_free + static_entries: other
 * software had taken the static_entries when the free ones were counted, and
 * a plan counts them again.  The result is at least entry_reserve, so that
 * limit - reserve is not negative, and at most KVP_ENTRIES_MAX.
 *
 * If entries were not counted or limits is NULL, it is g->entry_limit.
 */
uint64_t kvp_limits_entry_limit(const struct kvp_limits *limits,
				const struct kvp_geometry *g);

/*
 * Check that this node can make a geometry's allocations.  Returns KVP_OK if
 * the geometry's granularity is a multiple of every device's, otherwise
 * KVP_EREFUSED; the text names both granularities and the device.
 */
int kvp_limits_check(const struct kvp_limits *limits,
		     const struct kvp_geometry *g, struct kvp_error *err);

/* Free everything that *limits holds and leave it empty.  Empty or zeroed
   limits may be released again. */
void kvp_limits_release(struct kvp_limits *limits);

#ifdef __cplusplus
}
#endif

#endif
