/*
 * Processes that share one GPU, a rank each, with the sizes of the published
 * layout.  This program starts them and never touches CUDA itself: a process
 * that has must not fork.
 *
 *   share whole RANKS   every byte checked, parts joined, what calls cost
 *   share entries MOST  table entries counted by another process, with 2, 3
 *                       and 4 ranks; the table has less than MOST free ones
 *   share rounds N      two ranks, N times: free memory stays the same
 *   share owner         owners are killed when all have published
 *   share victim        a process is killed in the middle of the exchange
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* MAP_ANONYMOUS */
#endif
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend_watch.h"
#include "share/joined.h"
#include "share/marks.h"
#include "share/trials.h"

#define PLANES 24
#define CONTEXT 250		/* table entries that a context may take */
#define OPS 21

static int failures;

static void judge(bool well, const char *what)
{
	printf("%s %s\n", well ? "ok  " : "FAIL", what);
	failures += !well;
}

static void must_be(bool well, const char *what)
{
	if (well)
		return;
	perror(what);
	exit(1);
}

static void must(int code, const struct kvp_error *err)
{
	if (!code)
		return;
	fprintf(stderr, "share: %s: %s\n", kvp_code_name(code), err->text);
	exit(1);
}

/* --- looking at the GPU from outside --- */

struct look {
	uint64_t bytes;		/* free */
	uint64_t entries;	/* free; 0: not counted */
};

/* A process that looks when it is asked, once, and ends. */
struct watcher {
	pid_t pid;
	int ask[2], answer[2];
};

/* Map until the table is full; the end of the process gives all back. */
static uint64_t count_entries(struct kvp_backend *b, uint64_t most)
{
	const struct kvp_create what = { .bytes = UINT64_C(2) << 20 };
	const struct kvp_grant grant = { 0, KVP_READWRITE };
	struct kvp_error err;
	kvp_handle handle;
	uint64_t at, count;

	must(b->mapping.create(b, &what, &handle, &err), &err);
	must(b->mapping.reserve(b, most * what.bytes, 0, &at, &err), &err);
	for (count = 0; count < most; count++, at += what.bytes) {
		must(b->mapping.map(b, at, what.bytes, handle, &err), &err);
		if (b->mapping.grant(b, at, what.bytes, &grant, 1, &err))
			return count;
	}
	fprintf(stderr, "share: %llu table entries are free and more; fill "
		"the table first\n", (ull)most);
	exit(1);
}

static void start_watcher(struct watcher *w, uint64_t most)
{
	struct look l = { 0, 0 };
	struct kvp_backend *b;
	struct kvp_error err;
	const uint32_t first = 0;
	char byte;

	must_be(!pipe(w->ask) && !pipe(w->answer), "pipe");
	fflush(NULL);
	w->pid = fork();
	must_be(w->pid >= 0, "fork");
	if (w->pid)
		return;
	must_be(read(w->ask[0], &byte, 1) == 1, "read");
	must(kvp_backend_cuda(&b, &first, 1, &err), &err);
	must(b->device.memory(b, 0, &l.bytes, &err), &err);
	if (most)
		l.entries = count_entries(b, most);
	must_be(write(w->answer[1], &l, sizeof(l)) == (ssize_t)sizeof(l),
		"write");
	exit(0);
}

static void ask_watcher(const struct watcher *w, struct look *l)
{
	must_be(write(w->ask[1], "l", 1) == 1 &&
		read(w->answer[0], l, sizeof(*l)) == (ssize_t)sizeof(*l),
		"the watcher");
}

/* It dies with what it asked of the driver. */
static void end_watcher(const struct watcher *w)
{
	close(w->ask[0]);
	close(w->ask[1]);
	close(w->answer[0]);
	close(w->answer[1]);
	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);
}

static struct look look_at_gpu(uint64_t most)
{
	struct watcher w;
	struct look l;

	start_watcher(&w, most);
	ask_watcher(&w, &l);
	end_watcher(&w);
	return l;
}

/* --- in a process that shares --- */

/* What calls cost: those that make its own rank, then those of the exchange,
   and those of undoing both. */
enum phase { OWN, IMPORTED, UNDO, PHASES };

