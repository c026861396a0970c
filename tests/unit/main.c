/*
 * Runs the unit tests and closes with one line of counts.  CK_RUN_SUITE and
 * CK_RUN_CASE choose some.  Every test runs in a process of its own, so that
 * one that breaks harms no other; with CK_FORK=no in this one, so that a
 * debugger or sanitizer sees everything.
 */
#include <stdio.h>
#include <stdlib.h>

#include "unit/unit.h"

int main(void)
{
	static Suite *(*const suites[])(void) = {
#define SUITE(name) name##_suite,
#include "tests/unit/suites.def"
#undef SUITE
	};
	SRunner *runner = srunner_create(NULL);
	int run, failed;
	size_t i;

	/* Four seconds, unless this says more: a busy machine is no failure. */
	setenv("CK_DEFAULT_TIMEOUT", "120", 0);
	for (i = 0; i < sizeof(suites) / sizeof(*suites); i++)
		srunner_add_suite(runner, suites[i]());
	srunner_run_all(runner, CK_ENV);
	run = srunner_ntests_run(runner);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	if (!run)
		puts("no suite or case is called that");
	printf("%d passed, %d failed, 0 skipped\n", run - failed, failed);
	return run && !failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
