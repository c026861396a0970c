/*
 * mutant [SEED [GEOMETRIES]]: good plans, broken in one place each.
 *
 * Every operator names the rules that may tell what it broke; a mutant that
 * the checker accepts, or that only other rules find, is a failure.  So is
 * an operator that hardly ever applies and a rule that no operator needs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/mutate.h"

#define SEED UINT64_C(11)
#define GEOMETRIES UINT64_C(400)
#define LEAST 20		/* mutants of every operator */
#define BIT(rule) (1u << KVP_RULE_##rule)

#define PLUS_MINUS(what, n, rule) \
	{ what " + 1", change_number, n, BIT(rule) }, \
	{ what " - 1", change_number, ~n, BIT(rule) }

static const struct {
	const char *name;
	mutate *fn;
	int arg;
	unsigned rules;		/* one of them has a finding */
} operators[] = {
	{ "swap planes, offsets differ", swap_planes, 0, BIT(PLANE_COVERAGE) },
	{ "swap across rows", swap_places, ACROSS,
	  BIT(CONFLICTS) | BIT(PERMUTATION) },
	{ "swap within a row, none", swap_places, WITHIN, BIT(PERMUTATION) },
	{ "swap with a fixed chunk", swap_places, FIXED,
	  BIT(CONFLICTS) | BIT(PERMUTATION) },
	{ "swap equal tiles, none", swap_equal_in_none, 0, BIT(PERMUTATION) },
	{ "place + granule", shift_place, 1, BIT(ARENA_COVERAGE) },
	{ "place - granule", shift_place, -1, BIT(ARENA_COVERAGE) },
	{ "offset + 1", misalign, 0, BIT(ALIGNMENT) },
	{ "bytes + 1", misalign, 1, BIT(ALIGNMENT) },
	{ "place + 1", misalign, 2, BIT(ALIGNMENT) },
	{ "bytes = 0", misalign, 3, BIT(ALIGNMENT) },
	{ "lengthen", resize, 1, BIT(PLANE_COVERAGE) },
	{ "shorten", resize, -1, BIT(PLANE_COVERAGE) },
	{ "drop a chunk", drop_chunk, 0, BIT(PLANE_COVERAGE) },
	{ "duplicate a chunk", duplicate_chunk, 0, BIT(PLANE_COVERAGE) },
	{ "split a chunk", split_chunk, 0,
	  BIT(PERMUTATION) | BIT(BOUND) | BIT(ENTRIES) },
	{ "split a tail", split_chunk, 1, BIT(PERMUTATION) },
	{ "merge beyond the mode", merge_illegally, 0, BIT(MERGE) },
	{ "merge a tail", absorb_tail, 0, BIT(ARENA_COVERAGE) },
	{ "list aliased late", reorder_list, AMONG_ALIASED,
	  BIT(ARENA_COVERAGE) },
	{ "list unaliased late", reorder_list, AMONG_UNALIASED,
	  BIT(PLANE_COVERAGE) },
	{ "list unaliased first", reorder_list, BETWEEN,
	  BIT(PLANE_COVERAGE) },
	{ "plane that is not there", no_such_plane, 0, BIT(PLANE_COVERAGE) },
	{ "plane 2^32 - 1", no_such_plane, 1, BIT(PLANE_COVERAGE) },
	{ "unalias", unalias, 0, BIT(ARENA_COVERAGE) },
	{ "alias one more", alias_more, 0, BIT(ARENA_COVERAGE) },
	{ "alias a tail instead", alias_instead, 0,
	  BIT(CONFLICTS) | BIT(PERMUTATION) },
	{ "alias a plane kept out", alias_instead, 1,
	  BIT(CONFLICTS) | BIT(PERMUTATION) },
	{ "dedicated = 0", dedicated, 0, BIT(ADDRESSES) },
	{ "dedicated + granule", dedicated, 1, BIT(ADDRESSES) },
	{ "dedicated - granule", dedicated, -1, BIT(ADDRESSES) },
	{ "row's range grows", change_spans, GROW, BIT(ROWS) },
	{ "row's range begins earlier", change_spans, GROW_DOWN, BIT(ROWS) },
	{ "row's range shrinks", change_spans, SHRINK, BIT(ROWS) },
	{ "row's range split", change_spans, SPLIT, BIT(ROWS) },
	{ "row's ranges reordered", change_spans, REORDER, BIT(ROWS) },
	{ "row's range added", change_spans, ADD, BIT(ROWS) },
	{ "row's range dropped", change_spans, REMOVE, BIT(ROWS) },
	{ "row dropped", change_rows, DROP, BIT(ROWS) },
	{ "row repeated", change_rows, REPEAT, BIT(ROWS) },
	{ "row renumbered", change_rows, RENUMBER, BIT(ROWS) },
	{ "rows exchanged", change_rows, EXCHANGE, BIT(ROWS) },
	{ "reader dropped", change_access, LOSE, BIT(ACCESS) },
	{ "owner dropped", change_access, LOSE_OWNER, BIT(ACCESS) },
	{ "reader added", change_access, GAIN, BIT(ACCESS) },
	{ "readers unsorted", change_access, UNSORT, BIT(ACCESS) },
	{ "rank without access", change_access, NO_RANK, BIT(ACCESS) },
	{ "rank relabelled", change_access, RELABEL, BIT(ACCESS) },
	PLUS_MINUS("base_chunks", BASE, BOUND),
	PLUS_MINUS("chunks", CHUNKS, BOUND),
	PLUS_MINUS("lower_bound", BOUND, BOUND),
	PLUS_MINUS("physical_bytes", PHYSICAL, PHYSICAL_BYTES),
	PLUS_MINUS("kv_tokens", TOKENS, CAPACITY),
	PLUS_MINUS("limit", LIMIT, ENTRIES),
	PLUS_MINUS("per_rank", RANK, ENTRIES),
	PLUS_MINUS("per_node", NODE, ENTRIES),
	{ "optimal flipped", flip_optimal, 0, BIT(BOUND) },
	{ "per_rank too short", drop_count, 0, BIT(ENTRIES) },
	{ "per_node too short", drop_count, 1, BIT(ENTRIES) },
	{ "headroom dropped", change_headroom, NO_HEADROOM, BIT(HEADROOM) },
	{ "headroom invented", change_headroom, NEW_HEADROOM, BIT(HEADROOM) },
	{ "headroom free + 1", change_headroom, FREE, BIT(HEADROOM) },
	{ "headroom cap + 1", change_headroom, CAP, BIT(HEADROOM) },
	{ "headroom unbounded", change_headroom, UNBOUNDED, BIT(HEADROOM) },
	{ "cap above half of free", change_headroom, GREEDY, BIT(HEADROOM) },
	{ "mode lowered", change_mode, 0,
	  BIT(PERMUTATION) | BIT(MERGE) | BIT(BOUND) },
	{ "mode raised", change_mode, 1, BIT(BOUND) },
	{ "geometry: page_tokens + 1", change_geometry, PAGE_TOKENS,
	  BIT(CAPACITY) },
	{ "geometry: entry_limit + 1", change_geometry, ENTRY_LIMIT,
	  BIT(ENTRIES) },
	{ "geometry: static_entries + 1", change_geometry, STATIC_ENTRIES,
	  BIT(ENTRIES) },
	{ "geometry: table too small", change_geometry, TIGHT,
	  BIT(ENTRY_LIMIT) },
	{ "geometry: one row fewer", change_geometry, FEWER_ROWS,
	  BIT(ROWS) | BIT(ARENA_COVERAGE) },
	{ "geometry: import dropped", change_geometry, IMPORT, BIT(ACCESS) },
	{ "geometry: plane beyond 2^47", change_geometry, FAR_PLANE,
	  BIT(ADDRESS_SPACE) },
	{ "geometry: arena beyond 2^47", change_geometry, FAR_ARENA,
	  BIT(ADDRESS_SPACE) },
};

