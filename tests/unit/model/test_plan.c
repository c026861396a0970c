/*
 * The plan as a document: it reads back byte for byte, and every key of it
 * is required.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

static const char recorded[] =
	"pages=2;execution_rows=0;snapshot_rows=1;row_bytes=8192;row_stride=;"
	"planes=[{'name':'a','count':2,'bytes_per_page':8192}];base_chunks=["
	"{'plane':0,'offset':0,'bytes':4096,'arena':0},"
	"{'plane':1,'offset':0,'bytes':4096,'arena':4096},"
	"{'plane':0,'offset':4096,'bytes':12288,'arena':null},"
	"{'plane':1,'offset':4096,'bytes':12288,'arena':null}]";

static const char headroom[] =
	"headroom={'free_bytes':'64 MiB','cap_bytes':'1 MiB'};"
	"name='a \\\\ \\u0022 \xc3\xa4'";

static struct kvp_plan read_plan(const char *text)
{
	struct kvp_plan plan;
	struct kvp_error err = { 0 };
	int code = kvp_plan_read(&plan, "p", text, strlen(text), &err);

	ck_assert_msg(!code, "%s", err.text);
	return plan;
}

static void check_empty(const struct kvp_plan *plan)
{
	ck_assert_ptr_null(plan->geometry.name);
	ck_assert_ptr_null(plan->geometry.planes);
	ck_assert_ptr_null(plan->chunks);
	ck_assert_ptr_null(plan->rows);
	ck_assert_ptr_null(plan->spans);
	ck_assert_ptr_null(plan->access);
	ck_assert_ptr_null(plan->summary.per_rank);
	ck_assert_ptr_null(plan->summary.per_node);
	ck_assert_uint_eq(plan->nchunks, 0);
	ck_assert_uint_eq(plan->nrows, 0);
	ck_assert_uint_eq(plan->nspans, 0);
	ck_assert_uint_eq(plan->naccess, 0);
}

static void check_refused(const char *text, int code, const char *message)
{
	struct kvp_plan plan;
	struct kvp_error err = { 0 };

	memset(&plan, 0xa5, sizeof(plan));
	ck_assert_int_eq(kvp_plan_read(&plan, "p", text, strlen(text), &err),
			 code);
	ck_assert_str_eq(err.text, message);
	check_empty(&plan);
}

static void check_round_trip(const char *changes)
{
	enum kvp_merge merge;

	for (merge = KVP_MERGE_NONE; merge <= KVP_MERGE_SPAN; merge++) {
		struct kvp_plan plan = plan_of(changes, merge), again;
		char *first = written_plan(&plan), *second;

		kvp_plan_release(&plan);
		again = read_plan(first);
		ck_assert_int_eq(again.merge, merge);
		second = written_plan(&again);
		ck_assert_str_eq(first, second);
		kvp_plan_release(&again);
		free(first);
		free(second);
	}
}

START_TEST(a_plan_reads_back_byte_for_byte)
{
	check_round_trip("");
	check_round_trip(recorded);
	check_round_trip(headroom);
	check_round_trip("headroom={'free_bytes':0,'cap_bytes':null}");
	check_round_trip("snapshot_rows=0");
	check_round_trip("snapshot_rows=0;execution_rows=0");
	check_round_trip("ranks_per_node=2;static=[{'name':'s','bytes':1,"
			 "'importers':'group'}]");
	check_round_trip(published_dcp16);
}
END_TEST

START_TEST(a_plan_states_what_it_is)
{
	struct kvp_plan plan = plan_of(recorded, KVP_MERGE_ROW);
	char *text = written_plan(&plan), *tail = strstr(text, "\"merge\"");
	char *expected = json(
		"'merge':'row',\n'dedicated_bytes':0,\n'chunks':[\n"
		"{'plane':0,'offset':0,'bytes':4096,'arena':0},\n"
		"{'plane':1,'offset':0,'bytes':4096,'arena':4096},\n"
		"{'plane':0,'offset':4096,'bytes':12288,'arena':null},\n"
		"{'plane':1,'offset':4096,'bytes':12288,'arena':null}\n],\n"
		"'rows':[\n{'row':0,'pages':[[0,1]]}\n],\n'access':[\n"
		"{'rank':0,'readers':[0,1]},\n{'rank':1,'readers':[0,1]},\n"
		"{'rank':2,'readers':[2,3]},\n{'rank':3,'readers':[2,3]}\n],\n"
		"'summary':{\n'base_chunks':4,\n'chunks':4,\n'lower_bound':4,"
		"\n'optimal':true,\n'physical_bytes':32768,\n'kv_tokens':64,\n"
		"'entries':{\n'per_rank':[10,10,10,10],\n'per_node':[40],\n"
		"'limit':520192\n}\n}\n}\n");

	ck_assert_int_eq(strncmp(text, "{\n\"format\":\"kvplan/plan/1\",\n"
				 "\"geometry\":{\n\"format\":", 48), 0);
	ck_assert_ptr_nonnull(tail);
	ck_assert_str_eq(tail, expected);
	free(expected);
	free(text);
	kvp_plan_release(&plan);
}
END_TEST

/* Past the value at p, which holds no brackets within strings. */
static const char *skip_value(const char *p)
{
	int depth = 0;

	for (; *p && (depth || (*p != ',' && *p != '}' && *p != ']')); p++) {
		if (*p == '[' || *p == '{')
			depth++;
		if (*p == ']' || *p == '}')
			depth--;
	}
	return p;
}

