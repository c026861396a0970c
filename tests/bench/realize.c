/*
 * Times realizing: a plan through kvp_realize() against a bare loop of the
 * same backend calls, and the alias check against memset and memcmp of as
 * many bytes.
 *
 *   realize host|cuda PLAN RANKS          entries, time, share outside calls
 *   realize host|cuda PLAN RANKS check    check=full in GB/s
 *   realize host|cuda PLAN RANKS than PLAN...   against other plans, in turn
 */
#define _GNU_SOURCE		/* memfd_create */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake/bare.h"

#define RUNS 5

/* The same calls as a realization makes, and nothing else. */
static double bare_loop(const struct bare *x)
{
	double start = bare_now();

	bare_undo(x, bare_make(x));
	return bare_now() - start;
}

/* Bytes written and read by fills and matches. */
struct bytes {
	double filled, matched;
};

static void count_bytes(void *cookie, const struct kvp_event *e)
{
	struct bytes *b = cookie;

	if (e->kind != KVP_EVENT_CALL)
		return;
	if (!strcmp(e->call, "fill"))
		b->filled += (double)e->bytes;
	else if (!strcmp(e->call, "match"))
		b->matched += (double)e->bytes;
}

static double realize(const struct kvp_plan *plan,
		      const struct kvp_verdict *verdict,
		      struct kvp_backend *b, uint32_t ranks,
		      enum kvp_check check, struct bytes *bytes,
		      uint64_t *entries)
{
	struct kvp_realize_options options = {
		.nranks = ranks, .check = check,
		.event = bytes ? count_bytes : NULL, .cookie = bytes,
	};
	struct kvp_realization *r;
	struct kvp_error err;
	double start = bare_now();

	bare_must(kvp_realize(&r, plan, verdict, b, &options, &err), &err);
	*entries = kvp_realization_entries(r) - plan->geometry.static_entries;
	bare_must(kvp_realization_free(r, &err), &err);
	return bare_now() - start;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static void time_entries(struct bare *x, const struct kvp_verdict *verdict,
			 const char *name)
{
	double mine = 1e9, bare = 1e9;
	uint64_t entries = 0;
	int i;

	for (i = 0; i < RUNS; i++) {
		bare = least(bare, bare_loop(x));
		mine = least(mine, realize(x->plan, verdict, x->b, x->ranks,
					   KVP_CHECK_NONE, NULL, &entries));
	}
	printf("%-5s %2u ranks: %llu entries up and down in %.1f ms, %.0f ns "
	       "an entry; bare loop of the same calls %.1f ms: ratio %.3f, "
	       "%.1f %% outside the calls\n", name, x->ranks,
	       (unsigned long long)entries, mine * 1e3,
	       mine * 1e9 / (double)entries, bare * 1e3, mine / bare,
	       100 * (mine - bare) / mine);
}

/*
 * memset and memcmp of as many bytes in pieces of a granule, over as much
 * fresh shared memory as the ranks have: its pages cost both the same.
 */
static double plain(const struct bytes *bytes, uint64_t size)
{
	size_t piece = 2 << 20, i, n = size / piece;
	int fd = memfd_create("bench", MFD_CLOEXEC);
	char *a, *b = malloc(piece);
	volatile int differ = 0;
	double start = bare_now(), done;

	if (fd < 0 || ftruncate(fd, (off_t)(n * piece)))
		exit(1);
	a = mmap(NULL, n * piece, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memset(b, 1, piece);
	for (done = 0, i = 0; done < bytes->filled; done += (double)piece, i++)
		memset(a + i % n * piece, 1, piece);
	for (done = 0, i = 0; done < bytes->matched; done += (double)piece, i++)
		differ += memcmp(a + i % n * piece, b, piece);
	(void)differ;
	munmap(a, n * piece);
	close(fd);
	free(b);
	return bare_now() - start;
}

static void time_check(struct bare *x, const struct kvp_verdict *verdict,
		       const char *name)
{
	struct bytes bytes = { 0 };
	uint64_t entries;
	double without, with, same;

	without = realize(x->plan, verdict, x->b, x->ranks, KVP_CHECK_NONE,
			  NULL, &entries);
	with = realize(x->plan, verdict, x->b, x->ranks, KVP_CHECK_FULL,
		       &bytes, &entries) - without;
	same = plain(&bytes, (x->plan->summary.physical_bytes +
			      x->plan->dedicated_bytes) * x->ranks);
	printf("%-5s %2u ranks: check=full writes %.1f GB and reads %.1f GB "
	       "in %.2f s, %.1f GB/s; memset and memcmp of as many %.2f s: "
	       "ratio %.2f\n", name, x->ranks, bytes.filled * 1e-9,
	       bytes.matched * 1e-9, with,
	       (bytes.filled + bytes.matched) * 1e-9 / with, same,
	       with / same);
}

#define PLANS 4

/* The plans take turns, so that what a driver's day is like is the same. */
static void compare_plans(struct bare *x, char **paths, int count)
{
	struct kvp_plan plans[PLANS];
	struct kvp_verdict *verdicts[PLANS];
	uint64_t entries[PLANS];
	double best[PLANS] = { 1e9, 1e9, 1e9, 1e9 };
	int i, run;

	for (i = 0; i < count; i++) {
		verdicts[i] = bare_read(&plans[i], paths[i]);
	}
	for (run = 0; run < 2 * RUNS; run++)
		for (i = 0; i < count; i++)
			best[i] = least(best[i],
				realize(&plans[i], verdicts[i], x->b, x->ranks,
					KVP_CHECK_NONE, NULL, &entries[i]));
	for (i = 0; i < count; i++) {
		printf("mode %-5s %llu entries in %.1f ms: %.1f %% of the time "
		       "for %.1f %% of the entries\n",
		       kvp_merge_name(plans[i].merge),
		       (unsigned long long)entries[i], best[i] * 1e3,
		       100 * best[i] / best[0],
		       100 * (double)entries[i] / (double)entries[0]);
		kvp_verdict_free(verdicts[i]);
		kvp_plan_release(&plans[i]);
	}
}

int main(int argc, char **argv)
{
	struct kvp_verdict *verdict;
	struct bare x = { 0 };
	struct kvp_plan plan;
	struct kvp_error err;
	bool host;

	if (argc < 4)
		return 2;
	host = !strcmp(argv[1], "host");
	x.ranks = (uint32_t)strtoul(argv[3], NULL, 10);
	verdict = bare_read(&plan, argv[2]);
	bare_must(host ? kvp_backend_host(&x.b, x.ranks, plan.geometry.granularity,
				     &err) :
		    kvp_backend_cuda(&x.b, NULL, 0, &err), &err);
	x.plan = &plan;
	bare_measure(&x);
	if (argc > 5 && argc - 5 < PLANS) {
		argv[4] = argv[2];
		compare_plans(&x, argv + 4, argc - 4);
	} else if (argc > 4)
		time_check(&x, verdict, argv[1]);
	else
		time_entries(&x, verdict, argv[1]);
	kvp_backend_close(x.b);
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
	free(x.order);
	free(x.plane_bytes);
	return 0;
}
