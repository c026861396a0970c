/*
 * The limits of a node: the file read strictly and written back, what it
 * means for a geometry, and the rule it decides.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

#define DEVICE(label)							\
	"{'label':'" label "','name':'NVIDIA H200','uuid':'GPU-1',"	\
	"'granularity':2097152,'recommended_granularity':2097152,"	\
	"'total_bytes':150000000000,'free_bytes':149000000000}"
#define NO "{'works':false,'answer':'CUDA_ERROR_NOT_SUPPORTED'}"
#define YES "{'works':true,'answer':'CUDA_SUCCESS'}"

/* As it is written. */
static const char sound[] =
	"{\n'format':'kvplan/limits/1',\n'driver':'CUDA driver API 13.0',\n"
	"'devices':[\n" DEVICE("GPU 0") ",\n" DEVICE("GPU 1") "\n],\n"
	"'peers':[\n[true,false],\n[true,true]\n],\n"
	"'abilities':{\n'offset_map':" NO ",\n'partial_map':" NO ",\n"
	"'part_grant':" NO ",\n'half_unmap':" NO ",\n'alias_coherent':" YES
	",\n'read_only_peers':null,\n'hint_honoured':" YES
	",\n'hint_moves':" YES "\n},\n"
	"'cost_ns':{\n'create':12000,\n'map':900,\n'grant':33000,\n"
	"'grant_two':null,\n'unmap':20000,\n'unmap_two':38000,\n"
	"'release':13000\n},\n"
	"'entries':{'free':523878,'exact':true}\n}\n";

static struct kvp_limits limits_of(const char *text)
{
	struct kvp_limits l;
	struct kvp_error err = { 0 };
	char *copy = json(text);
	int code = kvp_limits_read(&l, "l", copy, strlen(copy), &err);

	ck_assert_msg(!code, "%s", err.text);
	free(copy);
	return l;
}

/* The sound text with `from` replaced by `to`; free() it. */
static char *changed(const char *from, const char *to)
{
	const char *at = strstr(sound, from);
	size_t before = (size_t)(at - sound);
	char *text = malloc(sizeof(sound) + strlen(to)), *copy;

	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_nonnull(text);
	memcpy(text, sound, before);
	strcpy(text + before, to);
	strcat(text, at + strlen(from));
	copy = json(text);
	free(text);
	return copy;
}

static void check_fault(const char *from, const char *to, int expected,
			const char *message)
{
	struct kvp_error err = { 0 };
	struct kvp_limits l;
	char *text = changed(from, to);
	int code = kvp_limits_read(&l, "l", text, strlen(text), &err);

	free(text);
	ck_assert_msg(code == expected && !strncmp(err.text, message,
						   strlen(message)),
		      "%s: seen %s %s, expected %s %s", to,
		      kvp_code_name(code), err.text, kvp_code_name(expected),
		      message);
	ck_assert_ptr_null(l.devices);
	ck_assert_ptr_null(l.peers);
	kvp_limits_release(&l);
}

START_TEST(what_is_read_is_written_byte_for_byte)
{
	struct kvp_limits l = limits_of(sound);
	char *text, *expected = json(sound);
	size_t len;

	ck_assert_uint_eq(l.ndevices, 2);
	ck_assert_str_eq(l.devices[1].label, "GPU 1");
	ck_assert_uint_eq(l.devices[0].free_bytes, 149000000000);
	ck_assert(l.peers[0] && !l.peers[1] && l.peers[2] && l.peers[3]);
	ck_assert_int_eq(l.ability[KVP_OFFSET_MAP].works, KVP_NO);
	ck_assert_int_eq(l.ability[KVP_READ_ONLY_PEERS].works, KVP_NOT_ASKED);
	ck_assert_int_eq(l.ability[KVP_HINT_MOVES].works, KVP_YES);
	ck_assert_uint_eq(l.cost_ns[KVP_COST_GRANT], 33000);
	ck_assert_uint_eq(l.cost_ns[KVP_COST_GRANT_TWO], KVP_NOT_TIMED);
	ck_assert(l.entries_counted && l.entries_exact);
	ck_assert_uint_eq(l.entries_free, 523878);
	ck_assert_int_eq(kvp_limits_write(&l, &text, &len, NULL), KVP_OK);
	ck_assert_uint_eq(len, strlen(text));
	ck_assert_str_eq(text, expected);
	free(text);
	free(expected);
	kvp_limits_release(&l);
	kvp_limits_release(&l);
	ck_assert_ptr_null(l.devices);
}
END_TEST

