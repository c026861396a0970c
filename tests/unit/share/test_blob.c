/*
 * Blobs: what was written is read, and nothing else is.
 */
#include <string.h>

#include "share/blob.h"
#include "unit/unit.h"

static struct share_blob well_blob(void)
{
	struct share_blob b = {
		.phase = 1, .handle_type = KVP_HANDLE_POSIX_FD,
		.uid = 4294967294U, .first_rank = 14, .nranks = 2,
		.plan = UINT64_C(0xfedcba9876543210),
		.share = UINT64_C(0x0123456789abcdef), .node = "node-a",
		.host = "host", .endpoint = "@kvplan-0123456789abcdef",
	};
	unsigned i;

	for (i = 0; i < SHARE_TOKEN_BYTES; i++)
		b.token[i] = (unsigned char)(255 - i);
	for (i = 0; i < KVP_SHARE_RANKS_MAX; i++)
		memset(b.gpus[i].end, (int)i, sizeof(b.gpus[i].end));
	return b;
}

static struct share_blob failed_blob(void)
{
	struct share_blob b = well_blob();

	b.phase = 2;
	b.code = KVP_EEXHAUSTED;
	memset(b.endpoint, 0, sizeof(b.endpoint));
	memset(b.gpus, 0, sizeof(b.gpus));
	memset(b.text, 'x', sizeof(b.text) - 1);
	return b;
}

static void check_passes(const struct share_blob *b)
{
	struct kvp_share_blob bytes;
	struct share_blob read;
	struct kvp_error why = { 0 };

	share_blob_write(b, &bytes);
	ck_assert_msg(share_blob_read(&bytes, b->phase, &read, &why) ==
		      SHARE_READ, "%s", why.text);
	ck_assert_mem_eq(&read, b, sizeof(read));
}

START_TEST(a_blob_of_a_process_that_is_well_reads_as_it_was)
{
	struct share_blob b = well_blob();

	check_passes(&b);
	memset(b.node, 'n', sizeof(b.node) - 1);
	memset(b.host, 'h', sizeof(b.host) - 1);
	memset(b.endpoint, 'e', sizeof(b.endpoint) - 1);
	check_passes(&b);
}
END_TEST

START_TEST(a_blob_of_a_process_that_failed_reads_as_it_was)
{
	struct share_blob b = failed_blob();

	check_passes(&b);
}
END_TEST

START_TEST(a_failed_process_states_no_endpoint_and_a_well_one_no_text)
{
	struct share_blob b = well_blob(), read;
	struct kvp_share_blob bytes;

	strcpy(b.text, "left over");
	share_blob_write(&b, &bytes);
	ck_assert(!share_blob_read(&bytes, 1, &read, NULL));
	ck_assert_str_eq(read.text, "");
	b.code = KVP_EDRIVER;
	share_blob_write(&b, &bytes);
	ck_assert(!share_blob_read(&bytes, 1, &read, NULL));
	ck_assert_str_eq(read.text, "left over");
	ck_assert_str_eq(read.endpoint, "");
}
END_TEST

START_TEST(bytes_are_the_same_on_every_machine)
{
	static const unsigned char start[] = {
		'k', 'v', 'p', 's', 'h', 'a', 'r', 'e',
		1, 0, 0, 0, 0, 0, 0, 0,		/* version */
		1, 0, 0, 0,		/* gather */
		0, 0, 0, 0,		/* code */
		1, 0, 0, 0,		/* kind of handles */
		0xfe, 0xff, 0xff, 0xff,
		14, 0, 0, 0,
		2, 0, 0, 0,
		0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe,
		0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,
	};
	struct share_blob b = well_blob();
	struct kvp_share_blob bytes;

	share_blob_write(&b, &bytes);
	ck_assert_mem_eq(bytes.bytes, start, sizeof(start));
}
END_TEST

START_TEST(every_changed_byte_is_noticed)
{
	const struct share_blob blobs[] = { well_blob(), failed_blob() };
	struct kvp_share_blob bytes;
	struct share_blob read;
	struct kvp_error why;
	size_t i, at;

	for (i = 0; i < 2; i++)
		for (at = 0; at < KVP_SHARE_BYTES; at++) {
			share_blob_write(&blobs[i], &bytes);
			bytes.bytes[at] ^= 0x40;
			why.text[0] = '\0';
			ck_assert_int_eq(share_blob_read(&bytes,
				blobs[i].phase, &read, &why),
				SHARE_UNREADABLE);
			ck_assert_int_eq(why.code, KVP_EREFUSED);
			ck_assert_str_ne(why.text, "");
		}
}
END_TEST

START_TEST(zero_bytes_are_a_blob_that_did_not_arrive)
{
	static const struct kvp_share_blob zero;
	struct share_blob read;
	struct kvp_error why;

	ck_assert_int_eq(share_blob_read(&zero, 1, &read, &why),
			 SHARE_MISSING);
	ck_assert_int_eq(why.code, KVP_EPEER);
	ck_assert_str_eq(why.text, "it did not arrive");
}
END_TEST

Suite *blob_suite(void)
{
	Suite *suite = suite_create("blob");
	TCase *tests = tcase_create("blob");

	tcase_add_test(tests, a_blob_of_a_process_that_is_well_reads_as_it_was);
	tcase_add_test(tests, a_blob_of_a_process_that_failed_reads_as_it_was);
	tcase_add_test(tests,
		a_failed_process_states_no_endpoint_and_a_well_one_no_text);
	tcase_add_test(tests, bytes_are_the_same_on_every_machine);
	tcase_add_test(tests, every_changed_byte_is_noticed);
	tcase_add_test(tests, zero_bytes_are_a_blob_that_did_not_arrive);
	suite_add_tcase(suite, tests);
	return suite;
}
