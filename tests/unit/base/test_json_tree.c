/*
 * Whole documents, built as trees.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_tree.h"
#include "unit/unit.h"

static void check_finished(struct json_tree *t, const char *text)
{
	struct json_tree empty = { .root = NULL };
	char *out;
	size_t len;

	ck_assert_int_eq(json_tree_finish(t, &out, &len, NULL), KVP_OK);
	ck_assert_str_eq(out, text);
	ck_assert_uint_eq(len, strlen(text));
	free(out);
	ck_assert_mem_eq(t, &empty, sizeof(empty));
}

static void check_number(uint64_t number, const char *digits)
{
	struct json_tree t = { .root = NULL };
	char text[80];

	snprintf(text, sizeof(text), "[%s,[%s]]\n", digits, digits);
	json_tree_list(&t, NULL, JSON_INLINE);
	json_tree_u64(&t, NULL, number);
	json_tree_u64s(&t, NULL, &number, 1);
	json_tree_end(&t);
	check_finished(&t, text);
}

/* cJSON's own numbers are doubles, and it prints fewer digits than it has. */
START_TEST(every_digit_of_a_number_is_kept)
{
	check_number(0, "0");
	check_number(UINT64_C(1000000000000000), "1000000000000000");
	check_number((UINT64_C(1) << 52) + 3, "4503599627370499");
	check_number((UINT64_C(1) << 53) - 1, "9007199254740991");
	check_number((UINT64_C(1) << 53) + 1, "9007199254740993");
	check_number(UINT64_MAX, "18446744073709551615");
}
END_TEST

START_TEST(every_kind_of_value_has_its_place)
{
	static const uint32_t ranks[] = { 3, 1 };
	struct json_tree t = { .root = NULL };

	json_tree_object(&t, NULL, JSON_LINES);
	json_tree_text(&t, "text", "a \"b\"\n\xff");
	json_tree_text(&t, "none", NULL);
	json_tree_u64_or_null(&t, "known", true, 5);
	json_tree_u64_or_null(&t, "unknown", false, 5);
	json_tree_list(&t, "list", JSON_LINES);
	json_tree_object(&t, NULL, JSON_INLINE);
	json_tree_bool(&t, "yes", true);
	json_tree_bool(&t, "no", false);
	json_tree_end(&t);
	json_tree_u32s(&t, NULL, ranks, 2);
	json_tree_u32s(&t, NULL, ranks, 0);
	json_tree_end(&t);
	json_tree_object(&t, "empty", JSON_LINES);
	json_tree_end(&t);
	json_tree_null(&t, "null");
	json_tree_end(&t);
	check_finished(&t, "{\n\"text\":\"a \\\"b\\\"\\u000a?\",\n"
		       "\"none\":null,\n\"known\":5,\n\"unknown\":null,\n"
		       "\"list\":[\n{\"yes\":true,\"no\":false},\n[3,1],\n"
		       "[]\n],\n\"empty\":{},\n\"null\":null\n}\n");
}
END_TEST

START_TEST(members_go_into_what_a_writer_has_open)
{
	struct json_tree t = { .root = NULL };
	struct json_out w = { .depth = 0 };

	json_tree_object(&t, NULL, JSON_INLINE);
	json_tree_u64(&t, "b", 2);
	json_tree_list(&t, "c", JSON_INLINE);
	json_tree_end(&t);
	json_tree_end(&t);
	json_put_object(&w, NULL, JSON_INLINE);
	json_put_u64(&w, "a", 1);
	json_tree_members(&t, &w);
	json_put_u64(&w, "d", 4);
	json_put_end(&w);
	ck_assert_ptr_null(t.root);
	ck_assert_str_eq(w.text.text, "{\"a\":1,\"b\":2,\"c\":[],\"d\":4}\n");
	strbuf_release(&w.text);
}
END_TEST

START_TEST(a_failed_tree_stays_failed_until_finished)
{
	struct json_tree t = { .failed = true };
	struct kvp_error err = { 0 };
	struct json_out w = { .depth = 0 };
	char *out = (char *)&t;
	size_t len = 7;

	json_tree_object(&t, NULL, JSON_LINES);
	json_tree_u64(&t, "a", 1);
	json_tree_u64s(&t, "b", NULL, 0);
	json_tree_text(&t, "c", "d");
	json_tree_end(&t);
	ck_assert_ptr_null(t.root);
	ck_assert_int_eq(json_tree_finish(&t, &out, &len, &err), KVP_ENOMEM);
	ck_assert_int_eq(err.code, KVP_ENOMEM);
	ck_assert_ptr_null(out);
	ck_assert_uint_eq(len, 0);
	ck_assert(!t.failed);
	t.failed = true;
	json_tree_members(&t, &w);
	ck_assert(w.text.failed);
}
END_TEST

Suite *json_tree_suite(void)
{
	Suite *suite = suite_create("json_tree");
	TCase *tests = tcase_create("json_tree");

	tcase_add_test(tests, every_digit_of_a_number_is_kept);
	tcase_add_test(tests, every_kind_of_value_has_its_place);
	tcase_add_test(tests, members_go_into_what_a_writer_has_open);
	tcase_add_test(tests, a_failed_tree_stays_failed_until_finished);
	suite_add_tcase(suite, tests);
	return suite;
}
