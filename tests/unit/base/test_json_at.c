/*
 * Walking a checked text: members, lists, scalars, and the place of an
 * error as a JSON pointer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "unit/unit.h"

/* An opened text; close_text() gives it back. */
struct opened {
	struct json_text in;
	struct json_at root;
	char *text;
};

static void open_text(struct opened *o, const char *text)
{
	struct kvp_error err = { 0 };
	size_t len = strlen(text);
	char *quoted = json(text);
	int code;

	/* Not terminated, so that reading past the end is seen. */
	o->text = malloc(len);
	ck_assert_ptr_nonnull(o->text);
	memcpy(o->text, quoted, len);
	free(quoted);
	code = json_open(&o->in, &o->root, "t", o->text, len, &err);
	ck_assert_msg(!code, "%s", err.text);
}

static void close_text(struct opened *o)
{
	free(o->text);
}

static const struct json_field fields[] = {
	{ "one", true }, { "two", false }, { "three", false },
};

static void check_object_fails(const char *text, const char *message)
{
	struct kvp_error err = { 0 };
	struct json_at v[3];
	struct opened o;

	open_text(&o, text);
	ck_assert_int_eq(json_object(&o.root, fields, 3, v, &err),
			 KVP_EINPUT);
	ck_assert_str_eq(err.text, message);
	close_text(&o);
}

/* Members of `text` as numbers; UINT64_MAX: absent. */
static void check_members(const char *text, uint64_t one, uint64_t two,
			  uint64_t three)
{
	const uint64_t expected[3] = { one, two, three };
	uint64_t got[3] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
	struct json_at v[3];
	struct opened o;
	size_t i;

	open_text(&o, text);
	ck_assert_int_eq(json_object(&o.root, fields, 3, v, NULL), KVP_OK);
	for (i = 0; i < 3; i++) {
		ck_assert_str_eq(v[i].key, fields[i].name);
		if (v[i].p)
			ck_assert_int_eq(json_u64(&v[i], 0, 99, &got[i],
						  NULL), KVP_OK);
		ck_assert_uint_eq(got[i], expected[i]);
	}
	close_text(&o);
}

START_TEST(members_are_found_in_any_order)
{
	check_members("{'one':1,'two':2,'three':3}", 1, 2, 3);
	check_members("{'three':3,'two':2,'one':1}", 1, 2, 3);
	check_members(" { 'two' : 2 , 'one' : 1 } ", 1, 2, UINT64_MAX);
	check_members("{'one':1}", 1, UINT64_MAX, UINT64_MAX);
	check_members("{'\\u006fne':1,'t\\u0077o':2}", 1, 2, UINT64_MAX);
}
END_TEST

START_TEST(values_of_every_kind_are_stepped_over)
{
	static const char *const values[] = {
		"'a'", "'}],\\\\'", "'\\\\'", "'\\''", "-1.5e+3", "true",
		"null", "{}", "[]", "[ ]", "[[],[{}]]",
		"{'one':{'two':[1,2,{'x':'}'}]},'y':[]}", "[1 , 2 ]",
	};
	struct json_at v[3];
	struct opened o;
	char text[128];
	uint64_t out = 0;
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(*values); i++) {
		snprintf(text, sizeof(text), "{'one':%s ,'two':%s,'three': 3}",
			 values[i], values[i]);
		open_text(&o, text);
		ck_assert_int_eq(json_object(&o.root, fields, 3, v, NULL),
				 KVP_OK);
		ck_assert_int_eq(json_u64(&v[2], 0, 9, &out, NULL), KVP_OK);
		ck_assert_uint_eq(out, 3);
		close_text(&o);
	}
}
END_TEST

