/*
 * Failures, everywhere: small plans are realized with call 1, 2, 3 ...
 * failing, once and for ever, of the acquiring verbs and of all verbs, until
 * a run goes through.  Each failing run has to answer the right code, say
 * where it was, publish nothing and leave nothing, or say exactly what is
 * left.  The same with an interrupt at every event, with every step of
 * publishing failing or killed, and with every driver call of the stand-in
 * failing.
 *
 * fsync, fchmod, openat, linkat and renameat are this program's own, so that
 * they can fail or kill, and so that a file system can be without files that
 * have no name.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kvplan/kvplan.h>

#include "base/file.h"
#include "fault/model.h"
#include "fault/sanitized.h"
#include "fault/standin.h"
#include "backend/backend_host.h"

#ifdef SANITIZED
#define SLOW 1
#else
#define SLOW 0
#endif

#define UNDO_OPS (KVP_OP_UNRESERVE | KVP_OP_RELEASE | KVP_OP_UNMAP)
/* Preflight asks for the limits of the process past the events. */
#define TOLD_OPS (KVP_OP_ALL & ~KVP_OP_PROCESS)
#define ACQUIRE_OPS (TOLD_OPS & ~UNDO_OPS)
#define CALLS_MAX 5000
#define OLD "the old file\n"

/* A plan, and how much of it is realized how. */
struct setup {
	const char *name;
	const char *geometry;
	enum kvp_merge merge;
	uint32_t first_rank;
	uint32_t nranks;
	enum kvp_check check;
	uint64_t fewest_calls;	/* fewer would test nothing */
	struct kvp_plan plan;
	struct kvp_verdict *verdict;
};

/* Everything there is: merging rows, padding, dedicated backing, a plane
   without aliases, statics; granules of 4 KiB for the host and of 2 MiB for
   the stand-in. */
#define EVERYTHING(granule, page, half, row, stride)			\
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"everything\","	\
	"\"granularity\":" granule ",\"pages\":6,\"page_tokens\":16,"	\
	"\"snapshot_rows\":2,\"execution_rows\":1,\"row_bytes\":" row	\
	",\"row_stride\":" stride ",\"ranks\":4,\"dcp_group_size\":2,"	\
	"\"planes\":[{\"name\":\"a\",\"count\":2,\"bytes_per_page\":"	\
	page "},{\"name\":\"b\",\"bytes_per_page\":" half "},"		\
	"{\"name\":\"c\",\"bytes_per_page\":64,\"alias\":false}],"	\
	"\"access\":{\"importer_mode\":\"read\"},\"static\":[{\"name\":"	\
	"\"x\",\"bytes\":1,\"importers\":\"none\"},{\"name\":\"y\","	\
	"\"bytes\":8192,\"importers\":\"all\"}],\"static_entries\":7}"

static const char host_geometry[] =
	EVERYTHING("4096", "4096", "2048", "20480", "22528");
static const char cuda_geometry[] =
	EVERYTHING("2097152", "2097152", "1048576", "10485760", "11534336");

/* Whole node, everybody reads everybody, planes are written by all. */
static const char all_geometry[] =
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"all\",\"granularity\":"
	"4096,\"pages\":5,\"page_tokens\":1,\"snapshot_rows\":1,"
	"\"execution_rows\":0,\"row_bytes\":8192,\"ranks\":3,"
	"\"dcp_group_size\":3,\"planes\":[{\"name\":\"a\",\"bytes_per_page\":"
	"3000}],\"access\":{\"importer_mode\":\"readwrite\"},\"static\":["
	"{\"name\":\"z\",\"bytes\":4096,\"importers\":\"group\"}]}";

/* No rows: no arena, no dedicated backing, no alias. */
static const char plain_geometry[] =
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"plain\",\"granularity\":"
	"4096,\"pages\":5,\"page_tokens\":1,\"snapshot_rows\":0,"
	"\"execution_rows\":0,\"ranks\":2,\"dcp_group_size\":1,"
	"\"planes\":[{\"name\":\"a\",\"count\":2,\"bytes_per_page\":3000}]}";

