/*
 * Options: one table is used for getopt_long() and --help.
 */
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "cli/cli.h"

/* No exit status either: an error was printed. */
#define OPT_BAD (-2)

#define OPTS_MAX 24
#define OPT_GPU_MAX UINT32_MAX
/* Values getopt_long() returns for the rows of the table. */
#define FIRST 256

/*
 * Read the next option of argv: returns its index in the command's table,
 * OPT_END if there is none, OPT_BAD after an error was printed.  *value is
 * its argument.
 */
static int next_option(const struct command *command, int argc, char **argv,
		       const char **value)
{
	struct option longs[OPTS_MAX + 1] = { { 0 } };
	char letters[2 * OPTS_MAX + 2] = ":";
	size_t i, used = 1;
	int got;

	assert(command->nopts <= OPTS_MAX);
	for (i = 0; i < command->nopts; i++) {
		const struct opt *o = &command->opts[i];

		longs[i].name = o->name;
		longs[i].has_arg = !o->argument ? no_argument :
				   o->optional ? optional_argument :
						 required_argument;
		longs[i].val = FIRST + (int)i;
		if (o->letter)
			letters[used++] = o->letter;
		if (o->letter && o->argument)
			letters[used++] = ':';
	}
	opterr = 0;
	got = getopt_long(argc, argv, letters, longs, NULL);
	*value = optarg;
	if (got == -1)
		return OPT_END;
	if (got >= FIRST)
		return got - FIRST;
	for (i = 0; i < command->nopts; i++)
		if (got && got == command->opts[i].letter)
			return (int)i;
	if (optopt > 0 && optopt < FIRST)	/* a letter, as in -qx */
		snprintf(letters, sizeof(letters), "-%c", optopt);
	out_usage_error("option %s %s; see %s%s%s --help",
			*letters == '-' ? letters : argv[optind - 1],
			got == ':' ? "needs an argument" :
			"is unknown or takes no argument", out_program,
			command->name ? " " : "",
			command->name ? command->name : "");
	return OPT_BAD;
}

void opt_help(const struct command *command)
{
	size_t i;

	if (out_silent)
		return;
	printf("usage: %s%s%s %s\n\n%s\n\noptions:\n", out_program,
	       command->name ? " " : "", command->name ? command->name : "",
	       command->usage, command->text);
	for (i = 0; i < command->nopts; i++) {
		const struct opt *o = &command->opts[i];
		char left[40];

		snprintf(left, sizeof(left), "%c%c%s --%s%s%s%s",
			 o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
			 o->letter ? "," : " ", o->name,
			 !o->argument ? "" : o->optional ? "[=" : "=",
			 o->argument ? o->argument : "",
			 o->optional ? "]" : "");
		printf("  %-28s %s\n", left, o->help);
	}
}

int opt_read(const struct command *command, int argc, char **argv,
	     opt_set *set, void *settings)
{
	const char *value;
	int got, exit;

	while ((got = next_option(command, argc, argv, &value)) != OPT_END) {
		if (got == OPT_BAD)
			return KVP_EXIT_INPUT;
		if (!strcmp(command->opts[got].name, "help")) {
			opt_help(command);
			return KVP_EXIT_YES;
		}
		exit = set(settings, got, value);
		if (exit)
			return exit;
	}
	return OPT_END;
}

int opt_gpus(const char *value, uint32_t *gpu, size_t *count)
{
	const char *given = value;
	unsigned long each;
	char *end;

	for (*count = 0; value; value = *end ? end + 1 : NULL) {
		if (*value < '0' || *value > '9')
			goto bad;
		each = strtoul(value, &end, 10);
		if (*end && *end != ',')
			goto bad;
		if (each > OPT_GPU_MAX)
			return out_usage_error("--gpus=%s: the number of a "
				"GPU is at most %llu", given,
				(ull)OPT_GPU_MAX);
		if (*count == KVP_RANKS_MAX)
			return out_usage_error("--gpus: lists more than %llu "
				"GPUs", (ull)KVP_RANKS_MAX);
		gpu[(*count)++] = (uint32_t)each;
	}
	return KVP_EXIT_YES;
bad:
	return out_usage_error("--gpus=%s: must be a list of GPU numbers such "
			       "as 0,1", given);
}

int opt_bytes(const char *option, const char *value, uint64_t *bytes)
{
	int code = bytes_parse_loose(value, bytes);

	if (code == KVP_ELIMIT)
		return out_usage_error("--%s=%s: is more than "
			"9007199254740991 bytes (2^53 - 1)", option, value);
	if (code && bytes_has_many_decimals(value))
		return out_usage_error("--%s=%s: has more than %d decimals",
				       option, value, BYTES_DECIMALS_MAX);
	if (code)
		return out_usage_error("--%s=%s: must be a size, such as "
			"274726912 or 262MiB (KiB, MiB, GiB, TiB, or K, M, "
			"G, T)", option, value);
	return KVP_EXIT_YES;
}

int opt_number(const char *option, const char *value, uint64_t low,
	       uint64_t high, uint64_t *number)
{
	unsigned long long got;
	char *end;

	errno = 0;
	got = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || got < low ||
	    got > high)
		return out_usage_error("--%s=%s: must be a whole number from "
			"%llu to %llu", option, value,
			(ull)low, (ull)high);
	*number = got;
	return KVP_EXIT_YES;
}
