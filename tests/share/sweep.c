/*
 * Failures, signals, deaths and stops, everywhere: processes that share a
 * small realization, one of which is hit at every backend call and between
 * the calls of share.h.  Whatever happens, nobody publishes what does not
 * stand, the processes that survive agree and name the cause, and nothing is
 * left.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "share/promise.h"
#include "share/trials.h"

/* Processes that are not stopped are never that slow. */
#define PATIENT 20000
#define DEADLINE 200
#define GATHER_DEADLINE 120
#define JOB_SECONDS 15

/* Two chunks alias a row, others do not. */
#define GEOMETRY(ranks, rest)						\
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"sweep\","		\
	"\"granularity\":4096,\"pages\":3,\"page_tokens\":16,"		\
	"\"snapshot_rows\":1,\"execution_rows\":0,\"row_bytes\":6000,"	\
	"\"planes\":[{\"name\":\"a\",\"bytes_per_page\":2000},"		\
	"{\"name\":\"b\",\"bytes_per_page\":900}],"			\
	"\"ranks\":" #ranks ",\"dcp_group_size\":" #ranks rest "}"

static const char two[] = GEOMETRY(2, "");
static const char three[] = GEOMETRY(3, "");
static const char four[] = GEOMETRY(4, "");
static const char nodes[] =
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"nodes\","
	"\"granularity\":4096,\"pages\":3,\"page_tokens\":16,"
	"\"snapshot_rows\":1,\"execution_rows\":0,\"row_bytes\":6000,"
	"\"planes\":[{\"name\":\"a\",\"bytes_per_page\":2000},"
	"{\"name\":\"b\",\"bytes_per_page\":900}],"
	"\"ranks\":4,\"ranks_per_node\":2,\"dcp_group_size\":2}";
static const char statics[] =
	GEOMETRY(2, ",\"access\":{\"imports\":[[1],[]]},\"static\":["
	"{\"name\":\"x\",\"bytes\":1,\"importers\":\"none\"},{\"name\":\"y\",\"bytes\":5000,\"importers\":\"all\"}]");

static struct setup {
	const char *name, *geometry;
	enum kvp_check check;
	bool named;		/* sockets are in a directory */
	uint32_t count;
	struct { uint32_t nranks; const char *node; } process[3];
	struct planned planned;
	struct report well[3];	/* of a job in which nothing happens */
} setups[] = {
	{ .name = "two", .geometry = two, .count = 2,
	  .process = { { 1, NULL }, { 1, NULL } } },
	{ .name = "two, checked", .geometry = two, .check = KVP_CHECK_QUICK,
	  .count = 2, .process = { { 1, NULL }, { 1, NULL } } },
	{ .name = "three, checked", .geometry = three,
	  .check = KVP_CHECK_QUICK, .count = 3,
	  .process = { { 1, NULL }, { 1, NULL }, { 1, NULL } } },
	{ .name = "three with four ranks", .geometry = four, .count = 3,
	  .process = { { 1, NULL }, { 2, NULL }, { 1, NULL } } },
	{ .name = "two nodes", .geometry = nodes, .count = 3,
	  .process = { { 1, "a" }, { 1, "a" }, { 2, "b" } } },
	{ .name = "statics, one way", .geometry = statics,
	  .check = KVP_CHECK_QUICK, .count = 2, .process = { { 1, NULL }, { 1, NULL } } },
	{ .name = "sockets with names", .geometry = two, .named = true,
	  .count = 2, .process = { { 1, NULL }, { 1, NULL } } },
};
#define SETUPS (sizeof(setups) / sizeof(*setups))

enum kind { FAIL, INTERRUPT, KILL, STOP, KINDS };
static const struct {
	const char *name;
	int signal;
} kinds[] = {
	[FAIL] = { "fail", 0 }, [INTERRUPT] = { "SIGINT", SIGINT },
	[KILL] = { "SIGKILL", SIGKILL }, [STOP] = { "SIGSTOP", SIGSTOP },
};

