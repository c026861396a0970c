/*
 * What tests/gpu/run.sh needs beside the programs themselves.
 *
 *   gpu fill LEFT         fill the driver's table until LEFT entries are
 *                         free, say "ready", hold until standard input ends
 *   gpu peers PLAN        realize two ranks: peers read, their writes are
 *                         refused, strangers get nothing
 *   gpu rounds PLAN N     realize, fail, interrupt, N times over: free
 *                         memory does not fall after the first round
 *   gpu pools             64 MiB in blocks of a pool: they are free again
 *                         once the GPU is synchronized
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kvplan/kvplan.h>

#define GRANULE (UINT64_C(2) << 20)
#define MOST 600000

static void must(int code, const struct kvp_error *err)
{
	if (!code)
		return;
	fprintf(stderr, "gpu: %s: %s\n", kvp_code_name(code), err->text);
	exit(1);
}

static int failures;

static void expect(bool ok, const char *what)
{
	printf("%s %s\n", ok ? "ok  " : "FAIL", what);
	failures += !ok;
}

static struct kvp_backend *open_gpus(void)
{
	struct kvp_backend *b;
	struct kvp_error err;

	must(kvp_backend_cuda(&b, NULL, 0, &err), &err);
	return b;
}

/* --- fill --- */

static int fill(uint64_t left)
{
	struct kvp_backend *b = open_gpus();
	const struct kvp_create what = { .bytes = GRANULE };
	const struct kvp_grant grant = { 0, KVP_READWRITE };
	struct kvp_error err;
	kvp_handle handle;
	uint64_t base, held = 0, at;
	int code = KVP_OK;

	must(b->mapping.create(b, &what, &handle, &err), &err);
	must(b->mapping.reserve(b, MOST * GRANULE, 0, &base, &err), &err);
	while (!code && held < MOST) {
		at = base + held * GRANULE;
		must(b->mapping.map(b, at, GRANULE, handle, &err), &err);
		code = b->mapping.grant(b, at, GRANULE, &grant, 1, &err);
		if (code)
			must(b->mapping.unmap(b, at, GRANULE, &err), &err);
		else
			held++;
	}
	printf("table full after %llu entries: %s\n", (unsigned long long)held,
	       code ? err.text : "not at all");
	for (; left && held; left--)
		must(b->mapping.unmap(b, base + --held * GRANULE, GRANULE, &err),
		     &err);
	printf("ready\n");
	fflush(stdout);
	while (getchar() != EOF)
		continue;
	while (held)
		must(b->mapping.unmap(b, base + --held * GRANULE, GRANULE, &err),
		     &err);
	must(b->mapping.unreserve(b, base, MOST * GRANULE, &err), &err);
	must(b->mapping.release(b, handle, &err), &err);
	kvp_backend_close(b);
	return 0;
}

/* --- plans --- */

struct job {
	struct kvp_plan plan;
	struct kvp_verdict *verdict;
	struct kvp_realize_options options;
};

static void load(struct job *job, const char *path, uint32_t ranks)
{
	static char text[8 << 20];
	struct kvp_error err;
	FILE *file = fopen(path, "rb");
	size_t len;

	if (!file)
		exit(1);
	len = fread(text, 1, sizeof(text), file);
	fclose(file);
	memset(job, 0, sizeof(*job));
	must(kvp_plan_read(&job->plan, path, text, len, &err), &err);
	must(kvp_verify(&job->plan, NULL, &job->verdict, &err), &err);
	job->options.nranks = ranks;
}

static void unload(struct job *job)
{
	kvp_verdict_free(job->verdict);
	kvp_plan_release(&job->plan);
}

/* --- peers --- */

/* What device 1 may do with rank 0's first plane. */
static void try_peer(struct kvp_backend *b, uint64_t address, bool reads)
{
	struct kvp_error err;
	uint64_t same = 0;
	int code;

	must(b->mapping.fill(b, 0, address, GRANULE, 0x12345678, &err), &err);
	must(b->device.synchronize(b, 0, &err), &err);
	code = b->mapping.match(b, 1, address, GRANULE, 0x12345678, &same, &err);
	printf("     device 1 reads: %s\n", code ? err.text : "as written");
	expect(reads ? !code && same == GRANULE : code != 0,
	       reads ? "the importer reads what the owner wrote" :
		       "a device without a grant reads nothing");
	code = b->mapping.fill(b, 1, address, GRANULE, 0x87654321, &err);
	printf("     device 1 writes: %s\n", code ? err.text : "accepted");
	expect(code == KVP_EDRIVER, "its write is refused");
	must(b->mapping.match(b, 0, address, GRANULE, 0x12345678, &same, &err),
	     &err);
	expect(same == GRANULE, "the owner's bytes stand");
}

static void peers_here(const char *path)
{
	struct kvp_backend *b = open_gpus();
	struct kvp_realization *r;
	struct kvp_error err;
	enum kvp_flags flags;
	struct job job;
	uint64_t plane;
	bool imports;

	load(&job, path, 2);
	must(kvp_realize(&r, &job.plan, job.verdict, b, &job.options, &err),
	     &err);
	imports = job.plan.geometry.dcp_group_size > 1;
	plane = kvp_realization_plane(r, 0, 0);
	must(b->mapping.granted(b, plane, 1, &flags, &err), &err);
	printf("     flags of device 1: %d\n", (int)flags);
	expect(flags == (imports ? KVP_READ : KVP_NO_ACCESS),
	       "flags of the other device are the plan's");
	try_peer(b, plane, imports);
	must(kvp_realization_free(r, &err), &err);
	kvp_backend_close(b);
	unload(&job);
}

