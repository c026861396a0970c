/*
 * The allocation cache on a simulated card, where every byte can be counted.
 * Random operations against a model, and faults at every call, are in
 * tests/random/alloc_cache.c.
 */
#include <stdlib.h>
#include <string.h>

#include <kvplan/alloc_cache.h>

#include "backend/backend_host.h"
#include "cache/cache_check.h"
#include "unit/unit.h"

#define FREE_BYTES 100000

static struct kvp_fault fault;
static struct kvp_backend *card, *b;
static struct kvp_alloc_cache *cache;

static void open_on(uint64_t free_bytes,
		    const struct kvp_alloc_cache_options *options)
{
	struct kvp_error err = { 0 };
	int code;

	memset(&fault, 0, sizeof(fault));
	ck_assert_int_eq(kvp_backend_card(&card, free_bytes, NULL), KVP_OK);
	ck_assert_int_eq(kvp_backend_fault(&b, card, &fault, NULL), KVP_OK);
	code = kvp_alloc_cache_new(&cache, b, options, &err);
	ck_assert_msg(!code, "%s", err.text);
}

/* With a cap of so many bytes. */
static void open_capped(uint64_t cap_bytes)
{
	const struct kvp_alloc_cache_options options = {
		.override = { true, true, cap_bytes },
	};

	open_on(FREE_BYTES, &options);
}

static void close_backends(void)
{
	kvp_backend_close(b);
	kvp_backend_close(card);
}

static uint64_t free_now(void)
{
	uint64_t free_bytes = 0;

	ck_assert_int_eq(card->device.memory(card, 0, &free_bytes, NULL),
			 KVP_OK);
	return free_bytes;
}

#define check_ok(call) ck_assert_int_eq(call, KVP_OK)

#define check_text(call, wanted_code, wanted_text)			\
	do {								\
		struct kvp_error check_err = { 0 };			\
		struct kvp_error *err = &check_err;			\
									\
		ck_assert_int_eq(call, wanted_code);			\
		ck_assert_int_eq(check_err.code, wanted_code);		\
		ck_assert_str_eq(check_err.text, wanted_text);		\
	} while (0)

static struct kvp_alloc_cache_counters counters(void)
{
	struct kvp_alloc_cache_counters n;

	cache_check_internal(cache);
	kvp_alloc_cache_counters(cache, &n);
	return n;
}

#define check_count(field, value) ck_assert_uint_eq(counters().field, value)

static void check_held(uint64_t bytes, uint64_t blocks)
{
	check_count(held_bytes, bytes);
	check_count(held_blocks, blocks);
}

/* Everything is given back: nothing may be handed out or pinned. */
static void close_cache(void)
{
	const uint64_t held = counters().held_bytes + counters().pending_bytes;
	const uint64_t before = free_now();
	struct kvp_error err = { 0 };
	int code = kvp_alloc_cache_free(cache, &err);

	ck_assert_msg(!code, "%s", err.text);
	ck_assert_uint_eq(free_now(), before + held);
	close_backends();
}

static uint64_t get(uint64_t bytes)
{
	struct kvp_error err = { 0 };
	uint64_t address = 0;
	int code = kvp_alloc_cache_get(cache, bytes, &address, &err);

	ck_assert_msg(!code, "%s", err.text);
	return address;
}

static void put(uint64_t address)
{
	check_ok(kvp_alloc_cache_put(cache, address, NULL));
}

static void get_put(uint64_t bytes)
{
	put(get(bytes));
}

/* Is a block of that size held?  Leaves things as they are but for its age. */
static bool hits(uint64_t bytes)
{
	const uint64_t before = counters().hits_total;

	get_put(bytes);
	return counters().hits_total > before;
}

START_TEST(a_block_put_back_is_handed_out_for_exactly_its_size)
{
	uint64_t first, second;

	open_capped(5000);
	first = get(1000);
	check_count(live_bytes, 1000);
	check_count(misses, 1);
	check_held(0, 0);
	put(first);
	check_count(live_blocks, 0);
	check_held(1000, 1);
	check_count(sizes, 1);
	ck_assert_uint_eq(free_now(), FREE_BYTES - 1000);
	second = get(999);
	ck_assert_uint_ne(second, first);
	check_count(misses, 2);
	check_count(hits, 0);
	ck_assert_uint_eq(get(1000), first);
	check_count(hits, 1);
	check_held(0, 0);
	check_count(sizes, 0);
	put(first);
	put(second);
	check_held(1999, 2);
	check_count(sizes, 2);
	close_cache();
}
END_TEST

