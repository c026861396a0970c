/*
 * The processes that mpirun or srun started, and what they tell each other.
 * job.c alone knows MPI, and is compiled once for each.
 */
#ifndef KVPLAN_MPI_JOB_H
#define KVPLAN_MPI_JOB_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How far a process is, in memory that the processes of one machine share.
 * Each writes its own.
 */
struct job_sign {
	_Atomic uint32_t rank;
	_Atomic uint32_t gathers;	/* that it has entered */
	_Atomic uint32_t ended;		/* that it has got */
	_Atomic uint64_t tests;		/* while it waits in one */
	_Atomic uint64_t events;
	_Atomic uint64_t done;		/* calls, of `total` */
	_Atomic uint64_t total;
};

struct job {
	uint32_t rank, ranks;
	/* Of the processes of this machine. */
	uint32_t local_rank, local_ranks;
	struct job_sign *sign;		/* this process's */
	struct job_sign **signs;	/* [local_ranks] */
	uint64_t *tests;		/* of each, at the last progress */
	/* A gather ends the job if no process of this machine makes progress
	   for so many milliseconds. */
	uint64_t deadline;
	/* This process said that its ranks stand: others may have published.
	   A gather that fails leaves it in doubt. */
	bool stands;
	/* There is no deadline while this is 0; NULL: there is one. */
	const volatile sig_atomic_t *until;
	/* signs.c */
	bool show;
	bool shown;
	uint64_t next;		/* when to print the line again */
};

/* Begin; there is one job.  MPI, or a message, ends it if that fails. */
void job_begin(struct job *job);
/* Leave the job; returns when all processes do. */
void job_end(struct job *job);
/* End all processes at once. */
void job_abort(int status);

/* The name of the MPI library that this program is built with. */
void job_library(char *text, size_t size);

/*
 * Give `bytes` bytes, get those of all processes.  False, and all is zeroed,
 * if that failed.  At the deadline the job ends.
 */
bool job_gather(struct job *job, const void *own, size_t bytes, void *all);

/*
 * Give a text of `len` bytes; rank 0 gets all of them, for which it states
 * lengths and offsets, INT_MAX bytes at most.  False if that failed.
 */
bool job_gather_texts(struct job *job, const char *own, int len,
		      const int *lengths, const int *offsets, char *all);

/*
 * Is *own set in any process?  Every process calls it, and gets the same.
 * The deadline counts only where it is set.  *failed if MPI failed.
 */
bool job_any(struct job *job, const volatile sig_atomic_t *own, bool *failed);

#endif
