/*
 * Plans with wild values, given to every public function that takes a plan:
 * planes, ranks, rows, offsets and counts that no document could state and
 * many that one could.  Whatever is in the plan, a function answers with a
 * code or works on it; it never reads outside, aborts or hangs.  A verdict
 * that is not realizable is refused before the first call.
 *
 * Counts are only made smaller: how long an array is, only its owner knows.
 * tests/gates/fields.sh compares the functions called here with the headers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/kvplan.h>

#include "fake/gen.h"

#define SEED 11
#define GEOMETRIES 60
#define TRIALS 250

/* Let the sanitizer's allocator answer NULL, as malloc does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static struct {
	uint64_t trials, refused, realized, unjudged, unwritten, ownerless;
	uint64_t uncounted, unreadable, unplanned, unsized, failed;
} run;

static void fail(const char *what)
{
	if (++run.failed <= 20)
		printf("FAIL trial %llu: %s\n", (unsigned long long)run.trials,
		       what);
}

static uint64_t wild(struct gen_rng *r, uint64_t is)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 4095, 4096, UINT64_C(1) << 31, UINT32_MAX,
		UINT64_C(1) << 32, UINT64_C(1) << 47, KVP_NUMBER_MAX,
		KVP_NUMBER_MAX + 1, UINT64_C(1) << 63, UINT64_MAX - 4095,
		UINT64_MAX - 1, UINT64_MAX,
	};
	const size_t count = sizeof(values) / sizeof(*values);

	switch (gen_below(r, 5)) {
	case 0:
		return is + gen_below(r, 3) - 1;
	case 1:
		return is + (gen_below(r, 9) - 4) * 4096;
	case 2:
		return gen_next(r) >> gen_below(r, 64);
	default:
		return values[gen_below(r, count)];
	}
}

static void wild_u32(struct gen_rng *r, uint32_t *is)
{
	*is = (uint32_t)wild(r, *is);
}

static void wild_u64(struct gen_rng *r, uint64_t *is)
{
	*is = wild(r, *is);
}

static void wild_size(struct gen_rng *r, size_t *is)
{
	*is = (size_t)wild(r, *is);
}

static void fewer(struct gen_rng *r, size_t *count)
{
	*count = gen_below(r, *count + 1);
}

static void change_chunk(struct gen_rng *r, struct kvp_chunk *chunks,
			 size_t count)
{
	struct kvp_chunk *c;

	if (!count)
		return;
	c = &chunks[gen_below(r, count)];
	switch (gen_below(r, 4)) {
	case 0:
		wild_u64(r, &c->offset);
		return;
	case 1:
		wild_u64(r, &c->bytes);
		return;
	case 2:
		wild_u64(r, &c->arena);
		return;
	default:
		wild_u32(r, &c->plane);
	}
}

static void change_ranks(struct gen_rng *r, struct kvp_ranks *list)
{
	if (list->count && gen_chance(r, 80))
		wild_u32(r, &list->rank[gen_below(r, list->count)]);
	else
		fewer(r, &list->count);
}

static void change_rows(struct gen_rng *r, struct kvp_plan *plan)
{
	struct kvp_row *row;
	struct kvp_span *span;

	if (!plan->nrows)
		return;
	row = &plan->rows[gen_below(r, plan->nrows)];
	span = plan->nspans ? &plan->spans[gen_below(r, plan->nspans)] : NULL;
	switch (gen_below(r, 6)) {
	case 0:
		wild_u64(r, &row->row);
		return;
	case 1:
		wild_size(r, &row->first);
		return;
	case 2:
		wild_size(r, &row->count);
		return;
	case 3:
		if (span)
			wild_u64(r, &span->first);
		return;
	case 4:
		if (span)
			wild_u64(r, &span->end);
		return;
	default:
		fewer(r, gen_chance(r, 50) ? &plan->nrows : &plan->nspans);
	}
}

static void change_access(struct gen_rng *r, struct kvp_plan *plan)
{
	struct kvp_access *access = &plan->access[gen_below(r, plan->naccess)];

	switch (gen_below(r, 3)) {
	case 0:
		wild_u32(r, &access->rank);
		return;
	case 1:
		change_ranks(r, &access->readers);
		return;
	default:
		fewer(r, &plan->naccess);
	}
}

static void change_summary(struct gen_rng *r, struct kvp_plan *plan)
{
	struct kvp_summary *s = &plan->summary;
	uint64_t *const numbers[] = {
		&s->base_chunks, &s->chunks, &s->lower_bound,
		&s->physical_bytes, &s->kv_tokens, &s->per_rank[0],
		&s->per_node[0], &s->limit, &plan->dedicated_bytes,
		&plan->headroom.free_bytes, &plan->headroom.cap_bytes,
	};
	const size_t count = sizeof(numbers) / sizeof(*numbers);

	if (gen_chance(r, 80))
		wild_u64(r, numbers[gen_below(r, count)]);
	else
		fewer(r, gen_chance(r, 50) ? &s->nper_rank : &s->nper_node);
}

/* Any value, past what the compiler knows of the type. */
static void change_enum(struct gen_rng *r, void *is)
{
	const int values[] = { 0, 1, 2, 3, 99, -1, INT32_MAX, INT32_MIN };
	int value = values[gen_below(r, sizeof(values) / sizeof(*values))];

	_Static_assert(sizeof(enum kvp_merge) == sizeof(int), "as an int");
	memcpy(is, &value, sizeof(value));
}

