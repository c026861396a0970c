/*
 * Trials.  Workers take the next trial from a counter in memory that all
 * share.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "fault/sanitized.h"
#include "share/trials.h"

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef SANITIZED
const bool trials_are_slow = true;
#else
const bool trials_are_slow = false;
#endif

static struct counters {
	atomic_size_t next, passed, failed, skipped;
} *shared;

static char name[256];
static bool wrong, skipped;

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	printf("FAIL cannot prepare: %s\n", what);
	puts("0 passed, 1 failed, 0 skipped");
	exit(1);
}

void make_planned(struct planned *p, const char *geometry,
		  enum kvp_merge merge)
{
	struct kvp_geometry g = { 0 };
	struct kvp_error err = { 0 };

	must(!kvp_geometry_read(&g, "geometry", geometry, strlen(geometry),
				&err) &&
	     !kvp_plan_make(&p->plan, &g, merge, &err) &&
	     !kvp_verify(&p->plan, NULL, &p->verdict, &err), err.text);
	must(kvp_verdict_ok(p->verdict), "the plan is not verified");
	kvp_geometry_release(&g);
}

int make_host(struct kvp_backend **b, uint32_t index, struct kvp_error *err)
{
	(void)index;
	return kvp_backend_host(b, KVP_SHARE_RANKS_MAX, 4096, err);
}

static void say(const char *format, va_list args)
{
	char text[2000];
	int len = snprintf(text, sizeof(text), "FAIL %s: ", name);

	vsnprintf(text + len, sizeof(text) - (size_t)len, format, args);
	puts(text);
}

void name_trial(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
}

void skip_trial(const char *why)
{
	skipped = true;
	printf("SKIP %s: %s\n", name, why);
}

void expect(bool holds, const char *format, ...)
{
	va_list args;

	if (holds || wrong)
		return;
	wrong = true;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

static void work(size_t count, void (*trial)(size_t index))
{
	size_t index;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((index = atomic_fetch_add(&shared->next, 1)) < count) {
		wrong = skipped = false;
		trial(index);
		atomic_fetch_add(wrong ? &shared->failed : skipped ?
				 &shared->skipped : &shared->passed, 1);
	}
	exit(0);
}

static void start(void)
{
	if (shared)
		return;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared != MAP_FAILED, "mmap");
}

void run_trials(uint32_t workers, size_t count, void (*trial)(size_t index))
{
	int status;
	uint32_t i;

	start();
	shared->next = 0;
	fflush(NULL);
	for (i = 0; i < workers && i < count; i++) {
		pid_t pid = fork();

		must(pid >= 0, "fork");
		if (!pid)
			work(count, trial);
	}
	while (wait(&status) > 0) {
		if (!status)
			continue;
		printf("FAIL a worker ended with status 0x%x\n",
		       (unsigned)status);
		atomic_fetch_add(&shared->failed, 1);
	}
}

int close_trials(void)
{
	start();
	printf("%zu passed, %zu failed, %zu skipped\n",
	       (size_t)shared->passed, (size_t)shared->failed,
	       (size_t)shared->skipped);
	return shared->failed ? 1 : 0;
}
