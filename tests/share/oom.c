/*
 * Out of memory: one of two processes that share a realization has its
 * allocation 1, 2, 3 ... failing, once and for ever, from begin to commit.
 * It says so, nobody publishes, and no block is left.
 *
 * malloc and its kin are this program's own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault/failing_malloc.h"
#include "share/promise.h"
#include "share/trials.h"

#ifdef MALLOC_IS_FIXED
int main(void)
{
	puts("SKIP share/oom: malloc cannot be replaced in this build");
	puts("0 passed, 0 failed, 1 skipped");
	return 0;
}
#else

static int64_t live_before;	/* blocks */

static const char geometry[] =
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"oom\","
	"\"granularity\":4096,\"pages\":3,\"page_tokens\":16,"
	"\"snapshot_rows\":1,\"execution_rows\":0,\"row_bytes\":6000,"
	"\"planes\":[{\"name\":\"a\",\"bytes_per_page\":2000}],"
	"\"ranks\":2,\"dcp_group_size\":2,\"static\":[{\"name\":\"x\","
	"\"bytes\":5000,\"importers\":\"all\"}]}";

static struct planned planned;
static uint64_t allocations[2];	/* of each process when none fails */

/* The trial. */
static uint32_t victim;
static uint64_t fail_at;
static bool for_ever;

static void count_before(struct job *j, uint32_t index)
{
	(void)j, (void)index;
	live_before = memory.live;
}

static void start_failing(struct kvp_share *s, const struct member *m,
			  struct report *r)
{
	(void)s, (void)r;
	memory.seen = 0;
	memory.fail_at = m->first_rank == victim ? fail_at : 0;
	memory.for_ever = for_ever;
	memory.paused = false;
}

static void stop_failing(struct kvp_share *s, const struct member *m,
			 struct report *r)
{
	(void)s, (void)m;
	memory.paused = true;
	r->seen[0] = memory.seen;
}

static void count_blocks(struct kvp_share *s, const struct member *m,
			 struct report *r)
{
	(void)s, (void)m;
	r->seen[1] = (uint64_t)(memory.live - live_before);
}

static struct job make_job(void)
{
	struct job j = {
		.plan = &planned.plan, .verdict = planned.verdict,
		.backend = make_host, .check = KVP_CHECK_QUICK,
		.deadline = 20000, .gather_deadline = 1000, .count = 2,
		.prepare = count_before, .started = start_failing,
		.committed = stop_failing, .freed = count_blocks,
	};

	j.member[0].nranks = j.member[1].nranks = 1;
	j.member[1].first_rank = 1;
	return j;
}

static void check_member(const struct job *j, uint32_t i,
			 const struct said *said)
{
	const struct report *r = &j->member[i].report;
	enum kvp_state due = state_due(said, r);

	expect(r->state == due, "process %u is %s, expected %s: %s", i,
	       kvp_state_name(r->state), kvp_state_name(due),
	       r->text[CALL_COMMIT]);
	expect(!r->code[CALL_FREE], "process %u: freeing: %s", i,
	       r->text[CALL_FREE]);
	expect(!r->left, "process %u: %llu things are left", i, (ull)r->left);
	expect(!r->seen[1], "process %u: %lld blocks are left",
	       i, (long long)r->seen[1]);
}

/* To open a file of the kernel takes memory, too; why it is not there, the C
   library does not tell. */
static bool says_why(const char *text)
{
	return strstr(text, "out of memory") ||
	       strstr(text, "no MemAvailable in /proc/meminfo") ||
	       strstr(text, "vm.max_map_count is");
}

static void run_trial(size_t index)
{
	struct job j = make_job();
	const struct report *r;
	struct said said;

	victim = index % 2;
	for_ever = index / 2 % 2;
	fail_at = index / 4 + 1;
	name_trial("process %u, allocation %llu%s", victim, (ull)fail_at,
		   for_ever ? " and all that follow" : "");
	if (fail_at > allocations[victim])
		return;
	expect(launch(&j), "a process hangs, or did not end well");
	said = hear(&j);
	check_member(&j, 0, &said);
	check_member(&j, 1, &said);
	r = &j.member[victim].report;
	if (r->code[CALL_EXCHANGE])
		expect(says_why(r->text[CALL_EXCHANGE]) &&
		       says_why(j.member[!victim].report.text[CALL_COMMIT]),
		       "the victim says %s, the other %s",
		       r->text[CALL_EXCHANGE],
		       j.member[!victim].report.text[CALL_COMMIT]);
	launch_release(&j);
}

int main(void)
{
	struct job j;
	uint64_t most;

	make_planned(&planned, geometry, KVP_MERGE_ROW);
	j = make_job();
	if (!launch(&j))
		abort();
	allocations[0] = j.member[0].report.seen[0];
	allocations[1] = j.member[1].report.seen[0];
	most = allocations[allocations[1] > allocations[0]];
	launch_release(&j);
	run_trials(4, 4 * most, run_trial);
	return close_trials();
}

#endif
