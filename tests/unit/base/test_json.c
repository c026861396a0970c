/*
 * Strict JSON: what is taken, and what each refused text is told.
 *
 * Texts are handed over in memory of exactly their length, so that reading
 * past the end is seen by a sanitizer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "unit/unit.h"

#define TEXT(text) text, sizeof(text) - 1

/* The text alone in its memory, without a zero behind it. */
static char *exact(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len);
	return copy;
}

static int open_text(const char *text, size_t len, struct kvp_error *err)
{
	char *copy = exact(text, len);
	struct json_text in;
	struct json_at root;
	int code = json_open(&in, &root, "t", copy, len, err);

	if (!code)
		ck_assert(root.p >= copy && root.p < copy + len);
	free(copy);
	return code;
}

static void check_accepted(const char *text, size_t len)
{
	struct kvp_error err = { 0 };
	int code = open_text(text, len, &err);

	ck_assert_msg(!code, "%.*s: %s", (int)len, text, err.text);
}

static void check_refused(const char *text, size_t len, const char *message)
{
	struct kvp_error err = { 0 };

	ck_assert_int_eq(open_text(text, len, &err), KVP_ESYNTAX);
	ck_assert_int_eq(err.code, KVP_ESYNTAX);
	ck_assert_str_eq(err.text, message);
}

struct text {
	const char *text;
	size_t len;
};

struct refused {
	const char *text;
	size_t len;
	const char *message;
};

