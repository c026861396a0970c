/*
 * Eight threads at once go through every public function, each on objects of
 * its own, with this machine's memory and with the stand-in driver.  What
 * comes out is what one thread alone gets, every published file has the mode
 * of the umask, and in the end the state of the process is what it was.  Most
 * of all this is a program for a thread sanitizer; run.sh makes sure that no
 * public function is left out.
 *
 * usage: thread [cuda]   (from the top directory; cuda: libcuda.so.1 is the
 * stand-in, and its backend has to open)
 */
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kvplan/kvplan.h>

#include "cache/decode_workload.h"

#define THREADS 8
/* Publishing needs many rounds to meet another thread in the middle of it. */
#define ROUNDS 100
#define UMASK 027
#define PART "tests/parts/all.json"
#define CONFIG "tests/import/configs/qwen3-next-80b-a3b.json"

extern char **environ;

static struct {
	char dir[64];
	/* Texts that all threads read. */
	char *geometry, *config, *part;
	size_t geometry_len, config_len, part_len;
	char *plan[KVP_MERGE_SPAN + 1];	/* what one thread alone makes */
	bool cuda;
	pthread_barrier_t start;
} all;

struct worker {
	int number;
	pthread_t thread;
	char path[96];
	struct kvp_error err;
	struct kvp_geometry g;
	struct kvp_plan plan;
	struct kvp_verdict *verdict;
	struct kvp_limits limits;
	int passed, failed;
};

static void demand(struct worker *w, bool holds, const char *format, ...)
{
	va_list args;

	if (holds) {
		w->passed++;
		return;
	}
	w->failed++;
	flockfile(stdout);
	printf("FAIL thread %d: ", w->number);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(" (%s)\n", w->err.text);
	funlockfile(stdout);
}

/* Demand a code, and show the call. */
#define GIVES(code, call) demand(w, (call) == (code), "%s is not " #code, #call)
#define WORKS(call) GIVES(KVP_OK, call)
#define HOLDS(condition) demand(w, condition, "%s", #condition)

/* Nothing goes on without it. */
static void must(bool holds, const char *what)
{
	if (holds)
		return;
	printf("FAIL thread: %s\n0 passed, 1 failed, 0 skipped\n", what);
	exit(1);
}

static char *read_text(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	char *text = malloc(1 << 20);

	must(f && text, path);
	*len = fread(text, 1, (1 << 20) - 1, f);
	must(feof(f), path);
	fclose(f);
	text[*len] = '\0';
	return text;
}

/* --- geometry.h, plan.h, pack.h --- */

static void differ(void *cookie, const char *pointer, const char *a,
		   const char *b)
{
	(void)cookie, (void)pointer, (void)a, (void)b;
}

static void go_geometry(struct worker *w)
{
	struct kvp_geometry copy = { 0 }, open = { 0 };
	enum kvp_document kind = KVP_DOC_PLAN;
	char *text = NULL, *again = NULL;
	size_t len = 0, len_again = 0;

	HOLDS(kvp_geometry_sizeof() == sizeof(w->g));
	WORKS(kvp_document_kind(&kind, "g", all.geometry, all.geometry_len,
				&w->err));
	HOLDS(kind == KVP_DOC_GEOMETRY);
	WORKS(kvp_geometry_read(&w->g, "g", all.geometry, all.geometry_len,
				&w->err));
	GIVES(KVP_ESYNTAX, kvp_geometry_read(&open, "g", "{", 1, &w->err));
	HOLDS(!strcmp(kvp_code_name(w->err.code), "KVP_ESYNTAX"));
	WORKS(kvp_geometry_read_unsized(&open, "g", all.geometry,
					all.geometry_len, &w->err));
	WORKS(kvp_geometry_copy(&copy, &w->g, &w->err));
	copy.pages++;
	HOLDS(kvp_geometry_compare(&w->g, &copy, differ, NULL) == 1);
	HOLDS(!kvp_geometry_compare(&w->g, &open, NULL, NULL));
	WORKS(kvp_geometry_write(&w->g, &text, &len, &w->err));
	WORKS(kvp_geometry_write(&open, &again, &len_again, &w->err));
	HOLDS(text && again && !strcmp(text, again));
	kvp_geometry_release(&copy);
	kvp_geometry_release(&open);
	free(text);
	free(again);
}

