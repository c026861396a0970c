/*
 * What stands in the way of a realization, as one message.
 */
#include <string.h>

#include "base/error.h"
#include "realize/obstacles.h"
#include "unit/unit.h"

/* None is left out, however long the texts are. */
START_TEST(every_obstacle_is_told_or_named)
{
	struct obstacles o = { .kind = { { .code = KVP_OK } } };
	struct kvp_error err = { 0 };
	size_t i;

	ck_assert_int_eq(obstacles_report(&o, &err), KVP_OK);
	for (i = 0; i < OBSTACLES; i++)
		kvp_error_set(&o.kind[i], i ? KVP_EREFUSED : KVP_EENTRIES,
			      "obstacle %zu%*s", i, _i, ".");
	ck_assert_int_eq(obstacles_report(&o, &err), KVP_EENTRIES);
	ck_assert_ptr_eq(strstr(err.text, "obstacle 0"), err.text);
	if (_i < 50)
		ck_assert_ptr_nonnull(strstr(err.text, "also: obstacle 8"));
	else
		ck_assert_ptr_nonnull(strstr(err.text, "kernel maps, "
			"descriptors (no room to say more)"));
	if (_i > 900)
		ck_assert_ptr_nonnull(strstr(err.text, "also: memory, address "
			"space, recorded addresses, peer access, granularity, "
			"limits, kernel maps, descriptors (no"));
}
END_TEST

Suite *obstacles_suite(void)
{
	Suite *suite = suite_create("obstacles");
	TCase *tests = tcase_create("obstacles");

	tcase_add_loop_test(tests, every_obstacle_is_told_or_named, 1, 20);
	tcase_add_loop_test(tests, every_obstacle_is_told_or_named, 195, 205);
	tcase_add_loop_test(tests, every_obstacle_is_told_or_named, 840, 1010);
	suite_add_tcase(suite, tests);
	return suite;
}
