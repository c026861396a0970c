/*
 * kvplan probe: measures what this node can do, as a table or as a limits
 * file that plans are checked against.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/probe.h"

#define MAX_DEFAULT "600,000"

enum { GPUS, ENTRIES, MAX, JSON, OUTPUT, HELP, OPTS };

static const struct opt opts[OPTS] = {
	[GPUS] = { 0, "gpus", "LIST", true,
		   "probe GPUs, such as 0,1; all visible ones without LIST" },
	[ENTRIES] = { 0, "entries", NULL, false,
		      "count the free table entries; meanwhile no other "
		      "process can map" },
	[MAX] = { 0, "max", "N", false,
		  "count at most N entries (" MAX_DEFAULT ")" },
	[JSON] = { 0, "json", NULL, false,
		   "print the limits as JSON, which --limits reads" },
	[OUTPUT] = { 'o', "output", "FILE", false,
		     "write the limits to FILE, whole or not at all" },
	[HELP] = OPT_HELP,
};

struct settings {
	bool gpus;
	uint32_t gpu[KVP_RANKS_MAX];
	size_t ngpus;		/* 0: all visible ones */
	bool json;
	const char *output;
	struct kvp_probe_options options;
};

/* The progress line on a terminal. */
struct counting {
	bool terminal;
	bool shown;
};

static void show_count(void *cookie, uint64_t entries)
{
	struct counting *c = cookie;

	if (!entries)
		out_warning("counting table entries: until all are given back, "
			    "other processes on this node may fail to map "
			    "memory");
	if (!c->terminal)
		return;
	fprintf(stderr, "\r%s entries \033[K", out_number(entries).text);
	c->shown = true;
}

static int set_option(void *settings, int got, const char *value)
{
	struct settings *s = settings;

	switch (got) {
	case GPUS:
		s->gpus = true;
		return opt_gpus(value, s->gpu, &s->ngpus);
	case ENTRIES:
		s->options.entries = true;
		return KVP_EXIT_YES;
	case MAX:
		return opt_number("max", value, 1, KVP_PROBE_ENTRIES_MAX,
				  &s->options.max_entries);
	case JSON:
		s->json = true;
		return KVP_EXIT_YES;
	case OUTPUT:
		s->output = value;
		return KVP_EXIT_YES;
	default:
		return KVP_EXIT_INPUT;
	}
}

/* Write the file first, so that a failed print does not lose it. */
static int write_limits(const struct settings *s,
			const struct kvp_limits *limits,
			struct kvp_file_out *file)
{
	struct kvp_error err = { 0 };
	char *text = NULL;
	size_t len;
	int exit = KVP_EXIT_YES, code;

	code = kvp_limits_write(limits, &text, &len, &err);
	if (!code && file->target)
		code = kvp_file_commit(file, text, len, &err);
	if (!code && s->json)
		exit = out_text(text, len);
	free(text);
	if (!code && !s->json)
		code = probe_report(limits, &exit, &err);
	return code ? out_error(&err) : exit;
}

static int probe_node(struct settings *s)
{
	struct counting c = { .terminal = isatty(STDERR_FILENO) };
	struct kvp_file_out file = { .target = NULL };
	struct kvp_limits limits = { .driver = "" };
	struct kvp_error err = { 0 };
	int exit, code = KVP_OK;

	if (s->output && strcmp(s->output, "-"))
		code = files_begin(&file, s->output, &err);
	if (!code) {
		interrupt_catch();
		file.interrupt = &interrupt_signal;
		s->options.interrupt = &interrupt_signal;
		s->options.counting = show_count;
		s->options.cookie = &c;
		code = kvp_probe_run(&limits, s->ngpus ? s->gpu : NULL,
				     s->ngpus, &s->options, &err);
		if (c.shown)
			fprintf(stderr, "\r\033[K");
	}
	exit = code ? out_error(&err) : write_limits(s, &limits, &file);
	kvp_file_abandon(&file);
	kvp_limits_release(&limits);
	return exit;
}

static int run_probe(const struct command *self, int argc, char **argv)
{
	struct settings s = { .gpus = false };
	int exit;

	exit = opt_read(self, argc, argv, set_option, &s);
	if (exit != OPT_END)
		return exit;
	if (argc != optind)
		return out_usage_error("probe takes no file, %d given; write "
			"the value of --gpus after '='; see kvplan probe "
			"--help", argc - optind);
	if (!s.gpus)
		return out_usage_error("only GPUs can be probed: give --gpus");
	if (s.options.max_entries && !s.options.entries)
		return out_usage_error("--max has no effect without "
				       "--entries; give both");
	s.json = s.json || (s.output && !strcmp(s.output, "-"));
	exit = files_check(&(struct run_file){ .path = s.output,
			   .option = "-o ", .output = true }, 1, true);
	return exit ? exit : probe_node(&s);
}

const struct command cmd_probe = {
	.name = "probe",
	.usage = "--gpus[=LIST] [--entries [--max=N]] [--json] [-o FILE]",
	.summary = "measure what this node's GPUs can do",
	.text = "Tries with little memory what the driver allows and how long "
		"its calls take, and\ngives everything back.  plan, verify "
		"and realize use the file with --limits.",
	.opts = opts,
	.nopts = OPTS,
	.run = run_probe,
};
