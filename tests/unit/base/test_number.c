/*
 * Numbers are whole or refused, whichever way they are written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "unit/unit.h"

#define MAX JSON_NUMBER_MAX
#define NO_BYTES "t: /: must be a whole number of bytes or text such as " \
	"\"2 MiB\" (B, KiB, MiB, GiB, TiB)"
#define TOO_MANY_BYTES "t: /: is more than 9007199254740991 bytes (2^53 - 1)"

enum kind { NUMBER, BYTES };

static int read_number(enum kind kind, const char *text, uint64_t *out,
		       struct kvp_error *err)
{
	size_t len = strlen(text);
	struct json_text in;
	struct json_at root;
	char *exact = malloc(len), *quoted = json(text);
	int code;

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, quoted, len);
	free(quoted);
	code = json_open(&in, &root, "t", exact, len, err);
	if (!code)
		code = kind == BYTES ? json_bytes(&root, 0, out, err) :
				       json_u64(&root, 0, MAX, out, err);
	free(exact);
	return code;
}

static void check_is(enum kind kind, const char *text, uint64_t value)
{
	struct kvp_error err = { 0 };
	uint64_t out = 4711;
	int code = read_number(kind, text, &out, &err);

	ck_assert_msg(!code, "%.40s: %s", text, err.text);
	ck_assert_msg(out == value, "%.40s is %llu, expected %llu", text,
		      (unsigned long long)out, (unsigned long long)value);
}

static void check_refused(enum kind kind, const char *text,
			  const char *message)
{
	struct kvp_error err = { 0 };
	uint64_t out = 4711;

	ck_assert_msg(read_number(kind, text, &out, &err) == KVP_EINPUT,
		      "%.40s: %s", text, err.text);
	ck_assert_int_eq(err.code, KVP_EINPUT);
	ck_assert_str_eq(err.text, message);
	ck_assert_uint_eq(out, 4711);
}

/* The same for numbers and for bytes. */
static void check_both(const char *text, uint64_t value)
{
	check_is(NUMBER, text, value);
	check_is(BYTES, text, value);
}

static void check_both_refused(const char *text, const char *message)
{
	check_refused(NUMBER, text, message);
	check_refused(BYTES, text, message);
}

START_TEST(whole_numbers_count_however_they_are_written)
{
	check_both("0", 0);
	check_both("-0", 0);
	check_both("0.000", 0);
	check_both("-0.0e-5", 0);
	check_both("0e999999999999", 0);
	check_both("0e-999999999999", 0);
	check_both("7", 7);
	check_both("2.0", 2);
	check_both("1e3", 1000);
	check_both("1E+3", 1000);
	check_both("10e-1", 1);
	check_both("0.1e1", 1);
	check_both("0.001e3", 1);
	check_both("1.5e1", 15);
	check_both("1200.0e-2", 12);
	check_both("100e0", 100);
	check_both("1000000000000000000000000e-20", 10000);
	check_both("0.0000000000000000000000000000000000000001e40", 1);
	check_both("1e0000000000000000000000000000002", 100);
	check_both("5e-0", 5);
}
END_TEST

START_TEST(the_largest_number_is_exact)
{
	check_both("9007199254740990", MAX - 1);
	check_both("9007199254740991", MAX);
	check_both("9007199254740991.000", MAX);
	check_both("90071992547409910e-1", MAX);
	check_both("9.007199254740991e15", MAX);
	check_both("0.9007199254740991e16", MAX);
	check_both("9e15", UINT64_C(9000000000000000));
}
END_TEST

#define AT_MOST ", must be at most 9007199254740991 (2^53 - 1)"

