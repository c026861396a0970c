/*
 * The decode workload: what it asks for, and the figures it has to come to.
 */
#include <stdlib.h>
#include <string.h>

#include <kvplan/geometry.h>

#include "cache/decode_workload.h"
#include "unit/altered.h"
#include "unit/unit.h"

#define MIB (UINT64_C(1) << 20)
#define MANY (UINT64_C(1) << 50)

/* What the published figures are reconstructed from. */
static const struct kvp_decode published = {
	.step_bytes = 13421772, .sizes = 10, .live_bytes = 24 * MIB,
	.steps = 256, .grow = true,
};

/* Every allocation the card was asked for. */
static struct {
	struct altered card;
	uint64_t bytes[4096];
	size_t count;
} asked;

static struct kvp_backend *b;
static struct kvp_alloc_cache *cache;
static struct kvp_decode_result result;

static int record(struct kvp_backend *self, kvp_pool pool, uint64_t bytes,
		  uint64_t *address, struct kvp_error *err)
{
	struct kvp_backend *card = unaltered(self);

	if (asked.count < sizeof(asked.bytes) / sizeof(*asked.bytes))
		asked.bytes[asked.count] = bytes;
	asked.count++;
	return card->pool.allocate(card, pool, bytes, address, err);
}

static void open_with(uint64_t free_bytes,
		      const struct kvp_alloc_cache_options *options)
{
	ck_assert_int_eq(kvp_backend_card(&b, free_bytes, NULL), KVP_OK);
	alter_backend(&asked.card, b);
	b = &asked.card.base;
	b->pool.allocate = record;
	asked.count = 0;
	ck_assert_int_eq(kvp_alloc_cache_new(&cache, b, options, NULL),
			 KVP_OK);
}

static void open_policy(uint64_t free_bytes)
{
	const struct kvp_alloc_cache_options options = { 0 };

	open_with(free_bytes, &options);
}

static void open_capped(uint64_t free_bytes, uint64_t cap_bytes)
{
	const struct kvp_alloc_cache_options options = {
		.override = { true, true, cap_bytes },
	};

	open_with(free_bytes, &options);
}

static void open_off(uint64_t free_bytes)
{
	const struct kvp_alloc_cache_options options = { .off = true };

	open_with(free_bytes, &options);
}

/* Nothing is handed out any more: the cache can be freed. */
static void close_all(uint64_t free_bytes)
{
	struct kvp_error err = { 0 };
	uint64_t now = 0;
	int code = kvp_alloc_cache_free(cache, &err);

	ck_assert_msg(!code, "%s", err.text);
	ck_assert_int_eq(b->device.memory(b, 0, &now, NULL), KVP_OK);
	ck_assert_uint_eq(now, free_bytes);
	kvp_backend_close(b);
}

static void run(const struct kvp_decode *decode, kvp_decode_row_fn *row,
		void *cookie)
{
	struct kvp_error err = { 0 };
	int code;

	memset(&result, 0xa5, sizeof(result));
	code = kvp_decode_run(cache, b, 0, decode, row, cookie, &result, &err);
	ck_assert_msg(!code, "%s", err.text);
	ck_assert_int_eq(err.code, KVP_OK);
}

/* The rule of decode_workload.h, worked out anew. */
static uint64_t tensor(const struct kvp_decode *d, uint64_t step, uint64_t i)
{
	uint64_t growth = d->growth_bytes ? d->growth_bytes : 16 * d->sizes;
	uint64_t bytes = d->step_bytes / d->sizes;

	if (i < d->step_bytes % d->sizes)
		bytes++;
	if (d->grow)
		bytes += growth * (step - 1);
	bytes += growth * i / d->sizes;
	while (d->grain_bytes && bytes % d->grain_bytes)
		bytes++;
	return bytes;
}

