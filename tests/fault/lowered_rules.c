/*
 * The failing plan of every rule, offered to be realized with every
 * combination of lowered rules that includes it, on the host and on the
 * stand-in driver.  Lowering may make the verdict good; unless all that is
 * broken is advisory, kvp_realize() must refuse before the first call.
 */
#include <stdint.h>
#include <sys/wait.h>

#include <kvplan/kvplan.h>

#include "base/file.h"
#include "fault/standin.h"

#define DIR_RULES "tests/rules"
/* Granules of 4 KiB become the 2 MiB of a GPU. */
#define SCALE 512
/* Advisory rules are realized with every so many of the combinations. */
#define STEP 1009

static uint64_t passed, failed;

struct machine {
	const char *name;
	struct kvp_backend *backend;
	uint64_t scale;
	/* Verdicts do not depend on the machine: all combinations are judged
	   for one of them; for the others every so many, and those of one
	   rule and of all rules but one. */
	unsigned step;
};

struct trial {
	const char *machine;
	const struct kvp_plan *plan;
	enum kvp_rule broken;
	uint64_t events;
	uint64_t good, realized, refused;
};

static void fail(const struct trial *t, unsigned lowered, const char *why)
{
	if (++failed <= 20)
		printf("FAIL %s, plan of %s, lowered %x: %s\n", t->machine,
		       kvp_rule_name(t->broken), lowered, why);
}

static void count_event(void *cookie, const struct kvp_event *event)
{
	(void)event;
	++*(uint64_t *)cookie;
}

static struct kvp_verdict *judge(struct trial *t, unsigned lowered)
{
	struct kvp_verify_options options;
	struct kvp_verdict *verdict = NULL;
	unsigned i;

	kvp_verify_options_init(&options);
	for (i = 0; i < KVP_RULES; i++)
		if (lowered >> i & 1)
			options.severity[i] = KVP_WARNING;
	if (kvp_verify(t->plan, &options, &verdict, NULL))
		fail(t, lowered, "cannot be judged");
	return verdict;
}

/* Realize under this verdict, and give back. */
static void realize(struct trial *t, struct kvp_backend *backend,
		    const struct kvp_verdict *verdict, unsigned lowered)
{
	struct kvp_realize_options options = {
		.nranks = 2, .check = KVP_CHECK_FULL, .over_limit = true,
		.event = count_event, .cookie = &t->events,
	};
	struct kvp_realization *r = NULL;
	struct kvp_error err = { 0 };
	/* What there are no addresses for is preflight's to refuse. */
	bool preflight = t->broken == KVP_RULE_ADDRESS_SPACE;
	bool must = !preflight && kvp_rule_is_advisory(t->broken) &&
		    lowered >> t->broken & 1;
	int code;

	t->events = 0;
	code = kvp_realize(&r, t->plan, verdict, backend, &options, &err);
	if (must && code)
		fail(t, lowered, err.text);
	else if (!must && code != KVP_EREFUSED)
		fail(t, lowered, "is not refused");
	else if (!must && !preflight && (r || t->events))
		fail(t, lowered, "is refused after the first call");
	else
		passed++;
	t->realized += !code;
	t->refused += code == KVP_EREFUSED;
	if (kvp_realization_free(r, &err))
		fail(t, lowered, err.text);
}

static void lower(struct trial *t, struct kvp_backend *backend,
		  unsigned lowered)
{
	struct kvp_verdict *verdict = judge(t, lowered);
	bool advisory = kvp_rule_is_advisory(t->broken);

	if (!verdict)
		return;
	if (kvp_verdict_is_realizable(verdict) !=
	    (advisory && (t->broken == KVP_RULE_ADDRESS_SPACE ||
			  lowered >> t->broken & 1)))
		fail(t, lowered, "kvp_verdict_is_realizable is wrong");
	if (kvp_verdict_is_realizable(verdict) && !kvp_verdict_ok(verdict))
		fail(t, lowered, "is realizable and not good");
	t->good += kvp_verdict_ok(verdict);
	/* A bad verdict is refused in any case; a few show it. */
	if (advisory ? lowered % STEP == 0 || !(lowered & (lowered - 1)) :
	    kvp_verdict_ok(verdict) || lowered % STEP == 0)
		realize(t, backend, verdict, lowered);
	kvp_verdict_free(verdict);
}