START_TEST(larger_numbers_are_refused)
{
	char digits[124];

	check_both_refused("9007199254740992",
			   "t: /: is 9007199254740992" AT_MOST);
	check_both_refused("9007199254740993",
			   "t: /: is 9007199254740993" AT_MOST);
	check_both_refused("9.007199254740992e15",
			   "t: /: is 9.007199254740992e15" AT_MOST);
	check_both_refused("90071992547409920e-1",
			   "t: /: is 90071992547409920e-1" AT_MOST);
	check_both_refused("18446744073709551616",
			   "t: /: is 18446744073709551616" AT_MOST);
	check_both_refused("18446744073709551617",
			   "t: /: is 18446744073709551617" AT_MOST);
	check_both_refused("1e16", "t: /: is 1e16" AT_MOST);
	check_both_refused("1e400", "t: /: is 1e400" AT_MOST);
	check_both_refused("1e999999999999999999999",
			   "t: /: is 1e999999999999999999999" AT_MOST);
	check_both_refused("1e18446744073709551616",
			   "t: /: is 1e18446744073709551616" AT_MOST);
	memset(digits, '7', 123);
	digits[123] = '\0';
	check_both_refused(digits, "t: /: is "
		"777777777777777777777777777777777777..." AT_MOST);
	digits[39] = '\0';
	check_both_refused(digits, "t: /: is "
		"777777777777777777777777777777777777777" AT_MOST);
}
END_TEST

START_TEST(fractions_are_refused_however_small)
{
	check_both_refused("0.5", "t: /: is 0.5, must be a whole number");
	check_both_refused("1.0001",
			   "t: /: is 1.0001, must be a whole number");
	check_both_refused("15e-1", "t: /: is 15e-1, must be a whole number");
	check_both_refused("9007199254740990.6",
		"t: /: is 9007199254740990.6, must be a whole number");
	check_both_refused("9007199254740991.5",
		"t: /: is 9007199254740991.5, must be a whole number");
	check_both_refused("1.00000000000000000000000001",
		"t: /: is 1.00000000000000000000000001, "
		"must be a whole number");
	check_both_refused("0.00000000000000000000000001",
		"t: /: is 0.00000000000000000000000001, "
		"must be a whole number");
	check_both_refused("1e-1", "t: /: is 1e-1, must be a whole number");
	check_both_refused("1e-999999999999999999999",
		"t: /: is 1e-999999999999999999999, must be a whole number");
}
END_TEST

START_TEST(negative_numbers_are_refused)
{
	check_both_refused("-1", "t: /: is -1, must not be negative");
	check_both_refused("-0.5", "t: /: is -0.5, must not be negative");
	check_both_refused("-1e400", "t: /: is -1e400, must not be negative");
	check_both_refused("-1e-400",
			   "t: /: is -1e-400, must not be negative");
}
END_TEST

START_TEST(a_million_zeros_may_be_taken_back)
{
	const size_t zeros = 1000000;
	char *text = malloc(zeros + 32);

	ck_assert_ptr_nonnull(text);
	text[0] = '1';
	memset(text + 1, '0', zeros);
	strcpy(text + 1 + zeros, "e-1000000");
	check_both(text, 1);
	strcpy(text + 1 + zeros, "e-999998");
	check_both(text, 100);
	strcpy(text + 1 + zeros, "e-1000001");
	check_both_refused(text, "t: /: is "
		"100000000000000000000000000000000000..., "
		"must be a whole number");
	memcpy(text, "0.", 2);
	text[1 + zeros] = '1';
	strcpy(text + 2 + zeros, "e1000000");
	check_both(text, 1);
	free(text);
}
END_TEST

START_TEST(bytes_may_have_a_unit)
{
	check_is(BYTES, "'0 B'", 0);
	check_is(BYTES, "'0TiB'", 0);
	check_is(BYTES, "'1B'", 1);
	check_is(BYTES, "'1 KiB'", 1024);
	check_is(BYTES, "'2 MiB'", 2097152);
	check_is(BYTES, "'2MiB'", 2097152);
	check_is(BYTES, "'3 GiB'", UINT64_C(3221225472));
	check_is(BYTES, "'1 TiB'", UINT64_C(1099511627776));
	check_is(BYTES, "'007 B'", 7);
}
END_TEST

