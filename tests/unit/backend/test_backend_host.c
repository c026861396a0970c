/*
 * The host backend: aliasing is physical, access is per device, and every
 * wrong order is refused with nothing changed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/backend_host.h"
#include "backend/backend_util.h"
#include "unit/host.h"

/* The granularity: larger than a page, so that alignment is seen. */
#define G UINT64_C(65536)
#define DEVICES 3

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

static uint64_t reserve(uint64_t bytes)
{
	uint64_t address = 0;

	check_ok(b->mapping.reserve(b, bytes, 0, &address, &err));
	return address;
}

static kvp_handle create(uint32_t device, uint64_t bytes)
{
	const struct kvp_create what = { .device = device, .bytes = bytes };
	kvp_handle handle = 0;

	check_ok(b->mapping.create(b, &what, &handle, &err));
	return handle;
}

static void map(uint64_t address, uint64_t bytes, kvp_handle handle)
{
	check_ok(b->mapping.map(b, address, bytes, handle, &err));
}

static int try_grant(uint64_t address, uint64_t bytes, uint32_t device,
		     enum kvp_flags flags)
{
	const struct kvp_grant grant = { device, flags };

	return b->mapping.grant(b, address, bytes, &grant, 1, &err);
}

static void grant(uint64_t address, uint64_t bytes, uint32_t device,
		  enum kvp_flags flags)
{
	check_ok(try_grant(address, bytes, device, flags));
}

static void unmap(uint64_t address, uint64_t bytes)
{
	check_ok(b->mapping.unmap(b, address, bytes, &err));
}

static enum kvp_flags flags_at(uint64_t address, uint32_t device)
{
	enum kvp_flags flags = KVP_NO_ACCESS;

	check_ok(b->mapping.granted(b, address, device, &flags, &err));
	return flags;
}

static void fill(uint32_t device, uint64_t address, uint64_t bytes,
		 uint32_t pattern)
{
	check_ok(b->mapping.fill(b, device, address, bytes, pattern, &err));
}

static uint64_t match(uint32_t device, uint64_t address, uint64_t bytes,
		      uint32_t pattern)
{
	uint64_t same = UINT64_MAX;

	check_ok(b->mapping.match(b, device, address, bytes, pattern, &same,
				  &err));
	return same;
}

/* A mapping of its own that device 0 may write. */
static uint64_t mapped(uint64_t bytes)
{
	uint64_t address = reserve(bytes);

	map(address, bytes, create(0, bytes));
	grant(address, bytes, 0, KVP_READWRITE);
	return address;
}

static unsigned char *memory_at(uint64_t address)
{
	return (unsigned char *)(uintptr_t)address;
}

/* The memfds of this process, as the kernel sees them. */
static void files(uint64_t *length_bytes, uint64_t *resident_bytes)
{
	char path[64], target[64];
	struct stat file;
	ssize_t len;
	int fd;

	*length_bytes = *resident_bytes = 0;
	for (fd = 0; fd < 256; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		len = readlink(path, target, sizeof(target) - 1);
		if (len < 0 || fstat(fd, &file))
			continue;
		target[len] = '\0';
		if (strncmp(target, "/memfd:kvplan", 13))
			continue;
		*length_bytes += (uint64_t)file.st_size;
		*resident_bytes += (uint64_t)file.st_blocks * 512;
	}
}

static uint64_t resident(void)
{
	struct host_alive alive;
	uint64_t length, bytes;

	files(&length, &bytes);
	host_alive(b, &alive);
	ck_assert_uint_eq(alive.resident_bytes, bytes);
	return bytes;
}

START_TEST(two_mappings_of_a_handle_are_the_same_memory)
{
	uint64_t one = reserve(4 * G), two = reserve(2 * G);
	kvp_handle handle = create(0, 2 * G);

	map(one + G, 2 * G, handle);
	map(two, 2 * G, handle);
	grant(one + G, 2 * G, 0, KVP_READWRITE);
	grant(two, 2 * G, 1, KVP_READ);
	fill(0, one + G, 2 * G, 0x11223344);
	ck_assert_uint_eq(match(1, two, 2 * G, 0x11223344), 2 * G);
	fill(0, one + 2 * G + 5, 1, 0x55555555);
	ck_assert_uint_eq(match(1, two, 2 * G, 0x11223344), G + 5);
	/* Pages, not copies: the processor sees it too. */
	ck_assert_uint_eq(*memory_at(two + G + 5), 0x55);
}
END_TEST

START_TEST(handles_and_devices_do_not_share_memory)
{
	uint64_t at = reserve(3 * G);
	uint32_t i;

	map(at, G, create(0, G));
	map(at + G, G, create(0, G));
	map(at + 2 * G, G, create(1, G));
	for (i = 0; i < 3; i++)
		grant(at + i * G, G, 0, KVP_READWRITE);
	for (i = 0; i < 3; i++)
		fill(0, at + i * G, G, 0x01010101 * (i + 1));
	for (i = 0; i < 3; i++)
		ck_assert_uint_eq(match(0, at + i * G, G,
					0x01010101 * (i + 1)), G);
}
END_TEST