/* The text without the member `key` that stands behind `anchor` first. */
static char *without(const char *text, const char *anchor, const char *key)
{
	char quoted[64], *copy = malloc(strlen(text) + 1), *from;
	const char *start = strstr(text, anchor), *past;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	ck_assert_ptr_nonnull(copy);
	ck_assert_ptr_nonnull(start);
	start = strstr(start, quoted);
	ck_assert_msg(start, "no %s behind %s", key, anchor);
	past = skip_value(start + strlen(quoted));
	memcpy(copy, text, (size_t)(start - text));
	from = copy + (start - text);
	if (*past == ',') {
		past++;
	} else {		/* the last: the comma before it must go */
		while (from[-1] == '\n' || from[-1] == ' ')
			from--;
		from -= from[-1] == ',';
	}
	strcpy(from, past);
	return copy;
}

static const struct key {
	const char *anchor;
	const char *key;
	const char *pointer;
} required[] = {
	{ "{", "geometry", "/geometry" },
	{ "{", "merge", "/merge" },
	{ "{", "dedicated_bytes", "/dedicated_bytes" },
	{ "\"dedicated_bytes\"", "chunks", "/chunks" },
	{ "\"dedicated_bytes\"", "rows", "/rows" },
	{ "\"rows\"", "access", "/access" },
	{ "{", "summary", "/summary" },
	{ "\"geometry\"", "pages", "/geometry/pages" },
	{ "\"chunks\"", "plane", "/chunks/0/plane" },
	{ "\"chunks\"", "offset", "/chunks/0/offset" },
	{ "\"chunks\"", "bytes", "/chunks/0/bytes" },
	{ "\"chunks\"", "arena", "/chunks/0/arena" },
	{ "\"rows\"", "row", "/rows/0/row" },
	{ "\"rows\"", "pages", "/rows/0/pages" },
	{ "\"rows\"", "rank", "/access/0/rank" },
	{ "\"rows\"", "readers", "/access/0/readers" },
	{ "\"summary\"", "base_chunks", "/summary/base_chunks" },
	{ "\"summary\"", "chunks", "/summary/chunks" },
	{ "\"summary\"", "lower_bound", "/summary/lower_bound" },
	{ "\"summary\"", "optimal", "/summary/optimal" },
	{ "\"summary\"", "physical_bytes", "/summary/physical_bytes" },
	{ "\"summary\"", "kv_tokens", "/summary/kv_tokens" },
	{ "\"summary\"", "entries", "/summary/entries" },
	{ "\"entries\"", "per_rank", "/summary/entries/per_rank" },
	{ "\"entries\"", "per_node", "/summary/entries/per_node" },
	{ "\"entries\"", "limit", "/summary/entries/limit" },
	{ "\"limit\"", "free_bytes", "/headroom/free_bytes" },
	{ "\"limit\"", "cap_bytes", "/headroom/cap_bytes" },
};

