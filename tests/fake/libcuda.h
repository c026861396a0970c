/*
 * What the files of the stand-in driver share.  Its state is one struct,
 * `cu`, and every exported call holds its lock from begin() to end().  What
 * the processes of a node share is in libcuda_node.h.
 */
#ifndef TESTS_FAKE_LIBCUDA_H
#define TESTS_FAKE_LIBCUDA_H

#include <cuda.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "fake/libcuda_node.h"

#define MAX_FAULTS 16
#define MAX_ERRORS 16
#define MAX_DEPTH 64
/* Addresses are given out from here down, and hints heeded below LAST. */
#define TOP UINT64_C(0x7f0000000000)
#define LAST (UINT64_C(1) << 47)

/* What 2 MiB of memory hold; no runs: never written. */
struct granule {
	struct run *runs;
	uint32_t count;
	uint32_t room;
};

struct memory {
	uint64_t bytes;		/* 0: free slot */
	struct granule *granules;	/* NULL until written */
	uint32_t slot;		/* + 1 in the node's table, or 0 */
	uint32_t card;
	uint32_t generation;	/* tells old handles from new ones */
	uint32_t mappings;
	bool released;
	bool imported;
};

struct mapping {
	uint64_t base;
	uint64_t bytes;		/* 0: free slot, whose next one is `memory` */
	uint32_t memory;
	uint8_t flags[MAX_GPUS];
};

struct reservation {
	uint64_t base;
	uint64_t bytes;
	uint64_t mappings;
	uint32_t *slots;	/* per granule: mapping + 1, or 0 */
};

/*
 * Work on a stream: a memset, a copy where there is a host address, or a
 * comparison where there is a place for the number of a wrong vector.
 */
struct op {
	uint64_t address;
	uint64_t bytes;
	unsigned char *host;
	uint64_t *wrong;
	uint32_t pattern;
};

/* A vector of the kernel kvp_match: four words. */
#define VECTOR 16

/* A GPU that this process sees, by its ordinal. */
struct gpu {
	uint32_t card;
	unsigned retained;
	bool lost;		/* work on it hit an unmapped address */
};

/* A GPU of the node, by its number there. */
struct card {
	uint64_t allocations;	/* made here by create, and alive */
	bool others_took;
	bool no_peer[MAX_GPUS];
};

/* A CUstream points at one. */
struct stream {
	struct stream *next;
	uint32_t device;
	struct op *ops;
	size_t nops;
	size_t room;
};

/*
 * A CUmemoryPool points at one.  A pool keeps what it is given unless its
 * release threshold was set to 0.
 */
struct pool {
	struct pool *next;
	uint32_t device;
	uint64_t threshold;
	uint64_t kept_bytes;
};

/* A block of a pool: there until the stream it is freed on is waited for. */
struct block {
	uint64_t base;
	uint64_t bytes;
	struct pool *pool;
	const struct stream *freed;	/* NULL: in use */
};

struct fault {
	char call[48];
	unsigned long n;
	unsigned long seen;
	bool for_ever;
	int error;
};

/* What there is. */
struct fake {
	pthread_mutex_t lock;
	bool started;
	bool reporting;
	uint32_t devices;	/* that this process sees */
	uint64_t memory_bytes;
	uint64_t keep_bytes;	/* of each GPU, never handed out */
	uint64_t take_bytes;	/* others take of each GPU ... */
	uint64_t take_at;	/* ... at its n-th allocation; 0: never */
	uint64_t entries;
	uint64_t hints_from;	/* smaller reservations land anywhere */
	uint64_t entries_used;	/* by others */
	struct process *own;	/* what this process holds of the node */
	struct fault faults[MAX_FAULTS];
	size_t nfaults;
	struct gpu gpus[MAX_GPUS];
	struct card cards[MAX_GPUS];
	struct stream *streams;
	bool no_pools;		/* of any GPU */
	struct pool *pools;
	struct block *blocks;	/* of all pools, by address */
	size_t nblocks, blocks_room;
	uint64_t blocks_end;	/* where the next one begins */
	struct reservation *reservations;	/* by address */
	size_t nreservations, reservations_room;
	struct mapping *mappings;
	uint32_t nmappings, mappings_room, mapping_free, mappings_alive;
	struct memory *memories;
	uint32_t nmemories, memories_room, memory_free, memories_alive;
	void **hosts;
	size_t nhosts, hosts_room;
	char errors[MAX_ERRORS][160];
	size_t nerrors;		/* all, also those there was no room for */
};

extern struct fake cu;
/* The thread's contexts, the current one last. */
extern _Thread_local CUcontext stack[MAX_DEPTH];
extern _Thread_local size_t depth;