START_TEST(what_is_not_counted_reads_as_not_counted)
{
	char *text = changed("{'free':523878,'exact':true}", "null");
	struct kvp_limits l = limits_of(text);

	ck_assert(!l.entries_counted);
	free(text);
	kvp_limits_release(&l);
}
END_TEST

START_TEST(what_breaks_the_format_is_refused_with_its_place)
{
	check_fault("limits/1", "limits/2", KVP_EINPUT, "l: /format: ");
	check_fault("'driver'", "'drive'", KVP_EINPUT, "l: /drive");
	check_fault("[true,false]", "[true]", KVP_EINPUT, "l: /peers/0: ");
	check_fault("[true,true]", "[true,1]", KVP_EINPUT, "l: /peers/1/1: ");
	check_fault(",\n[true,true]", "", KVP_EINPUT, "l: /peers: ");
	check_fault("[\n" DEVICE("GPU 0") ",\n" DEVICE("GPU 1") "\n]", "[]",
		    KVP_EINPUT, "l: /devices: ");
	check_fault("'granularity':2097152", "'granularity':2097153",
		    KVP_EINPUT, "l: /devices/0/granularity: ");
	check_fault("'granularity':2097152", "'granularity':2048",
		    KVP_EINPUT, "l: /devices/0/granularity: ");
	check_fault("'GPU 0'", "'0123456789012345678901234567890123456789'",
		    KVP_EINPUT, "l: /devices/0/label: ");
	check_fault("'GPU 0'", "'\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
		    "\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
		    "\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9'", KVP_EINPUT,
		    "l: /devices/0/label: ");
	check_fault("'works':false", "'works':'no'", KVP_EINPUT,
		    "l: /abilities/offset_map/works: ");
	check_fault("'map':900", "'map':-1", KVP_EINPUT, "l: /cost_ns/map: ");
	check_fault("523878", "4294967296", KVP_ELIMIT, "l: /entries/free: ");
	check_fault(",'exact':true", "", KVP_EINPUT, "l: /entries");
	check_fault("}\n", "}\n}", KVP_ESYNTAX, "l:");
}
END_TEST

START_TEST(free_entries_and_those_of_others_are_the_limit)
{
	struct kvp_geometry g = { .entry_limit = 524288,
				  .entry_reserve = 4096,
				  .static_entries = 2869 };
	struct kvp_limits l = { .entries_counted = true,
				.entries_free = 500000 };

	ck_assert_uint_eq(kvp_limits_entry_limit(NULL, &g), 524288);
	ck_assert_uint_eq(kvp_limits_entry_limit(&l, &g), 502869);
	l.entries_free = 0;
	ck_assert_uint_eq(kvp_limits_entry_limit(&l, &g), 4096);
	l.entries_free = UINT32_MAX;
	g.static_entries = UINT64_C(1) << 50;
	ck_assert_uint_eq(kvp_limits_entry_limit(&l, &g), UINT64_C(1) << 50);
	l.entries_counted = false;
	ck_assert_uint_eq(kvp_limits_entry_limit(&l, &g), 524288);
}
END_TEST

START_TEST(a_granularity_that_is_no_multiple_is_refused)
{
	struct kvp_limits l = limits_of(sound);
	struct kvp_geometry g = { .granularity = 2097152 };
	struct kvp_error err = { 0 };

	ck_assert_int_eq(kvp_limits_check(&l, &g, &err), KVP_OK);
	g.granularity = 4194304;
	ck_assert_int_eq(kvp_limits_check(&l, &g, &err), KVP_OK);
	g.granularity = 65536;
	ck_assert_int_eq(kvp_limits_check(&l, &g, &err), KVP_EREFUSED);
	ck_assert_ptr_nonnull(strstr(err.text, "65536 bytes, but GPU 0"));
	ck_assert_ptr_nonnull(strstr(err.text, "granularity 2097152"));
	kvp_limits_release(&l);
}
END_TEST