static struct setup setups[] = {
	{ .name = "two ranks, row", .geometry = host_geometry,
	  .merge = KVP_MERGE_ROW, .nranks = 2, .check = KVP_CHECK_FULL,
	  .fewest_calls = 250 },
	{ .name = "three ranks, none", .geometry = host_geometry,
	  .merge = KVP_MERGE_NONE, .nranks = 3, .check = KVP_CHECK_NONE,
	  .fewest_calls = 300 },
	{ .name = "two ranks in the middle, span", .geometry = host_geometry,
	  .merge = KVP_MERGE_SPAN, .first_rank = 1, .nranks = 2,
	  .check = KVP_CHECK_QUICK, .fewest_calls = 200 },
	{ .name = "three ranks, everybody reads", .geometry = all_geometry,
	  .merge = KVP_MERGE_ROW, .nranks = 3, .check = KVP_CHECK_FULL,
	  .fewest_calls = 100 },
	{ .name = "two ranks, no rows", .geometry = plain_geometry,
	  .merge = KVP_MERGE_ROW, .nranks = 2, .check = KVP_CHECK_FULL,
	  .fewest_calls = 40 },
};
#define SETUPS (sizeof(setups) / sizeof(*setups))
static struct setup on_standin = {
	.name = "stand-in", .geometry = cuda_geometry, .merge = KVP_MERGE_ROW,
	.nranks = 2, .check = KVP_CHECK_QUICK, .fewest_calls = 200,
};

static const int codes[] = { KVP_EDRIVER, KVP_EEXHAUSTED, KVP_ENOMEM };
#define CODES 3

static int passed, failed, skipped;
static char dir[64], target[96];

/* --- calls of publishing that fail or kill --- */

static struct {
	const char *call;	/* NULL: none */
	bool kill;
	bool named;		/* no O_TMPFILE here */
} file_fault;

static bool file_fails(const char *call)
{
	if (!file_fault.call || strcmp(call, file_fault.call))
		return false;
	if (file_fault.kill)
		kill(getpid(), SIGKILL);
	errno = EIO;
	return true;
}

/* Else nothing: thousands of runs need no disk. */
int fsync(int fd)
{
	(void)fd;
	return file_fails("fsync") ? -1 : 0;
}

