/*
 * The file that the stand-in's processes share, their node.  All changes are
 * made under its lock.  What a process holds is told by its record, and by
 * its bit in `holders` of an allocation; the sums beside them are counted
 * anew when a process died in the middle of a change.
 *
 * A file lock on the first byte of a record says that it is alive: a process
 * has one on its own, each exported descriptor one on its allocation's.  They
 * belong to open files (F_OFD_SETLK), so the kernel lets go of them when the
 * last descriptor is closed, however its process ended, reaped or not: after
 * its mutexes and before it is a zombie.  A child of fork() that does not
 * exec or call cuInit keeps its parent's, as it does a GPU's.
 */
#ifndef TESTS_FAKE_LIBCUDA_NODE_H
#define TESTS_FAKE_LIBCUDA_NODE_H

#include <pthread.h>
#include <stdint.h>

#define GRANULE (UINT64_C(2) << 20)
#define MAX_GPUS 32
#define MAX_PROCESSES 64	/* bits of `holders` */
#define MAX_ALLOCATIONS 65536

/* Bytes up to `end` hold the pattern: byte x holds its byte x % 4. */
struct run {
	uint32_t end;
	uint32_t pattern;
};

struct process {
	uint64_t there;		/* 0: free */
	uint64_t entries;
	uint64_t used[MAX_GPUS];	/* bytes of each that it alone holds */
};

/* Memory made to be exported. */
struct allocation {
	uint64_t bytes;		/* 0: free */
	uint64_t holders;	/* processes with a handle or a mapping */
	uint64_t first;		/* granule in the file */
	uint32_t card, unused;
};

/* What one granule holds, in the file behind the node. */
#define MAX_RUNS (GRANULE / sizeof(struct run) - 1)
struct record {
	uint64_t count;
	struct run runs[MAX_RUNS];
};

struct node {
	char magic[16];		/* written last */
	pthread_mutex_t lock;
	uint64_t used[MAX_GPUS];	/* bytes in allocations */
	uint64_t granules;	/* given out */
	uint32_t alive, next, top;	/* allocations; all lie below top */
	struct process processes[MAX_PROCESSES];
	struct allocation allocations[MAX_ALLOCATIONS];
};

/* Granules follow, 2 MiB each, of which what was written takes space. */
#define NODE_BYTES (UINT64_C(4) << 20)
_Static_assert(sizeof(struct node) <= NODE_BYTES, "the node fits");
_Static_assert(sizeof(struct record) == GRANULE, "a granule fits");

#endif
