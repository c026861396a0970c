/*
 * Planning: the published figures, rows that do not fit, limits, and what
 * holds for every plan.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unit/unit.h"

/* Geometries of many shapes, for what has to hold for all of them. */
static const char *const shapes[] = {
	"",
	"snapshot_rows=6",
	"tile_granules=2;snapshot_rows=3",
	"tile_granules=3;row_bytes=5000;row_stride=6000;snapshot_rows=7",
	"execution_rows=0;row_bytes=12288;row_stride=;snapshot_rows=4;"
	"planes=[{'name':'x','count':4,'bytes_per_page':6144}]",
	"pages=40;execution_rows=0;row_bytes=40960;row_stride=;"
	"snapshot_rows=9;planes=[{'name':'x','count':3,"
	"'bytes_per_page':1024},{'name':'y','count':4,"
	"'bytes_per_page':2000},{'name':'z','bytes_per_page':512,"
	"'alias':false}]",
	"pages=200;execution_rows=2;row_bytes=100000;row_stride=102400;"
	"snapshot_rows=20;planes=[{'name':'x','count':6,"
	"'bytes_per_page':3000}]",
	"pages=64;row_bytes=20480;row_stride=;snapshot_rows=15;"
	"planes=[{'name':'x','count':5,'bytes_per_page':4096},"
	"{'name':'y','count':2,'bytes_per_page':512}]",
};
#define SHAPES (sizeof(shapes) / sizeof(*shapes))

static void check_figures(const char *changes, uint64_t base,
			  const uint64_t chunks[3], const uint64_t entries[3])
{
	struct kvp_geometry g = geometry_of(changes);
	enum kvp_merge merge;

	for (merge = KVP_MERGE_NONE; merge <= KVP_MERGE_SPAN; merge++) {
		struct kvp_plan plan = plan_geometry(&g, merge);

		ck_assert_uint_eq(plan.summary.base_chunks, base);
		ck_assert_uint_eq(plan.summary.chunks, chunks[merge]);
		ck_assert_uint_eq(plan.nchunks, chunks[merge]);
		ck_assert_uint_eq(plan.summary.lower_bound, chunks[merge]);
		ck_assert(plan.summary.optimal);
		ck_assert_uint_eq(plan.summary.nper_node,
				  g.ranks / g.ranks_per_node);
		ck_assert_uint_eq(plan.summary.per_node[0], entries[merge]);
		ck_assert_uint_eq(plan.summary.limit, 520192);
		kvp_plan_release(&plan);
	}
	kvp_geometry_release(&g);
}

/*
 * Entries: 16 ranks of chunks * readers + aliased + 1, and 2,869.  3 of the
 * chunks are unaliased, and none with eight readers.
 */
START_TEST(the_published_layout_of_sixteen_readers_is_met)
{
	static const uint64_t chunks[3] = { 1920, 1617, 1538 };
	static const uint64_t entries[3] = {
		525077, 442661, 16 * (1538 * 16 + 1535 + 1) + 2869,
	};
	struct kvp_plan plan = plan_of(published_dcp16, KVP_MERGE_ROW);

	ck_assert_uint_eq(plan.summary.kv_tokens, 4575232);
	ck_assert_uint_eq(plan.summary.physical_bytes, UINT64_C(4026531840));
	ck_assert_uint_eq(plan.dedicated_bytes, 180355072);
	ck_assert_uint_eq(plan.nrows, 112);
	kvp_plan_release(&plan);
	check_figures(published_dcp16, 1920, chunks, entries);
}
END_TEST

START_TEST(the_published_layout_of_eight_readers_is_met)
{
	static const uint64_t chunks[3] = { 2616, 2203, 2095 };
	static const uint64_t entries[3] = {
		379589, 320117, 16 * (2095 * 8 + 2095 + 1) + 2869,
	};
	struct kvp_plan plan = plan_of(published_dcp8, KVP_MERGE_ROW);

	ck_assert_uint_eq(plan.summary.kv_tokens, 3145728);
	ck_assert_uint_eq(plan.nrows, 153);
	kvp_plan_release(&plan);
	check_figures(published_dcp8, 2616, chunks, entries);
}
END_TEST