START_TEST(every_missing_key_is_refused)
{
	const struct key *key = &required[_i];
	struct kvp_plan plan = plan_of(headroom, KVP_MERGE_ROW);
	char *text = written_plan(&plan), message[96];
	char *less = without(text, key->anchor, key->key);

	snprintf(message, sizeof(message),
		 "p: %s: missing; this key is required", key->pointer);
	check_refused(less, KVP_EINPUT, message);
	free(less);
	free(text);
	kvp_plan_release(&plan);
}
END_TEST

static void check_missing_format(const char *anchor, const char *message)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_ROW);
	char *text = written_plan(&plan);
	char *less = without(text, anchor, "format");

	check_refused(less, KVP_EINPUT, message);
	free(less);
	free(text);
	kvp_plan_release(&plan);
}

START_TEST(a_missing_format_is_refused)
{
	check_missing_format("{", "p: /format: missing, "
		"must be \"kvplan/geometry/1\" or \"kvplan/plan/1\"");
	check_missing_format("\"geometry\":", "p: /geometry/format: missing, "
		"must be \"kvplan/geometry/1\" or \"kvplan/plan/1\"");
}
END_TEST

START_TEST(a_plan_without_headroom_reads)
{
	struct kvp_plan plan = plan_of(headroom, KVP_MERGE_ROW), again;
	char *text = written_plan(&plan);
	char *less = without(text, "\"limit\"", "headroom");

	ck_assert(plan.has_headroom);
	ck_assert_uint_eq(plan.headroom.cap_bytes, 1048576);
	again = read_plan(less);
	ck_assert(!again.has_headroom);
	ck_assert(again.geometry.has_headroom);
	kvp_plan_release(&again);
	kvp_plan_release(&plan);
	free(less);
	free(text);
}
END_TEST

/* The plan's text with the first `from` behind `anchor` replaced. */
static char *replaced(const char *anchor, const char *from, const char *to)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_ROW);
	char *text = written_plan(&plan), *result;
	char *a = json(anchor), *f = json(from), *t = json(to);
	size_t room = strlen(text) + strlen(t) + 1;
	char *at = strstr(text, a);

	ck_assert_ptr_nonnull(at);
	at = strstr(at, f);
	ck_assert_msg(at, "no %s behind %s", from, anchor);
	result = malloc(room);
	ck_assert_ptr_nonnull(result);
	snprintf(result, room, "%.*s%s%s", (int)(at - text), text, t,
		 at + strlen(f));
	free(a);
	free(f);
	free(t);
	free(text);
	kvp_plan_release(&plan);
	return result;
}

