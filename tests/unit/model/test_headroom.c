/*
 * The cap policy, against the formula written out and against the policies
 * it must not become.
 */
#include <string.h>

#include "unit/unit.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* Every turn of the policy with its neighbours, and powers of two. */
static const uint64_t turns[] = {
	0, 1, 2, 3, 7, 8, 262 * MIB, 844 * MIB, 128 * MIB - 2, 128 * MIB - 1,
	128 * MIB, 128 * MIB + 1, 512 * MIB - 1, 512 * MIB, 512 * MIB + 7,
	512 * MIB + 8, 8 * GIB - 8, 8 * GIB - 1, 8 * GIB, 8 * GIB + 1,
	64262 * MIB, KVP_NUMBER_MAX,
};

typedef void each_fn(uint64_t free_bytes);

static void for_each_free(each_fn *each)
{
	uint64_t seed = 88172645463325252u;
	size_t i;

	for (i = 0; i < sizeof(turns) / sizeof(*turns); i++)
		each(turns[i]);
	for (i = 0; i < 20000; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		each((seed & KVP_NUMBER_MAX) >> (seed >> 58) % 53);
	}
}

static uint64_t cap_of(uint64_t free_bytes)
{
	struct kvp_cap cap = kvp_cap_plan(&free_bytes, NULL);

	ck_assert(cap.bounded);
	return cap.bytes;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void check_formula(uint64_t f)
{
	uint64_t floor = f / 8 > 64 * MIB ? f / 8 : 64 * MIB;

	ck_assert_uint_eq(cap_of(f), least(GIB, least(f / 2, floor)));
}

START_TEST(the_cap_is_the_formula_for_every_free_value)
{
	for_each_free(check_formula);
}
END_TEST

static void check_reachable(uint64_t f)
{
	ck_assert_msg(f ? cap_of(f) < f : cap_of(f) == 0, "%llu free",
		      (unsigned long long)f);
}

/* Kills the constant cap of 1 GiB. */
START_TEST(the_cap_is_reached_before_the_card_is_full)
{
	for_each_free(check_reachable);
}
END_TEST

static void check_half(uint64_t f)
{
	ck_assert_uint_le(cap_of(f), f / 2);
}

/* Kills the policy without its free/2 term. */
START_TEST(the_floor_is_at_most_half_of_what_is_free)
{
	ck_assert_uint_eq(cap_of(100 * MIB), 50 * MIB);
	for_each_free(check_half);
}
END_TEST

/* Kills the policy without its floor: 32.75 MiB then. */
START_TEST(a_tight_card_gets_the_floor_and_not_an_eighth)
{
	ck_assert_uint_eq(cap_of(262 * MIB), 64 * MIB);
	ck_assert_uint_eq(cap_of(512 * MIB), 64 * MIB);
}
END_TEST

START_TEST(the_published_cards_get_the_published_caps)
{
	ck_assert_uint_eq(cap_of(262 * MIB), 67108864);
	ck_assert_uint_eq(cap_of(884998144), 110624768);
	ck_assert_uint_eq(884998144 - cap_of(884998144), 774373376);
	ck_assert_uint_eq(cap_of(8 * GIB), GIB);
	ck_assert_uint_eq(cap_of(64262 * MIB), GIB);
	ck_assert_uint_eq(cap_of(KVP_NUMBER_MAX), GIB);
}
END_TEST

static void check_monotone(uint64_t f)
{
	if (f)
		ck_assert_uint_le(cap_of(f - 1), cap_of(f));
	if (f / 2 < f)
		ck_assert_uint_le(cap_of(f / 2), cap_of(f));
}

START_TEST(more_free_memory_never_lowers_the_cap)
{
	for_each_free(check_monotone);
}
END_TEST

static void check_left(uint64_t f)
{
	struct kvp_cap cap = kvp_cap_plan(&f, NULL), none = { 0 };
	struct kvp_cap large = { f + 1, true, KVP_CAP_OVERRIDE };

	ck_assert_uint_eq(kvp_cap_left(&cap, f), f - cap.bytes);
	ck_assert_uint_eq(kvp_cap_left(&large, f), 0);
	ck_assert_uint_eq(kvp_cap_left(&none, f), 0);
}

START_TEST(what_is_left_is_never_below_zero)
{
	for_each_free(check_left);
}
END_TEST

static void check_needed(uint64_t f)
{
	uint64_t cap = f % (GIB + 1), need = kvp_cap_free_needed(cap);

	ck_assert_uint_ge(cap_of(need), cap);
	if (need)
		ck_assert_uint_lt(cap_of(need - 1), cap);
}

START_TEST(the_free_memory_a_cap_needs_is_the_least_that_gives_it)
{
	static const uint64_t caps[] = {
		0, 1, 64 * MIB - 1, 64 * MIB, 64 * MIB + 1, GIB - 1, GIB,
	};
	size_t i;

	for (i = 0; i < sizeof(caps) / sizeof(*caps); i++)
		check_needed(caps[i]);
	for_each_free(check_needed);
	ck_assert_uint_eq(kvp_cap_free_needed(64 * MIB), 128 * MIB);
	ck_assert_uint_eq(kvp_cap_free_needed(GIB), 8 * GIB);
}
END_TEST

static void check_term(uint64_t f, const char *name)
{
	struct kvp_cap cap = kvp_cap_plan(&f, NULL);

	ck_assert_str_eq(kvp_cap_term_name(cap.term), name);
}

START_TEST(the_term_that_set_the_cap_is_named)
{
	check_term(0, "half");
	check_term(128 * MIB - 1, "half");
	check_term(128 * MIB, "floor");
	check_term(512 * MIB - 1, "floor");
	check_term(512 * MIB, "eighth");
	check_term(8 * GIB - 1, "eighth");
	check_term(8 * GIB, "ceiling");
	check_term(KVP_NUMBER_MAX, "ceiling");
}
END_TEST

START_TEST(without_a_reading_the_cap_is_the_constant_and_says_so)
{
	struct kvp_cap_override nothing = { 0 };
	struct kvp_cap cap = kvp_cap_plan(NULL, &nothing);

	ck_assert(cap.bounded);
	ck_assert_uint_eq(cap.bytes, GIB);
	ck_assert_str_eq(kvp_cap_term_name(cap.term), "no-reading");
}
END_TEST

START_TEST(an_override_wins_outright)
{
	struct kvp_cap_override o = { true, true, 5 * GIB };
	uint64_t free_bytes = 262 * MIB;
	struct kvp_cap cap = kvp_cap_plan(&free_bytes, &o);

	ck_assert(cap.bounded);
	ck_assert_uint_eq(cap.bytes, 5 * GIB);
	ck_assert_str_eq(kvp_cap_term_name(cap.term), "override");
	o.bounded = false;
	ck_assert(!kvp_cap_plan(&free_bytes, &o).bounded);
	ck_assert(!kvp_cap_plan(NULL, &o).bounded);
}
END_TEST

START_TEST(an_override_is_read_by_its_value)
{
	static const struct {
		const char *text;
		bool given, bounded;
		uint64_t bytes;
	} good[] = {
		{ NULL, false, false, 0 }, { "0", true, false, 0 },
		{ "000", true, false, 0 }, { "1", true, true, MIB },
		{ " 64\t", true, true, 64 * MIB },
		{ "8589934591", true, true, KVP_NUMBER_MAX - (MIB - 1) },
	};
	struct kvp_cap_override o;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		o = (struct kvp_cap_override){ 0 };
		ck_assert_int_eq(kvp_cap_override_read(&o, "v", good[i].text,
						       NULL), KVP_OK);
		ck_assert_int_eq(o.given, good[i].given);
		ck_assert_int_eq(o.bounded, good[i].bounded);
		ck_assert_uint_eq(o.bytes, good[i].bytes);
	}
}
END_TEST