int fchmod(int fd, mode_t mode)
{
	return file_fails("fchmod") ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int openat(int at, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	if (file_fault.named && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, at, path, flags, mode);
}

int linkat(int at, const char *from, int to_at, const char *to, int flags)
{
	int rc;

	if (file_fails("linkat"))
		return -1;
	rc = (int)syscall(SYS_linkat, at, from, to_at, to, flags);
	return !rc && file_fails("after linkat") ? -1 : rc;
}

int renameat(int at, const char *from, int to_at, const char *to)
{
	int rc;

	if (file_fails("renameat"))
		return -1;
	rc = (int)syscall(SYS_renameat, at, from, to_at, to);
	return file_fails("after renameat") ? -1 : rc;
}

/* --- one run --- */

struct run {
	const struct setup *setup;
	struct kvp_fault first, second;	/* both wrap the backend */
	uint64_t interrupt_at;
	int signal;
	bool old;		/* there is an old file */
	/* What came out. */
	struct model model;
	struct kvp_error err, end;
	int code, end_code;	/* of realizing, of giving back */
	struct host_alive alive;
	char wrong[256];
};

static void demand(struct run *r, bool holds, const char *what)
{
	if (!holds && !*r->wrong)
		snprintf(r->wrong, sizeof(r->wrong), "%s", what);
}

/* Nothing fails yet; what does fail ends the program. */
static void must(bool holds, const char *what)
{
	if (holds)
		return;
	printf("FAIL sweep_realize: cannot prepare: %s\n", what);
	puts("0 passed, 1 failed, 0 skipped");
	exit(1);
}

static bool target_holds(const char *text)
{
	char got[64] = "";
	FILE *f = fopen(target, "r");
	size_t len = f ? fread(got, 1, sizeof(got) - 1, f) : 0;

	if (f)
		fclose(f);
	return f && len == strlen(text) && !memcmp(got, text, len);
}

static bool target_is_whole(void)
{
	char *text;
	size_t len;
	bool whole;

	if (kvp_file_read(target, &text, &len, NULL))
		return false;
	whole = len > 100 && !strncmp(text, "{\n\"format\"", 10) &&
		!strcmp(text + len - 2, "}\n");
	free(text);
	return whole;
}

static int files_there(void)
{
	DIR *list = opendir(dir);
	int count = -2;

	while (list && readdir(list))
		count++;
	if (list)
		closedir(list);
	return count;
}

static void set_target(bool old)
{
	FILE *f;

	/* It is removed: never anything else than in our own directory. */
	must(*dir && !strncmp(target, dir, strlen(dir)), target);
	unlink(target);
	if (!old)
		return;
	f = fopen(target, "w");
	must(f, target);
	fputs(OLD, f);
	must(!fclose(f), target);
}

static struct kvp_realize_options run_options(struct run *r)
{
	const struct setup *s = r->setup;

	r->model = (struct model){
		.first_rank = s->first_rank, .nranks = s->nranks,
		.check = s->check != KVP_CHECK_NONE,
		.interrupt_at = r->interrupt_at, .signal = r->signal,
	};
	return (struct kvp_realize_options){
		.first_rank = s->first_rank, .nranks = s->nranks,
		.check = s->check, .event = model_event, .cookie = &r->model,
		.interrupt = &r->model.interrupt, .publish = target,
	};
}

/* What has to hold whatever failed, as long as everything was undone. */
static void check_published(struct run *r)
{
	const struct model *m = &r->model;

	demand(r, files_there() == (r->old || !r->code),
	       "a file is left beside the target");
	if (!r->code)
		demand(r, target_is_whole(), "nothing whole is published");
	else if (r->old)
		demand(r, target_holds(OLD), "the old file is gone");
	else
		demand(r, access(target, F_OK), "published after a failure");
	demand(r, model_all(m, KVP_UNWOUND) ||
	       (r->code && model_all(m, KVP_IDLE)), "not unwound");
}

static void realize(struct run *r, struct kvp_backend *backend)
{
	struct kvp_realize_options options = run_options(r);
	struct kvp_realization *made = (struct kvp_realization *)r;

	set_target(r->old);
	r->code = kvp_realize(&made, &r->setup->plan, r->setup->verdict,
			      backend, &options, &r->err);
	if (r->code) {
		demand(r, !made, "failed, and there is a realization");
		demand(r, r->err.code == r->code, "the error has another code");
	} else {
		demand(r, model_all(&r->model, KVP_PUBLISHED),
		       "not everybody is published");
		demand(r, target_is_whole(), "nothing whole is published");
		r->end_code = kvp_realization_free(made, &r->end);
	}
	check_published(r);
	demand(r, !*r->model.wrong, r->model.wrong);
}

/* One for all runs, until one leaves something behind. */
static struct kvp_backend *host;

static void run_host(struct run *r)
{
	struct kvp_backend *inner = NULL, *outer = NULL;

	must((host || !kvp_backend_host(&host, 4, 4096, NULL)) &&
	     !kvp_backend_fault(&inner, host, &r->second, NULL) &&
	     !kvp_backend_fault(&outer, inner, &r->first, NULL), "backend");
	realize(r, outer);
	host_alive(host, &r->alive);
	kvp_backend_close(outer);
	kvp_backend_close(inner);
	if (r->alive.mappings | r->alive.handles | r->alive.reservations) {
		kvp_backend_close(host);
		host = NULL;
	}
}

/* --- what a failing run has to say --- */

/* The text ends with what is left; it has to be what is alive. */
static void check_stuck(struct run *r, const char *text,
			const struct host_alive *alive)
{
	unsigned long long mappings, memory, addresses;
	const char *left = strstr(text, "left behind are ");
	char counts[160];

	if (!left || sscanf(left, "left behind are mappings: %llu, "
			    "allocations: %llu, reservations: %llu", &mappings,
			    &memory, &addresses) != 3) {
		demand(r, false, "does not say what is left behind");
		return;
	}
	snprintf(counts, sizeof(counts), "says %llu, %llu, %llu are left "
		 "(mappings, allocations, reservations), alive are %llu, %llu,"
		 " %llu", mappings, memory, addresses,
		 (unsigned long long)alive->mappings,
		 (unsigned long long)alive->handles,
		 (unsigned long long)alive->reservations);
	demand(r, mappings == alive->mappings && memory == alive->handles &&
	       addresses == alive->reservations, counts);
	demand(r, mappings + memory + addresses, "stuck, and nothing is left");
}

static void check_nothing_alive(struct run *r, const struct host_alive *alive)
{
	demand(r, !alive->mappings && !alive->handles && !alive->reservations,
	       "something is alive");
	demand(r, !alive->resident_bytes, "memory is not given back");
	demand(r, !model_left(&r->model),
	       "not as many undo calls as acquired things");
}

/* Rank, device, call and error, how far it got, what is free. */
static void check_text(struct run *r, const char *backend)
{
	const struct model *m = &r->model;
	const char *text = r->err.text;
	char start[96];

	snprintf(start, sizeof(start), "rank %u, %s %u, ", m->cause_rank,
		 backend, m->cause_rank - r->setup->first_rank);
	/* What the device is called is asked then; test_realize.c. */
	if (!strcmp(m->cause, "device"))
		snprintf(start, sizeof(start), "rank %u, ", m->cause_rank);
	demand(r, !strncmp(text, start, strlen(start)),
	       "does not begin with rank and device");
	demand(r, strstr(text, m->cause) || *backend == 'G',
	       "does not name the call");
	if (m->cause_code == KVP_ENOMEM)
		return;
	demand(r, strstr(text, " calls, with ") &&
	       strstr(text, " table entries held"),
	       "does not say how far it got");
	if (r->code == KVP_ETABLE)
		demand(r, strstr(text, "table of mappings is full"),
		       "does not say that the table is full");
	if (!strcmp(m->cause, "map") || m->cause_state == KVP_CREATED)
		demand(r, strstr(text, "chunk ") || strstr(text, "dedicated")
		       || strstr(text, ", x: ") || strstr(text, ", y: ") ||
		       strstr(text, ", z: "), "does not say what of");
}

/* Faults of the acquiring verbs alone: which code comes out?  The host has
   no table that could be full. */
static int expected_code(const struct run *r, bool has_table)
{
	const struct model *m = &r->model;

	if (m->cause_code == KVP_EEXHAUSTED && !strcmp(m->cause, "grant") &&
	    has_table)
		return KVP_ETABLE;
	return m->cause_code;
}

static void check_code(struct run *r, int expected)
{
	char text[128];

	snprintf(text, sizeof(text), "answers %s, not %s",
		 kvp_code_name(r->code), kvp_code_name(expected));
	demand(r, r->code == expected, text);
}

/* A run with faults, judged. */
static void judge(struct run *r)
{
	const struct model *m = &r->model;
	bool undo_failed = m->failed_undo;

	if (!m->failed) {
		demand(r, !r->code && !r->end_code,
		       "nothing failed, yet the run did");
	} else if (r->code || m->failed > m->failed_undo) {
		check_code(r, undo_failed ? KVP_ESTUCK :
			      expected_code(r, false));
		check_text(r, "host memory");
	}
	demand(r, !r->code == (m->failed == m->failed_undo),
	       "a failed call was passed over");
	if (!r->code)
		demand(r, r->end_code == (undo_failed ? KVP_ESTUCK : KVP_OK),
		       "giving back answers the wrong code");
	if (undo_failed)
		check_stuck(r, r->code ? r->err.text : r->end.text,
			    &r->alive);
	else
		check_nothing_alive(r, &r->alive);
	if (!undo_failed)
		demand(r, !m->events || m->failed || m->entries ==
		       r->setup->plan.geometry.static_entries,
		       "entries are left");
}

static void describe(char *text, size_t size, const char *which,
		     const struct kvp_fault *f, uint64_t n)
{
	if (n)
		snprintf(text, size, ", %s: call %llu of 0x%x answers %s %s",
			 which, (unsigned long long)n, f->ops,
			 kvp_code_name(f->code), f->for_ever ? "for ever" :
							       "once");
	else
		*text = '\0';
}

/* Run and judge; answers whether it was good. */
static bool try(struct run *r)
{
	uint64_t n = r->first.countdown, m = r->second.countdown;
	const struct kvp_fault first = r->first, second = r->second;
	char what[128], then[128];

	run_host(r);
	judge(r);
	if (!*r->wrong)
		return true;
	describe(what, sizeof(what), "fault", &first, n);
	describe(then, sizeof(then), "then", &second, m);
	printf("FAIL %s%s%s: %s (%s; %s)\n", r->setup->name, what, then,
	       r->wrong, r->err.text, r->end.text);
	return false;
}

static void count(bool good)
{
	passed += good;
	failed += !good;
}

/* --- the sweeps --- */

/* Stop telling after a few: the cause is the same. */
#define TOLD_MAX 5

static void sweep(const struct setup *s, unsigned ops, bool for_ever, int code)
{
	uint64_t n;
	int bad = 0;
	bool met = true;

	for (n = 1; met && n < CALLS_MAX && bad < TOLD_MAX;
	     n += SLOW ? 4 : 1) {
		struct run r = {
			.setup = s, .old = n % 2,
			.first = { .ops = ops, .countdown = n,
				   .for_ever = for_ever, .code = code },
		};

		bad += !try(&r);
		met = r.model.failed;
	}
	if (bad < TOLD_MAX && (met || n < s->fewest_calls)) {
		printf("FAIL %s: swept %llu calls\n", s->name,
		       (unsigned long long)n);
		bad++;
	}
	count(!bad);
}

/* Failing call n, then undo call m: the walk goes on past it. */
static void sweep_undo(const struct setup *s, bool for_ever, uint64_t step)
{
	uint64_t n, m;
	bool met = true, stuck;
	int bad = 0;

	for (n = 1; met && bad < TOLD_MAX; n += step) {
		stuck = true;
		for (m = 1; stuck && bad < TOLD_MAX; m++) {
			struct run r = {
				.setup = s, .old = m % 2,
				.first = { .ops = ACQUIRE_OPS, .countdown = n,
				   .for_ever = false, .code = codes[n % CODES] },
				.second = { .ops = UNDO_OPS, .countdown = m,
				   .for_ever = for_ever, .code = KVP_EDRIVER },
			};

			bad += !try(&r);
			stuck = r.model.failed_undo;
			met = r.model.failed > r.model.failed_undo;
		}
	}
	count(!bad);
}

/* Every call of one verb fails for one rank alone, the last one. */
static void last_rank_fails(const struct setup *s, unsigned op)
{
	uint32_t last = s->first_rank + s->nranks - 1;
	uint64_t n;
	bool met = true, seen = false;
	int bad = 0;

	for (n = 1; met; n++) {
		struct run r = {
			.setup = s, .first = { .ops = op, .countdown = n,
				   .for_ever = false, .code = KVP_EDRIVER },
		};

		bad += !try(&r);
		met = r.model.failed;
		if (!met || r.model.cause_rank != last)
			continue;
		seen = true;
		if (r.code == KVP_EDRIVER && access(target, F_OK) &&
		    model_all(&r.model, KVP_UNWOUND))
			continue;
		printf("FAIL %s: the last rank fails at call %llu of 0x%x, "
		       "and others go on\n", s->name, (unsigned long long)n,
		       op);
		bad++;
	}
	count(!bad && seen);
}

/* An interrupt at every event; while undoing as well it is too late. */
static void sweep_interrupt(const struct setup *s, int signal, bool stuck)
{
	uint64_t n;
	bool met = true;
	char text[64];
	int bad = 0;

	snprintf(text, sizeof(text), "interrupted by signal %d", signal);
	for (n = 1; met && bad < TOLD_MAX; n += SLOW ? 3 : 1) {
		struct run r = {
			.setup = s, .old = n % 2, .interrupt_at = n,
			.signal = signal,
			.second = { .ops = UNDO_OPS, .countdown = stuck,
				   .for_ever = true, .code = KVP_EDRIVER },
		};

		run_host(&r);
		met = r.code;
		demand(&r, !r.code || strstr(r.err.text, text),
		       "does not name the signal");
		if (r.model.failed_undo) {
			check_stuck(&r, r.code ? r.err.text : r.end.text,
				    &r.alive);
			demand(&r, !r.code || r.code == KVP_ESTUCK,
			       "stuck, and another code");
		} else {
			check_nothing_alive(&r, &r.alive);
			demand(&r, !r.code || r.code == KVP_EINTERRUPTED,
			       "interrupted, and another code");
		}
		if (*r.wrong)
			printf("FAIL %s, signal %d at event %llu: %s (%s)\n",
			       s->name, signal, (unsigned long long)n,
			       r.wrong, r.err.text);
		bad += *r.wrong != 0;
	}
	if (n < s->fewest_calls) {
		printf("FAIL %s: interrupted at %llu events\n", s->name,
		       (unsigned long long)n);
		bad++;
	}
	count(!bad);
}

/* --- publishing --- */

/* A step of publishing, and the ways that reach it. */
struct step {
	const char *call;
	bool reached[4];	/* without a name: new target, old one; with
				   a name: new, old */
	bool placed;		/* the new file is in place by then */
	bool only_kills;	/* where it fails another way is taken */
};

static const struct step steps[] = {
	{ "fchmod", { 0, 1, 0, 1 }, false, false },
	{ "fsync", { 1, 1, 1, 1 }, false, false },
	{ "linkat", { 1, 1, 0, 0 }, false, true },
	{ "after linkat", { 1, 0, 0, 0 }, true, true },
	{ "after linkat", { 0, 1, 0, 0 }, false, true },
	{ "renameat", { 0, 1, 1, 1 }, false, false },
	{ "after renameat", { 0, 1, 1, 1 }, true, true },
};

/* A step of it fails: an I/O error, everything undone, the old file. */
static void publishing_fails(const struct setup *s, const char *call, bool old)
{
	struct run r = { .setup = s, .old = old };

	file_fault.call = call;
	run_host(&r);
	file_fault.call = NULL;
	demand(&r, r.code == KVP_EIO, "the code is not KVP_EIO");
	demand(&r, strstr(r.err.text, target), "does not name the file");
	check_nothing_alive(&r, &r.alive);
	if (*r.wrong)
		printf("FAIL %s, %s fails: %s (%s)\n", s->name, call, r.wrong,
		       r.err.text);
	count(!*r.wrong);
}

static void remove_files(void)
{
	DIR *list = opendir(dir);
	struct dirent *e;
	char path[400];

	while (list && (e = readdir(list)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlink(path);
	}
	if (list)
		closedir(list);
}

/* Killed at a step of it: the target is the old file, or all of the new. */
static void publishing_is_killed(const struct setup *s, const char *call,
				 bool old, bool placed)
{
	struct run r = { .setup = s, .old = old };
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	must(child >= 0, "fork");
	if (!child) {
		file_fault.call = call;
		file_fault.kill = true;
		run_host(&r);
		_exit(1);
	}
	must(waitpid(child, &status, 0) == child, "waitpid");
	demand(&r, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	       "was not killed there");
	if (placed)
		demand(&r, target_is_whole(), "the new file is not whole");
	else if (old)
		demand(&r, target_holds(OLD), "the old file is gone");
	else
		demand(&r, access(target, F_OK), "there is part of a file");
	if (*r.wrong)
		printf("FAIL %s, killed at %s: %s\n", s->name, call, r.wrong);
	count(!*r.wrong);
	remove_files();
}

/* What cannot be written is refused before anything is touched. */
static void cannot_be_written(const struct setup *s, const char *path)
{
	struct kvp_realize_options options;
	struct kvp_realization *made = NULL;
	struct run r = { .setup = s };

	options = run_options(&r);
	options.publish = path;
	r.code = kvp_realize(&made, &s->plan, s->verdict, host, &options,
			     &r.err);
	demand(&r, r.code == KVP_EIO, "the code is not KVP_EIO");
	demand(&r, strstr(r.err.text, path), "does not name the file");
	demand(&r, !made && !r.model.acquired[0] && !r.model.acquired[1] &&
	       !r.model.acquired[2], "something was acquired");
	if (*r.wrong)
		printf("FAIL %s, publishing to %s: %s (%s)\n", s->name, path,
		       r.wrong, r.err.text);
	count(!*r.wrong);
}

/* --- the CUDA backend on the stand-in --- */

/* What a child tells of its run. */
struct told {
	struct run run;
	int open_code;
	int standin_errors;
};

/* In a child, for the stand-in reads its settings while nothing is alive. */
static void child_run(struct told *t, const char *faults)
{
	struct kvp_backend *cuda = NULL;

	setenv("FAKE_CUDA_FAIL", faults, 1);
	t->open_code = kvp_backend_cuda(&cuda, NULL, 0, &t->run.err);
	if (t->open_code)
		return;
	realize(&t->run, cuda);
	kvp_backend_close(cuda);
}

static void run_standin(struct told *t, const char *faults)
{
	int pipes[2], status = 0;
	ssize_t got;
	pid_t child;

	fflush(stdout);
	must(!pipe(pipes), "pipe");
	unlink(standin.report);
	child = fork();
	must(child >= 0, "fork");
	if (!child) {
		close(pipes[0]);
		child_run(t, faults);
		got = write(pipes[1], t, sizeof(*t));
		exit(got != sizeof(*t));
	}
	close(pipes[1]);
	got = read(pipes[0], t, sizeof(*t));
	close(pipes[0]);
	must(waitpid(child, &status, 0) == child, "waitpid");
	demand(&t->run, got == sizeof(*t) && WIFEXITED(status) &&
	       !WEXITSTATUS(status), "died");
	demand(&t->run, standin_read(), "the stand-in tells nothing");
	t->run.alive = (struct host_alive){
		.reservations = standin.reservations,
		.mappings = standin.mappings, .handles = standin.handles,
	};
}

static void judge_standin(struct told *t, bool can_wait)
{
	struct run *r = &t->run;
	const struct model *m = &r->model;

	if (!t->open_code && (r->code || m->failed > m->failed_undo)) {
		check_code(r, m->failed_undo ? KVP_ESTUCK :
			      expected_code(r, true));
		check_text(r, "GPU");
	} else if (!t->open_code) {
		demand(r, r->end_code == (m->failed_undo ? KVP_ESTUCK :
							   KVP_OK),
		       "giving back answers the wrong code");
	} else {
		demand(r, t->open_code == KVP_EDRIVER ||
		       t->open_code == KVP_EUNAVAILABLE ||
		       t->open_code == KVP_EEXHAUSTED,
		       "opening answers the wrong code");
	}
	if (m->failed_undo)
		check_stuck(r, r->code ? r->err.text : r->end.text,
			    &r->alive);
	else
		check_nothing_alive(r, &r->alive);
	/* Nor can the order be right after a failed undo, or a failed wait. */
	demand(r, m->failed_undo || !can_wait || !*standin.errors,
	       standin.errors);
	demand(r, m->failed_undo || !(standin.entries | standin.contexts |
				      standin.streams | standin.host),
	       "the stand-in has something alive");
}

/* Failures of these are passed over, so nothing has to come of them. */
static bool passed_over(const char *call)
{
	static const char *const calls[] = {
		"cuCtxPopCurrent", "cuStreamDestroy", "cuMemFreeHost",
		"cuDevicePrimaryCtxRelease",
	};
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(call, calls[i]))
			return true;
	return false;
}

static void sweep_standin(const char *call, bool for_ever, uint64_t step,
			  const char *more)
{
	char faults[256];
	bool met = true;
	uint64_t n;
	int bad = 0;

	for (n = 1; met && bad < TOLD_MAX && n < CALLS_MAX; n += step) {
		/* 2: out of memory, 999: unknown */
		struct told t = { .run = { .setup = &on_standin,
					   .old = n % 2 } };

		snprintf(faults, sizeof(faults), "%s:%llu:%s%d%s", call,
			 (unsigned long long)n, for_ever ? "for-ever:" : "",
			 n % 3 ? 999 : 2, more);
		run_standin(&t, faults);
		judge_standin(&t, !for_ever ||
				  strcmp(call, "cuStreamSynchronize"));
		met = t.open_code || t.run.model.failed >
				     (*more ? t.run.model.failed_undo : 0);
		if (*t.run.wrong)
			printf("FAIL stand-in, %s: %s (%s; %s)\n", faults,
			       t.run.wrong, t.run.err.text, t.run.end.text);
		bad += *t.run.wrong != 0;
	}
	if (n == 1 + step && !bad) {
		printf("FAIL stand-in: %s is never called\n", call);
		bad++;
	}
	count(!bad);
}

static void sweep_cuda(void)
{
	static const char *const calls[] = {
		"cuInit", "cuDeviceGetCount", "cuDeviceGet",
		"cuDeviceGetName", "cuDeviceGetUuid", "cuDeviceTotalMem",
		"cuDriverGetVersion", "cuDeviceCanAccessPeer",
		"cuDevicePrimaryCtxRetain", "cuStreamCreate",
		"cuMemGetAllocationGranularity", "cuMemGetInfo",
		"cuCtxPushCurrent", "cuMemAddressReserve", "cuMemCreate",
		"cuMemMap", "cuMemSetAccess", "cuMemGetAccess",
		"cuMemsetD32Async", "cuMemcpyDtoHAsync", "cuMemHostAlloc",
		"cuStreamSynchronize", "cuCtxSynchronize", "cuMemAddressFree",
		"cuMemRelease", "cuMemUnmap",
	};
	static const char stuck[] = ",cuMemUnmap:3,cuMemRelease:2,"
				    "cuMemAddressFree:1";
	uint64_t step;
	size_t i;

	if (!standin_load(dir)) {
		puts("SKIP sweep_realize stand-in: no build/fake/libcuda.so.1");
		skipped++;
		return;
	}
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		must(!passed_over(calls[i]), calls[i]);
		/* These are called hundreds of times. */
		step = !strcmp(calls[i], "cuCtxPushCurrent") ? 11 :
		       !strcmp(calls[i], "cuMemGetAccess") ? 5 : 1;
		step *= SLOW ? 29 : 1;
		sweep_standin(calls[i], false, step, "");
		sweep_standin(calls[i], true, step * 3, "");
		if (i >= 15 && i < 23)
			sweep_standin(calls[i], false, step * 5, stuck);
	}
}