static void check_does_not_fit(const char *changes, uint64_t rows,
			       const char *message)
{
	struct kvp_geometry g = geometry_of(changes);
	struct kvp_error err = { 0 };
	struct kvp_plan plan;

	memset(&plan, 0xa5, sizeof(plan));
	g.snapshot_rows = rows;
	ck_assert_int_eq(kvp_plan_make(&plan, &g, KVP_MERGE_ROW, &err),
			 KVP_EINFEASIBLE);
	ck_assert_int_eq(err.code, KVP_EINFEASIBLE);
	if (message)
		ck_assert_str_eq(err.text, message);
	ck_assert_ptr_null(plan.chunks);
	ck_assert_ptr_null(plan.geometry.name);
	ck_assert_uint_eq(plan.nrows, 0);
	kvp_geometry_release(&g);
}

static void check_fits(const char *changes, uint64_t rows)
{
	struct kvp_geometry g = geometry_of(changes);
	struct kvp_plan plan;

	g.snapshot_rows = rows;
	plan = plan_geometry(&g, KVP_MERGE_ROW);
	ck_assert_uint_eq(plan.nrows, rows);
	kvp_plan_release(&plan);
	kvp_geometry_release(&g);
}

/*
 * D = 180,355,072 (5 rows rounded up), aliased backing 24 * 167,772,160:
 * together 117.2 rows.
 */
START_TEST(rows_that_do_not_fit_are_told_with_how_many_would)
{
	check_does_not_fit(published_dcp16, 113,
		"/snapshot_rows: 113 rows need 4054564864 bytes of aliased "
		"backing, the planes have 4026531840, 28033024 too few; "
		"rows that would fit: 112");
	check_fits(published_dcp16, 112);
	check_does_not_fit("", 7,
		"/snapshot_rows: 7 rows need 69632 bytes of aliased backing, "
		"the planes have 65536, 4096 too few; rows that would fit: 6");
}
END_TEST

START_TEST(as_many_rows_as_are_said_to_fit_do_fit)
{
	struct kvp_geometry g;
	struct kvp_error err;
	struct kvp_plan plan;
	uint64_t fit;
	size_t i;

	for (i = 0; i < SHAPES; i++) {
		g = geometry_of(shapes[i]);
		g.snapshot_rows = 100000;
		ck_assert_int_eq(kvp_plan_make(&plan, &g, KVP_MERGE_NONE,
					       &err), KVP_EINFEASIBLE);
		ck_assert_ptr_nonnull(strstr(err.text, "would fit: "));
		fit = strtoull(strstr(err.text, "would fit: ") + 11, NULL, 10);
		ck_assert_uint_gt(fit, 2);
		check_fits(shapes[i], fit);
		check_does_not_fit(shapes[i], fit + 1, NULL);
		kvp_geometry_release(&g);
	}
}
END_TEST

START_TEST(no_row_fits_where_no_plane_may_be_aliased)
{
	check_does_not_fit("execution_rows=0;planes=[{'name':'x','alias':"
		"false,'bytes_per_page':4096}]", 1,
		"/snapshot_rows: 1 rows need 10240 bytes of aliased backing, "
		"the planes have 0, 10240 too few; rows that would fit: 0");
	check_does_not_fit("execution_rows=3;planes=[{'name':'x','alias':"
		"false,'bytes_per_page':4096}]", 1,
		"/snapshot_rows: 1 rows need 8192 bytes of aliased backing, "
		"the planes have 0, 8192 too few; rows that would fit: 0");
}
END_TEST

static void check_limit(const char *changes, const char *message)
{
	struct kvp_geometry g = geometry_of(changes);
	struct kvp_error err = { 0 };
	struct kvp_plan plan;
	clock_t start = clock();

	ck_assert_int_eq(kvp_plan_make(&plan, &g, KVP_MERGE_SPAN, &err),
			 KVP_ELIMIT);
	ck_assert_str_eq(err.text, message);
	ck_assert_ptr_null(plan.chunks);
	/* Long before two million chunks could be laid. */
	ck_assert(clock() - start < CLOCKS_PER_SEC / 10);
	kvp_geometry_release(&g);
}

