/*
 * A geometry that is still to be sized: what may be missing, what it keeps,
 * and who does not take it.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

static int read_unsized(struct kvp_geometry *g, const char *changes,
			struct kvp_error *err)
{
	char *text = geometry_text(changes);
	int code = kvp_geometry_read_unsized(g, "g", text, strlen(text), err);

	free(text);
	return code;
}

static struct kvp_geometry unsized(const char *changes)
{
	struct kvp_geometry g;
	struct kvp_error err = { 0 };
	int code = read_unsized(&g, changes, &err);

	ck_assert_msg(!code, "%s: %s", changes, err.text);
	return g;
}

START_TEST(pages_and_snapshot_rows_may_be_missing)
{
	struct kvp_geometry g = unsized("pages=;snapshot_rows=");

	ck_assert_uint_eq(g.pages, 0);
	ck_assert(g.snapshot_rows == KVP_UNSTATED);
	kvp_geometry_release(&g);
	g = unsized("pages=7;snapshot_rows=0");
	ck_assert_uint_eq(g.pages, 7);
	ck_assert_uint_eq(g.snapshot_rows, 0);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(rows_keep_their_bytes_before_there_are_any)
{
	struct kvp_geometry g = unsized("pages=;snapshot_rows=;"
		"execution_rows=0;row_bytes=12345;row_stride=16384");

	ck_assert_uint_eq(g.row_bytes, 12345);
	ck_assert_uint_eq(g.row_stride, 16384);
	kvp_geometry_release(&g);
	g = unsized("pages=;snapshot_rows=;execution_rows=0;row_bytes=;"
		    "row_stride=");
	ck_assert_uint_eq(g.row_bytes, 0);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(it_is_written_without_them_and_read_again)
{
	struct kvp_geometry g = unsized("pages=;snapshot_rows="), again;
	char *text, *same;
	size_t len, again_len;

	ck_assert_int_eq(kvp_geometry_write(&g, &text, &len, NULL), KVP_OK);
	ck_assert_ptr_null(strstr(text, "\"pages\""));
	ck_assert_ptr_null(strstr(text, "snapshot_rows"));
	ck_assert_int_eq(kvp_geometry_read_unsized(&again, "g", text, len,
						   NULL), KVP_OK);
	ck_assert_uint_eq(kvp_geometry_compare(&g, &again, NULL, NULL), 0);
	ck_assert_int_eq(kvp_geometry_write(&again, &same, &again_len, NULL),
			 KVP_OK);
	ck_assert_str_eq(text, same);
	free(text);
	free(same);
	kvp_geometry_release(&g);
	kvp_geometry_release(&again);
}
END_TEST

START_TEST(it_is_not_planned)
{
	static const char *const changes[] = {
		"pages=", "snapshot_rows=", "pages=;snapshot_rows=",
	};
	struct kvp_geometry g;
	struct kvp_plan plan;
	size_t i;

	for (i = 0; i < 3; i++) {
		g = unsized(changes[i]);
		ck_assert_int_eq(kvp_plan_make(&plan, &g, KVP_MERGE_ROW,
					       NULL), KVP_EINPUT);
		ck_assert_ptr_null(plan.chunks);
		kvp_geometry_release(&g);
	}
}
END_TEST

START_TEST(wrong_values_are_refused_all_the_same)
{
	static const char *const bad[] = {
		"pages=0", "pages=-1", "pages='1'", "snapshot_rows=1.5",
		"snapshot_rows=2097153", "pages=;ranks=0",
		"pages=;base_chunks=[]", "snapshot_rows=;base_chunks=[]",
		"pages=;execution_rows=1;row_bytes=",
	};
	struct kvp_geometry g;
	struct kvp_error err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err = (struct kvp_error){ 0 };
		ck_assert_msg(read_unsized(&g, bad[i], &err) != KVP_OK, "%s",
			      bad[i]);
		ck_assert_ptr_null(g.planes);
	}
}
END_TEST

START_TEST(what_is_stated_and_what_is_not_differ)
{
	struct kvp_geometry a = unsized("pages=;snapshot_rows=");
	struct kvp_geometry b = unsized("snapshot_rows="), c = unsized("");

	ck_assert_uint_eq(kvp_geometry_compare(&a, &b, NULL, NULL), 1);
	ck_assert_uint_eq(kvp_geometry_compare(&a, &c, NULL, NULL), 2);
	kvp_geometry_release(&a);
	kvp_geometry_release(&b);
	kvp_geometry_release(&c);
}
END_TEST

Suite *unsized_suite(void)
{
	Suite *suite = suite_create("unsized");
	TCase *tests = tcase_create("unsized");

	tcase_add_test(tests, pages_and_snapshot_rows_may_be_missing);
	tcase_add_test(tests, rows_keep_their_bytes_before_there_are_any);
	tcase_add_test(tests, it_is_written_without_them_and_read_again);
	tcase_add_test(tests, it_is_not_planned);
	tcase_add_test(tests, wrong_values_are_refused_all_the_same);
	tcase_add_test(tests, what_is_stated_and_what_is_not_differ);
	suite_add_tcase(suite, tests);
	return suite;
}