struct costs {
	double seconds[PHASES][OPS], in_phase[PHASES];
	uint64_t calls[PHASES][OPS];
	uint64_t wrong;
};

/* In memory that all share. */
static struct {
	struct costs costs[LAUNCH_MAX];
	struct look during;
} *seen;

static struct watcher watcher;	/* of `during` */

static struct {
	struct costs *costs;
	enum phase phase;
	bool granted;
	double first, before;
} timer;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int time_before(void *cookie, struct kvp_error *err)
{
	(void)cookie;
	(void)err;
	timer.before = now();
	return KVP_OK;
}

/* The exchange begins with addresses for what is imported. */
static enum phase find_phase(enum kvp_op op)
{
	timer.granted |= op == KVP_OP_GRANT;
	if (op == KVP_OP_UNMAP)
		return UNDO;
	if (timer.phase == OWN && timer.granted && op == KVP_OP_RESERVE)
		return IMPORTED;
	return timer.phase;
}

static void time_after(void *cookie, const struct watch_call *call)
{
	enum phase phase = find_phase(call->op);
	struct costs *c = timer.costs;
	double t = now();
	unsigned op = 0;

	(void)cookie;
	while (call->op != 1u << op)
		op++;
	if (phase != timer.phase || timer.first == 0)
		timer.first = timer.before;
	timer.phase = phase;
	c->seconds[phase][op] += t - timer.before;
	c->calls[phase][op]++;
	c->in_phase[phase] = t - timer.first;
}

static int open_timed(struct kvp_backend **b, uint32_t index,
		      struct kvp_error *err)
{
	static const struct watch_hooks hooks = { time_before, time_after };
	static struct backend_watch watch;
	const uint32_t first = 0;
	struct kvp_backend *inner;
	int code = kvp_backend_cuda(&inner, &first, 1, err);

	if (code)
		return code;
	timer.costs = &seen->costs[index];
	backend_watch_init(&watch, inner, &hooks, NULL);
	*b = &watch.base;
	return KVP_OK;
}

/* Every imported mapping is read-only for this process's GPU. */
static void read_flags(const struct kvp_share *s, struct report *r)
{
	struct kvp_backend *b = backend_of(s->r);
	const struct kvp_plan *plan = s->r->plan;
	enum kvp_flags flags;
	uint64_t address;
	uint32_t i;
	size_t k;

	for (i = 0; i < s->r->nimports; i++)
		for (k = 0; k < plan->nchunks; k++) {
			address = s->r->imports[i].planes[plan->chunks[k].plane]
				  + plan->chunks[k].offset;
			r->wrong += b->mapping.granted(b, address, 0, &flags,
				NULL) || flags != KVP_READ;
			r->seen[0]++;
		}
}

static void read_all(struct kvp_share *s, const struct member *m,
		     struct report *r)
{
	if (r->state != KVP_PUBLISHED)
		return;
	read_marks(s, m, r);
	read_flags(s, r);
}

/* One of them lets another process look. */
static void let_look(struct kvp_share *s, const struct member *m,
		     struct report *r)
{
	(void)s;
	if (!m->first_rank && r->state == KVP_PUBLISHED)
		ask_watcher(&watcher, &seen->during);
}

/* A zombie, and no other thread of it. */
static bool is_dead(pid_t pid)
{
	char path[64], state = 'Z';
	unsigned threads = 0;
	struct dirent *e;
	FILE *f;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		threads += *e->d_name != '.';
	if (d)
		closedir(d);
	return state == 'Z' && threads <= 1;
}

/* The first dies, and the others read what it wrote; then the second. */
static void die_in_turn(struct kvp_share *s, const struct member *m,
			struct report *r)
{
	const struct member *first = m - m->first_rank, *other;
	struct kvp_backend *b;
	unsigned tries;

	if (r->state != KVP_PUBLISHED)
		return;
	for (other = first; other < m; other++)
		for (tries = 0; !is_dead(other->pid) && tries < 10000; tries++)
			poll(NULL, 0, 1);
	read_marks(s, m, r);
	timer.costs->wrong = r->wrong;
	if (m->first_rank + 1 < geometry_of(s->r)->ranks)
		raise(SIGKILL);
	b = backend_of(s->r);
	r->wrong += b->device.memory(b, 0, &r->seen[0], NULL) != 0;
}

