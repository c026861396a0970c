/*
 * What all commands share: options, files they read, messages.  Only this
 * room and kvcheck print and choose exit statuses.
 */
#ifndef KVPLAN_CLI_CLI_H
#define KVPLAN_CLI_CLI_H

#include <stddef.h>
#include <stdint.h>

#include <kvplan/kvplan.h>

#include "base/error.h"
#include "base/strbuf.h"

/* An option, for the parser and for --help. */
struct opt {
	char letter;		/* 0: none */
	const char *name;
	const char *argument;	/* NULL: takes none */
	bool optional;		/* the argument may be left out */
	const char *help;
};

#define OPT_HELP { 'h', "help", NULL, false, "print this text" }

struct command {
	const char *name;	/* NULL: the program is the command */
	const char *usage;	/* what follows "kvplan NAME " */
	const char *summary;	/* one line */
	const char *text;	/* a paragraph for --help */
	const struct opt *opts;
	size_t nopts;
	int (*run)(const struct command *self, int argc, char **argv);
	const struct command *sub;	/* the command "NAME WORD"; or NULL */
};

extern const struct command cmd_headroom;
extern const struct command cmd_headroom_simulate;
extern const struct command cmd_import;
extern const struct command cmd_join;
extern const struct command cmd_plan;
extern const struct command cmd_probe;
extern const struct command cmd_realize;
extern const struct command cmd_size;
extern const struct command cmd_verify;

/* opt.c */

/* No exit status: all options are read, operands begin at optind. */
enum { OPT_END = -1 };

/* Print usage and options of a command. */
void opt_help(const struct command *command);

/*
 * Store the value of option `got`, an index into the command's opts.
 * KVP_EXIT_YES or the status to end with.
 */
typedef int opt_set(void *settings, int got, const char *value);

/*
 * Read all options.  OPT_END, or the status to end with once the help or an
 * error is printed.
 */
int opt_read(const struct command *command, int argc, char **argv,
	     opt_set *set, void *settings);

/*
 * Parse the value of --gpus, "0,1" or NULL for all GPUs, into
 * gpu[KVP_RANKS_MAX]; *count is 0 for all.  KVP_EXIT_YES or, after a message,
 * KVP_EXIT_INPUT.
 */
int opt_gpus(const char *value, uint32_t *gpu, size_t *count);

/* Parse a size such as "262MiB", see base/bytes.h.  Returns as opt_gpus(). */
int opt_bytes(const char *option, const char *value, uint64_t *bytes);

/* Parse a whole number from low to high.  Returns as opt_gpus(). */
int opt_number(const char *option, const char *value, uint64_t low,
	       uint64_t high, uint64_t *number);

/* load.c: read the file of --limits; *limits is empty if path is NULL. */
int limits_load(struct kvp_limits *limits, const char *path,
		struct kvp_error *err);

/* Read a geometry from a file; the caller releases it.  Empty on failure. */
int geometry_load(struct kvp_geometry *g, const char *path,
		  struct kvp_error *err);
int geometry_load_unsized(struct kvp_geometry *g, const char *path,
			  struct kvp_error *err);

/*
 * Read the cap that overrides the policy: option_value, or if that is NULL
 * the variable KVPLAN_ALLOC_CACHE_MAX_MB.  KVP_EXIT_YES or, after a message,
 * KVP_EXIT_INPUT.
 */
int override_load(struct kvp_cap_override *o, const char *option_value);

/* Is the cap reached before memory runs out?  The rule headroom's test. */
static inline bool cap_is_reached(bool bounded, uint64_t cap_bytes,
				  uint64_t free_bytes)
{
	return bounded && cap_bytes <= free_bytes / 2;
}

/* Warn if an override is no cap, or one that may never be reached. */
void cap_warn(const struct kvp_cap *cap, uint64_t free_bytes);

/* out.c */

/* The program's name in messages: "kvplan" unless it sets another. */
extern const char *out_program;
/* Print neither messages nor results: another process of the job does. */
extern bool out_silent;
/* Where errors go instead of being printed; NULL: nowhere else. */
extern struct kvp_error *out_kept;

/* The exit status of a code; after an interrupt 128 + the signal. */
int out_status(int code);

/* Print "kvplan: error: ..." and return the exit status of the error. */
int out_error(const struct kvp_error *err);
int out_usage_error(const char *format, ...) KVP_PRINTF(1, 2);
void out_warning(const char *format, ...) KVP_PRINTF(1, 2);

/* Write to standard output.  KVP_EXIT_YES or, after a message,
   KVP_EXIT_ENVIRONMENT. */
int out_text(const char *text, size_t len);

/* Close standard output; some errors show only then.  As out_text(). */
int out_close(void);

/* 1234567 as "1,234,567". */
struct number {
	char text[32];
};
struct number out_number(uint64_t value);

/* "1 page", "2,000 pages"; the noun has at most 32 bytes. */
struct count {
	char text[64];
};
struct count out_count(uint64_t value, const char *noun);

/* summary.c: print a plan in a few lines to standard error. */
int summary_print(const struct kvp_plan *plan, struct kvp_error *err);

/* Print where the plan's entry limit comes from, with --limits. */
void summary_limits(const struct kvp_plan *plan,
		    const struct kvp_limits *limits, const char *path);

struct plan_fit;

/*
 * Warn if the entries of a node exceed the limit, and say which mode fits; if
 * the cap in `h` is never reached; if no GPU has addresses enough.  h may be
 * NULL.
 */
void summary_warn(const struct kvp_geometry *g, const struct kvp_headroom *h,
		  const struct plan_fit *fit);

#endif
