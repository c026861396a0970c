/*
 * Times sharing: processes that hold one rank each and make one realization.
 *
 *   share host|cuda pair PLAN    two processes, against two bare programs
 *                                that make the same backend calls and pass
 *                                the same descriptors: backend, mode, calls
 *                                of the pair, ms, ms bare, ratio, ratio of
 *                                processor time, us a chunk and importer of
 *                                the exchange, the same bare
 *   share host|cuda node PLAN    a process for every rank: backend, mode, tile
 *                                granules, processes, chunks of a rank,
 *                                entries of the node, seconds until all have
 *                                published, us a chunk and importer
 *
 * "cuda" gives rank i the GPU i; FAKE_CUDA_NODE has to be set for the
 * stand-in driver.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* MAP_ANONYMOUS */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend_watch.h"
#include "fake/bare.h"
#include "share/launch.h"

#define RUNS 5
#define BATCH 253		/* descriptors, as src/share */
#define OPS 21

/* What a process has measured, in memory that all share. */
struct result {
	double begun, published, ended, exchange, cpu;
	uint64_t calls[OPS];
	uint64_t entries;
};

static struct result *results;
static bool on_host;
static bool counting;
static int link_fds[2];		/* between the two processes of a pair */

/* --- in a process --- */

static int count_before(void *cookie, struct kvp_error *err)
{
	(void)cookie;
	(void)err;
	return KVP_OK;
}

static void count_after(void *cookie, const struct watch_call *call)
{
	struct result *r = cookie;
	unsigned op = 0;

	while (call->op != 1u << op)
		op++;
	r->calls[op]++;
}

static struct kvp_backend *open_backend(const struct job *j, uint32_t index)
{
	static const struct watch_hooks hooks = { count_before, count_after };
	static struct backend_watch watch;
	struct kvp_backend *b;
	struct kvp_error err;

	bare_must(on_host ? kvp_backend_host(&b, 1,
				j->plan->geometry.granularity, &err) :
			    kvp_backend_cuda(&b, &index, 1, &err), &err);
	if (!counting)
		return b;
	backend_watch_init(&watch, b, &hooks, &results[index]);
	return &watch.base;
}

/* What goes wrong here ends the program. */
static void must_be(bool well, const char *what)
{
	if (well)
		return;
	perror(what);
	exit(1);
}

static void gather(struct member *m, enum note_kind kind,
		   const struct kvp_share_blob *blob,
		   struct kvp_share_blob *all, uint32_t count)
{
	must_be(launch_give(m, kind, blob, sizeof(*blob)) &&
		launch_get(m, all, count * sizeof(*all)), "gather");
}

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Both begin when both are here. */
static void meet(uint32_t index)
{
	char byte = 'b';

	must_be(write(link_fds[index], &byte, 1) == 1 &&
		read(link_fds[index], &byte, 1) == 1, "meet");
}

static void run_share(struct job *j, struct member *m)
{
	static struct kvp_share_blob all[LAUNCH_MAX];
	uint32_t index = (uint32_t)(m - j->member);
	struct kvp_backend *b = open_backend(j, index);
	const struct kvp_share_options o = {
		.realize = { .first_rank = index, .nranks = 1,
			     .over_limit = true },
	};
	struct result *r = &results[index];
	struct kvp_share_blob blob;
	struct kvp_share *s;
	struct kvp_error err;

	if (j->count == 2)
		meet(index);
	r->cpu = cpu_now();
	r->begun = bare_now();
	bare_must(kvp_share_begin(&s, j->plan, j->verdict, b, &o, &blob, &err),
		  &err);
	gather(m, NOTE_BLOB_1, &blob, all, j->count);
	r->exchange = bare_now();
	bare_must(kvp_share_exchange(s, all, j->count, &blob, &err), &err);
	r->exchange = bare_now() - r->exchange;
	gather(m, NOTE_BLOB_2, &blob, all, j->count);
	bare_must(kvp_share_commit(s, all, j->count, &err), &err);
	r->published = bare_now();
	r->entries = kvp_realization_entries(kvp_share_realization(s));
	bare_must(kvp_share_free(s, &err), &err);
	r->ended = bare_now();
	r->cpu = cpu_now() - r->cpu;
}

/* --- the bare program --- */