static void go_plan(struct worker *w)
{
	enum kvp_merge merge, found;
	struct kvp_plan plan = { 0 };
	char *text = NULL;
	size_t len = 0;

	HOLDS(kvp_plan_sizeof() == sizeof(plan));
	for (merge = KVP_MERGE_NONE; merge <= KVP_MERGE_SPAN; merge++) {
		WORKS(kvp_merge_find(kvp_merge_name(merge), &found));
		HOLDS(found == merge);
		WORKS(kvp_plan_make(&plan, &w->g, merge, &w->err));
		WORKS(kvp_plan_write(&plan, &text, &len, &w->err));
		kvp_plan_release(&plan);
		HOLDS(text && !strcmp(text, all.plan[merge]));
		if (merge == KVP_MERGE_ROW)
			WORKS(kvp_plan_read(&w->plan, "p", text, len,
					    &w->err));
		free(text);
	}
}

/* --- verify.h, limits.h, probe.h --- */

static void go_verify(struct worker *w)
{
	struct kvp_verify_options options;
	const struct kvp_finding *findings;
	struct kvp_verdict *bad = NULL;
	enum kvp_rule rule, found;
	uint64_t bytes = w->plan.chunks[0].bytes;
	char text[256];
	size_t count = 0;

	kvp_verify_options_init(&options);
	WORKS(kvp_verify(&w->plan, &options, &w->verdict, &w->err));
	HOLDS(kvp_verdict_ok(w->verdict));
	HOLDS(kvp_verdict_is_realizable(w->verdict));
	HOLDS(kvp_verdict_is_for(w->verdict, &w->plan));
	HOLDS(kvp_verdict_summary(w->verdict)->chunks == w->plan.nchunks);
	w->plan.chunks[0].bytes *= 2;
	WORKS(kvp_verify(&w->plan, &options, &bad, &w->err));
	findings = kvp_verdict_findings(bad, &count);
	HOLDS(kvp_verdict_obstacle(bad, NULL) == findings);
	HOLDS(count && kvp_finding_text(findings, text, sizeof(text)));
	w->plan.chunks[0].bytes = bytes;
	kvp_verdict_free(bad);
	for (rule = 0; rule < KVP_RULES; rule++) {
		WORKS(kvp_rule_find(kvp_rule_name(rule), &found));
		HOLDS(found == rule && *kvp_rule_statement(rule));
		HOLDS(!kvp_rule_is_advisory(rule) ||
		      rule >= KVP_RULE_ENTRY_LIMIT);
	}
}

static const char limits_text[] =
	"{\"format\":\"kvplan/limits/1\",\"driver\":\"none\",\"devices\":["
	"{\"label\":\"GPU 0\",\"name\":\"n\",\"uuid\":\"u\","
	"\"granularity\":2097152,\"recommended_granularity\":2097152,"
	"\"total_bytes\":1,\"free_bytes\":1}],\"peers\":[[true]],"
	"\"abilities\":{"
	"\"offset_map\":{\"works\":false,\"answer\":\"A\"},"
	"\"partial_map\":{\"works\":false,\"answer\":\"A\"},"
	"\"part_grant\":{\"works\":false,\"answer\":\"A\"},"
	"\"half_unmap\":{\"works\":false,\"answer\":\"A\"},"
	"\"alias_coherent\":{\"works\":true,\"answer\":\"A\"},"
	"\"read_only_peers\":null,"
	"\"hint_honoured\":{\"works\":true,\"answer\":\"A\"},"
	"\"hint_moves\":{\"works\":true,\"answer\":\"A\"}},"
	"\"cost_ns\":{\"create\":1,\"map\":1,\"grant\":1,\"grant_two\":null,"
	"\"unmap\":1,\"unmap_two\":null,\"release\":1},\"entries\":null}";