static void change_switch(struct gen_rng *r, struct kvp_geometry *g)
{
	struct kvp_plane *plane = &g->planes[gen_below(r, g->nplanes)];

	switch (gen_below(r, 4)) {
	case 0:
		plane->has_address = !plane->has_address;
		return;
	case 1:
		plane->alias = !plane->alias;
		return;
	case 2:
		g->has_arena_address = !g->has_arena_address;
		return;
	default:
		g->has_headroom = !g->has_headroom;
	}
}

static void change_text(struct gen_rng *r, struct kvp_geometry *g)
{
	static const char values[] = { '\0', '\1', ' ', '.', 'a', 'b', '\177',
				       (char)0x80, (char)0xc3, '"' };
	size_t plane = gen_below(r, g->nplanes);
	char value = values[gen_below(r, sizeof(values))];

	switch (gen_below(r, 3)) {
	case 0:
		g->name[gen_below(r, strlen(g->name))] = value;
		return;
	case 1:
		g->planes[plane].name[0] = value;
		return;
	default:
		memcpy(g->planes[plane].name, g->planes[0].name,
		       sizeof(g->planes[0].name));
	}
}

static void change_geometry(struct gen_rng *r, struct kvp_plan *plan)
{
	struct kvp_geometry *g = &plan->geometry;
	uint64_t *const numbers[] = {
		&g->granularity, &g->tile_granules, &g->pages,
		&g->page_tokens, &g->snapshot_rows, &g->execution_rows,
		&g->row_bytes, &g->row_stride, &g->ranks_per_node,
		&g->dcp_group_size, &g->static_entries, &g->entry_limit,
		&g->entry_reserve, &g->page_overhead_bytes,
		&g->planes[gen_below(r, g->nplanes)].bytes_per_page,
		&g->planes[gen_below(r, g->nplanes)].address,
		&g->arena_address,
		&g->headroom.free_bytes, &g->headroom.cap_bytes,
	};
	const size_t count = sizeof(numbers) / sizeof(*numbers);

	switch (gen_below(r, 9)) {
	case 6:
		change_text(r, g);
		return;
	case 0:
		change_ranks(r, gen_chance(r, 50) ?
			     &g->imports[gen_below(r, g->ranks)] :
			     &g->declared_readers[gen_below(r, g->ranks)]);
		return;
	case 4:
		change_enum(r, g->nstatics && gen_chance(r, 50) ?
			    (void *)&g->statics[0].importers :
			    (void *)&g->importer_mode);
		return;
	case 5:
		change_switch(r, g);
		return;
	case 1:
		change_chunk(r, g->base_chunks, g->nbase_chunks);
		return;
	case 2:
		if (g->nstatics)
			wild_u64(r, &g->statics[0].bytes);
		return;
	case 3:
		g->ranks = gen_below(r, g->ranks + 1);
		return;
	default:
		wild_u64(r, numbers[gen_below(r, count)]);
	}
}

static void change_plan(struct gen_rng *r, struct kvp_plan *plan)
{
	switch (gen_below(r, 8)) {
	case 0:
		change_rows(r, plan);
		return;
	case 1:
		if (plan->naccess)
			change_access(r, plan);
		return;
	case 2:
		change_summary(r, plan);
		return;
	case 3:
		change_enum(r, &plan->merge);
		return;
	case 4:
		if (plan->geometry.ranks)
			change_geometry(r, plan);
		return;
	case 5:
		fewer(r, &plan->nchunks);
		return;
	default:
		change_chunk(r, plan->chunks, plan->nchunks);
	}
}