START_TEST(unknown_duplicate_and_missing_keys_are_named)
{
	check_object_fails("{'one':1,'four':4}",
		"t: /four: unknown key; known here: one, two, three");
	check_object_fails("{'on':1}",
		"t: /on: unknown key; known here: one, two, three");
	check_object_fails("{'ones':1}",
		"t: /ones: unknown key; known here: one, two, three");
	check_object_fails("{'':1}",
		"t: /: unknown key; known here: one, two, three");
	check_object_fails("{'one':1,'one':1}",
		"t: /one: given twice; remove one");
	check_object_fails("{'one':1,'two':2,'\\u006fne':1}",
		"t: /one: given twice; remove one");
	check_object_fails("{'two':2}",
		"t: /one: missing; this key is required");
	check_object_fails("{}", "t: /one: missing; this key is required");
}
END_TEST

START_TEST(an_unknown_key_is_shown_short_and_printable)
{
	check_object_fails("{'a\xc3\xa4\x7f':1}",
		"t: /aä?: unknown key; known here: one, two, three");
	check_object_fails("{'0123456789012345678901234567890123456789"
			   "01234567890123456789tail':1}",
		"t: /0123456789012345678901234567890123456789"
		"01234567890123456789: unknown key; "
		"known here: one, two, three");
}
END_TEST

START_TEST(what_is_no_object_is_told_by_its_type)
{
	check_object_fails("[]", "t: /: is a list, must be an object");
	check_object_fails("'a'", "t: /: is a string, must be an object");
	check_object_fails("1", "t: /: is a number, must be an object");
	check_object_fails("-1", "t: /: is a number, must be an object");
	check_object_fails("true",
			   "t: /: is true or false, must be an object");
	check_object_fails("null", "t: /: is null, must be an object");
}
END_TEST

START_TEST(one_member_is_found_whatever_else_there_is)
{
	struct opened o;
	struct json_at v;
	struct kvp_error err = { 0 };

	open_text(&o, "{'x':[{'two':1}],'one':{'two':2},'tw\\u006f':3}");
	ck_assert_int_eq(json_member(&o.root, "two", &v, NULL), KVP_OK);
	ck_assert_int_eq(*v.p, '3');
	ck_assert_int_eq(json_member(&o.root, "four", &v, NULL), KVP_OK);
	ck_assert_ptr_null(v.p);
	close_text(&o);
	open_text(&o, "{}");
	ck_assert_int_eq(json_member(&o.root, "two", &v, NULL), KVP_OK);
	ck_assert_ptr_null(v.p);
	close_text(&o);
	open_text(&o, "[1]");
	ck_assert_int_eq(json_member(&o.root, "two", &v, &err), KVP_EINPUT);
	ck_assert_str_eq(err.text, "t: /: is a list, must be an object");
	close_text(&o);
}
END_TEST

static void check_count(const char *text, size_t most, size_t expected)
{
	struct opened o;
	size_t count = 77;

	open_text(&o, text);
	ck_assert_int_eq(json_list_count(&o.root, most, &count, NULL), KVP_OK);
	ck_assert_uint_eq(count, expected);
	close_text(&o);
}

START_TEST(lists_are_walked_to_their_end)
{
	struct kvp_error err = { 0 };
	struct opened o;
	size_t count;

	check_count("[]", 0, 0);
	check_count("[ ]", 5, 0);
	check_count("[1]", 1, 1);
	check_count("[[1,2],[],{'a':[3]},'],[']", 4, 4);
	open_text(&o, "[1,2,3]");
	ck_assert_int_eq(json_list_count(&o.root, 2, &count, &err),
			 KVP_ELIMIT);
	ck_assert_str_eq(err.text, "t: /: more than 2 entries");
	close_text(&o);
	open_text(&o, "{}");
	ck_assert_int_eq(json_list_count(&o.root, 2, &count, &err),
			 KVP_EINPUT);
	ck_assert_str_eq(err.text, "t: /: is an object, must be a list");
	close_text(&o);
}
END_TEST