START_TEST(json_of_every_kind_is_taken)
{
	static const struct text texts[] = {
		{ TEXT("{}") }, { TEXT("[]") }, { TEXT("\"\"") },
		{ TEXT("0") }, { TEXT("-0") }, { TEXT("-1") },
		{ TEXT("10") }, { TEXT("1.0") }, { TEXT("0.1") },
		{ TEXT("1e1") }, { TEXT("1E+1") }, { TEXT("1e-01") },
		{ TEXT("0e0") }, { TEXT("1e999999999999") },
		{ TEXT("true") }, { TEXT("false") }, { TEXT("null") },
		{ TEXT(" \t\r\n[ \t\r\n1 \t\r\n, 2 ] \t\r\n") },
		{ TEXT("{ \"a\" : 1 , \"\" : { \"b\" : [ { } , [ ] ] } }") },
		{ TEXT("{\"a\":1,\"a\":2}") },
		{ TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"") },
		{ TEXT("\"\\u0001\\u00e4\\uD83D\\uDE00\\ud83d\\ude00\"") },
		{ TEXT("\"\\ufffe\\uffff\\ud7ff\\ue000\"") },
		{ TEXT("\"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\"") },
		{ TEXT("\"\xed\x9f\xbf\xee\x80\x80\"") },
		{ TEXT("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"") },
		{ TEXT("\"\xef\xbb\xbf\"") },
		{ TEXT("\"{[\\\"]},:\"") },
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		check_accepted(texts[i].text, texts[i].len);
}
END_TEST

static void check_all(const struct refused *texts, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		check_refused(texts[i].text, texts[i].len, texts[i].message);
}

#define CHECK_ALL(texts) check_all(texts, sizeof(texts) / sizeof(*(texts)))

START_TEST(a_text_without_a_value_is_refused)
{
	static const struct refused texts[] = {
		{ TEXT(""), "t:1:1: empty text" },
		{ TEXT(" "), "t:1:2: the text ends where a value should be" },
		{ TEXT("\n\r\n\t"),
		  "t:3:2: the text ends where a value should be" },
	};

	CHECK_ALL(texts);
}
END_TEST

START_TEST(nul_bytes_are_refused_wherever_they_stand)
{
	static const struct refused texts[] = {
		{ TEXT("\0"), "t:1:1: NUL byte; a text file has none" },
		{ TEXT("\0{}"), "t:1:1: NUL byte; a text file has none" },
		{ TEXT(" \n \0"), "t:2:2: NUL byte; a text file has none" },
		{ TEXT("[\0]"), "t:1:2: NUL byte; a text file has none" },
		{ TEXT("[1\0]"), "t:1:3: expected ',' or ']'" },
		{ TEXT("[1,\0]"), "t:1:4: NUL byte; a text file has none" },
		{ TEXT("{\0}"), "t:1:2: expected a key in double quotes" },
		{ TEXT("{\"a\"\0:1}"), "t:1:5: expected ':' after the key" },
		{ TEXT("{\"a\":1\0}"), "t:1:7: expected ',' or '}'" },
		{ TEXT("\"a\0b\""),
		  "t:1:3: control character in a string; escape it" },
		{ TEXT("\"\\\0\""), "t:1:2: unknown escape in a string" },
		{ TEXT("tru\0e"), "t:1:1: expected a value" },
		{ TEXT("1\0"), "t:1:2: NUL byte after the end of the value" },
		{ TEXT("{}\0"), "t:1:3: NUL byte after the end of the value" },
		{ TEXT("{}\n\0{}"),
		  "t:2:1: NUL byte after the end of the value" },
	};

	CHECK_ALL(texts);
}
END_TEST

START_TEST(bytes_that_are_not_utf8_are_refused)
{
	static const struct text bad[] = {
		{ TEXT("\x80") }, { TEXT("\xbf") },	/* lone continuation */
		{ TEXT("\xc0\x80") }, { TEXT("\xc1\xbf") },	/* overlong */
		{ TEXT("\xe0\x80\x80") }, { TEXT("\xe0\x9f\xbf") },
		{ TEXT("\xf0\x80\x80\x80") }, { TEXT("\xf0\x8f\xbf\xbf") },
		{ TEXT("\xed\xa0\x80") }, { TEXT("\xed\xbf\xbf") },
		{ TEXT("\xed\xa0\xbd\xed\xb8\x80") },	/* surrogates */
		{ TEXT("\xf4\x90\x80\x80") },		/* > 10FFFF */
		{ TEXT("\xf5\x80\x80\x80") }, { TEXT("\xf8\x88\x80\x80\x80") },
		{ TEXT("\xfe") }, { TEXT("\xff") },
		{ TEXT("\xc2") }, { TEXT("\xc2\x41") },	/* truncated */
		{ TEXT("\xe2\x82") }, { TEXT("\xe2\x41\x80") },
		{ TEXT("\xe2\x82\xc2") }, { TEXT("\xf0\x9f\x98") },
		{ TEXT("\xf0\x9f\x98\x41") }, { TEXT("\xc3\xc3") },
	};
	char text[16];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		text[0] = '"';
		text[1] = 'a';
		memcpy(text + 2, bad[i].text, bad[i].len);
		text[bad[i].len + 2] = '"';
		check_refused(text, bad[i].len + 3, "t:1:3: not UTF-8");
		/* The same where the text ends with it. */
		check_refused(text, bad[i].len + 2, "t:1:3: not UTF-8");
		check_refused(bad[i].text, bad[i].len,
			      "t:1:1: expected a value");
	}
}
END_TEST

START_TEST(control_characters_are_no_blanks)
{
	char text[] = "?1", message[] = "t:1:1: expected a value";
	char in_string[] = "\"a?\"";
	int c;

	for (c = 1; c < 0x20; c++) {
		if (c == '\t' || c == '\n' || c == '\r')
			continue;
		text[0] = (char)c;
		check_refused(text, 2, message);
	}
	for (c = 1; c < 0x20; c++) {
		in_string[2] = (char)c;
		check_refused(in_string, 4, "t:1:3: control character in a "
			      "string; escape it");
	}
	check_refused(TEXT("\x7f"), message);
	check_refused(TEXT("1\x0b"), "t:1:2: text after the end of the value");
	check_refused(TEXT("1\xc2\xa0"),
		      "t:1:2: text after the end of the value");
}
END_TEST

START_TEST(a_byte_order_mark_is_refused)
{
	static const struct refused texts[] = {
		{ TEXT("\xef\xbb\xbf{}"),
		  "t:1:1: byte-order mark; save the file without it" },
		{ TEXT("\xef\xbb\xbf"),
		  "t:1:1: byte-order mark; save the file without it" },
		{ TEXT("\xef\xbb"), "t:1:1: expected a value" },
		{ TEXT("{}\xef\xbb\xbf"),
		  "t:1:3: text after the end of the value" },
		{ TEXT("\xff\xfe{\0}\0"), "t:1:1: expected a value" },
	};

	CHECK_ALL(texts);
}
END_TEST

START_TEST(numbers_follow_the_grammar)
{
	static const struct refused texts[] = {
		{ TEXT("01"),
		  "t:1:2: a number may not begin with 0; remove the 0" },
		{ TEXT("-00"),
		  "t:1:3: a number may not begin with 0; remove the 0" },
		{ TEXT("[00.5]"),
		  "t:1:3: a number may not begin with 0; remove the 0" },
		{ TEXT("1."), "t:1:3: a digit must follow the point" },
		{ TEXT("1.e5"), "t:1:3: a digit must follow the point" },
		{ TEXT("[-0.]"), "t:1:5: a digit must follow the point" },
		{ TEXT(".5"), "t:1:1: expected a value" },
		{ TEXT("-.5"), "t:1:2: a digit must follow the sign" },
		{ TEXT("+1"), "t:1:1: expected a value" },
		{ TEXT("-"), "t:1:2: a digit must follow the sign" },
		{ TEXT("--1"), "t:1:2: a digit must follow the sign" },
		{ TEXT("- 1"), "t:1:2: a digit must follow the sign" },
		{ TEXT("1e"), "t:1:3: a digit must follow the exponent" },
		{ TEXT("1e+"), "t:1:4: a digit must follow the exponent" },
		{ TEXT("1E-x"), "t:1:4: a digit must follow the exponent" },
		{ TEXT("1e1.5"), "t:1:4: text after the end of the value" },
		{ TEXT("1.2.3"), "t:1:4: text after the end of the value" },
		{ TEXT("0x1"), "t:1:2: text after the end of the value" },
		{ TEXT("1_000"), "t:1:2: text after the end of the value" },
		{ TEXT("NaN"), "t:1:1: expected a value" },
		{ TEXT("Infinity"), "t:1:1: expected a value" },
		{ TEXT("-Infinity"), "t:1:2: a digit must follow the sign" },
		{ TEXT("\xef\xbc\x91"), "t:1:1: expected a value" },
	};

	CHECK_ALL(texts);
}
END_TEST

START_TEST(escapes_follow_the_grammar)
{
	static const struct refused texts[] = {
		{ TEXT("\"\\u0000\""),
		  "t:1:2: \\u0000 may not stand in a string" },
		{ TEXT("{\"a\\u0000\":1}"),
		  "t:1:4: \\u0000 may not stand in a string" },
		{ TEXT("\"\\ud800\""), "t:1:2: half a surrogate pair" },
		{ TEXT("\"\\udbff\\n\""), "t:1:2: half a surrogate pair" },
		{ TEXT("\"\\udbffabcdefgh\""),
		  "t:1:2: half a surrogate pair" },
		{ TEXT("\"\\udc00\""), "t:1:2: half a surrogate pair" },
		{ TEXT("\"\\udfff\\ud800\""), "t:1:2: half a surrogate pair" },
		{ TEXT("\"\\ud800\\ud800\""), "t:1:2: half a surrogate pair" },
		{ TEXT("\"\\ud800\\u0041\""), "t:1:2: half a surrogate pair" },
		{ TEXT("\"\\ud800\\ue000\""), "t:1:2: half a surrogate pair" },
		{ TEXT("\"\\ud800\\u12"), "t:1:2: half a surrogate pair" },
		{ TEXT("\"\\u12\""),
		  "t:1:2: \\u needs four hexadecimal digits" },
		{ TEXT("\"\\u12g4\""),
		  "t:1:2: \\u needs four hexadecimal digits" },
		{ TEXT("\"\\u+123\""),
		  "t:1:2: \\u needs four hexadecimal digits" },
		{ TEXT("\"\\u 123\""),
		  "t:1:2: \\u needs four hexadecimal digits" },
		{ TEXT("\"\\u00"),
		  "t:1:2: \\u needs four hexadecimal digits" },
		{ TEXT("\"\\U0041\""), "t:1:2: unknown escape in a string" },
		{ TEXT("\"\\x41\""), "t:1:2: unknown escape in a string" },
		{ TEXT("\"\\'\""), "t:1:2: unknown escape in a string" },
		{ TEXT("\"\\0\""), "t:1:2: unknown escape in a string" },
		{ TEXT("\"\\a\""), "t:1:2: unknown escape in a string" },
		{ TEXT("\"\\"), "t:1:3: the text ends inside a string" },
		{ TEXT("\"a\nb\""),
		  "t:1:3: control character in a string; escape it" },
		{ TEXT("\"a\tb\""),
		  "t:1:3: control character in a string; escape it" },
	};

	CHECK_ALL(texts);
}
END_TEST

START_TEST(what_other_dialects_allow_is_refused)
{
	static const struct refused texts[] = {
		{ TEXT("[1,]"), "t:1:4: nothing follows the comma; remove it" },
		{ TEXT("[,1]"), "t:1:2: expected a value" },
		{ TEXT("[1,,2]"), "t:1:4: expected a value" },
		{ TEXT("{\"a\":1,}"),
		  "t:1:8: nothing follows the comma; remove it" },
		{ TEXT("{,}"), "t:1:2: expected a key in double quotes" },
		{ TEXT("{\"a\"}"), "t:1:5: expected ':' after the key" },
		{ TEXT("{\"a\" 1}"), "t:1:6: expected ':' after the key" },
		{ TEXT("{\"a\"=1}"), "t:1:5: expected ':' after the key" },
		{ TEXT("{\"a\":}"), "t:1:6: expected a value" },
		{ TEXT("{\"a\":1 \"b\":2}"), "t:1:8: expected ',' or '}'" },
		{ TEXT("{\"a\":1;\"b\":2}"), "t:1:7: expected ',' or '}'" },
		{ TEXT("{a:1}"), "t:1:2: expected a key in double quotes" },
		{ TEXT("{1:1}"), "t:1:2: expected a key in double quotes" },
		{ TEXT("{null:1}"), "t:1:2: expected a key in double quotes" },
		{ TEXT("{'a':1}"), "t:1:2: expected a key in double quotes" },
		{ TEXT("'a'"), "t:1:1: expected a value" },
		{ TEXT("// a\n1"), "t:1:1: expected a value" },
		{ TEXT("/* a */1"), "t:1:1: expected a value" },
		{ TEXT("# a\n1"), "t:1:1: expected a value" },
		{ TEXT("1 // a"), "t:1:3: text after the end of the value" },
		{ TEXT("[1 /* a */]"), "t:1:4: expected ',' or ']'" },
		{ TEXT("1 2"), "t:1:3: text after the end of the value" },
		{ TEXT("{}{}"), "t:1:3: text after the end of the value" },
		{ TEXT("{},{}"), "t:1:3: text after the end of the value" },
		{ TEXT("[]]"), "t:1:3: text after the end of the value" },
		{ TEXT("[1}"), "t:1:3: expected ',' or ']'" },
		{ TEXT("{\"a\":1]"), "t:1:7: expected ',' or '}'" },
		{ TEXT("]"), "t:1:1: expected a value" },
		{ TEXT("}"), "t:1:1: expected a value" },
		{ TEXT("[\"a\":1]"), "t:1:5: expected ',' or ']'" },
		{ TEXT("True"), "t:1:1: expected a value" },
		{ TEXT("nul"), "t:1:1: expected a value" },
		{ TEXT("nulL"), "t:1:1: expected a value" },
		{ TEXT("truex"), "t:1:5: text after the end of the value" },
		{ TEXT("[truefalse]"), "t:1:6: expected ',' or ']'" },
		{ TEXT("undefined"), "t:1:1: expected a value" },
	};

	CHECK_ALL(texts);
}
END_TEST

/* Columns count characters; only a line feed begins a line. */
START_TEST(lines_and_columns_point_at_the_fault)
{
	static const struct refused texts[] = {
		{ TEXT("\n\n  x"), "t:3:3: expected a value" },
		{ TEXT("[1,\n 2,\n\n   x]"), "t:4:4: expected a value" },
		{ TEXT("\r\rx"), "t:1:3: expected a value" },
		{ TEXT("\r\n\r\nx"), "t:3:1: expected a value" },
		{ TEXT("[\"\xc3\xa4\xf0\x9f\x98\x80\" x]"),
		  "t:1:7: expected ',' or ']'" },
		{ TEXT("[\"\\n\" x]"), "t:1:7: expected ',' or ']'" },
		{ TEXT("[\n"),
		  "t:2:1: the text ends where a value should be" },
	};

	CHECK_ALL(texts);
}
END_TEST

/* A document with everything in it, ending with its last needed byte. */
static const char document[] =
	"{\"a\": [1.5e+3, -0, true, false, null],\n"
	" \"\\u00e4\\ud83d\\ude00\xc3\xa4\": {\"b\": {}, \"c\": []}}";

START_TEST(every_prefix_of_a_document_is_refused)
{
	struct kvp_error err;
	size_t len;

	check_accepted(document, sizeof(document) - 1);
	for (len = 0; len < sizeof(document) - 1; len++) {
		err = (struct kvp_error){ 0 };
		ck_assert_msg(open_text(document, len, &err) == KVP_ESYNTAX,
			      "the first %zu bytes are taken", len);
		ck_assert_int_eq(strncmp(err.text, "t:", 2), 0);
	}
}
END_TEST

START_TEST(a_document_with_anything_behind_it_is_refused)
{
	char text[sizeof(document)];
	int c;

	memcpy(text, document, sizeof(text));
	for (c = 0; c < 256; c++) {
		text[sizeof(text) - 1] = (char)c;
		if (strchr(" \t\r\n", c) && c)
			check_accepted(text, sizeof(text));
		else
			check_refused(text, sizeof(text), c ?
				"t:2:44: text after the end of the value" :
				"t:2:44: NUL byte after the end of the value");
	}
}
END_TEST

static void check_nested(const char *open, const char *close, size_t depth,
			 const char *message)
{
	size_t o = strlen(open), c = strlen(close), i;
	char *text = malloc(depth * (o + c));

	ck_assert_ptr_nonnull(text);
	for (i = 0; i < depth; i++) {
		memcpy(text + i * o, open, o);
		memcpy(text + depth * o + i * c, close, c);
	}
	if (message)
		check_refused(text, depth * (o + c), message);
	else
		check_accepted(text, depth * (o + c));
	free(text);
}

START_TEST(sixteen_levels_are_taken_and_seventeen_refused)
{
	check_nested("[", "]", 16, NULL);
	check_nested("[", "]", 17, "t:1:17: nested deeper than 16");
	check_nested("[{\"a\":", "}]", 8, "t:1:49: expected a value");
	check_accepted(TEXT("[[[[[[[[[[[[[[[{}]]]]]]]]]]]]]]]"));
	check_refused(TEXT("[[[[[[[[[[[[[[[[{}]]]]]]]]]]]]]]]]"),
		      "t:1:17: nested deeper than 16");
}
END_TEST

START_TEST(deep_nesting_is_refused_without_deep_recursion)
{
	check_nested("[", "]", 100000, "t:1:17: nested deeper than 16");
	check_nested("{\"a\":", "}", 100000, "t:1:81: nested deeper than 16");
	check_nested("[", "", 100000, "t:1:17: nested deeper than 16");
}
END_TEST

Suite *json_suite(void)
{
	Suite *suite = suite_create("json");
	TCase *tests = tcase_create("json");

	tcase_add_test(tests, json_of_every_kind_is_taken);
	tcase_add_test(tests, a_text_without_a_value_is_refused);
	tcase_add_test(tests, nul_bytes_are_refused_wherever_they_stand);
	tcase_add_test(tests, bytes_that_are_not_utf8_are_refused);
	tcase_add_test(tests, control_characters_are_no_blanks);
	tcase_add_test(tests, a_byte_order_mark_is_refused);
	tcase_add_test(tests, numbers_follow_the_grammar);
	tcase_add_test(tests, escapes_follow_the_grammar);
	tcase_add_test(tests, what_other_dialects_allow_is_refused);
	tcase_add_test(tests, lines_and_columns_point_at_the_fault);
	tcase_add_test(tests, every_prefix_of_a_document_is_refused);
	tcase_add_test(tests, a_document_with_anything_behind_it_is_refused);
	tcase_add_test(tests, sixteen_levels_are_taken_and_seventeen_refused);
	tcase_add_test(tests, deep_nesting_is_refused_without_deep_recursion);
	suite_add_tcase(suite, tests);
	return suite;
}
