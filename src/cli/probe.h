/*
 * What kvplan probe's two files share: cmd_probe.c probes the node,
 * probe_report.c prints the table.
 */
#ifndef KVPLAN_CLI_PROBE_H
#define KVPLAN_CLI_PROBE_H

#include "cli/cli.h"

/*
 * Print the limits as a table; *exit is the status of writing it.
 * Errors: KVP_ENOMEM.
 */
int probe_report(const struct kvp_limits *limits, int *exit,
		 struct kvp_error *err);

#endif
