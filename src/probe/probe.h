/*
 * What the files of the probe share: what a step holds, and its steps.
 *
 * Only one step holds something at a time.  Mapping i of it is made of
 * allocation i % created, at base + i * each:
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
	bool kept;		/* by a mapping that could not be undone */
};

struct probe_hold {
	uint64_t base;		/* valid if bytes */
	uint64_t bytes;		/* reserved; 0: nothing */
	uint64_t each;
	struct probe_memory *memory;
	uint64_t created;
	uint64_t mapped;
	bool kept;		/* so are the addresses */
};

struct probe {
	struct cuda *c;
	struct kvp_probe_options options;
	struct kvp_limits *limits;
	uint32_t owner;		/* whose memory is tried */
	uint32_t peer;		/* may read it; valid if has_peer */
	bool has_peer;
	struct probe_hold hold;
	/* What could not be given back. */
	uint64_t stuck_mappings, stuck_allocations, stuck_reservations;
};

/* probe_hold.c.  Errors: KVP_EEXHAUSTED, KVP_EDRIVER, KVP_ENOMEM. */
int hold_reserve(struct probe *p, uint64_t slots, uint64_t each,
		 struct kvp_error *err);
/* `count` allocations of p->hold.each bytes. */
int hold_create(struct probe *p, uint64_t count, struct kvp_error *err);
/* The next mapping. */
int hold_map(struct probe *p, struct kvp_error *err);
/* Grant the owner, and the peer where there are two readers, reading and
   writing of mapping i. */
CUresult hold_set_access(struct probe *p, uint64_t i, uint32_t readers);
int hold_grant(struct probe *p, uint64_t i, uint32_t readers,
	       struct kvp_error *err);
/* Give back the last mapping, the last allocation. */
void hold_unmap(struct probe *p);
/* Unmap a range of what allocation i of the hold is mapped to. */
void hold_unmap_range(struct probe *p, uint64_t address, uint64_t bytes,
		      uint64_t i);
void hold_drop(struct probe *p);
/* Give back everything; counts what is stuck and never stops at it. */
void hold_release(struct probe *p);

/* KVP_EINTERRUPTED once the caller wants to stop. */
int probe_interrupted(const struct probe *p, struct kvp_error *err);
uint64_t probe_granularity(const struct probe *p);

/* Steps; each gives back what it held through hold_release(). */
/* probe_abilities.c: every ability. */
int probe_abilities(struct probe *p, struct kvp_error *err);
/* probe_count.c */
int probe_costs(struct probe *p, struct kvp_error *err);
int probe_entries(struct probe *p, struct kvp_error *err);

#endif
#endif
