/*
 * The host backend's pools: blocks are memory of their own, what is given
 * back is there until its device is synchronized and gone after that, and
 * every wrong order is refused with nothing changed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unit/host.h"

#define G UINT64_C(65536)
#define DEVICES 3
#define MIB (UINT64_C(1) << 20)
/* Out-parameters that nobody wrote. */
#define UNTOUCHED UINT64_C(0x1234)

static struct kvp_backend *b;
static struct kvp_error err;

static void open_host(void)
{
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(kvp_backend_host(&b, DEVICES, G, &err), KVP_OK);
}

static void close_host(void)
{
	kvp_backend_close(b);
}

static kvp_pool pool_on(uint32_t device)
{
	kvp_pool pool = UNTOUCHED;

	check_ok(b->pool.pool_create(b, device, &pool, &err));
	return pool;
}

static uint64_t allocate(kvp_pool pool, uint64_t bytes)
{
	uint64_t address = UNTOUCHED;

	check_ok(b->pool.allocate(b, pool, bytes, &address, &err));
	return address;
}

static void deallocate(kvp_pool pool, uint64_t address)
{
	check_ok(b->pool.deallocate(b, pool, address, &err));
}

static void synchronize(uint32_t device)
{
	check_ok(b->device.synchronize(b, device, &err));
}

static void check_alive(uint64_t pools, uint64_t blocks)
{
	struct host_alive alive;

	host_alive(b, &alive);
	ck_assert_uint_eq(alive.pools, pools);
	ck_assert_uint_eq(alive.blocks, blocks);
}

static unsigned char *memory_at(uint64_t address)
{
	return (unsigned char *)(uintptr_t)address;
}

/* Does the kernel still have the first page of a block? */
static bool mapped(uint64_t address)
{
	return !msync(memory_at(address), 1, MS_ASYNC);
}

/* Is it this byte throughout? */
static bool all(uint64_t address, uint64_t bytes, unsigned char byte)
{
	const unsigned char *p = memory_at(address);

	return *p == byte && !memcmp(p, p + 1, bytes - 1);
}

START_TEST(a_block_of_any_length_is_memory_of_its_own)
{
	static const uint64_t bytes[] = {
		1, 4095, 4096, 4097, 2 * MIB, 3 * MIB + 5, 1, 1342177,
	};
	enum { COUNT = sizeof(bytes) / sizeof(*bytes) };
	kvp_pool pool = pool_on(0), other = pool_on(0);
	uint64_t at[COUNT], i;

	for (i = 0; i < COUNT; i++) {
		at[i] = allocate(i % 2 ? pool : other, bytes[i]);
		ck_assert(all(at[i], bytes[i], 0));
		memset(memory_at(at[i]), (int)i + 1, bytes[i]);
	}
	check_alive(2, COUNT);
	for (i = 0; i < COUNT; i++) {
		ck_assert(all(at[i], bytes[i], (unsigned char)(i + 1)));
		deallocate(i % 2 ? pool : other, at[i]);
	}
}
END_TEST

START_TEST(what_is_given_back_is_there_until_its_device_is_synchronized)
{
	kvp_pool one = pool_on(1), two = pool_on(2), more = pool_on(1);
	uint64_t at[4], i;

	for (i = 0; i < 4; i++)
		at[i] = allocate(i < 2 ? one : i < 3 ? two : more, 4 * MIB);
	deallocate(one, at[0]);
	deallocate(two, at[2]);
	deallocate(more, at[3]);
	check_alive(3, 4);
	synchronize(0);
	for (i = 0; i < 4; i++)
		ck_assert(mapped(at[i]));
	synchronize(2);
	ck_assert(mapped(at[0]) && mapped(at[1]) && mapped(at[3]));
	ck_assert(!mapped(at[2]));
	check_alive(3, 3);
	synchronize(1);
	/* Of both pools, and the block in use is none of it. */
	ck_assert(!mapped(at[0]) && mapped(at[1]) && !mapped(at[3]));
	check_alive(3, 1);
	memset(memory_at(at[1]), 1, 4 * MIB);
	synchronize(1);
	ck_assert(mapped(at[1]));
}
END_TEST

START_TEST(a_pool_takes_what_was_given_back_to_it_along)
{
	kvp_pool first = pool_on(0), pool = pool_on(0), other;
	uint64_t at = allocate(pool, 4 * MIB), got = UNTOUCHED;

	deallocate(pool, at);
	ck_assert(mapped(at));
	check_ok(b->pool.pool_destroy(b, pool, &err));
	ck_assert(!mapped(at));
	check_alive(1, 0);
	/* Its name stays unknown, whatever there is before and after it. */
	check_refused(b->pool.pool_destroy(b, pool, &err),
		      "pool_destroy: no pool");
	other = pool_on(0);
	ck_assert_uint_ne(other, pool);
	ck_assert_uint_ne(other, first);
	check_refused(b->pool.pool_destroy(b, pool, &err),
		      "pool_destroy: no pool");
	check_refused(b->pool.allocate(b, pool, 1, &got, &err),
		      "allocate: no pool");
	check_refused(b->pool.deallocate(b, pool, at, &err),
		      "deallocate: no pool");
	ck_assert_uint_eq(got, UNTOUCHED);
}
END_TEST