static void count_event(void *cookie, const struct kvp_event *event)
{
	(void)event;
	++*(uint64_t *)cookie;
}

static void realize_shared(const struct kvp_plan *plan,
			   const struct kvp_verdict *verdict,
			   struct kvp_backend *host,
			   const struct kvp_realize_options *options)
{
	const struct kvp_share_options o = { .realize = *options };
	struct kvp_share_blob blob;
	struct kvp_share *s = NULL;
	struct kvp_error err = { 0 };
	int code = kvp_share_begin(&s, plan, verdict, host, &o, &blob, &err);

	if (!code && !kvp_verdict_is_realizable(verdict))
		fail("kvp_share_begin() takes a verdict that is not realizable");
	if (kvp_share_free(s, &err))
		fail(err.text);
}

static void realize(const struct kvp_plan *plan,
		    const struct kvp_verdict *verdict,
		    struct kvp_backend *host, struct gen_rng *r)
{
	uint64_t events = 0;
	struct kvp_realize_options options = {
		.first_rank = gen_chance(r, 20) ? (uint32_t)gen_next(r) : 0,
		.nranks = gen_chance(r, 20) ? (uint32_t)gen_next(r) : 1,
		.over_limit = true, .event = count_event, .cookie = &events,
	};
	struct kvp_realization *held = NULL;
	struct kvp_error err = { 0 };
	int code;

	if (gen_chance(r, 10))
		change_enum(r, &options.check);
	if (gen_chance(r, 10))
		change_enum(r, &options.handle_type);
	code = kvp_realize(&held, plan, verdict, host, &options, &err);

	if (!kvp_verdict_is_realizable(verdict) &&
	    (code != KVP_EREFUSED || events))
		fail("kvp_realize() takes a verdict that is not realizable");
	if (code == KVP_EREFUSED)
		run.refused++;
	if (!code)
		run.realized++;
	if (kvp_realization_free(held, &err))
		fail(err.text);
	realize_shared(plan, verdict, host, &options);
	/* Any ranks may be asked for. */
	if (!kvp_realize_entries(plan, &options))
		run.uncounted++;
}

/*
 * Can the plan's geometry be written, read again, and is it the same?  Its
 * recorded chunks are judged with the base layout.
 */
static bool reads_back(const struct kvp_plan *plan)
{
	struct kvp_geometry g = plan->geometry, again = { 0 };
	char *text = NULL;
	size_t len = 0;
	bool same;

	g.base_chunks = NULL;
	g.nbase_chunks = 0;
	same = !kvp_geometry_write(&g, &text, &len, NULL) &&
	       !kvp_geometry_read(&again, "again", text, len, NULL) &&
	       !kvp_geometry_compare(&g, &again, NULL, NULL);
	free(text);
	kvp_geometry_release(&again);
	return same;
}

/* The checker looks at the struct alone, and refuses what no text says. */
static void judge_refusal(const struct kvp_plan *plan, int code)
{
	bool readable = reads_back(plan);

	run.unreadable += !readable;
	if (!readable && code != KVP_EINPUT)
		fail("kvp_verify() takes a geometry that no text can state");
	if (readable && code == KVP_EINPUT && !plan->geometry.base_chunks &&
	    (unsigned)plan->merge <= KVP_MERGE_SPAN)
		fail("kvp_verify() refuses a geometry that a text can state");
}

static void verify(const struct kvp_plan *plan, bool lower,
		   struct kvp_backend *host, struct gen_rng *r)
{
	struct kvp_verify_options options;
	struct kvp_verdict *verdict = NULL;
	unsigned i;
	int code;

	kvp_verify_options_init(&options);
	for (i = 0; lower && i < KVP_RULES; i++)
		options.severity[i] = KVP_WARNING;
	code = kvp_verify(plan, &options, &verdict, NULL);
	if (!lower)
		judge_refusal(plan, code);
	if (code) {
		run.unjudged++;
		return;
	}
	if (!kvp_verdict_is_for(verdict, plan))
		fail("a verdict is not for its plan");
	realize(plan, verdict, host, r);
	kvp_verdict_free(verdict);
}