static void check_asked(const struct kvp_decode *d)
{
	const bool unlike = d->grow && !d->grain_bytes &&
			    (!d->growth_bytes ||
			     d->growth_bytes >= 2 * d->sizes);
	uint64_t step, i;
	size_t at = 0, j;

	ck_assert_uint_eq(asked.bytes[at++], d->live_bytes);
	for (step = 1; step <= d->steps; step++)
		for (i = 0; i < d->sizes; i++, at++) {
			ck_assert_uint_eq(asked.bytes[at],
					  tensor(d, step, i));
			for (j = 1; unlike && j < at; j++)
				ck_assert_uint_ne(asked.bytes[j],
						  asked.bytes[at]);
		}
	ck_assert_uint_eq(asked.count, at);
}

START_TEST(tensors_that_grow_are_of_a_new_size_each)
{
	struct kvp_decode d = { .step_bytes = 1003, .sizes = 7,
				.live_bytes = 5000, .steps = 30,
				.grow = true };
	int i;

	for (i = 0; i < 2; i++) {
		open_off(1 * MIB);
		run(&d, NULL, NULL);
		check_asked(&d);
		ck_assert_uint_eq(result.counters.hits_total, 0);
		ck_assert_uint_eq(result.counters.misses_total, 211);
		close_all(1 * MIB);
		/* Each size a multiple of the next: 1 and 16 bytes apart. */
		d.step_bytes = 7;
	}
}
END_TEST

START_TEST(tensors_that_do_not_grow_are_the_same_in_every_step)
{
	const struct kvp_decode d = { .step_bytes = 1003, .sizes = 7,
				      .live_bytes = 5000, .steps = 30 };

	open_off(1 * MIB);
	run(&d, NULL, NULL);
	check_asked(&d);
	close_all(1 * MIB);
	/* With a cache they are all asked for once. */
	open_capped(1 * MIB, 100000);
	run(&d, NULL, NULL);
	ck_assert_uint_eq(asked.count, 8);
	ck_assert_uint_eq(result.counters.hits_total, 29 * 7);
	ck_assert_uint_eq(result.counters.hits, 7);
	ck_assert_uint_eq(result.sizes_most, 7);
	ck_assert_uint_eq(result.held_most_bytes, 1003 + 16 * 21);
	ck_assert_uint_eq(result.first_freed_step, 0);
	close_all(1 * MIB);
}
END_TEST

START_TEST(what_tensors_grow_by_and_are_rounded_up_to_can_be_stated)
{
	static const uint64_t growth[] = { 1, 6, 7, 13, 14, 30, 1000, 0 };
	static const uint64_t grain[] = { 0, 1, 2, 3, 512, 4096 };
	struct kvp_decode d = { .step_bytes = 1003, .sizes = 7,
				.live_bytes = 5000, .steps = 30 };
	size_t i, j, k;

	for (i = 0; i < sizeof(growth) / sizeof(*growth); i++)
		for (j = 0; j < sizeof(grain) / sizeof(*grain); j++)
			for (k = 0; k < 2; k++) {
				d.growth_bytes = growth[i];
				d.grain_bytes = grain[j];
				d.grow = k;
				open_off(1 * MIB);
				run(&d, NULL, NULL);
				check_asked(&d);
				close_all(1 * MIB);
			}
}
END_TEST

/* Sizes 512 apart serve the three or four tensors that lie between. */
START_TEST(a_grain_lets_tensors_that_grow_be_found_again)
{
	struct kvp_decode d = { .step_bytes = 7000, .sizes = 7, .steps = 30,
				.grow = true, .grain_bytes = 512 };
	uint64_t last = tensor(&d, 30, 6), first = tensor(&d, 1, 0);

	open_capped(1 * MIB, 1 * MIB);
	run(&d, NULL, NULL);
	ck_assert_uint_eq(result.sizes_most, (last - first) / 512 + 1);
	ck_assert_uint_eq(asked.count, result.sizes_most);
	ck_assert_uint_eq(result.counters.hits_total,
			  30 * 7 - result.sizes_most);
	close_all(1 * MIB);
}
END_TEST