START_TEST(new_memory_is_zero_also_where_old_memory_was)
{
	uint64_t at = reserve(G);
	int round;

	for (round = 0; round < 3; round++) {
		kvp_handle handle = create(2, G);

		map(at, G, handle);
		grant(at, G, 0, KVP_READWRITE);
		ck_assert_uint_eq(match(0, at, G, 0), G);
		fill(0, at, G, 0xffffffff);
		unmap(at, G);
		check_ok(b->mapping.release(b, handle, &err));
	}
}
END_TEST

START_TEST(reservations_are_multiples_of_the_granularity)
{
	struct kvp_backend *small = b;
	uint64_t at[8];
	size_t i;

	ck_assert_int_eq(kvp_backend_host(&b, 1, G * 32, NULL), KVP_OK);
	for (i = 0; i < 8; i++) {
		at[i] = reserve(G * 32 * (i + 1));
		ck_assert_uint_eq(at[i] % (G * 32), 0);
	}
	for (i = 0; i < 8; i++)
		check_ok(b->mapping.unreserve(b, at[i], G * 32 * (i + 1), &err));
	kvp_backend_close(b);
	b = small;
}
END_TEST

START_TEST(a_wanted_address_is_met_exactly_or_refused)
{
	uint64_t there = reserve(4 * G), got = 1;

	check_refused(b->mapping.reserve(b, G, there, &got, &err), "mmap");
	check_refused(b->mapping.reserve(b, 8 * G, there - 2 * G, &got, &err),
		      "mmap");
	check_ok(b->mapping.unreserve(b, there, 4 * G, &err));
	check_refused(b->mapping.reserve(b, G, there + 4096, &got, &err),
		      "granularity");
	check_refused(b->mapping.reserve(b, G, UINT64_C(1) << 62, &got, &err),
		      "mmap");
	ck_assert_uint_eq(got, 1);
	check_ok(b->mapping.reserve(b, 4 * G, there, &got, &err));
	ck_assert_uint_eq(got, there);
}
END_TEST

START_TEST(lengths_that_cannot_be_are_refused)
{
	const struct kvp_create none = { .bytes = 0 }, odd = { .bytes = 4096 };
	uint64_t got = 1;

	check_refused(b->mapping.reserve(b, 0, 0, &got, &err), "no such range");
	check_refused(b->mapping.reserve(b, G + 1, 0, &got, &err),
		      "granularity");
	check_refused(b->mapping.reserve(b, 2 * G, UINT64_MAX - G + 1, &got,
					 &err), "no such range");
	check_refused(b->mapping.create(b, &none, &got, &err), "no such range");
	check_refused(b->mapping.create(b, &odd, &got, &err), "granularity");
	ck_assert_uint_eq(got, 1);
}
END_TEST

START_TEST(more_than_the_kernel_gives_is_exhausted)
{
	const struct kvp_create huge = { .bytes = UINT64_MAX - G + 1 };
	uint64_t got = 1;

	ck_assert_int_eq(b->mapping.reserve(b, UINT64_C(1) << 62, 0, &got, &err),
			 KVP_EEXHAUSTED);
	ck_assert_ptr_nonnull(strstr(err.text, "reserve: mmap"));
	ck_assert_int_eq(b->mapping.reserve(b, UINT64_MAX - G + 1, 0, &got,
					    NULL), KVP_EEXHAUSTED);
	check_refused(b->mapping.create(b, &huge, &got, &err), "ftruncate");
	ck_assert_uint_eq(got, 1);
}
END_TEST

START_TEST(what_host_memory_is_not_is_refused)
{
	struct kvp_create what = { .bytes = G, .rdma = true };
	kvp_handle handle = 1;

	check_refused(b->mapping.create(b, &what, &handle, &err),
		      "the host backend has no GPUDirect RDMA");
	what.rdma = false;
	what.handle_type = KVP_HANDLE_FABRIC;
	check_refused(b->mapping.create(b, &what, &handle, &err),
		      "the host backend has no fabric handles");
	what.handle_type = KVP_HANDLE_POSIX_FD;
	ck_assert_uint_eq(handle, 1);
	check_ok(b->mapping.create(b, &what, &handle, &err));
}
END_TEST

START_TEST(only_a_whole_handle_is_mapped_inside_one_reservation)
{
	uint64_t at = reserve(4 * G), same = 1;
	kvp_handle two = create(0, 2 * G);

	check_refused(b->mapping.map(b, at, G, two, &err), "whole handle");
	check_refused(b->mapping.map(b, at, 3 * G, two, &err), "whole handle");
	check_refused(b->mapping.map(b, at + 4096, 2 * G, two, &err),
		      "granularity");
	check_refused(b->mapping.map(b, at + 3 * G, 2 * G, two, &err),
		      "reservation");
	check_refused(b->mapping.map(b, at + 4 * G, 2 * G, two, &err),
		      "reservation");
	check_refused(b->mapping.map(b, at - G, 2 * G, two, &err),
		      "reservation");
	check_refused(b->mapping.map(b, at, 2 * G, two + 1, &err), "no handle");
	check_refused(b->mapping.map(b, at, 2 * G, 0, &err), "no handle");
	check_refused(b->mapping.match(b, 0, at, G, 0, &same, &err),
		      "nothing is mapped");
	map(at, 2 * G, two);
}
END_TEST

