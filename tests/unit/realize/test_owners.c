/*
 * Owners: a row and its conflicting pages are never owned together.
 */
#include <stdlib.h>
#include <string.h>

#include "realize/owners.h"
#include "unit/unit.h"

#define PAGES 12

/*
 *   page   0 1 2 3 4 5 6 7 8 9 10 11
 *   row 0  x x x
 *   row 1      x x     x
 *   row 2              x x
 *   row 3  (none: below the dedicated backing)
 */
static struct kvp_span spans[] = {
	{ 0, 3 }, { 2, 4 }, { 6, 7 }, { 6, 8 },
};
static struct kvp_row rows[] = {
	{ 0, 0, 1 }, { 1, 1, 2 }, { 2, 3, 1 }, { 3, 4, 0 },
};

static struct kvp_plan plan_by_hand(void)
{
	struct kvp_plan plan;

	memset(&plan, 0, sizeof(plan));
	plan.geometry.pages = PAGES;
	plan.rows = rows;
	plan.nrows = sizeof(rows) / sizeof(*rows);
	plan.spans = spans;
	plan.nspans = sizeof(spans) / sizeof(*spans);
	return plan;
}

static struct kvp_owners *owners_of(const struct kvp_plan *plan)
{
	struct kvp_owners *o;
	struct kvp_error err = { 0 };
	int code = kvp_owners_new(&o, plan, &err);

	ck_assert_msg(!code, "%s", err.text);
	return o;
}

#define check_text(call, wanted_code, wanted_text)			\
	do {								\
		struct kvp_error check_err = { 0 };			\
		struct kvp_error *err = &check_err;			\
									\
		ck_assert_int_eq(call, wanted_code);			\
		ck_assert_int_eq(check_err.code, wanted_code);		\
		ck_assert_str_eq(check_err.text, wanted_text);		\
	} while (0)

#define check_ok(call)							\
	do {								\
		ck_assert_int_eq(call, KVP_OK);				\
		owners_check_internal(o);				\
	} while (0)

static void check_pages(const struct kvp_owners *o, const char *free_pages)
{
	char got[PAGES + 1];
	size_t i;

	owners_check_internal(o);
	for (i = 0; i < PAGES; i++)
		got[i] = kvp_owners_page_is_free(o, i) ? '.' : '#';
	got[PAGES] = '\0';
	ck_assert_str_eq(got, free_pages);
}

START_TEST(an_owned_row_blocks_its_pages_and_no_others)
{
	struct kvp_plan plan = plan_by_hand();
	struct kvp_owners *o = owners_of(&plan);

	check_pages(o, "............");
	check_ok(kvp_owners_acquire_row(o, 1, NULL));
	check_pages(o, "..##..#.....");
	check_text(kvp_owners_acquire_page(o, 3, err), KVP_EBUSY,
		   "page 3 is blocked: owned rows that conflict with it: 1");
	check_ok(kvp_owners_acquire_page(o, 4, NULL));
	check_ok(kvp_owners_release_row(o, 1, NULL));
	check_pages(o, "....#.......");
	kvp_owners_free(o);
}
END_TEST

START_TEST(a_shared_page_stays_blocked_until_both_rows_are_released)
{
	struct kvp_plan plan = plan_by_hand();
	struct kvp_owners *o = owners_of(&plan);

	check_ok(kvp_owners_acquire_row(o, 0, NULL));
	check_ok(kvp_owners_acquire_row(o, 1, NULL));
	check_ok(kvp_owners_acquire_row(o, 2, NULL));
	check_pages(o, "####..##....");
	check_text(kvp_owners_acquire_page(o, 6, err), KVP_EBUSY,
		   "page 6 is blocked: owned rows that conflict with it: 2");
	check_ok(kvp_owners_release_row(o, 1, NULL));
	check_pages(o, "###...##....");
	check_ok(kvp_owners_release_row(o, 2, NULL));
	check_pages(o, "###.........");
	check_ok(kvp_owners_acquire_page(o, 6, NULL));
	check_ok(kvp_owners_release_row(o, 0, NULL));
	check_pages(o, "......#.....");
	kvp_owners_free(o);
}
END_TEST

START_TEST(an_owned_page_keeps_every_row_it_conflicts_with_away)
{
	struct kvp_plan plan = plan_by_hand();
	struct kvp_owners *o = owners_of(&plan);

	check_ok(kvp_owners_acquire_page(o, 6, NULL));
	ck_assert(!kvp_owners_row_is_free(o, 1));
	ck_assert(!kvp_owners_row_is_free(o, 2));
	ck_assert(kvp_owners_row_is_free(o, 0));
	check_text(kvp_owners_acquire_row(o, 1, err), KVP_EBUSY,
		   "row 1 conflicts with page 6, which is owned");
	/* Nothing changed: the row's other pages are free still. */
	check_pages(o, "......#.....");
	check_ok(kvp_owners_release_page(o, 6, NULL));
	check_ok(kvp_owners_acquire_row(o, 1, NULL));
	kvp_owners_free(o);
}
END_TEST

