/*
 * Comparing geometries: every changed key is named, and named once.
 */
#include <stdio.h>
#include <string.h>

#include "unit/unit.h"

#define NAMED_MAX 8

struct named {
	size_t count;
	char pointer[NAMED_MAX][96];
	char a[NAMED_MAX][160];
	char b[NAMED_MAX][160];
};

static void remember(void *cookie, const char *pointer, const char *a,
		     const char *b)
{
	struct named *n = cookie;

	ck_assert_uint_lt(n->count, NAMED_MAX);
	snprintf(n->pointer[n->count], sizeof(n->pointer[0]), "%s", pointer);
	snprintf(n->a[n->count], sizeof(n->a[0]), "%s", a);
	snprintf(n->b[n->count], sizeof(n->b[0]), "%s", b);
	n->count++;
}

/* Compare both ways; the second has to name the same with sides swapped. */
static struct named compare(const char *left, const char *right)
{
	struct kvp_geometry a = geometry_of(left), b = geometry_of(right);
	struct named there = { 0 }, back = { 0 };
	size_t i;

	ck_assert_uint_eq(kvp_geometry_compare(&a, &b, remember, &there),
			  there.count);
	ck_assert_uint_eq(kvp_geometry_compare(&b, &a, remember, &back),
			  there.count);
	ck_assert_uint_eq(kvp_geometry_compare(&a, &b, NULL, NULL),
			  there.count);
	for (i = 0; i < there.count; i++) {
		ck_assert_str_eq(there.pointer[i], back.pointer[i]);
		ck_assert_str_eq(there.a[i], back.b[i]);
		ck_assert_str_eq(there.b[i], back.a[i]);
		ck_assert_str_ne(there.a[i], there.b[i]);
	}
	kvp_geometry_release(&a);
	kvp_geometry_release(&b);
	return there;
}

static void check_named_once(const char *left, const char *right,
			     const char *pointer)
{
	struct named n = compare(left, right);
	size_t len = strlen(pointer);

	ck_assert_msg(n.count == 1,
		      "%s: named %zu times, expected once: %s %s", pointer,
		      n.count, n.pointer[0], n.pointer[1]);
	/* A remark may follow: "/planes (number of planes)". */
	ck_assert_msg(!strncmp(n.pointer[0], pointer, len) &&
		      (!n.pointer[0][len] || n.pointer[0][len] == ' '),
		      "named %s, expected %s", n.pointer[0], pointer);
}

#define STATIC(name, bytes, importers) "{'name':'" name "','bytes':" #bytes \
	",'importers':'" importers "'}"
#define ONE_STATIC "static=[" STATIC("s", 1, "none") "]"
#define HEADROOM(free, cap) "headroom={'free_bytes':" #free \
	",'cap_bytes':" #cap "}"
#define PLANE(name, bytes, alias) "planes=[{'name':'" name \
	"','bytes_per_page':" #bytes ",'alias':" #alias "}]"
#define PLACED(address) "planes=[{'name':'a','bytes_per_page':4096," \
	"'address':" #address "}]"
/* Two planes of two pages each and one byte of rows. */
#define RECORDED(list) "pages=2;snapshot_rows=1;execution_rows=0;" \
	"row_bytes=1;row_stride=1;planes=[{'name':'a','count':2," \
	"'bytes_per_page':4096}];base_chunks=[" list "]"
#define CHUNK(plane, offset, bytes, arena) "{'plane':" #plane \
	",'offset':" #offset ",'bytes':" #bytes ",'arena':" #arena "}"

static const struct difference {
	const char *left;
	const char *right;
	const char *pointer;
} differences[] = {
	{ "", "name='other'", "/name" },
	{ "", "granularity=8192", "/granularity" },
	{ "", "tile_granules=2", "/tile_granules" },
	{ "", "pages=9", "/pages" },
	{ "", "page_tokens=17", "/page_tokens" },
	{ "", "snapshot_rows=1", "/snapshot_rows" },
	{ "", "execution_rows=0", "/execution_rows" },
	{ "", "row_bytes=8191", "/row_bytes" },
	{ "", "row_stride=10241", "/row_stride" },
	{ "access={'imports':[[],[],[],[]]}",
	  "access={'imports':[[],[],[],[]]};dcp_group_size=4",
	  "/dcp_group_size" },
	{ "dcp_group_size=1", "dcp_group_size=1;ranks_per_node=2",
	  "/ranks_per_node" },
	{ "", "ranks=8", "/ranks" },
	{ "", PLANE("a", 4096, true), "/planes" },
	{ PLANE("a", 4096, true), PLANE("b", 4096, true), "/planes/0/name" },
	{ PLANE("a", 4096, true), PLANE("a", 4097, true),
	  "/planes/0/bytes_per_page" },
	{ PLANE("a", 4096, true), PLANE("a", 4096, false), "/planes/0/alias" },
	{ PLACED(4096), PLACED(8192), "/planes/0/address" },
	{ PLACED(4096), PLANE("a", 4096, true), "/planes/0/address" },
	{ "access={'declared_readers':[[1,2],[0],[3],[2]]}",
	  "access={'declared_readers':[[1,3],[0],[3],[2]]}",
	  "/access/declared_readers/0" },
	{ "", "access={'imports':[[],[0],[3],[2]]}", "/access/imports/0" },
	{ "", "access={'importer_mode':'readwrite'}",
	  "/access/importer_mode" },
	{ "", ONE_STATIC, "/static" },
	{ ONE_STATIC, "static=[" STATIC("t", 1, "none") "]",
	  "/static/0/name" },
	{ ONE_STATIC, "static=[" STATIC("s", 2, "none") "]",
	  "/static/0/bytes" },
	{ ONE_STATIC, "static=[" STATIC("s", 1, "all") "]",
	  "/static/0/importers" },
	{ "", "static_entries=1", "/static_entries" },
	{ "", "entry_limit=524287", "/entry_limit" },
	{ "", "entry_reserve=4097", "/entry_reserve" },
	{ "", "page_overhead_bytes=1", "/page_overhead_bytes" },
	{ "", "arena_address=4096", "/arena_address" },
	{ "arena_address=8192", "arena_address=4096", "/arena_address" },
	{ HEADROOM(10, 2), HEADROOM(11, 2), "/headroom/free_bytes" },
	{ HEADROOM(10, 2), HEADROOM(10, 3), "/headroom/cap_bytes" },
	{ HEADROOM(10, 0), HEADROOM(10, null), "/headroom/cap_bytes" },
	{ RECORDED(CHUNK(0, 0, 8192, 0) "," CHUNK(1, 0, 4096, null) ","
		   CHUNK(1, 4096, 4096, null)),
	  RECORDED(CHUNK(0, 0, 8192, 0) "," CHUNK(1, 0, 8192, null)),
	  "/base_chunks" },
};