START_TEST(of_one_size_the_last_put_back_is_handed_out_first)
{
	uint64_t a, c, d;

	open_capped(5000);
	a = get(100);
	c = get(100);
	d = get(100);
	put(c);
	put(d);
	put(a);
	check_count(sizes, 1);
	ck_assert_uint_eq(get(100), a);
	ck_assert_uint_eq(get(100), d);
	ck_assert_uint_eq(get(100), c);
	check_count(hits, 3);
	put(a);
	put(c);
	put(d);
	close_cache();
}
END_TEST

START_TEST(over_the_cap_the_oldest_go_down_to_the_low_water_mark)
{
	uint64_t i;

	/* The mark is 700. */
	open_capped(800);
	for (i = 0; i < 8; i++)
		get_put(96 + i);
	/* 96 + 97 + ... + 103 */
	check_held(796, 8);
	check_count(freed_bytes, 0);
	get_put(104);
	/* 900, 804, 707, 609 */
	check_held(609, 6);
	check_count(sizes, 6);
	check_count(freed_bytes, 96 + 97 + 98);
	check_count(freed_bytes_total, 96 + 97 + 98);
	check_count(pending_bytes, 96 + 97 + 98);
	ck_assert(hits(104) && hits(99) && hits(103));
	ck_assert(!hits(98));
	close_cache();
}
END_TEST

START_TEST(at_the_cap_nothing_is_evicted)
{
	open_capped(800);
	get_put(300);
	get_put(500);
	check_held(800, 2);
	check_count(freed_bytes, 0);
	get_put(1);
	check_held(501, 2);
	close_cache();
}
END_TEST

START_TEST(a_hit_and_a_put_make_a_block_the_most_recent)
{
	open_capped(800);
	get_put(300);
	get_put(301);
	get_put(300);
	get_put(200);
	/* 801: the oldest is 301 now. */
	check_held(500, 2);
	ck_assert(hits(300) && hits(200));
	close_cache();
}
END_TEST

START_TEST(a_block_larger_than_the_cap_takes_no_other_with_it)
{
	open_capped(800);
	get_put(100);
	get_put(801);
	check_held(100, 1);
	check_count(freed_bytes, 801);
	check_count(pending_bytes, 801);
	get_put(700);
	check_held(800, 2);
	/* One that fits the cap and not the mark goes with the others. */
	get_put(750);
	check_held(0, 0);
	close_cache();
}
END_TEST

START_TEST(a_cap_of_0_keeps_nothing)
{
	open_capped(0);
	get_put(1);
	get_put(1000);
	check_held(0, 0);
	check_count(hits, 0);
	check_count(freed_bytes, 1001);
	close_cache();
}
END_TEST

START_TEST(without_a_cap_nothing_is_evicted)
{
	const struct kvp_alloc_cache_options options = {
		.override = { .given = true, .bounded = false },
	};
	uint64_t i, address = 7;

	open_on(FREE_BYTES, &options);
	for (i = 1; i <= 400; i++)
		get_put(i);
	check_held(400 * 401 / 2, 400);
	check_count(sizes, 400);
	check_count(freed_bytes, 0);
	ck_assert(!counters().cap.bounded);
	/* Nothing is freed behind an allocation that fails. */
	check_text(kvp_alloc_cache_get(cache, 20000, &address, err),
		   KVP_EEXHAUSTED, "allocate: 20000 bytes wanted, 19800 free");
	ck_assert_uint_eq(address, 7);
	check_held(400 * 401 / 2, 400);
	check_count(misses, 401);
	check_count(live_blocks, 0);
	check_ok(kvp_alloc_cache_drain(cache, NULL));
	check_held(0, 0);
	check_count(pending_bytes, 0);
	get_put(20000);
	close_cache();
}
END_TEST

START_TEST(lowering_the_cap_evicts_at_once)
{
	struct kvp_cap cap = { 800, true, KVP_CAP_OVERRIDE };
	uint64_t i;

	open_capped(5000);
	for (i = 1; i <= 10; i++)
		get_put(100 * i);
	check_held(5500 - 100 - 200 - 300 - 400 - 500, 5);
	check_ok(kvp_alloc_cache_set_cap(cache, &cap, NULL));
	check_held(0, 0);
	check_count(freed_bytes, 5500);
	check_count(cap.bytes, 800);
	cap.bounded = false;
	check_ok(kvp_alloc_cache_set_cap(cache, &cap, NULL));
	get_put(900);
	check_held(900, 1);
	close_cache();
}
END_TEST

