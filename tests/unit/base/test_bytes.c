/*
 * Sizes as people write them, on a command line.
 */
#include "base/bytes.h"
#include "unit/unit.h"

static void check_loose(const char *text, uint64_t bytes)
{
	uint64_t out = 4711;

	ck_assert_msg(bytes_parse_loose(text, &out) == KVP_OK, "%s", text);
	ck_assert_msg(out == bytes, "%s is %llu, expected %llu", text,
		      (unsigned long long)out, (unsigned long long)bytes);
}

START_TEST(a_size_may_have_decimals_a_short_unit_or_none)
{
	check_loose("0", 0);
	check_loose("262MiB", 262u << 20);
	check_loose("262 MiB", 262u << 20);
	check_loose("1K", 1024);
	check_loose("1G", 1u << 30);
	check_loose("2T", UINT64_C(2) << 40);
	check_loose("7B", 7);
	check_loose("12.8MiB", 13421772);
	check_loose("0.000001 TiB", 1099511);
	check_loose("1.999999KiB", 2047);
	check_loose("9007199254740991", 9007199254740991);
	check_loose("8191.999999TiB", 9007199253641480);
}
END_TEST

START_TEST(what_is_no_size_is_refused)
{
	static const char *const bad[] = {
		"", " ", "x", "-1", "+1", ".5", "1.", "1.M", "1..2M", "1e3",
		"1GB", "1g", "1gib", "1  G", " 1G", "1G ", "1.1234567G",
		"1 B B", "0x10", "1,5G", "0.9", "1.0", "2.5B",
	};
	uint64_t out = 4711;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_msg(bytes_parse_loose(bad[i], &out) == KVP_EINPUT,
			      "'%s'", bad[i]);
		ck_assert_uint_eq(out, 4711);
	}
}
END_TEST

START_TEST(a_size_beyond_2_to_the_53_is_refused)
{
	static const char *const big[] = {
		"9007199254740992", "8192TiB", "8192T", "8191.9999999999TiB",
		"99999999999999999999999999999999G", "9007199254740991K",
		"18446744073709551616",
	};
	uint64_t out = 4711;
	size_t i;

	for (i = 0; i < sizeof(big) / sizeof(*big); i++) {
		ck_assert_msg(bytes_parse_loose(big[i], &out) != KVP_OK,
			      "'%s'", big[i]);
		ck_assert_uint_eq(out, 4711);
	}
	ck_assert_int_eq(bytes_parse_loose("8192TiB", &out), KVP_ELIMIT);
}
END_TEST

START_TEST(a_size_in_json_has_neither_decimals_nor_short_units)
{
	uint64_t out;

	ck_assert_int_eq(bytes_parse("2 MiB", &out), KVP_OK);
	ck_assert_uint_eq(out, 2097152);
	ck_assert_int_eq(bytes_parse("2", &out), KVP_EINPUT);
	ck_assert_int_eq(bytes_parse("2M", &out), KVP_EINPUT);
	ck_assert_int_eq(bytes_parse("2.5MiB", &out), KVP_EINPUT);
}
END_TEST

Suite *bytes_suite(void)
{
	Suite *suite = suite_create("bytes");
	TCase *tests = tcase_create("bytes");

	tcase_add_test(tests, a_size_may_have_decimals_a_short_unit_or_none);
	tcase_add_test(tests, what_is_no_size_is_refused);
	tcase_add_test(tests, a_size_beyond_2_to_the_53_is_refused);
	tcase_add_test(tests,
		a_size_in_json_has_neither_decimals_nor_short_units);
	suite_add_tcase(suite, tests);
	return suite;
}
