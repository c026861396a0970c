/*
 * Checked arithmetic: right up to the last value, untouched beyond it.
 */
#include "base/u64.h"
#include "unit/unit.h"

#define MAX UINT64_MAX

typedef bool operation(uint64_t a, uint64_t b, uint64_t *out);

static void check_fits(operation *op, uint64_t a, uint64_t b, uint64_t result)
{
	uint64_t out = 12345;

	ck_assert(op(a, b, &out));
	ck_assert_uint_eq(out, result);
}

static void check_overflows(operation *op, uint64_t a, uint64_t b)
{
	uint64_t out = 12345;

	ck_assert(!op(a, b, &out));
	ck_assert_uint_eq(out, 12345);
}

START_TEST(adding_is_exact_or_refused)
{
	check_fits(u64_add, 0, 0, 0);
	check_fits(u64_add, MAX, 0, MAX);
	check_fits(u64_add, 0, MAX, MAX);
	check_fits(u64_add, MAX - 5, 5, MAX);
	check_overflows(u64_add, MAX, 1);
	check_overflows(u64_add, 1, MAX);
	check_overflows(u64_add, MAX - 5, 6);
	check_overflows(u64_add, MAX, MAX);
}
END_TEST

START_TEST(multiplying_is_exact_or_refused)
{
	const uint64_t half = UINT64_C(1) << 32;

	check_fits(u64_mul, 0, 0, 0);
	check_fits(u64_mul, MAX, 0, 0);
	check_fits(u64_mul, 0, MAX, 0);
	check_fits(u64_mul, MAX, 1, MAX);
	check_fits(u64_mul, 1, MAX, MAX);
	check_fits(u64_mul, half, half - 1, MAX - half + 1);
	check_fits(u64_mul, MAX / 3, 3, MAX);
	check_overflows(u64_mul, half, half);
	check_overflows(u64_mul, MAX / 3 + 1, 3);
	check_overflows(u64_mul, 2, MAX / 2 + 1);
	check_overflows(u64_mul, MAX, MAX);
}
END_TEST

START_TEST(rounding_up_is_exact_or_refused)
{
	check_fits(u64_round_up, 0, 4096, 0);
	check_fits(u64_round_up, 1, 4096, 4096);
	check_fits(u64_round_up, 4095, 4096, 4096);
	check_fits(u64_round_up, 4096, 4096, 4096);
	check_fits(u64_round_up, 4097, 4096, 8192);
	check_fits(u64_round_up, 10, 3, 12);
	check_fits(u64_round_up, MAX, 1, MAX);
	check_fits(u64_round_up, MAX, 5, MAX);
	check_fits(u64_round_up, MAX - 4095, 4096, MAX - 4095);
	check_overflows(u64_round_up, MAX - 4094, 4096);
	check_overflows(u64_round_up, MAX, 2);
}
END_TEST

START_TEST(dividing_rounds_up_without_overflow)
{
	ck_assert_uint_eq(u64_ceil_div(0, 7), 0);
	ck_assert_uint_eq(u64_ceil_div(1, 7), 1);
	ck_assert_uint_eq(u64_ceil_div(7, 7), 1);
	ck_assert_uint_eq(u64_ceil_div(8, 7), 2);
	ck_assert_uint_eq(u64_ceil_div(MAX, 1), MAX);
	ck_assert_uint_eq(u64_ceil_div(MAX, 2), MAX / 2 + 1);
	ck_assert_uint_eq(u64_ceil_div(MAX, MAX), 1);
	ck_assert_uint_eq(u64_ceil_div(1, MAX), 1);
}
END_TEST

START_TEST(the_smaller_and_the_larger_are_told_apart)
{
	ck_assert_uint_eq(u64_min(3, 5), 3);
	ck_assert_uint_eq(u64_min(5, 3), 3);
	ck_assert_uint_eq(u64_min(MAX, 0), 0);
	ck_assert_uint_eq(u64_max(3, 5), 5);
	ck_assert_uint_eq(u64_max(5, 3), 5);
	ck_assert_uint_eq(u64_max(MAX, 0), MAX);
}
END_TEST

Suite *u64_suite(void)
{
	Suite *suite = suite_create("u64");
	TCase *tests = tcase_create("u64");

	tcase_add_test(tests, adding_is_exact_or_refused);
	tcase_add_test(tests, multiplying_is_exact_or_refused);
	tcase_add_test(tests, rounding_up_is_exact_or_refused);
	tcase_add_test(tests, dividing_rounds_up_without_overflow);
	tcase_add_test(tests, the_smaller_and_the_larger_are_told_apart);
	suite_add_tcase(suite, tests);
	return suite;
}
