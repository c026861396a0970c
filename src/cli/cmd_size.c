/*
 * kvplan size: finds the most pages and snapshot rows that fit the free
 * memory, and writes the geometry with both.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/size.h"

enum {
	FREE, GPUS, MEMORY_LIMIT, TOKENS, PAGES, SNAPSHOTS, LENGTH,
	RESERVE_CACHE, TILE_GRANULES, OUTPUT, JSON, HELP, OPTS
};

static const struct opt opts[OPTS] = {
	[FREE] = { 0, "free", "BYTES", false,
		   "free bytes, such as 90GiB; or A,B,..., one value "
		   "for each rank" },
	[GPUS] = { 0, "gpus", "LIST", true,
		   "read the free bytes of GPUs, such as 0,1; of all "
		   "without LIST" },
	[MEMORY_LIMIT] = { 0, "memory-limit", "LIMIT", false,
			   "how much to use: -1G (all but that), 90% or "
			   "70GiB; repeatable" },
	[TOKENS] = { 0, "tokens", "N", false,
		     "as many pages as N tokens need, not the most" },
	[PAGES] = { 0, "pages", "N", false, "N pages, not the most" },
	[SNAPSHOTS] = { 0, "snapshots", "N", false,
			"at most N snapshot rows" },
	[LENGTH] = { 0, "length", "N", false,
		     "count the sequences of N tokens, and the rows beside" },
	[RESERVE_CACHE] = { 0, "reserve-cache", "CAP", true,
			    "keep the bytes free that a cache of CAP (64MiB) "
			    "needs" },
	[TILE_GRANULES] = { 0, "tile-granules", "N", false,
			    "granules in a tile: more make fewer chunks, more "
			    "conflicts" },
	[OUTPUT] = { 'o', "output", "FILE", false,
		     "write the sized geometry to FILE, whole or not at "
		     "all" },
	[JSON] = { 0, "json", NULL, false, "print a JSON list" },
	[HELP] = OPT_HELP,
};

/* Times a granularity of up to 2^20 bytes it is within 2^53 - 1. */
#define TILE_GRANULES_MAX (UINT64_C(1) << 32)

/* Parse "A,B,...", one value for each rank. */
static int set_free(struct size_memory *m, const char *value)
{
	struct kvp_error err = { 0 };
	int exit = KVP_EXIT_YES;
	char *each;
	size_t len;

	if (m->count)
		return out_usage_error("--free=%s: is given twice; separate "
			"the values of several ranks by commas", value);
	for (; value && !exit; value += len + 1) {
		len = strcspn(value, ",");
		if (m->count == KVP_RANKS_MAX)
			return out_usage_error("--free: has more than %llu "
				"values, must have one, or one for each rank",
				(ull)KVP_RANKS_MAX);
		each = strndup(value, len);
		if (!each) {
			kvp_error_nomem(&err);
			return out_error(&err);
		}
		exit = opt_bytes("free", each, &m->free_bytes[m->count++]);
		free(each);
		if (!value[len])
			break;
	}
	return exit;
}

static int add_limit(struct size_settings *s, const char *value)
{
	struct sizing *each = &s->sizings[s->nlimits];
	struct kvp_error err = { 0 };
	int code;

	if (s->nlimits == SIZE_LIMITS_MAX)
		return out_usage_error("--memory-limit=%s: is one too many, "
			"at most %d can be compared", value, SIZE_LIMITS_MAX);
	code = kvp_memory_limit_read(&each->memory_limit, value, &err);
	if (code) {
		kvp_error_wrap(&err, code, "--memory-limit");
		return out_error(&err);
	}
	each->limit = value;
	s->nlimits++;
	return KVP_EXIT_YES;
}

static int set_cap(struct size_settings *s, const char *value)
{
	int exit;

	s->reserve_cache = true;
	s->cap_bytes = 0;
	if (!value)
		return KVP_EXIT_YES;
	exit = opt_bytes("reserve-cache", value, &s->cap_bytes);
	if (!exit && !s->cap_bytes)
		return out_usage_error("--reserve-cache=%s: a cache without "
			"a cap has no size to keep free; give a size such as "
			"64MiB", value);
	if (!exit && s->cap_bytes > KVP_CAP_CEILING_BYTES)
		return out_usage_error("--reserve-cache=%s: is more than "
			"%llu bytes (1 GiB), the largest cap of a cache",
			value, (ull)KVP_CAP_CEILING_BYTES);
	return exit;
}