#define OPERATORS (sizeof(operators) / sizeof(operators[0]))

static struct {
	uint64_t applied[OPERATORS];
	uint64_t killed[OPERATORS];
	uint64_t told[OPERATORS][KVP_RULES];
	uint64_t plans, failed;
} run;

/* The rules with findings, or all bits where nothing could be judged. */
static unsigned verify(const plan_t *p, bool *ok)
{
	struct kvp_verify_options options;
	struct kvp_verdict *verdict = NULL;
	const struct kvp_finding *f;
	unsigned rules = 0;
	size_t n, i;

	*ok = false;
	kvp_verify_options_init(&options);
	options.severity[KVP_RULE_ADDRESS_SPACE] = KVP_ERROR;
	if (kvp_verify(p, &options, &verdict, NULL))
		return UINT32_MAX;
	*ok = kvp_verdict_ok(verdict);
	f = kvp_verdict_findings(verdict, &n);
	for (i = 0; i < n; i++)
		rules |= 1u << f[i].rule;
	kvp_verdict_free(verdict);
	return rules;
}

static void print_survivor(size_t op, const plan_t *good, const plan_t *bad,
			   unsigned rules)
{
	char *text;
	size_t len;

	printf("FAIL %s: rules found %x, expected one of %x\n",
	       operators[op].name, rules, operators[op].rules);
	if (++run.failed > 3)
		return;
	if (!kvp_plan_write(good, &text, &len, NULL)) {
		printf("good: %s", text);
		free(text);
	}
	if (!kvp_plan_write(bad, &text, &len, NULL)) {
		printf("mutant: %s", text);
		free(text);
	}
}