START_TEST(what_is_evicted_is_pending_until_the_step_ends)
{
	open_capped(800);
	get_put(500);
	get_put(400);
	check_held(400, 1);
	check_count(pending_bytes, 500);
	ck_assert_uint_eq(free_now(), FREE_BYTES - 900);
	check_ok(kvp_alloc_cache_step(cache, NULL));
	check_count(pending_bytes, 0);
	ck_assert_uint_eq(free_now(), FREE_BYTES - 400);
	close_cache();
}
END_TEST

START_TEST(a_step_without_pending_bytes_does_not_synchronize)
{
	open_capped(800);
	fault = (struct kvp_fault){ KVP_OP_ALL, 1, true, KVP_EDRIVER, 0 };
	check_ok(kvp_alloc_cache_step(cache, NULL));
	ck_assert_uint_eq(fault.hits, 0);
	fault.countdown = 0;
	close_cache();
}
END_TEST

START_TEST(the_counters_of_a_step_begin_anew_and_the_totals_do_not)
{
	open_capped(800);
	get_put(500);
	get_put(500);
	get_put(400);
	check_count(hits, 1);
	check_count(misses, 2);
	check_count(freed_bytes, 500);
	check_ok(kvp_alloc_cache_step(cache, NULL));
	check_count(steps, 1);
	check_count(hits, 0);
	check_count(misses, 0);
	check_count(freed_bytes, 0);
	get_put(400);
	check_count(hits, 1);
	check_count(hits_total, 2);
	check_count(misses_total, 2);
	check_count(freed_bytes_total, 500);
	close_cache();
}
END_TEST

static void steps(int count)
{
	while (count--)
		check_ok(kvp_alloc_cache_step(cache, NULL));
}

#define MIB (UINT64_C(1) << 20)

START_TEST(the_cap_is_planned_anew_every_64_steps)
{
	const struct kvp_alloc_cache_options options = { 0 };
	const struct kvp_cap own = { 5 * MIB, true, KVP_CAP_OVERRIDE };
	uint64_t live;

	open_on(844 * MIB, &options);
	check_count(cap.bytes, 844 * MIB / 8);
	ck_assert_int_eq(counters().cap.term, KVP_CAP_EIGHTH);
	live = get(800 * MIB);
	check_ok(kvp_alloc_cache_set_cap(cache, &own, NULL));
	steps(63);
	check_count(cap.bytes, 5 * MIB);
	steps(1);
	check_count(cap.bytes, 22 * MIB);
	ck_assert_int_eq(counters().cap.term, KVP_CAP_HALF);
	put(live);
	/* It was larger than the cap, and its bytes count as free. */
	steps(63);
	check_count(cap.bytes, 22 * MIB);
	get_put(4 * MIB);
	steps(1);
	check_count(cap.bytes, 105 * MIB);
	close_cache();
}
END_TEST

START_TEST(what_was_evicted_counts_as_free_when_the_cap_is_planned)
{
	const struct kvp_alloc_cache_options options = { 0 };

	open_on(100 * MIB, &options);
	check_count(cap.bytes, 50 * MIB);
	get_put(40 * MIB);
	get_put(60 * MIB);
	check_count(pending_bytes, 60 * MIB);
	/* Held: 40.  Free after a synchronize: 60, before it: 0. */
	check_ok(kvp_alloc_cache_arm(cache, NULL));
	check_count(cap.bytes, 30 * MIB);
	/* That evicts; what is evicted by it does not count yet. */
	check_held(0, 0);
	check_count(pending_bytes, 40 * MIB);
	close_cache();
}
END_TEST

START_TEST(a_reading_that_fails_is_the_constant_and_no_error)
{
	const struct kvp_alloc_cache_options options = { 0 };
	struct kvp_error err = { 0 };

	open_on(100 * MIB, &options);
	fault = (struct kvp_fault){ KVP_OP_MEMORY, 1, true, KVP_EDRIVER, 0 };
	check_ok(kvp_alloc_cache_arm(cache, &err));
	ck_assert_int_eq(err.code, KVP_OK);
	check_count(cap.bytes, 1024 * MIB);
	ck_assert(counters().cap.bounded);
	ck_assert_int_eq(counters().cap.term, KVP_CAP_NO_READING);
	fault.countdown = 0;
	check_ok(kvp_alloc_cache_arm(cache, &err));
	check_count(cap.bytes, 50 * MIB);
	close_cache();
}
END_TEST