START_TEST(an_unreadable_override_is_an_error_and_never_unbounded)
{
	static const char *const bad[] = {
		"", " ", "x", "0x", "64M", "64 MiB", "-1", "+1", "1.5", "1e3",
		"0 0", "off", "unbounded", "8589934592",
		"99999999999999999999999999", "\xff",
		/* What wraps around to 0 and 1. */
		"18446744073709551616", "18446744073709551617",
		"36893488147419103232", "0018446744073709551616",
	};
	struct kvp_cap_override o = { true, true, 7 };
	struct kvp_error err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err = (struct kvp_error){ 0 };
		ck_assert_msg(kvp_cap_override_read(&o, "v", bad[i], &err) ==
			      KVP_EINPUT, "'%s' was read", bad[i]);
		ck_assert_ptr_nonnull(strstr(err.text, "v is '"));
		ck_assert_ptr_nonnull(strstr(err.text, "8589934591"));
		ck_assert(o.given && o.bounded && o.bytes == 7);
	}
}
END_TEST

Suite *headroom_suite(void)
{
	Suite *suite = suite_create("headroom");
	TCase *tests = tcase_create("headroom");

	tcase_add_test(tests, the_cap_is_the_formula_for_every_free_value);
	tcase_add_test(tests, the_cap_is_reached_before_the_card_is_full);
	tcase_add_test(tests, the_floor_is_at_most_half_of_what_is_free);
	tcase_add_test(tests, a_tight_card_gets_the_floor_and_not_an_eighth);
	tcase_add_test(tests, the_published_cards_get_the_published_caps);
	tcase_add_test(tests, more_free_memory_never_lowers_the_cap);
	tcase_add_test(tests, what_is_left_is_never_below_zero);
	tcase_add_test(tests,
		the_free_memory_a_cap_needs_is_the_least_that_gives_it);
	tcase_add_test(tests, the_term_that_set_the_cap_is_named);
	tcase_add_test(tests,
		without_a_reading_the_cap_is_the_constant_and_says_so);
	tcase_add_test(tests, an_override_wins_outright);
	tcase_add_test(tests, an_override_is_read_by_its_value);
	tcase_add_test(tests,
		an_unreadable_override_is_an_error_and_never_unbounded);
	suite_add_tcase(suite, tests);
	return suite;
}
