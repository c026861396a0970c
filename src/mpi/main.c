/*
 * kvplan-mpi: realizes a plan with a process for every rank, which mpirun or
 * srun starts on one or several nodes.
 */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/standard.h"
#include "cli/files.h"
#include "mpi/launcher.h"
#include "mpi/run.h"

#define DEADLINE_MAX UINT64_C(86400)	/* seconds */

enum {
	HOST, GPUS, SHARE_GPU, CHECK, LIMITS, PUBLISH, HOLD, WARN, DEADLINE,
	SOCKET_DIR, PROGRESS, JSON, VERBOSE, HELP, OPTS
};

static const struct opt opts[OPTS] = {
	[HOST] = { 0, "host", NULL, false,
		   "use this machine's memory (the default)" },
	[GPUS] = { 0, "gpus", NULL, false, "use one GPU for every process" },
	[SHARE_GPU] = { 0, "share-gpu", NULL, false,
			"several processes of a node may use one GPU" },
	[CHECK] = { 0, "check", "quick|full", true,
		    "write and read memory to check the mappings" },
	[LIMITS] = { 0, "limits", "FILE", false,
		     "use the limits that kvplan probe found on this node" },
	[PUBLISH] = { 0, "publish", "FILE", false,
		      "write the capacities to FILE after success" },
	[HOLD] = { 0, "hold", NULL, false,
		   "keep everything until SIGINT or SIGTERM" },
	[WARN] = { 0, "warn", "RULE", false,
		   "findings of entry-limit, bound or headroom are warnings" },
	[DEADLINE] = { 0, "deadline", "SECONDS", false,
		       "end if others make no progress for so long (60)" },
	[SOCKET_DIR] = { 0, "socket-dir", "DIR", false,
			 "the directory of the processes' sockets" },
	[PROGRESS] = { 0, "progress", NULL, false,
		       "show progress though mpirun hides the terminal" },
	[JSON] = { 0, "json", NULL, false,
		   "print capacities and access records as JSON" },
	[VERBOSE] = { 'v', "verbose", NULL, false,
		      "every process prints its messages, not rank 0 alone" },
	[HELP] = OPT_HELP,
};

static int set_option(void *settings, int got, const char *value)
{
	struct settings *s = settings;

	switch (got) {
	case HOST:
		s->realize.host = true;
		return KVP_EXIT_YES;
	case GPUS:
		s->realize.gpus = true;
		return KVP_EXIT_YES;
	case SHARE_GPU:
		s->share_gpu = true;
		return KVP_EXIT_YES;
	case CHECK:
		return realize_set_check(&s->realize, value);
	case LIMITS:
		s->realize.limits_path = value;
		return KVP_EXIT_YES;
	case PUBLISH:
		return realize_set_file(&s->publish, "publish", value);
	case HOLD:
		s->realize.hold = true;
		return KVP_EXIT_YES;
	case WARN:
		return realize_set_warn(&s->realize, value);
	case DEADLINE:
		return opt_number("deadline", value, 1, DEADLINE_MAX,
				  &s->deadline);
	case SOCKET_DIR:
		s->directory = value;
		return KVP_EXIT_YES;
	case PROGRESS:
		s->progress = true;
		return KVP_EXIT_YES;
	case JSON:
		s->realize.json = true;
		return KVP_EXIT_YES;
	case VERBOSE:
		s->verbose = true;
		return KVP_EXIT_YES;
	default:
		return KVP_EXIT_INPUT;
	}
}

static int check_files(const struct settings *s)
{
	const struct run_file files[] = {
		{ .path = s->publish, .option = "--publish=",
		  .what = "the file of --publish", .output = true },
		{ .path = s->plan, .what = "the plan" },
		{ .path = s->realize.limits_path,
		  .what = "the file of --limits" },
	};

	return files_check(files, sizeof(files) / sizeof(*files), true);
}

static const struct command command = {
	.usage = "[--host | --gpus] [--share-gpu] [--check[=quick|full]]\n"
		 "                  [--limits=FILE] [--publish=FILE] [--hold] "
		 "[--warn=RULE]\n"
		 "                  [--deadline=SECONDS] [--socket-dir=DIR] "
		 "[--progress]\n"
		 "                  [--json] [--verbose] PLAN",
	.text = "Realizes a plan with a process for every rank: mpirun -n "
		"16 kvplan-mpi ...\nRank i of the job is rank i of the plan.  "
		"All is given back at the end.",
	.opts = opts,
	.nopts = OPTS,
};

/* OPT_END, or the status to end with. */
static int read_command(struct settings *s, int argc, char **argv)
{
	int exit;

	realize_set_rules(&s->realize);
	exit = opt_read(&command, argc, argv, set_option, s);
	if (exit != OPT_END)
		return exit;
	if (s->realize.host && s->realize.gpus)
		return out_usage_error("--host and --gpus contradict; give "
				       "one of them");
	if (argc - optind != 1 || !strcmp(argv[optind], "-"))
		return out_usage_error("one plan is needed, a file that every "
			"process can read; see kvplan-mpi --help");
	s->plan = argv[optind];
	if (check_files(s) || override_load(&s->realize.options.cap, NULL))
		return KVP_EXIT_INPUT;
	return OPT_END;
}

/*
 * Read the command and run the job.  A process that cannot take part tells the
 * others why: they wait for all, and rank 0 prints.
 */
static int run(struct settings *s, int argc, char **argv)
{
	bool among_others = launcher_is_there();
	int exit;

	out_kept = among_others ? &s->refused : NULL;
	exit = read_command(s, argc, argv);
	out_kept = NULL;
	if (exit == OPT_END)
		return run_job(s);
	s->helped = !exit;
	if (s->helped)
		kvp_error_set(&s->refused, KVP_EINPUT, "this process was "
			      "asked for --help, others were not");
	if (among_others)
		run_job(s);
	return exit;
}

int main(int argc, char **argv)
{
	struct settings s = { .deadline = 60 };
	int exit, written;

	launcher_die_with();
	if (!standard_open_missing())
		return KVP_EXIT_ENVIRONMENT;
	unsetenv("POSIXLY_CORRECT");	/* it changes getopt_long() */
	/* A closed pipe and a file beyond its size limit are write errors. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	out_program = "kvplan-mpi";
	out_silent = launcher_rank() != 0;
	exit = run(&s, argc, argv);
	written = out_close();	/* flushes what --help printed */
	return written > exit ? written : exit;
}