START_TEST(bytes_end_below_two_to_the_53)
{
	check_is(BYTES, "'9007199254740991 B'", MAX);
	check_is(BYTES, "'8796093022207 KiB'", MAX - 1023);
	check_is(BYTES, "'8191 TiB'", UINT64_C(9006099743113216));
	check_refused(BYTES, "'9007199254740992 B'", TOO_MANY_BYTES);
	check_refused(BYTES, "'8796093022208 KiB'", TOO_MANY_BYTES);
	check_refused(BYTES, "'8192 TiB'", TOO_MANY_BYTES);
	check_refused(BYTES, "'16777216 TiB'", TOO_MANY_BYTES);
	check_refused(BYTES, "'18446744073709551617 B'", TOO_MANY_BYTES);
	check_refused(BYTES, "'99999999999999999999999999999999999 KiB'",
		      TOO_MANY_BYTES);
}
END_TEST

START_TEST(other_spellings_of_bytes_are_refused)
{
	static const char *const texts[] = {
		"''", "' '", "'2'", "'MiB'", "' 2 MiB'", "'2  MiB'", "'2 MiB '",
		"'2\\tMiB'", "'1 KB'", "'1 kib'", "'1 kB'", "'1 MB'", "'1 M'",
		"'1 PiB'", "'1 mib'", "'1 MIB'", "'1 b'", "'1.5 GiB'",
		"'1e3 B'", "'-1 B'", "'+1 B'", "'0x10 B'", "'1_000 B'",
		"'1 MiBs'", "'1 Mi'", "'2 BB'", "'1 MiB 1 B'", "'1,000 B'",
		"true", "null", "[]", "{}", "[1]",
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		check_refused(BYTES, texts[i], NO_BYTES);
}
END_TEST

START_TEST(what_is_no_number_is_refused)
{
	static const char *const texts[][2] = {
		{ "'1'", "t: /: is a string, must be a whole number" },
		{ "'1 B'", "t: /: is a string, must be a whole number" },
		{ "true", "t: /: is true or false, must be a whole number" },
		{ "null", "t: /: is null, must be a whole number" },
		{ "[1]", "t: /: is a list, must be a whole number" },
		{ "{}", "t: /: is an object, must be a whole number" },
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		check_refused(NUMBER, texts[i][0], texts[i][1]);
}
END_TEST

static void check_range(uint64_t value, int code, const char *message)
{
	struct json_text in;
	struct json_at root;
	struct kvp_error err = { 0 };
	uint64_t out = 4711;
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	ck_assert_int_eq(json_open(&in, &root, "t", text, strlen(text), &err),
			 KVP_OK);
	ck_assert_int_eq(json_u64(&root, 5, 9, &out, &err), code);
	ck_assert_str_eq(err.text, message);
	ck_assert_uint_eq(out, code ? 4711 : value);
}

START_TEST(ranges_include_both_ends)
{
	check_range(4, KVP_EINPUT, "t: /: is 4, must be at least 5");
	check_range(5, KVP_OK, "");
	check_range(9, KVP_OK, "");
	check_range(10, KVP_ELIMIT, "t: /: is 10, must be at most 9");
}
END_TEST

Suite *number_suite(void)
{
	Suite *suite = suite_create("number");
	TCase *tests = tcase_create("number");

	tcase_add_test(tests, whole_numbers_count_however_they_are_written);
	tcase_add_test(tests, the_largest_number_is_exact);
	tcase_add_test(tests, larger_numbers_are_refused);
	tcase_add_test(tests, fractions_are_refused_however_small);
	tcase_add_test(tests, negative_numbers_are_refused);
	tcase_add_test(tests, a_million_zeros_may_be_taken_back);
	tcase_add_test(tests, bytes_may_have_a_unit);
	tcase_add_test(tests, bytes_end_below_two_to_the_53);
	tcase_add_test(tests, other_spellings_of_bytes_are_refused);
	tcase_add_test(tests, what_is_no_number_is_refused);
	tcase_add_test(tests, ranges_include_both_ends);
	suite_add_tcase(suite, tests);
	return suite;
}