static void go_limits(struct worker *w)
{
	struct kvp_limits read = { .driver = "" };
	char *text = NULL;
	size_t len = 0;

	if (all.cuda)
		WORKS(kvp_probe_run(&w->limits, NULL, 0, NULL, &w->err));
	else if (!kvp_probe_run(&read, NULL, 0, NULL, &w->err))
		kvp_limits_release(&read);
	if (!w->limits.ndevices)
		WORKS(kvp_limits_read(&w->limits, "l", limits_text,
				      sizeof(limits_text) - 1, &w->err));
	WORKS(kvp_limits_write(&w->limits, &text, &len, &w->err));
	WORKS(kvp_limits_read(&read, "l", text, len, &w->err));
	WORKS(kvp_limits_check(&read, &w->g, &w->err));
	HOLDS(kvp_limits_entry_limit(&read, &w->g) == w->g.entry_limit);
	kvp_limits_release(&read);
	free(text);
}

/* --- backend.h, realize.h, addresses.h --- */

static void event(void *cookie, const struct kvp_event *e)
{
	int *calls = cookie;

	*calls += *kvp_state_name(e->state) && e->kind == KVP_EVENT_CALL;
}

static void ask(struct worker *w, const struct kvp_realization *r,
		const struct kvp_realize_options *o)
{
	uint64_t left = 0;
	size_t count = 0;
	struct kvp_cap cap = kvp_realization_cap(r, 0, &left);

	HOLDS(kvp_realization_plane(r, 0, 0) && kvp_realization_arena(r, 0));
	HOLDS(kvp_realization_state(r, 1) == KVP_PUBLISHED);
	HOLDS(kvp_realization_access(r, &count) && count);
	HOLDS(kvp_realization_entries(r) ==
	      kvp_realize_entries(&w->plan, o));
	HOLDS(cap.bounded && cap.bytes <= left);
}

/*
 * Two ranks that read each other, twice: at the addresses of the first, which
 * another thread may have got meanwhile.
 */
static void go_realize(struct worker *w, struct kvp_backend *b)
{
	struct kvp_addresses *addresses = NULL;
	struct kvp_realization *r = NULL;
	int calls = 0, round, code;
	struct kvp_realize_options o = {
		.nranks = 2, .check = KVP_CHECK_QUICK, .limits = &w->limits,
		.publish = w->path, .event = event, .cookie = &calls,
	};
	char *text = NULL;
	size_t len = 0;

	for (round = 0; round < 2; round++) {
		o.addresses = addresses;
		code = kvp_realize(&r, &w->plan, w->verdict, b, &o, &w->err);
		demand(w, !code || (addresses && code == KVP_EDRIVER),
		       "realizing");
		if (code)
			break;
		ask(w, r, &o);
		if (!addresses) {
			WORKS(kvp_realization_write(r, true, &text, &len,
						    &w->err));
			WORKS(kvp_addresses_read(&addresses, "a", text, len,
						 &w->err));
			free(text);
		}
		WORKS(kvp_realization_free(r, &w->err));
	}
	HOLDS(calls > 100);
	kvp_addresses_free(addresses);
}

static void go_faulty(struct worker *w, struct kvp_backend *inner)
{
	struct kvp_fault fault = { .ops = KVP_OP_MAP, .countdown = 7,
				   .code = KVP_EDRIVER };
	struct kvp_realize_options o = { .nranks = 2 };
	struct kvp_realization *r = NULL;
	struct kvp_backend *b = NULL;

	WORKS(kvp_backend_fault(&b, inner, &fault, &w->err));
	GIVES(KVP_EDRIVER, kvp_realize(&r, &w->plan, w->verdict, b, &o,
				       &w->err));
	HOLDS(fault.hits == 1 && !r);
	kvp_backend_close(b);
}

/* --- share.h --- */

