/*
 * brute [SEED [COUNT [RECORDED]]]: COUNT tiny layouts, every plan, and RECORDED
 * recorded layouts, every mode.
 *
 * For every way to exchange planes among chunks of one (bytes per page,
 * offset, bytes) and every order of the chunks within intervals, count the
 * chunks after merging; the fewest must be what the planner makes and what
 * planner and checker state as lower bound.  Of a recorded layout the bound
 * may be lower and the plan higher, never the other way; but no mode has more
 * chunks than the mode before it, also where the layout is too large to be
 * searched.  Written from the
 * design alone: the base layout is tests/fake/gen_base.c's, nothing here
 * knows of src/.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/kvplan.h>

#include "fake/gen.h"

#define SEED UINT64_C(7)
#define LAYOUTS UINT64_C(15000)
#define RECORDED UINT64_C(10000)
#define MOST_CHUNKS 24		/* aliased */
#define MOST_ORDER 5		/* chunks of an interval, all orders tried */
#define MOST_PLANS 5000		/* ways to exchange planes */

/* An aliased place and the plane that lies on it now. */
struct place {
	uint64_t bpp, offset, bytes;
	uint64_t row;		/* of a complete chunk; ~0 for others */
	uint32_t plane;
};

struct search {
	struct place at[MOST_CHUNKS];
	size_t count;
	size_t first[MOST_CHUNKS + 1];	/* of every segment */
	size_t segments;
	size_t longest;		/* chunks of an interval */
	size_t fixed;
	int best_row, best_span;
	uint64_t tried;
};

static struct {
	uint64_t layouts, plans, spans, failed;
	uint64_t fixed, rows, kinds, row_saves, span_saves, exchanged;
	uint64_t recorded, recorded_plans, reached;
	uint64_t compared, off_bound, row_falls, span_falls;
} run;

static bool follows(const struct place *a, const struct place *b)
{
	return a->plane == b->plane && a->offset + a->bytes == b->offset;
}

/* Mode row: chains are disjoint, so every link of an interval is had. */
static int links(const struct search *s)
{
	size_t seg, i, k;
	int sum = 0;

	for (seg = 0; seg < s->segments; seg++)
		for (i = s->first[seg]; i < s->first[seg + 1]; i++)
			for (k = s->first[seg]; k < s->first[seg + 1]; k++)
				sum += follows(&s->at[i], &s->at[k]);
	return sum;
}

/* Most merges up to here by the chunk that lies last; -1: not reached. */
struct reached {
	int merges[MOST_ORDER];
};

/* One segment's orders, chunk by chunk. */
struct order {
	const struct place *chunk;
	size_t count;
	const struct place *before;	/* chunks of the last segment */
	size_t nbefore;
	const struct reached *from;
	struct reached to;
	bool used[MOST_ORDER];
};

static void try_orders(struct order *o, size_t done, size_t first, size_t last,
		       int merges)
{
	size_t i;
	int all;

	for (i = 0; done < o->count && i < o->count; i++) {
		if (o->used[i])
			continue;
		o->used[i] = true;
		try_orders(o, done + 1, done ? first : i, i, merges +
			   (done && follows(&o->chunk[last], &o->chunk[i])));
		o->used[i] = false;
	}
	if (done < o->count)
		return;
	if (!o->nbefore && merges > o->to.merges[last])
		o->to.merges[last] = merges;
	for (i = 0; i < o->nbefore; i++) {
		all = o->from->merges[i] + merges +
		      follows(&o->before[i], &o->chunk[first]);
		if (all > o->to.merges[last])
			o->to.merges[last] = all;
	}
}