START_TEST(an_override_stays_whatever_is_free)
{
	const struct kvp_cap other = { 1, true, KVP_CAP_FLOOR };

	open_capped(800);
	check_count(cap.bytes, 800);
	ck_assert_int_eq(counters().cap.term, KVP_CAP_OVERRIDE);
	check_ok(kvp_alloc_cache_set_cap(cache, &other, NULL));
	check_count(cap.bytes, 1);
	steps(64);
	check_count(cap.bytes, 800);
	close_cache();
}
END_TEST

START_TEST(a_pinned_block_is_neither_evicted_nor_handed_out)
{
	uint64_t pinned;

	open_capped(800);
	pinned = get(600);
	put(pinned);
	check_ok(kvp_alloc_cache_pin(cache, pinned, NULL));
	check_held(0, 0);
	check_count(pinned_bytes, 600);
	check_count(pinned_blocks, 1);
	check_count(sizes, 1);
	ck_assert(!hits(600));
	check_count(sizes, 1);
	check_count(pinned_over_cap_bytes, 0);
	get_put(300);
	/* Counted apart: 600 pinned and 300 held beside it. */
	check_held(300, 1);
	check_ok(kvp_alloc_cache_drain(cache, NULL));
	check_held(0, 0);
	check_count(pinned_bytes, 600);
	check_ok(kvp_alloc_cache_unpin(cache, pinned, NULL));
	check_held(600, 1);
	ck_assert_uint_eq(get(600), pinned);
	put(pinned);
	close_cache();
}
END_TEST

START_TEST(a_block_may_be_pinned_while_it_is_handed_out)
{
	uint64_t pinned;

	open_capped(800);
	pinned = get(900);
	check_ok(kvp_alloc_cache_pin(cache, pinned, NULL));
	check_count(pinned_bytes, 0);
	check_count(live_bytes, 900);
	put(pinned);
	/* Larger than the cap, and there all the same. */
	check_count(pinned_bytes, 900);
	check_count(live_bytes, 0);
	check_count(pinned_over_cap_bytes, 100);
	check_count(freed_bytes, 0);
	check_ok(kvp_alloc_cache_unpin(cache, pinned, NULL));
	check_count(pinned_bytes, 0);
	check_count(pinned_over_cap_bytes, 0);
	check_held(0, 0);
	check_count(freed_bytes, 900);
	close_cache();
}
END_TEST

START_TEST(an_unpinned_block_is_the_most_recent)
{
	uint64_t pinned;

	open_capped(800);
	pinned = get(400);
	put(pinned);
	get_put(300);
	check_ok(kvp_alloc_cache_pin(cache, pinned, NULL));
	check_ok(kvp_alloc_cache_unpin(cache, pinned, NULL));
	get_put(200);
	/* 900: 300 is the oldest. */
	check_held(600, 2);
	ck_assert(hits(400) && hits(200));
	close_cache();
}
END_TEST

START_TEST(unpinning_evicts_over_the_cap)
{
	uint64_t pinned;

	open_capped(800);
	pinned = get(500);
	check_ok(kvp_alloc_cache_pin(cache, pinned, NULL));
	put(pinned);
	get_put(300);
	get_put(301);
	check_held(601, 2);
	check_ok(kvp_alloc_cache_unpin(cache, pinned, NULL));
	/* 1,101, 801, 500 */
	check_held(500, 1);
	ck_assert_uint_eq(get(500), pinned);
	put(pinned);
	close_cache();
}
END_TEST

START_TEST(pins_that_are_none_are_refused)
{
	uint64_t address;

	open_capped(800);
	check_text(kvp_alloc_cache_pin(cache, 0x1234, err), KVP_EBUSY,
		   "pin: no block at 0x1234");
	check_text(kvp_alloc_cache_unpin(cache, 0x1234, err), KVP_EBUSY,
		   "unpin: no block at 0x1234");
	address = get(10);
	check_text(kvp_alloc_cache_unpin(cache, address, err), KVP_EBUSY,
		   "unpin: the block at 0x100 is not pinned");
	check_ok(kvp_alloc_cache_pin(cache, address, NULL));
	check_text(kvp_alloc_cache_pin(cache, address, err), KVP_EBUSY,
		   "pin: the block at 0x100 is pinned already");
	put(address);
	check_text(kvp_alloc_cache_pin(cache, address, err), KVP_EBUSY,
		   "pin: the block at 0x100 is pinned already");
	check_ok(kvp_alloc_cache_unpin(cache, address, NULL));
	check_text(kvp_alloc_cache_unpin(cache, address, err), KVP_EBUSY,
		   "unpin: the block at 0x100 is not pinned");
	check_held(10, 1);
	close_cache();
}
END_TEST

