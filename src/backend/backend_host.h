/*
 * What tests read from the host backend in addition to its verbs.
 *
 * The kernel keeps one map for every mapping (fewer if neighbours in the
 * address range are neighbours in the memfd too) and one or two for every
 * reservation; vm.max_map_count limits the maps of a process.
 */
#ifndef KVPLAN_BACKEND_BACKEND_HOST_H
#define KVPLAN_BACKEND_BACKEND_HOST_H

#include <kvplan/backend.h>

/* vm.max_map_count; UINT64_MAX if it cannot be read. */
uint64_t host_maps_limit(void);

/*
 * Count the maps of this process, the lines of /proc/self/maps; 0 if they
 * cannot be read.  O(maps): about 50 ms for 65,000.
 */
uint64_t host_maps_used(void);

/* What a host backend holds. */
struct host_alive {
	uint64_t reservations;
	uint64_t mappings;
	uint64_t handles;	/* not released, or released and still
				   mapped */
	uint64_t resident_bytes;	/* of all memfds, by the kernel */
	uint64_t pools;
	uint64_t blocks;	/* of pools: in use, or deallocated and their
				   device not synchronized since */
};

void host_alive(const struct kvp_backend *b, struct host_alive *alive);

#endif