START_TEST(members_are_walked_to_their_end)
{
	/* The last is cut. */
	static const char last[] = "123456789012345678901234567890123456789"
				   "012345678901234567890123";
	static const char *const names[] = { "a", "", "a", "b/c", last };
	struct json_members walk;
	struct json_at member;
	struct kvp_error err = { 0 };
	struct opened o;
	size_t i;

	open_text(&o, "{ 'a' : [1,{'x':2}] ,'':{},'\\u0061':'}','b/c':4,"
		  "'12345678901234567890123456789012345678901234567890123456"
		  "789012345':5 }");
	ck_assert_int_eq(json_members_begin(&walk, &o.root, &err), KVP_OK);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ck_assert_int_eq(json_members_next(&walk, &member, &err),
				 KVP_OK);
		ck_assert_ptr_nonnull(member.p);
		ck_assert_str_eq(member.key, names[i]);
	}
	ck_assert_int_eq(json_type(&member), JSON_NUMBER);
	ck_assert_int_eq(json_members_next(&walk, &member, &err), KVP_OK);
	ck_assert_ptr_null(member.p);
	close_text(&o);
	open_text(&o, "[]");
	ck_assert_int_eq(json_members_begin(&walk, &o.root, &err), KVP_EINPUT);
	ck_assert_str_eq(err.text, "t: /: is a list, must be an object");
	close_text(&o);
}
END_TEST

START_TEST(a_pointer_leads_to_the_place)
{
	static const struct json_field outer[] = { { "list", true } };
	struct json_at v[3], list, element;
	struct kvp_error err = { 0 };
	struct json_list walk;
	struct opened o;
	uint64_t out = 5;

	open_text(&o, "{'list':[0,{'one':'x'}]}");
	ck_assert_int_eq(json_object(&o.root, outer, 1, &list, NULL), KVP_OK);
	ck_assert_int_eq(json_list_begin(&walk, &list, NULL), KVP_OK);
	ck_assert(json_list_next(&walk, &element));
	ck_assert(json_list_next(&walk, &element));
	ck_assert_int_eq(json_object(&element, fields, 3, v, NULL), KVP_OK);
	ck_assert_int_eq(json_u64(&v[0], 0, 9, &out, &err), KVP_EINPUT);
	ck_assert_str_eq(err.text, "t: /list/1/one: is a string, must be a "
			 "whole number");
	ck_assert_uint_eq(out, 5);
	ck_assert_int_eq(json_fail(&v[0], &err, KVP_ELIMIT, "%s\n\x7f%d", "a",
				   1), KVP_ELIMIT);
	ck_assert_str_eq(err.text, "t: /list/1/one: a??1");
	ck_assert(!json_list_next(&walk, &element));
	close_text(&o);
}
END_TEST

static void check_string(const char *text, size_t most, const char *value,
			 const char *message)
{
	struct kvp_error err = { 0 };
	struct opened o;
	char *out = NULL;
	int code;

	open_text(&o, text);
	code = json_string(&o.root, most, &out, &err);
	if (message) {
		ck_assert_int_eq(code, KVP_EINPUT);
		ck_assert_str_eq(err.text, message);
		ck_assert_ptr_null(out);
	} else {
		ck_assert_msg(!code, "%s", err.text);
		ck_assert_str_eq(out, value);
		free(out);
	}
	close_text(&o);
}

START_TEST(strings_are_decoded_and_counted_in_characters)
{
	static const char control[] =
		"t: /: holds a control character, must be printable";

	check_string("'abc'", 3, "abc", NULL);
	check_string("'\\u00e4\xc3\xa4'", 2, "\xc3\xa4\xc3\xa4", NULL);
	check_string("'\\ud83d\\ude00\xf0\x9f\x98\x80'", 2,
		     "\xf0\x9f\x98\x80\xf0\x9f\x98\x80", NULL);
	check_string("'\\\\\\/'", 2, "\\/", NULL);
	check_string("''", 3, NULL, "t: /: has 0 characters, must have 1 to 3");
	check_string("'abcd'", 3, NULL,
		     "t: /: has 4 characters, must have 1 to 3");
	check_string("'a\\n'", 3, NULL, control);
	check_string("'\\u001f'", 3, NULL, control);
	check_string("'\x7f'", 3, NULL, control);
	check_string("'\\u007f'", 3, NULL, control);
	check_string("'\\u0080'", 3, NULL, control);
	check_string("'\xc2\x9f'", 3, NULL, control);
	check_string("'\xc2\xa0'", 3, "\xc2\xa0", NULL);
	check_string("7", 3, NULL, "t: /: is a number, must be a string");
}
END_TEST

