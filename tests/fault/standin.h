/*
 * The stand-in driver for a test program: loaded by its path, before the
 * backend asks for libcuda.so.1 and gets what is there under that name; and
 * its report read.
 */
#ifndef TESTS_FAULT_STANDIN_H
#define TESTS_FAULT_STANDIN_H

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	void *library;
	char report[128];
	unsigned long reservations, handles, mappings, entries, contexts,
		streams, host;
	char errors[1024];	/* inside the brackets */
} standin;

/* False where there is none; `dir` gets the report.  Two GPUs. */
static inline bool standin_load(const char *dir)
{
	char path[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash;

	if (len <= 0)
		return false;
	path[len] = '\0';
	slash = strstr(path, "/tests/fault/");
	if (!slash)
		return false;
	strcpy(slash, "/fake/libcuda.so.1");
	standin.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	snprintf(standin.report, sizeof(standin.report), "%s/../%s.report",
		 dir, strrchr(dir, '/') + 1);
	setenv("FAKE_CUDA_REPORT", standin.report, 1);
	setenv("FAKE_CUDA_DEVICES", "2", 1);
	return standin.library != NULL;
}

/* The report's one line. */
static inline bool standin_read(void)
{
	char line[4096] = "", *end;
	FILE *f = fopen(standin.report, "r");
	int n = 0;

	*standin.errors = '\0';
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		*line = '\0';
	fclose(f);
	if (sscanf(line, "{\"reservations\":%lu,\"handles\":%lu,\"mappings\":"
		   "%lu,\"entries\":%lu,\"contexts\":%lu,\"streams\":%lu,"
		   "\"host\":%lu,\"errors\":[%n", &standin.reservations,
		   &standin.handles, &standin.mappings, &standin.entries,
		   &standin.contexts, &standin.streams, &standin.host,
		   &n) != 7 || !n)
		return false;
	end = strstr(line + n, "]}");
	if (!end)
		return false;
	*end = '\0';
	snprintf(standin.errors, sizeof(standin.errors), "%s", line + n);
	return true;
}

static inline void standin_release(void)
{
	if (*standin.report)
		unlink(standin.report);
	if (standin.library)
		dlclose(standin.library);
}

#endif
