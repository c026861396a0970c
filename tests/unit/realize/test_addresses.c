/*
 * Recorded addresses: what may be read, whose they are, and that the next
 * realization lies there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend_host.h"
#include "unit/altered.h"
#include "unit/unit.h"

#define RANK(number, arena) \
	"{'rank':" number ",'planes':[{'name':'a','address':4096," \
	"'stride':4096}]" arena "}"
#define ARENA ",'arena':{'address':8192,'stride':10240}"
#define FILE_OF(ranks) "{'format':'kvplan/capacity/1','ranks':[" ranks "]}"

struct bed {
	struct kvp_plan plan;
	struct kvp_verdict *verdict;
	struct kvp_backend *host;
	struct altered seen;	/* the host, as it is realized on */
	struct kvp_realize_options options;
};

/* What is free on this machine is another number every time. */
static int steady_memory(struct kvp_backend *b, uint32_t device,
			 uint64_t *free_bytes, struct kvp_error *err)
{
	(void)b;
	(void)device;
	(void)err;
	*free_bytes = UINT64_C(1) << 40;
	return KVP_OK;
}

static void bed_new(struct bed *b, const char *changes)
{
	struct kvp_error err = { 0 };
	int code;

	memset(b, 0, sizeof(*b));
	b->plan = plan_of(changes, KVP_MERGE_ROW);
	b->options.nranks = 2;
	code = kvp_verify(&b->plan, NULL, &b->verdict, &err);
	if (!code)
		code = kvp_backend_host(&b->host, 4, 4096, &err);
	ck_assert_msg(!code, "%s", err.text);
	alter_backend(&b->seen, b->host);
	b->seen.base.device.memory = steady_memory;
}

static void bed_release(struct bed *b)
{
	struct host_alive alive;

	host_alive(b->host, &alive);
	ck_assert_uint_eq(alive.reservations, 0);
	ck_assert_uint_eq(alive.mappings, 0);
	kvp_backend_close(b->host);
	kvp_verdict_free(b->verdict);
	kvp_plan_release(&b->plan);
}

static struct kvp_realization *realized(struct bed *b)
{
	struct kvp_realization *r = NULL;
	struct kvp_error err = { 0 };
	int code = kvp_realize(&r, &b->plan, b->verdict, &b->seen.base,
			       &b->options, &err);

	ck_assert_msg(!code, "%s", err.text);
	return r;
}

static char *text_of(const struct kvp_realization *r, bool access)
{
	char *text = NULL;
	size_t len = 0;

	ck_assert(!kvp_realization_write(r, access, &text, &len, NULL));
	ck_assert_uint_eq(strlen(text), len);
	return text;
}

static struct kvp_addresses *addresses_of(const char *text)
{
	struct kvp_addresses *a = NULL;
	struct kvp_error err = { 0 };
	int code = kvp_addresses_read(&a, "a", text, strlen(text), &err);

	ck_assert_msg(!code && a, "%s", err.text);
	return a;
}

/* The text, with single quotes, does not read. */
static void check_broken(const char *text, int code, const char *message)
{
	struct kvp_addresses *a = (void *)&a;
	struct kvp_error err = { 0 };
	char *real = json(text);

	ck_assert_int_eq(kvp_addresses_read(&a, "a", real, strlen(real), &err),
			 code);
	ck_assert_ptr_null(a);
	ck_assert_int_eq(err.code, code);
	ck_assert_msg(!strncmp(err.text, message, strlen(message)),
		      "seen     %s\nexpected %s", err.text, message);
	free(real);
}

/* Realizing with these addresses fails, and nothing is left. */
static void check_refused(struct bed *b, const char *text, int code,
			  const char *message)
{
	char *real = json(text);
	struct kvp_addresses *a = addresses_of(real);
	struct kvp_realization *r = (void *)&a;
	struct kvp_error err = { 0 };

	b->options.addresses = a;
	ck_assert_int_eq(kvp_realize(&r, &b->plan, b->verdict, &b->seen.base,
				     &b->options, &err), code);
	ck_assert_ptr_null(r);
	ck_assert_msg(strstr(err.text, message), "seen     %s\nexpected %s",
		      err.text, message);
	b->options.addresses = NULL;
	kvp_addresses_free(a);
	free(real);
}

