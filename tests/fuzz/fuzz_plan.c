/*
 * Any text as a plan.  What is read is judged, whatever it says, and written
 * and read again the same.
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
	fprintf(stderr, "fuzz_plan: %s\n", what);
	abort();
}

static void check_verdict(const struct kvp_plan *plan)
{
	struct kvp_verdict *verdict = NULL;
	const struct kvp_finding *f;
	char text[256];
	size_t n, i, errors = 0;
	int code = kvp_verify(plan, NULL, &verdict, NULL);

	if (code) {
		must(code == KVP_EINFEASIBLE || code == KVP_ELIMIT,
		     "judged with an unexpected code");
		must(!verdict, "a code and a verdict");
		return;
	}
	f = kvp_verdict_findings(verdict, &n);
	for (i = 0; i < n; i++) {
		must(kvp_finding_text(&f[i], text, sizeof(text)) > 0,
		     "a finding without text");
		errors += f[i].severity == KVP_ERROR;
	}
	must(kvp_verdict_ok(verdict) == !errors,
	     "findings and verdict differ");
	kvp_verdict_free(verdict);
}

static void check_round_trip(const struct kvp_plan *plan)
{
	struct kvp_plan again = { 0 };
	char *first = NULL, *second = NULL;
	size_t nfirst, nsecond;

	must(!kvp_plan_write(plan, &first, &nfirst, NULL), "write");
	must(!kvp_plan_read(&again, "again", first, nfirst, NULL),
	     "what was written is refused");
	must(!kvp_plan_write(&again, &second, &nsecond, NULL), "write");
	must(!strcmp(first, second), "another text after a round trip");
	kvp_plan_release(&again);
	free(first);
	free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kvp_plan plan = { 0 };
	struct kvp_error err = { 0 };

	if (kvp_plan_read(&plan, "fuzz", (const char *)data, size, &err)) {
		must(err.text[0] && strlen(err.text) < sizeof(err.text),
		     "refused without a text");
		return 0;
	}
	if (plan.geometry.ranks <= 64)
		check_round_trip(&plan);
	if (fuzz_is_small(&plan.geometry) && plan.nchunks <= fuzz_chunks)
		check_verdict(&plan);
	kvp_plan_release(&plan);
	return 0;
}
