/*
 * kvplan verify: checks plans and prints findings and verdicts.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/verify.h"

enum {
	FORMAT, JSON, GEOMETRY, LIMITS, MERGE, WARN, ERROR, LIST_RULES, HELP,
	OPTS
};

static const struct opt opts[OPTS] = {
	[FORMAT] = { 0, "format", "FORMAT", false, "text (default) or json" },
	[JSON] = { 0, "json", NULL, false, "the same as --format=json" },
	[GEOMETRY] = { 0, "geometry", "FILE", false,
		       "the plan's geometry must be the one in FILE" },
	[LIMITS] = { 0, "limits", "FILE", false,
		     "use the limits that kvplan probe found on the node" },
	[MERGE] = { 0, "merge", "MODE", false,
		    "plan a geometry in mode none, row (default) or span" },
	[WARN] = { 0, "warn", "RULE", false, "findings of RULE are warnings" },
	[ERROR] = { 0, "error", "RULE", false, "findings of RULE are errors" },
	[LIST_RULES] = { 0, "list-rules", NULL, false,
			 "print the rules and stop" },
	[HELP] = OPT_HELP,
};

/* Read a plan from a file; if the file has a geometry, plan it. */
static int read_or_make_plan(struct kvp_plan *plan, const char *path,
			     enum kvp_merge merge, struct kvp_error *err)
{
	const char *label = kvp_file_label(path);
	struct kvp_geometry g = { 0 };
	enum kvp_document kind = KVP_DOC_PLAN;
	char *text = NULL;
	size_t len;
	int code = kvp_file_read(path, &text, &len, err);

	if (!code)
		code = kvp_document_kind(&kind, label, text, len, err);
	if (!code && kind == KVP_DOC_PLAN) {
		code = kvp_plan_read(plan, label, text, len, err);
	} else if (!code) {
		code = kvp_geometry_read(&g, label, text, len, err);
		if (!code) {
			code = kvp_plan_make(plan, &g, merge, err);
			if (code)
				kvp_error_wrap(err, code, "%s", label);
		}
		kvp_geometry_release(&g);
	}
	free(text);
	return code;
}

static int verify_operand(struct operand *o, const struct verify_settings *s,
			  struct kvp_error *err)
{
	int code = read_or_make_plan(&o->plan, o->path, s->merge, err);

	if (code)
		return code;
	if (s->rules.limits)
		code = kvp_limits_check(s->rules.limits, &o->plan.geometry,
					err);
	if (code)
		return kvp_error_wrap(err, code, "%s",
				      kvp_file_label(o->path));
	code = kvp_verify(&o->plan, &s->rules, &o->verdict, err);
	if (code)
		return kvp_error_wrap(err, code, "%s",
				      kvp_file_label(o->path));
	o->ok = kvp_verdict_ok(o->verdict);
	if (s->geometry_path &&
	    kvp_geometry_compare(&o->plan.geometry, &s->geometry, NULL, NULL))
		o->ok = false;
	return KVP_OK;
}

/* Of two exit statuses the higher: environment, input, no, yes. */
static int worse_status(int a, int b)
{
	return a > b ? a : b;
}

/*
 * JSON always goes to standard output.  Text goes to standard error if an
 * operand could not be checked.
 */
static int print_report(struct report *report, int exit)
{
	struct kvp_error err = { 0 };
	char *text = NULL;
	size_t len;
	int code;

	report_end(report, exit == KVP_EXIT_YES);
	code = strbuf_detach(&report->out.text, &text, &len, &err);
	if (code)
		exit = worse_status(exit, out_error(&err));
	else if (exit <= KVP_EXIT_NO || report->settings->json)
		exit = worse_status(exit, out_text(text, len));
	else
		fwrite(text, 1, len, stderr);
	free(text);
	return exit;
}

/* The file of --limits or --geometry cannot be read: no operand is checked. */
static int report_unreadable(const struct verify_settings *s, int count,
			     char **paths, const struct kvp_error *err)
{
	struct report report = { .settings = s, .count = (size_t)count };
	int exit = out_error(err), i;

	if (!s->json)
		return exit;
	report_begin(&report);
	for (i = 0; i < count; i++)
		report_add(&report, &(struct operand){
			.path = paths[i], .error = err });
	return print_report(&report, exit);
}

