/*
 * What kvplan headroom simulate's two files share:
 * cmd_headroom_simulate.c runs the workload, simulate_report.c prints its
 * steps as a table or as JSON.
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
	bool reconstructed;	/* step bytes, sizes or live bytes by default */
	bool assumed;		/* growth_bytes is the default */
	enum simulate_cap cap;
	uint64_t cap_bytes;	/* valid for SIMULATE_STATED */
	uint64_t every;
	bool json;
};

/* Zeroed, except for the settings. */
struct simulation {
	const struct simulate_settings *settings;
	struct json_out out;	/* not yet printed; a table uses out.text */
	struct kvp_decode_row last;	/* step 0: none */
	uint64_t printed;	/* the step printed last */
	uint64_t first_freed;	/* first step that evicted; 0: none yet */
	uint64_t first_cap_bytes;	/* cap of the first step */
	int exit;		/* status of printing so far */
};

void simulate_begin(struct simulation *s);

/* A kvp_decode_row_fn; the cookie is the simulation. */
void simulate_row(void *cookie, const struct kvp_decode_row *row);

/* Print the last rows and the outcome.  KVP_EXIT_YES or, if a write failed,
   another status. */
int simulate_end(struct simulation *s, const struct kvp_decode_result *result);

#endif
