/*
 * What kvplan-mpi's files share: main.c reads the command line, run.c
 * realizes, publish.c joins and prints.
 */
#ifndef KVPLAN_MPI_RUN_H
#define KVPLAN_MPI_RUN_H

#include "base/file.h"
#include "cli/realize.h"
#include "mpi/job.h"

struct settings {
	struct realize_settings realize;
	const char *plan;
	const char *publish;	/* NULL: none */
	const char *directory;	/* of sockets; NULL: abstract names */
	bool share_gpu;
	bool verbose;
	bool progress;
	uint64_t deadline;	/* seconds */
	/* What is wrong with this process's command or environment. */
	struct kvp_error refused;
	bool helped;		/* it printed the help instead */
};

/* What a process tells the others about its last step. */
struct report {
	int code;
	int exit;		/* status */
	int printed;		/* rank 0: status of printing the result */
	uint64_t bytes;		/* of its part of the capacities */
	uint64_t entries;	/* it holds */
	char host[64];
	char text[KVP_ERROR_MAX];
};

struct run {
	struct settings *s;
	struct job job;
	struct realize_input in;
	struct kvp_backend *backend;
	struct kvp_share *share;
	struct kvp_file_out file;	/* rank 0: of --publish */
	struct kvp_share_blob *blobs;	/* [job.ranks] */
	struct report *reports;		/* [job.ranks] */
	int printed;	/* status of printing the result, of rank 0 */
};

/* Realize the plan in the processes of a job; the exit status. */
int run_job(struct settings *s);

/*
 * publish.c: give this process's part; in rank 0 join the parts, write the
 * file and print the result.  Errors: KVP_ELIMIT, in every process alike;
 * KVP_EIO; those of joining and writing, in rank 0, where r->printed is the
 * status of printing.
 */
int publish_parts(struct run *r, const char *part, struct kvp_error *err);

#endif
