/*
 * Progress: of the processes of one machine, on one line.
 */
#ifndef KVPLAN_MPI_SIGNS_H
#define KVPLAN_MPI_SIGNS_H

#include <kvplan/realize.h>

#include "mpi/job.h"

/* Milliseconds of a clock. */
uint64_t signs_now(void);

/* It differs from an earlier one if a process has made progress. */
uint64_t signs_sum(const struct job *job);

/* Print the line if it is time to. */
void signs_show(struct job *job);
void signs_clear(struct job *job);

/* For struct kvp_realize_options; `job` is the cookie. */
void signs_event(void *job, const struct kvp_event *event);

#endif
