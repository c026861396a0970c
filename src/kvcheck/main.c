/*
 * kvcheck: verifies one plan.  Linked without the planner.
 */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/plan.h>
#include <kvplan/verify.h>

#include "base/error.h"
#include "base/file.h"
#include "base/standard.h"
#include "base/utf8.h"
#include "base/version.h"

/* No exit status yet. */
#define GO_ON (-1)

static const char usage[] =
	"usage: kvcheck [--warn=RULE]... PLAN|-\n\n"
	"Verifies a plan with code of its own, not the planner's.  Prints a\n"
	"line 'e FINDING' or 'w FINDING' for each finding, then 's VERIFIED'\n"
	"or 's NOT VERIFIED'.\n\n"
	"options:\n"
	"      --warn=RULE            findings of RULE are warnings\n"
	"  -h, --help                 print this text\n"
	"      --version              print the version\n\n"
	"exit status: 0 verified, 1 not verified, 2 bad usage or input,\n"
	"3 environment\n\n"
	"rules:\n";

/* Print an error on one line, whatever bytes the arguments have. */
static void print_error(const char *format, ...)
{
	char text[KVP_ERROR_MAX];
	va_list args;

	va_start(args, format);
	kvp_error_format(text, sizeof(text), format, args);
	va_end(args);
	utf8_clean(text);
	fprintf(stderr, "kvcheck: error: %s\n", text);
}

static int print_usage(void)
{
	unsigned i;

	fputs(usage, stdout);
	for (i = 0; i < KVP_RULES; i++)
		printf("  %-15s  %s\n", kvp_rule_name((enum kvp_rule)i),
		       kvp_rule_statement((enum kvp_rule)i));
	return KVP_EXIT_YES;
}

static int lower_rule(struct kvp_verify_options *options, const char *name)
{
	char names[512] = "";
	enum kvp_rule rule;
	size_t used = 0;
	unsigned i;

	if (!kvp_rule_find(name, &rule)) {
		options->severity[rule] = KVP_WARNING;
		return GO_ON;
	}
	for (i = 0; i < KVP_RULES && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used,
					 "%s %s", i ? "," : "",
					 kvp_rule_name((enum kvp_rule)i));
	print_error("--warn=%.60s: no such rule; rules are%s", name, names);
	return KVP_EXIT_INPUT;
}

/* Read options and operand.  An exit status, or GO_ON with *path set. */
static int read_arguments(int argc, char **argv,
			  struct kvp_verify_options *options,
			  const char **path)
{
	static const struct option longs[] = {
		{ "warn", required_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int got, status = GO_ON;

	opterr = 0;
	while (status == GO_ON &&
	       (got = getopt_long(argc, argv, ":h", longs, NULL)) != -1)
		switch (got) {
		case 'w':
			status = lower_rule(options, optarg);
			break;
		case 'h':
			return print_usage();
		case 'v':
			printf("kvcheck %s\n", version_text());
			return KVP_EXIT_YES;
		default:
			print_error("option %s is unknown or lacks its "
				    "argument; see kvcheck --help",
				    argv[optind - 1]);
			return KVP_EXIT_INPUT;
		}
	if (status == GO_ON && argc - optind != 1) {
		print_error("takes one plan, %d given; see kvcheck --help",
			    argc - optind);
		return KVP_EXIT_INPUT;
	}
	*path = argv[optind];
	return status;
}

static int print_verdict(const struct kvp_verdict *verdict)
{
	const struct kvp_finding *f;
	char text[256];
	size_t n, i;

	f = kvp_verdict_findings(verdict, &n);
	for (i = 0; i < n; i++) {
		kvp_finding_text(&f[i], text, sizeof(text));
		printf("%c %s\n", f[i].severity == KVP_ERROR ? 'e' : 'w',
		       text);
	}
	if (!kvp_verdict_ok(verdict)) {
		puts("s NOT VERIFIED");
		return KVP_EXIT_NO;
	}
	puts("s VERIFIED");
	return KVP_EXIT_YES;
}

static int check_plan(const char *path,
		      const struct kvp_verify_options *options)
{
	struct kvp_plan plan = { 0 };
	struct kvp_verdict *verdict = NULL;
	struct kvp_error err = { 0 };
	char *text = NULL;
	size_t len;
	int code, status;

	code = kvp_file_read(path, &text, &len, &err);
	if (!code)
		code = kvp_plan_read(&plan, kvp_file_label(path), text, len,
				     &err);
	free(text);
	if (!code) {
		code = kvp_verify(&plan, options, &verdict, &err);
		if (code)
			kvp_error_wrap(&err, code, "%s", kvp_file_label(path));
	}
	if (code) {
		fprintf(stderr, "kvcheck: error: %s\n", err.text);
		if (code == KVP_EINFEASIBLE)
			puts("s NOT VERIFIED");
		status = kvp_exit_status(code);
	} else {
		status = print_verdict(verdict);
	}
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
	return status;
}

int main(int argc, char **argv)
{
	struct kvp_verify_options options;
	const char *path;
	bool failed;
	int status;

	if (!standard_open_missing())
		return KVP_EXIT_ENVIRONMENT;
	unsetenv("POSIXLY_CORRECT");	/* it changes getopt_long() */
	/* A closed pipe and a file beyond its size limit are write errors. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	kvp_verify_options_init(&options);
	status = read_arguments(argc, argv, &options, &path);
	if (status == GO_ON)
		status = check_plan(path, &options);
	failed = ferror(stdout);
	failed |= fclose(stdout) != 0;
	if (failed) {
		fputs("kvcheck: error: standard output cannot be written\n",
		      stderr);
		status = KVP_EXIT_ENVIRONMENT;
	}
	return status;
}
