/*
 * The writer of JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "unit/unit.h"

static void check_written(struct json_out *w, const char *text)
{
	char *out;
	size_t len;

	ck_assert_int_eq(strbuf_detach(&w->text, &out, &len, NULL), KVP_OK);
	ck_assert_str_eq(out, text);
	ck_assert_uint_eq(len, strlen(text));
	free(out);
}

/* One member, and one object in a list: the layout is that of both. */
static void put_both(struct json_out *w, enum json_layout layout)
{
	json_put_object(w, NULL, layout);
	json_put_u64(w, "a", 1);
	json_put_list(w, "b", layout);
	json_put_bool(w, NULL, true);
	json_put_null(w, NULL);
	json_put_end(w);
	json_put_object(w, "c", layout);
	json_put_end(w);
	json_put_end(w);
}

START_TEST(commas_stand_between_elements_only)
{
	struct json_out w = { .depth = 0 };

	put_both(&w, JSON_INLINE);
	check_written(&w, "{\"a\":1,\"b\":[true,null],\"c\":{}}\n");
}
END_TEST

START_TEST(lines_begin_before_elements_and_the_end)
{
	struct json_out w = { .depth = 0 };

	put_both(&w, JSON_LINES);
	check_written(&w, "{\n\"a\":1,\n\"b\":[\ntrue,\nnull\n],\n\"c\":{}\n}\n");
}
END_TEST

START_TEST(the_first_element_may_hang_beside_the_bracket)
{
	struct json_out w = { .depth = 0 };

	put_both(&w, JSON_HANGING);
	check_written(&w, "{\"a\":1,\n\"b\":[true,\nnull\n],\n\"c\":{}\n}\n");
}
END_TEST

START_TEST(blanks_and_indents_are_for_people)
{
	struct json_out w = { .spaced = true };

	json_put_object(&w, NULL, JSON_LINES);
	json_put_u64(&w, "a", 1);
	json_put_list(&w, "b", JSON_LINES);
	json_put_object(&w, NULL, JSON_INLINE);
	json_put_u64(&w, "c", 2);
	json_put_text(&w, "d", "e");
	json_put_end(&w);
	json_put_end(&w);
	json_put_end(&w);
	check_written(&w, "{\n  \"a\": 1,\n  \"b\": [\n"
		      "    {\"c\": 2, \"d\": \"e\"}\n  ]\n}\n");
}
END_TEST

START_TEST(a_line_feed_asked_for_comes_once)
{
	struct json_out w = { .depth = 0 };

	json_put_list(&w, NULL, JSON_INLINE);
	json_put_u64(&w, NULL, 1);
	json_put_newline(&w);
	json_put_u64(&w, NULL, 2);
	json_put_u64(&w, NULL, 3);
	json_put_newline(&w);
	json_put_end(&w);
	check_written(&w, "[1,\n2,3\n]\n");
}
END_TEST

START_TEST(documents_follow_each_other_on_lines_of_their_own)
{
	struct json_out w = { .depth = 0 };

	json_put_list(&w, NULL, JSON_INLINE);
	json_put_end(&w);
	json_put_u64(&w, NULL, 7);
	check_written(&w, "[]\n7\n");
}
END_TEST

START_TEST(numbers_are_written_in_full)
{
	static const uint64_t numbers[] = { 0, 10, UINT64_MAX };
	static const uint32_t ranks[] = { 0, UINT32_MAX };
	struct json_out w = { .depth = 0 };

	json_put_list(&w, NULL, JSON_INLINE);
	json_put_u64s(&w, NULL, numbers, 3);
	json_put_u32s(&w, NULL, ranks, 2);
	json_put_u64s(&w, NULL, NULL, 0);
	json_put_u64_or_null(&w, NULL, true, 0);
	json_put_u64_or_null(&w, NULL, false, 5);
	json_put_end(&w);
	check_written(&w, "[[0,10,18446744073709551615],[0,4294967295],[],"
		      "0,null]\n");
}
END_TEST

static void check_text(const char *text, const char *expected)
{
	struct json_out w = { .depth = 0 };
	char line[64];

	snprintf(line, sizeof(line), "%s\n", expected);
	json_put_text(&w, NULL, text);
	check_written(&w, line);
}

START_TEST(texts_are_quoted_and_escaped)
{
	check_text(NULL, "null");
	check_text("", "\"\"");
	check_text("plain / text", "\"plain / text\"");
	check_text("\"\\\"", "\"\\\"\\\\\\\"\"");
	check_text("\n\t\x01\x1f", "\"\\u000a\\u0009\\u0001\\u001f\"");
	check_text("\x7f", "\"\x7f\"");
	check_text("\xc3\xa4\xf0\x9f\x98\x80", "\"\xc3\xa4\xf0\x9f\x98\x80\"");
	check_text("a\xff\xc3\xa4\xc3", "\"a?\xc3\xa4?\"");
}
END_TEST

/* A name and a value of any length fit, however full the text is. */
START_TEST(growing_keeps_the_text)
{
	static char name[400], text[2500], expected[3000];
	struct json_out w;
	size_t n;

	for (n = 0; n < sizeof(name); n++) {
		w = (struct json_out){ .spaced = n & 1 };
		memset(name, 'n', n);
		name[n] = '\0';
		memset(text, '\x01', n);
		text[n] = '\0';
		json_put_object(&w, NULL, JSON_INLINE);
		json_put_text(&w, name, text);
		json_put_end(&w);
		snprintf(expected, sizeof(expected), "{\"%s\":%s\"", name,
			 n & 1 ? " " : "");
		while (strlen(expected) < n * 7 + 5 + (n & 1))
			strcat(expected, "\\u0001");
		strcat(expected, "\"}\n");
		check_written(&w, expected);
	}
}
END_TEST

START_TEST(a_failed_writer_stays_failed)
{
	struct json_out w = { .text = { .failed = true } };
	char *out = (char *)&w;
	size_t len = 7;

	put_both(&w, JSON_LINES);
	json_put_text(&w, NULL, "x");
	ck_assert_int_eq(strbuf_detach(&w.text, &out, &len, NULL),
			 KVP_ENOMEM);
	ck_assert_ptr_null(out);
	ck_assert_uint_eq(len, 0);
}
END_TEST

Suite *json_out_suite(void)
{
	Suite *suite = suite_create("json_out");
	TCase *tests = tcase_create("json_out");

	tcase_add_test(tests, commas_stand_between_elements_only);
	tcase_add_test(tests, lines_begin_before_elements_and_the_end);
	tcase_add_test(tests, the_first_element_may_hang_beside_the_bracket);
	tcase_add_test(tests, blanks_and_indents_are_for_people);
	tcase_add_test(tests, a_line_feed_asked_for_comes_once);
	tcase_add_test(tests, documents_follow_each_other_on_lines_of_their_own);
	tcase_add_test(tests, numbers_are_written_in_full);
	tcase_add_test(tests, texts_are_quoted_and_escaped);
	tcase_add_test(tests, growing_keeps_the_text);
	tcase_add_test(tests, a_failed_writer_stays_failed);
	suite_add_tcase(suite, tests);
	return suite;
}
