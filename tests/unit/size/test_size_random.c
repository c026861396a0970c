/*
 * What holds of every sizing, on random geometries and budgets, and the
 * joint figure of sequences and rows against a map of single pages.  What
 * is expected is counted here anew, one page after the other.
 */
#include <stdlib.h>
#include <string.h>

#include "fake/gen.h"
#include "model/invariants.h"
#include "unit/unit.h"

#define SEED UINT64_C(20261130)
#define CASES 1500

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) / to * to;
}

static uint64_t planes_of(const struct kvp_geometry *g, uint64_t pages,
			  bool aliased)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < g->nplanes; i++)
		if (!aliased || g->planes[i].alias)
			total += round_up(pages * g->planes[i].bytes_per_page,
					  g->granularity);
	return total;
}

static uint64_t dedicated_of(const struct kvp_geometry *g, uint64_t rows)
{
	return round_up(rows * g->row_stride, g->granularity);
}

static uint64_t bytes_of(const struct kvp_geometry *g, uint64_t pages)
{
	uint64_t total = planes_of(g, pages, false) +
			 dedicated_of(g, g->execution_rows) +
			 pages * g->page_overhead_bytes;
	size_t i;

	for (i = 0; i < g->nstatics; i++)
		total += round_up(g->statics[i].bytes, g->granularity);
	return total;
}

static uint64_t rows_of(const struct kvp_geometry *g, uint64_t pages)
{
	uint64_t rows;

	if (!g->row_bytes)
		return 0;
	rows = (dedicated_of(g, g->execution_rows) +
		planes_of(g, pages, true)) / g->row_stride;
	return rows > g->execution_rows ? rows - g->execution_rows : 0;
}

/* A random geometry that leaves pages and rows open; false: recorded. */
static bool draw(struct kvp_geometry *g, struct gen_rng *r, uint64_t i)
{
	char *text = gen_geometry(gen_seed(SEED, i), gen_chance(r, 30) ?
				  GEN_SMALL : GEN_TINY);
	struct kvp_error err = { 0 };
	int code = kvp_geometry_read_unsized(g, "g", text, strlen(text),
					     &err);

	free(text);
	ck_assert_msg(!code, "case %llu: %s", (unsigned long long)i,
		      err.text);
	if (g->base_chunks) {
		kvp_geometry_release(g);
		return false;
	}
	if (gen_chance(r, 50))
		g->page_overhead_bytes = gen_below(r, 5000);
	return true;
}

/* Sized as it says, planned, written and read, sized again: the same. */
static void check_sized(const struct kvp_geometry *g,
			const struct kvp_size *z,
			const struct kvp_size_wish *wish)
{
	struct kvp_geometry sized, again;
	struct kvp_error err = { 0 };
	struct kvp_size second;
	struct kvp_plan plan;
	char *text, *reread;

	ck_assert_int_eq(kvp_geometry_copy(&sized, g, &err), KVP_OK);
	kvp_size_apply(z, NULL, &sized);
	geometry_check_internal(&sized);
	plan = plan_geometry(&sized, KVP_MERGE_ROW);
	ck_assert_uint_eq(plan.summary.kv_tokens, z->kv_tokens);
	ck_assert_uint_eq(plan.dedicated_bytes, z->dedicated_bytes);
	ck_assert_uint_eq(plan.summary.physical_bytes,
			  z->page_bytes + z->rounding_bytes);
	kvp_plan_release(&plan);
	text = written(&sized);
	ck_assert_msg(!kvp_geometry_read(&again, "sized", text, strlen(text),
					 &err), "%s", err.text);
	ck_assert_int_eq(kvp_size_find(&second, &again, wish, &err), KVP_OK);
	kvp_size_apply(&second, NULL, &again);
	reread = written(&again);
	ck_assert_str_eq(text, reread);
	free(text);
	free(reread);
	kvp_geometry_release(&again);
	/* Not one row more than fit. */
	if (g->row_bytes && z->snapshot_rows == z->rows_that_fit) {
		sized.row_bytes = g->row_bytes;
		sized.row_stride = g->row_stride;
		sized.snapshot_rows++;
		ck_assert_int_eq(kvp_plan_make(&plan, &sized, KVP_MERGE_NONE,
					       &err), KVP_EINFEASIBLE);
	}
	kvp_geometry_release(&sized);
}