/* Is the plan good with so many entries free? */
static bool good_with(const struct kvp_plan *plan, uint64_t free_entries)
{
	struct kvp_limits l = { .entries_counted = true,
				.entries_free = free_entries };
	struct kvp_verify_options options;
	struct kvp_verdict *verdict;
	const struct kvp_finding *f;
	size_t count;
	bool ok;

	kvp_verify_options_init(&options);
	ck_assert_ptr_null(options.limits);
	options.limits = &l;
	ck_assert_int_eq(kvp_verify(plan, &options, &verdict, NULL), KVP_OK);
	f = kvp_verdict_findings(verdict, &count);
	ok = kvp_verdict_ok(verdict);
	ck_assert_uint_eq(count, !ok);
	if (!ok)
		ck_assert_int_eq(f[0].rule, KVP_RULE_ENTRY_LIMIT);
	/* What the plan states stays what is true of it. */
	ck_assert_uint_eq(kvp_verdict_summary(verdict)->limit,
			  plan->summary.limit);
	kvp_verdict_free(verdict);
	return ok;
}

START_TEST(the_entry_limit_is_judged_by_the_node_and_nothing_else_is)
{
	struct kvp_plan plan = plan_of("static_entries=7;entry_reserve=5;"
				       "entry_limit=100000", KVP_MERGE_ROW);
	uint64_t need = plan.summary.per_node[0];

	ck_assert_uint_gt(need, 7);
	ck_assert(good_with(&plan, need - 7 + 5));
	ck_assert(!good_with(&plan, need - 7 + 4));
	ck_assert(!good_with(&plan, 0));
	kvp_plan_release(&plan);
	plan = plan_of("entry_reserve=0;entry_limit=1", KVP_MERGE_ROW);
	ck_assert(good_with(&plan, plan.summary.per_node[0]));
	kvp_plan_release(&plan);
}
END_TEST

START_TEST(preflight_judges_by_the_node)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_ROW);
	struct kvp_limits l = { .entries_counted = true };
	struct kvp_realize_options options = { .nranks = 4, .limits = &l };
	struct kvp_realization *r = NULL;
	struct kvp_verdict *verdict;
	struct kvp_backend *host;
	struct kvp_error err = { 0 };

	options.nranks = (uint32_t)plan.geometry.ranks;
	ck_assert_int_eq(kvp_verify(&plan, NULL, &verdict, &err), KVP_OK);
	ck_assert_int_eq(kvp_backend_host(&host, options.nranks, 4096, &err),
			 KVP_OK);
	l.entries_free = plan.summary.per_node[0] +
			 plan.geometry.entry_reserve - 1;
	ck_assert_int_eq(kvp_realize(&r, &plan, verdict, host, &options,
				     &err), KVP_EENTRIES);
	l.entries_free++;
	ck_assert_int_eq(kvp_realize(&r, &plan, verdict, host, &options,
				     &err), KVP_OK);
	ck_assert_int_eq(kvp_realization_free(r, &err), KVP_OK);
	l.ndevices = 1;
	l.devices = &(struct kvp_limits_device){ .label = "GPU 0",
						 .granularity = 8192 };
	ck_assert_int_eq(kvp_realize(&r, &plan, verdict, host, &options,
				     &err), KVP_EREFUSED);
	ck_assert_ptr_nonnull(strstr(err.text, "8192"));
	kvp_backend_close(host);
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
}
END_TEST

Suite *limits_suite(void)
{
	Suite *s = suite_create("limits");
	TCase *t = tcase_create("limits");

	tcase_add_test(t, what_is_read_is_written_byte_for_byte);
	tcase_add_test(t, what_is_not_counted_reads_as_not_counted);
	tcase_add_test(t, what_breaks_the_format_is_refused_with_its_place);
	tcase_add_test(t, free_entries_and_those_of_others_are_the_limit);
	tcase_add_test(t, a_granularity_that_is_no_multiple_is_refused);
	tcase_add_test(t, the_entry_limit_is_judged_by_the_node_and_nothing_else_is);
	tcase_add_test(t, preflight_judges_by_the_node);
	suite_add_tcase(s, t);
	return s;
}