START_TEST(blocks_that_are_not_handed_out_are_not_taken_back)
{
	uint64_t address, large;

	open_capped(800);
	check_text(kvp_alloc_cache_put(cache, 0x1234, err), KVP_EBUSY,
		   "put: no block is handed out at 0x1234");
	address = get(10);
	large = get(900);
	put(address);
	put(large);
	check_text(kvp_alloc_cache_put(cache, address, err), KVP_EBUSY,
		   "put: the block at 0x100 is not handed out, it was put "
		   "back already");
	check_text(kvp_alloc_cache_put(cache, large, err), KVP_EBUSY,
		   "put: no block is handed out at 0x200");
	check_held(10, 1);
	check_count(freed_bytes, 900);
	close_cache();
}
END_TEST

START_TEST(a_block_of_0_bytes_is_refused_and_no_miss)
{
	uint64_t address = 7;

	open_capped(800);
	check_text(kvp_alloc_cache_get(cache, 0, &address, err), KVP_EINPUT,
		   "get: a block of 0 bytes");
	ck_assert_uint_eq(address, 7);
	check_count(misses, 0);
	close_cache();
}
END_TEST

START_TEST(turned_off_it_keeps_nothing_and_turned_on_it_arms)
{
	const struct kvp_alloc_cache_options options = { .off = true };
	uint64_t pinned;

	open_on(100 * MIB, &options);
	check_count(cap.bytes, 0);
	ck_assert(counters().cap.bounded);
	get_put(MIB);
	check_held(0, 0);
	check_count(sizes, 0);
	check_count(freed_bytes, MIB);
	steps(64);
	/* Nobody armed it. */
	check_count(cap.bytes, 0);
	pinned = get(20 * MIB);
	check_ok(kvp_alloc_cache_pin(cache, pinned, NULL));
	put(pinned);
	check_count(pinned_bytes, 20 * MIB);
	check_ok(kvp_alloc_cache_enable(cache, true, NULL));
	check_count(cap.bytes, 40 * MIB);
	get_put(MIB);
	check_held(MIB, 1);
	check_ok(kvp_alloc_cache_enable(cache, false, NULL));
	check_held(0, 0);
	check_count(pending_bytes, 0);
	check_count(pinned_bytes, 20 * MIB);
	check_count(cap.bytes, 40 * MIB);
	check_ok(kvp_alloc_cache_unpin(cache, pinned, NULL));
	check_held(0, 0);
	check_count(pinned_bytes, 0);
	close_cache();
}
END_TEST

START_TEST(a_cache_in_use_is_not_freed)
{
	uint64_t first, second;

	open_capped(800);
	first = get(100);
	second = get(200);
	put(second);
	check_text(kvp_alloc_cache_free(cache, err), KVP_EBUSY, "the "
		   "allocation cache is in use: 1 blocks are handed out, 0 "
		   "are pinned; put back and unpin them first");
	check_held(200, 1);
	check_ok(kvp_alloc_cache_pin(cache, first, NULL));
	put(first);
	check_text(kvp_alloc_cache_free(cache, err), KVP_EBUSY, "the "
		   "allocation cache is in use: 0 blocks are handed out, 1 "
		   "are pinned; put back and unpin them first");
	check_held(200, 1);
	check_ok(kvp_alloc_cache_unpin(cache, first, NULL));
	check_ok(kvp_alloc_cache_free(NULL, NULL));
	close_cache();
}
END_TEST

START_TEST(a_block_that_is_not_taken_stays_held_and_is_counted_once)
{
	open_capped(800);
	get_put(300);
	get_put(301);
	fault = (struct kvp_fault){ KVP_OP_DEALLOCATE, 1, false, KVP_EDRIVER,
				    0 };
	check_text(kvp_alloc_cache_put(cache, get(302), err), KVP_EDRIVER,
		   "deallocate: made to fail");
	/* Over the cap: evicting ended with the block that was not taken. */
	check_held(903, 3);
	check_count(live_blocks, 0);
	check_count(freed_bytes, 0);
	check_count(pending_bytes, 0);
	/* It is the most recent now and in nobody's way. */
	get_put(10);
	check_held(612, 3);
	check_count(freed_bytes, 301);
	ck_assert(hits(300) && hits(302) && hits(10));
	close_cache();
}
END_TEST

