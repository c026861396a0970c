/*
 * The probe where there is nothing to probe.  Its findings are tested on the
 * stand-in driver in tests/probe and on GPUs by hand.
 */
#include <string.h>

#include "unit/unit.h"

START_TEST(a_probe_that_fails_leaves_nothing)
{
	static const uint32_t none = UINT32_MAX;
	struct kvp_error err = { 0 };
	struct kvp_limits l;
	int code;

	memset(&l, 0xa5, sizeof(l));
	code = kvp_probe_run(&l, &none, 1, NULL, &err);
	/* No driver, no GPU, or a driver without that GPU. */
	ck_assert(code == KVP_EUNAVAILABLE || code == KVP_EINPUT);
	ck_assert_int_eq(err.code, code);
	ck_assert_uint_gt(strlen(err.text), 10);
	ck_assert_uint_eq(l.ndevices, 0);
	ck_assert_ptr_null(l.devices);
	ck_assert_ptr_null(l.peers);
	ck_assert(!l.entries_counted);
	kvp_limits_release(&l);
}
END_TEST

static void never(void *cookie, uint64_t entries)
{
	(void)entries;
	++*(int *)cookie;
}

START_TEST(nothing_is_counted_after_an_interrupt)
{
	static const volatile sig_atomic_t interrupt = SIGTERM;
	int told = 0;
	struct kvp_probe_options options = {
		.entries = true, .max_entries = 8, .counting = never,
		.cookie = &told, .interrupt = &interrupt,
	};
	struct kvp_limits l;
	struct kvp_error err = { 0 };
	int code = kvp_probe_run(&l, NULL, 0, &options, &err);

	ck_assert(code == KVP_EUNAVAILABLE || code == KVP_EINTERRUPTED);
	ck_assert_int_eq(told, 0);
	ck_assert_ptr_null(l.devices);
	kvp_limits_release(&l);
}
END_TEST

Suite *probe_suite(void)
{
	Suite *s = suite_create("probe");
	TCase *t = tcase_create("probe");

	tcase_add_test(t, a_probe_that_fails_leaves_nothing);
	tcase_add_test(t, nothing_is_counted_after_an_interrupt);
	suite_add_tcase(s, t);
	return s;
}
