/*
 * Progress of the processes of one machine: each counts in memory that all of
 * them share, and rank 0 prints the sums.
 */
#include "mpi/signs.h"

#include <stdio.h>
#include <time.h>

#include "base/error.h"

#define SHOW_EVERY_MS 100

uint64_t signs_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

uint64_t signs_sum(const struct job *job)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < job->local_ranks; i++)
		sum += job->signs[i]->events + job->signs[i]->gathers;
	return sum;
}

void signs_show(struct job *job)
{
	uint64_t now, done = 0, total = 0;
	uint32_t i;

	if (!job->show || (now = signs_now()) < job->next)
		return;
	for (i = 0; i < job->local_ranks; i++) {
		done += job->signs[i]->done;
		total += job->signs[i]->total;
	}
	if (!total)
		return;
	job->next = now + SHOW_EVERY_MS;
	job->shown = true;
	fprintf(stderr, "\r%u of %u ranks: call %llu of %llu \033[K",
		job->local_ranks, job->ranks, (ull)done, (ull)total);
}

void signs_clear(struct job *job)
{
	if (job->shown)
		fprintf(stderr, "\r\033[K");
	job->shown = false;
}

void signs_event(void *cookie, const struct kvp_event *event)
{
	struct job *job = cookie;

	job->sign->events++;
	job->sign->done = event->calls_done;
	job->sign->total = event->calls_total;
	/* Reading the clock costs as much as a call; do it at every 64th. */
	if (!(event->calls_done & 63))
		signs_show(job);
}
