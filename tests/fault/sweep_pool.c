/*
 * The pools of the CUDA backend, on the stand-in driver: what they count,
 * what they refuse, and every driver call of theirs failing, once and for
 * ever.  Each run is a process of its own, whose report has to say that
 * nothing is alive and nothing was called in the wrong order.
 */
#include <stdarg.h>
#include <stdint.h>
#include <sys/wait.h>

#include <kvplan/backend.h>

#include "base/error.h"
#include "fault/standin.h"

/* Pools are on the second of two GPUs: no context is right by luck. */
#define GPU 1
#define OTHER 0
#define MIB (UINT64_C(1) << 20)
#define BLOCKS 100
#define CALLS_MAX 5000
/* Out-parameters that nobody wrote. */
#define UNTOUCHED UINT64_C(0x1234)

#define NOTHING "{\"reservations\":0,\"handles\":0,\"mappings\":0,"	\
		"\"entries\":0,\"contexts\":0,\"streams\":0,\"host\":0,"
#define NO_ERRORS "\"errors\":[]}\n"

/* How a child ends; anything else is its dying. */
enum { CHILD_FINE = 10, CHILD_MET, CHILD_WRONG };

static int passed, failed;

/* In a child. */
static struct kvp_backend *b;
static struct kvp_error err;
static bool wrong;
static struct {
	const char *call;	/* NULL: none fails */
	int code;
	bool for_ever;
	unsigned met;
} fault;

static void demand(bool holds, const char *format, ...) KVP_PRINTF(2, 3);

