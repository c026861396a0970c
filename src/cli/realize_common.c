/*
 * What kvplan realize and kvplan-mpi do alike: options, reading and verifying
 * a plan, holding what was realized.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/realize.h"

void realize_set_rules(struct realize_settings *s)
{
	kvp_verify_options_init(&s->rules);
	/* The rule counts all ranks of a node, preflight those realized. */
	s->rules.severity[KVP_RULE_ENTRY_LIMIT] = KVP_WARNING;
}

int realize_set_check(struct realize_settings *s, const char *value)
{
	if (value && strcmp(value, "quick") && strcmp(value, "full"))
		return out_usage_error("--check=%s: must be quick or full",
				       value);
	s->options.check = value && !strcmp(value, "full") ?
			   KVP_CHECK_FULL : KVP_CHECK_QUICK;
	return KVP_EXIT_YES;
}

/* List the rules that --warn may name: "entry-limit, bound, headroom". */
static void list_advisory_rules(char *text, size_t size)
{
	size_t used = 0;
	unsigned i;

	for (i = 0; i < KVP_RULES && used < size; i++)
		if (kvp_rule_is_advisory((enum kvp_rule)i))
			used += (size_t)snprintf(text + used, size - used,
				"%s%s", used ? ", " : "",
				kvp_rule_name((enum kvp_rule)i));
}

int realize_set_warn(struct realize_settings *s, const char *value)
{
	enum kvp_rule rule;
	char names[128];

	if (kvp_rule_find(value, &rule))
		return out_usage_error("--warn=%s: no such rule; kvplan verify "
				       "--list-rules names them", value);
	list_advisory_rules(names, sizeof(names));
	if (!kvp_rule_is_advisory(rule))
		return out_usage_error("--warn=%s: a plan that breaks this "
			"rule has wrong mappings or wrong numbers and is never "
			"realized; only these rules may be warnings here: %s",
			value, names);
	s->rules.severity[rule] = KVP_WARNING;
	if (rule == KVP_RULE_ENTRY_LIMIT)
		s->options.over_limit = true;
	return KVP_EXIT_YES;
}

int realize_set_file(const char **file, const char *option, const char *value)
{
	if (!strcmp(value, "-"))
		return out_usage_error("--%s=-: must be a file; --json prints "
				       "the capacities", option);
	*file = value;
	return KVP_EXIT_YES;
}

static int read_plan(struct kvp_plan *plan, const char *path,
		     struct kvp_error *err)
{
	char *text = NULL;
	size_t len;
	int code = kvp_file_read(path, &text, &len, err);

	if (!code)
		code = kvp_plan_read(plan, kvp_file_label(path), text, len,
				     err);
	free(text);
	return code;
}

static int read_addresses(struct kvp_addresses **addresses, const char *path,
			  struct kvp_error *err)
{
	char *text = NULL;
	size_t len;
	int code = kvp_file_read(path, &text, &len, err);

	if (!code)
		code = kvp_addresses_read(addresses, kvp_file_label(path),
					  text, len, err);
	free(text);
	return code;
}

/* Print findings to standard error.  True if the plan is verified. */
static bool print_findings(const struct kvp_verdict *verdict)
{
	const struct kvp_finding *f;
	char text[512];
	size_t count, i;

	f = kvp_verdict_findings(verdict, &count);
	for (i = 0; i < count && !out_silent; i++) {
		kvp_finding_text(&f[i], text, sizeof(text));
		fprintf(stderr, "%s: %s\n", f[i].severity == KVP_ERROR ?
			"error" : "warning", text);
	}
	return kvp_verdict_ok(verdict);
}

/* Say that the plan is not realized, and which --warn options allow it. */
static int refuse_unverified(const struct kvp_verdict *verdict,
			     const char *path, struct kvp_error *err)
{
	const struct kvp_finding *f = NULL;
	char options[128] = "";
	size_t used = 0;
	unsigned seen = 0;

	while ((f = kvp_verdict_obstacle(verdict, f))) {
		if (!kvp_rule_is_advisory(f->rule))
			break;
		if (seen >> f->rule & 1)
			continue;
		seen |= 1u << f->rule;
		used += (size_t)snprintf(options + used,
			sizeof(options) - used, " --warn=%s",
			kvp_rule_name(f->rule));
	}
	return kvp_error_set(err, KVP_EREFUSED, "%s: the plan is not verified, "
		"nothing was allocated%s%s", kvp_file_label(path), f ? "" :
		"; to realize it all the same, add", f ? "" : options);
}

int realize_read(struct realize_input *in, struct realize_settings *s,
		 const char *path, struct kvp_error *err)
{
	int code = read_plan(&in->plan, path, err);

	if (!code && s->limits_path) {
		code = limits_load(&s->limits, s->limits_path, err);
		s->rules.limits = s->options.limits = &s->limits;
	}
	if (!code && s->addresses)
		code = read_addresses(&in->addresses, s->addresses, err);
	s->options.addresses = in->addresses;
	if (!code)
		code = kvp_verify(&in->plan, &s->rules, &in->verdict, err);
	if (!code && !print_findings(in->verdict))
		code = refuse_unverified(in->verdict, path, err);
	return code;
}

void realize_release(struct realize_input *in, struct realize_settings *s)
{
	kvp_verdict_free(in->verdict);
	kvp_plan_release(&in->plan);
	kvp_addresses_free(in->addresses);
	kvp_limits_release(&s->limits);
}

void realize_say_held(void)
{
	if (!interrupt_signal && !out_silent)
		fprintf(stderr, "%s: holding; SIGINT or SIGTERM gives "
			"everything back\n", out_program);
}

void realize_hold(void)
{
	realize_say_held();
	interrupt_wait();
}