START_TEST(too_many_chunks_are_refused_before_any_is_laid)
{
	check_limit("pages=2097152;execution_rows=0;snapshot_rows=1;"
		"row_bytes='8192 MiB';row_stride=;"
		"planes=[{'name':'x','bytes_per_page':4096},"
		"{'name':'y','bytes_per_page':4096}]",
		"/planes: the base layout has more than 2097152 chunks; tile_granules "
		"above 1 makes fewer");
	check_limit("pages=1000000000;execution_rows=0;snapshot_rows=1;"
		"row_bytes='4000 TiB';row_stride=;tile_granules=7;"
		"planes=[{'name':'x','count':2,'bytes_per_page':4000000}]",
		"/planes: the base layout has more than 2097152 chunks; tile_granules "
		"above 7 makes fewer");
}
END_TEST

START_TEST(the_same_geometry_gives_the_same_bytes)
{
	enum kvp_merge merge;
	size_t i;

	for (i = 0; i < SHAPES; i++)
		for (merge = KVP_MERGE_NONE; merge <= KVP_MERGE_SPAN;
		     merge++) {
			struct kvp_plan a = plan_of(shapes[i], merge);
			struct kvp_plan b = plan_of(shapes[i], merge);
			char *x = written_plan(&a), *y = written_plan(&b);

			ck_assert_str_eq(x, y);
			kvp_plan_release(&a);
			kvp_plan_release(&b);
			free(x);
			free(y);
		}
}
END_TEST

/* The checker agrees with all that the plan says, the limit apart. */
static void check_verifies(const struct kvp_plan *plan)
{
	const struct kvp_finding *findings;
	struct kvp_verify_options options;
	struct kvp_verdict *verdict;
	char text[256] = "";
	size_t count;

	kvp_verify_options_init(&options);
	options.severity[KVP_RULE_ENTRY_LIMIT] = KVP_WARNING;
	ck_assert_int_eq(kvp_verify(plan, &options, &verdict, NULL), KVP_OK);
	findings = kvp_verdict_findings(verdict, &count);
	if (count)
		kvp_finding_text(findings, text, sizeof(text));
	ck_assert_msg(kvp_verdict_ok(verdict), "%s", text);
	kvp_verdict_free(verdict);
}

START_TEST(every_mode_saves_what_the_one_before_does_and_verifies)
{
	enum kvp_merge merge;
	uint64_t before;
	size_t i;

	for (i = 0; i < SHAPES; i++) {
		before = UINT64_MAX;
		for (merge = KVP_MERGE_NONE; merge <= KVP_MERGE_SPAN;
		     merge++) {
			struct kvp_plan plan = plan_of(shapes[i], merge);

			check_verifies(&plan);
			ck_assert(plan.summary.optimal);
			ck_assert_uint_le(plan.nchunks, before);
			before = plan.nchunks;
			kvp_plan_release(&plan);
		}
	}
}
END_TEST

START_TEST(a_geometry_without_rows_is_planned)
{
	struct kvp_plan plan = plan_of("snapshot_rows=0", KVP_MERGE_SPAN);

	ck_assert_uint_eq(plan.nchunks, 3);
	ck_assert_uint_eq(plan.nrows, 0);
	ck_assert_uint_eq(plan.dedicated_bytes, 12288);
	/* three chunks for two readers, the dedicated backing for one */
	ck_assert_uint_eq(plan.summary.per_rank[0], 3 * 2 + 1);
	check_verifies(&plan);
	kvp_plan_release(&plan);
	plan = plan_of("snapshot_rows=0;execution_rows=0", KVP_MERGE_NONE);
	ck_assert_uint_eq(plan.dedicated_bytes, 0);
	ck_assert_uint_eq(plan.summary.per_rank[0], 3 * 2);
	check_verifies(&plan);
	kvp_plan_release(&plan);
}
END_TEST

START_TEST(one_page_of_one_plane_is_planned)
{
	struct kvp_plan plan = plan_of("pages=1;execution_rows=0;"
		"snapshot_rows=1;row_bytes=4096;row_stride=;"
		"planes=[{'name':'x','bytes_per_page':1}]", KVP_MERGE_ROW);

	ck_assert_uint_eq(plan.nchunks, 1);
	ck_assert_uint_eq(plan.chunks[0].arena, 0);
	ck_assert_uint_eq(plan.nrows, 1);
	ck_assert_uint_eq(plan.rows[0].count, 1);
	ck_assert_uint_eq(plan.spans[0].first, 0);
	ck_assert_uint_eq(plan.spans[0].end, 1);
	check_verifies(&plan);
	kvp_plan_release(&plan);
}
END_TEST