START_TEST(neighbouring_reservations_are_not_one)
{
	uint64_t at = reserve(4 * G), next = 0;
	kvp_handle two = create(0, 2 * G);

	check_ok(b->mapping.unreserve(b, at, 4 * G, &err));
	check_ok(b->mapping.reserve(b, 2 * G, at, &next, &err));
	check_ok(b->mapping.reserve(b, 2 * G, at + 2 * G, &next, &err));
	check_refused(b->mapping.map(b, at + G, 2 * G, two, &err),
		      "reservation");
	check_refused(b->mapping.unreserve(b, at, 4 * G, &err),
		      "whole reservation");
	map(at + 2 * G, 2 * G, two);
	check_ok(b->mapping.unreserve(b, at, 2 * G, &err));
}
END_TEST

START_TEST(nothing_is_mapped_over_a_mapping)
{
	uint64_t at = reserve(8 * G);
	kvp_handle two = create(0, 2 * G), four = create(0, 4 * G);

	map(at + 2 * G, 2 * G, two);
	check_refused(b->mapping.map(b, at + 2 * G, 2 * G, two, &err),
		      "mapped already");
	check_refused(b->mapping.map(b, at + G, 2 * G, two, &err),
		      "mapped already");
	check_refused(b->mapping.map(b, at + 3 * G, 2 * G, two, &err),
		      "mapped already");
	check_refused(b->mapping.map(b, at + G, 4 * G, four, &err),
		      "mapped already");
	map(at, 2 * G, two);
	map(at + 4 * G, 4 * G, four);
	unmap(at + 2 * G, 2 * G);
	map(at + 2 * G, 2 * G, two);
}
END_TEST

START_TEST(only_one_whole_mapping_is_granted_or_unmapped)
{
	static const struct { uint64_t first, bytes; } wrong[] = {
		{ 0, G }, { G, G }, { 0, 4 * G }, { 2 * G, G }, { G, 2 * G },
		{ 0, 2 * G + 4096 }, { 4096, 2 * G }, { 4 * G, 2 * G },
		{ 0, 0 },
	};
	uint64_t at = reserve(8 * G);
	size_t i;

	map(at, 2 * G, create(0, 2 * G));
	map(at + 2 * G, 2 * G, create(0, 2 * G));
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		check_refused(try_grant(at + wrong[i].first, wrong[i].bytes,
					0, KVP_READ), "mapp");
		check_refused(b->mapping.unmap(b, at + wrong[i].first,
					       wrong[i].bytes, &err), "mapp");
	}
	ck_assert_int_eq(flags_at(at, 0), KVP_NO_ACCESS);
	unmap(at, 2 * G);
	check_refused(b->mapping.unmap(b, at, 2 * G, &err), "nothing is mapped");
	check_refused(try_grant(at, 2 * G, 0, KVP_READ), "nothing is mapped");
	unmap(at + 2 * G, 2 * G);
}
END_TEST

START_TEST(only_a_whole_and_empty_reservation_is_given_back)
{
	uint64_t at = reserve(4 * G);

	map(at + G, G, create(0, G));
	check_refused(b->mapping.unreserve(b, at, 4 * G, &err), "still mapped");
	unmap(at + G, G);
	check_refused(b->mapping.unreserve(b, at, 2 * G, &err),
		      "whole reservation");
	check_refused(b->mapping.unreserve(b, at + G, 3 * G, &err),
		      "whole reservation");
	check_refused(b->mapping.unreserve(b, at, 5 * G, &err),
		      "whole reservation");
	check_ok(b->mapping.unreserve(b, at, 4 * G, &err));
	check_refused(b->mapping.unreserve(b, at, 4 * G, &err),
		      "whole reservation");
}
END_TEST

START_TEST(a_handle_is_released_once)
{
	uint64_t at = reserve(2 * G);
	kvp_handle one = create(0, G), two = create(0, G), other;

	check_ok(b->mapping.release(b, one, &err));
	check_refused(b->mapping.release(b, one, &err), "released already");
	/* Its place is taken again; the old name stays unknown. */
	other = create(0, G);
	ck_assert_uint_ne(other, one);
	check_refused(b->mapping.release(b, one, &err), "released already");
	check_refused(b->mapping.map(b, at, G, one, &err), "released already");
	map(at, G, two);
	check_ok(b->mapping.release(b, two, &err));
	check_refused(b->mapping.release(b, two, &err), "released already");
	check_refused(b->mapping.map(b, at + G, G, two, &err),
		      "released already");
	check_refused(b->mapping.release(b, UINT64_MAX, &err), "no handle");
	check_refused(b->mapping.release(b, 0, &err), "no handle");
	unmap(at, G);
}
END_TEST

