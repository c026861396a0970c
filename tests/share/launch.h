/*
 * A launcher for processes that share a realization: it forks them, and
 * carries their gathers.  A process can be made to fail, to end or to stop
 * wherever it is; what a gather delivers can be changed on its way.
 */
#ifndef TESTS_SHARE_LAUNCH_H
#define TESTS_SHARE_LAUNCH_H

#include <sys/types.h>

#include <kvplan/kvplan.h>

#define LAUNCH_MAX 32

/* The calls of share.h, in the order in which a process makes them. */
enum share_call { CALL_BEGIN, CALL_EXCHANGE, CALL_COMMIT, CALL_FREE,
		  SHARE_CALLS };

/* Where a process is between calls. */
enum point { POINT_NONE, POINT_START, POINT_BEGUN, POINT_GAVE_1, POINT_GOT_1,
	     POINT_EXCHANGED, POINT_GAVE_2, POINT_GOT_2, POINT_COMMITTED,
	     POINT_GAVE_PART, POINTS };

/* What a process reports. */
struct report {
	enum kvp_state state;
	int code[SHARE_CALLS];
	char text[SHARE_CALLS][KVP_ERROR_MAX];	/* of those that failed */
	uint64_t calls[SHARE_CALLS];	/* backend calls made after each */
	uint64_t calls_done, calls_total;	/* as events told last */
	uint64_t entries;	/* table entries held when PUBLISHED */
	uint64_t held;		/* what the backend holds after the commit */
	uint64_t left;		/* what was not given back when it was freed */
	uint64_t wrong;		/* for the hooks: what they found wrong, */
	uint64_t seen[2];	/* and what else they have seen */
};

struct job;

/* One process of a job. */
struct member {
	uint32_t first_rank, nranks;
	const char *node;
	/* What happens to it at the n-th backend call (from 1 on) or at a
	   point: a signal raised, or, at a call, a call that fails. */
	uint64_t at;
	enum point point;
	int signal;		/* 0: the call fails */
	/* If it has stopped, it goes on after this gather; 3: the one of
	   parts; 0: never. */
	unsigned resume;
	/* May be NULL: what it runs instead of the calls of share.h. */
	void (*run)(struct job *job, struct member *m);
	/* Filled in. */
	pid_t pid;
	int fd;
	bool reported;		/* when it has committed */
	bool freed;		/* and again when it has freed all */
	bool stopped, waited_for;
	struct kvp_share_blob blob[2];	/* what came in time; zero: nothing */
	char *part;
	size_t part_len;
	struct report report;
};

typedef void launch_hook(struct kvp_share *s, const struct member *m,
			 struct report *r);

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
	/* May be NULL; called in the process: before everything else; before
	   the first call of share.h; when it has committed; when all have,
	   and nobody has freed anything; when everything is freed. */
	void (*prepare)(struct job *job, uint32_t index);
	launch_hook *started, *committed, *settled, *freed;
};

/* Run a job to its end; returns false if a process neither died nor stopped and
   had to be killed, or did not end well. */
bool launch(struct job *job);
void launch_release(struct job *job);

/* For member.run: give something to the launcher, which is all that this
   process does in a gather, and get its answer. */
enum note_kind { NOTE_BLOB_1 = 1, NOTE_BLOB_2, NOTE_PART, NOTE_COMMITTED,
		 NOTE_SETTLED, NOTE_FREED };
bool launch_give(struct member *m, enum note_kind kind, const void *bytes,
		 size_t len);
bool launch_get(struct member *m, void *bytes, size_t len);

/* What this process has open: descriptors, and maps of the host backend. */
uint64_t launch_count_open(void);

#endif