START_TEST(values_of_a_plan_are_checked)
{
	static const struct {
		const char *anchor, *from, *to;
		int code;
		const char *message;
	} faults[] = {
		{ "{", "plan/1'", "plan/2'", KVP_EINPUT, "p: /format: is "
		  "\"kvplan/plan/2\", must be one of "
		  "\"kvplan/geometry/1\", \"kvplan/plan/1\"" },
		{ "{", "plan/1'", "geometry/1'", KVP_EINPUT, "p: /format: is "
		  "\"kvplan/geometry/1\", must be \"kvplan/plan/1\"; kvplan "
		  "plan makes a plan of it" },
		{ "'geometry'", "geometry/1'", "plan/1'", KVP_EINPUT,
		  "p: /geometry/format: is \"kvplan/plan/1\", must be "
		  "\"kvplan/geometry/1\"" },
		{ "'merge'", "row", "all", KVP_EINPUT, "p: /merge: is \"all\","
		  " must be one of \"none\", \"row\", \"span\"" },
		{ "{", "'geometry':", "'geometrie':", KVP_EINPUT,
		  "p: /geometrie: unknown key; known here: format, geometry, "
		  "merge, dedicated_bytes, chunks, rows, access, summary, "
		  "headroom" },
		{ "'merge'", "'merge'", "'merge':'row','merge'", KVP_EINPUT,
		  "p: /merge: given twice; remove one" },
		{ "'geometry'", "'pages':8", "'pages':0", KVP_EINPUT,
		  "p: /geometry/pages: is 0, must be at least 1" },
		{ "'chunks'", "'bytes':", "'bytes':-", KVP_EINPUT,
		  "p: /chunks/0/bytes: is -4096, must not be negative" },
		{ "'rows'", "[[", "[[7,", KVP_EINPUT,
		  "p: /rows/0/pages/0: must be two page numbers, "
		  "[first, end)" },
		{ "'rows'", "[[", "[[7],[", KVP_EINPUT,
		  "p: /rows/0/pages/0: must be two page numbers, "
		  "[first, end)" },
		{ "'rows'", "[[", "[7,[", KVP_EINPUT,
		  "p: /rows/0/pages/0: is a number, must be a list" },
		{ "'rows'", "'rank':0", "'rank':1024", KVP_ELIMIT,
		  "p: /access/0/rank: is 1024, must be at most 1023" },
		{ "'rows'", "'readers':[0,1", "'readers':[0,0", KVP_EINPUT,
		  "p: /access/0/readers/1: rank 0 is listed twice" },
		{ "'summary'", "true", "1", KVP_EINPUT, "p: /summary/optimal: "
		  "is a number, must be true or false" },
		{ "'entries'", "'limit':", "'limit':1.5e0,'limits':",
		  KVP_EINPUT, "p: /summary/entries/limits: unknown key; known "
		  "here: per_rank, per_node, limit" },
	};
	char *text;
	size_t i;

	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		text = replaced(faults[i].anchor, faults[i].from,
				faults[i].to);
		check_refused(text, faults[i].code, faults[i].message);
		free(text);
	}
}
END_TEST

/* Judging is the checker's business. */
START_TEST(wrong_plans_that_the_format_can_express_are_taken)
{
	static const char *const changes[][3] = {
		{ "'chunks'", "'plane':0", "'plane':4294967295" },
		{ "'chunks'", "'bytes':4096", "'bytes':0" },
		{ "'chunks'", "'offset':0", "'offset':9007199254740991" },
		{ "'rows'", "'row':0", "'row':77" },
		{ "'rows'", "[[", "[[9,3],[" },
		{ "'rows'", "'rank':0", "'rank':1023" },
		{ "'rows'", "'readers':[0,1", "'readers':[1" },
		{ "'summary'", "'chunks':", "'chunks':1" },
		{ "'summary'", "true", "false" },
		{ "'entries'", "'per_rank':[", "'per_rank':[1," },
		{ "'dedicated_bytes'", "'dedicated_bytes':",
		  "'dedicated_bytes':1" },
	};
	struct kvp_plan plan;
	char *text, *again;
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		text = replaced(changes[i][0], changes[i][1], changes[i][2]);
		plan = read_plan(text);
		again = written_plan(&plan);
		ck_assert_str_eq(text, again);
		kvp_plan_release(&plan);
		free(again);
		free(text);
	}
}
END_TEST

static void check_kind(const char *text, enum kvp_document expected)
{
	char *quoted = json(text);
	enum kvp_document kind = expected == KVP_DOC_PLAN ? KVP_DOC_GEOMETRY :
							    KVP_DOC_PLAN;

	ck_assert_int_eq(kvp_document_kind(&kind, "d", quoted, strlen(quoted),
					   NULL), KVP_OK);
	ck_assert_int_eq(kind, expected);
	free(quoted);
}

