/*
 * The published layouts with one process for each of sixteen ranks: all parts
 * join to one capacity document with the planned readers and table entries,
 * and every importer reads what every owner wrote.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "share/joined.h"
#include "share/marks.h"
#include "share/trials.h"

#define RANKS 16
#define PLANES 24
#define GRANULE (UINT64_C(2) << 20)

static const struct trial {
	const char *layout;
	enum kvp_check check;
	uint64_t entries;	/* of the node, others' once */
	uint32_t readers;	/* of every plane */
} all_trials[] = {
	{ "layouts/kimi-k3.1-pro-tp16-dcp8.json", KVP_CHECK_NONE, 320117, 8 },
	{ "layouts/kimi-k3.1-pro-tp16-dcp16.json", KVP_CHECK_QUICK, 442661,
	  16 },
};

/* What is mapped has to be aligned as the plan has it. */
static int make_device(struct kvp_backend **b, uint32_t index,
		       struct kvp_error *err)
{
	(void)index;
	return kvp_backend_host(b, 1, GRANULE, err);
}

#define TRIALS (sizeof(all_trials) / sizeof(*all_trials))

static struct planned plan_layout(const char *path)
{
	struct planned p;
	char *text;
	size_t len;

	if (kvp_file_read(path, &text, &len, NULL))
		abort();
	make_planned(&p, text, KVP_MERGE_ROW);
	free(text);
	return p;
}

static void check_joined(const struct trial *t, const struct job *j)
{
	struct kvp_error err = { 0 };
	struct joined joined;

	expect(!join_parts(j, &joined, &err), "joining: %s", err.text);
	expect(joined.entries == t->entries, "%llu table entries, expected "
	       "%llu", (ull)joined.entries, (ull)t->entries);
	expect(joined.least == t->readers && joined.most == t->readers,
	       "planes have %u to %u readers, expected %u", joined.least,
	       joined.most, t->readers);
	expect(joined.records == RANKS * PLANES, "%u access records, "
	       "expected %u", joined.records, RANKS * PLANES);
}

/* The static entries are counted by each process. */
static void check_members(const struct trial *t, const struct job *j,
			  uint64_t statics)
{
	uint64_t entries = statics;
	uint32_t i;

	for (i = 0; i < RANKS; i++) {
		const struct report *r = &j->member[i].report;

		expect(r->state == KVP_PUBLISHED, "rank %u is %s: %s", i,
		       kvp_state_name(r->state), r->text[CALL_COMMIT]);
		expect(!r->wrong, "rank %u: %llu marks are wrong", i,
		       (ull)r->wrong);
		expect(!r->left, "rank %u: %llu things are left", i,
		       (ull)r->left);
		entries += r->entries - statics;
	}
	expect(entries == t->entries, "%llu table entries held, expected %llu",
	       (ull)entries, (ull)t->entries);
}

static void run_trial(size_t index)
{
	const struct trial *t = &all_trials[index];
	struct planned p = plan_layout(t->layout);
	struct job j = {
		.plan = &p.plan, .verdict = p.verdict, .backend = make_device,
		.check = t->check, .deadline = 60000,
		.gather_deadline = 1000, .count = RANKS,
		.committed = write_marks, .settled = read_marks,
	};
	bool well;
	uint32_t i;

	name_trial("%s", t->layout);
	for (i = 0; i < RANKS; i++) {
		j.member[i].first_rank = i;
		j.member[i].nranks = 1;
	}
	well = launch(&j);
	expect(well, "a process hangs, or did not end well");
	check_members(t, &j, p.plan.geometry.static_entries);
	check_joined(t, &j);
	launch_release(&j);
	kvp_plan_release(&p.plan);
	kvp_verdict_free(p.verdict);
}

int main(void)
{
	/* Each has all processors. */
	run_trials(1, trials_are_slow ? 1 : TRIALS, run_trial);
	return close_trials();
}
