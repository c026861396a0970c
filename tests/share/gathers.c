/*
 * Gathers that finish at some processes only: in each gather each of three
 * processes gets all blobs, or all but the victim's, or none.  Nobody
 * publishes unless all gave good second blobs, nobody undoes beside one that
 * published, and who is in doubt keeps its memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "share/blob.h"
#include "share/marks.h"
#include "share/trials.h"

#define COUNT 3
#define WAYS 27			/* of one gather: 3 ^ COUNT */

static const char geometry[] =
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"gathers\","
	"\"granularity\":4096,\"pages\":3,\"page_tokens\":16,"
	"\"snapshot_rows\":1,\"execution_rows\":0,\"row_bytes\":6000,"
	"\"planes\":[{\"name\":\"a\",\"bytes_per_page\":2000},"
	"{\"name\":\"b\",\"bytes_per_page\":900}],"
	"\"ranks\":3,\"dcp_group_size\":3}";

static struct planned planned;

/* The trial: what each gather delivers to each process. */
enum way { ALL, WITHOUT_VICTIM, NONE };
static const char *const way_names[] = { "all", "without", "none" };
static enum way ways[2][COUNT];
static uint32_t victim;

static void change(struct job *j, unsigned gather, uint32_t receiver,
		   struct kvp_share_blob *blobs)
{
	enum way way = ways[gather - 1][receiver];

	(void)j;
	if (way == WITHOUT_VICTIM)
		memset(&blobs[victim], 0, sizeof(blobs[victim]));
	if (way == NONE)
		memset(blobs, 0, COUNT * sizeof(*blobs));
}

/* What a process has to be, by its own failure and by what it got. */
static enum kvp_state state_due(const struct job *j, uint32_t i)
{
	const struct report *r = &j->member[i].report;
	bool missing = ways[1][i] != ALL, failed = false;
	struct share_blob b;
	struct kvp_error why;
	uint32_t from;

	for (from = 0; from < COUNT; from++) {
		if (ways[1][i] == NONE ||
		    (ways[1][i] == WITHOUT_VICTIM && from == victim))
			continue;
		if (share_blob_read(&j->member[from].blob[1], 2, &b, &why))
			missing = true;
		else
			failed |= b.code != 0;
	}
	if (r->code[CALL_EXCHANGE] || failed)
		return KVP_UNWOUND;
	return missing ? KVP_IN_DOUBT : KVP_PUBLISHED;
}

static void check_member(const struct job *j, uint32_t i)
{
	const struct report *r = &j->member[i].report;
	enum kvp_state due = state_due(j, i);

	expect(j->member[i].freed, "process %u did not end", i);
	expect(r->state == due, "process %u is %s, expected %s: %s", i,
	       kvp_state_name(r->state), kvp_state_name(due),
	       r->text[CALL_COMMIT]);
	expect(r->code[CALL_EXCHANGE] || ways[0][i] == ALL,
	       "process %u went on without all first blobs", i);
	expect((r->state == KVP_IN_DOUBT) ==
	       (r->code[CALL_COMMIT] == KVP_EDOUBT), "process %u is %s and "
	       "answers %s", i, kvp_state_name(r->state),
	       kvp_code_name(r->code[CALL_COMMIT]));
	expect(!r->wrong, "process %u: %llu planes cannot be used", i,
	       (ull)r->wrong);
	expect(!r->left, "process %u: %llu things are left", i, (ull)r->left);
}

static void check(const struct job *j)
{
	struct share_blob b;
	struct kvp_error why;
	uint32_t i, published = 0, unwound = 0, good = 0;

	for (i = 0; i < COUNT; i++) {
		check_member(j, i);
		published += j->member[i].report.state == KVP_PUBLISHED;
		unwound += j->member[i].report.state == KVP_UNWOUND;
		good += !share_blob_read(&j->member[i].blob[1], 2, &b, &why) &&
			!b.code;
	}
	expect(!published || good == COUNT,
	       "PUBLISHED, and not all second blobs are good");
	expect(!published || !unwound, "UNWOUND beside PUBLISHED");
	/* All first blobs everywhere are enough to stand. */
	for (i = 0; i < COUNT; i++)
		if (ways[0][i] != ALL)
			return;
	expect(good == COUNT, "not all stand after a whole first gather");
	expect(!unwound, "UNWOUND, though all stand");
}

/* Ternary digits of a number. */
static void set_ways(enum way *to, size_t number)
{
	uint32_t i;

	for (i = 0; i < COUNT; i++, number /= 3)
		to[i] = (enum way)(number % 3);
}

static void run_trial(size_t index)
{
	struct job j = {
		.plan = &planned.plan, .verdict = planned.verdict,
		.backend = make_host, .deadline = 20000,
		.gather_deadline = 1000, .count = COUNT, .change = change,
		.committed = write_marks, .settled = read_marks,
	};
	bool well;
	uint32_t i;

	for (i = 0; i < COUNT; i++) {
		j.member[i].first_rank = i;
		j.member[i].nranks = 1;
	}
	/* Every combination; with the other victims, second gathers alone. */
	if (trials_are_slow)
		index = index * 5 % (WAYS * WAYS + 2 * WAYS);
	victim = 1;
	if (index >= WAYS * WAYS)
		victim = index - WAYS * WAYS >= WAYS ? 2 : 0;
	set_ways(ways[0], index < WAYS * WAYS ? index / WAYS : 0);
	set_ways(ways[1], index % WAYS);
	name_trial("first %s %s %s, second %s %s %s, victim %u",
		   way_names[ways[0][0]], way_names[ways[0][1]],
		   way_names[ways[0][2]], way_names[ways[1][0]],
		   way_names[ways[1][1]], way_names[ways[1][2]], victim);
	well = launch(&j);
	expect(well, "a process hangs, or did not end well");
	check(&j);
	launch_release(&j);
}

int main(void)
{
	size_t count = WAYS * WAYS + 2 * WAYS;

	make_planned(&planned, geometry, KVP_MERGE_ROW);
	run_trials(4, trials_are_slow ? count / 5 : count, run_trial);
	return close_trials();
}
