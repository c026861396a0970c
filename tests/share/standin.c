/*
 * Processes that share a realization on GPUs of the stand-in driver, whose
 * table of mappings all of them fill together.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "share/trials.h"

static char library[PATH_MAX + 64], node[PATH_MAX];
static bool each_sees_its_own;

/* Found by its path, it is what the backend gets as libcuda.so.1.  Only the
   processes of a job open it. */
static bool find_library(void)
{
	ssize_t len = readlink("/proc/self/exe", library, PATH_MAX);
	char *slash;

	if (len <= 0)
		return false;
	slash = strstr(library, "/tests/share/");
	if (!slash)
		return false;
	strcpy(slash, "/fake/libcuda.so.1");
	return !access(library, R_OK);
}

static void set_number(const char *name, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (ull)number);
	setenv(name, text, 1);
}

static int make_gpu(struct kvp_backend **b, uint32_t index,
		    struct kvp_error *err)
{
	const uint32_t device = 0;

	setenv("FAKE_CUDA_NODE", node, 1);
	if (each_sees_its_own)
		set_number("CUDA_VISIBLE_DEVICES", index);
	if (!dlopen(library, RTLD_NOW | RTLD_LOCAL))
		abort();
	return kvp_backend_cuda(b, &device, 1, err);
}

static const struct trial {
	const char *name;
	const char *layout;	/* NULL: two ranks of a few chunks */
	uint32_t count;
	uint64_t table;		/* the driver's; 0: as large as the real one */
	uint32_t gpus;
	bool hidden;		/* each process sees one of the GPUs */
	bool share_gpu;
	enum kvp_state state;
	const char *text;	/* in an error of rank 0 */
} all_trials[] = {
	{ .name = "two ranks", .count = 2, .gpus = 1, .share_gpu = true,
	  .state = KVP_PUBLISHED },
	{ .name = "one GPU twice", .count = 2, .gpus = 1,
	  .state = KVP_UNWOUND, .text = "ranks 0 and 1 use the same GPU" },
	{ .name = "hidden GPUs", .count = 2, .gpus = 2, .hidden = true,
	  .state = KVP_UNWOUND,
	  .text = "rank 0 imports from it and does not see it" },
	/* 29 entries are needed, and each of the processes fits alone. */
	{ .name = "a table too small", .count = 2, .gpus = 1, .table = 24,
	  .share_gpu = true, .state = KVP_UNWOUND,
	  .text = "the driver's table of mappings is full" },
	{ .name = "the published layout",
	  .layout = "layouts/kimi-k3.1-pro-tp16-dcp16.json", .count = 16,
	  .gpus = 1, .share_gpu = true, .state = KVP_PUBLISHED },
};
#define TRIALS (sizeof(all_trials) / sizeof(*all_trials))

static const char two[] =
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"two\","
	"\"pages\":3,\"page_tokens\":16,\"snapshot_rows\":1,"
	"\"execution_rows\":1,\"row_bytes\":2500000,\"ranks\":2,"
	"\"dcp_group_size\":2,\"planes\":[{\"name\":\"kv\",\"count\":2,"
	"\"bytes_per_page\":1500000}]}";

static void plan_trial(const struct trial *t, struct planned *p)
{
	char *text = NULL;
	size_t len;

	if (t->layout && kvp_file_read(t->layout, &text, &len, NULL))
		abort();
	make_planned(p, text ? text : two, KVP_MERGE_ROW);
	free(text);
}

static void check_reports(const struct trial *t, const struct job *j,
			  const struct kvp_plan *plan)
{
	uint64_t statics = plan->geometry.static_entries, entries = statics;
	const struct report *r;
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		r = &j->member[i].report;
		expect(r->state == t->state, "rank %u is %s, expected %s: %s",
		       i, kvp_state_name(r->state), kvp_state_name(t->state),
		       r->text[CALL_COMMIT]);
		expect(!r->code[CALL_FREE], "rank %u: %s", i,
		       r->text[CALL_FREE]);
		entries += r->entries - statics;
	}
	r = &j->member[0].report;
	if (t->text)
		expect(strstr(r->text[CALL_COMMIT], t->text), "the error does "
		       "not say '%s': %s", t->text, r->text[CALL_COMMIT]);
	else
		expect(entries == plan->summary.per_node[0], "%llu table "
		       "entries are held, expected %llu", (ull)entries,
		       (ull)plan->summary.per_node[0]);
}

static void run_trial(size_t index)
{
	const struct trial *t = &all_trials[index];
	struct planned p;
	struct job j = {
		.backend = make_gpu, .check = KVP_CHECK_QUICK,
		.deadline = 60000, .gather_deadline = 1000,
		.count = t->count, .share_gpu = t->share_gpu,
	};
	bool well;
	uint32_t i;

	name_trial("%s", t->name);
	plan_trial(t, &p);
	j.plan = &p.plan;
	j.verdict = p.verdict;
	if (t->layout)
		j.check = KVP_CHECK_NONE;
	for (i = 0; i < t->count; i++) {
		j.member[i].first_rank = i;
		j.member[i].nranks = 1;
	}
	each_sees_its_own = t->hidden;
	set_number("FAKE_CUDA_DEVICES", t->gpus);
	if (t->table)
		set_number("FAKE_CUDA_ENTRIES", t->table);
	else
		unsetenv("FAKE_CUDA_ENTRIES");
	well = launch(&j);
	expect(well, "a process hangs, or did not end well");
	check_reports(t, &j, &p.plan);
	unlink(node);
	launch_release(&j);
	kvp_plan_release(&p.plan);
	kvp_verdict_free(p.verdict);
}

int main(void)
{
	char dir[] = "/tmp/kvplan-standin-XXXXXX";
	int status;

	if (!find_library()) {
		puts("SKIP share/standin: the stand-in driver is not built\n"
		     "0 passed, 0 failed, 1 skipped");
		return 0;
	}
	if (!mkdtemp(dir))
		return 1;
	snprintf(node, sizeof(node), "%s/node", dir);
	run_trials(1, trials_are_slow ? TRIALS - 1 : TRIALS, run_trial);
	status = close_trials();
	rmdir(dir);
	return status;
}