START_TEST(a_block_too_large_that_is_not_taken_stays_held)
{
	open_capped(800);
	get_put(100);
	fault = (struct kvp_fault){ KVP_OP_DEALLOCATE, 1, false, KVP_EDRIVER,
				    0 };
	ck_assert_int_eq(kvp_alloc_cache_put(cache, get(801), NULL),
			 KVP_EDRIVER);
	check_held(901, 2);
	ck_assert_uint_eq(fault.hits, 1);
	ck_assert(hits(801));
	check_held(100, 1);
	close_cache();
}
END_TEST

START_TEST(draining_goes_on_past_a_block_that_is_not_taken)
{
	uint64_t i;

	open_capped(5000);
	for (i = 1; i <= 5; i++)
		get_put(i * 100);
	fault = (struct kvp_fault){ KVP_OP_DEALLOCATE, 2, false, KVP_EDRIVER,
				    0 };
	check_text(kvp_alloc_cache_drain(cache, err), KVP_EDRIVER,
		   "deallocate: made to fail");
	check_held(200, 1);
	check_count(freed_bytes, 1300);
	check_count(pending_bytes, 0);
	fault = (struct kvp_fault){ KVP_OP_DEALLOCATE | KVP_OP_SYNCHRONIZE, 1,
				    true, KVP_EDRIVER, 0 };
	/* The first error is told. */
	check_text(kvp_alloc_cache_drain(cache, err), KVP_EDRIVER,
		   "deallocate: made to fail");
	ck_assert_uint_eq(fault.hits, 2);
	check_held(200, 1);
	fault.countdown = 0;
	close_cache();
}
END_TEST

START_TEST(a_step_that_cannot_synchronize_has_ended)
{
	open_capped(800);
	get_put(900);
	fault = (struct kvp_fault){ KVP_OP_SYNCHRONIZE, 1, false, KVP_EDRIVER,
				    0 };
	check_text(kvp_alloc_cache_step(cache, err), KVP_EDRIVER,
		   "synchronize: made to fail");
	check_count(steps, 1);
	check_count(freed_bytes, 0);
	check_count(pending_bytes, 900);
	steps(1);
	check_count(pending_bytes, 0);
	close_cache();
}
END_TEST

START_TEST(what_cannot_synchronize_is_not_armed)
{
	const struct kvp_alloc_cache_options options = { .off = true };

	open_on(100 * MIB, &options);
	fault = (struct kvp_fault){ KVP_OP_SYNCHRONIZE, 1, true, KVP_EDRIVER,
				    0 };
	check_text(kvp_alloc_cache_enable(cache, true, err), KVP_EDRIVER,
		   "synchronize: made to fail");
	get_put(MIB);
	check_held(0, 0);
	fault.countdown = 0;
	check_ok(kvp_alloc_cache_enable(cache, true, NULL));
	get_put(MIB);
	check_held(MIB, 1);
	check_count(cap.bytes, 50 * MIB);
	fault.countdown = 1;
	ck_assert_int_eq(kvp_alloc_cache_arm(cache, NULL), KVP_EDRIVER);
	check_count(cap.bytes, 50 * MIB);
	/* Off it goes in any case. */
	ck_assert_int_eq(kvp_alloc_cache_enable(cache, false, NULL),
			 KVP_EDRIVER);
	check_held(0, 0);
	fault.countdown = 0;
	get_put(MIB);
	check_held(0, 0);
	close_cache();
}
END_TEST

START_TEST(what_the_backend_does_not_take_back_is_told_at_the_end)
{
	open_capped(800);
	get_put(100);
	get_put(200);
	get_put(300);
	fault = (struct kvp_fault){ KVP_OP_DEALLOCATE, 2, true, KVP_EDRIVER,
				    0 };
	check_text(kvp_alloc_cache_free(cache, err), KVP_ESTUCK, "the "
		   "allocation cache is gone, and 2 blocks of 500 bytes are "
		   "left: deallocate: made to fail");
	ck_assert_uint_eq(free_now(), FREE_BYTES - 500);
	close_backends();
}
END_TEST