START_TEST(preallocated_tensors_are_asked_for_once_at_their_last_size)
{
	struct kvp_decode d = { .step_bytes = 1003, .sizes = 7,
				.live_bytes = 5000, .steps = 30,
				.grow = true, .preallocate = true };
	uint64_t i, sum = 5000;

	open_policy(1 * MIB);
	run(&d, NULL, NULL);
	ck_assert_uint_eq(asked.count, 8);
	for (i = 0; i < 7; i++) {
		ck_assert_uint_eq(asked.bytes[i + 1], tensor(&d, 30, i));
		sum += tensor(&d, 30, i);
	}
	ck_assert_uint_eq(result.steps, 30);
	ck_assert_uint_eq(result.counters.live_bytes, sum);
	ck_assert_uint_eq(result.counters.live_blocks, 8);
	ck_assert_uint_eq(result.free_bytes, 1 * MIB - sum);
	ck_assert_uint_eq(result.held_most_bytes, 0);
	ck_assert_uint_eq(result.sizes_most, 0);
	ck_assert_uint_eq(result.counters.misses, 0);
	close_all(1 * MIB);
}
END_TEST

struct rows {
	uint64_t count;
	uint64_t hits, misses, freed;
	uint64_t held_most, first_freed;
};

static void add_row(void *cookie, const struct kvp_decode_row *row)
{
	const struct kvp_alloc_cache_counters *n = &row->counters;
	struct rows *rows = cookie;
	uint64_t free_bytes;

	rows->count++;
	ck_assert_uint_eq(row->step, rows->count);
	ck_assert_uint_eq(n->steps, rows->count);
	ck_assert_int_eq(b->device.memory(b, 0, &free_bytes, NULL), KVP_OK);
	ck_assert_uint_eq(row->free_bytes, free_bytes);
	ck_assert_uint_eq(n->live_blocks, 1);
	rows->hits += n->hits;
	rows->misses += n->misses;
	rows->freed += n->freed_bytes;
	ck_assert_uint_eq(n->freed_bytes_total, rows->freed);
	if (n->held_bytes > rows->held_most)
		rows->held_most = n->held_bytes;
	if (n->freed_bytes && !rows->first_freed)
		rows->first_freed = row->step;
}

START_TEST(a_constant_cap_that_is_never_reached_ends_in_step_19)
{
	struct rows rows = { 0 };
	uint64_t held = 0, left, i, step;

	open_capped(262 * MIB, 1024 * MIB);
	run(&published, add_row, &rows);
	for (step = 1; step <= 18; step++)
		for (i = 0; i < 10; i++)
			held += tensor(&published, step, i);
	ck_assert_uint_eq(rows.held_most, held);
	for (i = 0; i < 5; i++)
		held += tensor(&published, 19, i);
	left = 238 * MIB - held;
	ck_assert(result.exhausted);
	ck_assert_uint_eq(result.steps, 18);
	ck_assert_uint_eq(rows.count, 18);
	ck_assert_uint_eq(result.tensor, 6);
	ck_assert_uint_eq(result.wanted_bytes, tensor(&published, 19, 5));
	ck_assert_uint_eq(result.free_bytes, left);
	ck_assert_uint_lt(left, result.wanted_bytes);
	ck_assert_uint_eq(result.held_most_bytes, held);
	ck_assert_uint_eq(held / MIB, 237);
	ck_assert_uint_eq(result.sizes_most, 185);
	ck_assert_uint_eq(result.counters.held_bytes, held);
	ck_assert_uint_eq(result.counters.misses, 6);
	ck_assert_uint_eq(result.counters.live_blocks, 1);
	ck_assert_uint_eq(result.freed_bytes, 0);
	ck_assert_uint_eq(result.first_freed_step, 0);
	close_all(262 * MIB);
}
END_TEST

