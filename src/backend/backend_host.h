/*
 * What tests ask of the host backend beside its verbs.
 *
 * The kernel keeps one map for every mapping (fewer where neighbours happen
 * to be neighbours in the memfd too) and one or two for every reservation;
 * vm.max_map_count limits them per process.
 */
#ifndef KVPLAN_BACKEND_BACKEND_HOST_H
#define KVPLAN_BACKEND_BACKEND_HOST_H

#include <kvplan/backend.h>

/* vm.max_map_count; UINT64_MAX where it cannot be read. */
uint64_t host_maps_limit(void);

/*
 * Maps this process has now, the lines of /proc/self/maps; 0 where they
 * cannot be read.  O(maps): some 50 ms for 65,000.
 */
uint64_t host_maps_used(void);

/* What is alive in a host backend. */
struct host_alive {
	uint64_t reservations;
	uint64_t mappings;
	uint64_t handles;	/* memory not given back: not released, or
				   released and still mapped */
	uint64_t resident_bytes;	/* all memfds, as the kernel counts */
	uint64_t pools;
	uint64_t blocks;	/* of pools: in use, or given back and not
				   synchronized yet */
};

void host_alive(const struct kvp_backend *b, struct host_alive *alive);

#endif