/* Plan and size the geometry of a plan; what is planned can be read. */
static void plan_again(const struct kvp_plan *plan)
{
	struct kvp_size_wish wish;
	struct kvp_size size;
	struct kvp_plan made;
	uint64_t free_bytes = UINT64_C(1) << 24;

	if (kvp_plan_make(&made, &plan->geometry, plan->merge, NULL))
		run.unplanned++;
	else if (!reads_back(&made))
		fail("kvp_plan_make() takes a geometry that no text can state");
	kvp_plan_release(&made);
	kvp_size_wish_init(&wish);
	wish.free_bytes = &free_bytes;
	wish.nfree = 1;
	if (kvp_size_find(&size, &plan->geometry, &wish, NULL))
		run.unsized++;
}

static void call_all(const struct kvp_plan *plan, struct kvp_backend *host,
		     struct gen_rng *r)
{
	struct kvp_owners *owners = NULL;
	struct kvp_concurrency c;
	char *text = NULL;
	size_t len;
	uint64_t row;

	verify(plan, false, host, r);
	verify(plan, true, host, r);
	plan_again(plan);
	if (kvp_plan_write(plan, &text, &len, NULL))
		run.unwritten++;
	free(text);
	if (kvp_size_concurrency(&c, plan, wild(r, 1), NULL) && c.pages_each)
		fail("kvp_size_concurrency() leaves something on failure");
	if (kvp_owners_new(&owners, plan, NULL)) {
		run.ownerless++;
		return;
	}
	for (row = 0; row < 3; row++)
		(void)kvp_owners_acquire_row(owners, row, NULL);
	kvp_owners_free(owners);
}

/* A good plan as text, and many wild ones made of it. */
static void try_plan(const char *text, size_t len, struct kvp_backend *host,
		     struct gen_rng *r)
{
	struct kvp_plan plan, whole;
	unsigned trial, changes;

	for (trial = 0; trial < TRIALS; trial++) {
		if (kvp_plan_read(&plan, "plan", text, len, NULL))
			abort();
		whole = plan;
		run.trials++;
		for (changes = gen_chance(r, 50) ? 1 : 2; changes; changes--)
			change_plan(r, &plan);
		call_all(&plan, host, r);
		kvp_plan_release(&whole);
	}
}

static void try_geometry(uint64_t seed, struct kvp_backend *host,
			 struct gen_rng *r)
{
	char *text = gen_geometry(seed, GEN_TINY), *made = NULL;
	enum kvp_merge merge = (enum kvp_merge)(seed % 3);
	struct kvp_geometry g = { 0 };
	struct kvp_plan plan = { 0 };
	size_t len;

	if (!kvp_geometry_read(&g, "gen", text, strlen(text), NULL) &&
	    !kvp_plan_make(&plan, &g, merge, NULL) &&
	    !kvp_plan_write(&plan, &made, &len, NULL))
		try_plan(made, len, host, r);
	free(made);
	free(text);
	kvp_plan_release(&plan);
	kvp_geometry_release(&g);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : SEED, i;
	struct gen_rng r = { seed };
	struct kvp_backend *host = NULL;

	if (kvp_backend_host(&host, 4, 4096, NULL))
		return 1;
	for (i = 0; i < GEOMETRIES; i++)
		try_geometry(gen_seed(seed, i), host, &r);
	kvp_backend_close(host);
	printf("seed %llu: %llu plans, %llu verdicts refused, %llu realized, "
	       "%llu not judged, %llu not readable, %llu not written, %llu "
	       "without owners, %llu not counted\n", (unsigned long long)seed,
	       (unsigned long long)run.trials, (unsigned long long)run.refused,
	       (unsigned long long)run.realized,
	       (unsigned long long)run.unjudged,
	       (unsigned long long)run.unreadable,
	       (unsigned long long)run.unwritten,
	       (unsigned long long)run.ownerless,
	       (unsigned long long)run.uncounted);
	if (!run.refused || !run.realized || !run.unjudged ||
	    !run.unreadable || !run.unwritten || !run.ownerless ||
	    !run.uncounted)
		fail("some kind of answer was never seen");
	printf("%llu passed, %llu failed, 0 skipped\n",
	       (unsigned long long)(run.trials - (run.failed < run.trials ?
				    run.failed : run.trials)),
	       (unsigned long long)run.failed);
	return run.failed != 0;
}