static void check_policy(uint64_t steps)
{
	struct kvp_decode d = published;
	struct rows rows = { 0 };

	d.steps = steps;
	open_policy(262 * MIB);
	run(&d, add_row, &rows);
	ck_assert(!result.exhausted);
	ck_assert_uint_eq(result.steps, steps);
	ck_assert_uint_eq(result.tensor, 0);
	ck_assert_uint_eq(result.wanted_bytes, 0);
	ck_assert_uint_eq(rows.count, steps);
	ck_assert_uint_le(result.held_most_bytes, 64 * MIB);
	ck_assert_uint_gt(result.held_most_bytes, 62 * MIB);
	ck_assert_uint_eq(result.first_freed_step, 5);
	ck_assert_uint_eq(rows.first_freed, 5);
	ck_assert_uint_eq(rows.freed, result.freed_bytes);
	ck_assert_uint_eq(rows.misses, 10 * steps);
	ck_assert_uint_eq(rows.hits, 0);
	close_all(262 * MIB);
}

START_TEST(the_policys_cap_lives_and_holds_64_mib_at_most)
{
	check_policy(256);
	check_policy(1000);
}
END_TEST

START_TEST(without_a_cache_nothing_is_held)
{
	struct kvp_decode d = published;
	struct rows rows = { 0 };

	d.steps = 1000;
	open_off(262 * MIB);
	run(&d, add_row, &rows);
	ck_assert(!result.exhausted);
	ck_assert_uint_eq(result.steps, 1000);
	ck_assert_uint_eq(result.held_most_bytes, 0);
	ck_assert_uint_eq(result.sizes_most, 0);
	ck_assert_uint_eq(result.first_freed_step, 1);
	ck_assert_uint_eq(result.free_bytes, 238 * MIB);
	close_all(262 * MIB);
}
END_TEST

START_TEST(a_constant_cap_that_is_reached_lives)
{
	open_capped(64262 * MIB, 1024 * MIB);
	run(&published, NULL, NULL);
	ck_assert(!result.exhausted);
	ck_assert_uint_eq(result.steps, 256);
	ck_assert_uint_le(result.held_most_bytes, 1024 * MIB);
	ck_assert_uint_eq(result.first_freed_step, 80);
	close_all(64262 * MIB);
}
END_TEST

/* Half of 60 MiB is reached before memory runs out; 64 MiB is not. */
START_TEST(where_little_is_free_half_of_it_lives)
{
	struct kvp_decode d = { .step_bytes = 4 * MIB, .sizes = 10,
				.live_bytes = 16 * MIB, .steps = 256,
				.grow = true };

	open_policy(60 * MIB);
	run(&d, NULL, NULL);
	ck_assert(!result.exhausted);
	ck_assert_uint_le(result.held_most_bytes, 30 * MIB);
	ck_assert_uint_gt(result.first_freed_step, 0);
	close_all(60 * MIB);
}
END_TEST

START_TEST(memory_may_run_out_before_the_first_step)
{
	struct kvp_decode d = published;

	open_policy(10 * MIB);
	run(&d, NULL, NULL);
	ck_assert(result.exhausted);
	ck_assert_uint_eq(result.steps, 0);
	ck_assert_uint_eq(result.tensor, 0);
	ck_assert_uint_eq(result.wanted_bytes, 24 * MIB);
	ck_assert_uint_eq(result.free_bytes, 10 * MIB);
	close_all(10 * MIB);
	/* The live block fits, the tensors of the last step do not. */
	d.preallocate = true;
	open_policy(30 * MIB);
	run(&d, NULL, NULL);
	ck_assert(result.exhausted);
	ck_assert_uint_eq(result.tensor, 0);
	ck_assert_uint_eq(result.wanted_bytes, tensor(&d, 256, 4));
	ck_assert_uint_eq(result.counters.live_blocks, 5);
	close_all(30 * MIB);
}
END_TEST

/* Of live memory that grows: what is live and free then. */
struct growing {
	const struct kvp_decode *d;
	uint64_t free_bytes;
	uint64_t first_cap, cap, caps;
};

