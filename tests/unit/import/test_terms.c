/*
 * Lists of terms: what is printed is what is computed.
 */
#include <string.h>

#include <check.h>

#include <kvplan/geometry.h>

#include "import/terms.h"
#include "unit/unit.h"

static void check_terms(const struct term *terms, uint64_t expected,
			const char *text)
{
	struct strbuf b = { 0 };
	uint64_t value = 0;

	ck_assert(terms_evaluate(terms, &value));
	ck_assert_uint_eq(value, expected);
	terms_print(&b, terms);
	ck_assert(!b.failed);
	ck_assert_str_eq(b.text, text);
	strbuf_release(&b);
}

START_TEST(products_come_before_sums)
{
	check_terms(TERMS(NUMBER("", 2), TERM("+", "a", 3), TERM("x", "b", 4),
			  NUMBER("-", 5), EQUALS("B")),
		    9, "2 + a 3 x b 4 - 5 = 9 B");
}
END_TEST

START_TEST(parentheses_and_division_go_from_left_to_right)
{
	check_terms(TERMS(TERM("(", "kernel", 4), NUMBER("-", 1),
			  NUMBER(") x (", 10), NUMBER("+", 2),
			  TERM(") /", "TP", 5), EQUALS("elements\n")),
		    7, "(kernel 4 - 1) x (10 + 2) / TP 5 = 7 elements\n");
}
END_TEST

START_TEST(an_equals_goes_on_from_its_value)
{
	check_terms(TERMS(NUMBER("", 100), NUMBER("/", 8), EQUALS("slots"),
			  COUNT("x", 5, "B"), EQUALS("B"),
			  NUMBER(", rounded up to a multiple of", 64),
			  { "\n  =", NULL, 0, "B per page" }),
		    64, "100 / 8 = 12 slots x 5 B = 60 B, rounded up to a "
		    "multiple of 64\n  = 64 B per page");
}
END_TEST

START_TEST(a_share_is_1_at_least_and_a_ceiling_rounds_up)
{
	check_terms(TERMS(COUNT("max(1,", 8, "kv heads"), TERM("/", "TP", 16),
			  OP(") ="), COUNT("x", 3, "B"), EQUALS(NULL)),
		    3, "max(1, 8 kv heads / TP 16) = 1 x 3 B = 3");
	check_terms(TERMS(NUMBER("", 16), NUMBER("x ceil(", 33),
			  NUMBER("/ (", 2), NUMBER("x", 4), OP("))"),
			  EQUALS(NULL)),
		    80, "16 x ceil(33 / (2 x 4)) = 80");
}
END_TEST

START_TEST(appended_terms_go_on_with_the_list)
{
	struct term terms[TERMS_MAX + 1] = { COUNT("", 3, "layers"), OP("x"),
					     OP(NULL) };

	terms_append(terms, TERMS(NUMBER("(", 4), NUMBER("+", 5), OP(")")));
	terms_append(terms, TERMS(EQUALS("B")));
	check_terms(terms, 27, "3 layers x (4 + 5) = 27 B");
}
END_TEST

static void check_too_large(const struct term *terms)
{
	struct strbuf b = { 0 };
	uint64_t value;

	ck_assert(!terms_evaluate(terms, &value));
	terms_print(&b, terms);
	ck_assert_ptr_null(strchr(b.text, '='));
	strbuf_release(&b);
}

START_TEST(a_value_that_does_not_fit_is_not_printed)
{
	const uint64_t half = UINT64_C(1) << 32;

	check_too_large(TERMS(NUMBER("", half), NUMBER("x", half),
			      EQUALS("B")));
	check_too_large(TERMS(NUMBER("", half), NUMBER("x", half),
			      NUMBER("/", half), EQUALS("B")));
	check_too_large(TERMS(NUMBER("", KVP_NUMBER_MAX), NUMBER("+", 1),
			      EQUALS("B")));
	check_too_large(TERMS(NUMBER("", UINT64_MAX), NUMBER("+", 1),
			      NUMBER("/", 2), EQUALS("B")));
	check_terms(TERMS(NUMBER("", KVP_NUMBER_MAX), EQUALS("B")),
		    KVP_NUMBER_MAX, "9007199254740991 = 9007199254740991 B");
	/* Only what is printed has to be below 2^53. */
	check_terms(TERMS(NUMBER("", KVP_NUMBER_MAX), NUMBER("x", 8),
			  NUMBER("/", 8), EQUALS("B")), KVP_NUMBER_MAX,
		    "9007199254740991 x 8 / 8 = 9007199254740991 B");
}
END_TEST

Suite *terms_suite(void)
{
	Suite *suite = suite_create("terms");
	TCase *tests = tcase_create("terms");

	tcase_add_test(tests, products_come_before_sums);
	tcase_add_test(tests, parentheses_and_division_go_from_left_to_right);
	tcase_add_test(tests, an_equals_goes_on_from_its_value);
	tcase_add_test(tests,
		       a_share_is_1_at_least_and_a_ceiling_rounds_up);
	tcase_add_test(tests, appended_terms_go_on_with_the_list);
	tcase_add_test(tests, a_value_that_does_not_fit_is_not_printed);
	suite_add_tcase(suite, tests);
	return suite;
}
