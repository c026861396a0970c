/*
 * Errors as values: code and text, context in front, never past the buffer;
 * and lists in them.
 */
#include <string.h>

#include "base/error.h"
#include "base/text_list.h"
#include "unit/unit.h"

/* An error followed by bytes that nobody may touch. */
struct guarded {
	struct kvp_error err;
	char guard[8];
};

static const char guard[8] = "guarded";

static struct guarded guarded_error(void)
{
	struct guarded g;

	memset(&g.err, 'x', sizeof(g.err));
	memcpy(g.guard, guard, sizeof(guard));
	return g;
}

static void check_cut(const struct guarded *g)
{
	ck_assert_ptr_nonnull(memchr(g->err.text, '\0', KVP_ERROR_MAX));
	ck_assert_uint_eq(strlen(g->err.text), KVP_ERROR_MAX - 1);
	ck_assert_str_eq(g->err.text + KVP_ERROR_MAX - 4, "...");
	ck_assert_mem_eq(g->guard, guard, sizeof(guard));
}

START_TEST(setting_fills_in_code_and_text)
{
	struct kvp_error err;

	ck_assert_int_eq(kvp_error_set(&err, KVP_EINPUT, "%s is %d", "x", 3),
			 KVP_EINPUT);
	ck_assert_int_eq(err.code, KVP_EINPUT);
	ck_assert_str_eq(err.text, "x is 3");
}
END_TEST

START_TEST(no_error_struct_still_gives_the_code)
{
	ck_assert_int_eq(kvp_error_set(NULL, KVP_EIO, "%d", 1), KVP_EIO);
	ck_assert_int_eq(kvp_error_wrap(NULL, KVP_ELIMIT, "%d", 1),
			 KVP_ELIMIT);
	ck_assert_int_eq(kvp_error_nomem(NULL), KVP_ENOMEM);
}
END_TEST

START_TEST(out_of_memory_has_one_text)
{
	struct kvp_error err;

	ck_assert_int_eq(kvp_error_nomem(&err), KVP_ENOMEM);
	ck_assert_int_eq(err.code, KVP_ENOMEM);
	ck_assert_str_eq(err.text, "out of memory");
}
END_TEST

START_TEST(wrapping_puts_context_in_front_and_keeps_the_code)
{
	struct kvp_error err;

	kvp_error_set(&err, KVP_EIO, "no such file");
	ck_assert_int_eq(kvp_error_wrap(&err, err.code, "reading %s", "a"),
			 KVP_EIO);
	kvp_error_wrap(&err, err.code, "100 %% of %d", 7);
	ck_assert_int_eq(err.code, KVP_EIO);
	ck_assert_str_eq(err.text, "100 % of 7: reading a: no such file");
}
END_TEST

START_TEST(a_percent_sign_in_a_wrapped_text_is_text)
{
	struct kvp_error err;

	kvp_error_set(&err, KVP_EIO, "%s", "%s%n%d");
	kvp_error_wrap(&err, err.code, "in");
	ck_assert_str_eq(err.text, "in: %s%n%d");
}
END_TEST

START_TEST(a_long_text_is_cut_within_the_buffer_and_says_so)
{
	struct guarded g = guarded_error();
	char text[KVP_ERROR_MAX + 100];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	kvp_error_set(&g.err, KVP_EINPUT, "%s", text);
	check_cut(&g);
	kvp_error_wrap(&g.err, g.err.code, "front");
	check_cut(&g);
	ck_assert_int_eq(strncmp(g.err.text, "front: aaaa", 11), 0);
	kvp_error_wrap(&g.err, g.err.code, "%s", text);
	check_cut(&g);
	ck_assert_int_eq(g.err.text[KVP_ERROR_MAX - 5], 'a');
}
END_TEST