/* A refused write may cost the context: in a child that starts CUDA. */
static int peers(const char *path)
{
	int status;
	pid_t child = fork();

	if (!child) {
		peers_here(path);
		fflush(stdout);
		_exit(failures ? 1 : 0);
	}
	waitpid(child, &status, 0);
	return status ? 1 : 0;
}

/* --- rounds --- */

static volatile sig_atomic_t stop;

/* Set the interrupt once enough calls were made. */
static void stop_at(void *cookie, const struct kvp_event *event)
{
	if (event->calls_done == *(uint64_t *)cookie)
		stop = SIGINT;
}

static void one_round(struct job *job, struct kvp_backend *b)
{
	struct kvp_fault fault = { KVP_OP_GRANT, 500, false, KVP_EDRIVER, 0 };
	struct kvp_backend *faulty;
	struct kvp_realization *r;
	struct kvp_error err;
	uint64_t calls = 4000;
	int code;

	must(kvp_realize(&r, &job->plan, job->verdict, b, &job->options,
			 &err), &err);
	must(kvp_realization_free(r, &err), &err);
	must(kvp_backend_fault(&faulty, b, &fault, &err), &err);
	code = kvp_realize(&r, &job->plan, job->verdict, faulty,
			   &job->options, &err);
	if (code != KVP_EDRIVER)
		expect(false, err.text);
	kvp_backend_close(faulty);
	job->options.event = stop_at;
	job->options.cookie = &calls;
	job->options.interrupt = &stop;
	stop = 0;
	code = kvp_realize(&r, &job->plan, job->verdict, b, &job->options,
			   &err);
	if (code != KVP_EINTERRUPTED)
		expect(false, err.text);
	job->options.event = NULL;
	job->options.interrupt = NULL;
}

static int rounds(const char *path, unsigned long count)
{
	struct kvp_backend *b = open_gpus();
	uint64_t bytes, first = 0;
	struct kvp_error err;
	struct job job;
	unsigned long i;

	load(&job, path, 1);
	for (i = 0; i < count; i++) {
		one_round(&job, b);
		must(b->device.memory(b, 0, &bytes, &err), &err);
		printf("     round %lu: %llu bytes free\n", i + 1,
		       (unsigned long long)bytes);
		first = i ? first : bytes;
		if (bytes < first)
			expect(false, "free memory fell");
	}
	expect(!failures, "free memory stays after the first round");
	kvp_backend_close(b);
	unload(&job);
	return failures ? 1 : 0;
}

/* --- pools --- */

#define POOL_BLOCKS 50
#define POOL_BLOCK_BYTES 1342177	/* 1.28 MiB */

static uint64_t free_now(struct kvp_backend *b, const char *when)
{
	struct kvp_error err;
	uint64_t bytes;

	must(b->device.memory(b, 0, &bytes, &err), &err);
	printf("     %s: %llu bytes free\n", when, (unsigned long long)bytes);
	return bytes;
}

/* The driver takes memory of its own the first time: `first` does not count. */
static void pool_round(struct kvp_backend *b, bool first)
{
	const uint64_t all = (uint64_t)POOL_BLOCKS * POOL_BLOCK_BYTES;
	uint64_t at[POOL_BLOCKS], before, used, after;
	struct kvp_error err;
	kvp_pool pool;
	size_t i;

	before = free_now(b, first ? "first round" : "second round");
	must(b->pool.pool_create(b, 0, &pool, &err), &err);
	for (i = 0; i < POOL_BLOCKS; i++)
		must(b->pool.allocate(b, pool, POOL_BLOCK_BYTES, &at[i], &err),
		     &err);
	used = free_now(b, "allocated");
	expect(before >= used && before - used >= all,
	       "the blocks' bytes are not free");
	expect(b->pool.pool_destroy(b, pool, &err) == KVP_EDRIVER,
	       "a pool with blocks in use is not destroyed");
	for (i = 0; i < POOL_BLOCKS; i += 2)
		must(b->pool.deallocate(b, pool, at[i], &err), &err);
	must(b->device.synchronize(b, 0, &err), &err);
	free_now(b, "every other one given back, synchronized");
	for (i = 1; i < POOL_BLOCKS; i += 2)
		must(b->pool.deallocate(b, pool, at[i], &err), &err);
	expect(b->pool.deallocate(b, pool, at[0], &err) == KVP_EDRIVER,
	       "no block is given back twice");
	free_now(b, "all given back");
	must(b->device.synchronize(b, 0, &err), &err);
	after = free_now(b, "synchronized");
	expect(after >= used && after - used >= all,
	       "all of them are free again");
	must(b->pool.pool_destroy(b, pool, &err), &err);
	after = free_now(b, "destroyed");
	expect(first || after == before, "nothing is left of the pool");
}

static int pools(void)
{
	struct kvp_backend *b = open_gpus();

	pool_round(b, true);
	pool_round(b, false);
	kvp_backend_close(b);
	return failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && !strcmp(argv[1], "fill"))
		return fill(strtoull(argv[2], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "peers"))
		return peers(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "rounds"))
		return rounds(argv[2], strtoul(argv[3], NULL, 10));
	if (argc == 2 && !strcmp(argv[1], "pools"))
		return pools();
	fprintf(stderr, "usage: gpu fill LEFT | peers PLAN | rounds PLAN N |"
		" pools\n");
	return 2;
}