static char directory[] = "/tmp/kvplan-share-XXXXXX";

static struct trial {
	const struct setup *setup;
	uint32_t victim;
	enum kind kind;
	uint64_t at;
	enum point point;
	unsigned resume;
} *trials;
static size_t ntrials, room;

static struct job job_of(const struct setup *u)
{
	struct job j = {
		.plan = &u->planned.plan, .verdict = u->planned.verdict,
		.backend = make_host, .check = u->check,
		.deadline = PATIENT, .gather_deadline = GATHER_DEADLINE,
		.directory = u->named ? directory : NULL,
		.count = u->count,
	};
	uint32_t i, rank = 0;

	for (i = 0; i < u->count; i++) {
		j.member[i].first_rank = rank;
		j.member[i].nranks = u->process[i].nranks;
		j.member[i].node = u->process[i].node;
		rank += u->process[i].nranks;
	}
	return j;
}

/* --- what has to hold --- */

static void check_member(const struct trial *t, const struct job *j,
			 uint32_t i, const struct said *said)
{
	const struct member *m = &j->member[i];
	const struct report *r = &m->report;
	enum kvp_state due = state_due(said, r);
	bool freeing = t->kind == FAIL && i == t->victim &&
		       t->at > t->setup->well[i].calls[CALL_COMMIT];

	expect(r->state == due, "process %u is %s, expected %s: %s", i,
	       kvp_state_name(r->state), kvp_state_name(due),
	       r->text[CALL_COMMIT]);
	expect(r->code[CALL_FREE] == (freeing ? KVP_ESTUCK : KVP_OK),
	       "process %u: freeing: %d %s", i, r->code[CALL_FREE],
	       r->text[CALL_FREE]);
	expect(!m->freed || !r->left || freeing, "process %u: %llu things are "
	       "left", i, (ull)r->left);
	expect((r->held > 0) == (r->state != KVP_UNWOUND),
	       "process %u is %s and holds %llu things", i,
	       kvp_state_name(r->state), (ull)r->held);
	expect((m->part_len > 0) <= (r->state == KVP_PUBLISHED),
	       "process %u gave a part and is not PUBLISHED", i);
}

static bool is_hit(const struct trial *t)
{
	return t->kind == KILL || (t->kind == STOP && !t->resume);
}

/* Nobody published wrongly, survivors agree, nothing is left. */
static void check_promise(const struct trial *t, const struct job *j)
{
	const struct said said = hear(j);
	uint32_t i, published = 0, parts = 0, unwound = 0;

	for (i = 0; i < j->count; i++) {
		const struct member *m = &j->member[i];

		parts += m->part_len > 0;
		if (i == t->victim && is_hit(t) && !m->reported)
			continue;
		expect(m->reported, "process %u did not report", i);
		if (!m->reported)
			continue;
		check_member(t, j, i, &said);
		published += m->report.state == KVP_PUBLISHED;
		unwound += m->report.state == KVP_UNWOUND;
	}
	expect(!published || !(said.failed || said.missing),
	       "published, and not all second blobs are good");
	expect(!published || !unwound, "UNWOUND beside PUBLISHED");
	expect(parts < j->count || published >= j->count - 1,
	       "all parts are there, and not all are PUBLISHED");
}

static bool is_in_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "r");
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, text) != NULL;
	if (f)
		fclose(f);
	return found;
}

/* No name of a socket of this job is left, except the file of a process that
   could not remove it. */
static void check_names(const struct trial *t, const struct job *j)
{
	struct share_blob b;
	struct kvp_error why;
	uint32_t i;

	for (i = 0; i < j->count; i++) {
		if (share_blob_read(&j->member[i].blob[0], 1, &b, &why) ||
		    b.code)
			continue;
		expect(!is_in_file("/proc/net/unix", b.endpoint),
		       "the socket of process %u is left", i);
		expect((*b.endpoint == '/') == t->setup->named,
		       "the socket of process %u is %s", i, b.endpoint);
		if (access(b.endpoint, F_OK))
			continue;
		expect(i == t->victim && is_hit(t), "process %u leaves %s", i,
		       b.endpoint);
		unlink(b.endpoint);
	}
}

