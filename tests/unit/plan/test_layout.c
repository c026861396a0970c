/*
 * Base layouts and segments that were worked out by hand.  The granularity
 * is 4096 and called K here; geometries have no execution rows unless said.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/work.h"
#include "unit/unit.h"

#define K UINT64_C(4096)

/* One rank, no execution rows. */
#define ROWS "ranks=1;ranks_per_node=;dcp_group_size=1;execution_rows=0;"

static struct layout layout_of(const char *changes, struct kvp_geometry *g)
{
	struct layout l;
	struct kvp_error err = { 0 };
	int code;

	*g = geometry_of(changes);
	code = layout_make(&l, g, &err);
	ck_assert_msg(!code, "%s", err.text);
	layout_check_internal(&l, g);
	return l;
}

/*
 * The layout as text, in granules: "plane@offset+bytes" for every aliased
 * chunk by place, then the tails behind a bar.  Places follow each other
 * from D on, which is checked on the way.
 */
static void check_layout(const char *changes, const char *expected)
{
	char text[512] = "";
	struct kvp_geometry g;
	struct layout l = layout_of(changes, &g);
	uint64_t place = l.dedicated_bytes;
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < l.count; i++) {
		const struct kvp_chunk *c = &l.chunks[i];

		if (i == l.aliased)
			used += (size_t)snprintf(text + used,
						 sizeof(text) - used, "| ");
		ck_assert_uint_eq(c->arena, i < l.aliased ? place :
							    KVP_UNALIASED);
		ck_assert_uint_eq(c->offset % K + c->bytes % K, 0);
		place += c->bytes;
		used += (size_t)snprintf(text + used, sizeof(text) - used,
			"%c@%u+%u ", 'a' + (int)c->plane,
			(unsigned)(c->offset / K), (unsigned)(c->bytes / K));
		ck_assert_uint_lt(used, sizeof(text));
	}
	if (used)
		text[used - 1] = '\0';
	ck_assert_str_eq(text, expected);
	layout_release(&l);
	ck_assert_ptr_null(l.chunks);
	kvp_geometry_release(&g);
}

/* Four pages to a tile: tiles of page 0 come first, plane by plane. */
START_TEST(small_pages_are_laid_in_page_order)
{
	check_layout(ROWS "pages=8;snapshot_rows=1;row_bytes=12288;row_stride="
		";planes=[{'name':'x','count':2,'bytes_per_page':1024}]",
		"a@0+1 b@0+1 a@1+1 | b@1+1");
}
END_TEST

/* Two tiles to a page: both of a plane, then both of the next. */
START_TEST(large_pages_are_laid_in_page_order)
{
	check_layout(ROWS "pages=2;snapshot_rows=1;row_bytes=20480;row_stride="
		";planes=[{'name':'x','count':2,'bytes_per_page':8192}]",
		"a@0+1 a@1+1 b@0+1 b@1+1 a@2+1 | a@3+1 b@2+2");
}
END_TEST

/*
 * One and a half tiles to a page.  First pages of a plane's six tiles:
 * 0 0 1 2 2 3.
 */
START_TEST(a_tile_belongs_to_the_page_it_begins_in)
{
	check_layout(ROWS "pages=4;snapshot_rows=1;row_bytes=40960;row_stride="
		";planes=[{'name':'x','count':2,'bytes_per_page':6144}]",
		"a@0+1 a@1+1 b@0+1 b@1+1 a@2+1 b@2+1 a@3+1 a@4+1 b@3+1 b@4+1 "
		"| a@5+1 b@5+1");
}
END_TEST

/* First pages: a 0 2, b 0 1 2 3. */
START_TEST(pages_of_different_sizes_are_mixed_by_page)
{
	check_layout(ROWS "pages=4;snapshot_rows=1;row_bytes=24576;row_stride="
		";planes=[{'name':'x','bytes_per_page':2048},"
		"{'name':'y','bytes_per_page':4096}]",
		"a@0+1 b@0+1 b@1+1 a@1+1 b@2+1 b@3+1");
}
END_TEST

START_TEST(the_plane_index_decides_among_tiles_of_one_page)
{
	check_layout(ROWS "pages=1;snapshot_rows=1;row_bytes=8193;row_stride="
		";planes=[{'name':'z','bytes_per_page':1},"
		"{'name':'y','bytes_per_page':8192},"
		"{'name':'x','bytes_per_page':1}]",
		"a@0+1 b@0+1 b@1+1 | c@0+1");
}
END_TEST