/* A batch: descriptors, and where in them the chunks lie. */
static void give(int to, const struct kvp_shared *shared, size_t count)
{
	union {
		char bytes[CMSG_SPACE(BATCH * sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	uint64_t offset[BATCH];
	struct iovec v = { offset, count * sizeof(*offset) };
	struct msghdr h = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = CMSG_SPACE(count * sizeof(int)),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	size_t i;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(count * sizeof(int));
	for (i = 0; i < count; i++) {
		offset[i] = shared[i].offset;
		memcpy(CMSG_DATA(c) + i * sizeof(int), &shared[i].fd,
		       sizeof(int));
	}
	must_be(sendmsg(to, &h, 0) > 0, "sendmsg");
}

static void get(int from, struct kvp_shared *shared, size_t count)
{
	union {
		char bytes[CMSG_SPACE(BATCH * sizeof(int))];
		struct cmsghdr align;
	} control;
	uint64_t offset[BATCH];
	struct iovec v = { offset, sizeof(offset) };
	struct msghdr h = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	size_t i;

	must_be(recvmsg(from, &h, MSG_CMSG_CLOEXEC) ==
		(ssize_t)(count * sizeof(*offset)), "recvmsg");
	for (i = 0; i < count; i++) {
		memcpy(&shared[i].fd, CMSG_DATA(CMSG_FIRSTHDR(&h)) +
		       i * sizeof(int), sizeof(int));
		shared[i].offset = offset[i];
	}
}

/* As many as src/share has, for two processes. */
static size_t batch_size(void)
{
	struct rlimit files;

	must_be(!getrlimit(RLIMIT_NOFILE, &files), "getrlimit");
	return files.rlim_cur / 3 < BATCH ? files.rlim_cur / 3 : BATCH;
}

/* Give all chunks, and get as many, in turn. */
static struct bare *exchange(const struct bare *own, int fd)
{
	struct bare *from = bare_import_begin(own);
	struct kvp_shared shared[BATCH];
	size_t n = own->plan->nchunks, most = batch_size(), at, i, k, count;
	struct kvp_error err;

	for (at = 0; at < n; at += count) {
		count = n - at < most ? n - at : most;
		for (i = 0; i < count; i++)
			bare_must(own->b->mapping.export_handle(own->b,
				own->handles[own->order[at + i]], &shared[i],
				&err), &err);
		give(fd, shared, count);
		for (i = 0; i < count; i++)
			close(shared[i].fd);
		get(fd, shared, count);
		for (i = 0; i < count; i++) {
			k = own->order[at + i];
			shared[i].bytes = own->plan->chunks[k].bytes;
			bare_import(from, at + i, &shared[i]);
			close(shared[i].fd);
		}
	}
	bare_read_free(own);
	return from;
}

/* The calls of preflight. */
static void look_at(struct kvp_backend *b)
{
	const struct kvp_demand demand = { .devices = 1 };
	struct kvp_device_info info;
	struct kvp_process process;
	struct kvp_error err;
	uint64_t bytes;

	bare_must(b->device.device(b, 0, &info, &err), &err);
	if (b->lazy)
		bare_must(b->device.process(b, &demand, &process, &err), &err);
	else
		bare_must(b->device.memory(b, 0, &bytes, &err), &err);
}

static void run_bare(struct job *j, struct member *m)
{
	static struct kvp_share_blob all[LAUNCH_MAX];
	uint32_t index = (uint32_t)(m - j->member);
	struct bare x = {
		.b = open_backend(j, index), .plan = j->plan, .ranks = 1,
		.handle_type = KVP_HANDLE_POSIX_FD,
	}, *own, *from;
	struct result *r = &results[index];
	struct kvp_error err;
	uint64_t bytes;

	bare_measure(&x);
	meet(index);
	r->cpu = cpu_now();
	r->begun = bare_now();
	look_at(x.b);
	own = bare_make(&x);
	gather(m, NOTE_BLOB_1, &all[0], all, j->count);
	r->exchange = bare_now();
	from = exchange(own, link_fds[index]);
	bare_must(x.b->device.memory(x.b, 0, &bytes, &err), &err);
	r->exchange = bare_now() - r->exchange;
	gather(m, NOTE_BLOB_2, &all[0], all, j->count);
	bare_import_undo(from, x.plan->nchunks);
	bare_undo(&x, own);
	r->ended = bare_now();
	r->cpu = cpu_now() - r->cpu;
}

/* --- in the launcher --- */

static void run_job(struct job *j, void (*run)(struct job *, struct member *))
{
	uint32_t i;

	memset(results, 0, LAUNCH_MAX * sizeof(*results));
	for (i = 0; i < j->count; i++)
		j->member[i] = (struct member){
			.first_rank = i, .nranks = 1, .run = run,
		};
	launch(j);
	launch_release(j);
	for (i = 0; i < j->count; i++)
		if (results[i].ended <= 0) {
			fprintf(stderr, "bench: process %u failed\n", i);
			exit(1);
		}
}

enum measure { WALL, CPU, EXCHANGE, MEASURES };

struct times {
	double of[MEASURES];
};

/* From a common start until both are done. */
static struct times run_pair(struct job *j,
			     void (*run)(struct job *, struct member *))
{
	const struct result *a = &results[0], *b = &results[1];

	must_be(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
			    link_fds), "socketpair");
	run_job(j, run);
	close(link_fds[0]);
	close(link_fds[1]);
	return (struct times){ {
		[WALL] = (a->ended > b->ended ? a->ended : b->ended) -
			 (a->begun < b->begun ? a->begun : b->begun),
		[CPU] = a->cpu + b->cpu,
		[EXCHANGE] = a->exchange > b->exchange ? a->exchange :
							 b->exchange,
	} };
}

/* Both programs have to make the same calls; returns how many. */
static uint64_t count_calls(struct job *j)
{
	uint64_t calls[2][OPS], sum = 0;
	unsigned i, op;

	counting = true;
	run_pair(j, run_share);
	for (i = 0; i < 2; i++)
		memcpy(calls[i], results[i].calls, sizeof(calls[i]));
	run_pair(j, run_bare);
	counting = false;
	for (i = 0; i < 2; i++)
		for (op = 0; op < OPS; op++) {
			sum += calls[i][op];
			if (calls[i][op] == results[i].calls[op])
				continue;
			fprintf(stderr, "bench: process %u, verb %u: %llu "
				"calls, the bare program makes %llu\n", i, op,
				(unsigned long long)calls[i][op],
				(unsigned long long)results[i].calls[op]);
			exit(1);
		}
	return sum;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const struct times *t, enum measure of)
{
	double values[RUNS];
	unsigned i;

	for (i = 0; i < RUNS; i++)
		values[i] = t[i].of[of];
	qsort(values, RUNS, sizeof(*values), compare);
	return values[RUNS / 2];
}

static void time_pair(struct job *j)
{
	double chunks = (double)j->plan->nchunks;
	struct times share[RUNS], bare[RUNS];
	uint64_t calls = count_calls(j);
	unsigned i;

	for (i = 0; i < RUNS; i++) {
		share[i] = run_pair(j, run_share);
		bare[i] = run_pair(j, run_bare);
	}
	printf("%-8s %-4s %llu %.1f %.1f %.3f %.3f %.1f %.1f\n",
	       on_host ? "host" : "stand-in",
	       kvp_merge_name(j->plan->merge), (unsigned long long)calls,
	       1e3 * median(share, WALL), 1e3 * median(bare, WALL),
	       median(share, WALL) / median(bare, WALL),
	       median(share, CPU) / median(bare, CPU),
	       1e6 * median(share, EXCHANGE) / chunks,
	       1e6 * median(bare, EXCHANGE) / chunks);
}

static void time_node(struct job *j)
{
	const struct kvp_geometry *g = &j->plan->geometry;
	double begun = bare_now(), last = begun, exchange = 0;
	uint64_t entries = g->static_entries;
	uint32_t i;

	run_job(j, run_share);
	for (i = 0; i < j->count; i++) {
		entries += results[i].entries - g->static_entries;
		exchange += results[i].exchange / j->count;
		if (results[i].published > last)
			last = results[i].published;
	}
	printf("%s %s %llu %u %llu %llu %.2f %.1f\n",
	       on_host ? "host" : "stand-in", kvp_merge_name(j->plan->merge),
	       (unsigned long long)g->tile_granules, j->count,
	       (unsigned long long)j->plan->nchunks,
	       (unsigned long long)entries, last - begun,
	       1e6 * exchange / (double)j->plan->nchunks / (j->count - 1));
}

int main(int argc, char **argv)
{
	struct kvp_plan plan;
	struct job j = { .plan = &plan, .gather_deadline = 1000 };

	if (argc != 4) {
		fprintf(stderr, "usage: share host|cuda pair|node PLAN\n");
		return 2;
	}
	on_host = !strcmp(argv[1], "host");
	j.verdict = bare_read(&plan, argv[3]);
	j.count = (uint32_t)plan.geometry.ranks;
	results = mmap(NULL, LAUNCH_MAX * sizeof(*results),
		       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);
	must_be(results != MAP_FAILED, "mmap");
	must_be(j.count > 1 && j.count <= LAUNCH_MAX, "ranks of the plan");
	if (!strcmp(argv[2], "pair") && j.count == 2)
		time_pair(&j);
	else
		time_node(&j);
	kvp_plan_release(&plan);
	return 0;
}