/* --- jobs --- */

struct trial {
	struct planned planned;
	struct job job;
	uint64_t entries;	/* of the node, as the plan has them */
	uint64_t plane_bytes;	/* of one rank */
	struct look before, after;
	bool well;
};

/* 2,234 pages and 112 snapshot rows, as published. */
static void prepare(struct trial *t, uint32_t ranks)
{
	struct kvp_realize_options o = { .nranks = ranks };
	struct kvp_plan *plan = &t->planned.plan;
	char text[600];
	size_t i;

	snprintf(text, sizeof(text), "{\"format\": \"kvplan/geometry/1\", "
		 "\"name\": \"%u ranks of the published layout\", "
		 "\"pages\": 2234, \"page_tokens\": 128, "
		 "\"snapshot_rows\": 112, \"execution_rows\": 5, "
		 "\"row_bytes\": 35889152, \"ranks\": %u, "
		 "\"dcp_group_size\": %u, \"planes\": [{\"name\": \"mla\", "
		 "\"count\": %d, \"bytes_per_page\": 74240}]}", ranks, ranks,
		 ranks, PLANES);
	memset(t, 0, sizeof(*t));
	make_planned(&t->planned, text, KVP_MERGE_ROW);
	t->entries = kvp_realize_entries(plan, &o);
	for (i = 0; i < plan->nchunks; i++)
		t->plane_bytes += plan->chunks[i].bytes;
	t->job = (struct job){
		.plan = plan, .verdict = t->planned.verdict,
		.backend = open_timed, .deadline = 60000,
		.gather_deadline = 1000,
		.share_gpu = true, .count = ranks,
	};
	for (i = 0; i < ranks; i++) {
		t->job.member[i].first_rank = (uint32_t)i;
		t->job.member[i].nranks = 1;
	}
}

static void release(struct trial *t)
{
	launch_release(&t->job);
	kvp_verdict_free(t->planned.verdict);
	kvp_plan_release(&t->planned.plan);
}

/* Launch between two looks from outside; `most` of the table's entries. */
static void run(struct trial *t, uint64_t most)
{
	memset(seen, 0, sizeof(*seen));
	t->before = look_at_gpu(most);
	t->well = launch(&t->job);
	t->after = look_at_gpu(most);
}

static void judge_memory(const struct trial *t)
{
	printf("     %llu bytes free before, %llu after\n",
	       (ull)t->before.bytes, (ull)t->after.bytes);
	judge(t->before.bytes == t->after.bytes,
	      "free memory is the same to the byte");
}

static void judge_published(const struct trial *t)
{
	uint64_t wrong = 0, held = 0;
	bool published = t->well;
	const struct report *r;
	uint32_t i;
	int call;

	for (i = 0; i < t->job.count; i++) {
		r = &t->job.member[i].report;
		published &= r->state == KVP_PUBLISHED && !r->code[CALL_FREE];
		wrong += r->wrong;
		held += r->entries;
		for (call = 0; call < SHARE_CALLS; call++)
			if (r->code[call])
				printf("     rank %u: %s\n", i, r->text[call]);
	}
	judge(published, "all have published, and freed all");
	if (t->job.settled == read_all)
		judge(published && !wrong, "importers read what owners wrote");
	judge(held == t->entries, "table entries are the plan's");
}

/* --- whole --- */

static void judge_joined(const struct trial *t)
{
	struct kvp_error err = { 0 };
	uint32_t ranks = t->job.count;
	struct joined joined;

	if (join_parts(&t->job, &joined, &err))
		printf("     %s\n", err.text);
	printf("     %u access records of %u to %u readers, %llu entries\n",
	       joined.records, joined.least, joined.most,
	       (ull)joined.entries);
	judge(joined.records == ranks * PLANES && joined.least == ranks &&
	      joined.most == ranks && joined.entries == t->entries,
	      "the joined document has exactly the plan's readers and entries");
}