START_TEST(what_is_no_published_file_does_not_read)
{
	check_broken("", KVP_ESYNTAX, "a:1:1: ");
	check_broken("[]", KVP_EINPUT, "a: ");
	check_broken("{}", KVP_EINPUT, "a: /format: missing, must be ");
	check_broken("{'format':'kvplan/plan/1','ranks':[]}", KVP_EINPUT,
		     "a: /format: is \"kvplan/plan/1\"");
	check_broken("{'format':'kvplan/capacity/1'}", KVP_EINPUT,
		     "a: /ranks: missing");
	check_broken(FILE_OF(""), KVP_EINPUT, "a: /ranks: is empty");
	check_broken("{'format':'kvplan/capacity/1','rank':0}", KVP_EINPUT,
		     "a: /rank: ");
	check_broken(FILE_OF("7"), KVP_EINPUT, "a: /ranks/0: ");
	check_broken(FILE_OF("{'rank':0}"), KVP_EINPUT,
		     "a: /ranks/0/planes: missing");
	check_broken(FILE_OF("{'planes':[]}"), KVP_EINPUT,
		     "a: /ranks/0/rank: missing");
	check_broken(FILE_OF("{'rank':1024,'planes':[]}"), KVP_ELIMIT,
		     "a: /ranks/0/rank: ");
	check_broken(FILE_OF(RANK("1", "") "," RANK("1", "")), KVP_EINPUT,
		     "a: /ranks/1/rank: is 1 for the second time");
	check_broken(FILE_OF(RANK("0", ",'arena':{'address':4096}")),
		     KVP_EINPUT, "a: /ranks/0/arena/stride: missing");
	check_broken(FILE_OF(RANK("0", ",'arena':{'address':0,'stride':1}")),
		     KVP_EINPUT, "a: /ranks/0/arena/address: is 0");
	check_broken(FILE_OF(RANK("0", ",'adresses':1")), KVP_EINPUT,
		     "a: /ranks/0/adresses: ");
}
END_TEST

START_TEST(a_plane_without_a_good_address_does_not_read)
{
	static const char *const planes[][2] = {
		{ "7", "" },
		{ "{'name':'a','address':4096}", "/stride: missing" },
		{ "{'name':'a','stride':4096}", "/address: missing" },
		{ "{'stride':1,'address':4096}", "/name: missing" },
		{ "{'name':'','address':1,'stride':1}", "/name: " },
		{ "{'name':1,'address':1,'stride':1}", "/name: " },
		{ "{'name':'a','address':0,'stride':1}", "/address: is 0" },
		{ "{'name':'a','address':-1,'stride':1}", "/address: " },
		{ "{'name':'a','address':1.5,'stride':1}", "/address: " },
		{ "{'name':'a','address':'1 MiB','stride':1}", "/address: " },
		{ "{'name':'a','address':1,'stride':0}", "/stride: is 0" },
		{ "{'name':'a','address':1,'stride':1,'x':1}", "/x: " },
	};
	char text[512], message[128];
	size_t i;

	for (i = 0; i < sizeof(planes) / sizeof(*planes); i++) {
		snprintf(text, sizeof(text),
			 FILE_OF("{'rank':0,'planes':[%s]}"), planes[i][0]);
		snprintf(message, sizeof(message), "a: /ranks/0/planes/0%s",
			 planes[i][1]);
		check_broken(text, KVP_EINPUT, message);
	}
	snprintf(text, sizeof(text), FILE_OF("{'rank':0,'planes':[{'name':"
		 "'%065d','address':1,'stride':1}]}"), 0);
	check_broken(text, KVP_EINPUT, "a: /ranks/0/planes/0/name: ");
	/* As many characters as a name may have, and twice the bytes. */
	memset(text, 0, sizeof(text));
	strcpy(text, "{'format':'kvplan/capacity/1','ranks':[{'rank':0,"
	       "'planes':[{'name':'");
	for (i = 0; i < KVP_PLANE_NAME_MAX; i++)
		strcat(text, "\xc3\xa9");
	strcat(text, "','address':1,'stride':1}]}]}");
	check_broken(text, KVP_EINPUT, "a: /ranks/0/planes/0/name: ");
}
END_TEST

