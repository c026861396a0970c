/*
 * Runs a fuzz target over every JSON file of the tree, over the plan of a
 * geometry and the geometry of a plan, and over changed copies of each, the
 * same ones every time.  A crash ends the run as a failure that names the
 * file and the change.
 */
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kvplan/kvplan.h>

#include "base/file.h"
#include "fake/gen.h"
#include "fuzz/fuzz.h"

#define CHANGES 200
#define SMALL_CHUNKS 1500	/* changed copies are kept to this */
#define PLAN_CHUNKS 400		/* plans made as inputs, too */

static struct {
	uint64_t inputs, files, failed;
	int changes;
	char label[600];	/* what runs now */
} run;

static void crashed(int signal)
{
	static const char closing[] = "\n0 passed, 1 failed, 0 skipped\n";
	ssize_t ignored;

	(void)signal;
	ignored = write(STDOUT_FILENO, "FAIL crash: ", 12);
	ignored += write(STDOUT_FILENO, run.label, strlen(run.label));
	ignored += write(STDOUT_FILENO, closing, sizeof(closing) - 1);
	_exit(ignored > 0 ? 1 : 2);
}

/* On the heap and as long as it says, for sanitizers to see. */
static void feed(const char *text, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, text, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
	run.inputs++;
}

static void change_digit(char *text, size_t len, struct gen_rng *r)
{
	size_t at = gen_below(r, len), i;

	for (i = 0; i < len && (text[at] < '0' || text[at] > '9'); i++)
		at = (at + 1) % len;
	text[at] = (char)('0' + gen_below(r, 10));
}

/* Copy a stretch to another place, moving the rest up. */
static size_t duplicate(char *text, size_t len, struct gen_rng *r)
{
	size_t from = gen_below(r, len), n = gen_range(r, 1, 80);
	size_t to = gen_below(r, len + 1);
	char piece[80];

	n = n > len - from ? len - from : n;
	memcpy(piece, text + from, n);
	memmove(text + to + n, text + to, len - to);
	memcpy(text + to, piece, n);
	return len + n;
}

static size_t cut_out(char *text, size_t len, struct gen_rng *r)
{
	size_t at = gen_below(r, len), n = gen_range(r, 1, 80);

	n = n > len - at ? len - at : n;
	memmove(text + at, text + at + n, len - at - n);
	return len - n;
}

/* One change in place; text has room for 80 more.  Returns the length. */
static size_t change(char *text, size_t len, struct gen_rng *r)
{
	size_t at = gen_below(r, len);

	switch (gen_below(r, 8)) {
	case 0:
		text[at] = (char)(text[at] ^ 1 << gen_below(r, 8));
		return len;
	case 1:
		text[at] = (char)gen_below(r, 256);
		return len;
	case 2:
		return at;
	case 3:
		return duplicate(text, len, r);
	case 4:
		return cut_out(text, len, r);
	default:
		change_digit(text, len, r);
		return len;
	}
}

static void feed_changed(const char *name, const char *text, size_t len)
{
	char *copy = gen_alloc(len + 4 * 80);
	uint64_t keep = fuzz_chunks;
	struct gen_rng r;
	size_t n, k, times;
	int i;

	snprintf(run.label, sizeof(run.label), "%s", name);
	feed(text, len);
	fuzz_chunks = SMALL_CHUNKS;
	for (i = 0; i < run.changes && len; i++) {
		snprintf(run.label, sizeof(run.label), "%s, change %d", name,
			 i);
		r.state = gen_seed((uint64_t)i, len);
		memcpy(copy, text, len);
		times = gen_chance(&r, 70) ? 1 : gen_range(&r, 2, 4);
		for (n = len, k = 0; k < times && n; k++)
			n = change(copy, n, &r);
		feed(copy, n);
	}
	fuzz_chunks = keep;
	free(copy);
}

static void feed_plans(const char *name, const struct kvp_geometry *g)
{
	struct kvp_plan plan = { 0 };
	char label[600], *text;
	size_t len;
	int merge;

	for (merge = 0; merge <= KVP_MERGE_SPAN; merge++) {
		if (kvp_plan_make(&plan, g, (enum kvp_merge)merge, NULL))
			return;
		snprintf(label, sizeof(label), "%s, its plan in mode %s", name,
			 kvp_merge_name((enum kvp_merge)merge));
		if (plan.nchunks <= PLAN_CHUNKS &&
		    !kvp_plan_write(&plan, &text, &len, NULL)) {
			feed_changed(label, text, len);
			free(text);
		}
		kvp_plan_release(&plan);
	}
}

/* What follows from a file: plans of a geometry, a plan's geometry. */
static void feed_derived(const char *name, const char *text, size_t len)
{
	struct kvp_geometry g = { 0 };
	struct kvp_plan plan = { 0 };
	char label[600], *part;
	size_t n;

	if (!kvp_geometry_read(&g, name, text, len, NULL)) {
		feed_plans(name, &g);
	} else if (!kvp_plan_read(&plan, name, text, len, NULL) &&
		   !kvp_geometry_write(&plan.geometry, &part, &n, NULL)) {
		snprintf(label, sizeof(label), "%s, its geometry", name);
		feed_changed(label, part, n);
		free(part);
	}
	kvp_geometry_release(&g);
	kvp_plan_release(&plan);
}

static void replay_file(const char *path)
{
	char *text;
	size_t len;

	if (kvp_file_read(path, &text, &len, NULL)) {
		printf("FAIL %s: cannot be read\n", path);
		run.failed++;
		return;
	}
	run.files++;
	feed_changed(path, text, len);
	feed_derived(path, text, len);
	free(text);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* In the order of names, so that runs are alike everywhere. */
static void replay_folder(const char *folder)
{
	static char paths[1000][512];
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t n = 0, i;

	while (dir && (entry = readdir(dir)) && n < 1000)
		if (strstr(entry->d_name, ".json"))
			snprintf(paths[n++], sizeof(paths[0]), "%s/%s", folder,
				 entry->d_name);
	if (dir)
		closedir(dir);
	qsort(paths, n, sizeof(paths[0]), by_name);
	for (i = 0; i < n; i++)
		replay_file(paths[i]);
}

int main(int argc, char **argv)
{
	const char *san = getenv("SAN");
	int i;

	run.changes = san && *san ? CHANGES / 4 : CHANGES;
	signal(SIGSEGV, crashed);
	signal(SIGBUS, crashed);
	signal(SIGFPE, crashed);
	signal(SIGABRT, crashed);
	for (i = 1; i < argc; i++)
		replay_file(argv[i]);
	if (argc == 1) {
		replay_folder("layouts");
		replay_folder("tests/rules");
		replay_folder("tests/random/regr");
		replay_folder("tests/import/configs");
		replay_folder("tests/import/facts");
		replay_folder("tests/parts");
	}
	if (!run.files) {
		puts("FAIL no file to replay");
		run.failed++;
	}
	printf("%" PRIu64 " files, %d changes of each and of what follows "
	       "from it\n", run.files, run.changes);
	printf("%" PRIu64 " passed, %" PRIu64 " failed, 0 skipped\n",
	       run.inputs, run.failed);
	return run.failed ? 1 : 0;
}