/* Carry the gathers of two processes, here two parts of one. */
static void go_shared(struct worker *w)
{
	struct kvp_share_options o = { .realize = { .nranks = 1 },
				       .node = "here" };
	struct kvp_share_blob blob[2], second;
	struct kvp_share *s[2] = { NULL, NULL };
	struct kvp_backend *b[2] = { NULL, NULL };
	uint32_t i;

	for (i = 0; i < 2; i++) {
		o.realize.first_rank = i;
		WORKS(kvp_backend_host(&b[i], 1, w->plan.geometry.granularity,
				       &w->err));
		WORKS(kvp_share_begin(&s[i], &w->plan, w->verdict, b[i], &o,
				      &blob[i], &w->err));
	}
	/* One blob is missing. */
	memset(&blob[1], 0, sizeof(blob[1]));
	GIVES(KVP_EPEER, kvp_share_exchange(s[0], blob, 2, &second, &w->err));
	GIVES(KVP_EPEER, kvp_share_commit(s[0], &second, 1, &w->err));
	HOLDS(kvp_share_state(s[0]) == KVP_UNWOUND);
	HOLDS(!kvp_share_realization(s[0]) && !kvp_share_plane(s[0], 0, 0));
	for (i = 0; i < 2; i++) {
		WORKS(kvp_share_free(s[i], &w->err));
		kvp_backend_close(b[i]);
	}
}

/* --- alloc_cache.h, decode_workload.h --- */

static void report(void *cookie, const struct kvp_alloc_cache_counters *now)
{
	*(uint64_t *)cookie += now->steps;
}

static void go_cache(struct worker *w, struct kvp_backend *b)
{
	const struct kvp_decode decode = {
		.step_bytes = 1 << 20, .sizes = 4, .steps = 20, .grow = true,
	};
	struct kvp_alloc_cache_counters now;
	struct kvp_decode_result result;
	uint64_t reported = 0, address = 0;
	const struct kvp_alloc_cache_options options = {
		.report = report, .cookie = &reported, .report_steps = 1,
	};
	const struct kvp_cap cap = { .bytes = 1 << 20, .bounded = true };
	struct kvp_alloc_cache *c = NULL;

	WORKS(kvp_alloc_cache_new(&c, b, &options, &w->err));
	if (!c)
		return;
	WORKS(kvp_alloc_cache_get(c, 5000, &address, &w->err));
	WORKS(kvp_alloc_cache_pin(c, address, &w->err));
	WORKS(kvp_alloc_cache_put(c, address, &w->err));
	WORKS(kvp_alloc_cache_unpin(c, address, &w->err));
	WORKS(kvp_alloc_cache_set_cap(c, &cap, &w->err));
	WORKS(kvp_alloc_cache_step(c, &w->err));
	WORKS(kvp_alloc_cache_arm(c, &w->err));
	WORKS(kvp_alloc_cache_enable(c, false, &w->err));
	WORKS(kvp_alloc_cache_enable(c, true, &w->err));
	WORKS(kvp_decode_run(c, b, 0, &decode, NULL, NULL, &result, &w->err));
	HOLDS(result.steps == decode.steps && !result.exhausted);
	WORKS(kvp_alloc_cache_drain(c, &w->err));
	kvp_alloc_cache_counters(c, &now);
	HOLDS(!now.held_bytes && reported);
	WORKS(kvp_alloc_cache_free(c, &w->err));
}

static void go_backends(struct worker *w)
{
	struct kvp_backend none = { .name = "none" }, *b = NULL;
	int code;

	kvp_backend_complete(&none);
	code = none.device.synchronize(&none, 0, &w->err);
	HOLDS(code == KVP_EDRIVER);
	WORKS(kvp_backend_card(&b, 1 << 30, &w->err));
	go_cache(w, b);
	kvp_backend_close(b);
	WORKS(kvp_backend_host(&b, 4, w->g.granularity, &w->err));
	go_realize(w, b);
	go_faulty(w, b);
	go_shared(w);
	go_cache(w, b);
	kvp_backend_close(b);
	code = kvp_backend_cuda(&b, NULL, 0, &w->err);
	if (all.cuda)
		HOLDS(code == KVP_OK);
	if (code)
		return;
	if (all.cuda) {
		go_realize(w, b);
		go_faulty(w, b);
		go_cache(w, b);
	}
	kvp_backend_close(b);
}

/* --- owners.h, headroom.h, size.h, import.h, capacity.h --- */