static void grown(void *cookie, const struct kvp_decode_row *row)
{
	const struct kvp_alloc_cache_counters *n = &row->counters;
	struct growing *g = cookie;
	uint64_t live = g->d->live_bytes + row->step * g->d->live_growth_bytes;

	ck_assert_uint_eq(n->live_bytes, live);
	ck_assert_uint_eq(row->free_bytes,
			  g->free_bytes - live - n->held_bytes);
	if (row->step == 1)
		g->first_cap = g->cap = n->cap.bytes;
	if (n->cap.bytes == g->cap)
		return;
	/* Only then is it planned anew, and it follows what is free. */
	ck_assert_uint_eq(row->step % KVP_ALLOC_CACHE_ARM_STEPS, 0);
	ck_assert_uint_lt(n->cap.bytes, g->cap);
	g->cap = n->cap.bytes;
	g->caps++;
}

/* 0.19 MiB a token is published, the rest is reconstructed. */
START_TEST(a_cap_that_follows_free_memory_lives_where_a_constant_one_dies)
{
	struct kvp_decode d = published;
	struct growing g = { .d = &d, .free_bytes = 262 * MIB };

	d.steps = 1000;
	d.live_growth_bytes = 199229;
	open_policy(262 * MIB);
	run(&d, grown, &g);
	ck_assert(!result.exhausted);
	ck_assert_uint_eq(g.first_cap, 64 * MIB);
	ck_assert_uint_eq(g.caps, 11);
	ck_assert_uint_lt(g.cap, 18 * MIB);
	ck_assert_uint_eq(result.counters.cap.bytes, g.cap);
	close_all(262 * MIB);
	open_capped(262 * MIB, 64 * MIB);
	run(&d, NULL, NULL);
	ck_assert(result.exhausted);
	ck_assert_uint_eq(result.steps, 850);
	close_all(262 * MIB);
	open_off(262 * MIB);
	run(&d, NULL, NULL);
	ck_assert(!result.exhausted);
	ck_assert_uint_eq(result.free_bytes, 238 * MIB - 1000 * 199229);
	close_all(262 * MIB);
}
END_TEST

START_TEST(live_memory_that_grows_may_be_what_there_is_no_room_for)
{
	struct kvp_decode d = { .step_bytes = 1000, .sizes = 1, .steps = 200,
				.live_bytes = 100, .live_growth_bytes = 50 };

	/* Room for the tensor and 99 blocks. */
	open_capped(100 + 1000 + 99 * 50, 1000);
	run(&d, NULL, NULL);
	ck_assert(result.exhausted);
	ck_assert_uint_eq(result.steps, 99);
	ck_assert_uint_eq(result.tensor, 2);
	ck_assert_uint_eq(result.wanted_bytes, 50);
	ck_assert_uint_eq(result.free_bytes, 0);
	ck_assert_uint_eq(result.counters.live_blocks, 100);
	close_all(100 + 1000 + 99 * 50);
	/* No step allocates tensors, and live memory grows all the same. */
	d.preallocate = true;
	open_capped(100 + 1000 + 99 * 50, 1000);
	run(&d, NULL, NULL);
	ck_assert_uint_eq(result.steps, 99);
	ck_assert_uint_eq(result.tensor, 2);
	ck_assert_uint_eq(result.counters.live_bytes, 100 + 1000 + 99 * 50);
	close_all(100 + 1000 + 99 * 50);
}
END_TEST

/* 6.04 MiB a step for 2,600 steps are published, and some 15.3 GiB. */
START_TEST(without_a_cap_sizes_that_never_come_back_are_all_retained)
{
	struct kvp_decode d = published;
	const struct kvp_alloc_cache_options options = {
		.override = { .given = true },
	};

	d.steps = 2600;
	d.step_bytes = 6071255;		/* 5.79 MiB, 6.04 in the mean */
	d.growth_bytes = 20;
	open_with(64262 * MIB, &options);
	run(&d, NULL, NULL);
	ck_assert(!result.exhausted);
	ck_assert_uint_eq(result.sizes_most, 26000);
	ck_assert_uint_eq(result.counters.hits_total, 0);
	ck_assert_uint_eq(result.first_freed_step, 0);
	ck_assert_uint_ge(result.held_most_bytes, 1525 * MIB * 1024 / 100);
	ck_assert_uint_le(result.held_most_bytes, 1535 * MIB * 1024 / 100);
	ck_assert_uint_ge(result.held_most_bytes / 2600, 6035 * MIB / 1000);
	ck_assert_uint_lt(result.held_most_bytes / 2600, 6045 * MIB / 1000);
	close_all(64262 * MIB);
}
END_TEST

