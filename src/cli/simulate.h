/*
 * What kvplan headroom simulate's two files share:
 * cmd_headroom_simulate.c runs the workload, simulate_report.c words what it
 * did as a table or as JSON.
 */
#ifndef KVPLAN_CLI_SIMULATE_H
#define KVPLAN_CLI_SIMULATE_H

#include "base/json_out.h"
#include "cache/decode_workload.h"
#include "cli/cli.h"

enum simulate_cap { SIMULATE_POLICY, SIMULATE_STATED, SIMULATE_UNBOUNDED,
		    SIMULATE_OFF };

struct simulate_settings {
	uint64_t free_bytes;
	struct kvp_decode decode;
	bool reconstructed;	/* a default of the workload is in it */
	bool assumed;		/* so is the default of what tensors grow by */
	enum simulate_cap cap;
	uint64_t cap_bytes;	/* valid for SIMULATE_STATED */
	uint64_t every;
	bool json;
};

/* Zeroed but for the settings. */
struct simulation {
	const struct simulate_settings *settings;
	struct json_out out;	/* not yet written; a table: out.text */
	struct kvp_decode_row last;	/* step 0: none */
	uint64_t printed;	/* the step printed last */
	uint64_t first_freed;	/* as in the result, so far */
	uint64_t first_cap_bytes;	/* before the first arming */
	int exit;		/* what writing came to */
};

void simulate_begin(struct simulation *s);

/* A kvp_decode_row_fn; the cookie is the simulation. */
void simulate_row(void *cookie, const struct kvp_decode_row *row);

/* The rows that are left and the outcome.  KVP_EXIT_YES or a failed write. */
int simulate_end(struct simulation *s, const struct kvp_decode_result *result);

#endif