START_TEST(the_last_tile_of_a_plane_may_be_short)
{
	check_layout(ROWS "tile_granules=2;pages=3;snapshot_rows=1;"
		"row_bytes=20481;row_stride=;"
		"planes=[{'name':'x','count':2,'bytes_per_page':4096}]",
		"a@0+2 b@0+2 a@2+1 b@2+1");
}
END_TEST

/* One byte needs a second tile, and all of it is laid. */
START_TEST(the_tile_that_reaches_the_end_is_laid_whole)
{
	check_layout(ROWS "tile_granules=2;pages=8;snapshot_rows=1;"
		"row_bytes=8193;row_stride=;"
		"planes=[{'name':'x','bytes_per_page':4096}]",
		"a@0+2 a@2+2 | a@4+4");
	check_layout(ROWS "tile_granules=2;pages=8;snapshot_rows=1;"
		"row_bytes=8192;row_stride=;"
		"planes=[{'name':'x','bytes_per_page':4096}]",
		"a@0+2 | a@2+6");
}
END_TEST

/* D is 8192: the first 2048 bytes of row 0 lie below it. */
START_TEST(a_row_may_begin_below_the_dedicated_backing)
{
	struct kvp_geometry g;
	const char changes[] = ROWS "tile_granules=3;pages=7;execution_rows=1;"
		"snapshot_rows=3;row_bytes=6144;row_stride=6144;"
		"planes=[{'name':'x','bytes_per_page':4096}]";
	struct layout l = layout_of(changes, &g);

	ck_assert_uint_eq(l.dedicated_bytes, 2 * K);
	ck_assert_uint_eq(l.arena_end, 6 * K);
	ck_assert_uint_eq(l.chunks[0].arena, 2 * K);
	layout_release(&l);
	kvp_geometry_release(&g);
	check_layout(changes, "a@0+3 a@3+3 | a@6+1");
}
END_TEST

START_TEST(rows_within_the_dedicated_backing_alias_nothing)
{
	check_layout(ROWS "pages=2;execution_rows=1;snapshot_rows=3;"
		"row_bytes=1024;row_stride=;"
		"planes=[{'name':'x','count':2,'bytes_per_page':4096}]",
		"| a@0+2 b@0+2");
}
END_TEST

START_TEST(without_rows_every_plane_is_one_chunk)
{
	check_layout(ROWS "pages=5;snapshot_rows=0;"
		"planes=[{'name':'x','count':2,'bytes_per_page':3000}]",
		"| a@0+4 b@0+4");
}
END_TEST

START_TEST(planes_that_may_not_be_aliased_stay_whole)
{
	check_layout(ROWS "pages=2;snapshot_rows=1;row_bytes=12288;row_stride="
		";planes=[{'name':'x','alias':false,'bytes_per_page':4096},"
		"{'name':'y','bytes_per_page':4096},"
		"{'name':'z','bytes_per_page':4096}]",
		"b@0+1 c@0+1 b@1+1 | a@0+2 c@1+1");
}
END_TEST

START_TEST(recorded_chunks_replace_the_computed_ones)
{
	check_layout(ROWS "pages=2;snapshot_rows=1;row_bytes=12288;row_stride="
		";planes=[{'name':'x','count':2,'bytes_per_page':4096}];"
		"base_chunks=[{'plane':1,'offset':4096,'bytes':4096,'arena':0}"
		",{'plane':0,'offset':0,'bytes':8192,'arena':4096},"
		"{'plane':1,'offset':0,'bytes':4096,'arena':null}]",
		"b@1+1 a@0+2 | b@0+1");
}
END_TEST

/* Segments as text: slots of an interval together, fixed ones in "!". */
static void check_segments(const char *changes, const char *expected)
{
	char text[256] = "";
	struct kvp_geometry g;
	struct layout l = layout_of(changes, &g);
	struct segments s;
	size_t used = 0;
	uint32_t i;

	ck_assert_int_eq(segments_make(&s, &l, &g, NULL), KVP_OK);
	for (i = 0; i < s.count; i++) {
		uint32_t slots = s.first[i + 1] - s.first[i], j;

		used += (size_t)snprintf(text + used, sizeof(text) - used,
			"%s%s%u", i ? " " : "", s.fixed[i] ? "!" : "", slots);
		ck_assert_uint_lt(used, sizeof(text));
		for (j = s.first[i]; j < s.first[i + 1]; j++)
			ck_assert_uint_eq(s.of[j], i);
	}
	ck_assert_uint_eq(s.first[s.count], l.aliased);
	ck_assert_str_eq(text, expected);
	segments_release(&s);
	segments_release(&s);
	layout_release(&l);
	kvp_geometry_release(&g);
}

#define WIDE "pages=16;planes=[{'name':'x','bytes_per_page':4096}];"