START_TEST(the_next_realization_lies_where_the_published_one_did)
{
	bool access;
	struct bed b;

	bed_new(&b, "");
	for (access = false;; access = true) {
		struct kvp_realization *r = realized(&b);
		char *first = text_of(r, false), *read = text_of(r, access);
		char *second;
		struct kvp_addresses *a = addresses_of(read);

		ck_assert(!kvp_realization_free(r, NULL));
		b.options.addresses = a;
		b.options.check = KVP_CHECK_FULL;
		r = realized(&b);
		kvp_addresses_free(a);
		b.options.addresses = NULL;
		b.options.check = KVP_CHECK_NONE;
		second = text_of(r, false);
		*strstr(second, "full") = '\0';
		strstr(first, "none")[0] = '\0';
		ck_assert_str_eq(first, second);
		ck_assert_str_eq(strstr(first + strlen(first) + 1, "\"ranks\""),
				 strstr(second + strlen(second) + 1,
					"\"ranks\""));
		ck_assert(!kvp_realization_free(r, NULL));
		free(first);
		free(second);
		free(read);
		if (access)
			break;
	}
	bed_release(&b);
}
END_TEST

START_TEST(a_part_of_the_ranks_of_a_file_is_enough)
{
	struct kvp_realization *r;
	struct kvp_addresses *a;
	uint64_t plane, arena;
	struct bed b;
	char *text;

	bed_new(&b, "");
	b.options.nranks = 4;
	r = realized(&b);
	text = text_of(r, false);
	plane = kvp_realization_plane(r, 2, 1);
	arena = kvp_realization_arena(r, 2);
	ck_assert(!kvp_realization_free(r, NULL));
	a = addresses_of(text);
	b.options.addresses = a;
	b.options.first_rank = 2;
	b.options.nranks = 1;
	r = realized(&b);
	ck_assert_uint_eq(kvp_realization_plane(r, 2, 1), plane);
	ck_assert_uint_eq(kvp_realization_arena(r, 2), arena);
	ck_assert(!kvp_realization_free(r, NULL));
	kvp_addresses_free(a);
	free(text);
	bed_release(&b);
}
END_TEST

#define ABC(a, b, stride, c) "{'rank':0,'planes':[{'name':'a','address':" a \
	",'stride':4096},{'name':'b.0','address':" b ",'stride':" stride \
	"},{'name':'" c "','address':12288,'stride':2048}]" ARENA "}"

START_TEST(addresses_of_another_plan_are_refused)
{
	struct bed b;

	bed_new(&b, "");
	check_refused(&b, FILE_OF(RANK("1", ARENA)), KVP_EREFUSED,
		"addresses of rank 0: there are none");
	check_refused(&b, FILE_OF(RANK("0", ARENA)), KVP_EREFUSED,
		"addresses of rank 0: there are 1 planes, the plan has 3");
	check_refused(&b, FILE_OF(ABC("4096", "8192", "4096", "b.1")),
		KVP_EREFUSED, "addresses of rank 0: plane 1 is b.0 with "
		"stride 4096, the plan's is b.0 with stride 2048");
	check_refused(&b, FILE_OF(ABC("4096", "8192", "2048", "c")),
		KVP_EREFUSED, "addresses of rank 0: plane 2 is c with "
		"stride 2048, the plan's is b.1 with stride 2048");
	check_refused(&b, FILE_OF(ABC("4096", "8191", "2048", "b.1")),
		KVP_EREFUSED, "addresses of rank 0: b.0 is at 8191, no "
		"multiple of the granularity, 4096");
	/* The first rank is good, the second one is not there. */
	check_refused(&b, FILE_OF(ABC("4096", "8192", "2048", "b.1")),
		KVP_EREFUSED, "addresses of rank 1: there are none");
	bed_release(&b);
	bed_new(&b, "row_stride=12288");
	check_refused(&b, FILE_OF(ABC("4096", "8192", "2048", "b.1")),
		KVP_EREFUSED, "addresses of rank 0: the arena has stride "
		"10240, the plan's has 12288");
	bed_release(&b);
	bed_new(&b, "snapshot_rows=0;execution_rows=0");
	check_refused(&b, FILE_OF(ABC("4096", "8192", "2048", "b.1")),
		KVP_EREFUSED, "addresses of rank 0: there is an arena, the "
		"plan has none");
	bed_release(&b);
	bed_new(&b, "planes=[{'name':'a','bytes_per_page':4096}];"
		    "snapshot_rows=1");
	check_refused(&b, FILE_OF(RANK("0", "")), KVP_EREFUSED,
		"addresses of rank 0: there is no arena, the plan has one");
	bed_release(&b);
}
END_TEST