START_TEST(a_row_without_pages_conflicts_with_none)
{
	struct kvp_plan plan = plan_by_hand();
	struct kvp_owners *o = owners_of(&plan);
	uint64_t page;

	for (page = 0; page < PAGES; page++)
		check_ok(kvp_owners_acquire_page(o, page, NULL));
	ck_assert(kvp_owners_row_is_free(o, 3));
	check_ok(kvp_owners_acquire_row(o, 3, NULL));
	ck_assert(!kvp_owners_row_is_free(o, 3));
	kvp_owners_free(o);
}
END_TEST

START_TEST(misuse_is_an_error_and_changes_nothing)
{
	struct kvp_plan plan = plan_by_hand();
	struct kvp_owners *o = owners_of(&plan);

	check_text(kvp_owners_release_page(o, 2, err), KVP_EBUSY,
		   "page 2 is not owned");
	check_text(kvp_owners_release_row(o, 2, err), KVP_EBUSY,
		   "row 2 is not owned");
	check_ok(kvp_owners_acquire_page(o, 9, NULL));
	check_text(kvp_owners_acquire_page(o, 9, err), KVP_EBUSY,
		   "page 9 is owned");
	check_ok(kvp_owners_acquire_row(o, 2, NULL));
	check_text(kvp_owners_acquire_row(o, 2, err), KVP_EBUSY,
		   "row 2 is owned");
	/* Blocked is not owned. */
	check_text(kvp_owners_release_page(o, 7, err), KVP_EBUSY,
		   "page 7 is not owned");
	check_pages(o, "......##.#..");
	check_ok(kvp_owners_release_row(o, 2, NULL));
	check_pages(o, ".........#..");
	kvp_owners_free(o);
}
END_TEST

START_TEST(pages_and_rows_that_do_not_exist_are_named)
{
	struct kvp_plan plan = plan_by_hand();
	struct kvp_owners *o = owners_of(&plan);

	check_text(kvp_owners_acquire_page(o, 12, err), KVP_EINPUT,
		   "no page 12: there are 12");
	check_text(kvp_owners_release_page(o, UINT64_MAX, err), KVP_EINPUT,
		   "no page 18446744073709551615: there are 12");
	check_text(kvp_owners_acquire_row(o, 4, err), KVP_EINPUT,
		   "no row 4: there are 4");
	check_text(kvp_owners_release_row(o, UINT64_MAX, err), KVP_EINPUT,
		   "no row 18446744073709551615: there are 4");
	ck_assert(!kvp_owners_page_is_free(o, 12));
	ck_assert(!kvp_owners_row_is_free(o, 4));
	kvp_owners_free(o);
	kvp_owners_free(NULL);
}
END_TEST

static void check_unsound(struct kvp_span *bad_spans, size_t nspans,
			  struct kvp_row row)
{
	struct kvp_plan plan = plan_by_hand();
	struct kvp_owners *o = (void *)&plan;
	struct kvp_error err = { 0 };

	plan.spans = bad_spans;
	plan.nspans = nspans;
	plan.rows = &row;
	plan.nrows = 1;
	ck_assert_int_eq(kvp_owners_new(&o, &plan, &err), KVP_EINPUT);
	ck_assert_str_eq(err.text, "rows[0]: must be row 0 with ascending "
			 "ranges of the 12 pages");
	ck_assert_ptr_null(o);
}

START_TEST(a_plan_with_unsound_rows_is_refused)
{
	struct kvp_span beyond = { 11, 13 }, empty = { 3, 3 };
	struct kvp_span backwards = { 5, 4 };
	struct kvp_span twice[2] = { { 1, 4 }, { 3, 5 } };
	struct kvp_span last = { 11, 12 };

	check_unsound(&beyond, 1, (struct kvp_row){ 0, 0, 1 });
	check_unsound(&empty, 1, (struct kvp_row){ 0, 0, 1 });
	check_unsound(&backwards, 1, (struct kvp_row){ 0, 0, 1 });
	check_unsound(twice, 2, (struct kvp_row){ 0, 0, 2 });
	check_unsound(&last, 1, (struct kvp_row){ 1, 0, 1 });
	check_unsound(&last, 1, (struct kvp_row){ 0, 0, 2 });
	check_unsound(&last, 1, (struct kvp_row){ 0, 2, 0 });
	check_unsound(&last, 1, (struct kvp_row){ 0, 1, SIZE_MAX });
}
END_TEST

START_TEST(more_pages_than_memory_are_out_of_memory)
{
	struct kvp_plan plan = plan_by_hand();
	struct kvp_owners *o;

	plan.geometry.pages = UINT64_MAX;
	check_text(kvp_owners_new(&o, &plan, err), KVP_ENOMEM,
		   "out of memory");
	ck_assert_ptr_null(o);
}
END_TEST

/* The model: what is owned, and for each question a look at everything. */

struct model {
	const struct kvp_plan *plan;
	bool page[64];
	bool row[64];
};

static bool conflict(const struct model *m, uint64_t row, uint64_t page)
{
	const struct kvp_row *r = &m->plan->rows[row];
	size_t i;

	for (i = r->first; i < r->first + r->count; i++)
		if (m->plan->spans[i].first <= page &&
		    page < m->plan->spans[i].end)
			return true;
	return false;
}