static int set_option(void *settings, int got, const char *value)
{
	struct size_settings *s = settings;

	switch (got) {
	case FREE:
		return set_free(&s->memory, value);
	case GPUS:
		s->gpus = true;
		return opt_gpus(value, s->gpu, &s->ngpus);
	case MEMORY_LIMIT:
		return add_limit(s, value);
	case TOKENS:
		return opt_number("tokens", value, 1, KVP_NUMBER_MAX,
				  &s->tokens);
	case PAGES:
		return opt_number("pages", value, 1, KVP_NUMBER_MAX,
				  &s->pages);
	case SNAPSHOTS:
		return opt_number("snapshots", value, 0, KVP_ROWS_MAX,
				  &s->snapshots);
	case LENGTH:
		return opt_number("length", value, 1, KVP_NUMBER_MAX,
				  &s->length);
	case RESERVE_CACHE:
		return set_cap(s, value);
	case TILE_GRANULES:
		return opt_number("tile-granules", value, 1, TILE_GRANULES_MAX,
				  &s->tile_granules);
	case OUTPUT:
		s->output = value;
		return KVP_EXIT_YES;
	case JSON:
		s->json = true;
		return KVP_EXIT_YES;
	default:
		return KVP_EXIT_INPUT;
	}
}

static int check_files(const struct size_settings *s)
{
	const struct run_file files[] = {
		{ .path = s->output, .option = "-o ", .output = true },
		{ .path = s->input, .what = "the geometry" },
	};

	return files_check(files, sizeof(files) / sizeof(*files), true);
}

/* Refuse options that contradict or need another one. */
static int check_options(const struct size_settings *s)
{
	bool known = s->memory.count || s->gpus;

	if (s->memory.count && s->gpus)
		return out_usage_error("--free and --gpus contradict; give "
				       "one of them");
	if (s->tokens && s->pages)
		return out_usage_error("--tokens=%llu and --pages=%llu "
			"contradict; give one of them",
			(ull)s->tokens,
			(ull)s->pages);
	if (!known && !s->tokens && !s->pages)
		return out_usage_error("the number of pages is not known: give "
			"--free=BYTES or --gpus for the most that fit, or "
			"--pages=N or --tokens=N");
	if (!known && s->nlimits)
		return out_usage_error("--memory-limit=%s needs the free "
			"bytes; give --free=BYTES or --gpus as well",
			s->sizings[0].limit);
	if (!known && s->reserve_cache)
		return out_usage_error("--reserve-cache needs the free "
			"bytes; give --free=BYTES or --gpus as well");
	if (s->output && s->nlimits > 1)
		return out_usage_error("-o %s takes one geometry, "
			"--memory-limit=%s and --memory-limit=%s make two; "
			"give one limit", s->output, s->sizings[0].limit,
			s->sizings[1].limit);
	if (s->json && size_to_stdout(s))
		return out_usage_error("--json and -o - both write to "
			"standard output; give -o a file");
	return check_files(s);
}

static int run_size(const struct command *self, int argc, char **argv)
{
	struct size_settings s = { .snapshots = KVP_UNSTATED };
	int exit;

	exit = opt_read(self, argc, argv, set_option, &s);
	if (exit != OPT_END)
		return exit;
	if (argc - optind != 1)
		return out_usage_error("size takes one geometry, %d given; "
			"write the values of --gpus and --reserve-cache "
			"after '='; see kvplan size --help", argc - optind);
	s.input = argv[optind];
	exit = check_options(&s);
	return exit ? exit : size_run(&s);
}

const struct command cmd_size = {
	.name = "size",
	.usage = "[--free=BYTES[,BYTES]... | --gpus[=LIST]] "
		 "[--memory-limit=LIMIT]...\n"
		 "                   [--tokens=N | --pages=N] [--snapshots=N] "
		 "[--length=N]\n"
		 "                   [--reserve-cache[=CAP]] "
		 "[--tile-granules=N] [-o FILE] [--json]\n"
		 "                   GEOMETRY|-",
	.summary = "find the most pages and rows that fit the memory",
	.text = "Finds pages and snapshot_rows for a geometry, whether or not "
		"it states them, and\nprints every term.  No memory is kept "
		"free unless an option says so.  -o writes\nthe sized "
		"geometry, which is input for kvplan plan.",
	.opts = opts,
	.nopts = OPTS,
	.run = run_size,
};