START_TEST(a_context_that_just_fits_is_whole)
{
	struct guarded g = guarded_error();
	char text[KVP_ERROR_MAX];
	size_t len;

	/* "context: t" in a full buffer, and longer. */
	for (len = KVP_ERROR_MAX - 5; len < KVP_ERROR_MAX; len++) {
		memset(text, 'c', len);
		text[len] = '\0';
		kvp_error_set(&g.err, KVP_EINPUT, "t");
		kvp_error_wrap(&g.err, g.err.code, "%s", text);
		ck_assert_int_eq(strncmp(g.err.text, text,
					 KVP_ERROR_MAX - 5), 0);
		if (len > KVP_ERROR_MAX - 4) {
			check_cut(&g);
			continue;
		}
		ck_assert_str_eq(g.err.text + len, ": t");
		ck_assert_mem_eq(g.guard, guard, sizeof(guard));
	}
}
END_TEST

START_TEST(every_code_has_its_name)
{
	static const struct {
		int code;
		const char *name;
	} codes[] = {
		{ KVP_OK, "KVP_OK" }, { KVP_ESYNTAX, "KVP_ESYNTAX" },
		{ KVP_EINPUT, "KVP_EINPUT" }, { KVP_ELIMIT, "KVP_ELIMIT" },
		{ KVP_EINFEASIBLE, "KVP_EINFEASIBLE" },
		{ KVP_ENOMEM, "KVP_ENOMEM" }, { KVP_EIO, "KVP_EIO" },
		{ KVP_EREFUSED, "KVP_EREFUSED" }, { KVP_ESTUCK, "KVP_ESTUCK" },
		{ KVP_EBUG, "KVP_EBUG" }, { 1, "KVP_?" }, { -1, "KVP_?" },
		{ -1000, "KVP_?" },
	};
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		ck_assert_str_eq(kvp_code_name(codes[i].code), codes[i].name);
}
END_TEST

START_TEST(every_code_has_its_exit_status)
{
	ck_assert_int_eq(kvp_exit_status(KVP_OK), 0);
	ck_assert_int_eq(kvp_exit_status(KVP_EINFEASIBLE), 1);
	ck_assert_int_eq(kvp_exit_status(KVP_EREFUSED), 1);
	ck_assert_int_eq(kvp_exit_status(KVP_ESYNTAX), 2);
	ck_assert_int_eq(kvp_exit_status(KVP_EINPUT), 2);
	ck_assert_int_eq(kvp_exit_status(KVP_ELIMIT), 2);
	ck_assert_int_eq(kvp_exit_status(KVP_ENOMEM), 3);
	ck_assert_int_eq(kvp_exit_status(KVP_EIO), 3);
	ck_assert_int_eq(kvp_exit_status(KVP_EDRIVER), 3);
	ck_assert_int_eq(kvp_exit_status(KVP_EBUG), 3);
	ck_assert_int_eq(kvp_exit_status(KVP_ESTUCK), 4);
}
END_TEST

START_TEST(a_text_stays_one_line_of_valid_utf8)
{
	struct kvp_error err;

	kvp_error_set(&err, KVP_EIO, "%s", "a\nb\x7f\xc3\xa4\xc3\xff\xc2\x80");
	ck_assert_str_eq(err.text, "a?b?\xc3\xa4????");
	kvp_error_wrap(&err, err.code, "%s", "x\ty");
	ck_assert_str_eq(err.text, "x?y: a?b?\xc3\xa4????");
}
END_TEST

/* Two bytes to a character, and an odd number of bytes before the dots. */
START_TEST(a_cut_leaves_no_half_character)
{
	char text[2 * KVP_ERROR_MAX];
	struct kvp_error err;
	size_t i;

	for (i = 0; i < KVP_ERROR_MAX - 1; i++)
		memcpy(text + 2 * i, "\xc3\xa4", 2);
	text[2 * i] = '\0';
	kvp_error_set(&err, KVP_EIO, "x%s", text);
	ck_assert_uint_eq(strlen(err.text), KVP_ERROR_MAX - 1);
	ck_assert_str_eq(err.text + KVP_ERROR_MAX - 5, "?...");
	ck_assert_int_eq(strncmp(err.text + 1, text, KVP_ERROR_MAX - 6), 0);
}
END_TEST