/* Every size and place so many times as large. */
static void scale_plan(struct kvp_plan *plan, uint64_t by)
{
	struct kvp_geometry *g = &plan->geometry;
	size_t i;

	g->granularity *= by;
	g->row_bytes *= by;
	g->row_stride *= by;
	for (i = 0; i < g->nplanes; i++)
		g->planes[i].bytes_per_page *= by;
	for (i = 0; i < g->nstatics; i++)
		g->statics[i].bytes *= by;
	for (i = 0; i < plan->nchunks; i++) {
		plan->chunks[i].offset *= by;
		plan->chunks[i].bytes *= by;
		if (plan->chunks[i].arena != KVP_UNALIASED)
			plan->chunks[i].arena *= by;
	}
	plan->dedicated_bytes *= by;
	plan->summary.physical_bytes *= by;
}

static bool read_plan(struct kvp_plan *plan, const char *rule)
{
	struct kvp_error err = { 0 };
	char path[256], *text = NULL;
	size_t len;
	int code;

	snprintf(path, sizeof(path), DIR_RULES "/%s.json", rule);
	code = kvp_file_read(path, &text, &len, &err);
	if (!code)
		code = kvp_plan_read(plan, path, text, len, &err);
	if (code && ++failed)
		printf("FAIL %s: %s\n", path, err.text);
	free(text);
	return !code;
}

static bool is_judged(const struct machine *m, unsigned lowered)
{
	unsigned raised = ~lowered & ((1u << KVP_RULES) - 1);

	return lowered % m->step == 0 || !(lowered & (lowered - 1)) ||
	       !(raised & (raised - 1));
}

static void try_rule(const struct machine *m, enum kvp_rule rule)
{
	struct kvp_plan plan = { 0 };
	struct trial t = { .machine = m->name, .plan = &plan, .broken = rule };
	unsigned lowered;

	if (!read_plan(&plan, kvp_rule_name(rule)))
		return;
	scale_plan(&plan, m->scale);
	lower(&t, m->backend, 0);
	for (lowered = 0; lowered < 1u << KVP_RULES; lowered++)
		if (lowered >> rule & 1 && is_judged(m, lowered))
			lower(&t, m->backend, lowered);
	if (!t.good || !t.refused ||
	    !t.realized != (!kvp_rule_is_advisory(rule) ||
			    rule == KVP_RULE_ADDRESS_SPACE))
		fail(&t, 0, "the combinations show nothing");
	kvp_plan_release(&plan);
}

static void try_machine(const struct machine *m)
{
	unsigned i;

	for (i = 0; i < KVP_RULES; i++)
		try_rule(m, (enum kvp_rule)i);
	kvp_backend_close(m->backend);
}

/* In a process of its own: the stand-in reports when it ends. */
static int try_standin(int counts)
{
	struct machine gpus = { .name = "stand-in", .scale = SCALE, .step = STEP };
	uint64_t both[2];

	passed = failed = 0;
	if (kvp_backend_cuda(&gpus.backend, NULL, 0, NULL))
		return 1;
	try_machine(&gpus);
	both[0] = passed;
	both[1] = failed;
	return write(counts, both, sizeof(both)) != sizeof(both);
}

/* The stand-in has nothing left and saw no wrong order. */
static bool standin_is_clean(void)
{
	return standin_read() && !standin.reservations && !standin.handles &&
	       !standin.mappings && !standin.entries && !*standin.errors;
}

static void add_standin(void)
{
	uint64_t both[2] = { 0 };
	int counts[2], status = 1;
	pid_t child;

	fflush(stdout);
	if (pipe(counts))
		abort();
	child = fork();
	if (!child)
		exit(try_standin(counts[1]));
	close(counts[1]);
	if (child < 0 || read(counts[0], both, sizeof(both)) != sizeof(both) ||
	    waitpid(child, &status, 0) < 0 || status || !standin_is_clean()) {
		printf("FAIL the stand-in: exit %d, left %lu handles, %lu "
		       "mappings, errors %s\n", status, standin.handles,
		       standin.mappings, standin.errors);
		failed++;
	} else {
		passed++;
	}
	close(counts[0]);
	passed += both[0];
	failed += both[1];
}

int main(void)
{
	struct machine host = { .name = "host", .scale = 1, .step = 1 };
	char dir[] = "/tmp/kvplan-lowered-XXXXXX";
	int skipped = 0;

	if (!mkdtemp(dir) || kvp_backend_host(&host.backend, 4, 4096, NULL))
		return 1;
	try_machine(&host);
	if (standin_load(dir)) {
		add_standin();
	} else {
		printf("SKIP lowered rules on the stand-in driver: not built\n");
		skipped = 1;
	}
	standin_release();
	rmdir(dir);
	printf("%llu passed, %llu failed, %d skipped\n",
	       (unsigned long long)passed, (unsigned long long)failed,
	       skipped);
	return failed != 0;
}
