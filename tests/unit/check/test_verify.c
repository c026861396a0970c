/*
 * The verdict as an object: rules by name, severities, order and text of
 * findings.  What each rule finds is tested in tests/rules.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

static struct kvp_verdict *verdict_of(const struct kvp_plan *plan,
				      const struct kvp_verify_options *options)
{
	struct kvp_verdict *verdict;
	struct kvp_error err = { 0 };
	int code = kvp_verify(plan, options, &verdict, &err);

	ck_assert_msg(!code, "%s", err.text);
	return verdict;
}

START_TEST(rules_have_names_and_statements_of_their_own)
{
	unsigned i, j;

	for (i = 0; i < KVP_RULES; i++) {
		const char *name = kvp_rule_name((enum kvp_rule)i);
		const char *says = kvp_rule_statement((enum kvp_rule)i);

		ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz-"),
				  strlen(name));
		ck_assert_uint_gt(strlen(says), 20);
		ck_assert(islower((unsigned char)*says));
		for (j = 0; j < i; j++) {
			ck_assert_str_ne(name, kvp_rule_name((enum kvp_rule)j));
			ck_assert_str_ne(says,
				kvp_rule_statement((enum kvp_rule)j));
		}
	}
	ck_assert_str_eq(kvp_rule_name(KVP_RULE_ALIGNMENT), "alignment");
	ck_assert_str_eq(kvp_rule_name(KVP_RULE_ENTRY_LIMIT), "entry-limit");
	ck_assert_str_eq(kvp_rule_name(KVP_RULE_HEADROOM), "headroom");
}
END_TEST

START_TEST(rules_are_found_by_their_names_only)
{
	static const char *const strange[] = {
		"", "align", "alignments", "Alignment", "alignment ",
		"plane_coverage", "0",
	};
	enum kvp_rule found = KVP_RULE_BOUND;
	unsigned i;

	for (i = 0; i < KVP_RULES; i++) {
		ck_assert_int_eq(kvp_rule_find(kvp_rule_name((enum kvp_rule)i),
					       &found), KVP_OK);
		ck_assert_uint_eq(found, i);
	}
	found = KVP_RULE_BOUND;
	for (i = 0; i < sizeof(strange) / sizeof(*strange); i++) {
		ck_assert_int_eq(kvp_rule_find(strange[i], &found),
				 KVP_EINPUT);
		ck_assert_int_eq(found, KVP_RULE_BOUND);
	}
}
END_TEST

START_TEST(all_rules_but_one_are_errors_by_default)
{
	struct kvp_verify_options options;
	unsigned i;

	memset(&options, 0xa5, sizeof(options));
	kvp_verify_options_init(&options);
	for (i = 0; i < KVP_RULES; i++)
		ck_assert_int_eq(options.severity[i],
				 i == KVP_RULE_ADDRESS_SPACE ? KVP_WARNING :
				 KVP_ERROR);
}
END_TEST

START_TEST(a_good_plan_has_no_findings)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_ROW);
	struct kvp_verdict *verdict = verdict_of(&plan, NULL);
	const struct kvp_summary *truth = kvp_verdict_summary(verdict);
	size_t count;

	kvp_verdict_findings(verdict, &count);
	ck_assert_uint_eq(count, 0);
	ck_assert(kvp_verdict_ok(verdict));
	ck_assert_uint_eq(truth->chunks, plan.summary.chunks);
	ck_assert_uint_eq(truth->lower_bound, plan.summary.lower_bound);
	ck_assert_uint_eq(truth->per_node[0], plan.summary.per_node[0]);
	kvp_verdict_free(verdict);
	kvp_verdict_free(NULL);
	kvp_plan_release(&plan);
}
END_TEST

/* The one finding of a plan over a table of one entry. */
static struct kvp_finding over_limit(enum kvp_severity severity, bool ok)
{
	struct kvp_plan plan = plan_of("entry_limit=1;entry_reserve=0",
				       KVP_MERGE_ROW);
	const struct kvp_finding *findings;
	struct kvp_verify_options options;
	struct kvp_verdict *verdict;
	struct kvp_finding finding;
	size_t count;

