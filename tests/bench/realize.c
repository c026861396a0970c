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
#include <time.h>
#include <unistd.h>

#include <kvplan/kvplan.h>

#define RUNS 5

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(int code, const struct kvp_error *err)
{
	if (!code)
		return;
	fprintf(stderr, "bench: %s: %s\n", kvp_code_name(code), err->text);
	exit(1);
}

static void read_plan(struct kvp_plan *plan, const char *path)
{
	static char text[8 << 20];
	struct kvp_error err;
	FILE *file = fopen(path, "rb");

	if (!file)
		exit(1);
	must(kvp_plan_read(plan, path, text,
			   fread(text, 1, sizeof(text), file), &err), &err);
	fclose(file);
}

/* One rank's addresses and handles in the bare loop. */
struct bare {
	struct kvp_backend *b;
	const struct kvp_plan *plan;
	uint32_t ranks;
	uint64_t *planes;
	uint64_t *plane_bytes;
	uint64_t arena, arena_bytes;
	kvp_handle *handles;
};

static void grant(const struct bare *x, uint64_t address, uint64_t bytes,
		  const struct kvp_grant *grants, size_t count)
{
	struct kvp_error err;
	enum kvp_flags flags;
	uint32_t i;

	must(x->b->mapping.grant(x->b, address, bytes, grants, count, &err),
	     &err);
	for (i = 0; i < x->ranks; i++)
		must(x->b->mapping.granted(x->b, address, i, &flags, &err),
		     &err);
}

static void bare_reserve(struct bare *x)
{
	struct kvp_error err;
	size_t i;

	for (i = 0; i < x->plan->geometry.nplanes; i++)
		must(x->b->mapping.reserve(x->b, x->plane_bytes[i], 0,
					   &x->planes[i], &err), &err);
	must(x->b->mapping.reserve(x->b, x->arena_bytes, 0, &x->arena, &err),
	     &err);
}

static void bare_create(struct bare *x, uint32_t rank)
{
	const struct kvp_plan *plan = x->plan;
	struct kvp_create what = { .device = rank };
	struct kvp_error err;
	size_t i;

	for (i = 0; i <= plan->nchunks; i++) {
		what.bytes = i < plan->nchunks ? plan->chunks[i].bytes :
						 plan->dedicated_bytes;
		must(x->b->mapping.create(x->b, &what, &x->handles[i], &err),
		     &err);
	}
}

/* Visit every mapping of a rank: its planes, its aliases, its dedicated
   backing. */
typedef void visit(struct bare *x, uint64_t address, uint64_t bytes,
		   size_t handle, bool shared, void *cookie);

static void each_mapping(struct bare *x, visit *fn, void *cookie)
{
	const struct kvp_chunk *c = x->plan->chunks;
	size_t n = x->plan->nchunks, i;

	for (i = 0; i < n; i++)
		fn(x, x->planes[c[i].plane] + c[i].offset, c[i].bytes, i,
		   true, cookie);
	for (i = 0; i < n && c[i].arena != KVP_UNALIASED; i++)
		fn(x, x->arena + c[i].arena, c[i].bytes, i, false, cookie);
	fn(x, x->arena, x->plan->dedicated_bytes, n, false, cookie);
}

static void map_one(struct bare *x, uint64_t address, uint64_t bytes,
		    size_t handle, bool shared, void *cookie)
{
	struct kvp_error err;

	(void)shared;
	(void)cookie;
	must(x->b->mapping.map(x->b, address, bytes, x->handles[handle], &err),
	     &err);
}

static void grant_one(struct bare *x, uint64_t address, uint64_t bytes,
		      size_t handle, bool shared, void *cookie)
{
	(void)handle;
	grant(x, address, bytes, cookie, shared ? x->ranks : 1);
}

/* Undoing goes in reverse, so what was mapped is noted first. */
struct noted {
	uint64_t *address, *bytes;
	size_t count;
};

static void note_one(struct bare *x, uint64_t address, uint64_t bytes,
		     size_t handle, bool shared, void *cookie)
{
	struct noted *n = cookie;

	(void)x;
	(void)handle;
	(void)shared;
	n->address[n->count] = address;
	n->bytes[n->count++] = bytes;
}

static void bare_unmap(struct bare *x)
{
	size_t room = 2 * x->plan->nchunks + 1;
	struct noted n = { malloc(room * sizeof(uint64_t)),
			   malloc(room * sizeof(uint64_t)), 0 };
	struct kvp_error err;

	each_mapping(x, note_one, &n);
	while (n.count--)
		must(x->b->mapping.unmap(x->b, n.address[n.count],
					 n.bytes[n.count], &err), &err);
	free(n.address);
	free(n.bytes);
}

