/*
 * kvplan plan: reads a geometry, writes a plan.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "size/search.h"

enum { OUTPUT, LIMITS, MERGE, QUIET, HELP, OPTS };

static const struct opt opts[OPTS] = {
	[OUTPUT] = { 'o', "output", "FILE", false,
		     "write the plan to FILE, whole or not at all" },
	[LIMITS] = { 0, "limits", "FILE", false,
		     "use the limits that kvplan probe found on the node" },
	[MERGE] = { 0, "merge", "MODE", false,
		    "none, row (default) or span" },
	[QUIET] = { 'q', "quiet", NULL, false,
		    "print warnings only, no summary" },
	[HELP] = OPT_HELP,
};

struct settings {
	const char *limits_path;	/* NULL: none */
	struct kvp_limits limits;
	const char *output;
	enum kvp_merge merge;
	bool quiet;
	const char *input;
};

static int make_plan(struct kvp_plan *plan, const struct settings *s,
		     struct kvp_error *err)
{
	struct kvp_geometry g = { 0 };
	int code = geometry_load(&g, s->input, err);

	if (code)
		return code;
	code = s->limits_path ? kvp_limits_check(&s->limits, &g, err) :
				KVP_OK;
	g.entry_limit = kvp_limits_entry_limit(&s->limits, &g);
	if (!code)
		code = kvp_plan_make(plan, &g, s->merge, err);
	kvp_geometry_release(&g);
	return code ? kvp_error_wrap(err, code, "%s",
				     kvp_file_label(s->input)) : KVP_OK;
}

static int write_plan(const struct kvp_plan *plan, const struct settings *s)
{
	struct kvp_error err;
	char *text = NULL;
	size_t len;
	int exit = KVP_EXIT_YES;
	int code = kvp_plan_write(plan, &text, &len, &err);

	if (!code && s->output && strcmp(s->output, "-"))
		code = files_write(s->output, text, len, &err);
	else if (!code)
		exit = out_text(text, len);
	free(text);
	return code ? out_error(&err) : exit;
}

static int plan_one(struct settings *s)
{
	struct kvp_plan plan = { 0 };
	struct kvp_error err = { 0 };
	struct plan_fit fit;
	int code, exit;

	code = limits_load(&s->limits, s->limits_path, &err);
	if (!code)
		code = make_plan(&plan, s, &err);
	if (code) {
		kvp_limits_release(&s->limits);
		return out_error(&err);
	}
	exit = write_plan(&plan, s);
	if (!exit && !s->quiet)
		code = summary_print(&plan, &err);
	if (!exit && !s->quiet && s->limits_path)
		summary_limits(&plan, &s->limits, s->limits_path);
	if (!exit && !code)
		code = plan_fit_find(&fit, &plan, &err);
	if (!exit && !code)
		summary_warn(&plan.geometry, plan.has_headroom ?
			     &plan.headroom : NULL, &fit);
	kvp_plan_release(&plan);
	kvp_limits_release(&s->limits);
	return code ? out_error(&err) : exit;
}

static int set_option(void *settings, int got, const char *value)
{
	struct settings *s = settings;

	switch (got) {
	case OUTPUT:
		s->output = value;
		return KVP_EXIT_YES;
	case LIMITS:
		s->limits_path = value;
		return KVP_EXIT_YES;
	case MERGE:
		if (kvp_merge_find(value, &s->merge))
			return out_usage_error("--merge=%s: must be none, row "
					       "or span", value);
		return KVP_EXIT_YES;
	case QUIET:
		s->quiet = true;
		return KVP_EXIT_YES;
	default:
		return KVP_EXIT_INPUT;
	}
}

static int check_files(const struct settings *s)
{
	const struct run_file files[] = {
		{ .path = s->output, .option = "-o ", .output = true },
		{ .path = s->input, .what = "the geometry" },
		{ .path = s->limits_path, .what = "the file of --limits" },
	};

	return files_check(files, sizeof(files) / sizeof(*files), false);
}

static int run_plan(const struct command *self, int argc, char **argv)
{
	struct settings s = { .merge = KVP_MERGE_ROW };
	int exit = opt_read(self, argc, argv, set_option, &s);

	if (exit != OPT_END)
		return exit;
	if (argc - optind != 1)
		return out_usage_error("plan takes one geometry, %d given; "
			"usage: kvplan plan %s", argc - optind, self->usage);
	s.input = argv[optind];
	exit = check_files(&s);
	return exit ? exit : plan_one(&s);
}

const struct command cmd_plan = {
	.name = "plan",
	.usage = "[-o FILE] [--limits=FILE] [--merge=none|row|span] [-q] "
		 "GEOMETRY|-",
	.summary = "make a plan from a geometry",
	.text = "Writes the plan to standard output or to FILE.  Prints a "
		"summary to standard error,\nand a warning if the plan needs "
		"more table entries than the driver has.",
	.opts = opts,
	.nopts = OPTS,
	.run = run_plan,
};
