/*
 * kvplan join: makes one capacity file from the parts of the processes that
 * realized a plan together.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/files.h"

enum { OUTPUT, ACCESS, HELP, OPTS };

static const struct opt opts[OPTS] = {
	[OUTPUT] = { 'o', "output", "FILE", false,
		     "write the capacities to FILE, whole or not at all" },
	[ACCESS] = { 0, "access", NULL, false, "also write access records" },
	[HELP] = OPT_HELP,
};

struct settings {
	const char *output;
	bool access;
	struct kvp_capacity_part parts[KVP_RANKS_MAX];
	char *texts[KVP_RANKS_MAX];	/* of the parts */
	size_t count;
};

static int read_parts(struct settings *s, char **paths, struct kvp_error *err)
{
	struct kvp_capacity_part *part;
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < s->count && !code; i++) {
		part = &s->parts[i];
		part->name = kvp_file_label(paths[i]);
		code = kvp_file_read(paths[i], &s->texts[i], &part->len, err);
		part->text = s->texts[i];
	}
	return code;
}

static int join(struct settings *s, char **paths)
{
	struct kvp_error err = { 0 };
	char *text = NULL;
	size_t len = 0, i;
	int exit = KVP_EXIT_YES;
	int code = read_parts(s, paths, &err);

	if (!code)
		code = kvp_capacity_join(s->parts, s->count, s->access, &text,
					 &len, &err);
	if (!code && s->output && strcmp(s->output, "-"))
		code = files_write(s->output, text, len, &err);
	else if (!code)
		exit = out_text(text, len);
	for (i = 0; i < s->count; i++)
		free(s->texts[i]);
	free(text);
	return code ? out_error(&err) : exit;
}

static int set_option(void *settings, int got, const char *value)
{
	struct settings *s = settings;

	switch (got) {
	case OUTPUT:
		s->output = value;
		return KVP_EXIT_YES;
	case ACCESS:
		s->access = true;
		return KVP_EXIT_YES;
	default:
		return KVP_EXIT_INPUT;
	}
}

/* The output may be no part, and standard input only one. */
static int check_files(const struct settings *s, char **paths)
{
	static struct run_file files[KVP_RANKS_MAX + 1];
	size_t i, inputs = 0;

	files[0] = (struct run_file){ .path = s->output, .option = "-o ",
				      .output = true };
	for (i = 0; i < s->count; i++) {
		files[i + 1] = (struct run_file){ .path = paths[i],
						  .what = "a part" };
		inputs += !strcmp(paths[i], "-");
	}
	if (inputs > 1)
		return out_usage_error("- is given %zu times; only one part "
				       "can be the standard input", inputs);
	return files_check(files, s->count + 1, false);
}

static int run_join(const struct command *self, int argc, char **argv)
{
	static struct settings s;
	int exit = opt_read(self, argc, argv, set_option, &s);

	if (exit != OPT_END)
		return exit;
	if (optind == argc)
		return out_usage_error("join takes the parts of all "
			"processes, none given; usage: kvplan join %s",
			self->usage);
	s.count = (size_t)(argc - optind);
	if (s.count > KVP_RANKS_MAX)
		return out_usage_error("join takes at most %llu parts, %zu "
			"given", (ull)KVP_RANKS_MAX, s.count);
	exit = check_files(&s, argv + optind);
	return exit ? exit : join(&s, argv + optind);
}

const struct command cmd_join = {
	.name = "join",
	.usage = "[-o FILE] [--access] PART|-...",
	.summary = "join what several processes realized together",
	.text = "Checks that the parts are those of one realization, with "
		"every rank once, and\nwrites the capacities that one process "
		"with all ranks would have.",
	.opts = opts,
	.nopts = OPTS,
	.run = run_join,
};
