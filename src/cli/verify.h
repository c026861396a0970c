/*
 * What kvplan verify's two files share: cmd_verify.c checks the operands,
 * verify_report.c makes the report.
 */
#ifndef KVPLAN_CLI_VERIFY_H
#define KVPLAN_CLI_VERIFY_H

#include "base/json_out.h"
#include "cli/cli.h"

struct verify_settings {
	bool json;
	bool list_rules;	/* print them and stop */
	enum kvp_merge merge;
	struct kvp_verify_options rules;
	const char *limits_path;	/* NULL: none */
	struct kvp_limits limits;
	const char *geometry_path;	/* NULL: none to compare with */
	struct kvp_geometry geometry;
};

/* One operand and its verdict; without a verdict `error` says why. */
struct operand {
	const char *path;
	const struct kvp_error *error;
	struct kvp_plan plan;
	struct kvp_verdict *verdict;
	bool ok;
};

struct report {
	const struct verify_settings *settings;
	struct json_out out;	/* a report as text uses out.text only */
	size_t count;		/* of operands */
	size_t good;
};

void report_begin(struct report *r);
void report_add(struct report *r, const struct operand *o);
void report_end(struct report *r, bool ok);

#endif