START_TEST(no_steps_are_a_run_too)
{
	struct kvp_decode d = published;

	d.steps = 0;
	d.preallocate = true;
	d.live_bytes = 0;
	open_policy(10 * MIB);
	run(&d, NULL, NULL);
	ck_assert(!result.exhausted);
	ck_assert_uint_eq(result.steps, 0);
	ck_assert_uint_eq(asked.count, 0);
	close_all(10 * MIB);
}
END_TEST

static void check_refused(struct kvp_decode d, const char *text)
{
	struct kvp_error err = { 0 };

	ck_assert_int_eq(kvp_decode_run(cache, b, 0, &d, NULL, NULL, &result,
					&err), KVP_EINPUT);
	ck_assert_int_eq(err.code, KVP_EINPUT);
	ck_assert_str_eq(err.text, text);
	ck_assert_uint_eq(asked.count, 0);
}

START_TEST(sizes_that_cannot_be_are_refused_with_their_numbers)
{
	open_policy(10 * MIB);
	check_refused((struct kvp_decode){ .step_bytes = 10, .steps = 1 },
		      "a step of 0 tensors: must be from 1 to 4096");
	check_refused((struct kvp_decode){ .step_bytes = 10000, .steps = 1,
					   .sizes = 4097 },
		      "a step of 4097 tensors: must be from 1 to 4096");
	check_refused((struct kvp_decode){ .step_bytes = 9, .steps = 1,
					   .sizes = 10 },
		      "9 bytes are too few for the 10 tensors of a step, "
		      "which take at least one each");
	check_refused((struct kvp_decode){ .step_bytes = UINT64_MAX,
					   .steps = 1, .sizes = 1 },
		      "1 steps of 1 tensors, 18446744073709551615 bytes a "
		      "step before they grow, are more than "
		      "9007199254740991 bytes (2^53 - 1) in all");
	check_refused((struct kvp_decode){ .step_bytes = 1,
					   .steps = UINT64_MAX, .sizes = 1,
					   .grow = true },
		      "18446744073709551615 steps of 1 tensors, 1 bytes a "
		      "step before they grow, are more than "
		      "9007199254740991 bytes (2^53 - 1) in all");
	check_refused((struct kvp_decode){ .step_bytes = 1, .steps = 2,
					   .sizes = 1,
					   .grain_bytes = UINT64_C(1) << 52 },
		      "2 steps of 1 tensors, 1 bytes a step before they grow, "
		      "and rounded up to multiples of 4503599627370496, can be "
		      "more than 9007199254740991 bytes (2^53 - 1) in all");
	check_refused((struct kvp_decode){ .step_bytes = UINT64_C(1) << 52,
					   .steps = 2, .sizes = 1 },
		      "2 steps of 1 tensors, 4503599627370496 bytes a "
		      "step before they grow, are more than "
		      "9007199254740991 bytes (2^53 - 1) in all");
	close_all(10 * MIB);
}
END_TEST

/* KVP_OK where it runs or runs out of memory. */
static int try_run(uint64_t free_bytes, struct kvp_cap_override override,
		   struct kvp_decode d, struct kvp_error *err)
{
	const struct kvp_alloc_cache_options options = {
		.override = override,
	};
	int code;

	*err = (struct kvp_error){ 0 };
	open_with(free_bytes, &options);
	code = kvp_decode_run(cache, b, 0, &d, NULL, NULL, &result, err);
	if (code)
		ck_assert_uint_eq(asked.count, 0);
	close_all(free_bytes);
	return code;
}

