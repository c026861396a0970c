/*
 * What a recorded layout is refused for: chunks one by one, then how they
 * cover planes and arena.
 */
#include "unit/unit.h"

#define CHUNK(plane, offset, bytes, arena) "{'plane':" #plane \
	",'offset':" #offset ",'bytes':" #bytes ",'arena':" #arena "}"
/* Plane a of three granules, plane b of one; rows end at 8192, D is 0. */
#define RECORDED(list) "pages=1;execution_rows=0;snapshot_rows=1;" \
	"row_bytes=8192;row_stride=;planes=[{'name':'a'," \
	"'bytes_per_page':12288},{'name':'b','bytes_per_page':4096," \
	"'alias':false}];base_chunks=[" list "]"
#define B_WHOLE "," CHUNK(1, 0, 4096, null)

START_TEST(recorded_chunks_are_checked_one_by_one)
{
	static const struct fault faults[] = {
		{ RECORDED(CHUNK(2, 0, 4096, 0)), KVP_EINPUT,
		  "/base_chunks/0: plane is 2, must be at most 1" },
		{ RECORDED(CHUNK(0, 0, 4096, 0) "," CHUNK(0, 4096, 0, 0)),
		  KVP_EINPUT, "/base_chunks/1: offset 4096, bytes 0 and arena "
		  "must be multiples of the granularity, 4096" },
		{ RECORDED(CHUNK(0, 1, 4096, 0)), KVP_EINPUT,
		  "/base_chunks/0: offset 1, bytes 4096 and arena must be "
		  "multiples of the granularity, 4096" },
		{ RECORDED(CHUNK(0, 0, 4097, 0)), KVP_EINPUT,
		  "/base_chunks/0: offset 0, bytes 4097 and arena must be "
		  "multiples of the granularity, 4096" },
		{ RECORDED(CHUNK(0, 0, 4096, 2048)), KVP_EINPUT,
		  "/base_chunks/0: offset 0, bytes 4096 and arena must be "
		  "multiples of the granularity, 4096" },
		{ RECORDED(CHUNK(1, 0, 4096, 0)), KVP_EINPUT,
		  "/base_chunks/0: has an arena address, but plane 1 (b) "
		  "may not be aliased" },
	};

	CHECK_FAULTS(faults);
}
END_TEST

START_TEST(recorded_chunks_cover_every_plane_once)
{
	static const struct fault faults[] = {
		{ RECORDED(""), KVP_EINPUT, "/base_chunks: cover plane 0 (a) "
		  "up to byte 0, but its backing is 12288 bytes" },
		{ RECORDED(CHUNK(0, 0, 8192, 0) B_WHOLE), KVP_EINPUT,
		  "/base_chunks: cover plane 0 (a) up to byte 8192, but its "
		  "backing is 12288 bytes" },
		{ RECORDED(CHUNK(0, 0, 8192, 0) ","
			   CHUNK(0, 8192, 4096, null)), KVP_EINPUT,
		  "/base_chunks: cover plane 1 (b) up to byte 0, but its backing "
		  "is 4096 bytes" },
		{ RECORDED(CHUNK(0, 4096, 8192, 0) B_WHOLE), KVP_EINPUT,
		  "/base_chunks: leave a gap in plane 0: a chunk begins at "
		  "4096, must begin at 0" },
		{ RECORDED(CHUNK(0, 0, 4096, 0) "," CHUNK(0, 8192, 4096, 4096)
			   B_WHOLE), KVP_EINPUT,
		  "/base_chunks: leave a gap in plane 0: a chunk begins at "
		  "8192, must begin at 4096" },
		{ RECORDED(CHUNK(0, 0, 8192, 0) "," CHUNK(0, 4096, 8192, null)
			   B_WHOLE), KVP_EINPUT,
		  "/base_chunks: overlap in plane 0: a chunk begins at 4096, "
		  "must begin at 8192" },
		{ RECORDED(CHUNK(0, 0, 12288, 0) ","
			   CHUNK(0, 12288, 4096, null) B_WHOLE), KVP_EINPUT,
		  "/base_chunks: cover plane 0 (a) up to byte 16384, but its "
		  "backing is 12288 bytes" },
	};

	CHECK_FAULTS(faults);
}
END_TEST

START_TEST(a_recorded_chunk_past_the_backing_is_told_by_its_end)
{
	check_geometry_fault(RECORDED(CHUNK(0, 0, 16384, 0) B_WHOLE),
		    KVP_EINPUT,
		    "/base_chunks: cover plane 0 (a) up to byte 16384, but its "
		    "backing is 12288 bytes");
}
END_TEST

START_TEST(recorded_chunks_cover_the_arena_once)
{
	static const struct fault faults[] = {
		{ RECORDED(CHUNK(0, 0, 4096, 0) "," CHUNK(0, 4096, 8192, null)
			   B_WHOLE), KVP_EINPUT, "/base_chunks: cover the "
		  "arena up to byte 4096, but its rows end at 8192" },
		{ RECORDED(CHUNK(0, 0, 12288, null) B_WHOLE), KVP_EINPUT,
		  "/base_chunks: cover the arena up to byte 0, but its rows "
		  "end at 8192" },
		{ RECORDED(CHUNK(0, 0, 4096, 4096) ","
			   CHUNK(0, 4096, 8192, null) B_WHOLE), KVP_EINPUT,
		  "/base_chunks: leave a gap in the arena: a chunk begins at "
		  "4096, must begin at 0" },
		{ RECORDED(CHUNK(0, 0, 4096, 0) "," CHUNK(0, 4096, 8192, 8192)
			   B_WHOLE), KVP_EINPUT,
		  "/base_chunks: leave a gap in the arena: a chunk begins at "
		  "8192, must begin at 4096" },
		{ RECORDED(CHUNK(0, 0, 8192, 0) "," CHUNK(0, 8192, 4096, 4096)
			   B_WHOLE), KVP_EINPUT,
		  "/base_chunks: overlap in the arena: a chunk begins at 4096, "
		  "must begin at 8192" },
		{ RECORDED(CHUNK(0, 0, 8192, 0) "," CHUNK(0, 8192, 4096, 8192)
			   B_WHOLE), KVP_EINPUT,
		  "/base_chunks: have a chunk at arena address 8192, but "
		  "the arena ends at 8192" },
	};

	CHECK_FAULTS(faults);
}
END_TEST

START_TEST(recorded_chunks_begin_behind_the_dedicated_backing)
{
	/* One execution row of 4097 bytes: D is 8192, A is 8194. */
	const char below[] = "pages=1;execution_rows=1;snapshot_rows=1;"
		"row_bytes=4097;row_stride=;"
		"planes=[{'name':'a','bytes_per_page':8192}];base_chunks=["
		CHUNK(0, 0, 8192, 4096) "]";

	check_geometry_fault(below, KVP_EINPUT, "/base_chunks: overlap in the "
		    "arena: a chunk begins at 4096, must begin at 8192");
}
END_TEST

Suite *base_chunks_suite(void)
{
	Suite *suite = suite_create("base_chunks");
	TCase *tests = tcase_create("base_chunks");

	tcase_add_test(tests, recorded_chunks_are_checked_one_by_one);
	tcase_add_test(tests, recorded_chunks_cover_every_plane_once);
	tcase_add_test(tests,
		       a_recorded_chunk_past_the_backing_is_told_by_its_end);
	tcase_add_test(tests, recorded_chunks_cover_the_arena_once);
	tcase_add_test(tests,
		       recorded_chunks_begin_behind_the_dedicated_backing);
	suite_add_tcase(suite, tests);
	return suite;
}