/* --- all of it --- */

static void prepare(struct setup *s)
{
	struct kvp_error err = { 0 };
	struct kvp_geometry g;
	bool aliased;

	must(!kvp_geometry_read(&g, "g", s->geometry, strlen(s->geometry),
				&err) &&
	     !kvp_plan_make(&s->plan, &g, s->merge, &err) &&
	     !kvp_verify(&s->plan, NULL, &s->verdict, &err), err.text);
	must(kvp_verdict_ok(s->verdict), "the plan is not verified");
	aliased = s->plan.chunks[0].arena != KVP_UNALIASED;
	must(aliased == (g.snapshot_rows != 0), "wrong aliases");
	if (g.nstatics == 2) {
		must(s->plan.dedicated_bytes, "no dedicated backing");
		must(s->merge == KVP_MERGE_NONE || s->plan.nchunks <
		     s->plan.summary.base_chunks, "nothing merged");
	}
	kvp_geometry_release(&g);
}

static void sweep_setup(const struct setup *s, bool thorough)
{
	size_t i;

	for (i = 0; i < (thorough ? CODES : 2); i++)
		sweep(s, ACQUIRE_OPS, false, codes[i]);
	for (i = 0; i < (thorough ? 2 : 1); i++) {
		sweep(s, ACQUIRE_OPS, true, codes[i]);
		sweep(s, TOLD_OPS, true, codes[i]);
	}
	sweep(s, TOLD_OPS, false, KVP_EDRIVER);
	sweep_undo(s, false, SLOW ? 211 : thorough ? 29 : 97);
	sweep_undo(s, true, SLOW ? 199 : thorough ? 37 : 101);
	last_rank_fails(s, KVP_OP_GRANT);
	last_rank_fails(s, KVP_OP_RESERVE);
	last_rank_fails(s, KVP_OP_CREATE);
	sweep_interrupt(s, SIGINT, false);
	sweep_interrupt(s, SIGTERM, true);
}