/* All chunks of a row follow each other in the one plane there is. */
START_TEST(one_plane_is_merged_row_by_row_and_across)
{
	const char changes[] = "pages=32;execution_rows=0;snapshot_rows=4;"
		"row_bytes=12288;row_stride=;"
		"planes=[{'name':'x','bytes_per_page':4096}]";
	struct kvp_plan plan = plan_of(changes, KVP_MERGE_NONE);

	ck_assert_uint_eq(plan.nchunks, 13);
	kvp_plan_release(&plan);
	plan = plan_of(changes, KVP_MERGE_ROW);
	ck_assert_uint_eq(plan.nchunks, 5);
	ck_assert_uint_eq(plan.chunks[1].offset, 12288);
	ck_assert_uint_eq(plan.chunks[1].bytes, 12288);
	ck_assert_uint_eq(plan.chunks[1].arena, 12288);
	check_verifies(&plan);
	kvp_plan_release(&plan);
	plan = plan_of(changes, KVP_MERGE_SPAN);
	ck_assert_uint_eq(plan.nchunks, 2);
	ck_assert_uint_eq(plan.chunks[0].bytes, 49152);
	check_verifies(&plan);
	kvp_plan_release(&plan);
}
END_TEST

/*
 * Two planes, each row one tile pair deep.  Base: a0 b0 | a1 b1.  Nothing
 * of a row follows in one plane, so only `span` can save: one boundary.
 */
START_TEST(a_boundary_saves_one_chunk_in_mode_span)
{
	const char changes[] = "pages=2;execution_rows=0;snapshot_rows=2;"
		"row_bytes=8192;row_stride=;"
		"planes=[{'name':'x','count':2,'bytes_per_page':4096}]";
	struct kvp_plan plan = plan_of(changes, KVP_MERGE_ROW);

	ck_assert_uint_eq(plan.nchunks, 4);
	kvp_plan_release(&plan);
	plan = plan_of(changes, KVP_MERGE_SPAN);
	ck_assert_uint_eq(plan.nchunks, 3);
	ck_assert_uint_eq(plan.chunks[1].arena, 4096);
	ck_assert_uint_eq(plan.chunks[1].bytes, 8192);
	check_verifies(&plan);
	kvp_plan_release(&plan);
}
END_TEST

/* Give the geometry these chunks as its recorded layout. */
static void record(struct kvp_geometry *g, const struct kvp_plan *plan)
{
	size_t bytes = plan->nchunks * sizeof(*plan->chunks);
	struct kvp_error err = { 0 };
	char *text;
	int code;

	free(g->base_chunks);
	g->base_chunks = malloc(bytes);
	ck_assert_ptr_nonnull(g->base_chunks);
	memcpy(g->base_chunks, plan->chunks, bytes);
	g->nbase_chunks = plan->nchunks;
	/* As a user would: through the file. */
	text = written(g);
	kvp_geometry_release(g);
	code = kvp_geometry_read(g, "g", text, strlen(text), &err);
	ck_assert_msg(!code, "%s", err.text);
	free(text);
}

/* The plan as text without its geometry. */
static char *planned(const struct kvp_geometry *g, enum kvp_merge merge)
{
	struct kvp_plan plan = plan_geometry(g, merge);
	char *text = written_plan(&plan), *rest = strstr(text, "\"merge\"");

	check_verifies(&plan);
	ck_assert_ptr_nonnull(rest);
	rest = strdup(rest);
	free(text);
	kvp_plan_release(&plan);
	return rest;
}

START_TEST(a_recorded_base_layout_plans_as_the_computed_one)
{
	enum kvp_merge merge;
	size_t i;

	for (i = 0; i < SHAPES; i++)
		for (merge = KVP_MERGE_NONE; merge <= KVP_MERGE_SPAN;
		     merge++) {
			struct kvp_geometry g = geometry_of(shapes[i]);
			struct kvp_plan base = plan_geometry(&g,
							     KVP_MERGE_NONE);
			char *computed = planned(&g, merge), *recorded;

			record(&g, &base);
			recorded = planned(&g, merge);
			ck_assert_str_eq(computed, recorded);
			kvp_plan_release(&base);
			kvp_geometry_release(&g);
			free(computed);
			free(recorded);
		}
}
END_TEST

/* Plan in mode `first`, record the result, plan that in mode `second`. */
static void check_planned_again(const char *changes, enum kvp_merge first,
				enum kvp_merge second)
{
	struct kvp_geometry g = geometry_of(changes);
	struct kvp_plan once = plan_geometry(&g, first), twice;

