/*
 * kvcheck: verify one plan, linked without the planner.  The only file here
 * that prints and exits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/plan.h>
#include <kvplan/verify.h>

#include "base/file.h"

#ifndef KVP_VERSION
#define KVP_VERSION "unknown"
#endif

enum { EXIT_YES, EXIT_NO, EXIT_INPUT, EXIT_ENVIRONMENT };

/* No exit status yet. */
#define GO_ON (-1)

static const char usage[] =
	"Usage: kvcheck [--warn=RULE]... PLAN\n"
	"Verify a plan, worked out apart from the planner.  PLAN may be -.\n"
	"\n"
	"      --warn=RULE  findings of RULE are warnings\n"
	"      --help       print this help\n"
	"      --version    print the version\n"
	"\n"
	"Prints a line 'e FINDING' or 'w FINDING' for each finding, then\n"
	"'s VERIFIED' or 's NOT VERIFIED'.\n"
	"Exit status: 0 verified, 1 not, 2 bad usage or input, 3 no memory\n"
	"or a file could not be read or written.\n"
	"\n"
	"Rules:\n";

static void print_usage(void)
{
	unsigned i;

	fputs(usage, stdout);
	for (i = 0; i < KVP_RULES; i++)
		printf("  %-15s  %s\n", kvp_rule_name((enum kvp_rule)i),
		       kvp_rule_statement((enum kvp_rule)i));
}

static int bad_usage(const char *what, const char *argument)
{
	fprintf(stderr,
		"kvcheck: error: %s%s%s%s; see kvcheck --help\n", what,
		argument ? " '" : "", argument ? argument : "",
		argument ? "'" : "");
	return EXIT_INPUT;
}

static int lower_rule(struct kvp_verify_options *options, const char *name)
{
	enum kvp_rule rule;
	unsigned i;

	if (!kvp_rule_find(name, &rule)) {
		options->severity[rule] = KVP_WARNING;
		return GO_ON;
	}
	fprintf(stderr, "kvcheck: error: unknown rule '%s'; rules are", name);
	for (i = 0; i < KVP_RULES; i++)
		fprintf(stderr, "%s %s", i ? "," : "",
			kvp_rule_name((enum kvp_rule)i));
	fputc('\n', stderr);
	return EXIT_INPUT;
}

/* An exit status, or GO_ON with *path set. */
static int read_arguments(int argc, char **argv,
			  struct kvp_verify_options *options,
			  const char **path)
{
	bool operands = false;
	int i, rc;

	*path = NULL;
	for (i = 1; i < argc; i++) {
		const char *arg = argv[i];

		rc = GO_ON;
		if (operands || arg[0] != '-' || !arg[1]) {
			if (*path)
				return bad_usage("a second plan", arg);
			*path = arg;
		} else if (!strcmp(arg, "--")) {
			operands = true;
		} else if (!strcmp(arg, "--help")) {
			print_usage();
			return EXIT_YES;
		} else if (!strcmp(arg, "--version")) {
			puts("kvcheck " KVP_VERSION);
			return EXIT_YES;
		} else if (!strncmp(arg, "--warn=", 7)) {
			rc = lower_rule(options, arg + 7);
		} else if (!strcmp(arg, "--warn")) {
			if (++i == argc)
				return bad_usage("--warn needs a rule", NULL);
			rc = lower_rule(options, argv[i]);
		} else {
			return bad_usage("unknown option", arg);
		}
		if (rc != GO_ON)
			return rc;
	}
	return *path ? GO_ON : bad_usage("no plan is named", NULL);
}

static int exit_status(int code)
{
	switch (code) {
	case KVP_OK:
		return EXIT_YES;
	case KVP_EINFEASIBLE:
		return EXIT_NO;
	case KVP_ESYNTAX:
	case KVP_EINPUT:
	case KVP_ELIMIT:
		return EXIT_INPUT;
	default:
		return EXIT_ENVIRONMENT;
	}
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
		return EXIT_NO;
	}
	puts("s VERIFIED");
	return EXIT_YES;
}

static int judge(const char *path, const struct kvp_verify_options *options)
{
	struct kvp_plan plan = { 0 };
	struct kvp_verdict *verdict = NULL;
	struct kvp_error err = { 0 };
	char *text = NULL;
	size_t len;
	int rc, status;

	rc = kvp_file_read(path, &text, &len, &err);
	if (!rc)
		rc = kvp_plan_read(&plan, kvp_file_label(path), text, len,
				   &err);
	free(text);
	if (!rc)
		rc = kvp_verify(&plan, options, &verdict, &err);
	if (rc) {
		fprintf(stderr, "kvcheck: error: %s\n", err.text);
		if (rc == KVP_EINFEASIBLE)
			puts("s NOT VERIFIED");
		status = exit_status(rc);
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
	int status;

	kvp_verify_options_init(&options);
	status = read_arguments(argc, argv, &options, &path);
	if (status == GO_ON)
		status = judge(path, &options);
	if (ferror(stdout) | fclose(stdout)) {
		fputs("kvcheck: error: standard output cannot be written\n",
		      stderr);
		status = EXIT_ENVIRONMENT;
	}
	return status;
}