START_TEST(a_pool_that_is_not_destroyed_is_told_at_the_end)
{
	open_capped(800);
	get_put(100);
	fault = (struct kvp_fault){ KVP_OP_POOL_DESTROY, 1, true, KVP_EDRIVER,
				    0 };
	check_text(kvp_alloc_cache_free(cache, err), KVP_ESTUCK, "the "
		   "allocation cache is gone, and 0 blocks of 0 bytes are "
		   "left: pool_destroy: made to fail");
	ck_assert_uint_eq(free_now(), FREE_BYTES);
	close_backends();
}
END_TEST

static void check_not_opened(unsigned ops)
{
	const struct kvp_alloc_cache_options options = { 0 };
	struct kvp_alloc_cache *none = (void *)&fault;

	fault = (struct kvp_fault){ ops, 1, true, KVP_EDRIVER, 0 };
	ck_assert_int_eq(kvp_alloc_cache_new(&none, b, &options, NULL),
			 KVP_EDRIVER);
	ck_assert_uint_eq(fault.hits, 1);
	ck_assert_ptr_null(none);
	fault.countdown = 0;
}

START_TEST(a_cache_that_does_not_begin_leaves_no_pool)
{
	kvp_pool pool;

	ck_assert_int_eq(kvp_backend_card(&card, 100, NULL), KVP_OK);
	ck_assert_int_eq(kvp_backend_fault(&b, card, &fault, NULL), KVP_OK);
	check_not_opened(KVP_OP_SYNCHRONIZE | KVP_OP_POOL_DESTROY);
	check_not_opened(KVP_OP_POOL_CREATE | KVP_OP_POOL_DESTROY);
	/* The first there is. */
	check_ok(card->pool.pool_create(card, 0, &pool, NULL));
	ck_assert_uint_eq(pool, 1);
	close_backends();
}
END_TEST

static struct {
	int calls;
	struct kvp_alloc_cache_counters last;
} told;

static void tell(void *cookie, const struct kvp_alloc_cache_counters *now)
{
	ck_assert_ptr_eq(cookie, &told);
	told.calls++;
	told.last = *now;
}

START_TEST(every_so_many_steps_there_is_a_report)
{
	const struct kvp_alloc_cache_options options = {
		.override = { true, true, 800 }, .report = tell,
		.cookie = &told, .report_steps = 3,
	};

	memset(&told, 0, sizeof(told));
	open_on(FREE_BYTES, &options);
	get_put(10);
	steps(2);
	ck_assert_int_eq(told.calls, 0);
	get_put(10);
	get_put(20);
	get_put(900);
	steps(1);
	ck_assert_int_eq(told.calls, 1);
	ck_assert_uint_eq(told.last.steps, 3);
	ck_assert_uint_eq(told.last.hits, 1);
	ck_assert_uint_eq(told.last.misses, 2);
	ck_assert_uint_eq(told.last.freed_bytes, 900);
	ck_assert_uint_eq(told.last.pending_bytes, 0);
	ck_assert_uint_eq(told.last.held_bytes, 30);
	steps(3);
	ck_assert_int_eq(told.calls, 2);
	ck_assert_uint_eq(told.last.hits, 0);
	close_cache();
}
END_TEST

START_TEST(many_blocks_and_sizes_are_no_trouble)
{
	enum { COUNT = 50000 };
	uint64_t *address = calloc(COUNT, sizeof(*address)), i;
	const struct kvp_alloc_cache_options options = {
		.override = { .given = true, .bounded = false },
	};

	ck_assert_ptr_nonnull(address);
	open_on(UINT64_C(1) << 40, &options);
	for (i = 0; i < COUNT; i++)
		address[i] = get(i + 1);
	check_count(live_blocks, COUNT);
	/* 7919 is prime: each one once, in no order. */
	for (i = 0; i < COUNT; i++)
		put(address[i * 7919 % COUNT]);
	check_count(sizes, COUNT);
	for (i = 0; i < COUNT; i++)
		ck_assert_uint_eq(get(i + 1), address[i]);
	check_count(hits, COUNT);
	for (i = 0; i < COUNT; i++)
		put(address[i]);
	free(address);
	close_cache();
}
END_TEST

