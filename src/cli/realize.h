/*
 * What kvplan realize's files share: cmd_realize.c reads the command line
 * and runs, realize_machine.c picks the backend, realize_cure.c finds cures,
 * realize_progress.c shows and traces, realize_report.c words the answer.
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
	const char *addresses;	/* a published file */
	struct kvp_verify_options rules;
	struct kvp_realize_options options;
};

/*
 * The backend asked for, and options.nranks where no ranks were given.
 * Errors: those of the backends; KVP_EREFUSED where there are fewer devices
 * than ranks or the host does not suffice.
 */
int realize_backend(struct kvp_backend **backend, const struct kvp_plan *plan,
		    struct realize_settings *s, struct kvp_error *err);

/*
 * realize_cure.c: print what kvp_realize() answered, as out_error() does;
 * where table entries do not suffice, with what would help.  `held` are those
 * held when a call failed.
 */
int realize_error(const struct kvp_plan *plan,
		  const struct realize_settings *s, uint64_t held,
		  const struct kvp_error *err);

/* Progress on a terminal, and the trace. */
struct progress {
	const struct realize_settings *s;
	FILE *trace;
	struct json_out line;	/* of the trace */
	bool terminal;
	bool shown;
	bool started;
	uint64_t entries_before;	/* what others hold */
	uint64_t entries_held;	/* until undoing began */
	struct timespec begun;
	int64_t next_ms;	/* when to show again */
};

int progress_begin(struct progress *p, struct kvp_error *err);
void progress_event(void *cookie, const struct kvp_event *event);
/* The exit status, made worse where the trace could not be written. */
int progress_end(struct progress *p, int exit);

/* Print what was realized. */
int realize_report(const struct kvp_realization *r,
		   const struct kvp_plan *plan,
		   const struct realize_settings *s);

#endif
