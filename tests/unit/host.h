/*
 * What the tests of the host backend share.  The macros speak of the
 * backend `b` and the error `err` of the file that uses them.
 */
#ifndef KVPLAN_TESTS_UNIT_HOST_H
#define KVPLAN_TESTS_UNIT_HOST_H

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/backend_host.h"
#include "unit/unit.h"

#define check_ok(call)							\
	do {								\
		int check_code = call;					\
									\
		ck_assert_msg(!check_code, "%s", err.text);		\
	} while (0)

/* Refused by the driver, with this in the text and nothing else alive. */
#define check_refused(call, part)					\
	do {								\
		struct host_alive check_before, check_after;		\
									\
		host_alive(b, &check_before);				\
		ck_assert_int_eq(call, KVP_EDRIVER);			\
		ck_assert_int_eq(err.code, KVP_EDRIVER);		\
		ck_assert_msg(strstr(err.text, part), "%s", err.text);	\
		host_alive(b, &check_after);				\
		ck_assert_mem_eq(&check_before, &check_after,		\
				 sizeof(check_before));			\
	} while (0)

/* In a child: its maps run out, its limits hold.  0 is as it should be. */
static inline void host_in_child(int (*run)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(run());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status),
		      "the child ended with 0x%x", (unsigned)status);
}

#endif