START_TEST(the_memory_of_this_machine_is_cached_as_well)
{
	const struct kvp_alloc_cache_options options = {
		.override = { true, true, 800000 },
	};
	struct host_alive alive;
	uint64_t i, address;

	memset(&fault, 0, sizeof(fault));
	check_ok(kvp_backend_host(&card, 1, 4096, NULL));
	check_ok(kvp_backend_fault(&b, card, &fault, NULL));
	check_ok(kvp_alloc_cache_new(&cache, b, &options, NULL));
	for (i = 0; i < 30; i++) {
		address = get(100000 + i);
		memset((void *)(uintptr_t)address, 0xa5, 100000);
		put(address);
	}
	ck_assert_uint_le(counters().held_bytes, 800000);
	ck_assert_uint_gt(counters().freed_bytes, 2000000);
	ck_assert(hits(100029));
	check_ok(kvp_alloc_cache_free(cache, NULL));
	host_alive(card, &alive);
	ck_assert_uint_eq(alive.pools, 0);
	ck_assert_uint_eq(alive.blocks, 0);
	close_backends();
}
END_TEST

static void add_pinned(TCase *tests)
{
	tcase_add_test(tests, a_pinned_block_is_neither_evicted_nor_handed_out);
	tcase_add_test(tests, a_block_may_be_pinned_while_it_is_handed_out);
	tcase_add_test(tests, an_unpinned_block_is_the_most_recent);
	tcase_add_test(tests, unpinning_evicts_over_the_cap);
	tcase_add_test(tests, pins_that_are_none_are_refused);
}

static void add_faults(TCase *tests)
{
	tcase_add_test(tests,
		a_block_that_is_not_taken_stays_held_and_is_counted_once);
	tcase_add_test(tests,
		       a_block_too_large_that_is_not_taken_stays_held);
	tcase_add_test(tests,
		       draining_goes_on_past_a_block_that_is_not_taken);
	tcase_add_test(tests, a_step_that_cannot_synchronize_has_ended);
	tcase_add_test(tests, what_cannot_synchronize_is_not_armed);
	tcase_add_test(tests,
		what_the_backend_does_not_take_back_is_told_at_the_end);
	tcase_add_test(tests, a_pool_that_is_not_destroyed_is_told_at_the_end);
	tcase_add_test(tests, a_cache_that_does_not_begin_leaves_no_pool);
}

Suite *alloc_cache_suite(void)
{
	Suite *suite = suite_create("alloc_cache");
	TCase *tests = tcase_create("alloc_cache");

	tcase_add_test(tests,
		a_block_put_back_is_handed_out_for_exactly_its_size);
	tcase_add_test(tests,
		of_one_size_the_last_put_back_is_handed_out_first);
	tcase_add_test(tests,
		over_the_cap_the_oldest_go_down_to_the_low_water_mark);
	tcase_add_test(tests, at_the_cap_nothing_is_evicted);
	tcase_add_test(tests, a_hit_and_a_put_make_a_block_the_most_recent);
	tcase_add_test(tests,
		a_block_larger_than_the_cap_takes_no_other_with_it);
	tcase_add_test(tests, a_cap_of_0_keeps_nothing);
	tcase_add_test(tests, without_a_cap_nothing_is_evicted);
	tcase_add_test(tests, lowering_the_cap_evicts_at_once);
	tcase_add_test(tests, what_is_evicted_is_pending_until_the_step_ends);
	tcase_add_test(tests,
		a_step_without_pending_bytes_does_not_synchronize);
	tcase_add_test(tests,
		the_counters_of_a_step_begin_anew_and_the_totals_do_not);
	tcase_add_test(tests, the_cap_is_planned_anew_every_64_steps);
	tcase_add_test(tests,
		what_was_evicted_counts_as_free_when_the_cap_is_planned);
	tcase_add_test(tests,
		a_reading_that_fails_is_the_constant_and_no_error);
	tcase_add_test(tests, an_override_stays_whatever_is_free);
	add_pinned(tests);
	tcase_add_test(tests,
		blocks_that_are_not_handed_out_are_not_taken_back);
	tcase_add_test(tests, a_block_of_0_bytes_is_refused_and_no_miss);
	tcase_add_test(tests,
		turned_off_it_keeps_nothing_and_turned_on_it_arms);
	tcase_add_test(tests, a_cache_in_use_is_not_freed);
	add_faults(tests);
	tcase_add_test(tests, every_so_many_steps_there_is_a_report);
	tcase_add_test(tests, many_blocks_and_sizes_are_no_trouble);
	tcase_add_test(tests, the_memory_of_this_machine_is_cached_as_well);
	suite_add_tcase(suite, tests);
	return suite;
}
