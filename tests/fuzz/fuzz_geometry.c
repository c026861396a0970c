/*
 * Any text as a geometry.  What is read is written and read again the same;
 * if it is small it is planned in all modes, and every plan verifies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/kvplan.h>

#include "fuzz/fuzz.h"

uint64_t fuzz_chunks = 20000;

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz_geometry: %s\n", what);
	abort();
}

static void check_round_trip(const struct kvp_geometry *g)
{
	struct kvp_geometry again = { 0 };
	char *first = NULL, *second = NULL;
	size_t nfirst, nsecond;

	must(!kvp_geometry_write(g, &first, &nfirst, NULL), "write");
	must(!kvp_geometry_read(&again, "again", first, nfirst, NULL),
	     "what was written is refused");
	must(!kvp_geometry_write(&again, &second, &nsecond, NULL), "write");
	must(!strcmp(first, second), "another text after a round trip");
	must(!kvp_geometry_compare(g, &again, NULL, NULL),
	     "another geometry after a round trip");
	kvp_geometry_release(&again);
	free(first);
	free(second);
}

static void check_plan(const struct kvp_plan *plan)
{
	struct kvp_verify_options options;
	struct kvp_verdict *verdict = NULL;

	kvp_verify_options_init(&options);
	/* These two judge the input, not the planner. */
	options.severity[KVP_RULE_ENTRY_LIMIT] = KVP_WARNING;
	options.severity[KVP_RULE_HEADROOM] = KVP_WARNING;
	must(!kvp_verify(plan, &options, &verdict, NULL), "not judged");
	must(kvp_verdict_ok(verdict), "the plan does not verify");
	must(plan->summary.optimal || plan->geometry.base_chunks,
	     "a computed layout off its bound");
	kvp_verdict_free(verdict);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kvp_geometry g = { 0 };
	struct kvp_plan plan = { 0 };
	struct kvp_error err = { 0 };
	int merge, code;

	if (kvp_geometry_read(&g, "fuzz", (const char *)data, size, &err)) {
		must(err.text[0] && strlen(err.text) < sizeof(err.text),
		     "refused without a text");
		return 0;
	}
	if (g.ranks <= 64)
		check_round_trip(&g);
	for (merge = 0; merge <= KVP_MERGE_SPAN && fuzz_is_small(&g);
	     merge++) {
		code = kvp_plan_make(&plan, &g, (enum kvp_merge)merge, &err);
		must(!code || code == KVP_EINFEASIBLE || code == KVP_ELIMIT,
		     err.text);
		if (!code)
			check_plan(&plan);
		kvp_plan_release(&plan);
	}
	kvp_geometry_release(&g);
	return 0;
}