static void check_terms(const struct kvp_geometry *g, const struct kvp_size *z,
			const struct kvp_size_wish *wish)
{
	uint64_t rows = rows_of(g, z->pages);

	ck_assert_uint_eq(z->used_bytes, bytes_of(g, z->pages));
	ck_assert_uint_eq(z->used_bytes, z->page_bytes + z->rounding_bytes +
			  z->dedicated_bytes + z->static_bytes +
			  z->overhead_bytes);
	ck_assert_uint_eq(z->free_bytes, z->used_bytes + z->left_bytes);
	ck_assert_uint_ge(z->left_bytes, z->reserve_bytes);
	ck_assert_uint_ge(z->left_bytes - z->reserve_bytes, z->cache_bytes);
	ck_assert_uint_eq(z->rows_that_fit, rows);
	if (rows > wish->snapshots)
		rows = wish->snapshots;
	ck_assert_uint_eq(z->snapshot_rows, rows);
	if (!z->pages_for_snapshots)
		return;
	ck_assert_uint_lt(rows, wish->snapshots);
	ck_assert_uint_ge(rows_of(g, z->pages_for_snapshots),
			  wish->snapshots);
	ck_assert_uint_lt(rows_of(g, z->pages_for_snapshots - 1),
			  wish->snapshots);
}

/* The refusal's own numbers, from its text. */
static void check_refusal(struct kvp_geometry *g, uint64_t budget,
			  const char *text)
{
	uint64_t asked = g->execution_rows, without, with;
	char *end;

	ck_assert_uint_gt(bytes_of(g, 1), budget);
	if (!strncmp(text, "no page fits", 12))
		return;
	without = strtoull(text, &end, 10);
	ck_assert_int_eq(strncmp(end, " execution rows fit with no KV; ", 32),
			 0);
	with = strtoull(strstr(end, "; asked ") + 8, &end, 10);
	ck_assert_uint_eq(with, asked);
	with = strtoull(end + 2, NULL, 10);
	ck_assert_uint_lt(without, asked);
	g->execution_rows = without;
	ck_assert(!without || bytes_of(g, 0) <= budget);
	g->execution_rows = without + 1;
	ck_assert_uint_gt(bytes_of(g, 0), budget);
	g->execution_rows = with;
	ck_assert(!with || bytes_of(g, 1) <= budget);
	g->execution_rows = with + 1;
	ck_assert_uint_gt(bytes_of(g, 1), budget);
	g->execution_rows = asked;
}

static void draw_wish(struct kvp_size_wish *wish, uint64_t *free_bytes,
		      const struct kvp_geometry *g, struct gen_rng *r)
{
	uint64_t scale = bytes_of(g, gen_below(r, 40));

	*wish = (struct kvp_size_wish){ .free_bytes = free_bytes, .nfree = 1,
					.snapshots = KVP_UNSTATED };
	*free_bytes = gen_below(r, 2 * scale + 2);
	if (gen_chance(r, 50))	/* exactly what some pages need */
		*free_bytes = scale - gen_below(r, 2) * (scale > 0);
	if (gen_chance(r, 40)) {
		wish->limit.kind = (enum kvp_memory_limit_kind)
				   gen_below(r, 3);
		wish->limit.bytes = gen_below(r, *free_bytes + 5000);
		wish->limit.percent = (uint32_t)gen_below(r, 101);
	}
	if (gen_chance(r, 20))
		wish->cache_bytes = gen_below(r, *free_bytes + 5000);
	if (gen_chance(r, 40))
		wish->snapshots = gen_below(r, 60);
}

/* One more byte gives the same or more of everything. */
static void check_monotone(const struct kvp_geometry *g,
			   const struct kvp_size *z,
			   const struct kvp_size_wish *wish,
			   uint64_t *free_bytes, struct gen_rng *r)
{
	struct kvp_size more;

	*free_bytes += gen_chance(r, 30) ? 1 : gen_below(r, 100000);
	ck_assert_int_eq(kvp_size_find(&more, g, wish, NULL), KVP_OK);
	ck_assert_uint_ge(more.pages, z->pages);
	ck_assert_uint_ge(more.kv_tokens, z->kv_tokens);
	ck_assert_uint_ge(more.snapshot_rows, z->snapshot_rows);
	ck_assert_uint_ge(more.budget_bytes, z->budget_bytes);
}

