/*
 * The job, with MPI.  Gathers do not block: a process that waits for others
 * looks at the clock between tests.
 */
#include "mpi/job.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text_list.h"
#include "cli/cli.h"
#include "mpi/signs.h"

/* Between two tests of a gather. */
static const struct timespec nap = { .tv_nsec = 1000000 };

static MPI_Comm machine;	/* the processes of this machine */
static MPI_Win window;		/* their signs */

static uint32_t read_count(int read(MPI_Comm, int *), MPI_Comm comm)
{
	int count = 0;

	read(comm, &count);
	return (uint32_t)count;
}

/* Make the signs of all processes of the machine, and find them. */
static void make_signs(struct job *job)
{
	MPI_Aint size;
	uint32_t i;
	int unit;

	MPI_Win_allocate_shared(sizeof(struct job_sign), 1, MPI_INFO_NULL,
				machine, &job->sign, &window);
	memset(job->sign, 0, sizeof(*job->sign));
	job->sign->rank = job->rank;
	job->signs = calloc(job->local_ranks, sizeof(*job->signs));
	if (!job->signs) {
		out_usage_error("out of memory");
		job_abort(KVP_EXIT_ENVIRONMENT);
	}
	for (i = 0; i < job->local_ranks; i++)
		MPI_Win_shared_query(window, (int)i, &size, &unit,
				     &job->signs[i]);
	MPI_Barrier(machine);
}

void job_begin(struct job *job)
{
	MPI_Init(NULL, NULL);
	job->rank = read_count(MPI_Comm_rank, MPI_COMM_WORLD);
	job->ranks = read_count(MPI_Comm_size, MPI_COMM_WORLD);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED,
			    (int)job->rank, MPI_INFO_NULL, &machine);
	job->local_rank = read_count(MPI_Comm_rank, machine);
	job->local_ranks = read_count(MPI_Comm_size, machine);
	make_signs(job);
	/* Until here MPI ends the job at an error. */
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

void job_end(struct job *job)
{
	free(job->signs);
	MPI_Win_free(&window);
	MPI_Comm_free(&machine);
	MPI_Finalize();
}

void job_abort(int status)
{
	MPI_Abort(MPI_COMM_WORLD, status);
	_exit(status);
}

void job_library(char *text, size_t size)
{
	char all[MPI_MAX_LIBRARY_VERSION_STRING];
	int len;

	MPI_Get_library_version(all, &len);
	all[strcspn(all, ",\n")] = '\0';
	snprintf(text, size, "%s", all);
	for (; *text; text++)
		if (*text == '\t')
			*text = ' ';
}

/* Name the processes of this machine that have not entered the gather. */
static void give_up(struct job *job)
{
	struct text_list list;
	char text[200];
	uint32_t i;

	text_list_begin(&list, text, sizeof(text), ", ");
	for (i = 0; i < job->local_ranks; i++)
		if (job->signs[i]->gathers < job->sign->gathers)
			text_list_add(&list, 1, "%u", job->signs[i]->rank);
	text_list_end(&list);
	signs_clear(job);
	out_usage_error("no progress for %llu s: %s%s; %sthe job ends",
		(ull)job->deadline / 1000, *text ? "waiting for rank " :
		"waiting for processes of other machines", text,
		job->stands ? "others may serve; " : "");
	job_abort(kvp_exit_status(job->stands ? KVP_EDOUBT : KVP_EPEER));
}

static bool wait_for_all(struct job *job, MPI_Request *request)
{
	/* So that rank 0, which prints, is the first. */
	uint64_t deadline = job->deadline + (job->rank ? 500 : 0);
	uint64_t last = 0, sum, since = signs_now();
	int done = 0;

	while (!MPI_Test(request, &done, MPI_STATUS_IGNORE) && !done) {
		sum = signs_sum(job);
		if (sum != last || job->patient)
			since = signs_now();
		last = sum;
		if (signs_now() - since > deadline)
			give_up(job);
		signs_show(job);
		nanosleep(&nap, NULL);
	}
	return done;
}

bool job_gather(struct job *job, const void *own, size_t bytes, void *all)
{
	MPI_Request request;

	job->sign->gathers++;
	if (!MPI_Iallgather(own, (int)bytes, MPI_BYTE, all, (int)bytes,
			    MPI_BYTE, MPI_COMM_WORLD, &request) &&
	    wait_for_all(job, &request))
		return true;
	memset(all, 0, bytes * job->ranks);
	return false;
}

bool job_gather_texts(struct job *job, const char *own, int len,
		      const int *lengths, const int *offsets, char *all)
{
	MPI_Request request;

	job->sign->gathers++;
	return !MPI_Igatherv(own, len, MPI_CHAR, all, lengths, offsets,
			     MPI_CHAR, 0, MPI_COMM_WORLD, &request) &&
		wait_for_all(job, &request);
}

bool job_any(struct job *job, bool own, bool *failed)
{
	int mine = own, any = 0;
	MPI_Request request;

	job->sign->gathers++;
	job->patient = !own;
	*failed = MPI_Iallreduce(&mine, &any, 1, MPI_INT, MPI_MAX,
				 MPI_COMM_WORLD, &request) ||
		  !wait_for_all(job, &request);
	job->patient = false;
	return any;
}
