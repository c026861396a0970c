/*
 * Limits: what one node can really do, found by probe.h and kept as a file,
 * format "kvplan/limits/1".  Plans are judged by it in place of the
 * constants a geometry states.
 *
 * Plain data that round-trips through JSON byte for byte.
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
#define KVP_LIMITS_ENTRIES_MAX UINT32_MAX	/* free ones */

/* Bytes of the strings, without the zero at their end. */
#define KVP_LIMITS_LABEL_MAX 31
#define KVP_LIMITS_NAME_MAX 127
#define KVP_LIMITS_UUID_MAX 47
#define KVP_LIMITS_DRIVER_MAX 47
#define KVP_LIMITS_ANSWER_MAX 63

/*
 * Addresses of a process end here, a page below 2^47, on x86-64 with page
 * tables of four levels; the driver reserves none beyond (measured, driver
 * 580), and all ranks of one process share those below.
 */
#define KVP_ADDRESS_END ((UINT64_C(1) << 47) - 4096)

/* How the driver calls a full table of mappings, and where it says so. */
#define KVP_TABLE_WORD \
	"NV_ERR_INSUFFICIENT_RESOURCES, 0x1a, in the kernel log"

/*
 * What the driver keeps free of a GPU's memory: it makes no allocation that
 * would leave less (measured on H200, driver 580, with 1 to 70,000
 * allocations).  Its page tables, 2 MiB for every 256 GiB that are mapped, come
 * out of what is free above that and, where nothing is, from elsewhere: they
 * keep no allocation and no grant from succeeding.
 */
#define KVP_DRIVER_BYTES (UINT64_C(2) << 20)

struct kvp_limits_device {
	char label[KVP_LIMITS_LABEL_MAX + 1];	/* as users say: "GPU 2" */
	char name[KVP_LIMITS_NAME_MAX + 1];
	char uuid[KVP_LIMITS_UUID_MAX + 1];
	uint64_t granularity;	/* every allocation is a multiple of it */
	uint64_t recommended_granularity;
	uint64_t total_bytes;
	uint64_t free_bytes;	/* when it was asked */
};

/* What was tried. */
enum kvp_ability_kind {
	KVP_OFFSET_MAP,		/* map an allocation from an offset on */
	KVP_PARTIAL_MAP,	/* map a part of an allocation */
	KVP_PART_GRANT,		/* grant access to a part of a mapping */
	KVP_HALF_UNMAP,		/* unmap half of a mapping */
	KVP_ALIAS_COHERENT,	/* a write through one address is read
				   through the other, once waited for */
	KVP_READ_ONLY_PEERS,	/* a peer granted read reads and cannot
				   write */
	KVP_HINT_HONOURED,	/* a free address asked for is given */
	KVP_HINT_MOVES		/* a taken one succeeds elsewhere */
};
#define KVP_ABILITIES 8

enum kvp_answer {
	KVP_NOT_ASKED,		/* it takes a second GPU that is a peer */
	KVP_NO,
	KVP_YES
};

struct kvp_ability {
	enum kvp_answer works;
	/* The driver's to the call that decided it, as in
	   "CUDA_ERROR_NOT_SUPPORTED"; "" where not asked. */
	char answer[KVP_LIMITS_ANSWER_MAX + 1];
};

/* What was timed: one call for one allocation of the granularity. */
enum kvp_cost {
	KVP_COST_CREATE, KVP_COST_MAP,
	KVP_COST_GRANT,		/* to one reader: one table entry */
	KVP_COST_GRANT_TWO,	/* to two: two entries */
	KVP_COST_UNMAP,		/* with one reader */
	KVP_COST_UNMAP_TWO, KVP_COST_RELEASE
};
#define KVP_COSTS 7
#define KVP_NOT_TIMED UINT64_MAX	/* the two with two readers */

struct kvp_limits {
	char driver[KVP_LIMITS_DRIVER_MAX + 1];	/* "CUDA driver API 13.0" */
	struct kvp_limits_device *devices;
	size_t ndevices;	/* at least 1 */
	/* [ndevices * ndevices]: can device i be granted access to memory of
	   device j?  At i * ndevices + j. */
	bool *peers;
	struct kvp_ability ability[KVP_ABILITIES];
	uint64_t cost_ns[KVP_COSTS];
	/* Table entries of the node that were free. */
	bool entries_counted;
	bool entries_exact;	/* false: at least as many */
	uint64_t entries_free;	/* valid if counted */
};

/*
 * Read limits from text, strictly.  `source` begins the error texts.  On
 * success release *limits; on failure it is empty and need not be.
 * Errors: KVP_ESYNTAX, KVP_EINPUT, KVP_ELIMIT, KVP_ENOMEM.
 */
int kvp_limits_read(struct kvp_limits *limits, const char *source,
		    const char *text, size_t len, struct kvp_error *err);

/*
 * Write them as JSON, one device to a line.  *text is zero-terminated, *len
 * does not count the zero; give it back with free().  On failure *text is
 * NULL.  Errors: KVP_EINPUT for an answer that is none; KVP_ENOMEM.
 */
int kvp_limits_write(const struct kvp_limits *limits, char **text,
		     size_t *len, struct kvp_error *err);

/*
 * The entry_limit of a geometry on this node.  Where entries were counted,
 * those that are free and the geometry's static_entries: the latter are
 * taken already by others, and a node's entries count them.  At least
 * entry_reserve, so that what is left is never below 0.  Otherwise, and
 * where limits is NULL, the geometry's own.
 */
uint64_t kvp_limits_entry_limit(const struct kvp_limits *limits,
				const struct kvp_geometry *g);

/*
 * Can this geometry's allocations be made on this node?  KVP_EREFUSED names
 * the geometry's granularity and that of the device it is no multiple of.
 */
int kvp_limits_check(const struct kvp_limits *limits,
		     const struct kvp_geometry *g, struct kvp_error *err);

/* Give everything back and leave *limits empty.  Safe twice. */
void kvp_limits_release(struct kvp_limits *limits);

#ifdef __cplusplus
}
#endif

#endif
