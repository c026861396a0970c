/*
 * A launcher for processes that share a realization: it forks them, and
 * carries their gathers.  What a gather delivers can be changed on its way.
 */
#ifndef TESTS_SHARE_LAUNCH_H
#define TESTS_SHARE_LAUNCH_H

#include <sys/types.h>

#include <kvplan/kvplan.h>

#define LAUNCH_MAX 32

/* What a process reports when it has committed. */
struct report {
	enum kvp_state state;
	int code[4];		/* of begin, exchange, commit, free */
	char text[KVP_ERROR_MAX];	/* of the last call that failed */
	uint64_t calls[2];	/* backend calls after begin and exchange */
	uint64_t entries;	/* table entries held */
	uint32_t left;		/* descriptors and maps left after free */
};

/* One process of a job. */
struct member {
	uint32_t first_rank, nranks;
	const char *node;
	/* What happens to it: a signal raised, or a call that fails, at the
	   n-th backend call (from 1 on; 0: nothing). */
	uint64_t at;
	int signal;		/* 0: the call fails */
	/* Filled in. */
	pid_t pid;
	int fd;
	bool reported, stopped;
	struct kvp_share_blob blob[2];	/* what it gave; zero: nothing */
	char *part;
	size_t part_len;
	struct report report;
};

struct job {
	const struct kvp_plan *plan;
	const struct kvp_verdict *verdict;
	/* Makes a process's backend. */
	int (*backend)(struct kvp_backend **b, uint32_t index,
		       struct kvp_error *err);
	enum kvp_check check;
	uint32_t deadline;	/* of the exchange, ms */
	uint32_t gather_deadline;	/* ms; then what did not come is zero */
	bool share_gpu;
	const char *directory;
	uint32_t count;
	struct member member[LAUNCH_MAX];
	/* May be NULL.  Changes the blobs of gather 1 or 2 for one receiver;
	   called in the launcher. */
	void (*change)(struct job *job, unsigned gather, uint32_t receiver,
		       struct kvp_share_blob *blobs);
	/* May be NULL: called in the process when it is PUBLISHED. */
	void (*published)(struct kvp_share *s, const struct member *m);
};

/* Run a job to its end; returns false if a process had to be killed because
   it did not end. */
bool launch(struct job *job);
void launch_release(struct job *job);

#endif