START_TEST(a_taken_address_fails_and_everything_is_given_back)
{
	struct kvp_realization *r;
	struct kvp_error err = { 0 };
	struct kvp_addresses *a;
	uint64_t taken, got;
	struct bed b;
	char *text;
	int code;

	bed_new(&b, "");
	r = realized(&b);
	text = text_of(r, false);
	a = addresses_of(text);
	taken = kvp_realization_plane(r, 1, 2);
	ck_assert(!kvp_realization_free(r, NULL));
	code = b.host->mapping.reserve(b.host, 4096, taken, &got, &err);
	ck_assert_msg(!code && got == taken, "%s", err.text);
	b.options.addresses = a;
	ck_assert_int_eq(kvp_realize(&r, &b.plan, b.verdict, &b.seen.base,
				     &b.options, &err), KVP_EDRIVER);
	ck_assert_ptr_null(r);
	ck_assert_msg(strstr(err.text, "rank 1") && strstr(err.text, "b.1"),
		      "%s", err.text);
	ck_assert(!b.host->mapping.unreserve(b.host, taken, 4096, NULL));
	r = realized(&b);
	ck_assert_uint_eq(kvp_realization_plane(r, 1, 2), taken);
	ck_assert(!kvp_realization_free(r, NULL));
	kvp_addresses_free(a);
	free(text);
	bed_release(&b);
}
END_TEST

#define AT_HOME "planes=[{'name':'a','bytes_per_page':4096," \
	"'address':52776558133248},{'name':'b','bytes_per_page':4096}]"

START_TEST(the_addresses_of_a_geometry_are_those_of_one_rank)
{
	struct kvp_realization *r;
	struct kvp_error err = { 0 };
	struct kvp_addresses *a;
	struct bed b;
	char *text;

	bed_new(&b, AT_HOME);
	ck_assert_int_eq(kvp_realize(&r, &b.plan, b.verdict, &b.seen.base,
				     &b.options, &err), KVP_EREFUSED);
	ck_assert_str_eq(err.text, "the geometry records one address of a, 2 "
		"ranks in one process need one each; realize one rank, such "
		"as --ranks=0, or give every rank its own with --addresses");
	b.options.nranks = 1;
	r = realized(&b);
	ck_assert_uint_eq(kvp_realization_plane(r, 0, 0),
			  UINT64_C(52776558133248));
	text = text_of(r, false);
	ck_assert(!kvp_realization_free(r, NULL));
	free(text);
	/* Given addresses win. */
	b.options.first_rank = 1;
	r = realized(&b);
	text = text_of(r, false);
	ck_assert(!kvp_realization_free(r, NULL));
	memcpy(strstr(text, "52776558133248"), "35184372088832", 14);
	a = addresses_of(text);
	b.options.addresses = a;
	r = realized(&b);
	ck_assert_uint_eq(kvp_realization_plane(r, 1, 0),
			  UINT64_C(35184372088832));
	ck_assert(!kvp_realization_free(r, NULL));
	kvp_addresses_free(a);
	free(text);
	bed_release(&b);
	bed_new(&b, "arena_address=52776558133248");
	ck_assert_int_eq(kvp_realize(&r, &b.plan, b.verdict, &b.seen.base,
				     &b.options, &err), KVP_EREFUSED);
	ck_assert(strstr(err.text, "one address of the arena"));
	bed_release(&b);
}
END_TEST

Suite *addresses_suite(void)
{
	Suite *suite = suite_create("addresses");
	TCase *tests = tcase_create("addresses");

	tcase_add_test(tests, what_is_no_published_file_does_not_read);
	tcase_add_test(tests, a_plane_without_a_good_address_does_not_read);
	tcase_add_test(tests,
		the_next_realization_lies_where_the_published_one_did);
	tcase_add_test(tests, a_part_of_the_ranks_of_a_file_is_enough);
	tcase_add_test(tests, addresses_of_another_plan_are_refused);
	tcase_add_test(tests,
		a_taken_address_fails_and_everything_is_given_back);
	tcase_add_test(tests,
		the_addresses_of_a_geometry_are_those_of_one_rank);
	suite_add_tcase(suite, tests);
	return suite;
}