START_TEST(released_memory_lives_until_the_last_unmap)
{
	uint64_t at = reserve(4 * G);
	kvp_handle handle = create(0, G);
	uint32_t i;

	for (i = 0; i < 3; i++) {
		map(at + i * G, G, handle);
		grant(at + i * G, G, 0, KVP_READWRITE);
	}
	fill(0, at, G, 0x12345678);
	check_ok(b->mapping.release(b, handle, &err));
	/* Whoever comes next gets other memory. */
	map(at + 3 * G, G, create(0, G));
	grant(at + 3 * G, G, 0, KVP_READWRITE);
	fill(0, at + 3 * G, G, 0);
	for (i = 0; i < 3; i++) {
		ck_assert_uint_eq(match(0, at + i * G, G, 0x12345678), G);
		ck_assert_uint_eq(resident(), 2 * G);
		unmap(at + i * G, G);
	}
	ck_assert_uint_eq(resident(), G);
}
END_TEST

START_TEST(memory_is_given_back_wherever_it_lies)
{
	struct host_alive alive;
	uint64_t at = reserve(8 * G);
	kvp_handle handle[8];
	uint64_t i;

	for (i = 0; i < 8; i++) {
		handle[i] = create(0, G);
		map(at + i * G, G, handle[i]);
		grant(at + i * G, G, 0, KVP_READWRITE);
	}
	ck_assert_uint_eq(resident(), 0);
	fill(0, at, 8 * G, 1);
	ck_assert_uint_eq(resident(), 8 * G);
	for (i = 0; i < 8; i++) {
		unmap(at + (i * 5) % 8 * G, G);
		ck_assert_uint_eq(resident(), (8 - i) * G);
		check_ok(b->mapping.release(b, handle[(i * 5) % 8], &err));
		ck_assert_uint_eq(resident(), (7 - i) * G);
	}
	check_ok(b->mapping.unreserve(b, at, 8 * G, &err));
	host_alive(b, &alive);
	ck_assert_uint_eq(alive.reservations, 0);
	ck_assert_uint_eq(alive.mappings, 0);
	ck_assert_uint_eq(alive.handles, 0);
}
END_TEST

START_TEST(the_file_does_not_grow_where_its_end_is_free)
{
	kvp_handle handle[16];
	uint64_t length, bytes, longest = 0;
	uint32_t round, i;

	for (round = 0; round < 50; round++) {
		for (i = 0; i < 16; i++)
			handle[i] = create(1, G * (1 + (round + i) % 3));
		files(&length, &bytes);
		longest = length > longest ? length : longest;
		for (i = 0; i < 16; i++)
			check_ok(b->mapping.release(b, handle[i * 7 % 16],
						    &err));
	}
	ck_assert_uint_le(longest, 16 * 3 * G);
}
END_TEST

START_TEST(the_kernels_limits_are_known_with_what_is_needed)
{
	const struct kvp_demand demand = { .devices = 5, .mappings = 1000,
					   .reservations = 30,
					   .descriptors = 40 };
	uint64_t before = host_maps_used();
	struct kvp_process process;
	struct rlimit own, fewer;

	ck_assert(!getrlimit(RLIMIT_NOFILE, &own));
	fewer = own;
	fewer.rlim_cur = 77;
	ck_assert(!setrlimit(RLIMIT_NOFILE, &fewer));
	check_ok(b->device.process(b, &demand, &process, &err));
	ck_assert(!setrlimit(RLIMIT_NOFILE, &own));
	ck_assert_uint_ge(process.maps.need, 1000 + 30 + 2 * 5 + before);
	ck_assert_uint_le(process.maps.need,
			  1000 + 30 + 2 * 5 + host_maps_used());
	ck_assert_uint_eq(process.maps.limit, host_maps_limit());
	ck_assert_uint_eq(process.descriptors.need, 5 + 16 + 40);
	ck_assert_uint_eq(process.descriptors.limit, 77);
}
END_TEST

START_TEST(unknown_devices_are_refused_by_every_verb)
{
	const struct kvp_create what = { .device = DEVICES, .bytes = G };
	const char *const text = "no device 3: there are 3";
	uint64_t at = mapped(G), value = 1;
	struct kvp_device_info info;
	enum kvp_flags flags;
	bool can;

	check_refused(b->device.device(b, 3, &info, &err), text);
	check_refused(b->device.peer(b, 3, 0, &can, &err), text);
	check_refused(b->device.peer(b, 0, 3, &can, &err), text);
	check_refused(b->device.memory(b, 3, &value, &err), text);
	check_refused(b->mapping.create(b, &what, &value, &err), text);
	check_refused(try_grant(at, G, 3, KVP_READ), text);
	check_refused(b->mapping.granted(b, at, 3, &flags, &err), text);
	check_refused(b->mapping.fill(b, 3, at, G, 0, &err), text);
	check_refused(b->mapping.match(b, 3, at, G, 0, &value, &err), text);
	check_refused(b->device.synchronize(b, 3, &err), text);
	ck_assert_uint_eq(value, 1);
}
END_TEST

START_TEST(a_mapping_has_no_access_until_granted)
{
	uint64_t at = reserve(G), same = 7;
	char text[96];

	map(at, G, create(0, G));
	ck_assert_int_eq(flags_at(at, 0), KVP_NO_ACCESS);
	snprintf(text, sizeof(text), "fill: device 0 has no write access at "
		 "0x%llx", (unsigned long long)at);
	check_refused(b->mapping.fill(b, 0, at, G, 0, &err), text);
	snprintf(text, sizeof(text), "match: device 0 has no read access at "
		 "0x%llx", (unsigned long long)at + 9);
	check_refused(b->mapping.match(b, 0, at + 9, 1, 0, &same, &err), text);
	ck_assert_uint_eq(same, 7);
}
END_TEST