static void describe(const struct setup *u, uint32_t i, char *text,
		     size_t size)
{
	uint32_t rank = 0, k;

	for (k = 0; k < i; k++)
		rank += u->process[k].nranks;
	if (u->process[i].nranks == 1)
		snprintf(text, size, "rank %u on ", rank);
	else
		snprintf(text, size, "ranks %u to %u on ", rank,
			 rank + u->process[i].nranks - 1);
}

/* A call that failed, or a signal: all tell what and where. */
static void check_told(const struct trial *t, const struct job *j)
{
	const char *text, *cause = t->kind == FAIL ? "made to fail" :
				   "interrupted by signal 2";
	char who[64];
	uint32_t i;

	describe(t->setup, t->victim, who, sizeof(who));
	for (i = 0; i < j->count; i++) {
		text = j->member[i].report.text[CALL_COMMIT];
		expect(j->member[i].report.code[CALL_COMMIT] &&
		       (i == t->victim || strstr(text, who)) &&
		       strstr(text, cause), "process %u does not name '%s' "
		       "and '%s': %s", i, who, cause, text);
	}
}

/* A process that is gone: one that survives names it. */
static void check_named(const struct trial *t, const struct job *j)
{
	const struct report *r;
	char who[64], blob[64];
	bool named = false;
	uint32_t i, call;

	describe(t->setup, t->victim, who, sizeof(who));
	snprintf(blob, sizeof(blob), "blob %u of %u: it did not arrive",
		 t->victim + 1, j->count);
	for (i = 0; i < j->count; i++) {
		r = &j->member[i].report;
		for (call = CALL_EXCHANGE; call <= CALL_COMMIT; call++)
			named |= i != t->victim &&
				 (strstr(r->text[call], who) ||
				  strstr(r->text[call], blob));
	}
	expect(named, "nobody names '%s': %s", who,
	       j->member[t->victim ? 0 : 1].report.text[CALL_COMMIT]);
}

static void check_cause(const struct trial *t, const struct job *j)
{
	const struct said said = hear(j);

	if (!said.failed && !said.missing)
		return;
	if (t->kind == FAIL || t->kind == INTERRUPT)
		check_told(t, j);
	else
		check_named(t, j);
}

/* Does it happen after the second blob was given? */
static bool is_late(const struct trial *t)
{
	uint64_t last = t->setup->well[t->victim].calls[CALL_EXCHANGE];
	enum point given = t->kind == INTERRUPT ? POINT_EXCHANGED :
			   POINT_GAVE_2;

	return t->at > last || t->point >= given ||
	       (t->kind == INTERRUPT && t->at == last);
}

/*
 * What happens before the second blob is seen by all, what happens later is
 * not; but peers that still exchange chunks notice a death.
 */
