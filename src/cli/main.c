/*
 * kvplan: finds the command and runs it.  Options of kvplan itself.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/standard.h"
#include "base/version.h"
#include "cli/cli.h"

static const struct command *const commands[] = {
	&cmd_import, &cmd_size, &cmd_plan, &cmd_verify, &cmd_realize,
	&cmd_join, &cmd_probe, &cmd_headroom
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static int print_usage(void)
{
	size_t i;

	printf("usage: kvplan COMMAND [OPTION]... [FILE]...\n\n"
	       "Plans, proves and realizes the physical memory layout of LLM "
	       "KV caches.\n\ncommands:\n");
	for (i = 0; i < COMMANDS; i++)
		printf("  %-10s %s\n", commands[i]->name,
		       commands[i]->summary);
	printf("  %-10s %s\n\noptions:\n  -h, --help   print this text\n"
	       "      --version  print the version\n\n"
	       "kvplan COMMAND --help describes a command; the manual is "
	       "kvplan(1).\n", "help", "describe kvplan or a command");
	return KVP_EXIT_YES;
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	out_usage_error("%s: no such command; kvplan --help lists them", name);
	return NULL;
}

static int print_help(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2 || !strcmp(argv[1], "help"))
		return print_usage();
	command = find_command(argv[1]);
	if (!command)
		return KVP_EXIT_INPUT;
	if (argc > 2 && command->sub &&
	    !strcmp(argv[2], command->sub->name + strlen(command->name) + 1))
		command = command->sub;
	opt_help(command);
	return KVP_EXIT_YES;
}

static int run_command(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2)
		return out_usage_error("no command is given; kvplan --help "
				       "lists them");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_usage();
	if (!strcmp(argv[1], "--version")) {
		printf("kvplan %s\n", version_text());
		return KVP_EXIT_YES;
	}
	if (!strcmp(argv[1], "help"))
		return print_help(argc - 1, argv + 1);
	command = find_command(argv[1]);
	return command ? command->run(command, argc - 1, argv + 1) :
			 KVP_EXIT_INPUT;
}

int main(int argc, char **argv)
{
	int exit, written;

	if (!standard_open_missing())
		return KVP_EXIT_ENVIRONMENT;
	unsetenv("POSIXLY_CORRECT");	/* it changes getopt_long() */
	/* A closed pipe and a file beyond its size limit are write errors. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	exit = run_command(argc, argv);
	written = out_close();	/* flushes what --help printed */
	return written > exit ? written : exit;
}