static void go_owners(struct worker *w)
{
	uint64_t page = w->plan.spans[w->plan.rows[0].first].first;
	struct kvp_owners *o = NULL;

	WORKS(kvp_owners_new(&o, &w->plan, &w->err));
	WORKS(kvp_owners_acquire_row(o, 0, &w->err));
	HOLDS(!kvp_owners_row_is_free(o, 0) && !kvp_owners_page_is_free(o, page));
	GIVES(KVP_EBUSY, kvp_owners_acquire_page(o, page, &w->err));
	WORKS(kvp_owners_release_row(o, 0, &w->err));
	WORKS(kvp_owners_acquire_page(o, page, &w->err));
	WORKS(kvp_owners_release_page(o, page, &w->err));
	kvp_owners_free(o);
}

static void go_headroom(struct worker *w)
{
	const uint64_t free_bytes = UINT64_C(274726912);
	struct kvp_cap_override none = { .given = false };
	struct kvp_cap cap;

	WORKS(kvp_cap_override_read(&none, "o", NULL, &w->err));
	cap = kvp_cap_plan(&free_bytes, &none);
	HOLDS(cap.bytes == 64 << 20);
	HOLDS(!strcmp(kvp_cap_term_name(cap.term), "floor"));
	HOLDS(kvp_cap_left(&cap, free_bytes) == free_bytes - cap.bytes);
	HOLDS(kvp_cap_free_needed(cap.bytes) == 2 * cap.bytes);
}

static void go_size(struct worker *w)
{
	const uint64_t free_bytes = UINT64_C(1) << 30;
	struct kvp_cap_override none = { .given = false };
	struct kvp_concurrency c;
	struct kvp_geometry g = { 0 };
	struct kvp_size_wish wish;
	struct kvp_size size;

	kvp_size_wish_init(&wish);
	WORKS(kvp_memory_limit_read(&wish.limit, "-100MiB", &w->err));
	HOLDS(kvp_memory_limit_apply(&wish.limit, free_bytes) ==
	      free_bytes - (100 << 20));
	wish.free_bytes = &free_bytes;
	wish.nfree = 1;
	WORKS(kvp_size_find(&size, &w->g, &wish, &w->err));
	WORKS(kvp_geometry_copy(&g, &w->g, &w->err));
	kvp_size_apply(&size, &none, &g);
	HOLDS(g.pages == size.pages && size.pages > 1000);
	kvp_geometry_release(&g);
	WORKS(kvp_size_concurrency(&c, &w->plan, 1000, &w->err));
	HOLDS(c.sequences);
}

static void go_import(struct worker *w)
{
	struct kvp_import_options o;
	char *geometry = NULL, *derivation = NULL;
	size_t len = 0, derivation_len = 0, families = 0;

	kvp_import_options_init(&o);
	o.tp = 4;
	o.state_dtype = "bf16";
	WORKS(kvp_import(&geometry, &len, &derivation, &derivation_len, "c",
			 all.config, all.config_len, &o, &w->err));
	HOLDS(len && derivation_len);
	while (kvp_import_family(families))
		families++;
	HOLDS(families > 3);
	free(geometry);
	free(derivation);
}

static void go_join(struct worker *w)
{
	const struct kvp_capacity_part part = { "p", all.part, all.part_len };
	char *text = NULL;
	size_t len = 0;

	WORKS(kvp_capacity_join(&part, 1, true, &text, &len, &w->err));
	HOLDS(len && strstr(text, "\"complete\":true"));
	free(text);
}

/* --- publishing, by all at the same moment --- */

static mode_t mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

static void go_publish(struct worker *w)
{
	struct kvp_realize_options o = { .nranks = 1, .publish = w->path };
	struct kvp_realization *r = NULL;
	struct kvp_backend *b = NULL;
	int round;

	WORKS(kvp_backend_host(&b, 1, w->g.granularity, &w->err));
	for (round = 0; round < ROUNDS; round++) {
		if (round % 2)
			chmod(w->path, 0604);
		else
			unlink(w->path);
		pthread_barrier_wait(&all.start);
		WORKS(kvp_realize(&r, &w->plan, w->verdict, b, &o, &w->err));
		WORKS(kvp_realization_free(r, &w->err));
		demand(w, mode_of(w->path) == (round % 2 ? 0604 :
					       0666 & ~UMASK),
		       "round %d: a published file has mode 0%o", round,
		       (unsigned)mode_of(w->path));
	}
	kvp_backend_close(b);
}