static void demand(bool holds, const char *format, ...)
{
	va_list args;

	if (holds)
		return;
	wrong = true;
	printf("     ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(" (%s)\n", err.text);
}

/*
 * Is the verb to be called again?  What fails has to be the driver's call,
 * and where that fails once the next attempt has to succeed.
 */
static bool again(const char *verb, int code)
{
	if (!code)
		return false;
	demand(fault.call && code == fault.code && err.code == code &&
	       !strncmp(err.text, fault.call, strlen(fault.call)),
	       "%s fails with %s", verb, kvp_code_name(code));
	fault.met++;
	demand(fault.for_ever || fault.met == 1, "%s fails twice", verb);
	return !wrong && fault.met == 1;
}

static void check_free(uint32_t device, uint64_t expected, const char *when)
{
	uint64_t seen = UNTOUCHED;
	int code;

	do {
		code = b->device.memory(b, device, &seen, &err);
	} while (again("memory", code));
	demand(code || seen == expected, "%s: GPU %u has %llu bytes free, not"
	       " %llu", when, (unsigned)device, (unsigned long long)seen,
	       (unsigned long long)expected);
}

/* The verbs, repeated after a failure; true when they succeed. */

static bool make_pool(uint32_t device, kvp_pool *pool)
{
	int code;

	do {
		*pool = UNTOUCHED;
		code = b->pool.pool_create(b, device, pool, &err);
		demand(!code || *pool == UNTOUCHED,
		       "a pool_create that fails writes a pool");
	} while (again("pool_create", code));
	return !code;
}

static bool destroy_pool(kvp_pool pool)
{
	int code;

	do {
		code = b->pool.pool_destroy(b, pool, &err);
	} while (again("pool_destroy", code));
	return !code;
}

static bool take(kvp_pool pool, uint64_t bytes, uint64_t *address)
{
	int code;

	do {
		*address = UNTOUCHED;
		code = b->pool.allocate(b, pool, bytes, address, &err);
		demand(!code || *address == UNTOUCHED,
		       "an allocate that fails writes an address");
	} while (again("allocate", code));
	return !code;
}

static bool give(kvp_pool pool, uint64_t address)
{
	int code;

	do {
		code = b->pool.deallocate(b, pool, address, &err);
	} while (again("deallocate", code));
	return !code;
}

static bool wait_for(uint32_t device)
{
	int code;

	do {
		code = b->device.synchronize(b, device, &err);
	} while (again("synchronize", code));
	return !code;
}

/* --- everything once: what is swept --- */

static bool blocks_come_and_go(kvp_pool pool, uint64_t all)
{
	uint64_t at[BLOCKS], bytes, used = 0, i;

	for (i = 0; i < BLOCKS; i++) {
		bytes = 1 + i * (MIB + 7);
		used += bytes;
		if (!take(pool, bytes, &at[i]))
			return false;
	}
	check_free(GPU, all - used, "all are in use");
	for (i = 0; i < BLOCKS; i++)
		if (!give(pool, at[(i * 7 + 5) % BLOCKS]))
			return false;
	check_free(GPU, all - used, "given back and not waited for");
	if (!wait_for(OTHER))
		return false;
	check_free(GPU, all - used, "the other GPU is waited for");
	if (!wait_for(GPU))
		return false;
	check_free(GPU, all, "given back and waited for");
	return true;
}

static void story(void)
{
	uint64_t all = UNTOUCHED, at, other;
	kvp_pool pool, small;

	while (again("memory", b->device.memory(b, GPU, &all, &err)))
		continue;
	if (all == UNTOUCHED || !make_pool(GPU, &pool) ||
	    !make_pool(OTHER, &small) || !take(small, 1, &other) ||
	    !blocks_come_and_go(pool, all))
		return;
	if (!take(pool, MIB, &at) || !give(pool, at) || !destroy_pool(pool))
		return;
	check_free(GPU, all, "the pool is gone");
	check_free(OTHER, all - 1, "a byte of the other GPU is in use");
	if (give(small, other) && destroy_pool(small))
		check_free(OTHER, all, "both pools are gone");
}

/* --- scenarios --- */

static void refused(int code, const char *text)
{
	demand(code == KVP_EDRIVER && err.code == code &&
	       strstr(err.text, text), "is %s, not refused with '%s'",
	       kvp_code_name(code), text);
}

/* None of it may reach the driver, which would tell. */
static void wrong_order(void)
{
	const struct kvp_pool_ops *ops = &b->pool;
	uint64_t at, next, got = UNTOUCHED;
	kvp_pool pool, other, later;

	if (!make_pool(GPU, &pool) || !make_pool(GPU, &other) ||
	    !take(pool, 3 * MIB, &at) || !take(other, 1, &next))
		return;
	refused(ops->deallocate(b, pool, at + 512, &err), "has no block");
	refused(ops->deallocate(b, pool, 0, &err), "has no block");
	refused(ops->deallocate(b, other, at, &err), "has no block");
	refused(ops->deallocate(b, 0, at, &err), "no pool 0");
	refused(ops->pool_destroy(b, pool, &err), "blocks in use: 1");
	if (!give(pool, at))
		return;
	refused(ops->deallocate(b, pool, at, &err), "given back already");
	if (!wait_for(GPU))
		return;
	refused(ops->deallocate(b, pool, at, &err), "given back already");
	if (!destroy_pool(pool) || !make_pool(GPU, &later))
		return;
	demand(later != pool, "a pool's name is used again");
	refused(ops->pool_destroy(b, pool, &err), "destroyed already");
	refused(ops->allocate(b, pool, 1, &got, &err), "destroyed already");
	refused(ops->deallocate(b, pool, at, &err), "destroyed already");
	demand(got == UNTOUCHED, "a refused allocate writes an address");
	refused(ops->pool_destroy(b, other, &err), "blocks in use: 1");
	if (give(other, next) && destroy_pool(other))
		(void)destroy_pool(later);
}

/* 64 MiB on the GPU. */
static void full_gpu(void)
{
	uint64_t at, got = UNTOUCHED;
	kvp_pool pool;
	int code, i;

	if (!make_pool(GPU, &pool) || !take(pool, 40 * MIB, &at))
		return;
	for (i = 0; i < 2; i++) {
		code = b->pool.allocate(b, pool, 40 * MIB, &got, &err);
		demand(code == KVP_EEXHAUSTED && err.code == code &&
		       got == UNTOUCHED && strstr(err.text, "cuMemAllocFrom"
		       "PoolAsync: CUDA_ERROR_OUT_OF_MEMORY"),
		       "is %s on a full GPU", kvp_code_name(code));
		if (!i && !give(pool, at))
			return;
	}
	if (wait_for(GPU) && take(pool, 40 * MIB, &at) && give(pool, at))
		(void)destroy_pool(pool);
}

static void left_to_close(void)
{
	uint64_t at[4], i;
	kvp_pool pool;

	for (i = 0; i < 4; i++)
		if (!make_pool((uint32_t)i % 2, &pool) ||
		    !take(pool, MIB, &at[i]) || !take(pool, 1, &at[i]) ||
		    (i / 2 && !give(pool, at[i])))
			return;
	demand(make_pool(GPU, &pool), "no pool");
}

static void no_pools(void)
{
	kvp_pool pool = UNTOUCHED;

	refused(b->pool.pool_create(b, GPU, &pool, &err),
		"cuMemPoolCreate: GPU 1 has no memory pools");
	demand(pool == UNTOUCHED, "a refused pool_create writes a pool");
}

/* Two attributes of each GPU are asked for when the backend is opened. */
static void no_answer(void)
{
	kvp_pool pool = UNTOUCHED;

	refused(b->pool.pool_create(b, GPU, &pool, &err),
		"cuDeviceGetAttribute: CUDA_ERROR_UNKNOWN");
	demand(pool == UNTOUCHED, "a failed pool_create writes a pool");
	if (make_pool(GPU, &pool))
		(void)destroy_pool(pool);
}

static void no_way_back(void)
{
	kvp_pool pool = UNTOUCHED;

	refused(b->pool.pool_create(b, GPU, &pool, &err),
		"cuMemPoolSetAttribute: CUDA_ERROR_UNKNOWN");
	demand(pool == UNTOUCHED, "a failed pool_create writes a pool");
}

/* GPU 1 alone, as device 0. */
static void by_ordinal(void)
{
	static const uint32_t second[] = { 1 };
	struct kvp_backend *both = b;
	uint64_t all = 0, at;
	kvp_pool pool;

	demand(!kvp_backend_cuda(&b, second, 1, &err), "cannot be opened");
	if (wrong || b->device.memory(b, 0, &all, &err) || !make_pool(0, &pool))
		return;
	if (take(pool, MIB, &at))
		check_free(0, all - MIB, "a block of device 0");
	kvp_backend_close(b);
	b = both;
	check_free(1, all, "closed");
}

/* --- children --- */

static void child(void (*run)(void))
{
	int code = kvp_backend_cuda(&b, NULL, 0, &err);

	if (!code)
		run();
	else
		(void)again("opening", code);
	kvp_backend_close(b);
	/* Not _exit: the report is written on the way out. */
	exit(wrong ? CHILD_WRONG : fault.met ? CHILD_MET : CHILD_FINE);
}

/* Run in a child; its report's line, empty where there is none. */
static int run_child(void (*run)(void), char *line, int room)
{
	int status = 0;
	pid_t pid;
	FILE *f;

	fflush(stdout);
	unlink(standin.report);
	pid = fork();
	if (!pid)
		child(run);
	*line = '\0';
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	f = fopen(standin.report, "r");
	if (f && !fgets(line, room, f))
		*line = '\0';
	if (f)
		fclose(f);
	return WEXITSTATUS(status);
}

static void count(bool ok)
{
	passed += ok;
	failed += !ok;
}

struct scenario {
	const char *name;
	void (*run)(void);
	const char *setting, *value;
	const char *left;	/* the report */
};

static void play(const struct scenario *s)
{
	char line[4096];
	int end;
	bool ok;

	if (s->setting)
		setenv(s->setting, s->value, 1);
	end = run_child(s->run, line, sizeof(line));
	if (s->setting)
		unsetenv(s->setting);
	ok = end == CHILD_FINE && !strcmp(line, s->left);
	if (!ok)
		printf("FAIL sweep_pool, %s: ends with %d, report %s\n",
		       s->name, end, line);
	count(ok);
}

static const struct scenario scenarios[] = {
	{ "nothing fails", story, NULL, NULL, NOTHING NO_ERRORS },
	{ "wrong order", wrong_order, NULL, NULL, NOTHING NO_ERRORS },
	{ "a full GPU", full_gpu, "FAKE_CUDA_MEMORY", "67108864",
	  NOTHING NO_ERRORS },
	{ "what is left to close", left_to_close, NULL, NULL,
	  NOTHING NO_ERRORS },
	{ "no memory pools", no_pools, "FAKE_CUDA_NO_POOLS", "1",
	  NOTHING NO_ERRORS },
	{ "no answer about memory pools", no_answer, "FAKE_CUDA_FAIL",
	  "cuDeviceGetAttribute:5", NOTHING NO_ERRORS },
	{ "no way back", no_way_back, "FAKE_CUDA_FAIL",
	  "cuMemPoolSetAttribute:1,cuMemPoolDestroy:1",
	  NOTHING "\"pools\":1,\"blocks\":0," NO_ERRORS },
	{ "by ordinal", by_ordinal, NULL, NULL, NOTHING NO_ERRORS },
};

/* --- failing calls --- */

struct swept {
	const char *call;
	uint64_t step;		/* some are called hundreds of times */
	bool clean;		/* closing does without it */
};

/* One run with a failing call.  Was it met? */
static bool fail_at(const struct swept *s, uint64_t n, bool *ok)
{
	int error = n % 2 ? 999 : 2;	/* unknown, out of memory */
	char setting[128], line[4096];
	int end;

	fault.call = s->call;
	fault.code = error == 2 ? KVP_EEXHAUSTED : KVP_EDRIVER;
	snprintf(setting, sizeof(setting), "%s:%llu%s:%d", s->call,
		 (unsigned long long)n, fault.for_ever ? ":for-ever" : "",
		 error);
	setenv("FAKE_CUDA_FAIL", setting, 1);
	end = run_child(story, line, sizeof(line));
	unsetenv("FAKE_CUDA_FAIL");
	fault.call = NULL;
	/* Not met, the call may still have failed while closing. */
	*ok = end == CHILD_FINE ||
	      (end == CHILD_MET && *line &&
	       !strstr(line, "were left current") &&
	       ((fault.for_ever && !s->clean) ||
		!strcmp(line, NOTHING NO_ERRORS)));
	if (!*ok)
		printf("FAIL sweep_pool, %s: ends with %d, report %s\n",
		       setting, end, line);
	return end != CHILD_FINE;
}

static void sweep(const struct swept *s, bool for_ever)
{
	bool met = true, ok = true;
	uint64_t n;

	fault.for_ever = for_ever;
	for (n = 1; met && ok && n < CALLS_MAX; n += s->step)
		met = fail_at(s, n, &ok);
	if (ok && (met || n == 1 + s->step)) {
		printf("FAIL sweep_pool: %s is %s\n", s->call,
		       met ? "called without end" : "never called");
		ok = false;
	}
	fault.for_ever = false;
	count(ok);
}

static const struct swept calls[] = {
	{ "cuMemPoolCreate", 1, true },
	{ "cuMemPoolSetAttribute", 1, true },
	{ "cuMemAllocFromPoolAsync", 9, true },
	{ "cuMemFreeAsync", 9, false },
	{ "cuMemPoolDestroy", 1, false },
	{ "cuStreamSynchronize", 1, false },
	{ "cuCtxSynchronize", 1, true },
	{ "cuMemGetInfo", 1, true },
	{ "cuCtxPushCurrent", 13, false },
};

int main(void)
{
	char dir[] = "/tmp/kvplan-pool-XXXXXX";
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!mkdtemp(dir)) {
		puts("FAIL sweep_pool: no directory");
		puts("0 passed, 1 failed, 0 skipped");
		return 1;
	}
	if (!standin_load(dir)) {
		puts("SKIP sweep_pool: no build/fake/libcuda.so.1");
		rmdir(dir);
		puts("0 passed, 0 failed, 1 skipped");
		return 0;
	}
	for (i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		play(&scenarios[i]);
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		sweep(&calls[i], false);
		sweep(&calls[i], true);
	}
	standin_release();
	rmdir(dir);
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