static void apply(size_t op, const plan_t *good, const char *text, size_t len,
		  rng_t *r)
{
	plan_t bad = { 0 };
	unsigned rules;
	bool ok;
	int i;

	if (kvp_plan_read(&bad, "plan", text, len, NULL))
		abort();
	if (operators[op].fn(&bad, r, operators[op].arg)) {
		rules = verify(&bad, &ok);
		run.applied[op]++;
		if (!ok && (rules & operators[op].rules))
			run.killed[op]++;
		else
			print_survivor(op, good, &bad, rules);
		for (i = 0; i < KVP_RULES; i++)
			run.told[op][i] += rules >> i & 1;
	}
	kvp_plan_release(&bad);
}

static void mutate_plan(const plan_t *good, rng_t *r)
{
	size_t len, op;
	char *text;
	bool ok;

	verify(good, &ok);
	if (!ok || kvp_plan_write(good, &text, &len, NULL))
		return;		/* over a limit; random.c judges plans */
	run.plans++;
	for (op = 0; op < OPERATORS; op++)
		apply(op, good, text, len, r);
	free(text);
}

static void mutate_geometry(uint64_t seed, enum gen_size size, rng_t *r)
{
	char *text = gen_geometry(seed, size);
	struct kvp_geometry g = { 0 };
	plan_t plan = { 0 };
	int m;

	if (!kvp_geometry_read(&g, "gen", text, strlen(text), NULL))
		for (m = KVP_MERGE_NONE; m <= KVP_MERGE_SPAN; m++) {
			if (!kvp_plan_make(&plan, &g, (enum kvp_merge)m, NULL))
				mutate_plan(&plan, r);
			kvp_plan_release(&plan);
		}
	kvp_geometry_release(&g);
	free(text);
}

/* The kill table; returns the operators that were applied too rarely. */
static uint64_t print_table(unsigned *needed, uint64_t least)
{
	uint64_t rare = 0;
	size_t op;
	int i;

	*needed = 0;
	for (op = 0; op < OPERATORS; op++) {
		printf("%-30s %6" PRIu64 " of %6" PRIu64, operators[op].name,
		       run.killed[op], run.applied[op]);
		for (i = 0; i < KVP_RULES; i++)
			if (run.told[op][i])
				printf("  %s %" PRIu64,
				       kvp_rule_name((enum kvp_rule)i),
				       run.told[op][i]);
		putchar('\n');
		if (run.applied[op] < least) {
			printf("FAIL %s: applied too rarely\n",
			       operators[op].name);
			rare++;
		}
		for (i = 0; i < KVP_RULES; i++)
			if (run.told[op][i])
				*needed |= operators[op].rules & 1u << i;
	}
	return rare;
}

int main(int argc, char **argv)
{
	const char *san = getenv("SAN");
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : SEED;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) :
			 san && *san ? GEOMETRIES / 4 : GEOMETRIES, i;
	uint64_t applied = 0;
	rng_t r = { seed };
	unsigned needed;

	for (i = 0; i < count; i++)
		mutate_geometry(gen_seed(seed, i), i % 4 < 3 ? GEN_SMALL :
				GEN_TINY, &r);
	run.failed += print_table(&needed, LEAST * count / GEOMETRIES);
	for (i = 0; i < KVP_RULES; i++)
		if (!(needed >> i & 1)) {
			printf("FAIL %s: no operator needs it\n",
			       kvp_rule_name((enum kvp_rule)i));
			run.failed++;
		}
	for (i = 0; i < OPERATORS; i++)
		applied += run.applied[i];
	printf("seed %" PRIu64 ", %" PRIu64 " plans, %zu operators, %" PRIu64
	       " mutants\n", seed, run.plans, OPERATORS, applied);
	printf("%zu passed, %" PRIu64 " failed, 0 skipped\n", OPERATORS +
	       KVP_RULES - (run.failed < OPERATORS ? run.failed : OPERATORS),
	       run.failed);
	return run.failed ? 1 : 0;
}
