/*
 * What takes many calls to find: how long a call takes, and how many entries
 * of the driver's table are free.
 */
#include "probe/probe.h"

#ifdef KVP_HAVE_CUDA

#include <time.h>

#include "base/error.h"
#include "base/u64.h"

/* Allocations of a timed batch, and of a first batch that only warms up. */
#define TIMED 512
#define WARMING 16
/* With less free than this, out of memory may mean memory. */
#define MEMORY_IS_FREE (UINT64_C(256) << 20)
#define REPORT_EVERY 1024

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)t.tv_nsec;
}

struct batch {
	uint64_t create_ns, map_ns, grant_ns, unmap_ns, release_ns;
};

/* Nanoseconds per call since *start, which becomes now. */
static uint64_t measure_calls(uint64_t *start, uint64_t calls)
{
	uint64_t now = now_ns(), each = (now - *start + calls / 2) / calls;

	*start = now;
	return each;
}

static int acquire_timed(struct probe *p, uint64_t n, uint32_t readers,
			 struct batch *t, struct kvp_error *err)
{
	int code = hold_reserve(p, n, probe_granularity(p), err);
	uint64_t start = now_ns(), i;

	if (!code)
		code = hold_create(p, n, err);
	t->create_ns = measure_calls(&start, n);
	for (i = 0; !code && i < n; i++)
		code = hold_map(p, err);
	t->map_ns = measure_calls(&start, n);
	for (i = 0; !code && i < n; i++)
		code = hold_grant(p, i, readers, err);
	t->grant_ns = measure_calls(&start, n);
	return code;
}

static int time_batch(struct probe *p, uint64_t n, uint32_t readers,
		      struct batch *t, struct kvp_error *err)
{
	int code = probe_interrupted(p, err);
	uint64_t start;

	if (!code)
		code = acquire_timed(p, n, readers, t, err);
	start = now_ns();
	while (p->hold.mapped)
		hold_unmap(p);
	t->unmap_ns = measure_calls(&start, n);
	while (p->hold.created)
		hold_drop(p);
	t->release_ns = measure_calls(&start, n);
	hold_release(p);
	return code;
}

/*
 * Time a batch of *n allocations.  If the table has no room for it, time a
 * smaller one; *n is its size.
 */
static int time_fitting(struct probe *p, uint64_t *n, uint32_t readers,
			struct batch *t, struct kvp_error *err)
{
	int code = time_batch(p, *n, readers, t, err);

	while (code == KVP_EEXHAUSTED && *n > 1) {
		*n = u64_ceil_div(*n, 8);
		code = time_batch(p, *n, readers, t, err);
	}
	return code;
}

int probe_costs(struct probe *p, struct kvp_error *err)
{
	uint64_t *ns = p->limits->cost_ns, free_bytes = 0, n, warm;
	struct kvp_backend *b = &p->c->base;
	struct batch one = { 0 }, two = { 0 };
	int code = b->device.memory(b, p->owner, &free_bytes, err);

	n = u64_max(1, u64_min(TIMED, free_bytes / 4 / probe_granularity(p)));
	warm = u64_min(n, WARMING);
	if (!code)
		code = time_fitting(p, &warm, 1, &one, err);
	if (!code)
		code = time_fitting(p, &n, 1, &one, err);
	if (!code && p->has_peer)
		code = time_fitting(p, &n, 2, &two, err);
	ns[KVP_COST_CREATE] = one.create_ns;
	ns[KVP_COST_MAP] = one.map_ns;
	ns[KVP_COST_GRANT] = one.grant_ns;
	ns[KVP_COST_UNMAP] = one.unmap_ns;
	ns[KVP_COST_RELEASE] = one.release_ns;
	ns[KVP_COST_GRANT_TWO] = p->has_peer ? two.grant_ns : KVP_NOT_TIMED;
	ns[KVP_COST_UNMAP_TWO] = p->has_peer ? two.unmap_ns : KVP_NOT_TIMED;
	return code;
}

/* Out of memory while memory is free means that the table is full, and that
   as many entries were free as were counted. */
static int check_table_full(struct probe *p, int code, struct kvp_error *err)
{
	struct kvp_backend *b = &p->c->base;
	uint64_t bytes = 0;

	if (code != KVP_EEXHAUSTED)
		return code;
	if (b->device.memory(b, p->owner, &bytes, NULL) ||
	    bytes < MEMORY_IS_FREE)
		return kvp_error_wrap(err, code, "%llu bytes are free, too "
				      "few to tell a full table from full "
				      "memory", (ull)bytes);
	p->limits->entries_exact = true;
	return KVP_OK;
}

/* Map and grant until `most` entries are counted, the table is full or the
   time is over. */
static int fill_table(struct probe *p, uint64_t most, struct kvp_error *err)
{
	uint64_t *count = &p->limits->entries_free;
	uint64_t end = now_ns() + KVP_PROBE_SECONDS * UINT64_C(1000000000);
	int code = KVP_OK;

	while (!code && *count < most) {
		if (*count % REPORT_EVERY == 0 && p->options.counting)
			p->options.counting(p->options.cookie, *count);
		code = probe_interrupted(p, err);
		if (!code && now_ns() >= end)
			break;
		if (!code)
			code = hold_map(p, err);
		if (!code)
			code = hold_grant(p, *count, 1, err);
		*count += !code;
	}
	return check_table_full(p, code, err);
}

int probe_entries(struct probe *p, struct kvp_error *err)
{
	uint64_t most = p->options.max_entries;
	int code;

	if (!p->options.entries)
		return KVP_OK;
	if (!most)
		most = KVP_PROBE_ENTRIES;
	assert(most <= KVP_PROBE_ENTRIES_MAX);
	code = hold_reserve(p, most, probe_granularity(p), err);
	if (!code)
		code = hold_create(p, 1, err);
	if (!code)
		code = fill_table(p, most, err);
	hold_release(p);
	p->limits->entries_counted = !code;
	return code;
}

#endif
