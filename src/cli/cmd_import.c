/*
 * kvplan import: reads a model's config.json, writes a geometry and how each
 * of its numbers was derived.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/files.h"

enum {
	TP, DCP, RANKS_PER_NODE, PAGE_TOKENS, KV_DTYPE, CONV_DTYPE,
	STATE_DTYPE, EXECUTION_ROWS, SNAPSHOT_ROWS, PAGES, SPEC_TOKENS, MTP,
	STAGE, AS, NAME, OUTPUT, QUIET, LIST_FAMILIES, HELP, OPTS
};

static const struct opt opts[OPTS] = {
	[TP] = { 0, "tp", "N", false, "tensor-parallel ranks; required" },
	[DCP] = { 0, "dcp", "N", false, "ranks of a DCP group (1)" },
	[RANKS_PER_NODE] = { 0, "ranks-per-node", "N", false,
			     "ranks on one node (all)" },
	[PAGE_TOKENS] = { 0, "page-tokens", "N", false,
			  "tokens of a page (the family's in vLLM)" },
	[KV_DTYPE] = { 0, "kv-dtype", "T", false,
		       "type of keys and values (the config's)" },
	[CONV_DTYPE] = { 0, "conv-dtype", "T", false,
			 "type of the convolution (the config's)" },
	[STATE_DTYPE] = { 0, "state-dtype", "T", false,
			  "type of the recurrent state" },
	[EXECUTION_ROWS] = { 0, "execution-rows", "N", false,
			     "rows of running sequences (256)" },
	[SNAPSHOT_ROWS] = { 0, "snapshot-rows", "N", false,
			    "rows of saved sequences (left to kvplan size)" },
	[PAGES] = { 0, "pages", "N", false,
		    "pages of a rank (left to kvplan size)" },
	[SPEC_TOKENS] = { 0, "spec-tokens", "N", false,
			  "speculative tokens a row has room for (0)" },
	[MTP] = { 0, "mtp", "N", true,
		  "count N MTP layers, too; all without N" },
	[STAGE] = { 0, "stage", "I/N", false,
		    "pipeline stage I of N; or I/A,B,..., the layers of "
		    "each stage" },
	[AS] = { 0, "as", "FAMILY", false,
		 "read the config as one of this family" },
	[NAME] = { 0, "name", "NAME", false, "the geometry's name" },
	[OUTPUT] = { 'o', "output", "FILE", false,
		     "write the geometry to FILE, whole or not at all" },
	[QUIET] = { 'q', "quiet", NULL, false, "print no derivation" },
	[LIST_FAMILIES] = { 0, "list-families", NULL, false,
			    "list the families and their model_type" },
	[HELP] = OPT_HELP,
};

struct settings {
	struct kvp_import_options options;
	uint64_t stage_layers[KVP_IMPORT_STAGES_MAX];
	const char *output;
	bool quiet;
	bool list;
	const char *input;
};

static int refuse_stage(const char *value)
{
	return out_usage_error("--stage=%s: must be I/N, such as 1/4, or I "
		"and the layers of every stage, such as 1/16,16,15", value);
}

/* Parse digits and move *p past them.  Saturates above KVP_IMPORT_LAYERS_MAX;
   false if there is no digit. */
static bool parse_digits(const char **p, uint64_t *number)
{
	const char *start = *p;

	for (*number = 0; **p >= '0' && **p <= '9'; ++*p)
		if (*number <= KVP_IMPORT_LAYERS_MAX)
			*number = *number * 10 + (uint64_t)(**p - '0');
	return *p > start;
}

/* "2/4", or "2/16,16,15,14": the layers of each stage. */
static int set_stage(struct settings *s, const char *value)
{
	struct kvp_import_options *o = &s->options;
	const char *p = value;
	uint64_t most;
	size_t count = 0;

	if (!parse_digits(&p, &o->stage) || *p++ != '/')
		return refuse_stage(value);
	most = o->stage;
	do {
		if (count == KVP_IMPORT_STAGES_MAX)
			return out_usage_error("--stage: lists more than %d "
				"stages", KVP_IMPORT_STAGES_MAX);
		if (!parse_digits(&p, &s->stage_layers[count]))
			return refuse_stage(value);
		if (s->stage_layers[count] > most)
			most = s->stage_layers[count];
		count++;
	} while (*p++ == ',');
	if (p[-1])
		return refuse_stage(value);
	if (most > KVP_IMPORT_LAYERS_MAX)
		return out_usage_error("--stage=%s: must have numbers of at "
			"most %llu, the most layers a model has", value,
			(ull)KVP_IMPORT_LAYERS_MAX);
	o->stages = count > 1 ? count : s->stage_layers[0];
	o->stage_layers = count > 1 ? s->stage_layers : NULL;
	return KVP_EXIT_YES;
}

static int set_mtp(struct settings *s, const char *value)
{
	s->options.mtp_layers = KVP_IMPORT_MTP_ALL;
	return value ? opt_number("mtp", value, 0, KVP_IMPORT_MTP_MAX,
				  &s->options.mtp_layers) : KVP_EXIT_YES;
}