/* With the first and the last character of every length in UTF-8. */
START_TEST(every_escape_stands_for_its_character)
{
	struct opened o;
	char *out = NULL;

	open_text(&o, "'\\b\\f\\n\\r\\t\\\"\\\\\\/x\\u0001\\u007f\\u0080\\u07ff"
		  "\\u0800\\ud7FF\\uE000\\uffff\\ud800\\udc00\\uDBFF\\uDFFFy'");
	ck_assert_int_eq(json_text(&o.root, &out, NULL), KVP_OK);
	ck_assert_str_eq(out, "\b\f\n\r\t\"\\/x\x01\x7f\xc2\x80\xdf\xbf"
			 "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"
			 "\xf0\x90\x80\x80\xf4\x8f\xbf\xbfy");
	free(out);
	close_text(&o);
}
END_TEST

START_TEST(choices_are_by_their_words)
{
	static const char *const words[] = { "read", "write" };
	struct kvp_error err = { 0 };
	struct opened o;
	size_t out = 9;

	open_text(&o, "'writ\\u0065'");
	ck_assert_int_eq(json_choice(&o.root, words, 2, &out, NULL), KVP_OK);
	ck_assert_uint_eq(out, 1);
	close_text(&o);
	open_text(&o, "'Read'");
	out = 9;
	ck_assert_int_eq(json_choice(&o.root, words, 2, &out, &err),
			 KVP_EINPUT);
	ck_assert_str_eq(err.text, "t: /: is \"Read\", must be one of "
			 "\"read\", \"write\"");
	ck_assert_uint_eq(out, 9);
	close_text(&o);
}
END_TEST

START_TEST(truth_is_true_or_false)
{
	struct kvp_error err = { 0 };
	struct opened o;
	bool out = false;

	open_text(&o, "true");
	ck_assert_int_eq(json_bool(&o.root, &out, NULL), KVP_OK);
	ck_assert(out);
	close_text(&o);
	open_text(&o, "false");
	ck_assert_int_eq(json_bool(&o.root, &out, NULL), KVP_OK);
	ck_assert(!out);
	close_text(&o);
	open_text(&o, "1");
	ck_assert_int_eq(json_bool(&o.root, &out, &err), KVP_EINPUT);
	ck_assert_str_eq(err.text,
			 "t: /: is a number, must be true or false");
	close_text(&o);
}
END_TEST

Suite *json_at_suite(void)
{
	Suite *suite = suite_create("json_at");
	TCase *tests = tcase_create("json_at");

	tcase_add_test(tests, members_are_found_in_any_order);
	tcase_add_test(tests, values_of_every_kind_are_stepped_over);
	tcase_add_test(tests, unknown_duplicate_and_missing_keys_are_named);
	tcase_add_test(tests, an_unknown_key_is_shown_short_and_printable);
	tcase_add_test(tests, what_is_no_object_is_told_by_its_type);
	tcase_add_test(tests, one_member_is_found_whatever_else_there_is);
	tcase_add_test(tests, lists_are_walked_to_their_end);
	tcase_add_test(tests, members_are_walked_to_their_end);
	tcase_add_test(tests, a_pointer_leads_to_the_place);
	tcase_add_test(tests, strings_are_decoded_and_counted_in_characters);
	tcase_add_test(tests, every_escape_stands_for_its_character);
	tcase_add_test(tests, choices_are_by_their_words);
	tcase_add_test(tests, truth_is_true_or_false);
	suite_add_tcase(suite, tests);
	return suite;
}
