/*
 * What kvplan realize's files share: cmd_realize.c reads the command line
 * and realizes, realize_machine.c opens the backend, realize_cure.c finds
 * what would fit, realize_progress.c prints progress and trace,
 * realize_report.c prints the report.  realize_common.c is for kvplan-mpi too.
 */
#ifndef KVPLAN_CLI_REALIZE_H
#define KVPLAN_CLI_REALIZE_H

#include <stdio.h>

#include "base/json_out.h"
#include "cli/cli.h"

struct realize_settings {
	bool host;
	bool gpus;
	uint32_t gpu[KVP_RANKS_MAX];
	size_t ngpus;		/* 0 with gpus: all visible ones */
	bool ranks_given;
	bool json;
	bool hold;
	const char *trace;
	const char *limits_path;	/* NULL: none */
	struct kvp_limits limits;
	const char *addresses;	/* a capacity file; NULL: none */
	struct kvp_verify_options rules;
	struct kvp_realize_options options;
};

/* realize_common.c */

/* The rules that a plan must keep, before --warn. */
void realize_set_rules(struct realize_settings *s);

/* Store the value of --check or --warn.  KVP_EXIT_YES or, after a message,
   KVP_EXIT_INPUT. */
int realize_set_check(struct realize_settings *s, const char *value);
int realize_set_warn(struct realize_settings *s, const char *value);
/* The same for an option whose value must be a file, since standard output is
   for the report. */
int realize_set_file(const char **file, const char *option, const char *value);

/* What is read from files; zeroed: nothing. */
struct realize_input {
	struct kvp_plan plan;
	struct kvp_verdict *verdict;
	struct kvp_addresses *addresses;
};

/*
 * Read the plan and the files that options name, verify the plan, and print
 * findings.  KVP_EREFUSED, with the options that would help, if the plan is
 * not verified.  The caller releases *in, also after a failure.
 */
int realize_read(struct realize_input *in, struct realize_settings *s,
		 const char *path, struct kvp_error *err);
void realize_release(struct realize_input *in, struct realize_settings *s);

/* Say that all is held, and wait for a signal. */
void realize_hold(void);
/* Its message alone. */
void realize_say_held(void);

/*
 * Open the backend; set options.nranks if --ranks is not given.  Errors:
 * those of the backends; KVP_EREFUSED if there are fewer devices than ranks
 * or the host's limits do not suffice.
 */
int realize_backend(struct kvp_backend **backend, const struct kvp_plan *plan,
		    struct realize_settings *s, struct kvp_error *err);

/*
 * realize_cure.c: print an error of kvp_realize() and return its exit status,
 * as out_error().  If table entries do not suffice, add what would help.
 * `held`: the entries held when a call failed.
 */
int realize_error(const struct kvp_plan *plan,
		  const struct realize_settings *s, uint64_t held,
		  const struct kvp_error *err);

/* The progress line on a terminal, and the trace. */
struct progress {
	const struct realize_settings *s;
	FILE *trace;
	struct json_out line;	/* of the trace */
	bool terminal;
	bool shown;
	bool started;
	uint64_t entries_before;	/* held by others at the start */
	uint64_t entries_held;	/* when undoing began */
	struct timespec begun;
	int64_t next_ms;	/* when to print the line again */
};

int progress_begin(struct progress *p, struct kvp_error *err);
void progress_event(void *cookie, const struct kvp_event *event);
/* The exit status: `exit`, or another if the trace cannot be written. */
int progress_end(struct progress *p, int exit);

/* Print what was realized; the exit status. */
int realize_report(const struct kvp_realization *r,
		   const struct kvp_plan *plan,
		   const struct realize_settings *s);

#endif