static void judge_flags(const struct trial *t)
{
	uint64_t flags = 0, others = t->job.count - 1;
	uint32_t i;

	for (i = 0; i < t->job.count; i++)
		flags += t->job.member[i].report.seen[0];
	printf("     flags of %llu imported mappings\n", (ull)flags);
	judge(flags == t->job.count * others * t->planned.plan.nchunks,
	      "the flags of every imported mapping were read back");
}

/* Mean over all processes; in us. */
static double mean(const struct trial *t, enum phase phase, enum kvp_op op)
{
	double seconds = 0, calls = 0;
	unsigned index = 0;
	uint32_t i;

	while (op != 1u << index)
		index++;
	for (i = 0; i < t->job.count; i++) {
		seconds += seen->costs[i].seconds[phase][index];
		calls += (double)seen->costs[i].calls[phase][index];
	}
	return calls > 0 ? 1e6 * seconds / calls : 0;
}

/* A phase per chunk, and what of it is no call; in us. */
static double mean_phase(const struct trial *t, enum phase phase, bool outside)
{
	double seconds = 0;
	const struct costs *c;
	uint32_t i;
	unsigned op;

	for (i = 0; i < t->job.count; i++) {
		c = &seen->costs[i];
		seconds += c->in_phase[phase];
		for (op = 0; op < OPS && outside; op++)
			seconds -= c->seconds[phase][op];
	}
	return 1e6 * seconds / (double)t->job.count /
	       (double)t->planned.plan.nchunks;
}

static void print_costs(const struct trial *t)
{
	static const struct {
		const char *name;
		enum phase phase;
		enum kvp_op op;
		const char *known;
	} rows[] = {
		{ "create", OWN, KVP_OP_CREATE, "" },
		{ "map", OWN, KVP_OP_MAP, "" },
		{ "grant", OWN, KVP_OP_GRANT, "" },
		{ "export", IMPORTED, KVP_OP_EXPORT, "50" },
		{ "import", IMPORTED, KVP_OP_IMPORT,
		  "20 with one importer, 80-120 with four" },
		{ "map of an import", IMPORTED, KVP_OP_MAP, "1.3" },
		{ "grant of an import", IMPORTED, KVP_OP_GRANT, "26-32" },
		{ "unmap", UNDO, KVP_OP_UNMAP, "25-40 alone, up to 600" },
		{ "release", UNDO, KVP_OP_RELEASE, "16 alone, up to 1,200" },
	};
	size_t i;

	printf("     us a call, mean of %u processes (measured before):\n",
	       t->job.count);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		printf("     %-20s %8.1f   %s\n", rows[i].name,
		       mean(t, rows[i].phase, rows[i].op), rows[i].known);
	printf("     us a chunk: begin %.1f, exchange %.1f, of which sending "
	       "and waiting %.1f, free %.1f\n", mean_phase(t, OWN, false),
	       mean_phase(t, IMPORTED, false), mean_phase(t, IMPORTED, true),
	       mean_phase(t, UNDO, false));
}

static void whole(uint32_t ranks)
{
	struct trial t;

	prepare(&t, ranks);
	t.job.check = KVP_CHECK_FULL;
	t.job.committed = write_marks;
	t.job.settled = read_all;
	run(&t, 0);
	judge_published(&t);
	judge_flags(&t);
	judge_joined(&t);
	judge_memory(&t);
	launch_release(&t.job);
	t.job.check = KVP_CHECK_NONE;
	t.job.committed = t.job.settled = NULL;
	run(&t, 0);
	judge_published(&t);
	print_costs(&t);
	release(&t);
}

/* --- entries --- */

static void entries_of(uint32_t ranks, uint64_t most)
{
	struct trial t;
	uint64_t taken;

	prepare(&t, ranks);
	t.job.settled = let_look;
	start_watcher(&watcher, most);
	run(&t, most);
	end_watcher(&watcher);
	taken = t.before.entries - seen->during.entries;
	printf("     %u ranks: %llu entries free before, %llu while published, "
	       "%llu after: %llu taken, the plan's are %llu and %u contexts "
	       "%lld\n", ranks, (ull)t.before.entries,
	       (ull)seen->during.entries, (ull)t.after.entries, (ull)taken,
	       (ull)t.entries, ranks, (long long)(taken - t.entries));
	judge_published(&t);
	judge(taken >= t.entries && taken <= t.entries + ranks * CONTEXT,
	      "the entries taken are the plan's and the contexts'");
	judge(t.before.entries == t.after.entries, "all are given back");
	release(&t);
}