static void read_free(const struct bare *x)
{
	struct kvp_error err;
	uint64_t bytes;
	size_t i;
	uint32_t r;

	for (i = 0; i <= x->plan->geometry.nplanes; i++)
		for (r = 0; r < x->ranks; r++)
			must(x->b->device.memory(x->b, r, &bytes, &err), &err);
}

/* The same calls as a realization makes, and nothing else. */
static double bare_loop(struct bare *x)
{
	struct bare *ranks = calloc(x->ranks, sizeof(*ranks));
	size_t n = x->plan->nchunks + 1, nplanes = x->plan->geometry.nplanes;
	struct kvp_grant grants[KVP_RANKS_MAX];
	struct kvp_error err;
	double start = now();
	uint32_t r, i;
	size_t k;

	for (r = 0; r < x->ranks; r++) {
		ranks[r] = *x;
		ranks[r].planes = calloc(nplanes, sizeof(uint64_t));
		ranks[r].handles = calloc(n, sizeof(kvp_handle));
		bare_reserve(&ranks[r]);
	}
	for (r = 0; r < x->ranks; r++)
		bare_create(&ranks[r], r);
	for (r = 0; r < x->ranks; r++)
		each_mapping(&ranks[r], map_one, NULL);
	for (r = 0; r < x->ranks; r++) {
		grants[0] = (struct kvp_grant){ r, KVP_READWRITE };
		for (i = 0, k = 1; i < x->ranks; i++)
			if (i != r)
				grants[k++] = (struct kvp_grant){ i,
								  KVP_READ };
		each_mapping(&ranks[r], grant_one, grants);
		read_free(&ranks[r]);
	}
	for (r = x->ranks; r-- > 0;) {
		bare_unmap(&ranks[r]);
		for (k = n; k-- > 0;)
			must(x->b->mapping.release(x->b, ranks[r].handles[k],
						   &err), &err);
		for (k = nplanes; k-- > 0;)
			must(x->b->mapping.unreserve(x->b, ranks[r].planes[k],
						     x->plane_bytes[k], &err),
			     &err);
		must(x->b->mapping.unreserve(x->b, ranks[r].arena,
					     x->arena_bytes, &err), &err);
		free(ranks[r].planes);
		free(ranks[r].handles);
	}
	free(ranks);
	return now() - start;
}

static void measure_plan(struct bare *x)
{
	const struct kvp_plan *plan = x->plan;
	size_t i;

	x->plane_bytes = calloc(plan->geometry.nplanes, sizeof(uint64_t));
	x->arena_bytes = plan->dedicated_bytes;
	for (i = 0; i < plan->nchunks; i++) {
		x->plane_bytes[plan->chunks[i].plane] += plan->chunks[i].bytes;
		if (plan->chunks[i].arena != KVP_UNALIASED)
			x->arena_bytes += plan->chunks[i].bytes;
	}
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
	double start = now();

	must(kvp_realize(&r, plan, verdict, b, &options, &err), &err);
	*entries = kvp_realization_entries(r) - plan->geometry.static_entries;
	must(kvp_realization_free(r, &err), &err);
	return now() - start;
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
	double start = now(), done;

	if (fd < 0 || ftruncate(fd, (off_t)(n * piece)))
		exit(1);
	a = mmap(NULL, n * piece, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memset(b, 1, piece);
	for (done = 0, i = 0; done < bytes->filled; done += (double)piece, i++)
		memset(a + i % n * piece, 1, piece);
	for (done = 0, i = 0; done < bytes->matched; done += (double)piece, i++)
		differ += memcmp(a + i % n * piece, b, piece);
	munmap(a, n * piece);
	close(fd);
	free(b);
	return now() - start;
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

static struct kvp_verdict *verify(const struct kvp_plan *plan)
{
	struct kvp_verify_options rules;
	struct kvp_verdict *verdict;
	struct kvp_error err;

	kvp_verify_options_init(&rules);
	rules.severity[KVP_RULE_ENTRY_LIMIT] = KVP_WARNING;
	must(kvp_verify(plan, &rules, &verdict, &err), &err);
	return verdict;
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
		read_plan(&plans[i], paths[i]);
		verdicts[i] = verify(&plans[i]);
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
	read_plan(&plan, argv[2]);
	verdict = verify(&plan);
	must(host ? kvp_backend_host(&x.b, x.ranks, plan.geometry.granularity,
				     &err) :
		    kvp_backend_cuda(&x.b, NULL, 0, &err), &err);
	x.plan = &plan;
	measure_plan(&x);
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
	free(x.plane_bytes);
	return 0;
}