/* "a, b and 3 more" in as little room as there may be. */
START_TEST(a_list_says_how_many_more_there_are)
{
	char text[TEXT_LIST_ROOM + 8];
	struct text_list list;
	unsigned i, shown;

	for (i = 0; i < 4; i++) {
		memset(text, 'x', sizeof(text));
		text_list_begin(&list, text, TEXT_LIST_ROOM, ", ");
		for (shown = 0; shown < i; shown++)
			text_list_add(&list, 1, "item %u", shown);
		text_list_end(&list);
		ck_assert_str_eq(text, i == 0 ? "" : i == 1 ? "item 0" :
				 i == 2 ? "item 0, item 1" :
				 "item 0, item 1, item 2");
	}
	text_list_begin(&list, text, TEXT_LIST_ROOM, ", ");
	for (i = 0; i < 32; i++)
		text_list_add(&list, 1, "item %u", i);
	text_list_end(&list);
	ck_assert_str_eq(text, "item 0, item 1, item 2, item 3 and 28 more");
	for (i = TEXT_LIST_ROOM; i < sizeof(text); i++)
		ck_assert_int_eq(text[i], 'x');
}
END_TEST

/* What is left out is counted by what it stands for, also a short one. */
START_TEST(a_list_counts_what_its_items_stand_for)
{
	char text[TEXT_LIST_ROOM];
	struct text_list list;

	text_list_begin(&list, text, sizeof(text), ",");
	text_list_add(&list, 3, "0-2");
	text_list_add(&list, 40, "%060d", 1);
	text_list_add(&list, UINT32_MAX, "7");
	text_list_end(&list);
	ck_assert_str_eq(text, "0-2 and 4294967335 more");
	text_list_begin(&list, text, sizeof(text), ",");
	text_list_add(&list, UINT64_MAX, "%060d", 1);
	text_list_end(&list);
	ck_assert_str_eq(text, "18446744073709551615 more");
}
END_TEST

START_TEST(recoding_changes_the_code_alone)
{
	struct kvp_error err = { 0 };

	kvp_error_set(&err, KVP_EBUSY, "page 3 is owned");
	ck_assert_int_eq(kvp_error_recode(&err, KVP_EFAILED), KVP_EFAILED);
	ck_assert_int_eq(err.code, KVP_EFAILED);
	ck_assert_str_eq(err.text, "page 3 is owned");
	ck_assert_int_eq(kvp_error_recode(NULL, KVP_EIO), KVP_EIO);
}
END_TEST

Suite *error_suite(void)
{
	Suite *suite = suite_create("error");
	TCase *tests = tcase_create("error");

	tcase_add_test(tests, setting_fills_in_code_and_text);
	tcase_add_test(tests, no_error_struct_still_gives_the_code);
	tcase_add_test(tests, out_of_memory_has_one_text);
	tcase_add_test(tests,
		       wrapping_puts_context_in_front_and_keeps_the_code);
	tcase_add_test(tests, a_percent_sign_in_a_wrapped_text_is_text);
	tcase_add_test(tests,
		       a_long_text_is_cut_within_the_buffer_and_says_so);
	tcase_add_test(tests, a_context_that_just_fits_is_whole);
	tcase_add_test(tests, recoding_changes_the_code_alone);
	tcase_add_test(tests, every_code_has_its_name);
	tcase_add_test(tests, every_code_has_its_exit_status);
	tcase_add_test(tests, a_text_stays_one_line_of_valid_utf8);
	tcase_add_test(tests, a_cut_leaves_no_half_character);
	tcase_add_test(tests, a_list_says_how_many_more_there_are);
	tcase_add_test(tests, a_list_counts_what_its_items_stand_for);
	suite_add_tcase(suite, tests);
	return suite;
}