START_TEST(flags_are_heeded_per_device)
{
	uint64_t at = reserve(G), same;

	map(at, G, create(0, G));
	grant(at, G, 0, KVP_READWRITE);
	grant(at, G, 2, KVP_READ);
	ck_assert_int_eq(flags_at(at, 0), KVP_READWRITE);
	ck_assert_int_eq(flags_at(at + G - 1, 1), KVP_NO_ACCESS);
	ck_assert_int_eq(flags_at(at + 1, 2), KVP_READ);
	fill(0, at, G, 5);
	ck_assert_uint_eq(match(2, at, G, 5), G);
	check_refused(b->mapping.fill(b, 2, at, 1, 6, &err),
		      "device 2 has no write access");
	check_refused(b->mapping.match(b, 1, at, 1, 5, &same, &err),
		      "device 1 has no read access");
	ck_assert_uint_eq(match(0, at, G, 5), G);
}
END_TEST

START_TEST(a_grant_replaces_the_flags_of_the_devices_it_names)
{
	const struct kvp_grant all[3] = {
		{ 0, KVP_READWRITE }, { 1, KVP_READ }, { 2, KVP_READ },
	};
	const struct kvp_grant less[2] = {
		{ 2, KVP_NO_ACCESS }, { 0, KVP_READ },
	};
	uint64_t at = reserve(G);

	map(at, G, create(0, G));
	check_ok(b->mapping.grant(b, at, G, all, 3, &err));
	check_ok(b->mapping.grant(b, at, G, less, 2, &err));
	ck_assert_int_eq(flags_at(at, 0), KVP_READ);
	ck_assert_int_eq(flags_at(at, 1), KVP_READ);
	ck_assert_int_eq(flags_at(at, 2), KVP_NO_ACCESS);
	check_refused(b->mapping.fill(b, 0, at, 1, 6, &err), "no write access");
	/* A new mapping at the same place begins without. */
	unmap(at, G);
	map(at, G, create(0, G));
	ck_assert_int_eq(flags_at(at, 1), KVP_NO_ACCESS);
}
END_TEST

START_TEST(a_refused_grant_changes_no_flag)
{
	struct kvp_grant grants[2] = { { 1, KVP_READ }, { 9, KVP_READ } };
	uint64_t at = mapped(G);

	check_refused(b->mapping.grant(b, at, G, grants, 2, &err),
		      "no device 9");
	grants[1] = (struct kvp_grant){ 2, (enum kvp_flags)2 };
	check_refused(b->mapping.grant(b, at, G, grants, 2, &err),
		      "no such flags: 2");
	ck_assert_int_eq(flags_at(at, 1), KVP_NO_ACCESS);
	ck_assert_int_eq(flags_at(at, 2), KVP_NO_ACCESS);
	fill(0, at, G, 1);
}
END_TEST

START_TEST(many_devices_keep_their_flags_apart)
{
	static const enum kvp_flags kinds[3] = { KVP_NO_ACCESS, KVP_READ,
						 KVP_READWRITE };
	struct kvp_backend *small = b;
	uint64_t at, same;
	uint32_t i;

	ck_assert_int_eq(kvp_backend_host(&b, 70, G, NULL), KVP_OK);
	at = reserve(G);
	map(at, G, create(69, G));
	for (i = 0; i < 70; i++)
		grant(at, G, i, kinds[i * i % 3]);
	for (i = 0; i < 70; i++) {
		ck_assert_int_eq(flags_at(at, i), kinds[i * i % 3]);
		ck_assert_int_eq(b->mapping.match(b, i, at, G, 0, &same, NULL),
				 kinds[i * i % 3] ? KVP_OK : KVP_EDRIVER);
	}
	kvp_backend_close(b);
	b = small;
}
END_TEST

START_TEST(a_range_may_span_neighbouring_mappings)
{
	uint64_t at = reserve(8 * G), same;
	char text[32];
	uint64_t i;

	for (i = 0; i < 4; i++) {
		map(at + i * 2 * G, 2 * G, create((uint32_t)i % 2, 2 * G));
		grant(at + i * 2 * G, 2 * G, 0, KVP_READWRITE);
	}
	fill(0, at + 3, 8 * G - 5, 0xa1b2c3d4);
	ck_assert_uint_eq(match(0, at + 3, 8 * G - 5, 0xa1b2c3d4), 8 * G - 5);
	grant(at + 4 * G, 2 * G, 0, KVP_READ);
	snprintf(text, sizeof(text), "access at 0x%llx",
		 (unsigned long long)(at + 4 * G));
	check_refused(b->mapping.fill(b, 0, at, 8 * G, 1, &err), text);
	ck_assert_uint_eq(match(0, at + 3, 8 * G - 5, 0xa1b2c3d4), 8 * G - 5);
	unmap(at + 4 * G, 2 * G);
	snprintf(text, sizeof(text), "mapped at 0x%llx",
		 (unsigned long long)(at + 4 * G));
	check_refused(b->mapping.match(b, 0, at, 8 * G, 1, &same, &err), text);
	check_refused(b->mapping.fill(b, 0, at + 7 * G, 2 * G, 1, &err),
		      "nothing is mapped");
	check_refused(b->mapping.fill(b, 0, at, UINT64_MAX, 1, &err),
		      "no such range");
}
END_TEST