/* Mode span: all orders of all segments, one segment after the other. */
static int span_merges(const struct search *s)
{
	struct reached from = { { 0 } };
	struct order o;
	size_t seg, i;
	int best = 0;

	for (seg = 0; seg < s->segments; seg++) {
		memset(&o, 0, sizeof(o));
		o.chunk = s->at + s->first[seg];
		o.count = s->first[seg + 1] - s->first[seg];
		if (seg) {
			o.before = s->at + s->first[seg - 1];
			o.nbefore = s->first[seg] - s->first[seg - 1];
		}
		o.from = &from;
		for (i = 0; i < MOST_ORDER; i++)
			o.to.merges[i] = -1;
		try_orders(&o, 0, 0, 0, 0);
		from = o.to;
	}
	for (i = 0; s->segments && i < MOST_ORDER; i++)
		best = from.merges[i] > best ? from.merges[i] : best;
	return best;
}

static bool same_group(const struct place *a, const struct place *b)
{
	return a->bpp == b->bpp && a->offset == b->offset &&
	       a->bytes == b->bytes;
}

static void swap_planes(struct place *a, struct place *b)
{
	uint32_t keep = a->plane;

	a->plane = b->plane;
	b->plane = keep;
}

/* Place i takes its own plane or that of any later one of its group. */
static void exchange(struct search *s, size_t i)
{
	size_t k;
	int n;

	if (i == s->count) {
		s->tried++;
		n = links(s);
		s->best_row = n > s->best_row ? n : s->best_row;
		if (s->longest <= MOST_ORDER) {
			n = span_merges(s);
			s->best_span = n > s->best_span ? n : s->best_span;
		}
		return;
	}
	for (k = i; k < s->count; k++) {
		if (!same_group(&s->at[i], &s->at[k]))
			continue;
		swap_planes(&s->at[i], &s->at[k]);
		exchange(s, i + 1);
		swap_planes(&s->at[i], &s->at[k]);
	}
}

/* Product of the factorials of the groups, or MOST_PLANS + 1. */
static uint64_t count_plans(const struct search *s)
{
	uint64_t product = 1, before;
	size_t i, k;

	for (i = 0; i < s->count; i++) {
		before = 1;
		for (k = 0; k < i; k++)
			before += same_group(&s->at[i], &s->at[k]);
		product *= before;
		if (product > MOST_PLANS)
			return MOST_PLANS + 1;
	}
	return product;
}

static void cut_segments(struct search *s)
{
	size_t i, length = 0;

	for (i = 0; i < s->count; i++) {
		s->fixed += s->at[i].row == UINT64_MAX;
		if (i && s->at[i].row != UINT64_MAX &&
		    s->at[i].row == s->at[i - 1].row) {
			length++;
		} else {
			s->first[s->segments++] = i;
			length = 1;
		}
		s->longest = length > s->longest ? length : s->longest;
	}
	s->first[s->segments] = s->count;
}

static void list_places(struct search *s, const struct gen_base *base,
			const struct kvp_geometry *g)
{
	const struct kvp_chunk *c;
	uint64_t row;
	size_t i;

	for (i = 0; i < base->aliased; i++) {
		c = &base->chunks[i];
		row = c->arena / g->row_stride;
		s->at[i] = (struct place){
			.bpp = g->planes[c->plane].bytes_per_page,
			.offset = c->offset,
			.bytes = c->bytes,
			.plane = c->plane,
			.row = row >= g->execution_rows &&
			       row < g->execution_rows + g->snapshot_rows &&
			       c->arena + c->bytes <= row * g->row_stride +
						      g->row_bytes ?
			       row : UINT64_MAX,
		};
	}
	s->count = base->aliased;
	cut_segments(s);
}

/* The bound the checker works out; ~0 where it refuses the plan. */
static uint64_t checked_bound(const struct kvp_plan *plan)
{
	struct kvp_verify_options options;
	struct kvp_verdict *verdict = NULL;
	uint64_t bound = UINT64_MAX;

	kvp_verify_options_init(&options);
	options.severity[KVP_RULE_ENTRY_LIMIT] = KVP_WARNING;
	options.severity[KVP_RULE_HEADROOM] = KVP_WARNING;
	if (kvp_verify(plan, &options, &verdict, NULL))
		return bound;
	if (kvp_verdict_ok(verdict))
		bound = kvp_verdict_summary(verdict)->lower_bound;
	kvp_verdict_free(verdict);
	return bound;
}

