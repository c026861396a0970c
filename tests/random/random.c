/*
 * random [SEED [COUNT]]: random geometries through reader, planner, checker
 * and writer, in all three modes.  What must hold of every geometry is in
 * examine(); everything expected here is worked out from the design, not
 * taken from src/.
 *
 * B names the build directory that holds kvcheck, SAN the sanitizers (an
 * eighth of the cases is run then).  With KEEP set a failing case is
 * shrunk and written to tests/random/regr/, which is replayed first.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kvplan/kvplan.h>

#include "base/file.h"
#include "fake/gen.h"
#include "fake/shape.h"
#include "fake/shrink.h"
#include "model/invariants.h"
#include "plan/layout.h"

#define REGR "tests/random/regr"
#define SEED UINT64_C(20260101)
#define COUNT UINT64_C(12000)

static struct {
	uint64_t seen[FEATURES];
	uint64_t plans, kvchecks, passed, failed;
	char kvcheck[512];
	char scratch[64];
} run;

struct why {
	char text[1536];
};

static bool no(struct why *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
	return false;
}

static void count_features(uint64_t f)
{
	int i;

	for (i = 0; i < FEATURES; i++)
		run.seen[i] += f >> i & 1;
}

static bool same_text(const char *a, size_t na, const char *b, size_t nb)
{
	return na == nb && !memcmp(a, b, na);
}

/* Written and read again a geometry is the same, to the byte. */
static bool round_trip(const struct kvp_geometry *g, struct why *why)
{
	struct kvp_geometry again = { 0 };
	struct kvp_error err = { 0 };
	char *first = NULL, *second = NULL;
	size_t nfirst, nsecond;
	bool ok = false;

	if (kvp_geometry_write(g, &first, &nfirst, &err) ||
	    kvp_geometry_read(&again, "again", first, nfirst, &err) ||
	    kvp_geometry_write(&again, &second, &nsecond, &err))
		no(why, "geometry round trip: %s", err.text);
	else if (!same_text(first, nfirst, second, nsecond))
		no(why, "the normalized geometry reads back as another");
	else if (kvp_geometry_compare(g, &again, NULL, NULL))
		no(why, "kvp_geometry_compare: differs after a round trip");
	else
		ok = true;
	free(first);
	free(second);
	kvp_geometry_release(&again);
	return ok;
}