/* Fill exactly [first, + bytes) of 64 bytes that were all 0xee. */
static void check_fill(uint64_t at, uint64_t first, uint64_t bytes)
{
	const unsigned char pattern[4] = { 0x11, 0x22, 0x33, 0x44 };
	unsigned char *p = memory_at(at);
	uint64_t i;

	memset(p, 0xee, 64);
	fill(0, at + first, bytes, 0x44332211);
	for (i = 0; i < 64; i++)
		if (p[i] != (i >= first && i < first + bytes ?
				     pattern[i % 4] : 0xee))
			ck_abort_msg("byte %d of %d bytes at %d", (int)i,
				     (int)bytes, (int)first);
	ck_assert_uint_eq(match(0, at + first, bytes, 0x44332211), bytes);
}

START_TEST(fill_writes_its_bytes_and_no_others)
{
	uint64_t at = mapped(G), first, bytes;

	for (first = 0; first <= 8; first++)
		for (bytes = 0; bytes <= 40; bytes++)
			check_fill(at, first, bytes);
}
END_TEST

START_TEST(fill_goes_on_unbroken_over_many_blocks)
{
	const uint64_t bytes = 5 * G + 13;
	uint64_t at = mapped(6 * G), first, i;
	unsigned char *p = memory_at(at);

	for (first = 1; first <= 3; first++) {
		memset(p, 0, 6 * G);
		fill(0, at + first, bytes, 0x04030201);
		for (i = 0; i < 6 * G; i++)
			if (p[i] != (i < first || i >= first + bytes ?
						 0 : i % 4 + 1))
				ck_abort_msg("byte %llu",
					     (unsigned long long)i);
	}
}
END_TEST

START_TEST(match_counts_up_to_the_first_wrong_byte)
{
	uint64_t at = mapped(G), first, bytes, wrong;
	unsigned char *p = memory_at(at);

	fill(0, at, G, 0xc0ffee01);
	for (first = 0; first <= 4; first++) {
		for (bytes = 1; bytes <= 9; bytes++)
			for (wrong = 0; wrong <= bytes; wrong++) {
				p[first + wrong] ^= 0x80;
				ck_assert_uint_eq(match(0, at + first, bytes,
							0xc0ffee01), wrong);
				p[first + wrong] ^= 0x80;
			}
		for (wrong = 0; wrong < 1100; wrong++) {
			p[first + wrong] ^= 1;
			p[first + 1100] ^= 1;
			ck_assert_uint_eq(match(0, at + first, 1101,
						0xc0ffee01), wrong);
			p[first + wrong] ^= 1;
			p[first + 1100] ^= 1;
		}
	}
	ck_assert_uint_eq(match(0, at + 2, 0, 0), 0);
	ck_assert_uint_eq(match(0, at, G, 0xc0ffee02), 0);
	ck_assert_uint_eq(match(0, at, G, 0xc1ffee01), 3);
}
END_TEST

START_TEST(a_range_is_cut_at_whole_words)
{
	struct backend_split cut;
	uint64_t address, bytes;

	for (address = 0; address <= 8; address++)
		for (bytes = 0; bytes <= 20; bytes++) {
			cut = backend_split(address, bytes);
			ck_assert_uint_lt(cut.head, 4);
			ck_assert_uint_lt(cut.tail, 4);
			ck_assert_uint_eq(cut.body % 4, 0);
			ck_assert_uint_eq(cut.head + cut.body + cut.tail,
					  bytes);
			if (cut.body)
				ck_assert_uint_eq((address + cut.head) % 4,
						  0);
			if (bytes >= 7)
				ck_assert_uint_ge(cut.body, bytes - 6);
		}
}
END_TEST

START_TEST(a_device_says_what_it_is)
{
	struct kvp_device_info info;
	uint64_t available = 0;
	bool can = false;

	memset(&info, 'x', sizeof(info));
	check_ok(b->device.device(b, 2, &info, &err));
	ck_assert_str_eq(info.name, "host memory");
	ck_assert_str_eq(info.uuid, "");
	ck_assert_uint_gt(strlen(info.driver), 0);
	ck_assert_uint_lt(strlen(info.driver), sizeof(info.driver));
	ck_assert_uint_eq(info.granularity, G);
	check_ok(b->device.memory(b, 2, &available, &err));
	ck_assert_uint_gt(available, 0);
	ck_assert_uint_le(available, info.total_bytes);
	check_ok(b->device.peer(b, 0, 2, &can, &err));
	ck_assert(can);
	check_ok(b->device.synchronize(b, 0, &err));
	ck_assert_str_eq(b->name, "host");
	ck_assert_uint_eq(b->devices, DEVICES);
}
END_TEST

START_TEST(a_granularity_that_cannot_be_is_refused)
{
	static const uint64_t wrong[] = { 0, 1, 2048, 4096 * 3, G + 1 };
	struct kvp_backend *none;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		none = b;
		ck_assert_int_eq(kvp_backend_host(&none, 1, wrong[i], &err),
				 KVP_EDRIVER);
		ck_assert_ptr_null(none);
		ck_assert_ptr_nonnull(strstr(err.text, "power of two"));
	}
}
END_TEST