static bool compare(const struct kvp_geometry *g, enum kvp_merge merge,
		    uint64_t fewest, const char *text)
{
	struct kvp_error err = { 0 };
	struct kvp_plan plan = { 0 };
	uint64_t chunks, bound, checked;
	bool ok;

	if (kvp_plan_make(&plan, g, merge, &err)) {
		printf("FAIL mode %s: %s\n%s", kvp_merge_name(merge), err.text,
		       text);
		return false;
	}
	chunks = plan.nchunks;
	bound = plan.summary.lower_bound;
	checked = checked_bound(&plan);
	ok = plan.summary.chunks == chunks && checked == bound;
	if (g->base_chunks)
		ok = ok && bound <= fewest && fewest <= chunks;
	else
		ok = ok && bound == fewest && fewest == chunks;
	run.reached += g->base_chunks && chunks == fewest;
	run.recorded_plans += g->base_chunks != NULL;
	if (!ok)
		printf("FAIL mode %s: %" PRIu64 " chunks, bound %" PRIu64
		       ", by the checker %" PRIu64 ", brute force %" PRIu64
		       "\n%s", kvp_merge_name(merge), chunks, bound, checked,
		       fewest, text);
	kvp_plan_release(&plan);
	return ok;
}

static void count_kinds(const struct search *s, const struct kvp_geometry *g)
{
	bool kinds = false;
	size_t i;

	for (i = 1; i < s->count; i++)
		kinds |= s->at[i].bpp != s->at[0].bpp;
	run.layouts++;
	run.plans += s->tried;
	run.fixed += s->fixed > 0;
	run.rows += g->snapshot_rows > 1;
	run.kinds += kinds;
	run.recorded += g->base_chunks != NULL;
	run.row_saves += s->best_row > 0;
	run.exchanged += s->tried > 1;
	if (s->longest > MOST_ORDER)
		return;
	run.spans++;
	run.span_saves += s->best_span > s->best_row;
}

/* A layout worth searching is searched and compared in all modes. */
static void search(const struct kvp_geometry *g, const struct gen_base *base,
		   const char *text)
{
	struct search s = { .best_row = 0 };
	bool ok;

	if (base->aliased < 2 || base->aliased > MOST_CHUNKS)
		return;
	list_places(&s, base, g);
	if (count_plans(&s) > MOST_PLANS)
		return;
	exchange(&s, 0);
	ok = compare(g, KVP_MERGE_NONE, base->count, text);
	ok = compare(g, KVP_MERGE_ROW, base->count - (size_t)s.best_row,
		     text) && ok;
	if (s.longest <= MOST_ORDER)
		ok = compare(g, KVP_MERGE_SPAN, base->count -
			     (size_t)s.best_span, text) && ok;
	run.failed += !ok;
	count_kinds(&s, g);
}

/* Mode row has at most the chunks of mode none, mode span those of row. */
static void compare_modes(const struct kvp_geometry *g, const char *text)
{
	size_t chunks[3] = { 0 };
	struct kvp_error err = { 0 };
	struct kvp_plan plan = { 0 };
	bool ok = true, optimal = true;
	int m;

	for (m = KVP_MERGE_NONE; m <= KVP_MERGE_SPAN; m++) {
		ok = !kvp_plan_make(&plan, g, (enum kvp_merge)m, &err) &&
		     checked_bound(&plan) == plan.summary.lower_bound && ok;
		optimal = optimal && plan.summary.optimal;
		chunks[m] = plan.nchunks;
		kvp_plan_release(&plan);
	}
	if (!ok || chunks[1] > chunks[0] || chunks[2] > chunks[1]) {
		printf("FAIL chunks none, row, span: %zu, %zu, %zu%s%s\n%s",
		       chunks[0], chunks[1], chunks[2], ok ? "" :
		       "; not planned or not verified ", err.text, text);
		run.failed++;
	}
	run.compared++;
	run.off_bound += !optimal;
	run.row_falls += chunks[1] < chunks[0];
	run.span_falls += chunks[2] < chunks[1];
}