static void check_hit(const struct trial *t, const struct job *j)
{
	const struct said said = hear(j);

	if (!is_late(t))
		expect(said.failed || said.missing, "nothing has happened");
	else if (t->kind != KILL)
		expect(!said.failed && !said.missing, "failed after all");
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void run_trial(size_t index)
{
	const struct trial *t = &trials[index];
	struct job j = job_of(t->setup);
	struct member *victim = &j.member[t->victim];
	double begun = seconds(), took;
	bool well;

	name_trial("%s, process %u: %s at %s %llu, resume %u", t->setup->name,
		   t->victim, kinds[t->kind].name, t->at ? "call" : "point",
		   (ull)(t->at ? t->at : t->point), t->resume);
	victim->at = t->at;
	victim->point = t->point;
	victim->signal = kinds[t->kind].signal;
	victim->resume = t->resume;
	/* A stop that comes later is not what the exchange waits for. */
	if (t->kind == STOP && !is_late(t))
		j.deadline = DEADLINE;
	well = launch(&j);
	took = seconds() - begun;
	expect(well, "a process hangs, or did not end well");
	expect(took < JOB_SECONDS, "took %.1f s", took);
	check_promise(t, &j);
	check_hit(t, &j);
	check_cause(t, &j);
	check_names(t, &j);
	launch_release(&j);
}

/* --- all trials --- */

static void add(struct trial t)
{
	if (ntrials == room) {
		room = room ? 2 * room : 1024;
		trials = realloc(trials, room * sizeof(*trials));
		if (!trials)
			abort();
	}
	trials[ntrials++] = t;
}

static void add_points(struct trial t)
{
	unsigned point;

	for (point = POINT_START; point < POINTS; point++) {
		t.point = point;
		add(t);
	}
}

/* Under sanitizers every 23rd call, another one for each kind. */
static uint64_t step_of(const struct setup *u)
{
	return trials_are_slow ? 23 : u->named ? 7 : 1;
}

static void add_calls(struct trial t, uint64_t calls)
{
	uint64_t step = step_of(t.setup);

	for (t.at = 1 + (unsigned)t.kind % step; t.at <= calls; t.at += step)
		add(t);
}

static void add_victim(struct trial t)
{
	const struct report *well = &t.setup->well[t.victim];

	t.kind = FAIL;
	add_calls(t, well->calls[CALL_FREE]);
	for (t.kind = INTERRUPT; t.kind < KINDS; t.kind++) {
		t.point = POINT_NONE;
		add_calls(t, well->calls[CALL_EXCHANGE]);
		add_points(t);
	}
	/* The stopped goes on, after each gather. */
	t.kind = STOP;
	for (t.resume = 1; t.resume <= 3; t.resume++) {
		t.point = POINT_BEGUN;
		add(t);
		t.point = POINT_EXCHANGED;
		if (t.resume >= 2)
			add(t);
		t.point = POINT_NONE;
		for (t.at = well->calls[CALL_BEGIN] + 1;
		     t.resume >= 2 && t.at <= well->calls[CALL_EXCHANGE];
		     t.at += 3 * step_of(t.setup))
			add(t);
		t.at = 0;
	}
}

/* Waiting and working trials mixed. */
static void shuffle(void)
{
	uint64_t state = 1;
	struct trial t;
	size_t i, other;

	for (i = ntrials; i > 1; i--) {
		state = state * UINT64_C(6364136223846793005) +
			UINT64_C(1442695040888963407);
		other = (size_t)(state >> 33) % i;
		t = trials[i - 1];
		trials[i - 1] = trials[other];
		trials[other] = t;
	}
}

/* A job in which nothing happens tells how many calls there are. */
static void prepare(struct setup *u)
{
	struct job j;
	uint32_t i;

	make_planned(&u->planned, u->geometry, KVP_MERGE_ROW);
	j = job_of(u);
	if (!launch(&j))
		abort();
	for (i = 0; i < u->count; i++) {
		u->well[i] = j.member[i].report;
		if (u->well[i].state != KVP_PUBLISHED || u->well[i].left ||
		    !j.member[i].part_len ||
		    u->well[i].calls_done != u->well[i].calls_total) {
			printf("FAIL %s: process %u is %s, %llu are left, "
			       "%llu of %llu calls: %s\n", u->name, i,
			       kvp_state_name(u->well[i].state),
			       (ull)u->well[i].left,
			       (ull)u->well[i].calls_done,
			       (ull)u->well[i].calls_total,
			       u->well[i].text[CALL_COMMIT]);
			exit(1);
		}
		add_victim((struct trial){ .setup = u, .victim = i });
	}
	launch_release(&j);
}

/* Who was killed before its first blob has left a file that nobody knows. */
static void empty_directory(void)
{
	DIR *d = opendir(directory);
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(directory);
}

int main(void)
{
	size_t i;

	if (!mkdtemp(directory))
		abort();
	for (i = 0; i < SETUPS; i++)
		prepare(&setups[i]);
	shuffle();
	run_trials(trials_are_slow ? 6 : 12, ntrials, run_trial);
	empty_directory();
	return close_trials();
}
