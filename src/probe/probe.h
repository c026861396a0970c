/*
 * What the files of the probe share: the steps, and what a step holds.
 *
 * Only one step holds memory at a time.  Its mapping i maps allocation
 * i % created at base + i * each:
 *
 *   base   | 0 | 1 | 2 | ...             | reserved, not mapped |
 *          |<- mapped * each bytes ----->|
 */
#ifndef KVPLAN_PROBE_PROBE_H
#define KVPLAN_PROBE_PROBE_H

#include <kvplan/probe.h>

#include "backend/backend_cuda.h"

#ifdef KVP_HAVE_CUDA

struct probe_memory {
	CUmemGenericAllocationHandle handle;
	bool kept;		/* a mapping of it could not be undone */
};

struct probe_hold {
	uint64_t base;		/* of the address range; valid if bytes */
	uint64_t bytes;		/* reserved; 0: nothing is held */
	uint64_t each;		/* bytes of an allocation and a mapping */
	struct probe_memory *memory;
	uint64_t created;
	uint64_t mapped;
	bool kept;		/* a mapping in the range could not be undone */
};

struct probe {
	struct cuda *c;
	struct kvp_probe_options options;
	struct kvp_limits *limits;
	uint32_t owner;		/* the device whose memory is used */
	uint32_t peer;		/* a device that may access it; valid if
				   has_peer */
	bool has_peer;
	struct probe_hold hold;
	/* What could not be given back, in all steps. */
	uint64_t stuck_mappings, stuck_allocations, stuck_reservations;
};

/* probe_hold.c.  Errors: KVP_EEXHAUSTED, KVP_EDRIVER, KVP_ENOMEM.  Reserve
   `slots` times `each` bytes. */
int hold_reserve(struct probe *p, uint64_t slots, uint64_t each,
		 struct kvp_error *err);
/* Create `count` allocations of p->hold.each bytes. */
int hold_create(struct probe *p, uint64_t count, struct kvp_error *err);
/* Make the next mapping. */
int hold_map(struct probe *p, struct kvp_error *err);
/* Grant the owner and, with readers == 2, the peer to read and write
   mapping i. */
CUresult hold_set_access(struct probe *p, uint64_t i, uint32_t readers);
int hold_grant(struct probe *p, uint64_t i, uint32_t readers,
	       struct kvp_error *err);
/* Unmap the last mapping; unmap a range to which allocation i is mapped. */
void hold_unmap(struct probe *p);
void hold_unmap_range(struct probe *p, uint64_t address, uint64_t bytes,
		      uint64_t i);
/* Release the last allocation. */
void hold_drop(struct probe *p);
/* Give back everything.  What cannot be given back is counted as stuck, and
   the rest is given back all the same. */
void hold_release(struct probe *p);

/* KVP_EINTERRUPTED if the caller's signal has come, else KVP_OK. */
int probe_interrupted(const struct probe *p, struct kvp_error *err);
uint64_t probe_granularity(const struct probe *p);

/* The steps; each one ends with hold_release(). */
/* probe_abilities.c: find every ability. */
int probe_abilities(struct probe *p, struct kvp_error *err);
/* probe_count.c: time the calls, count the free table entries. */
int probe_costs(struct probe *p, struct kvp_error *err);
int probe_entries(struct probe *p, struct kvp_error *err);

#endif
#endif