START_TEST(a_sizing_is_the_most_that_fits)
{
	struct gen_rng r = { SEED };
	uint64_t free_bytes, fits = 0, refused = 0, budget, i;
	struct kvp_size_wish wish;
	struct kvp_geometry g;
	struct kvp_error err;
	struct kvp_size z;
	int code;

	for (i = 0; i < CASES; i++) {
		if (!draw(&g, &r, i))
			continue;
		draw_wish(&wish, &free_bytes, &g, &r);
		budget = kvp_memory_limit_apply(&wish.limit, free_bytes);
		ck_assert_uint_le(budget, free_bytes);
		budget = budget > wish.cache_bytes ?
			 budget - wish.cache_bytes : 0;
		code = kvp_size_find(&z, &g, &wish, &err);
		if (code) {
			ck_assert_msg(code == KVP_EINFEASIBLE, "%s",
				      err.text);
			check_refusal(&g, budget, err.text);
			refused++;
		} else {
			ck_assert_uint_eq(z.budget_bytes, budget);
			ck_assert_uint_le(z.used_bytes, budget);
			ck_assert_uint_gt(bytes_of(&g, z.pages + 1), budget);
			check_terms(&g, &z, &wish);
			check_sized(&g, &z, &wish);
			check_monotone(&g, &z, &wish, &free_bytes, &r);
			fits++;
		}
		kvp_geometry_release(&g);
	}
	/* Both have been looked at. */
	ck_assert_uint_gt(fits, CASES / 4);
	ck_assert_uint_gt(refused, CASES / 20);
}
END_TEST

START_TEST(pages_that_are_asked_for_fit_or_are_refused_with_those_that_do)
{
	struct gen_rng r = { SEED + 1 };
	uint64_t free_bytes, most, i;
	struct kvp_size_wish wish;
	struct kvp_geometry g;
	struct kvp_error err;
	struct kvp_size z;

	for (i = 0; i < CASES / 3; i++) {
		if (!draw(&g, &r, i))
			continue;
		free_bytes = bytes_of(&g, 1 + gen_below(&r, 30)) +
			     gen_below(&r, 5000);
		wish = (struct kvp_size_wish){ .free_bytes = &free_bytes,
					       .nfree = 1 };
		ck_assert_int_eq(kvp_size_find(&z, &g, &wish, &err), KVP_OK);
		most = z.pages;
		wish.pages = 1 + gen_below(&r, most);
		ck_assert_int_eq(kvp_size_find(&z, &g, &wish, &err), KVP_OK);
		ck_assert_uint_eq(z.pages, wish.pages);
		wish.pages = most + 1 + gen_below(&r, 3);
		ck_assert_int_eq(kvp_size_find(&z, &g, &wish, &err),
				 KVP_EINFEASIBLE);
		ck_assert_uint_eq(strtoull(err.text, NULL, 10), most);
		kvp_geometry_release(&g);
	}
}
END_TEST

/* --- sequences beside rows --- */

/* Pages that the rows [from, to) conflict with, each one looked at. */
static uint64_t taken_by(const struct kvp_plan *plan, uint64_t from,
			 uint64_t to)
{
	bool *map = calloc(plan->geometry.pages, sizeof(*map));
	const struct kvp_span *s;
	uint64_t row, page, n = 0;
	size_t i;

	ck_assert_ptr_nonnull(map);
	for (row = from; row < to; row++)
		for (i = 0; i < plan->rows[row].count; i++) {
			s = &plan->spans[plan->rows[row].first + i];
			for (page = s->first; page < s->end; page++)
				map[page] = true;
		}
	for (page = 0; page < plan->geometry.pages; page++)
		n += map[page];
	free(map);
	return n;
}

/* Sequences one after the other, while there are pages and rows for them. */
static uint64_t sequences_in(const struct kvp_geometry *g, uint64_t pages,
			     uint64_t each)
{
	uint64_t n = 0;

	while (pages >= each && (!g->execution_rows || n < g->execution_rows)) {
		pages -= each;
		n++;
	}
	return n;
}

