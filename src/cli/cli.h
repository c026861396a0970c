/*
 * What the commands share.  Only this room prints and decides exit codes.
 */
#ifndef KVPLAN_CLI_CLI_H
#define KVPLAN_CLI_CLI_H

#include <stddef.h>
#include <stdint.h>

#include <kvplan/kvplan.h>

#include "base/error.h"
#include "base/strbuf.h"

/* One row describes an option to the parser and to --help. */
struct opt {
	char letter;		/* 0: none */
	const char *name;
	const char *argument;	/* NULL: takes none */
	bool optional;		/* the argument may be left out */
	const char *help;
};

#define OPT_HELP { 'h', "help", NULL, false, "print this text" }

struct command {
	const char *name;
	const char *usage;	/* what follows "kvplan NAME " */
	const char *summary;	/* one line */
	const char *text;	/* a paragraph for --help */
	const struct opt *opts;
	size_t nopts;
	int (*run)(const struct command *self, int argc, char **argv);
	const struct command *sub;	/* "NAME WORD", or NULL */
};

extern const struct command cmd_headroom;
extern const struct command cmd_headroom_simulate;
extern const struct command cmd_import;
extern const struct command cmd_plan;
extern const struct command cmd_probe;
extern const struct command cmd_realize;
extern const struct command cmd_size;
extern const struct command cmd_verify;

/* opt.c */

/* Not a status: operands begin at optind. */
enum { OPT_END = -1 };

void opt_help(const struct command *command);

/* Take an option into the settings.  KVP_EXIT_YES or another status. */
typedef int opt_set(void *settings, int got, const char *value);

/*
 * Read all options.  OPT_END when operands begin at optind; else the status
 * to end with: --help was answered, or an error printed.
 */
int opt_read(const struct command *command, int argc, char **argv,
	     opt_set *set, void *settings);

/*
 * The value of --gpus, "0,1" or NULL for all, into gpu[KVP_RANKS_MAX].
 * KVP_EXIT_YES or, after a message, KVP_EXIT_INPUT.
 */
int opt_gpus(const char *value, uint32_t *gpu, size_t *count);

/* A size such as "262MiB", see base/bytes.h.  As opt_gpus(). */
int opt_bytes(const char *option, const char *value, uint64_t *bytes);

/* A whole number from low to high.  As opt_gpus(). */
int opt_number(const char *option, const char *value, uint64_t low,
	       uint64_t high, uint64_t *number);

/* load.c: read the file of --limits; empty where path is NULL. */
int limits_load(struct kvp_limits *limits, const char *path,
		struct kvp_error *err);

/* Read the geometry in a file; release it.  On failure it is empty. */
int geometry_load(struct kvp_geometry *g, const char *path,
		  struct kvp_error *err);
int geometry_load_unsized(struct kvp_geometry *g, const char *path,
			  struct kvp_error *err);

/*
 * KVPLAN_ALLOC_CACHE_MAX_MB, or option_value (may be NULL) in its place.
 * KVP_EXIT_YES or, after a message, KVP_EXIT_INPUT.
 */
int override_load(struct kvp_cap_override *o, const char *option_value);

/* Is a cap reached before memory runs out?  As the rule headroom has it. */
static inline bool cap_is_reached(bool bounded, uint64_t cap_bytes,
				  uint64_t free_bytes)
{
	return bounded && cap_bytes <= free_bytes / 2;
}

/* A cap that is never reached is what the policy is there to avoid. */
void cap_warn(const struct kvp_cap *cap, uint64_t free_bytes);

/* out.c */

/* The exit status of a code; after an interrupt that of the signal. */
int out_status(int code);

/* Print "kvplan: error: ..." and return the exit code that goes with it. */
int out_error(const struct kvp_error *err);
int out_usage_error(const char *format, ...) KVP_PRINTF(1, 2);
void out_warning(const char *format, ...) KVP_PRINTF(1, 2);

/* Write to standard output; KVP_EXIT_YES or, after a message, 3. */
int out_text(const char *text, size_t len);

/* Close standard output, as out_text(): some errors come only then. */
int out_close(void);

/* 1234567 as "1,234,567". */
struct number {
	char text[32];
};
struct number out_number(uint64_t value);

/* summary.c: a plan in a few lines for people, to standard error. */
int summary_print(const struct kvp_plan *plan, struct kvp_error *err);

/* And where its entry limit comes from, with --limits. */
void summary_limits(const struct kvp_plan *plan,
		    const struct kvp_limits *limits, const char *path);

/* Warn when a node's entries exceed the limit, and say which mode fits; and
   when a cap is never reached (h may be NULL), or there are not as many
   addresses. */
struct plan_fit;
void summary_warn(const struct kvp_geometry *g, const struct kvp_headroom *h,
		  const struct plan_fit *fit);

#endif