	kvp_verify_options_init(&options);
	options.severity[KVP_RULE_ENTRY_LIMIT] = severity;
	verdict = verdict_of(&plan, &options);
	findings = kvp_verdict_findings(verdict, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(findings->rule, KVP_RULE_ENTRY_LIMIT);
	ck_assert_int_eq(findings->severity, severity);
	ck_assert_int_eq(findings->place, KVP_AT_NODE);
	ck_assert_uint_eq(findings->index, 0);
	ck_assert_uint_eq(findings->stated, plan.summary.per_node[0]);
	ck_assert_uint_eq(findings->expected, 1);
	ck_assert_int_eq(kvp_verdict_ok(verdict), ok);
	finding = *findings;		/* its text is static */
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
	return finding;
}

START_TEST(a_warning_does_not_spoil_the_verdict)
{
	over_limit(KVP_ERROR, false);
	over_limit(KVP_WARNING, true);
}
END_TEST

START_TEST(one_warning_does_not_hide_another_error)
{
	struct kvp_plan plan = plan_of("entry_limit=1;entry_reserve=0",
				       KVP_MERGE_ROW);
	struct kvp_verify_options options;
	struct kvp_verdict *verdict;
	size_t count;

	kvp_verify_options_init(&options);
	options.severity[KVP_RULE_ENTRY_LIMIT] = KVP_WARNING;
	plan.summary.kv_tokens++;
	verdict = verdict_of(&plan, &options);
	kvp_verdict_findings(verdict, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert(!kvp_verdict_ok(verdict));
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
}
END_TEST

/* Errors, and warnings of rules that are not advisory. */
START_TEST(every_finding_in_the_way_of_a_realization_is_named_once)
{
	struct kvp_plan plan = plan_of("entry_limit=1;entry_reserve=0",
				       KVP_MERGE_ROW);
	struct kvp_verify_options options;
	struct kvp_verdict *verdict;
	const struct kvp_finding *f;

	kvp_verify_options_init(&options);
	plan.summary.kv_tokens++;
	options.severity[KVP_RULE_CAPACITY] = KVP_WARNING;
	verdict = verdict_of(&plan, &options);
	f = kvp_verdict_obstacle(verdict, NULL);
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(f->rule, KVP_RULE_CAPACITY);
	f = kvp_verdict_obstacle(verdict, f);
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(f->rule, KVP_RULE_ENTRY_LIMIT);
	ck_assert_ptr_null(kvp_verdict_obstacle(verdict, f));
	kvp_verdict_free(verdict);
	options.severity[KVP_RULE_ENTRY_LIMIT] = KVP_WARNING;
	verdict = verdict_of(&plan, &options);
	f = kvp_verdict_obstacle(verdict, NULL);
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_null(kvp_verdict_obstacle(verdict, f));
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
}
END_TEST

/* Many findings of several rules, at many places. */
START_TEST(findings_come_by_rule_and_place)
{
	struct kvp_plan plan = plan_of(published_dcp16, KVP_MERGE_ROW);
	struct kvp_verdict *verdict;
	const struct kvp_finding *f;
	size_t count, i;

	for (i = 0; i < plan.summary.nper_rank; i++)
		plan.summary.per_rank[i]++;
	for (i = 0; i < plan.nspans; i += 3)
		plan.spans[i].end++;
	plan.summary.per_node[0]--;
	plan.summary.limit = 7;
	plan.summary.kv_tokens = 0;
	plan.summary.lower_bound++;
	verdict = verdict_of(&plan, NULL);
	f = kvp_verdict_findings(verdict, &count);
	ck_assert_uint_gt(count, 40);
	ck_assert_int_eq(f[0].rule, KVP_RULE_ROWS);
	ck_assert_int_eq(f[count - 1].rule, KVP_RULE_BOUND);
	for (i = 1; i < count; i++) {
		ck_assert_int_le(f[i - 1].rule, f[i].rule);
		if (f[i - 1].rule != f[i].rule)
			continue;
		ck_assert_int_le(f[i - 1].place, f[i].place);
		if (f[i - 1].place == f[i].place)
			ck_assert_uint_le(f[i - 1].index, f[i].index);
	}
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
}
END_TEST

START_TEST(a_failed_rule_silences_those_that_need_it)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_ROW);
	struct kvp_verdict *verdict;
	const struct kvp_finding *f;
	size_t count;

