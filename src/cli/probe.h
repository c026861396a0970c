/*
 * What kvplan probe's two files share: cmd_probe.c runs, probe_report.c
 * words the findings.
 */
#ifndef KVPLAN_CLI_PROBE_H
#define KVPLAN_CLI_PROBE_H

#include "cli/cli.h"

/*
 * Print the findings; *exit is the status of writing them.
 * Errors: KVP_ENOMEM.
 */
int probe_report(const struct kvp_limits *limits, int *exit,
		 struct kvp_error *err);

#endif