/* --- all of it --- */

static void *go(void *cookie)
{
	struct worker *w = cookie;
	sigset_t before, after;
	int number;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	snprintf(w->path, sizeof(w->path), "%s/%d", all.dir, w->number);
	pthread_barrier_wait(&all.start);
	go_geometry(w);
	go_plan(w);
	go_verify(w);
	go_limits(w);
	go_backends(w);
	go_owners(w);
	go_headroom(w);
	go_size(w);
	go_import(w);
	go_join(w);
	go_publish(w);
	kvp_limits_release(&w->limits);
	kvp_verdict_free(w->verdict);
	kvp_plan_release(&w->plan);
	kvp_geometry_release(&w->g);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (number = 1; number < SIGRTMAX; number++)
		HOLDS(sigismember(&before, number) ==
		      sigismember(&after, number));
	unlink(w->path);
	return NULL;
}

/* What belongs to the process, as text. */
static void describe_process(char *text, size_t size)
{
	struct sigaction action;
	unsigned long hash = 0;
	size_t used, i, j;
	int number;
	mode_t mask = umask(0);

	umask(mask);
	used = (size_t)snprintf(text, size, "umask 0%o, locale %s, cwd ",
				(unsigned)mask, setlocale(LC_ALL, NULL));
	must(getcwd(text + used, size - used), "getcwd");
	used = strlen(text);
	for (number = 1; number < SIGRTMAX; number++)
		if (!sigaction(number, NULL, &action) &&
		    action.sa_handler != SIG_DFL)
			used += (size_t)snprintf(text + used, size - used,
				", handler of %d %p", number,
				(void *)(uintptr_t)action.sa_handler);
	/* Its values are nobody's business. */
	for (i = 0; environ[i]; i++)
		for (j = 0; j <= strlen(environ[i]); j++)
			hash = hash * 31 + (unsigned char)environ[i][j];
	snprintf(text + used, size - used, ", environment of %zu, %lx", i,
		 hash);
}

static void prepare(void)
{
	struct kvp_geometry g = { 0 };
	struct kvp_plan plan = { 0 };
	enum kvp_merge merge;
	size_t len;

	umask(UMASK);
	strcpy(all.dir, "/tmp/kvplan-thread-XXXXXX");
	must(mkdtemp(all.dir), all.dir);
	all.geometry = read_text("layouts/example.json", &all.geometry_len);
	all.config = read_text(CONFIG, &all.config_len);
	all.part = read_text(PART, &all.part_len);
	must(!kvp_geometry_read(&g, "g", all.geometry, all.geometry_len,
				NULL), "geometry");
	for (merge = KVP_MERGE_NONE; merge <= KVP_MERGE_SPAN; merge++) {
		must(!kvp_plan_make(&plan, &g, merge, NULL) &&
		     !kvp_plan_write(&plan, &all.plan[merge], &len, NULL),
		     "plan");
		kvp_plan_release(&plan);
	}
	kvp_geometry_release(&g);
	must(!pthread_barrier_init(&all.start, NULL, THREADS), "barrier");
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS];
	static char before[1 << 16], after[1 << 16];
	int passed = 0, failed = 0, i;

	all.cuda = argc > 1 && !strcmp(argv[1], "cuda");
	prepare();
	describe_process(before, sizeof(before));
	for (i = 0; i < THREADS; i++) {
		workers[i].number = i;
		must(!pthread_create(&workers[i].thread, NULL, go,
				     &workers[i]), "pthread_create");
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		passed += workers[i].passed;
		failed += workers[i].failed;
	}
	describe_process(after, sizeof(after));
	if (strcmp(before, after))
		printf("FAIL thread: the process was\n%s\nand is\n%s\n",
		       before, after);
	failed += strcmp(before, after) != 0;
	must(!rmdir(all.dir), "something is left in the directory");
	for (i = 0; i <= KVP_MERGE_SPAN; i++)
		free(all.plan[i]);
	free(all.geometry);
	free(all.config);
	free(all.part);
	pthread_barrier_destroy(&all.start);
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