/* The most rows one after the other, every run of them looked at. */
static uint64_t rows_within(const struct kvp_plan *plan, uint64_t pages)
{
	uint64_t most = 0, from, to;

	for (from = 0; from < plan->nrows; from++)
		for (to = from + most + 1; to <= plan->nrows; to++)
			if (taken_by(plan, from, to) <= pages)
				most = to - from;
	return most;
}

static void check_concurrency(const struct kvp_plan *plan, uint64_t tokens)
{
	const struct kvp_geometry *g = &plan->geometry;
	uint64_t each = 0, sequences, rows;
	struct kvp_concurrency c;

	while (each * g->page_tokens * g->dcp_group_size < tokens)
		each++;
	sequences = sequences_in(g, g->pages, each);
	rows = rows_within(plan, g->pages - sequences * each);
	ck_assert_int_eq(kvp_size_concurrency(&c, plan, tokens, NULL),
			 KVP_OK);
	ck_assert_uint_eq(c.pages_each, each);
	ck_assert_uint_eq(c.sequences, sequences);
	ck_assert_uint_eq(c.rows_beside, rows);
	ck_assert_uint_eq(c.sequences_all_rows, sequences_in(g, g->pages -
			  taken_by(plan, 0, plan->nrows), each));
	ck_assert_uint_eq(c.longest_tokens, g->pages * g->page_tokens *
			  g->dcp_group_size);
	/* It fits, and one token more does not. */
	ck_assert_int_eq(tokens <= c.longest_tokens, sequences > 0);
}

START_TEST(sequences_and_rows_are_counted_together)
{
	struct gen_rng r = { SEED + 2 };
	uint64_t i, j, all, some = 0;
	struct kvp_geometry g;
	struct kvp_plan plan;
	char *text;

	for (i = 0; i < CASES; i++) {
		text = gen_geometry(gen_seed(SEED + 2, i), GEN_TINY);
		ck_assert_int_eq(kvp_geometry_read(&g, "g", text,
						   strlen(text), NULL),
				 KVP_OK);
		free(text);
		if (!kvp_plan_make(&plan, &g, KVP_MERGE_ROW, NULL)) {
			all = plan.summary.kv_tokens;
			for (j = 0; j < 4; j++)
				check_concurrency(&plan, 1 + gen_below(&r,
						  1 + (j ? all / j : 2 * all)));
			check_concurrency(&plan, 1);
			check_concurrency(&plan, all);
			check_concurrency(&plan, all + 1);
			some += plan.nrows > 1;
			kvp_plan_release(&plan);
		}
		kvp_geometry_release(&g);
	}
	ck_assert_uint_gt(some, CASES / 10);
}
END_TEST

START_TEST(rows_in_any_order_share_their_pages)
{
	struct kvp_span spans[] = { { 5, 8 }, { 0, 2 }, { 6, 9 }, { 1, 3 },
				    { 0, 9 }, { 11, 12 } };
	struct kvp_row rows[] = { { 0, 0, 1 }, { 1, 1, 2 }, { 2, 0, 0 },
				  { 3, 3, 1 }, { 4, 4, 2 } };
	struct kvp_plan plan = { .rows = rows, .nrows = 5, .spans = spans,
				 .nspans = 6 };
	uint64_t tokens;

	plan.geometry = (struct kvp_geometry){ .pages = 12, .page_tokens = 4,
					       .dcp_group_size = 2 };
	for (tokens = 1; tokens <= 12 * 8 + 1; tokens++)
		check_concurrency(&plan, tokens);
	plan.geometry.execution_rows = 2;
	for (tokens = 1; tokens <= 12 * 8 + 1; tokens++)
		check_concurrency(&plan, tokens);
}
END_TEST

Suite *size_random_suite(void)
{
	Suite *s = suite_create("size_random");
	TCase *t = tcase_create("size, random");

	tcase_add_test(t, a_sizing_is_the_most_that_fits);
	tcase_add_test(t, pages_that_are_asked_for_fit_or_are_refused_with_those_that_do);
	tcase_add_test(t, sequences_and_rows_are_counted_together);
	tcase_add_test(t, rows_in_any_order_share_their_pages);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return s;
}