/* The error closes with the number of rows that would fit. */
static bool rows_that_fit(const char *text, uint64_t *rows)
{
	const char *at = text + strlen(text);

	if (!strstr(text, "would fit"))
		return false;
	while (at > text && (at[-1] < '0' || at[-1] > '9'))
		at--;
	while (at > text && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return sscanf(at, "%" SCNu64, rows) == 1;
}

static int plan_rows(struct kvp_geometry *g, uint64_t rows)
{
	const uint64_t keep = g->snapshot_rows;
	struct kvp_plan plan = { 0 };
	int code;

	g->snapshot_rows = rows;
	code = kvp_plan_make(&plan, g, KVP_MERGE_ROW, NULL);
	g->snapshot_rows = keep;
	kvp_plan_release(&plan);
	return code;
}

/* As many rows as the error says fit, and not one more. */
static bool infeasible(struct kvp_geometry *g, struct why *why)
{
	struct kvp_error err = { 0 };
	struct kvp_plan plan = { 0 };
	uint64_t rows;
	int code, mode;

	for (mode = KVP_MERGE_NONE; mode <= KVP_MERGE_SPAN; mode++) {
		code = kvp_plan_make(&plan, g, (enum kvp_merge)mode, &err);
		kvp_plan_release(&plan);
		if (code != KVP_EINFEASIBLE)
			return no(why, "rows do not fit, but mode %d answers "
				  "%s", mode, kvp_code_name(code));
	}
	if (!rows_that_fit(err.text, &rows))
		return no(why, "no number that would fit in: %s", err.text);
	if (rows >= g->snapshot_rows)
		return no(why, "%" PRIu64 " rows do not fit, %" PRIu64
			  " would", g->snapshot_rows, rows);
	code = plan_rows(g, rows);
	if (code)
		return no(why, "%" PRIu64 " rows would fit, but give %s", rows,
			  kvp_code_name(code));
	code = plan_rows(g, rows + 1);
	if (code != KVP_EINFEASIBLE)
		return no(why, "%" PRIu64 " rows would fit, but one more gives "
			  "%s", rows, kvp_code_name(code));
	return true;
}

/* 0 where the program accepts. */
static int ask_kvcheck(const char *text, size_t len)
{
	int status = -1, out;
	pid_t child;

	if (kvp_file_write(run.scratch, text, len, NULL))
		return -1;
	child = fork();
	if (!child) {
		out = open("/dev/null", O_WRONLY);
		dup2(out, STDOUT_FILENO);
		execl(run.kvcheck, run.kvcheck, "--warn=entry-limit",
		      "--warn=headroom", run.scratch, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	run.kvchecks++;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Table entries by the design's formula; true if a node is over the limit. */
static bool right_entries(const struct kvp_plan *p, bool *over,
			  struct why *why)
{
	const struct kvp_geometry *g = &p->geometry;
	uint64_t node[16] = { 0 }, aliased = 0, readers, want, r, o;
	size_t i;

	for (i = 0; i < p->nchunks; i++)
		aliased += p->chunks[i].arena != KVP_UNALIASED;
	for (o = 0; o < g->ranks; o++) {
		readers = 1;
		for (r = 0; r < g->ranks; r++)
			for (i = 0; i < g->imports[r].count && r != o; i++)
				readers += g->imports[r].rank[i] == o;
		want = p->nchunks * readers + aliased +
		       (g->execution_rows > 0);
		if (p->summary.per_rank[o] != want)
			return no(why, "rank %" PRIu64 ": entries %" PRIu64
				  ", not %" PRIu64, o, p->summary.per_rank[o],
				  want);
		for (i = 0; i < g->nstatics; i++)
			want += g->statics[i].importers == KVP_STATIC_NONE ? 1 :
				g->statics[i].importers == KVP_STATIC_ALL ?
				g->ranks_per_node : g->dcp_group_size;
		node[o / g->ranks_per_node] += want;
	}
	*over = false;
	for (i = 0; i < g->ranks / g->ranks_per_node; i++) {
		want = node[i] + g->static_entries;
		if (p->summary.per_node[i] != want)
			return no(why, "node %zu: entries %" PRIu64 ", not %"
				  PRIu64, i, p->summary.per_node[i], want);
		*over |= want + g->entry_reserve > g->entry_limit;
	}
	return true;
}

/* The checker accepts, but for the two rules that judge the input. */
static bool verifies(const struct kvp_plan *p, bool over, struct why *why)
{
	const struct kvp_headroom *h = &p->geometry.headroom;
	const bool tight = p->geometry.has_headroom &&
			   (!h->bounded || h->cap_bytes > h->free_bytes / 2);
	struct kvp_verify_options options;
	struct kvp_verdict *verdict = NULL;
	struct kvp_error err = { 0 };
	const struct kvp_finding *f;
	bool limit = false, cap = false, ok = true;
	size_t n, i;

	kvp_verify_options_init(&options);
	options.severity[KVP_RULE_ENTRY_LIMIT] = KVP_WARNING;
	options.severity[KVP_RULE_HEADROOM] = KVP_WARNING;
	if (kvp_verify(p, &options, &verdict, &err))
		return no(why, "kvp_verify: %s", err.text);
	f = kvp_verdict_findings(verdict, &n);
	for (i = 0; i < n && ok; i++) {
		limit |= f[i].rule == KVP_RULE_ENTRY_LIMIT;
		cap |= f[i].rule == KVP_RULE_HEADROOM;
		if (f[i].severity == KVP_ERROR) {
			ok = no(why, "refused: ");
			kvp_finding_text(&f[i], why->text + 9,
					 sizeof(why->text) - 9);
		}
	}
	if (ok && kvp_verdict_ok(verdict) != ok)
		ok = no(why, "no error, but not verified");
	if (ok && limit != over)
		ok = no(why, "entry-limit: %d findings expected", over);
	if (ok && cap != tight)
		ok = no(why, "headroom: %d findings expected", tight);
	kvp_verdict_free(verdict);
	return ok;
}

/* Read back and made again a plan is the same, to the byte. */
static bool stands(const struct kvp_geometry *g, const struct kvp_plan *p,
		   struct why *why)
{
	struct kvp_plan read = { 0 }, again = { 0 };
	struct kvp_error err = { 0 };
	char *text[3] = { NULL };
	size_t len[3];
	bool ok = true;
	int i;

	if (kvp_plan_write(p, &text[0], &len[0], &err) ||
	    kvp_plan_read(&read, "plan", text[0], len[0], &err) ||
	    kvp_plan_write(&read, &text[1], &len[1], &err) ||
	    kvp_plan_make(&again, g, p->merge, &err) ||
	    kvp_plan_write(&again, &text[2], &len[2], &err))
		ok = no(why, "plan round trip: %s", err.text);
	else if (!same_text(text[0], len[0], text[1], len[1]))
		ok = no(why, "the plan reads back as another");
	else if (!same_text(text[0], len[0], text[2], len[2]))
		ok = no(why, "planning twice gives two plans");
	else if (++run.plans % 50 == 0) {
		i = ask_kvcheck(text[0], len[0]);
		if (i)
			ok = no(why, "%s: exit %d", run.kvcheck, i);
	}
	for (i = 0; i < 3; i++)
		free(text[i]);
	kvp_plan_release(&read);
	kvp_plan_release(&again);
	return ok;
}

/* Mode none is the base layout and nothing else. */
static bool is_base(const struct kvp_plan *p, const struct gen_base *base,
		    struct why *why)
{
	const struct kvp_chunk *a, *b;
	size_t i;

	if (p->nchunks != base->count)
		return no(why, "%zu base chunks, not %zu", p->nchunks,
			  base->count);
	if (p->dedicated_bytes != base->dedicated)
		return no(why, "D is %" PRIu64 ", not %" PRIu64,
			  p->dedicated_bytes, base->dedicated);
	for (i = 0; i < base->count; i++) {
		a = &p->chunks[i];
		b = &base->chunks[i];
		if (a->plane != b->plane || a->offset != b->offset ||
		    a->bytes != b->bytes || a->arena != b->arena)
			return no(why, "base chunk %zu is another", i);
	}
	return true;
}

static bool judge(const struct kvp_geometry *g, const struct kvp_plan *p,
		  uint64_t *features, struct why *why)
{
	const struct kvp_summary *s = &p->summary;
	bool over = false;

	if (s->chunks != p->nchunks || s->chunks < s->lower_bound ||
	    s->optimal != (s->chunks == s->lower_bound))
		return no(why, "chunks %" PRIu64 " (%zu), bound %" PRIu64
			  ", optimal %d", s->chunks, p->nchunks,
			  s->lower_bound, s->optimal);
	if (!s->optimal && !g->base_chunks)
		return no(why, "%" PRIu64 " chunks, bound %" PRIu64
			  ", of a computed layout", s->chunks, s->lower_bound);
	if (!s->optimal)
		*features |= UINT64_C(1) << OFF_BOUND;
	if (!right_entries(p, &over, why))
		return false;
	if (over)
		*features |= UINT64_C(1) << OVER_LIMIT;
	return verifies(p, over, why) && stands(g, p, why);
}

/* In a computed layout, does a chunk lie outside the bytes of one row? */
static bool has_crossing(const struct gen_base *base,
			 const struct kvp_geometry *g)
{
	uint64_t row;
	size_t i;

	for (i = 0; i < base->aliased; i++) {
		row = base->chunks[i].arena / g->row_stride * g->row_stride;
		if (base->chunks[i].arena + base->chunks[i].bytes >
		    row + g->row_bytes)
			return true;
	}
	return false;
}

/* Chunks of a recorded layout once neighbours merge where they are. */
static uint64_t merged_in_place(const struct kvp_geometry *g)
{
	const struct kvp_chunk *c = g->base_chunks;
	uint64_t chunks = g->nbase_chunks;
	size_t i;

	for (i = 1; i < g->nbase_chunks; i++)
		chunks -= c[i].arena != KVP_UNALIASED &&
			  c[i].plane == c[i - 1].plane &&
			  c[i].offset == c[i - 1].offset + c[i - 1].bytes;
	return chunks;
}

static bool all_modes(const struct kvp_geometry *g, uint64_t *features,
		      struct why *why)
{
	uint64_t chunks[3] = { 0 };
	struct kvp_error err = { 0 };
	struct kvp_plan plan = { 0 };
	struct why inner = { { 0 } };
	bool ok = true;
	int m;

	for (m = KVP_MERGE_NONE; ok && m <= KVP_MERGE_SPAN; m++) {
		if (kvp_plan_make(&plan, g, (enum kvp_merge)m, &err))
			return no(why, "mode %s: %s",
				  kvp_merge_name((enum kvp_merge)m), err.text);
		plan_check_internal(&plan);
		ok = judge(g, &plan, features, &inner);
		if (!ok)
			no(why, "mode %s: %s",
			   kvp_merge_name((enum kvp_merge)m), inner.text);
		chunks[m] = plan.nchunks;
		kvp_plan_release(&plan);
	}
	if (ok && (chunks[2] > chunks[1] || chunks[1] > chunks[0]))
		ok = no(why, "chunks none, row, span: %" PRIu64 ", %" PRIu64
			", %" PRIu64, chunks[0], chunks[1], chunks[2]);
	if (ok && g->base_chunks && chunks[2] > merged_in_place(g))
		ok = no(why, "mode span: %" PRIu64 " chunks, %" PRIu64
			" by merging alone", chunks[2], merged_in_place(g));
	if (chunks[1] < chunks[0])
		*features |= UINT64_C(1) << ROW_SAVES;
	if (chunks[2] < chunks[1])
		*features |= UINT64_C(1) << SPAN_SAVES;
	return ok;
}

static bool base_agrees(const struct kvp_geometry *g,
			const struct gen_base *base, struct why *why)
{
	struct kvp_error err = { 0 };
	struct layout layout;
	struct kvp_plan plan = { 0 };
	bool ok;

	if (kvp_plan_make(&plan, g, KVP_MERGE_NONE, &err) ||
	    layout_make(&layout, g, &err))
		return no(why, "mode none: %s", err.text);
	layout_check_internal(&layout, g);
	layout_release(&layout);
	ok = is_base(&plan, base, why);
	kvp_plan_release(&plan);
	return ok;
}

static bool examine(const char *text, size_t len, struct why *why)
{
	struct kvp_geometry g = { 0 };
	struct kvp_error err = { 0 };
	struct gen_base base = { 0 };
	uint64_t features;
	bool ok, fits;

	if (kvp_geometry_read(&g, "geometry", text, len, &err))
		return no(why, "refused: %s", err.text);
	geometry_check_internal(&g);
	features = shape_of(&g);
	fits = gen_base_make(&base, &g);
	ok = round_trip(&g, why);
	if (fits && has_crossing(&base, &g))
		features |= UINT64_C(1) << CROSSING;
	if (ok && !fits && !g.base_chunks) {
		features |= UINT64_C(1) << INFEASIBLE;
		ok = infeasible(&g, why);
	} else if (ok) {
		ok = (g.base_chunks || base_agrees(&g, &base, why)) &&
		     all_modes(&g, &features, why);
	}
	count_features(features);
	gen_base_release(&base);
	kvp_geometry_release(&g);
	return ok;
}

/* For shrinking: does it still fail, and not for being refused? */
static bool still_fails(const char *text, size_t len, void *cookie)
{
	struct why *why = cookie, now = { { 0 } };

	if (examine(text, len, &now) ||
	    !strncmp(now.text, "refused: geometry", 17))
		return false;
	*why = now;
	return true;
}

static void report(const char *what, const char *text, struct why *why)
{
	char path[256], *small;

	printf("FAIL %s: %s\n%s", what, why->text, text);
	if (++run.failed > 5)
		return;
	small = shrink(text, still_fails, why);
	if (!small)
		return;
	printf("shrunk: %s\n%s", why->text, small);
	snprintf(path, sizeof(path), REGR "/%s.json", what);
	if (getenv("KEEP") && strncmp(what, REGR, strlen(REGR))) {
		if (kvp_file_write(path, small, strlen(small), NULL))
			printf("cannot write %s\n", path);
		else
			printf("kept as %s\n", path);
	}
	free(small);
}

static void try_case(const char *what, const char *text)
{
	struct why why = { { 0 } };

	if (examine(text, strlen(text), &why))
		run.passed++;
	else
		report(what, text, &why);
}

static void replay(void)
{
	DIR *dir = opendir(REGR);
	struct dirent *entry;
	char path[512], *text;
	size_t len;

	while (dir && (entry = readdir(dir))) {
		if (!strstr(entry->d_name, ".json"))
			continue;
		snprintf(path, sizeof(path), REGR "/%s", entry->d_name);
		if (kvp_file_read(path, &text, &len, NULL)) {
			printf("FAIL %s: cannot be read\n", path);
			run.failed++;
			continue;
		}
		try_case(path, text);
		free(text);
	}
	if (dir)
		closedir(dir);
}

/* A generator that no longer makes some shape would pass unseen. */
static void check_features(uint64_t count)
{
	int i, rare = 0;

	for (i = 0; i < FEATURES; i++) {
		printf("  %-26s %6" PRIu64 "\n", feature_names[i],
		       run.seen[i]);
		if (run.seen[i] < count / 1500) {
			printf("FAIL too few geometries: %s\n",
			       feature_names[i]);
			rare++;
		}
	}
	if (rare)
		run.failed++;
	else
		run.passed++;
}

int main(int argc, char **argv)
{
	const char *build = getenv("B"), *san = getenv("SAN");
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : SEED;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) :
			 san && *san ? COUNT / 8 : COUNT, i;
	enum gen_size size;
	char what[64], *text;

	snprintf(run.kvcheck, sizeof(run.kvcheck), "%s/kvcheck",
		 build && *build ? build : "build");
	snprintf(run.scratch, sizeof(run.scratch), "/tmp/kvplan-random.%ld",
		 (long)getpid());
	printf("seed %" PRIu64 ", %" PRIu64 " geometries%s\n", seed, count,
	       san && *san ? " (sanitized: an eighth)" : "");
	fflush(stdout);
	replay();
	for (i = 0; i < count; i++) {
		size = i % 20 < 9 ? GEN_TINY : i % 20 < 18 ? GEN_SMALL :
							     GEN_MEDIUM;
		text = gen_geometry(gen_seed(seed, i), size);
		snprintf(what, sizeof(what), "%" PRIu64 "-%" PRIu64, seed, i);
		try_case(what, text);
		free(text);
	}
	check_features(count);
	unlink(run.scratch);
	printf("%" PRIu64 " plans, %" PRIu64 " of them through %s\n",
	       run.plans, run.kvchecks, run.kvcheck);
	printf("%" PRIu64 " passed, %" PRIu64 " failed, 0 skipped\n",
	       run.passed, run.failed);
	return run.failed ? 1 : 0;
}