	record(&g, &once);
	twice = plan_geometry(&g, second);
	check_verifies(&twice);
	ck_assert_uint_eq(twice.summary.base_chunks, once.nchunks);
	ck_assert_uint_le(twice.nchunks, once.nchunks);
	kvp_plan_release(&once);
	kvp_plan_release(&twice);
	kvp_geometry_release(&g);
}

START_TEST(planning_a_plan_again_never_gives_more_chunks)
{
	enum kvp_merge first, second;
	size_t i;

	for (first = KVP_MERGE_NONE; first <= KVP_MERGE_SPAN; first++)
		for (second = KVP_MERGE_NONE; second <= KVP_MERGE_SPAN;
		     second++) {
			for (i = 0; i < SHAPES; i++)
				check_planned_again(shapes[i], first, second);
			check_planned_again(published_dcp16, first, second);
		}
}
END_TEST

START_TEST(readers_are_the_real_importers_only)
{
	struct kvp_plan plan = plan_of("access={'imports':"
				       "[[],[0],[0,1],[]]}", KVP_MERGE_ROW);
	static const size_t readers[] = { 3, 2, 1, 1 };
	size_t i;

	for (i = 0; i < 4; i++) {
		ck_assert_uint_eq(plan.access[i].rank, i);
		ck_assert_uint_eq(plan.access[i].readers.count, readers[i]);
	}
	ck_assert_uint_eq(plan.access[0].readers.rank[1], 1);
	ck_assert_uint_eq(plan.access[0].readers.rank[2], 2);
	check_verifies(&plan);
	kvp_plan_release(&plan);
}
END_TEST

/* Per item and rank: 1, the group of 2, the node's 2 ranks. */
START_TEST(static_storage_counts_for_every_rank_of_a_node)
{
	struct kvp_plan plan = plan_of("snapshot_rows=0;execution_rows=0;"
		"ranks=8;ranks_per_node=4;static_entries=100;static=["
		"{'name':'a','bytes':1,'importers':'none'},"
		"{'name':'b','bytes':1,'importers':'group'},"
		"{'name':'c','bytes':1,'importers':'all'}]", KVP_MERGE_ROW);

	ck_assert_uint_eq(plan.summary.nper_node, 2);
	ck_assert_uint_eq(plan.summary.per_node[0],
			  4 * 6 + 4 * (1 + 2 + 4) + 100);
	ck_assert_uint_eq(plan.summary.per_node[1],
			  plan.summary.per_node[0]);
	check_verifies(&plan);
	kvp_plan_release(&plan);
}
END_TEST

static void add_shapes(TCase *tests)
{
	tcase_add_test(tests, the_same_geometry_gives_the_same_bytes);
	tcase_add_test(tests,
		       every_mode_saves_what_the_one_before_does_and_verifies);
	tcase_add_test(tests,
		       a_recorded_base_layout_plans_as_the_computed_one);
	tcase_add_test(tests, planning_a_plan_again_never_gives_more_chunks);
}

Suite *pack_suite(void)
{
	Suite *suite = suite_create("pack");
	TCase *tests = tcase_create("pack");

	tcase_add_test(tests,
		       the_published_layout_of_sixteen_readers_is_met);
	tcase_add_test(tests, the_published_layout_of_eight_readers_is_met);
	tcase_add_test(tests,
		       rows_that_do_not_fit_are_told_with_how_many_would);
	tcase_add_test(tests, as_many_rows_as_are_said_to_fit_do_fit);
	tcase_add_test(tests, no_row_fits_where_no_plane_may_be_aliased);
	tcase_add_test(tests, too_many_chunks_are_refused_before_any_is_laid);
	tcase_add_test(tests, a_geometry_without_rows_is_planned);
	tcase_add_test(tests, one_page_of_one_plane_is_planned);
	tcase_add_test(tests, one_plane_is_merged_row_by_row_and_across);
	tcase_add_test(tests, a_boundary_saves_one_chunk_in_mode_span);
	tcase_add_test(tests, readers_are_the_real_importers_only);
	tcase_add_test(tests, static_storage_counts_for_every_rank_of_a_node);
	add_shapes(tests);
	suite_add_tcase(suite, tests);
	return suite;
}