START_TEST(closing_gives_everything_back)
{
	struct kvp_backend *kept = b;
	uint64_t before = host_maps_used(), length, bytes, at, i, got = 0;

	ck_assert_int_eq(kvp_backend_host(&b, 4, G, NULL), KVP_OK);
	at = reserve(64 * G);
	for (i = 0; i < 32; i++) {
		map(at + 2 * i * G, G, create((uint32_t)i % 4, G));
		grant(at + 2 * i * G, G, 1, KVP_READWRITE);
		fill(1, at + 2 * i * G, G, 9);
	}
	ck_assert_uint_ge(host_maps_used(), before + 60);
	kvp_backend_close(b);
	b = kept;
	files(&length, &bytes);
	ck_assert_uint_eq(length, 0);
	check_ok(b->mapping.reserve(b, 64 * G, at, &got, &err));
}
END_TEST

/* One handle over and over takes one map each.  Answers a line on failure. */
static int map_until_refused(void)
{
	const struct kvp_create what = { .bytes = G };
	const uint64_t most = host_maps_limit() + 1;
	uint64_t at, i, n;
	kvp_handle handle;

	if (b->mapping.reserve(b, most * G, 0, &at, &err) ||
	    b->mapping.create(b, &what, &handle, &err))
		return __LINE__ & 0x7f;
	for (n = 0; n < most; n++)
		if (b->mapping.map(b, at + n * G, G, handle, &err))
			break;
	if (n == most || err.code != KVP_EEXHAUSTED ||
	    !strstr(err.text, "Cannot allocate memory") ||
	    !strstr(err.text, "vm.max_map_count is "))
		return 1;
	/* Going back works with all maps taken. */
	for (i = n; i--; )
		if (b->mapping.unmap(b, at + i * G, G, &err))
			return 2;
	if (b->mapping.release(b, handle, &err) ||
	    b->mapping.unreserve(b, at, most * G, &err))
		return 3;
	return host_maps_used() > 1000 ? 4 : 0;
}

START_TEST(running_out_of_maps_is_named_and_can_be_undone)
{
	uint64_t limit = host_maps_limit();

	ck_assert_uint_gt(host_maps_used(), 0);
	ck_assert_uint_lt(host_maps_used(), limit);
	/* Where the limit is high this would take long. */
	if (limit <= 300000)
		host_in_child(map_until_refused);
}
END_TEST

static int limit_memory(void)
{
	const struct rlimit most = { 12345 << 12, 12345 << 12 };
	uint64_t available, address;

	if (setrlimit(RLIMIT_AS, &most) ||
	    b->device.memory(b, 0, &available, &err))
		return 1;
	if (available > 12345 << 12)
		return 2;
	return b->mapping.reserve(b, UINT64_C(12345) << 12 << 4, 0, &address,
				  &err) == KVP_EEXHAUSTED ? 0 : 3;
}

START_TEST(a_limit_on_address_space_limits_free_memory)
{
	host_in_child(limit_memory);
}
END_TEST

/* Random operations against a model of granules. */

#define GRANULES 48
#define HANDLES 12

static struct {
	uint64_t at;
	struct {
		kvp_handle handle;
		uint64_t granules;	/* 0: none */
		uint32_t value;
	} handles[HANDLES];
	int mapping[GRANULES];	/* handle that begins here, -1 */
	bool taken[GRANULES];
	bool writable[GRANULES];
} model;

static uint64_t seed;

static uint64_t below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static void step_handle(size_t h)
{
	size_t i;

	for (i = 0; i < GRANULES; i++)
		if (model.mapping[i] == (int)h)
			return;
	if (model.handles[h].granules) {
		check_ok(b->mapping.release(b, model.handles[h].handle, &err));
		model.handles[h].granules = 0;
		return;
	}
	model.handles[h].granules = 1 + below(5);
	model.handles[h].value = 0;
	model.handles[h].handle = create((uint32_t)below(DEVICES),
					 model.handles[h].granules * G);
}

static void step_map(size_t h, uint64_t first)
{
	uint64_t granules = model.handles[h].granules, i;
	bool fits = granules && first + granules <= GRANULES;

	for (i = first; fits && i < first + granules; i++)
		fits = !model.taken[i];
	ck_assert_int_eq(b->mapping.map(b, model.at + first * G, granules * G,
					model.handles[h].handle, &err),
			 fits ? KVP_OK : KVP_EDRIVER);
	if (!fits)
		return;
	model.mapping[first] = (int)h;
	model.writable[first] = false;
	memset(model.taken + first, true, granules);
}

static void step_unmap(uint64_t first, uint64_t granules)
{
	int h = model.mapping[first];
	bool whole = h >= 0 && model.handles[h].granules == granules;

	ck_assert_int_eq(b->mapping.unmap(b, model.at + first * G, granules * G,
					  &err), whole ? KVP_OK : KVP_EDRIVER);
	if (!whole)
		return;
	model.mapping[first] = -1;
	memset(model.taken + first, false, granules);
}