/* libcuda.c: no memory, or settings that are not understood. */
void die(const char *what, const char *text);
/* An array with room for one more, twice as large where it is full. */
void *grown(void *array, size_t count, size_t *room, size_t each);
void *grown32(void *array, uint32_t count, uint32_t *room, size_t each);
void *zeroed(uint64_t count, size_t each);
/* Remember a call in the wrong order; the driver calls it an invalid value. */
CUresult refuse(const char *format, ...)
#ifdef __GNUC__
	__attribute__((format(printf, 1, 2)))
#endif
	;

/* libcuda_memory.c: write, read and expand a pattern of four bytes. */
void granule_write(struct granule *g, uint32_t from, uint32_t to,
		   uint32_t pattern);
void granule_read(const struct granule *g, uint32_t from, uint32_t to,
		  unsigned char *host);
void expand(unsigned char *to, uint64_t at, uint64_t bytes,
	    uint32_t pattern);

/* libcuda_map.c: addresses, handles, and the one at the other. */
CUresult reserve(CUdeviceptr *ptr, uint64_t size, uint64_t alignment,
		 uint64_t hint, unsigned long long flags);
CUresult unreserve(uint64_t base, uint64_t size);
CUresult create(CUmemGenericAllocationHandle *handle, uint64_t size,
		const CUmemAllocationProp *prop,
		unsigned long long flags);
CUresult release(CUmemGenericAllocationHandle handle);
CUresult map(uint64_t address, uint64_t size, uint64_t offset,
	     CUmemGenericAllocationHandle handle,
	     unsigned long long flags);
CUresult unmap(uint64_t address, uint64_t size);
CUresult set_access(uint64_t address, uint64_t size,
		    const CUmemAccessDesc *descs, size_t count);
CUresult get_access(unsigned long long *flags,
		    const CUmemLocation *where, uint64_t address);
CUresult export_handle(int *fd, CUmemGenericAllocationHandle handle,
		       CUmemAllocationHandleType type,
		       unsigned long long flags);
CUresult import_handle(CUmemGenericAllocationHandle *handle, int fd,
		       CUmemAllocationHandleType type);
struct mapping *mapping_at(uint64_t address);

/* libcuda_stream.c */
bool no_gpu(CUdevice device);
CUcontext context_of(uint32_t device);
CUresult device_of(CUcontext context, uint32_t *device);
CUresult current(uint32_t *device);
/* The stream, if it is one and its context is current. */
CUresult find_stream(CUstream handle, struct stream **stream);
CUresult enqueue(const char *call, CUstream handle, struct op op);
CUresult run_stream(struct stream *s);
CUresult stream_create(CUstream *handle, unsigned flags);
void stream_free(struct stream *s);
CUresult context_synchronize(void);
CUresult context_release(CUdevice device);
CUresult host_alloc(void **p, size_t bytes);
CUresult host_free(void *p);

/* libcuda_pool.c */
CUresult pool_create(CUmemoryPool *pool, const CUmemPoolProps *props);
CUresult pool_set(CUmemoryPool handle, CUmemPool_attribute what,
		  const void *value);
CUresult pool_destroy(CUmemoryPool handle);
CUresult block_alloc(CUdeviceptr *ptr, size_t size, CUmemoryPool handle,
		     CUstream stream);
CUresult block_free(CUdeviceptr ptr, CUstream stream);
/* A stream was waited for: what was freed on it is free. */
void blocks_settle(const struct stream *s);

/*
 * libcuda_node.c: what all processes of the node draw on.  Without
 * FAKE_CUDA_NODE this process is alone.
 */
CUresult node_join(void);
/* A number that no other node has, 0 without a node. */
uint64_t node_identity(void);
bool node_take_entries(uint64_t n);
void node_give_entries(uint64_t n);
uint64_t node_left(uint32_t card);
/* Memory that is this process's alone; `keep` bytes have to stay free. */
bool node_take(uint32_t card, uint64_t bytes, uint64_t keep);
void node_give(uint32_t card, uint64_t bytes);
/* Memory that can be exported; false: none is left. */
bool node_create(uint32_t card, uint64_t bytes, uint32_t *slot);
void node_drop(uint32_t slot);
CUresult node_export(uint32_t slot, int *fd);
/* The allocation behind a descriptor, now held here too, or NULL. */
const struct allocation *node_import(int fd, uint32_t *slot);
/* A granule of it, locked until it is closed. */
struct granule *granule_open(uint32_t slot, uint64_t i);
void granule_close(uint32_t slot, uint64_t i, bool changed);
void node_report(FILE *out);

/* libcuda_settings.c: read the environment, write the report. */
CUresult configure(void);
void report(void);

#endif