	plan.chunks[0].offset++;
	verdict = verdict_of(&plan, NULL);
	f = kvp_verdict_findings(verdict, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(f->rule, KVP_RULE_ALIGNMENT);
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
}
END_TEST

/* A mere warning, and yet nothing that needs the rule was judged. */
START_TEST(rules_that_a_warning_silences_say_so)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_ROW);
	struct kvp_verify_options options;
	struct kvp_verdict *verdict;
	const struct kvp_finding *f;
	size_t count;

	kvp_verify_options_init(&options);
	options.severity[KVP_RULE_ALIGNMENT] = KVP_WARNING;
	plan.chunks[0].offset++;
	verdict = verdict_of(&plan, &options);
	f = kvp_verdict_findings(verdict, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(f[0].rule, KVP_RULE_ALIGNMENT);
	ck_assert_int_eq(f[0].severity, KVP_WARNING);
	ck_assert_int_eq(f[1].rule, KVP_RULE_PLANE_COVERAGE);
	ck_assert_int_eq(f[1].severity, KVP_ERROR);
	ck_assert(!kvp_verdict_ok(verdict));
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
}
END_TEST

static size_t headroom_findings(uint64_t free_bytes, uint64_t cap_bytes,
				bool bounded)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_ROW);
	struct kvp_verdict *verdict;
	size_t count;

	plan.has_headroom = plan.geometry.has_headroom = true;
	plan.headroom = plan.geometry.headroom = (struct kvp_headroom){
		free_bytes, cap_bytes, bounded
	};
	verdict = verdict_of(&plan, NULL);
	(void)kvp_verdict_findings(verdict, &count);
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
	return count;
}

START_TEST(a_stated_cap_is_at_most_half_of_what_is_free)
{
	ck_assert_uint_eq(headroom_findings(274726912, 67108864, true), 0);
	ck_assert_uint_eq(headroom_findings(100, 50, true), 0);
	ck_assert_uint_eq(headroom_findings(101, 50, true), 0);
	ck_assert_uint_eq(headroom_findings(101, 51, true), 1);
	ck_assert_uint_eq(headroom_findings(100, 51, true), 1);
	ck_assert_uint_eq(headroom_findings(0, 0, true), 0);
	ck_assert_uint_eq(headroom_findings(1, 1, true), 1);
	ck_assert_uint_eq(headroom_findings(274726912, 1 << 30, true), 1);
	ck_assert_uint_eq(headroom_findings(UINT64_C(1) << 40, 0, false), 1);
}
END_TEST

START_TEST(a_verdict_is_for_the_plan_it_was_reached_for)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_ROW);
	struct kvp_plan same = plan_of("", KVP_MERGE_ROW);
	struct kvp_plan other = plan_of("pages=9", KVP_MERGE_ROW);
	struct kvp_verdict *verdict = verdict_of(&plan, NULL);

	ck_assert(kvp_verdict_is_for(verdict, &plan));
	ck_assert(kvp_verdict_is_for(verdict, &same));
	ck_assert(!kvp_verdict_is_for(verdict, &other));
	plan.chunks[0].arena++;
	ck_assert(!kvp_verdict_is_for(verdict, &plan));
	same.spans[0].end++;
	ck_assert(!kvp_verdict_is_for(verdict, &same));
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
	kvp_plan_release(&same);
	kvp_plan_release(&other);
}
END_TEST

START_TEST(a_plan_whose_geometry_has_no_layout_is_not_judged)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_ROW);
	struct kvp_verdict *verdict = (struct kvp_verdict *)&plan;
	struct kvp_error err = { 0 };

	plan.geometry.snapshot_rows = 1000;
	ck_assert_int_eq(kvp_verify(&plan, NULL, &verdict, &err),
			 KVP_EINFEASIBLE);
	ck_assert_int_eq(err.code, KVP_EINFEASIBLE);
	ck_assert_ptr_null(verdict);
	kvp_plan_release(&plan);
}
END_TEST