static void check_no_kind(const char *text, int code, const char *message)
{
	char *quoted = json(text);
	enum kvp_document kind;
	struct kvp_error err = { 0 };

	ck_assert_int_eq(kvp_document_kind(&kind, "d", quoted, strlen(quoted),
					   &err), code);
	ck_assert_str_eq(err.text, message);
	free(quoted);
}

START_TEST(a_document_says_by_its_format_what_it_is)
{
	check_kind("{'format':'kvplan/geometry/1'}", KVP_DOC_GEOMETRY);
	check_kind("{'format':'kvplan/plan/1'}", KVP_DOC_PLAN);
	check_kind("{'x':[{'format':7}],'f\\u006frmat':'kvplan\\/plan\\/1',"
		   "'y':null}", KVP_DOC_PLAN);
}
END_TEST

START_TEST(a_document_of_no_known_format_is_refused)
{
	check_no_kind("", KVP_ESYNTAX, "d:1:1: empty text");
	check_no_kind("{'format':'kvplan/plan/1'", KVP_ESYNTAX,
		      "d:1:26: the text ends inside an object");
	check_no_kind("[]", KVP_EINPUT,
		      "d: /: is a list, must be an object");
	check_no_kind("{}", KVP_EINPUT, "d: /format: missing, "
		      "must be \"kvplan/geometry/1\" or "
		      "\"kvplan/plan/1\"");
	check_no_kind("{'format':1}", KVP_EINPUT,
		      "d: /format: is a number, must be a string");
	check_no_kind("{'format':'kvplan/plan/2'}", KVP_EINPUT,
		      "d: /format: is \"kvplan/plan/2\", must be one of "
		      "\"kvplan/geometry/1\", \"kvplan/plan/1\"");
}
END_TEST

START_TEST(merge_modes_have_names)
{
	enum kvp_merge merge, found;

	for (merge = KVP_MERGE_NONE; merge <= KVP_MERGE_SPAN; merge++) {
		ck_assert_int_eq(kvp_merge_find(kvp_merge_name(merge), &found),
				 KVP_OK);
		ck_assert_int_eq(found, merge);
	}
	ck_assert_str_eq(kvp_merge_name(KVP_MERGE_ROW), "row");
	ck_assert_int_eq(kvp_merge_find("Row", &found), KVP_EINPUT);
	ck_assert_int_eq(kvp_merge_find("", &found), KVP_EINPUT);
}
END_TEST

START_TEST(releasing_leaves_a_plan_empty_and_is_safe_twice)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_SPAN);

	kvp_plan_release(&plan);
	check_empty(&plan);
	kvp_plan_release(&plan);
}
END_TEST

Suite *plan_suite(void)
{
	Suite *suite = suite_create("plan");
	TCase *tests = tcase_create("plan");

	tcase_add_test(tests, a_plan_reads_back_byte_for_byte);
	tcase_add_test(tests, a_plan_states_what_it_is);
	tcase_add_loop_test(tests, every_missing_key_is_refused, 0,
			    sizeof(required) / sizeof(*required));
	tcase_add_test(tests, a_missing_format_is_refused);
	tcase_add_test(tests, a_plan_without_headroom_reads);
	tcase_add_test(tests, values_of_a_plan_are_checked);
	tcase_add_test(tests,
		       wrong_plans_that_the_format_can_express_are_taken);
	tcase_add_test(tests, a_document_says_by_its_format_what_it_is);
	tcase_add_test(tests, a_document_of_no_known_format_is_refused);
	tcase_add_test(tests, merge_modes_have_names);
	tcase_add_test(tests, releasing_leaves_a_plan_empty_and_is_safe_twice);
	suite_add_tcase(suite, tests);
	return suite;
}
