/*
 * kvplan realize: maps a plan on this machine's memory or GPUs and gives
 * everything back at the end.  It shows whether a node can hold the plan;
 * engines call the library in their own process.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/realize.h"

enum {
	HOST, GPUS, RANKS, CHECK, LIMITS, ADDRESSES, PUBLISH, TRACE, HOLD,
	WARN, JSON, HELP, OPTS
};

static const struct opt opts[OPTS] = {
	[HOST] = { 0, "host", NULL, false,
		   "use this machine's memory (the default)" },
	[GPUS] = { 0, "gpus", "LIST", true,
		   "use GPUs, such as 0,1; all visible ones without LIST" },
	[RANKS] = { 0, "ranks", "A-B", false, "realize ranks A to B only" },
	[CHECK] = { 0, "check", "quick|full", true,
		    "write and read memory to check the mappings" },
	[LIMITS] = { 0, "limits", "FILE", false,
		     "use the limits that kvplan probe found on this node" },
	[ADDRESSES] = { 0, "addresses", "FILE", false,
			"reserve the addresses in FILE, written by --publish" },
	[PUBLISH] = { 0, "publish", "FILE", false,
		      "write the capacities to FILE after success" },
	[TRACE] = { 0, "trace", "FILE", false,
		    "write every state and call to FILE as a JSON line" },
	[HOLD] = { 0, "hold", NULL, false,
		   "keep everything until SIGINT or SIGTERM" },
	[WARN] = { 0, "warn", "RULE", false,
		   "findings of entry-limit, bound or headroom are warnings" },
	[JSON] = { 0, "json", NULL, false,
		   "print capacities and access records as JSON" },
	[HELP] = OPT_HELP,
};

/* "A-B" or "A". */
static int set_ranks(struct realize_settings *s, const char *value)
{
	unsigned long first, last;
	char *end;

	if (*value < '0' || *value > '9')
		goto bad;
	first = last = strtoul(value, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		last = strtoul(end + 1, &end, 10);
	if (*end || last < first)
		goto bad;
	if (last >= KVP_RANKS_MAX)
		return out_usage_error("--ranks=%s: ranks are numbered 0 to "
			"%llu at most", value,
			(ull)KVP_RANKS_MAX - 1);
	s->ranks_given = true;
	s->options.first_rank = (uint32_t)first;
	s->options.nranks = (uint32_t)(last - first + 1);
	return KVP_EXIT_YES;
bad:
	return out_usage_error("--ranks=%s: must be one rank or a range such "
			       "as 0-7", value);
}

static int set_gpus(struct realize_settings *s, const char *value)
{
	s->gpus = true;
	return opt_gpus(value, s->gpu, &s->ngpus);
}

static int set_option(void *settings, int got, const char *value)
{
	struct realize_settings *s = settings;

	switch (got) {
	case HOST:
		s->host = true;
		return KVP_EXIT_YES;
	case GPUS:
		return set_gpus(s, value);
	case RANKS:
		return set_ranks(s, value);
	case CHECK:
		return realize_set_check(s, value);
	case LIMITS:
		s->limits_path = value;
		return KVP_EXIT_YES;
	case ADDRESSES:
		s->addresses = value;
		return KVP_EXIT_YES;
	case PUBLISH:
		return realize_set_file(&s->options.publish, "publish", value);
	case TRACE:
		return realize_set_file(&s->trace, "trace", value);
	case HOLD:
		s->hold = true;
		return KVP_EXIT_YES;
	case WARN:
		return realize_set_warn(s, value);
	case JSON:
		s->json = true;
		return KVP_EXIT_YES;
	default:
		return KVP_EXIT_INPUT;
	}
}

/* Print the report, wait if --hold is given, give everything back. */
static int report_and_release(struct kvp_realization *r,
			      const struct kvp_plan *plan,
			      struct realize_settings *s)
{
	struct kvp_error err = { 0 };
	int exit = realize_report(r, plan, s), code;

	if (!exit && s->hold)
		realize_hold();
	code = kvp_realization_free(r, &err);
	return code ? out_error(&err) : exit;
}

static int realize_plan(const struct kvp_plan *plan,
			const struct kvp_verdict *verdict,
			struct realize_settings *s)
{
	struct kvp_realization *r = NULL;
	struct kvp_backend *backend = NULL;
	struct progress progress = { .s = s };
	struct kvp_error err = { 0 };
	int exit, code = realize_backend(&backend, plan, s, &err);

	if (!code)
		code = progress_begin(&progress, &err);
	if (!code) {
		if (s->options.publish)
			files_await_reader(s->options.publish);
		interrupt_catch();
		s->options.event = progress_event;
		s->options.cookie = &progress;
		s->options.interrupt = &interrupt_signal;
		code = kvp_realize(&r, plan, verdict, backend, &s->options,
				   &err);
	}
	exit = code ? realize_error(plan, s, progress.entries_held, &err) :
		      report_and_release(r, plan, s);
	exit = progress_end(&progress, exit);
	kvp_backend_close(backend);
	return exit;
}

static bool check_ranks(const struct kvp_plan *plan,
			const struct realize_settings *s)
{
	uint64_t ranks = plan->geometry.ranks;
	uint32_t first = s->options.first_rank;

	if (!s->ranks_given ||
	    (first < ranks && s->options.nranks <= ranks - first))
		return true;
	if (s->options.nranks == 1)
		out_usage_error("--ranks=%u: the plan has ranks 0 to %llu",
				first, (ull)ranks - 1);
	else
		out_usage_error("--ranks=%u-%u: the plan has ranks 0 to %llu",
				first, first + s->options.nranks - 1,
				(ull)ranks - 1);
	return false;
}

static int check_files(const struct realize_settings *s, const char *plan)
{
	const struct run_file files[] = {
		{ .path = s->trace, .option = "--trace=",
		  .what = "the file of --trace", .output = true },
		{ .path = s->options.publish, .option = "--publish=",
		  .what = "the file of --publish", .output = true },
		{ .path = plan, .what = "the plan" },
		{ .path = s->limits_path, .what = "the file of --limits" },
		{ .path = s->addresses, .what = "the file of --addresses",
		  .replaced_by = "--publish=" },
	};

	return files_check(files, sizeof(files) / sizeof(*files), true);
}

static int realize_file(struct realize_settings *s, const char *path)
{
	struct realize_input in = { .verdict = NULL };
	struct kvp_error err = { 0 };
	int exit, code = realize_read(&in, s, path, &err);

	if (code)
		exit = out_error(&err);
	else if (!check_ranks(&in.plan, s))
		exit = KVP_EXIT_INPUT;
	else
		exit = realize_plan(&in.plan, in.verdict, s);
	realize_release(&in, s);
	return exit;
}

static int run_realize(const struct command *self, int argc, char **argv)
{
	struct realize_settings s = { 0 };
	int exit;

	realize_set_rules(&s);
	exit = opt_read(self, argc, argv, set_option, &s);
	if (exit != OPT_END)
		return exit;
	if (s.host && s.gpus)
		return out_usage_error("--host and --gpus contradict; give "
				       "one of them");
	if (argc - optind != 1)
		return out_usage_error("realize takes one plan, %d given; "
			"write the values of --gpus and --check after '='; "
			"see kvplan realize --help", argc - optind);
	if (s.addresses && !strcmp(s.addresses, "-") &&
	    !strcmp(argv[optind], "-"))
		return out_usage_error("--addresses=- and the plan are both "
			"standard input; give a file for one of them");
	if (check_files(&s, argv[optind]) ||
	    override_load(&s.options.cap, NULL))
		return KVP_EXIT_INPUT;
	return realize_file(&s, argv[optind]);
}

const struct command cmd_realize = {
	.name = "realize",
	.usage = "[--host | --gpus[=LIST]] [--ranks=A-B] "
		 "[--check[=quick|full]]\n"
		 "                      [--limits=FILE] [--addresses=FILE] "
		 "[--publish=FILE]\n"
		 "                      [--trace=FILE] [--hold] [--warn=RULE] "
		 "[--json] PLAN|-",
	.summary = "realize a plan on this machine's memory or GPUs",
	.text = "Verifies the plan and checks that the machine can hold it.  "
		"Then reserves addresses,\ncreates physical allocations, maps "
		"them, grants access, and gives everything back.\nEngines "
		"call the library in their own process.",
	.opts = opts,
	.nopts = OPTS,
	.run = run_realize,
};