static void check_text(const struct kvp_finding *finding, const char *expected)
{
	char text[256];

	ck_assert_uint_eq(kvp_finding_text(finding, text, sizeof(text)),
			  strlen(expected));
	ck_assert_str_eq(text, expected);
}

START_TEST(a_finding_is_told_in_one_line)
{
	struct kvp_finding f = { .rule = KVP_RULE_PLANE_COVERAGE,
		.place = KVP_AT_CHUNK, .index = 3, .what = "begins at byte",
		.stated = 4194304, .expected = 2097152 };

	check_text(&f, "plane-coverage: chunks[3]: begins at byte 4194304, "
		   "expected 2097152");
	f.place = KVP_AT_PLANE;
	f.index = UINT64_MAX;
	f.stated = UINT64_MAX;
	check_text(&f, "plane-coverage: planes[18446744073709551615]: begins "
		   "at byte 18446744073709551615, expected 2097152");
	f = (struct kvp_finding){ .rule = KVP_RULE_BOUND, .what = "has chunks",
		.stated = 3, .expected = 4, .relation = KVP_AT_LEAST };
	check_text(&f, "bound: plan: has 3 chunks, expected at least 4");
	f.place = KVP_AT_ROW;
	f.relation = KVP_AT_MOST;
	check_text(&f, "bound: rows[0]: has 3 chunks, expected at most 4");
	f.place = KVP_AT_RANK;
	f.relation = KVP_EXACTLY;
	check_text(&f, "bound: ranks[0]: has 3 chunks, expected 4");
	f.place = KVP_AT_NODE;
	check_text(&f, "bound: nodes[0]: has 3 chunks, expected 4");
	f = (struct kvp_finding){ .rule = KVP_RULE_PLANE_COVERAGE,
		.place = KVP_AT_CHUNK, .stated = 99, .expected = 5,
		.what = "names a plane that is not there" };
	check_text(&f, "plane-coverage: chunks[0]: is of plane 99; the last "
		   "plane is 5");
}
END_TEST

START_TEST(a_finding_is_cut_to_fit_and_tells_its_length)
{
	struct kvp_finding f = over_limit(KVP_ERROR, false);
	char whole[256], text[256];
	size_t len = kvp_finding_text(&f, whole, sizeof(whole)), size;

	ck_assert_uint_eq(len, strlen(whole));
	ck_assert_uint_eq(kvp_finding_text(&f, NULL, 0), len);
	for (size = 1; size <= len + 1; size++) {
		memset(text, 'x', sizeof(text));
		ck_assert_uint_eq(kvp_finding_text(&f, text, size), len);
		ck_assert_uint_eq(strlen(text), size - 1);
		ck_assert_int_eq(strncmp(text, whole, size - 1), 0);
		ck_assert_int_eq(text[size], 'x');
	}
}
END_TEST

/* offset + bytes is 2^64: a sum that wraps to 0 covers nothing. */
START_TEST(numbers_that_wrap_are_not_aligned)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_NONE);
	struct kvp_chunk *last = &plan.chunks[plan.nchunks - 1];
	const struct kvp_finding *findings;
	struct kvp_verdict *verdict;
	size_t count;

	last->bytes = UINT64_MAX - last->offset + 1;
	verdict = verdict_of(&plan, NULL);
	findings = kvp_verdict_findings(verdict, &count);
	ck_assert_uint_ge(count, 1);
	ck_assert_int_eq(findings->rule, KVP_RULE_ALIGNMENT);
	ck_assert_int_eq(findings->relation, KVP_AT_MOST);
	ck_assert_uint_eq(findings->index, plan.nchunks - 1);
	ck_assert_uint_eq(findings->stated, last->bytes);
	ck_assert_uint_eq(findings->expected, KVP_NUMBER_MAX);
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
}
END_TEST

