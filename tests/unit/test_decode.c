/*
 * The decode workload: what it asks for, and the figures it has to come to.
 */
#include <stdlib.h>
#include <string.h>

#include <kvplan/decode.h>
#include <kvplan/geometry.h>

#include "unit/unit.h"

#define MIB (UINT64_C(1) << 20)

/* What the published figures are reconstructed from. */
static const struct kvp_decode published = {
	.step_bytes = 13421772, .sizes = 10, .live_bytes = 24 * MIB,
	.steps = 256, .grow = true,
};

/* Every allocation the card was asked for. */
static struct {
	struct kvp_backend_ops ops;
	const struct kvp_backend_ops *card;
	uint64_t bytes[4096];
	size_t count;
} asked;

static struct kvp_backend *b;
static struct kvp_alloc_cache *cache;
static struct kvp_decode_result result;

static int record(struct kvp_backend *self, kvp_pool pool, uint64_t bytes,
		  uint64_t *address, struct kvp_error *err)
{
	if (asked.count < sizeof(asked.bytes) / sizeof(*asked.bytes))
		asked.bytes[asked.count] = bytes;
	asked.count++;
	return asked.card->allocate(self, pool, bytes, address, err);
}

static void open_with(uint64_t free_bytes,
		      const struct kvp_alloc_cache_options *options)
{
	ck_assert_int_eq(kvp_backend_card(&b, free_bytes, NULL), KVP_OK);
	asked.card = b->ops;
	asked.ops = *b->ops;
	asked.ops.allocate = record;
	asked.count = 0;
	b->ops = &asked.ops;
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
	ck_assert_int_eq(b->ops->memory(b, 0, &now, NULL), KVP_OK);
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

/* The rule of decode.h, worked out anew. */
static uint64_t tensor(const struct kvp_decode *d, uint64_t step, uint64_t i)
{
	uint64_t bytes = d->step_bytes / d->sizes;

	if (i < d->step_bytes % d->sizes)
		bytes++;
	if (d->grow)
		bytes += 16 * d->sizes * (step - 1);
	return bytes + 16 * i;
}

static void check_asked(const struct kvp_decode *d)
{
	uint64_t step, i;
	size_t at = 0, j;

	ck_assert_uint_eq(asked.bytes[at++], d->live_bytes);
	for (step = 1; step <= d->steps; step++)
		for (i = 0; i < d->sizes; i++, at++) {
			ck_assert_uint_eq(asked.bytes[at],
					  tensor(d, step, i));
			for (j = 1; d->grow && j < at; j++)
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
	ck_assert_int_eq(b->ops->memory(b, 0, &free_bytes, NULL), KVP_OK);
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
	check_refused((struct kvp_decode){ .step_bytes = UINT64_C(1) << 52,
					   .steps = 2, .sizes = 1 },
		      "2 steps of 1 tensors, 4503599627370496 bytes a "
		      "step before they grow, are more than "
		      "9007199254740991 bytes (2^53 - 1) in all");
	close_all(10 * MIB);
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