static void sweep_publishing(const struct setup *s)
{
	const struct step *step;
	size_t i, n;

	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		step = &steps[i];
		for (n = 0; n < 4; n++) {
			if (!step->reached[n])
				continue;
			file_fault.named = n & 2;
			publishing_is_killed(s, step->call, n & 1,
					     step->placed);
			if (!step->only_kills)
				publishing_fails(s, step->call, n & 1);
		}
	}
	file_fault.named = false;
	cannot_be_written(s, "/nowhere/at/all");
	cannot_be_written(s, "/proc/kvplan");
	cannot_be_written(s, dir);
}

int main(void)
{
	static char out[4096];
	size_t i;

	setvbuf(stdout, out, _IOLBF, sizeof(out));
	/* Thousands of files come and go: in memory, where it can be had. */
	strcpy(dir, access("/dev/shm", W_OK) ? "/tmp/kvplan-sweep-XXXXXX" :
					       "/dev/shm/kvplan-sweep-XXXXXX");
	must(mkdtemp(dir), "directory");
	snprintf(target, sizeof(target), "%s/capacity", dir);
	prepare(&on_standin);
	for (i = 0; i < SETUPS; i++) {
		prepare(&setups[i]);
		sweep_setup(&setups[i], !i && !SLOW);
	}
	sweep_publishing(&setups[0]);
	sweep_cuda();
	for (i = 0; i < SETUPS; i++) {
		kvp_verdict_free(setups[i].verdict);
		kvp_plan_release(&setups[i].plan);
	}
	kvp_verdict_free(on_standin.verdict);
	kvp_plan_release(&on_standin.plan);
	kvp_backend_close(host);
	remove_files();
	standin_release();
	rmdir(dir);
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed != 0;
}
