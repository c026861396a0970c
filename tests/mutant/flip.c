/*
 * flip [SEED [FLIPS]]: the text of good plans, one byte changed at random.
 *
 * The reader refuses it, or the checker does, or the plan is the same as
 * before, or its geometry is another and kvp_geometry_compare() says so.
 * What must not be is another plan of the same geometry that verifies.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/kvplan.h>

#include "fake/gen.h"

#define SEED UINT64_C(5)
#define FLIPS UINT64_C(12000)
#define FLIPS_PER_PLAN 40

enum outcome { UNREAD, REFUSED, SAME, OTHER_GEOMETRY, ACCEPTED, OUTCOMES };

static const char *const outcome_names[OUTCOMES] = {
	"refused by the reader", "refused by the checker", "the same plan",
	"another geometry", "another plan, accepted",
};

static uint64_t seen[OUTCOMES];

static bool verifies(const struct kvp_plan *plan)
{
	struct kvp_verdict *verdict = NULL;
	bool ok;

	if (kvp_verify(plan, NULL, &verdict, NULL))
		return false;
	ok = kvp_verdict_ok(verdict);
	kvp_verdict_free(verdict);
	return ok;
}

static bool same_chunks(const struct kvp_plan *a, const struct kvp_plan *b)
{
	const struct kvp_chunk *x = a->chunks, *y = b->chunks;
	size_t i;

	for (i = 0; a->nchunks == b->nchunks && i < a->nchunks; i++)
		if (x[i].plane != y[i].plane || x[i].offset != y[i].offset ||
		    x[i].bytes != y[i].bytes || x[i].arena != y[i].arena)
			return false;
	return a->nchunks == b->nchunks;
}

static enum outcome judge(const struct kvp_plan *good, const char *good_text,
			  const char *text, size_t len)
{
	struct kvp_plan plan = { 0 };
	enum outcome outcome = ACCEPTED;
	char *again = NULL;
	size_t n;

	if (kvp_plan_read(&plan, "flipped", text, len, NULL))
		return UNREAD;
	if (!verifies(&plan))
		outcome = REFUSED;
	else if (kvp_geometry_compare(&plan.geometry, &good->geometry, NULL,
				      NULL))
		outcome = same_chunks(good, &plan) ? OTHER_GEOMETRY : ACCEPTED;
	else if (!kvp_plan_write(&plan, &again, &n, NULL) &&
		 !strcmp(again, good_text))
		outcome = SAME;
	free(again);
	kvp_plan_release(&plan);
	return outcome;
}

/* Any byte, or a digit for another digit; the latter reads more often. */
static size_t flip(char *text, size_t len, struct gen_rng *r)
{
	static const char likely[] = "0123456789.,:-eE[]{}\" nulltrfsa";
	bool digits = gen_chance(r, 70);
	size_t at = gen_below(r, len);
	char to;

	while (digits && (text[at] < '0' || text[at] > '9'))
		at = (at + 1) % len;
	do {
		if (digits)
			to = (char)('0' + gen_below(r, 10));
		else if (gen_chance(r, 50))
			to = (char)(text[at] ^ 1 << gen_below(r, 8));
		else
			to = likely[gen_below(r, sizeof(likely) - 1)];
	} while (to == text[at]);
	text[at] = to;
	return at;
}

static void flip_plan(const struct kvp_plan *good, struct gen_rng *r)
{
	char *text, *copy, line[81];
	enum outcome outcome;
	size_t len, at;
	int i;

	if (!verifies(good) || kvp_plan_write(good, &text, &len, NULL))
		return;
	copy = gen_alloc(len);
	for (i = 0; i < FLIPS_PER_PLAN; i++) {
		memcpy(copy, text, len);
		at = flip(copy, len, r);
		outcome = judge(good, text, copy, len);
		seen[outcome]++;
		if (outcome != ACCEPTED)
			continue;
		snprintf(line, sizeof(line), "%s", copy + (at < 40 ? 0 :
							   at - 40));
		printf("FAIL byte %zu, '%c' for '%c', is accepted: ...%s...\n",
		       at, copy[at], text[at], line);
	}
	free(copy);
	free(text);
}

int main(int argc, char **argv)
{
	const char *san = getenv("SAN");
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : SEED;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) :
			 san && *san ? FLIPS / 4 : FLIPS, i, done = 0;
	struct gen_rng r = { seed };
	struct kvp_geometry g = { 0 };
	struct kvp_plan plan = { 0 };
	char *text;

	for (i = 0; done < count && i < count; i++) {
		text = gen_geometry(gen_seed(seed, i), i % 2 ? GEN_SMALL :
							       GEN_TINY);
		if (!kvp_geometry_read(&g, "gen", text, strlen(text), NULL) &&
		    !kvp_plan_make(&plan, &g, (enum kvp_merge)(i % 3), NULL))
			flip_plan(&plan, &r);
		kvp_plan_release(&plan);
		kvp_geometry_release(&g);
		free(text);
		done = seen[0] + seen[1] + seen[2] + seen[3] + seen[4];
	}
	for (i = 0; i < OUTCOMES; i++)
		printf("  %-24s %6" PRIu64 "\n", outcome_names[i], seen[i]);
	printf("seed %" PRIu64 ", %" PRIu64 " flips\n", seed, done);
	if (done < count) {
		puts("FAIL too few plans verify");
		seen[ACCEPTED]++;
	}
	printf("%" PRIu64 " passed, %" PRIu64 " failed, 0 skipped\n",
	       done < count ? 0 : done - seen[ACCEPTED], seen[ACCEPTED]);
	return seen[ACCEPTED] ? 1 : 0;
}
