/*
 * The simulated card: it counts bytes, and refuses what the other backends
 * refuse.
 */
#include <stdlib.h>
#include <string.h>

#include <kvplan/backend.h>

#include "unit/unit.h"

#define FREE_BYTES 10000

static struct kvp_backend *b;

static void open_card(void)
{
	ck_assert_int_eq(kvp_backend_card(&b, FREE_BYTES, NULL), KVP_OK);
}

static void close_card(void)
{
	kvp_backend_close(b);
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

static kvp_pool new_pool(void)
{
	kvp_pool pool = 0;

	check_ok(b->pool.pool_create(b, 0, &pool, NULL));
	return pool;
}

static uint64_t allocate(kvp_pool pool, uint64_t bytes)
{
	uint64_t address = 0;

	check_ok(b->pool.allocate(b, pool, bytes, &address, NULL));
	return address;
}

static void check_free(uint64_t expected)
{
	uint64_t free_bytes = 0;

	check_ok(b->device.memory(b, 0, &free_bytes, NULL));
	ck_assert_uint_eq(free_bytes, expected);
}

START_TEST(a_block_takes_exactly_its_bytes)
{
	kvp_pool pool = new_pool();

	check_free(10000);
	allocate(pool, 1);
	check_free(9999);
	allocate(pool, 9000);
	check_free(999);
	allocate(pool, 999);
	check_free(0);
}
END_TEST

START_TEST(what_is_given_back_is_free_after_a_synchronize)
{
	kvp_pool pool = new_pool();
	uint64_t address = allocate(pool, 6000);

	check_ok(b->pool.deallocate(b, pool, address, NULL));
	check_free(4000);
	check_text(b->pool.allocate(b, pool, 4001, &address, err),
		   KVP_EEXHAUSTED, "allocate: 4001 bytes wanted, 4000 free");
	check_ok(b->device.synchronize(b, 0, NULL));
	check_free(10000);
	allocate(pool, 4001);
	/* Once is once. */
	check_ok(b->device.synchronize(b, 0, NULL));
	check_free(5999);
}
END_TEST

START_TEST(more_than_is_free_is_out_of_memory_with_both_numbers)
{
	kvp_pool pool = new_pool();
	uint64_t address = 7;

	check_text(b->pool.allocate(b, pool, 10001, &address, err),
		   KVP_EEXHAUSTED, "allocate: 10001 bytes wanted, 10000 free");
	check_text(b->pool.allocate(b, pool, UINT64_MAX, &address, err),
		   KVP_EEXHAUSTED, "allocate: 18446744073709551615 bytes "
		   "wanted, 10000 free");
	check_text(b->pool.allocate(b, pool, 0, &address, err), KVP_EDRIVER,
		   "allocate: a block of 0 bytes");
	ck_assert_uint_eq(address, 7);
	check_free(10000);
	allocate(pool, 10000);
}
END_TEST

START_TEST(addresses_are_aligned_and_never_the_same)
{
	kvp_pool pool = new_pool();
	uint64_t end = 0, address;
	int i;

	for (i = 0; i < 1000; i++) {
		address = allocate(pool, (uint64_t)(i * 37 % 900 + 1));
		ck_assert_uint_ne(address, 0);
		ck_assert_uint_eq(address % 256, 0);
		ck_assert_uint_ge(address, end);
		end = address + (uint64_t)(i * 37 % 900 + 1);
		check_ok(b->pool.deallocate(b, pool, address, NULL));
		check_ok(b->device.synchronize(b, 0, NULL));
	}
}
END_TEST

START_TEST(blocks_that_are_not_there_are_refused)
{
	kvp_pool pool = new_pool(), other = new_pool();
	uint64_t address = allocate(pool, 100), second;

	ck_assert_uint_ne(pool, other);
	check_text(b->pool.deallocate(b, pool, address + 1, err), KVP_EDRIVER,
		   "deallocate: pool 1 has no block at 0x101, or it is "
		   "given back already");
	check_text(b->pool.deallocate(b, other, address, err), KVP_EDRIVER,
		   "deallocate: pool 2 has no block at 0x100, or it is "
		   "given back already");
	check_free(9900);
	check_ok(b->pool.deallocate(b, pool, address, NULL));
	check_text(b->pool.deallocate(b, pool, address, err), KVP_EDRIVER,
		   "deallocate: pool 1 has no block at 0x100, or it is "
		   "given back already");
	check_ok(b->device.synchronize(b, 0, NULL));
	check_free(10000);
	second = allocate(other, 100);
	ck_assert_int_eq(b->pool.deallocate(b, pool, second, NULL),
			 KVP_EDRIVER);
}
END_TEST

START_TEST(a_pool_in_use_is_not_destroyed)
{
	kvp_pool pool = new_pool(), other = new_pool();
	uint64_t address = allocate(pool, 100);

	check_text(b->pool.pool_destroy(b, pool, err), KVP_EDRIVER,
		   "pool_destroy: pool 1 still has blocks in use: 1");
	check_ok(b->pool.pool_destroy(b, other, NULL));
	check_ok(b->pool.deallocate(b, pool, address, NULL));
	/* Its bytes may be pending still. */
	check_ok(b->pool.pool_destroy(b, pool, NULL));
	check_text(b->pool.pool_destroy(b, pool, err), KVP_EDRIVER,
		   "pool_destroy: no pool 1, or it is destroyed already");
	check_text(b->pool.allocate(b, pool, 1, &address, err), KVP_EDRIVER,
		   "allocate: no pool 1, or it is destroyed already");
	check_text(b->pool.deallocate(b, pool, address, err), KVP_EDRIVER,
		   "deallocate: no pool 1, or it is destroyed already");
	check_ok(b->device.synchronize(b, 0, NULL));
	check_free(10000);
	/* Never the same again. */
	ck_assert_uint_eq(new_pool(), 3);
}
END_TEST

START_TEST(there_is_one_device)
{
	struct kvp_device_info info;
	uint64_t free_bytes = 7;
	kvp_pool pool = 7;
	bool can = false;

	ck_assert_str_eq(b->name, "card");
	ck_assert_uint_eq(b->devices, 1);
	ck_assert(!b->lazy);
	memset(&info, 0xa5, sizeof(info));
	check_ok(b->device.device(b, 0, &info, NULL));
	ck_assert_str_eq(info.label, "card");
	ck_assert_str_eq(info.name, "simulated card");
	ck_assert_str_eq(info.uuid, "");
	ck_assert_uint_eq(info.total_bytes, 10000);
	ck_assert_uint_eq(info.granularity, 256);
	check_ok(b->device.peer(b, 0, 0, &can, NULL));
	ck_assert(can);
	check_text(b->device.device(b, 1, &info, err), KVP_EDRIVER,
		   "device: no device 1: there is 1");
	check_text(b->device.peer(b, 0, 1, &can, err), KVP_EDRIVER,
		   "peer: no device 1: there is 1");
	check_text(b->device.peer(b, 2, 0, &can, err), KVP_EDRIVER,
		   "peer: no device 2: there is 1");
	check_text(b->device.memory(b, 1, &free_bytes, err), KVP_EDRIVER,
		   "memory: no device 1: there is 1");
	check_text(b->device.synchronize(b, 1, err), KVP_EDRIVER,
		   "synchronize: no device 1: there is 1");
	check_text(b->pool.pool_create(b, 1, &pool, err), KVP_EDRIVER,
		   "pool_create: no device 1: there is 1");
	ck_assert_uint_eq(free_bytes, 7);
	ck_assert_uint_eq(pool, 7);
}
END_TEST

#define check_none(verb, ...)						\
	check_text(b->mapping.verb(b, __VA_ARGS__, err), KVP_EDRIVER,	\
		   #verb ": the card backend has no such call")

START_TEST(a_card_on_paper_has_no_mappings)
{
	const struct kvp_create what = { .bytes = 256 };
	const struct kvp_grant grant = { 0, KVP_READ };
	const struct kvp_demand demand = { .devices = 1 };
	struct kvp_process process;
	enum kvp_flags flags = KVP_READ;
	uint64_t out = 7;

	check_none(reserve, 256, 0, &out);
	check_none(unreserve, 256, 256);
	check_none(create, &what, &out);
	check_none(release, 1);
	check_none(map, 256, 256, 1);
	check_none(unmap, 256, 256);
	check_none(grant, 256, 256, &grant, 1);
	check_none(granted, 256, 0, &flags);
	check_none(fill, 0, 256, 256, 0);
	check_none(match, 0, 256, 256, 0, &out);
	check_text(b->device.process(b, &demand, &process, err), KVP_EDRIVER,
		   "process: the card backend has no such call");
	ck_assert_uint_eq(out, 7);
	ck_assert_int_eq(flags, KVP_READ);
	check_free(10000);
}
END_TEST

START_TEST(a_hundred_thousand_blocks_are_no_trouble)
{
	const int count = 100000;
	uint64_t *address = calloc((size_t)count, sizeof(*address));
	kvp_pool pool;
	int i;

	ck_assert_ptr_nonnull(address);
	kvp_backend_close(b);
	ck_assert_int_eq(kvp_backend_card(&b, 100000, NULL), KVP_OK);
	pool = new_pool();
	for (i = 0; i < count; i++)
		address[i] = allocate(pool, 1);
	check_free(0);
	/* 7919 is prime: each one once, in no order. */
	for (i = 0; i < count; i++)
		check_ok(b->pool.deallocate(b, pool,
				address[(int64_t)i * 7919 % count], NULL));
	check_ok(b->device.synchronize(b, 0, NULL));
	check_free(100000);
	check_ok(b->pool.pool_destroy(b, pool, NULL));
	free(address);
}
END_TEST

START_TEST(addresses_end_where_64_bits_do)
{
	uint64_t address;
	kvp_pool pool;

	kvp_backend_close(b);
	ck_assert_int_eq(kvp_backend_card(&b, UINT64_MAX, NULL), KVP_OK);
	pool = new_pool();
	check_free(UINT64_MAX);
	address = allocate(pool, UINT64_C(1) << 63);
	check_ok(b->pool.deallocate(b, pool, address, NULL));
	check_ok(b->device.synchronize(b, 0, NULL));
	check_free(UINT64_MAX);
	check_text(b->pool.allocate(b, pool, UINT64_C(1) << 63, &address,
				    err), KVP_EEXHAUSTED,
		   "allocate: 9223372036854775808 bytes wanted, "
		   "9223372036854775551 bytes of addresses are left");
	allocate(pool, UINT64_C(1) << 62);
}
END_TEST

Suite *card_suite(void)
{
	Suite *suite = suite_create("card");
	TCase *tests = tcase_create("card");

	tcase_add_checked_fixture(tests, open_card, close_card);
	tcase_add_test(tests, a_block_takes_exactly_its_bytes);
	tcase_add_test(tests, what_is_given_back_is_free_after_a_synchronize);
	tcase_add_test(tests,
		more_than_is_free_is_out_of_memory_with_both_numbers);
	tcase_add_test(tests, addresses_are_aligned_and_never_the_same);
	tcase_add_test(tests, blocks_that_are_not_there_are_refused);
	tcase_add_test(tests, a_pool_in_use_is_not_destroyed);
	tcase_add_test(tests, there_is_one_device);
	tcase_add_test(tests, a_card_on_paper_has_no_mappings);
	tcase_add_test(tests, a_hundred_thousand_blocks_are_no_trouble);
	tcase_add_test(tests, addresses_end_where_64_bits_do);
	suite_add_tcase(suite, tests);
	return suite;
}