START_TEST(a_pool_with_blocks_in_use_is_not_destroyed)
{
	kvp_pool pool = pool_on(0);
	uint64_t one = allocate(pool, MIB), two = allocate(pool, 1);

	check_refused(b->pool.pool_destroy(b, pool, &err),
		      "still has blocks in use: 2");
	deallocate(pool, one);
	check_refused(b->pool.pool_destroy(b, pool, &err),
		      "still has blocks in use: 1");
	memset(memory_at(two), 1, 1);
	deallocate(pool, two);
	check_ok(b->pool.pool_destroy(b, pool, &err));
}
END_TEST

START_TEST(only_a_block_in_use_is_given_back_to_its_own_pool)
{
	kvp_pool pool = pool_on(0), other = pool_on(0);
	uint64_t at = allocate(pool, MIB), next = allocate(other, MIB);

	check_refused(b->pool.deallocate(b, pool, at + 1, &err), "no block");
	check_refused(b->pool.deallocate(b, pool, at + 4096, &err),
		      "no block");
	check_refused(b->pool.deallocate(b, pool, 0, &err), "no block");
	check_refused(b->pool.deallocate(b, pool, UINT64_MAX, &err),
		      "no block");
	check_refused(b->pool.deallocate(b, other, at, &err), "no block");
	check_refused(b->pool.deallocate(b, pool, next, &err), "no block");
	check_refused(b->pool.deallocate(b, 0, at, &err), "no pool 0");
	deallocate(pool, at);
	check_refused(b->pool.deallocate(b, pool, at, &err),
		      "given back already");
	synchronize(0);
	check_refused(b->pool.deallocate(b, pool, at, &err),
		      "given back already");
	/* An empty table has no block either. */
	deallocate(other, next);
	check_refused(b->pool.deallocate(b, other, next, &err), "no block");
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
	kvp_pool pool = UNTOUCHED;
	uint64_t got = UNTOUCHED;

	check_refused(b->pool.pool_create(b, DEVICES, &pool, &err),
		      "pool_create: no device 3: there are 3");
	check_refused(b->pool.pool_destroy(b, UINT64_MAX, &err),
		      "no pool 18446744073709551615");
	check_refused(b->pool.allocate(b, 0, 1, &got, &err), "no pool 0");
	check_refused(b->pool.deallocate(b, 0, 0, &err), "no pool 0");
	ck_assert_uint_eq(pool, UNTOUCHED);
	pool = pool_on(0);
	check_refused(b->pool.allocate(b, pool, 0, &got, &err),
		      "allocate: a block of 0 bytes");
	ck_assert_uint_eq(got, UNTOUCHED);
}
END_TEST

START_TEST(more_than_the_kernel_gives_is_exhausted)
{
	static const uint64_t bytes[] = {
		UINT64_C(1) << 62, UINT64_MAX - 4095, UINT64_MAX,
	};
	kvp_pool pool = pool_on(0);
	uint64_t got = UNTOUCHED;
	size_t i;

	for (i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		ck_assert_int_eq(b->pool.allocate(b, pool, bytes[i], &got,
						  &err), KVP_EEXHAUSTED);
		ck_assert_ptr_nonnull(strstr(err.text, "allocate: mmap of"));
	}
	ck_assert_uint_eq(got, UNTOUCHED);
	check_alive(1, 0);
	check_ok(b->pool.pool_destroy(b, pool, &err));
}
END_TEST

START_TEST(closing_gives_every_block_back)
{
	struct kvp_backend *kept = b;
	uint64_t at[4], i;
	kvp_pool pool;

	ck_assert_int_eq(kvp_backend_host(&b, DEVICES, G, &err), KVP_OK);
	for (i = 0; i < 4; i++) {
		pool = pool_on((uint32_t)i / 2);
		at[i] = allocate(pool, 4 * MIB);
		memset(memory_at(at[i]), 1, 4 * MIB);
		if (i % 2)
			deallocate(pool, at[i]);
	}
	kvp_backend_close(b);
	b = kept;
	for (i = 0; i < 4; i++)
		ck_assert(!mapped(at[i]));
}
END_TEST

#define BLOCKS 4000

/* The k-th of n numbers in an order of no pattern; n is no multiple of 7. */
static uint64_t shuffled(uint64_t k, uint64_t n)
{
	return (k * 7 * 7 * 7 * 7 * 7 + 3) % n;
}