static bool model_page_is_free(const struct model *m, uint64_t page)
{
	uint64_t row;

	for (row = 0; row < m->plan->nrows; row++)
		if (m->row[row] && conflict(m, row, page))
			return false;
	return !m->page[page];
}

static bool model_row_is_free(const struct model *m, uint64_t row)
{
	uint64_t page;

	for (page = 0; page < m->plan->geometry.pages; page++)
		if (m->page[page] && conflict(m, row, page))
			return false;
	return !m->row[row];
}

static void check_model(const struct model *m, const struct kvp_owners *o)
{
	uint64_t i, wrong = 0;

	for (i = 0; i < m->plan->geometry.pages; i++)
		wrong += kvp_owners_page_is_free(o, i) !=
			 model_page_is_free(m, i);
	for (i = 0; i < m->plan->nrows; i++)
		wrong += kvp_owners_row_is_free(o, i) !=
			 model_row_is_free(m, i);
	ck_assert_uint_eq(wrong, 0);
}

static uint64_t seed;

static uint64_t below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static void step(struct model *m, struct kvp_owners *o)
{
	uint64_t page = below(m->plan->geometry.pages);
	uint64_t row = below(m->plan->nrows);

	switch (below(4)) {
	case 0:
		ck_assert_int_eq(kvp_owners_acquire_page(o, page, NULL),
				 model_page_is_free(m, page) ? 0 : KVP_EBUSY);
		m->page[page] |= model_page_is_free(m, page);
		break;
	case 1:
		ck_assert_int_eq(kvp_owners_acquire_row(o, row, NULL),
				 model_row_is_free(m, row) ? 0 : KVP_EBUSY);
		m->row[row] |= model_row_is_free(m, row);
		break;
	case 2:
		ck_assert_int_eq(kvp_owners_release_page(o, page, NULL),
				 m->page[page] ? 0 : KVP_EBUSY);
		m->page[page] = false;
		break;
	default:
		ck_assert_int_eq(kvp_owners_release_row(o, row, NULL),
				 m->row[row] ? 0 : KVP_EBUSY);
		m->row[row] = false;
		break;
	}
	owners_check_internal(o);
}

/* Rows of up to four spans over 64 pages. */
static void random_rows(struct kvp_plan *plan, struct kvp_row *row,
			struct kvp_span *span)
{
	uint64_t at;

	memset(plan, 0, sizeof(*plan));
	plan->geometry.pages = 64;
	plan->rows = row;
	plan->spans = span;
	for (plan->nrows = 0; plan->nrows < 8; plan->nrows++, row++) {
		row->row = plan->nrows;
		row->first = plan->nspans;
		row->count = 0;
		for (at = below(24); row->count < 4; row->count++) {
			span->first = at;
			span->end = at + 1 + below(3);
			at = span->end + 1 + below(8);
			span++;
		}
		plan->nspans += row->count;
	}
}

START_TEST(random_operations_agree_with_a_model)
{
	struct kvp_row row[8];
	struct kvp_span span[32];
	struct kvp_plan plan;
	struct kvp_owners *o;
	struct model m;
	int i, run;

	seed = 20260101;
	for (run = 0; run < 8; run++) {
		random_rows(&plan, row, span);
		o = owners_of(&plan);
		memset(&m, 0, sizeof(m));
		m.plan = &plan;
		for (i = 0; i < 20000 / 8; i++) {
			step(&m, o);
			check_model(&m, o);
		}
		kvp_owners_free(o);
	}
}
END_TEST

START_TEST(a_planned_layout_is_owned_by_its_own_rows)
{
	struct kvp_plan plan = plan_of("", KVP_MERGE_ROW);
	struct kvp_owners *o = owners_of(&plan);
	struct model m;
	int i;

	memset(&m, 0, sizeof(m));
	m.plan = &plan;
	seed = 7;
	for (i = 0; i < 2000; i++) {
		step(&m, o);
		check_model(&m, o);
	}
	kvp_owners_free(o);
	kvp_plan_release(&plan);
}
END_TEST

Suite *owners_suite(void)
{
	Suite *suite = suite_create("owners");
	TCase *tests = tcase_create("owners");

	tcase_add_test(tests, an_owned_row_blocks_its_pages_and_no_others);
	tcase_add_test(tests,
		a_shared_page_stays_blocked_until_both_rows_are_released);
	tcase_add_test(tests,
		an_owned_page_keeps_every_row_it_conflicts_with_away);
	tcase_add_test(tests, a_row_without_pages_conflicts_with_none);
	tcase_add_test(tests, misuse_is_an_error_and_changes_nothing);
	tcase_add_test(tests, pages_and_rows_that_do_not_exist_are_named);
	tcase_add_test(tests, a_plan_with_unsound_rows_is_refused);
	tcase_add_test(tests, more_pages_than_memory_are_out_of_memory);
	tcase_add_test(tests, random_operations_agree_with_a_model);
	tcase_add_test(tests, a_planned_layout_is_owned_by_its_own_rows);
	suite_add_tcase(suite, tests);
	return suite;
}