START_TEST(every_changed_key_is_named_once)
{
	const struct difference *d = &differences[_i];

	check_named_once(d->left, d->right, d->pointer);
}
END_TEST

START_TEST(a_bound_that_is_lifted_is_named_once)
{
	check_named_once(HEADROOM(10, 2), HEADROOM(10, null),
			 "/headroom/cap_bytes");
}
END_TEST

START_TEST(a_headroom_that_is_given_is_named_once)
{
	check_named_once("", HEADROOM(10, 2), "/headroom");
}
END_TEST

START_TEST(a_recorded_layout_that_is_given_is_named_once)
{
	check_named_once("pages=2;snapshot_rows=1;execution_rows=0;"
			 "row_bytes=1;row_stride=1;planes=[{'name':'a',"
			 "'count':2,'bytes_per_page':4096}]",
			 RECORDED(CHUNK(0, 0, 8192, 0) ","
				  CHUNK(1, 0, 8192, null)),
			 "/base_chunks");
}
END_TEST

START_TEST(every_part_of_a_recorded_chunk_is_compared)
{
	struct named n = compare(
		RECORDED(CHUNK(0, 0, 4096, 0) "," CHUNK(0, 4096, 4096, null)
			 "," CHUNK(1, 0, 8192, null)),
		RECORDED(CHUNK(1, 4096, 4096, 0) "," CHUNK(0, 0, 8192, null)
			 "," CHUNK(1, 0, 4096, null)));

	/* plane and offset of 0, offset and bytes of 1, bytes of 2 */
	ck_assert_uint_eq(n.count, 5);
	ck_assert_str_eq(n.pointer[0], "/base_chunks/0/plane");
	ck_assert_str_eq(n.pointer[1], "/base_chunks/0/offset");
	ck_assert_str_eq(n.pointer[2], "/base_chunks/1/offset");
	ck_assert_str_eq(n.pointer[3], "/base_chunks/1/bytes");
	ck_assert_str_eq(n.pointer[4], "/base_chunks/2/bytes");
}
END_TEST

START_TEST(the_same_geometry_has_no_difference)
{
	struct named n = compare("pages=8;row_stride=10240",
				 "row_stride='10 KiB';pages=8.0");

	ck_assert_uint_eq(n.count, 0);
}
END_TEST

START_TEST(both_values_are_told)
{
	struct named n = compare("", "pages=9;name='other'");

	ck_assert_uint_eq(n.count, 2);
	ck_assert_str_eq(n.pointer[0], "/name");
	ck_assert_str_eq(n.a[0], "small");
	ck_assert_str_eq(n.b[0], "other");
	ck_assert_str_eq(n.pointer[1], "/pages");
	ck_assert_str_eq(n.a[1], "8");
	ck_assert_str_eq(n.b[1], "9");
}
END_TEST

START_TEST(every_rank_whose_list_differs_is_named)
{
	struct named n = compare("", "access={'declared_readers':"
				 "[[1,2],[0,2,3],[0,1,3],[2]]}");

	ck_assert_uint_eq(n.count, 2);
	ck_assert_str_eq(n.pointer[0], "/access/declared_readers/0");
	ck_assert_str_eq(n.pointer[1], "/access/declared_readers/3");
}
END_TEST

Suite *compare_suite(void)
{
	Suite *suite = suite_create("compare");
	TCase *tests = tcase_create("compare");

	tcase_add_loop_test(tests, every_changed_key_is_named_once, 0,
			    sizeof(differences) / sizeof(*differences));
	tcase_add_test(tests, a_bound_that_is_lifted_is_named_once);
	tcase_add_test(tests, a_headroom_that_is_given_is_named_once);
	tcase_add_test(tests, a_recorded_layout_that_is_given_is_named_once);
	tcase_add_test(tests, every_part_of_a_recorded_chunk_is_compared);
	tcase_add_test(tests, the_same_geometry_has_no_difference);
	tcase_add_test(tests, both_values_are_told);
	tcase_add_test(tests, every_rank_whose_list_differs_is_named);
	suite_add_tcase(suite, tests);
	return suite;
}