/*
 * D is 12288.  Row 0 holds [10240, 18432), row 1 [20480, 28672), A is
 * 30720.  Chunks of 4096 from 12288 on: within row 0; over its end; within
 * row 1, twice; into the padding.
 */
START_TEST(chunks_that_touch_padding_are_fixed)
{
	check_segments(ROWS WIDE "execution_rows=1;snapshot_rows=2;"
		"row_bytes=8192;row_stride=10240", "1 !1 2 !1");
}
END_TEST

START_TEST(rows_of_whole_chunks_are_intervals)
{
	check_segments(ROWS WIDE "snapshot_rows=3;row_bytes=8192;row_stride=",
		       "2 2 2");
	check_segments(ROWS WIDE "snapshot_rows=3;row_bytes=4096;row_stride=",
		       "1 1 1");
}
END_TEST

/* Rows of one and a half chunks: every second chunk spans two rows. */
START_TEST(chunks_that_span_rows_are_fixed)
{
	check_segments(ROWS WIDE "snapshot_rows=4;row_bytes=6144;row_stride=",
		       "1 !1 1 1 !1 1");
}
END_TEST

START_TEST(a_chunk_larger_than_a_row_is_fixed)
{
	check_segments(ROWS WIDE "tile_granules=4;snapshot_rows=6;"
		       "row_bytes=4096;row_stride=", "!1 !1");
}
END_TEST

START_TEST(a_chunk_past_the_end_of_the_arena_is_fixed)
{
	check_segments(ROWS WIDE "snapshot_rows=1;row_bytes=12287;row_stride=",
		       "2 !1");
	check_segments(ROWS WIDE "snapshot_rows=1;row_bytes=12288;row_stride=",
		       "3");
}
END_TEST

/* A row ends at its bytes, and one byte of padding is padding. */
START_TEST(one_byte_of_padding_fixes_a_chunk)
{
	check_segments(ROWS WIDE "snapshot_rows=2;row_bytes=8191;"
		       "row_stride=8192", "1 !1 1 !1");
}
END_TEST

START_TEST(padding_of_whole_chunks_is_fixed_chunk_by_chunk)
{
	check_segments(ROWS WIDE "snapshot_rows=2;row_bytes=4096;"
		       "row_stride=12288", "1 !1 !1 1 !1 !1");
}
END_TEST

/*
 * D is 8192.  Row 0 holds [6144, 12288) and has one chunk above D, row 1
 * has one that is complete, the last runs past A.
 */
START_TEST(segments_begin_behind_the_dedicated_backing)
{
	check_segments(ROWS WIDE "execution_rows=1;snapshot_rows=2;"
		"row_bytes=6144;row_stride=6144", "1 1 !1");
}
END_TEST

static void add_segments(TCase *tests)
{
	tcase_add_test(tests, chunks_that_touch_padding_are_fixed);
	tcase_add_test(tests, rows_of_whole_chunks_are_intervals);
	tcase_add_test(tests, chunks_that_span_rows_are_fixed);
	tcase_add_test(tests, a_chunk_larger_than_a_row_is_fixed);
	tcase_add_test(tests, a_chunk_past_the_end_of_the_arena_is_fixed);
	tcase_add_test(tests, one_byte_of_padding_fixes_a_chunk);
	tcase_add_test(tests,
		       padding_of_whole_chunks_is_fixed_chunk_by_chunk);
	tcase_add_test(tests, segments_begin_behind_the_dedicated_backing);
}

Suite *layout_suite(void)
{
	Suite *suite = suite_create("layout");
	TCase *tests = tcase_create("layout");

	tcase_add_test(tests, small_pages_are_laid_in_page_order);
	tcase_add_test(tests, large_pages_are_laid_in_page_order);
	tcase_add_test(tests, a_tile_belongs_to_the_page_it_begins_in);
	tcase_add_test(tests, pages_of_different_sizes_are_mixed_by_page);
	tcase_add_test(tests,
		       the_plane_index_decides_among_tiles_of_one_page);
	tcase_add_test(tests, the_last_tile_of_a_plane_may_be_short);
	tcase_add_test(tests, the_tile_that_reaches_the_end_is_laid_whole);
	tcase_add_test(tests, a_row_may_begin_below_the_dedicated_backing);
	tcase_add_test(tests, rows_within_the_dedicated_backing_alias_nothing);
	tcase_add_test(tests, without_rows_every_plane_is_one_chunk);
	tcase_add_test(tests, planes_that_may_not_be_aliased_stay_whole);
	tcase_add_test(tests, recorded_chunks_replace_the_computed_ones);
	add_segments(tests);
	suite_add_tcase(suite, tests);
	return suite;
}