/* The recorded list is the base layout, in a plan's order already. */
static void take_recorded(struct gen_base *base, const struct kvp_geometry *g)
{
	base->count = g->nbase_chunks;
	base->chunks = gen_alloc(base->count * sizeof(*base->chunks));
	memcpy(base->chunks, g->base_chunks,
	       base->count * sizeof(*base->chunks));
	while (base->aliased < base->count &&
	       base->chunks[base->aliased].arena != KVP_UNALIASED)
		base->aliased++;
}

static void try_text(const char *text)
{
	struct kvp_geometry g = { 0 };
	struct gen_base base = { 0 };

	if (kvp_geometry_read(&g, "gen", text, strlen(text), NULL))
		goto done;
	if (g.base_chunks) {
		compare_modes(&g, text);
		take_recorded(&base, &g);
	} else if (!gen_base_make(&base, &g)) {
		goto done;
	}
	search(&g, &base, text);
done:
	gen_base_release(&base);
	kvp_geometry_release(&g);
}

static void try_layouts(uint64_t seed, uint64_t layouts, uint64_t recorded)
{
	uint64_t i;
	char *text;

	for (i = 0; run.layouts < layouts && i < 100 * layouts; i++) {
		text = gen_geometry(gen_seed(seed, i), GEN_TINY);
		try_text(text);
		free(text);
	}
	for (i = 0; i < recorded; i++) {
		text = gen_recorded(gen_seed(seed, i));
		try_text(text);
		free(text);
	}
}

/* A search that never meets these cases would prove little. */
static void check_kinds(void)
{
	const struct {
		const char *name;
		uint64_t seen;
	} kinds[] = {
		{ "several rows", run.rows },
		{ "fixed segments", run.fixed },
		{ "several page sizes", run.kinds },
		{ "exchangeable planes", run.exchanged },
		{ "row saves", run.row_saves },
		{ "all orders tried", run.spans },
		{ "span saves more", run.span_saves },
		{ "recorded", run.recorded },
		{ "modes compared", run.compared },
		{ "off the bound", run.off_bound },
		{ "row has fewer", run.row_falls },
		{ "span has fewer", run.span_falls },
	};
	size_t i, rare = 0;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		printf("  %-20s %6" PRIu64 "\n", kinds[i].name, kinds[i].seen);
		if (kinds[i].seen < run.layouts / 20) {
			printf("FAIL too few layouts: %s\n", kinds[i].name);
			rare++;
		}
	}
	run.failed += rare;
}

int main(int argc, char **argv)
{
	const char *san = getenv("SAN");
	uint64_t part = san && *san ? 8 : 1;
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : SEED;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) :
				    LAYOUTS / part;
	uint64_t recorded = argc > 3 ? strtoull(argv[3], NULL, 0) :
				       RECORDED / part;

	printf("seed %" PRIu64 ", %" PRIu64 " layouts, %" PRIu64 " recorded "
	       "ones%s\n", seed, count, recorded, part > 1 ?
	       " (sanitized: an eighth)" : "");
	try_layouts(seed, count, recorded);
	check_kinds();
	printf("%" PRIu64 " exchanges of planes tried; of %" PRIu64 " plans of "
	       "recorded layouts %" PRIu64 " have the fewest chunks\n",
	       run.plans, run.recorded_plans, run.reached);
	printf("%" PRIu64 " passed, %" PRIu64 " failed, 0 skipped\n",
	       run.layouts - (run.failed < run.layouts ? run.failed :
							 run.layouts),
	       run.failed);
	return run.failed ? 1 : 0;
}