START_TEST(more_blocks_than_memory_can_keep_books_of_are_refused)
{
	const struct kvp_cap_override none = { .given = true };
	const struct kvp_cap_override policy = { .given = false };
	/* What 2^20 sizes of 1, 2, 3 ... bytes are together. */
	const uint64_t least = (UINT64_C(1) << 39) + (UINT64_C(1) << 19);
	struct kvp_decode d = { .step_bytes = 1, .sizes = 1, .grow = true,
				.steps = (1 << 20) + 1, .growth_bytes = 1 };
	struct kvp_error err;

	ck_assert_int_eq(try_run(least, none, d, &err), KVP_OK);
	ck_assert(result.exhausted);
	ck_assert_uint_eq(result.counters.held_blocks, 1 << 20);
	ck_assert_int_eq(try_run(least + 1, none, d, &err), KVP_ELIMIT);
	ck_assert_str_eq(err.text, "1048577 steps of 1 growing tensors are "
		"1048577 blocks, and more than 1048576 of them may be held at "
		"once: 549756338177 bytes are free, without a cap; at most "
		"1048576 such steps can be run, or all of them with at most "
		"549756338176 bytes free or under a cap of at most "
		"549756338176");
	ck_assert_int_eq(try_run(2 * least, (struct kvp_cap_override)
		{ true, true, least }, d, &err), KVP_OK);
	ck_assert_uint_eq(result.held_most_bytes, least);
	ck_assert_int_eq(try_run(2 * least, (struct kvp_cap_override)
		{ true, true, least + 1 }, d, &err), KVP_ELIMIT);
	ck_assert_ptr_nonnull(strstr(err.text, "bytes are free, under a cap "
				     "of 549756338177 bytes;"));
	ck_assert_int_eq(try_run(2 * least, policy, d, &err), KVP_OK);
	/* Larger tensors need more memory to be so many. */
	d.growth_bytes = 2;
	ck_assert_int_eq(try_run(2 * least, none, d, &err), KVP_ELIMIT);
	d.step_bytes = UINT64_C(1) << 32;
	ck_assert_int_eq(try_run(2 * least, none, d, &err), KVP_OK);
	ck_assert(result.exhausted);
	/* What does not grow, or is not put back, is never that many. */
	d.grow = false;
	ck_assert_int_eq(try_run(MANY, none, d, &err), KVP_OK);
	d.grow = d.preallocate = true;
	ck_assert_int_eq(try_run(MANY, none, d, &err), KVP_OK);
}
END_TEST

START_TEST(more_blocks_of_live_memory_than_that_are_refused)
{
	const struct kvp_cap_override none = { .given = true };
	struct kvp_decode d = { .step_bytes = 1, .sizes = 1,
				.steps = (1 << 20) + 1,
				.live_growth_bytes = 1000 };
	struct kvp_error err;

	ck_assert_int_eq(try_run(1000000, none, d, &err), KVP_OK);
	ck_assert_int_eq(try_run(MANY, none, d, &err), KVP_ELIMIT);
	ck_assert_str_eq(err.text, "live memory that grows by 1000 bytes in "
		"each of 1048577 steps: at most 1048576 steps can be run, "
		"unless memory runs out before: 1125899906842624 bytes are "
		"free");
	d.steps--;
	d.step_bytes = 2;
	d.sizes = 2;
	ck_assert_int_eq(try_run(1000000, none, d, &err), KVP_OK);
}
END_TEST

/* Of three tensors the grains are 0 + 1 + 2, of two steps 0 + ... + 5. */
START_TEST(all_steps_together_may_ask_for_2_to_the_53_less_1)
{
	static const uint64_t grains[] = { 3, 6, 15 };
	struct kvp_decode d = { .sizes = 3 };
	int i;

	open_policy(10 * MIB);
	for (i = 0; i < 3; i++) {
		d.grow = i > 1;
		d.steps = i ? 2 : 1;
		d.step_bytes = (KVP_NUMBER_MAX - 16 * grains[i]) / d.steps;
		run(&d, NULL, NULL);
		ck_assert(result.exhausted);
		d.step_bytes++;
		ck_assert_int_eq(kvp_decode_run(cache, b, 0, &d, NULL, NULL,
						&result, NULL), KVP_EINPUT);
	}
	close_all(10 * MIB);
}
END_TEST

