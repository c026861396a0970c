/*
 * Trials: what a test of shared realizations runs, side by side in a few
 * worker processes, since most of them wait for a deadline.
 */
#ifndef TESTS_SHARE_TRIALS_H
#define TESTS_SHARE_TRIALS_H

#include "base/error.h"
#include "share/launch.h"

/* Under sanitizers everything is slow; then tests do less. */
extern const bool trials_are_slow;

/* Make a plan of a geometry and prove it; ends the program if it cannot. */
struct planned {
	struct kvp_plan plan;
	struct kvp_verdict *verdict;
};
void make_planned(struct planned *p, const char *geometry,
		  enum kvp_merge merge);

/* A backend of this machine's memory with as many devices as a process of
   these tests has ranks at most; for struct job. */
int make_host(struct kvp_backend **b, uint32_t index, struct kvp_error *err);

/* Run trial(0) to trial(count - 1), in any order. */
void run_trials(uint32_t workers, size_t count, void (*trial)(size_t index));

/* In a trial: name it, and say what has to hold. */
void name_trial(const char *format, ...) KVP_PRINTF(1, 2);
void skip_trial(const char *why);
void expect(bool holds, const char *format, ...) KVP_PRINTF(2, 3);

/* Print what has passed and failed; returns the exit status. */
int close_trials(void);

#endif