START_TEST(four_rules_are_advisory)
{
	unsigned i, count = 0;

	for (i = 0; i < KVP_RULES; i++)
		count += kvp_rule_is_advisory((enum kvp_rule)i);
	ck_assert_uint_eq(count, 4);
	ck_assert(kvp_rule_is_advisory(KVP_RULE_ENTRY_LIMIT));
	ck_assert(kvp_rule_is_advisory(KVP_RULE_BOUND));
	ck_assert(kvp_rule_is_advisory(KVP_RULE_HEADROOM));
	ck_assert(kvp_rule_is_advisory(KVP_RULE_ADDRESS_SPACE));
	ck_assert(!kvp_rule_is_advisory((enum kvp_rule)KVP_RULES));
	ck_assert(!kvp_rule_is_advisory((enum kvp_rule)-1));
}
END_TEST

/* What no document states: a program changed it after reading. */
START_TEST(a_geometry_that_cannot_be_read_is_not_judged)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_NONE), whole = plan;
	struct kvp_verdict *verdict = (struct kvp_verdict *)&plan;
	struct kvp_error err = { 0 };

	plan.geometry.dcp_group_size = 0;
	ck_assert_int_eq(kvp_verify(&plan, NULL, &verdict, &err), KVP_EINPUT);
	ck_assert_ptr_null(verdict);
	ck_assert_ptr_nonnull(strstr(err.text, "/dcp_group_size"));
	plan = whole;
	plan.geometry.imports[0].rank[0] ^= 64;
	ck_assert_int_eq(kvp_verify(&plan, NULL, &verdict, &err), KVP_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.text, "/access/imports"));
	plan.geometry.imports[0].rank[0] ^= 64;
	plan.merge = (enum kvp_merge)3;
	ck_assert_int_eq(kvp_verify(&plan, NULL, &verdict, &err), KVP_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.text, "merge is 3"));
	plan = whole;
	plan.geometry.importer_mode = (enum kvp_importer_mode)77;
	ck_assert_int_eq(kvp_verify(&plan, NULL, &verdict, &err), KVP_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.text, "/access/importer_mode: is 77"));
	plan = whole;
	plan.geometry.planes[0].has_address = true;
	plan.geometry.planes[0].address = 4097;
	ck_assert_int_eq(kvp_verify(&plan, NULL, &verdict, &err), KVP_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.text, "/planes/0/address"));
	/* An address that does not count. */
	plan.geometry.planes[0].has_address = false;
	ck_assert_int_eq(kvp_verify(&plan, NULL, &verdict, &err), KVP_OK);
	kvp_verdict_free(verdict);
	plan.merge = (enum kvp_merge)3;
	ck_assert_str_eq(kvp_merge_name(plan.merge), "?");
	plan = whole;
	kvp_plan_release(&plan);
}
END_TEST

Suite *verify_suite(void)
{
	Suite *suite = suite_create("verify");
	TCase *tests = tcase_create("verify");

	tcase_add_test(tests, rules_have_names_and_statements_of_their_own);
	tcase_add_test(tests, rules_are_found_by_their_names_only);
	tcase_add_test(tests, all_rules_but_one_are_errors_by_default);
	tcase_add_test(tests, four_rules_are_advisory);
	tcase_add_test(tests, numbers_that_wrap_are_not_aligned);
	tcase_add_test(tests, a_geometry_that_cannot_be_read_is_not_judged);
	tcase_add_test(tests, a_good_plan_has_no_findings);
	tcase_add_test(tests, a_warning_does_not_spoil_the_verdict);
	tcase_add_test(tests, one_warning_does_not_hide_another_error);
	tcase_add_test(tests,
		every_finding_in_the_way_of_a_realization_is_named_once);
	tcase_add_test(tests, findings_come_by_rule_and_place);
	tcase_add_test(tests, a_failed_rule_silences_those_that_need_it);
	tcase_add_test(tests, rules_that_a_warning_silences_say_so);
	tcase_add_test(tests, a_stated_cap_is_at_most_half_of_what_is_free);
	tcase_add_test(tests, a_verdict_is_for_the_plan_it_was_reached_for);
	tcase_add_test(tests,
		       a_plan_whose_geometry_has_no_layout_is_not_judged);
	tcase_add_test(tests, a_finding_is_told_in_one_line);
	tcase_add_test(tests, a_finding_is_cut_to_fit_and_tells_its_length);
	suite_add_tcase(suite, tests);
	return suite;
}
