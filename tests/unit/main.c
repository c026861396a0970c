/*
 * Runs every unit test and closes with one line of counts.  Tests run in
 * one process unless CK_FORK says otherwise: sanitizers and debuggers see
 * everything then.
 */
#include <stdio.h>
#include <stdlib.h>

#include "unit/unit.h"

int main(void)
{
	static Suite *(*const suites[])(void) = {
		u64_suite, error_suite, strbuf_suite, file_suite, json_suite,
		json_at_suite, number_suite, geometry_suite,
		geometry_error_suite, base_chunks_suite, compare_suite,
		plan_suite, pack_suite, layout_suite, verify_suite,
		fingerprint_suite,
		alias_check_suite,
		backend_host_suite, host_pool_suite, backend_fault_suite,
		owners_suite,
		limits_suite, probe_suite,
		realize_suite, obstacles_suite, addresses_suite,
		card_suite, alloc_cache_suite, decode_suite,
		headroom_suite, bytes_suite, unsized_suite,
		size_suite, size_random_suite,
	};
	SRunner *runner = srunner_create(NULL);
	int run, failed;
	size_t i;

	for (i = 0; i < sizeof(suites) / sizeof(*suites); i++)
		srunner_add_suite(runner, suites[i]());
	if (!getenv("CK_FORK"))
		srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_ENV);
	run = srunner_ntests_run(runner);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	printf("%d passed, %d failed, 0 skipped\n", run - failed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
