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

/* A launcher that ends a job may lose what it has not read yet. */
static const struct timespec passing = { .tv_nsec = 200000000 };

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
	job->tests = calloc(job->local_ranks, sizeof(*job->tests));
	if (!job->signs || !job->tests) {
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
	free(job->tests);
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

/* Has this one not entered the gather that this process waits in, or does it
   not move in it? */
static bool is_awaited(const struct job *job, uint32_t i)
{
	const struct job_sign *s = job->signs[i];
	uint32_t gather = job->sign->gathers;

	return s->gathers < gather ||
	       (i != job->local_rank && s->ended < gather &&
		s->tests == job->tests[i]);
}

/* Is it this process that prints for its machine, the first that waits? */
static bool speaks(const struct job *job)
{
	uint32_t i = 0;

	while (i < job->local_rank && is_awaited(job, i))
		i++;
	return i == job->local_rank;
}

/* Name the processes of this machine that do not move. */
static void give_up(struct job *job)
{
	struct text_list list;
	char text[200];
	uint32_t i;

	text_list_begin(&list, text, sizeof(text), ", ");
	for (i = 0; i < job->local_ranks; i++)
		if (is_awaited(job, i))
			text_list_add(&list, 1, "%u", job->signs[i]->rank);
	text_list_end(&list);
	signs_clear(job);
	if (speaks(job) || job->until)
		out_silent = false;
	out_usage_error("no progress for %llu s: waiting for %s%s; %sthe job "
		"ends", (ull)job->deadline / 1000, *text ? "rank " :
		job->local_ranks == job->ranks ? "the other processes" :
		"processes of other machines", text,
		job->stands ? "others may serve; " : "");
	nanosleep(&passing, NULL);
	job_abort(kvp_exit_status(job->stands ? KVP_EDOUBT : KVP_EPEER));
}

/* So that one prints: the first of its machine, on all machines rank 0. */
static uint64_t own_deadline(const struct job *job)
{
	return job->deadline + (!job->rank ? 0 : speaks(job) ? 500 : 1500);
}

static void note_tests(struct job *job)
{
	uint32_t i;

	for (i = 0; i < job->local_ranks; i++)
		job->tests[i] = job->signs[i]->tests;
}

static bool wait_for_all(struct job *job, MPI_Request *request)
{
	uint64_t last = 0, sum, since = signs_now();
	int done = 0;

	note_tests(job);
	while (!MPI_Test(request, &done, MPI_STATUS_IGNORE) && !done) {
		job->sign->tests++;
		sum = signs_sum(job);
		if (sum != last || (job->until && !*job->until)) {
			since = signs_now();
			note_tests(job);
		}
		last = sum;
		if (signs_now() - since > job->deadline &&
		    signs_now() - since > own_deadline(job))
			give_up(job);
		signs_show(job);
		nanosleep(&nap, NULL);
	}
	job->sign->ended = job->sign->gathers;
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

bool job_any(struct job *job, const volatile sig_atomic_t *own, bool *failed)
{
	int mine = *own != 0, any = 0;
	MPI_Request request;

	job->sign->gathers++;
	job->until = own;
	*failed = MPI_Iallreduce(&mine, &any, 1, MPI_INT, MPI_MAX,
				 MPI_COMM_WORLD, &request) ||
		  !wait_for_all(job, &request);
	job->until = NULL;
	return any;
}
