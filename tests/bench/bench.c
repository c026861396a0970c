/*
 * Times the library and whole programs.
 *
 *   bench lib GEOMETRY        planning and verifying alone
 *   bench run TIMES COMMAND   a whole process, stdout to /dev/null
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kvplan/kvplan.h>

/* Go on until both are reached: short runs are repeated often. */
#define RUNS_MIN 5
#define SECONDS_MIN 0.3

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

static char *read_file(const char *path, size_t *len)
{
	FILE *file = fopen(path, "rb");
	char *text = malloc(1 << 20);

	if (!file || !text)
		fail(path);
	*len = fread(text, 1, 1 << 20, file);
	fclose(file);
	return text;
}

/* One call, timed; the result of the last one stays in *plan. */
static double make_once(struct kvp_plan *plan, const struct kvp_geometry *g,
			enum kvp_merge merge)
{
	struct kvp_error err;
	double start;

	kvp_plan_release(plan);
	start = now();
	if (kvp_plan_make(plan, g, merge, &err))
		fail(err.text);
	return now() - start;
}

static double verify_once(const struct kvp_plan *plan)
{
	struct kvp_verdict *verdict;
	struct kvp_error err;
	double start = now(), seconds;

	if (kvp_verify(plan, NULL, &verdict, &err))
		fail(err.text);
	seconds = now() - start;
	if (!kvp_verdict_ok(verdict))
		fail("the plan is not verified");
	kvp_verdict_free(verdict);
	return seconds;
}

static double best(struct kvp_plan *plan, const struct kvp_geometry *g,
		   enum kvp_merge merge, bool verify)
{
	double least = 1e9, total = 0, seconds;
	int runs;

	for (runs = 0; runs < RUNS_MIN || total < SECONDS_MIN; runs++) {
		seconds = verify ? verify_once(plan) :
				   make_once(plan, g, merge);
		total += seconds;
		if (seconds < least)
			least = seconds;
	}
	return least;
}

/* "base row span verify": base chunks, then nanoseconds per base chunk. */
static void time_library(const char *path)
{
	struct kvp_geometry g;
	struct kvp_plan plan = { 0 };
	struct kvp_error err;
	size_t len;
	char *text = read_file(path, &len);
	double row, span, verify, n;

	if (kvp_geometry_read(&g, path, text, len, &err))
		fail(err.text);
	span = best(&plan, &g, KVP_MERGE_SPAN, false);
	row = best(&plan, &g, KVP_MERGE_ROW, false);
	verify = best(&plan, &g, KVP_MERGE_ROW, true);
	n = (double)plan.summary.base_chunks / 1e9;
	printf("%llu %.0f %.0f %.0f\n",
	       (unsigned long long)plan.summary.base_chunks, row / n,
	       span / n, verify / n);
	kvp_plan_release(&plan);
	kvp_geometry_release(&g);
	free(text);
}

static void child(char **command)
{
	int null = open("/dev/null", O_WRONLY);

	if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
		_exit(126);
	execvp(command[0], command);
	_exit(127);
}

/* "seconds kib": the best time and the peak memory of any run. */
static void time_process(int times, char **command)
{
	double least = 1e9, start, seconds;
	struct rusage usage;
	int status;
	pid_t pid;

	while (times-- > 0) {
		start = now();
		pid = fork();
		if (pid < 0)
			fail("cannot fork");
		if (!pid)
			child(command);
		if (waitpid(pid, &status, 0) != pid || status)
			fail(command[0]);
		seconds = now() - start;
		if (seconds < least)
			least = seconds;
	}
	if (getrusage(RUSAGE_CHILDREN, &usage))
		fail("getrusage");
	printf("%.6f %ld\n", least, usage.ru_maxrss);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "lib"))
		time_library(argv[2]);
	else if (argc > 3 && !strcmp(argv[1], "run"))
		time_process(atoi(argv[2]), argv + 3);
	else
		fail("usage: bench lib GEOMETRY | bench run TIMES COMMAND...");
	return 0;
}