static int verify_all(const struct verify_settings *s, int count, char **paths)
{
	struct report report = { .settings = s, .count = (size_t)count };
	struct kvp_error err = { 0 };
	int exit = KVP_EXIT_YES, i, code;

	report_begin(&report);
	for (i = 0; i < count; i++) {
		struct operand o = { .path = paths[i], .error = &err };

		code = verify_operand(&o, s, &err);
		if (code)
			exit = worse_status(exit, out_error(&err));
		else if (!o.ok)
			exit = worse_status(exit, KVP_EXIT_NO);
		/* Text has the error line instead; JSON lists every operand. */
		if (!code || code == KVP_EINFEASIBLE || code == KVP_EREFUSED ||
		    s->json)
			report_add(&report, &o);
		kvp_verdict_free(o.verdict);
		kvp_plan_release(&o.plan);
	}
	return print_report(&report, exit);
}

static int list_rules(void)
{
	int i;

	for (i = 0; i < KVP_RULES; i++)
		printf("%-16s %s\n", kvp_rule_name((enum kvp_rule)i),
		       kvp_rule_statement((enum kvp_rule)i));
	return KVP_EXIT_YES;
}

static int set_rule(struct verify_settings *s, const char *option,
		    const char *name, enum kvp_severity severity)
{
	enum kvp_rule rule;

	if (kvp_rule_find(name, &rule))
		return out_usage_error("--%s=%s: no such rule; kvplan verify "
			"--list-rules names them", option, name);
	s->rules.severity[rule] = severity;
	return KVP_EXIT_YES;
}

static int set_format(struct verify_settings *s, const char *value)
{
	if (strcmp(value, "text") && strcmp(value, "json"))
		return out_usage_error("--format=%s: must be text or json",
				       value);
	s->json = !strcmp(value, "json");
	return KVP_EXIT_YES;
}

static int set_option(void *settings, int got, const char *value)
{
	struct verify_settings *s = settings;

	switch (got) {
	case FORMAT:
		return set_format(s, value);
	case JSON:
		s->json = true;
		return KVP_EXIT_YES;
	case GEOMETRY:
		s->geometry_path = value;
		return KVP_EXIT_YES;
	case LIMITS:
		s->limits_path = value;
		return KVP_EXIT_YES;
	case MERGE:
		if (kvp_merge_find(value, &s->merge))
			return out_usage_error("--merge=%s: must be none, row "
					       "or span", value);
		return KVP_EXIT_YES;
	case WARN:
		return set_rule(s, "warn", value, KVP_WARNING);
	case ERROR:
		return set_rule(s, "error", value, KVP_ERROR);
	case LIST_RULES:
		s->list_rules = true;
		return KVP_EXIT_YES;
	default:
		return KVP_EXIT_INPUT;
	}
}

static int run_verify(const struct command *self, int argc, char **argv)
{
	static char standard_input[] = "-";
	static char *standard[] = { standard_input };
	struct verify_settings s = { .merge = KVP_MERGE_ROW };
	struct kvp_error err = { 0 };
	char **paths = standard;
	int exit, count = 1, code;

	kvp_verify_options_init(&s.rules);
	exit = opt_read(self, argc, argv, set_option, &s);
	if (exit != OPT_END)
		return exit;
	if (s.list_rules)
		return list_rules();
	if (optind < argc) {
		count = argc - optind;
		paths = argv + optind;
	}
	code = limits_load(&s.limits, s.limits_path, &err);
	if (!code && s.limits_path)
		s.rules.limits = &s.limits;
	if (!code && s.geometry_path)
		code = geometry_load(&s.geometry, s.geometry_path, &err);
	exit = code ? report_unreadable(&s, count, paths, &err) :
		      verify_all(&s, count, paths);
	kvp_geometry_release(&s.geometry);
	kvp_limits_release(&s.limits);
	return exit;
}

const struct command cmd_verify = {
	.name = "verify",
	.usage = "[--format=text|json] [--json] [--geometry=FILE] "
		 "[--limits=FILE]\n"
		 "                     [--merge=MODE] [--warn=RULE] "
		 "[--error=RULE] [--list-rules]\n"
		 "                     [PLAN|-]...",
	.summary = "verify plans; a geometry is planned first",
	.text = "Computes what a plan must state from its geometry and chunks, "
		"and prints every\ndifference as a finding of a rule.  The "
		"last line begins with VERIFIED or NOT\nVERIFIED.",
	.opts = opts,
	.nopts = OPTS,
	.run = run_verify,
};