static void step_fill(uint64_t first, uint32_t value)
{
	int h = model.mapping[first];
	bool may = h >= 0 && model.writable[first];
	int code = b->mapping.fill(b, 1, model.at + first * G,
				   h < 0 ? G : model.handles[h].granules * G,
				   value, &err);

	if (h >= 0 || !model.taken[first])
		ck_assert_int_eq(code, may ? KVP_OK : KVP_EDRIVER);
	if (may)
		model.handles[h].value = value;
}

/* Every mapping shows what was last written through any of them. */
static void check_model(void)
{
	uint64_t i, bytes;
	int h;

	for (i = 0; i < GRANULES; i++) {
		h = model.mapping[i];
		if (h < 0 || !model.writable[i])
			continue;
		bytes = model.handles[h].granules * G;
		ck_assert_uint_eq(match(1, model.at + i * G, bytes,
					model.handles[h].value), bytes);
	}
}

START_TEST(random_operations_agree_with_a_model)
{
	uint64_t i, first;
	int h;

	seed = 20260101;
	memset(&model, 0, sizeof(model));
	for (i = 0; i < GRANULES; i++)
		model.mapping[i] = -1;
	model.at = reserve(GRANULES * G);
	for (i = 0; i < 6000; i++) {
		first = below(GRANULES);
		h = model.mapping[first];
		switch (below(8)) {
		case 0:
			step_handle(below(HANDLES));
			break;
		case 1:
			step_unmap(first, 1 + below(5));
			break;
		case 2:
			if (h >= 0)
				grant(model.at + first * G,
				      model.handles[h].granules * G, 1,
				      KVP_READWRITE);
			model.writable[first] = h >= 0;
			break;
		case 3:
			/* A granule inside a mapping is not its own to
			   the model: begin at mappings and at holes. */
			if (h >= 0 || !model.taken[first])
				step_fill(first, (uint32_t)i);
			break;
		default:
			step_map(below(HANDLES), first);
			break;
		}
		if (i % 16 == 0)
			check_model();
	}
}
END_TEST

static void add_order_tests(TCase *tests)
{
	tcase_add_test(tests, a_wanted_address_is_met_exactly_or_refused);
	tcase_add_test(tests, lengths_that_cannot_be_are_refused);
	tcase_add_test(tests, more_than_the_kernel_gives_is_exhausted);
	tcase_add_test(tests, what_host_memory_is_not_is_refused);
	tcase_add_test(tests,
		only_a_whole_handle_is_mapped_inside_one_reservation);
	tcase_add_test(tests, neighbouring_reservations_are_not_one);
	tcase_add_test(tests, nothing_is_mapped_over_a_mapping);
	tcase_add_test(tests, only_one_whole_mapping_is_granted_or_unmapped);
	tcase_add_test(tests,
		only_a_whole_and_empty_reservation_is_given_back);
	tcase_add_test(tests, a_handle_is_released_once);
	tcase_add_test(tests,
		the_kernels_limits_are_known_with_what_is_needed);
	tcase_add_test(tests, unknown_devices_are_refused_by_every_verb);
	tcase_add_test(tests, a_granularity_that_cannot_be_is_refused);
}

static void add_access_tests(TCase *tests)
{
	tcase_add_test(tests, a_mapping_has_no_access_until_granted);
	tcase_add_test(tests, flags_are_heeded_per_device);
	tcase_add_test(tests,
		a_grant_replaces_the_flags_of_the_devices_it_names);
	tcase_add_test(tests, a_refused_grant_changes_no_flag);
	tcase_add_test(tests, many_devices_keep_their_flags_apart);
	tcase_add_test(tests, a_range_may_span_neighbouring_mappings);
	tcase_add_test(tests, fill_writes_its_bytes_and_no_others);
	tcase_add_test(tests, fill_goes_on_unbroken_over_many_blocks);
	tcase_add_test(tests, match_counts_up_to_the_first_wrong_byte);
	tcase_add_test(tests, a_range_is_cut_at_whole_words);
}

Suite *backend_host_suite(void)
{
	Suite *suite = suite_create("backend_host");
	TCase *tests = tcase_create("backend_host");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, open_host, close_host);
	tcase_add_test(tests, two_mappings_of_a_handle_are_the_same_memory);
	tcase_add_test(tests, handles_and_devices_do_not_share_memory);
	tcase_add_test(tests, new_memory_is_zero_also_where_old_memory_was);
	tcase_add_test(tests, reservations_are_multiples_of_the_granularity);
	tcase_add_test(tests, released_memory_lives_until_the_last_unmap);
	tcase_add_test(tests, memory_is_given_back_wherever_it_lies);
	tcase_add_test(tests, the_file_does_not_grow_where_its_end_is_free);
	tcase_add_test(tests, a_device_says_what_it_is);
	tcase_add_test(tests, closing_gives_everything_back);
	tcase_add_test(tests,
		running_out_of_maps_is_named_and_can_be_undone);
	tcase_add_test(tests, a_limit_on_address_space_limits_free_memory);
	tcase_add_test(tests, random_operations_agree_with_a_model);
	add_order_tests(tests);
	add_access_tests(tests);
	suite_add_tcase(suite, tests);
	return suite;
}