static void check_failing(unsigned ops, uint64_t countdown, bool off)
{
	struct kvp_fault fault = { ops, countdown, false, KVP_EDRIVER, 0 };
	const struct kvp_alloc_cache_options options = {
		.off = off, .override = { true, true, 30 * MIB },
	};
	struct kvp_backend *card = b, *faulty;
	struct kvp_alloc_cache *c;
	struct kvp_error err = { 0 };
	struct rows rows = { 0 };

	ck_assert_int_eq(kvp_backend_fault(&faulty, card, &fault, NULL),
			 KVP_OK);
	fault.countdown = 0;
	ck_assert_int_eq(kvp_alloc_cache_new(&c, faulty, &options, NULL),
			 KVP_OK);
	fault.countdown = countdown;
	ck_assert_int_eq(kvp_decode_run(c, faulty, 0, &published, add_row,
					&rows, &result, &err), KVP_EDRIVER);
	ck_assert_int_eq(err.code, KVP_EDRIVER);
	ck_assert_uint_eq(fault.hits, 1);
	/* Everything was put back. */
	ck_assert_int_eq(kvp_alloc_cache_free(c, NULL), KVP_OK);
	kvp_backend_close(faulty);
}

START_TEST(an_error_ends_the_run_and_everything_is_put_back)
{
	open_policy(262 * MIB);
	check_failing(KVP_OP_ALLOCATE, 1, false);
	check_failing(KVP_OP_ALLOCATE, 7, false);
	check_failing(KVP_OP_DEALLOCATE, 1, false);
	check_failing(KVP_OP_SYNCHRONIZE, 1, false);
	check_failing(KVP_OP_MEMORY, 3, false);
	/* Of the live block, when all steps have ended. */
	check_failing(KVP_OP_DEALLOCATE, 10 * 256 + 1, true);
	ck_assert_uint_eq(result.steps, 256);
	close_all(262 * MIB);
}
END_TEST

Suite *decode_suite(void)
{
	Suite *suite = suite_create("decode");
	TCase *tests = tcase_create("decode");

	tcase_add_test(tests, tensors_that_grow_are_of_a_new_size_each);
	tcase_add_test(tests,
		tensors_that_do_not_grow_are_the_same_in_every_step);
	tcase_add_test(tests,
		what_tensors_grow_by_and_are_rounded_up_to_can_be_stated);
	tcase_add_test(tests, a_grain_lets_tensors_that_grow_be_found_again);
	tcase_add_test(tests,
		a_cap_that_follows_free_memory_lives_where_a_constant_one_dies);
	tcase_add_test(tests,
		live_memory_that_grows_may_be_what_there_is_no_room_for);
	tcase_add_test(tests,
		without_a_cap_sizes_that_never_come_back_are_all_retained);
	tcase_add_test(tests,
		more_blocks_than_memory_can_keep_books_of_are_refused);
	tcase_add_test(tests, more_blocks_of_live_memory_than_that_are_refused);
	tcase_add_test(tests,
		preallocated_tensors_are_asked_for_once_at_their_last_size);
	tcase_add_test(tests,
		a_constant_cap_that_is_never_reached_ends_in_step_19);
	tcase_add_test(tests, the_policys_cap_lives_and_holds_64_mib_at_most);
	tcase_add_test(tests, without_a_cache_nothing_is_held);
	tcase_add_test(tests, a_constant_cap_that_is_reached_lives);
	tcase_add_test(tests, where_little_is_free_half_of_it_lives);
	tcase_add_test(tests, memory_may_run_out_before_the_first_step);
	tcase_add_test(tests, no_steps_are_a_run_too);
	tcase_add_test(tests,
		sizes_that_cannot_be_are_refused_with_their_numbers);
	tcase_add_test(tests,
		all_steps_together_may_ask_for_2_to_the_53_less_1);
	tcase_add_test(tests,
		an_error_ends_the_run_and_everything_is_put_back);
	suite_add_tcase(suite, tests);
	return suite;
}