START_TEST(thousands_of_blocks_are_told_apart)
{
	static uint64_t at[BLOCKS];
	const uint64_t before = host_maps_used();
	kvp_pool pool[3] = { pool_on(0), pool_on(1), pool_on(0) };
	uint64_t i, k;

	for (i = 0; i < BLOCKS; i++) {
		at[i] = allocate(pool[i % 3], 1 + i * 37 % 9000);
		*memory_at(at[i]) = (unsigned char)i;
	}
	for (k = 0; k < BLOCKS; k++) {
		i = shuffled(k, BLOCKS);
		ck_assert_uint_eq(*memory_at(at[i]), i & 0xff);
		check_refused(b->pool.deallocate(b, pool[(i + 1) % 3], at[i],
						 &err), "no block");
		deallocate(pool[i % 3], at[i]);
		if (k % 500 == 0)
			synchronize(0);
	}
	synchronize(0);
	synchronize(1);
	check_alive(3, 0);
	ck_assert_uint_le(host_maps_used(), before + 16);
	for (i = 0; i < 3; i++)
		check_ok(b->pool.pool_destroy(b, pool[i], &err));
}
END_TEST

#define NEIGHBOURS 64

/* Address space and a handle that can take every map there is. */
static struct {
	uint64_t at;
	uint64_t most;
	kvp_handle handle;
} maps;

static bool reserve_maps(void)
{
	const struct kvp_create what = { .bytes = G };

	maps.most = host_maps_limit() + 1;
	return !b->mapping.reserve(b, maps.most * G, 0, &maps.at, &err) &&
	       !b->mapping.create(b, &what, &maps.handle, &err);
}

/* How many maps were left. */
static uint64_t take_maps(void)
{
	uint64_t n = 0;

	while (n < maps.most && !b->mapping.map(b, maps.at + n * G, G,
						maps.handle, &err))
		n++;
	return n;
}

static bool give_maps(uint64_t n)
{
	while (n--)
		if (b->mapping.unmap(b, maps.at + n * G, G, &err))
			return false;
	return true;
}

/* Every other block goes, with no map left to do it with. */
static int give_back_half(kvp_pool pool, const uint64_t *block)
{
	struct host_alive stuck;
	uint64_t n = take_maps(), i;

	for (i = 0; i < NEIGHBOURS; i += 2)
		if (b->pool.deallocate(b, pool, block[i], &err))
			return 12;
	if (b->device.synchronize(b, 0, &err) != KVP_EEXHAUSTED ||
	    !strstr(err.text, "synchronize: munmap") ||
	    !strstr(err.text, "vm.max_map_count is "))
		return 13;
	/* The spare maps served some of them. */
	host_alive(b, &stuck);
	if (stuck.blocks <= NEIGHBOURS / 2 || stuck.blocks > NEIGHBOURS - 5)
		return 14;
	/* What is pending is still known to be given back. */
	if (b->pool.deallocate(b, pool, block[0], &err) != KVP_EDRIVER)
		return 15;
	if (!give_maps(n) || b->device.synchronize(b, 0, &err))
		return 16;
	host_alive(b, &stuck);
	return stuck.blocks == NEIGHBOURS / 2 ? 0 : 17;
}

/*
 * Neighbouring blocks are one map of the kernel's; giving every other one
 * back takes a map for each.  Twice: the spare maps are made again.
 */
static int give_back_without_maps(void)
{
	const uint64_t before = host_maps_used();
	uint64_t block[NEIGHBOURS], i;
	int round, code = 0;
	kvp_pool pool;

	if (!reserve_maps() || b->pool.pool_create(b, 0, &pool, &err))
		return 10;
	for (round = 0; !code && round < 2; round++) {
		for (i = 0; i < NEIGHBOURS; i++)
			if (b->pool.allocate(b, pool, 4096, &block[i], &err))
				return 11;
		/* A kernel that keeps them apart does not run out. */
		if (host_maps_used() >= before + NEIGHBOURS / 2)
			return 0;
		code = give_back_half(pool, block);
		for (i = 1; i < NEIGHBOURS; i += 2)
			if (b->pool.deallocate(b, pool, block[i], &err))
				return 18;
		if (!code && b->device.synchronize(b, 0, &err))
			return 19;
	}
	return code;
}

START_TEST(what_the_kernel_does_not_take_back_stays_pending)
{
	/* Where the limit is high this would take long. */
	if (host_maps_limit() <= 300000)
		host_in_child(give_back_without_maps);
}
END_TEST

Suite *host_pool_suite(void)
{
	Suite *suite = suite_create("host_pool");
	TCase *tests = tcase_create("host_pool");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, open_host, close_host);
	tcase_add_test(tests, a_block_of_any_length_is_memory_of_its_own);
	tcase_add_test(tests,
		what_is_given_back_is_there_until_its_device_is_synchronized);
	tcase_add_test(tests, a_pool_takes_what_was_given_back_to_it_along);
	tcase_add_test(tests, a_pool_with_blocks_in_use_is_not_destroyed);
	tcase_add_test(tests,
		only_a_block_in_use_is_given_back_to_its_own_pool);
	tcase_add_test(tests, what_cannot_be_is_refused);
	tcase_add_test(tests, more_than_the_kernel_gives_is_exhausted);
	tcase_add_test(tests, closing_gives_every_block_back);
	tcase_add_test(tests, thousands_of_blocks_are_told_apart);
	tcase_add_test(tests,
		what_the_kernel_does_not_take_back_stays_pending);
	suite_add_tcase(suite, tests);
	return suite;
}