/* Store an option that is a number. */
static int set_number(struct settings *s, int got, const char *value)
{
	struct kvp_import_options *o = &s->options;
	const struct {
		uint64_t *number, low, high;
	} row[OPTS] = {
		[TP] = { &o->tp, 1, KVP_RANKS_MAX },
		[DCP] = { &o->dcp, 1, KVP_RANKS_MAX },
		[RANKS_PER_NODE] = { &o->ranks_per_node, 1, KVP_RANKS_MAX },
		[PAGE_TOKENS] = { &o->page_tokens, 1, KVP_IMPORT_DIM_MAX },
		[EXECUTION_ROWS] = { &o->execution_rows, 0, KVP_ROWS_MAX },
		[SNAPSHOT_ROWS] = { &o->snapshot_rows, 0, KVP_ROWS_MAX },
		[PAGES] = { &o->pages, 1, KVP_NUMBER_MAX },
		[SPEC_TOKENS] = { &o->spec_tokens, 0, KVP_IMPORT_SPEC_MAX },
	};

	if (got < 0 || !row[got].number)
		return KVP_EXIT_INPUT;
	return opt_number(opts[got].name, value, row[got].low, row[got].high,
			  row[got].number);
}

static int set_option(void *settings, int got, const char *value)
{
	struct settings *s = settings;
	struct kvp_import_options *o = &s->options;

	switch (got) {
	case KV_DTYPE:
		o->kv_dtype = value;
		return KVP_EXIT_YES;
	case CONV_DTYPE:
		o->conv_dtype = value;
		return KVP_EXIT_YES;
	case STATE_DTYPE:
		o->state_dtype = value;
		return KVP_EXIT_YES;
	case MTP:
		return set_mtp(s, value);
	case STAGE:
		return set_stage(s, value);
	case AS:
		o->family = value;
		return KVP_EXIT_YES;
	case NAME:
		o->name = value;
		return KVP_EXIT_YES;
	case OUTPUT:
		s->output = value;
		return KVP_EXIT_YES;
	case QUIET:
		s->quiet = true;
		return KVP_EXIT_YES;
	case LIST_FAMILIES:
		s->list = true;
		return KVP_EXIT_YES;
	default:
		return set_number(s, got, value);
	}
}

static int list_families(void)
{
	const struct kvp_import_family *f;
	struct strbuf b = { 0 };
	struct kvp_error err;
	char *text = NULL;
	size_t i, len;
	int exit, code;

	for (i = 0; (f = kvp_import_family(i)); i++)
		strbuf_printf(&b, "%s: %s\n    model_type: %s\n", f->name,
			      f->cache, f->types);
	code = strbuf_detach(&b, &text, &len, &err);
	exit = code ? out_error(&err) : out_text(text, len);
	free(text);
	return exit;
}

static int write_geometry(const struct settings *s, const char *text,
			  size_t len)
{
	struct kvp_error err;
	int code;

	if (!s->output || !strcmp(s->output, "-"))
		return out_text(text, len);
	code = files_write(s->output, text, len, &err);
	return code ? out_error(&err) : KVP_EXIT_YES;
}

static int import_config(const struct settings *s)
{
	struct kvp_error err = { 0 };
	char *config = NULL, *geometry = NULL, *derivation = NULL;
	size_t len, geometry_len = 0, derivation_len;
	int exit = KVP_EXIT_YES;
	int code = kvp_file_read(s->input, &config, &len, &err);

	if (!code)
		code = kvp_import(&geometry, &geometry_len, &derivation,
				  &derivation_len, kvp_file_label(s->input),
				  config, len, &s->options, &err);
	if (!code)
		exit = write_geometry(s, geometry, geometry_len);
	if (!exit && derivation && !s->quiet)
		fputs(derivation, stderr);
	if (code)
		exit = out_error(&err);
	free(config);
	free(geometry);
	free(derivation);
	return exit;
}

static int check_files(const struct settings *s)
{
	const struct run_file files[] = {
		{ .path = s->output, .option = "-o ", .output = true },
		{ .path = s->input, .what = "the config" },
	};

	return files_check(files, sizeof(files) / sizeof(*files), false);
}

static int run_import(const struct command *self, int argc, char **argv)
{
	static struct settings s;	/* too large for the stack */
	int exit;

	kvp_import_options_init(&s.options);
	exit = opt_read(self, argc, argv, set_option, &s);
	if (exit != OPT_END)
		return exit;
	if (s.list && argc == optind)
		return list_families();
	if (argc - optind != 1 || s.list)
		return out_usage_error("import takes one config.json%s, %d "
			"given; usage: kvplan import %s",
			s.list ? ", or none with --list-families" : "",
			argc - optind, self->usage);
	s.input = argv[optind];
	exit = check_files(&s);
	return exit ? exit : import_config(&s);
}

const struct command cmd_import = {
	.name = "import",
	.usage = "--tp=N [OPTION]... [-o FILE] CONFIG.json|-",
	.summary = "make a geometry from a model's config.json",
	.text = "Writes a geometry to standard output or to FILE.  Prints to "
		"standard error how each\nnumber was derived: the keys, the "
		"formula, and the source of every default.  A\ngeometry "
		"without pages and snapshot rows is input for kvplan size.",
	.opts = opts,
	.nopts = OPTS,
	.run = run_import,
};
