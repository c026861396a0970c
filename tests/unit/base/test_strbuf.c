/*
 * The growing text.
 */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "unit/unit.h"

static void check_detached(struct strbuf *b, const char *text)
{
	char *out;
	size_t len;

	ck_assert_int_eq(strbuf_detach(b, &out, &len, NULL), KVP_OK);
	ck_assert_str_eq(out, text);
	ck_assert_uint_eq(len, strlen(text));
	free(out);
	ck_assert_ptr_null(b->text);
	ck_assert_uint_eq(b->len, 0);
	ck_assert_uint_eq(b->room, 0);
}

START_TEST(an_empty_buffer_detaches_as_the_empty_text)
{
	struct strbuf b = { 0 };

	check_detached(&b, "");
}
END_TEST

START_TEST(parts_follow_each_other)
{
	struct strbuf b = { 0 };

	strbuf_str(&b, "a");
	strbuf_add(&b, "bcd", 2);
	strbuf_str(&b, "");
	strbuf_printf(&b, "%d<%s|%d>", 42, "x", -1);
	check_detached(&b, "abc42<x|-1>");
}
END_TEST

START_TEST(a_buffer_may_be_used_again_after_detaching)
{
	struct strbuf b = { 0 };

	strbuf_str(&b, "first");
	check_detached(&b, "first");
	strbuf_str(&b, "second");
	check_detached(&b, "second");
}
END_TEST

/* Around every growth the text has to stay whole and terminated. */
START_TEST(growing_keeps_the_text)
{
	static char expected[5001];
	struct strbuf b = { 0 };
	size_t i;

	for (i = 0; i < 5000; i++) {
		expected[i] = (char)('a' + i % 26);
		if (i % 3)
			strbuf_add(&b, &expected[i], 1);
		else
			strbuf_printf(&b, "%c", expected[i]);
		ck_assert(b.len < b.room);
		ck_assert_int_eq(b.text[b.len], '\0');
	}
	check_detached(&b, expected);
}
END_TEST

START_TEST(one_long_part_grows_more_than_once)
{
	static char text[100001];
	struct strbuf b = { 0 };

	memset(text, 'z', sizeof(text) - 1);
	strbuf_printf(&b, "%s", text);
	check_detached(&b, text);
}
END_TEST

START_TEST(bytes_with_zeros_are_kept)
{
	struct strbuf b = { 0 };
	char *out;
	size_t len;

	strbuf_add(&b, "a\0b", 3);
	ck_assert_int_eq(strbuf_detach(&b, &out, &len, NULL), KVP_OK);
	ck_assert_uint_eq(len, 3);
	ck_assert_mem_eq(out, "a\0b", 4);
	free(out);
}
END_TEST

START_TEST(broken_utf8_is_written_as_question_marks)
{
	struct strbuf b = { 0 };

	strbuf_str(&b, "kept\n");
	strbuf_line(&b, "a\nb\xff\xc3\xa4");
	strbuf_line(&b, "");
	check_detached(&b, "kept\na?b?\xc3\xa4");
}
END_TEST

START_TEST(releasing_twice_is_safe)
{
	struct strbuf b = { 0 };

	strbuf_str(&b, "text");
	strbuf_release(&b);
	ck_assert_ptr_null(b.text);
	strbuf_release(&b);
}
END_TEST

START_TEST(a_failed_buffer_stays_failed_until_detached)
{
	struct strbuf b = { .failed = true };
	struct kvp_error err = { 0 };
	char *out = (char *)&b;
	size_t len = 7;

	strbuf_str(&b, "text");
	strbuf_printf(&b, "%d", 1);
	ck_assert_ptr_null(strbuf_room(&b, 1));
	ck_assert_int_eq(strbuf_detach(&b, &out, &len, &err), KVP_ENOMEM);
	ck_assert_int_eq(err.code, KVP_ENOMEM);
	ck_assert_ptr_null(out);
	ck_assert_uint_eq(len, 0);
	strbuf_str(&b, "again");
	check_detached(&b, "again");
}
END_TEST

Suite *strbuf_suite(void)
{
	Suite *suite = suite_create("strbuf");
	TCase *tests = tcase_create("strbuf");

	tcase_add_test(tests, an_empty_buffer_detaches_as_the_empty_text);
	tcase_add_test(tests, parts_follow_each_other);
	tcase_add_test(tests, a_buffer_may_be_used_again_after_detaching);
	tcase_add_test(tests, growing_keeps_the_text);
	tcase_add_test(tests, one_long_part_grows_more_than_once);
	tcase_add_test(tests, bytes_with_zeros_are_kept);
	tcase_add_test(tests, broken_utf8_is_written_as_question_marks);
	tcase_add_test(tests, releasing_twice_is_safe);
	tcase_add_test(tests, a_failed_buffer_stays_failed_until_detached);
	suite_add_tcase(suite, tests);
	return suite;
}