static void entries(uint64_t most)
{
	uint32_t ranks;

	for (ranks = 2; ranks <= 4; ranks++)
		entries_of(ranks, most);
}

/* --- rounds --- */

static void rounds(unsigned long count)
{
	struct trial t;
	uint64_t first;
	unsigned long i;
	bool same = true;

	prepare(&t, 2);
	first = look_at_gpu(0).bytes;
	for (i = 0; i < count; i++) {
		t.well = launch(&t.job);
		t.after = look_at_gpu(0);
		same &= t.after.bytes == first;
		printf("     round %lu: %llu bytes free\n", i + 1,
		       (ull)t.after.bytes);
		if (!t.well || t.job.member[0].report.state != KVP_PUBLISHED)
			judge(false, t.job.member[0].report.text[CALL_COMMIT]);
		launch_release(&t.job);
	}
	judge(same, "free memory is the same to the byte after all rounds");
	release(&t);
}

/* --- killed --- */

static void owner(void)
{
	const uint32_t ranks = 3;
	uint64_t wrong = 0, least;
	const struct report *r;
	struct trial t;
	uint32_t i;

	prepare(&t, ranks);
	t.job.committed = write_marks;
	t.job.settled = die_in_turn;
	run(&t, 0);
	r = &t.job.member[ranks - 1].report;
	judge(t.well && r->state == KVP_PUBLISHED && t.job.member[ranks - 1]
	      .freed && !t.job.member[0].freed && !t.job.member[1].freed,
	      "two of three were killed when all had published");
	for (i = 0; i < ranks; i++)
		wrong += seen->costs[i].wrong;
	judge(!wrong && !r->wrong, "importers read on what dead owners wrote");
	least = ranks * t.plane_bytes;
	printf("     the last one alive: %llu bytes taken, all planes have "
	       "%llu\n", (ull)(t.before.bytes - r->seen[0]), (ull)least);
	judge(t.before.bytes - r->seen[0] >= least,
	      "the memory of dead owners stays while it is imported");
	judge_memory(&t);
	release(&t);
}

static void victim(void)
{
	struct trial t;
	const struct report *r = &t.job.member[1].report;
	uint32_t i;
	uint64_t at;

	prepare(&t, 3);
	run(&t, 0);
	judge_published(&t);
	at = (r->calls[CALL_BEGIN] + r->calls[CALL_EXCHANGE]) / 2;
	release(&t);
	prepare(&t, 3);
	t.job.member[1].at = at;
	t.job.member[1].signal = SIGKILL;
	run(&t, 0);
	judge(t.well && !t.job.member[1].reported, "the victim was killed");
	for (i = 0; i < 3; i++) {
		r = &t.job.member[i].report;
		if (i == 1)
			continue;
		printf("     rank %u, %s: %s\n", i, kvp_state_name(r->state),
		       r->text[CALL_EXCHANGE]);
		judge(r->state == KVP_UNWOUND && !t.job.member[i].part_len &&
		      r->code[CALL_EXCHANGE] == KVP_EPEER,
		      "a survivor has undone everything, nothing published");
	}
	judge_memory(&t);
	release(&t);
}

int main(int argc, char **argv)
{
	unsigned long n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must_be(seen != MAP_FAILED, "mmap");
	if (n >= 2 && n <= 8 && !strcmp(what, "whole"))
		whole((uint32_t)n);
	else if (n && !strcmp(what, "entries"))
		entries(n);
	else if (n && !strcmp(what, "rounds"))
		rounds(n);
	else if (argc == 2 && !strcmp(what, "owner"))
		owner();
	else if (argc == 2 && !strcmp(what, "victim"))
		victim();
	else {
		fprintf(stderr, "usage: share whole RANKS | entries MOST | "
			"rounds N | owner | victim\n");
		return 2;
	}
	return failures ? 1 : 0;
}
