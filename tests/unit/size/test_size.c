/*
 * Sizing: limits as text, every term by hand, refusals with the nearest
 * setting that fits, and the published figures.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

#define MOST KVP_NUMBER_MAX
#define GIB (UINT64_C(1) << 30)

/* As kvp_size_find(), for one free value; 0 pages: the most. */
static int find(struct kvp_size *z, const struct kvp_geometry *g,
		uint64_t free_bytes, uint64_t pages, struct kvp_error *err)
{
	struct kvp_size_wish wish = { .free_bytes = &free_bytes, .nfree = 1,
				      .pages = pages,
				      .snapshots = KVP_UNSTATED };

	return kvp_size_find(z, g, &wish, err);
}

static struct kvp_size found(const struct kvp_geometry *g,
			     const struct kvp_size_wish *wish)
{
	struct kvp_size z;
	struct kvp_error err = { 0 };
	int code = kvp_size_find(&z, g, wish, &err);

	ck_assert_msg(!code, "%s", err.text);
	return z;
}

/* Without a budget. */
static struct kvp_size sized_to(const struct kvp_geometry *g, uint64_t pages,
				uint64_t snapshots)
{
	struct kvp_size_wish wish = { .pages = pages, .snapshots = snapshots };

	return found(g, &wish);
}

/* With all that is free. */
static struct kvp_size sized_in(const struct kvp_geometry *g,
				uint64_t free_bytes, const char *limit)
{
	struct kvp_size_wish wish = { .free_bytes = &free_bytes, .nfree = 1,
				      .snapshots = KVP_UNSTATED };

	ck_assert_int_eq(kvp_memory_limit_read(&wish.limit, limit, NULL),
			 KVP_OK);
	return found(g, &wish);
}

static void check_refused(const struct kvp_geometry *g,
			  const struct kvp_size_wish *wish, int expected,
			  const char *text)
{
	struct kvp_size z = { .pages = 1 };
	struct kvp_error err = { 0 };
	int code = kvp_size_find(&z, g, wish, &err);

	ck_assert_msg(code == expected && strstr(err.text, text),
		      "seen %s %s, expected %s ...%s...", kvp_code_name(code),
		      err.text, kvp_code_name(expected), text);
	ck_assert_int_eq(err.code, expected);
	ck_assert_uint_eq(z.pages, 0);
}

/* A geometry that leaves pages and snapshot_rows open. */
static struct kvp_geometry unsized_of(const char *changes)
{
	char *text = geometry_text(changes);
	struct kvp_geometry g;
	struct kvp_error err = { 0 };
	int code = kvp_geometry_read_unsized(&g, "g", text, strlen(text),
					     &err);

	ck_assert_msg(!code, "%s", err.text);
	free(text);
	return g;
}

/* --- limits --- */

START_TEST(a_limit_is_read_as_people_write_it)
{
	static const struct {
		const char *text;
		enum kvp_memory_limit_kind kind;
		uint64_t bytes;
		uint32_t percent;
	} good[] = {
		{ "-1G", KVP_LIMIT_LEAVE, GIB, 0 },
		{ "-0G", KVP_LIMIT_LEAVE, 0, 0 },
		{ "-0", KVP_LIMIT_LEAVE, 0, 0 },
		{ "-1.5 GiB", KVP_LIMIT_LEAVE, GIB / 2 * 3, 0 },
		{ "-9007199254740991", KVP_LIMIT_LEAVE, MOST, 0 },
		{ "70GiB", KVP_LIMIT_USE, 70 * GIB, 0 },
		{ "0B", KVP_LIMIT_USE, 0, 0 },
		{ "4096 B", KVP_LIMIT_USE, 4096, 0 },
		{ "1048576", KVP_LIMIT_USE, 1048576, 0 },
		{ "90%", KVP_LIMIT_PERCENT, 0, 90 },
		{ "0%", KVP_LIMIT_PERCENT, 0, 0 },
		{ "100%", KVP_LIMIT_PERCENT, 0, 100 },
	};
	struct kvp_memory_limit l;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ck_assert_int_eq(kvp_memory_limit_read(&l, good[i].text,
						       NULL), KVP_OK);
		ck_assert_int_eq(l.kind, good[i].kind);
		ck_assert_uint_eq(l.bytes, good[i].bytes);
		ck_assert_uint_eq(l.percent, good[i].percent);
	}
}
END_TEST

START_TEST(anything_else_is_no_limit)
{
	static const char *const bad[] = {
		"", "-", "%", "0", "90", "1048575", "0.9", "1.0", "-1X", "--1G", "- 1G", "+1G", "101%", "90%%",
		"90 %", "-90%", "9.5%", "4294967386%", "x", "1G 2", "0x10",
		"-9007199254740992", "99999999999999999999",
	};
	struct kvp_memory_limit l = { .kind = KVP_LIMIT_PERCENT,
				      .percent = 7 };
	struct kvp_error err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_msg(kvp_memory_limit_read(&l, bad[i], &err) ==
			      KVP_EINPUT, "'%s' is read", bad[i]);
		ck_assert_ptr_nonnull(strstr(err.text, bad[i]));
		ck_assert_uint_eq(l.percent, 7);
	}
}
END_TEST

START_TEST(a_limit_is_never_more_than_is_free_and_never_below_zero)
{
	struct kvp_memory_limit l = { .kind = KVP_LIMIT_LEAVE };

	ck_assert_uint_eq(kvp_memory_limit_apply(&l, MOST), MOST);
	l.bytes = 100;
	ck_assert_uint_eq(kvp_memory_limit_apply(&l, 101), 1);
	ck_assert_uint_eq(kvp_memory_limit_apply(&l, 100), 0);
	ck_assert_uint_eq(kvp_memory_limit_apply(&l, 99), 0);
	ck_assert_uint_eq(kvp_memory_limit_apply(&l, 0), 0);
	l.kind = KVP_LIMIT_USE;
	ck_assert_uint_eq(kvp_memory_limit_apply(&l, 99), 99);
	ck_assert_uint_eq(kvp_memory_limit_apply(&l, 101), 100);
	l.kind = KVP_LIMIT_PERCENT;
	l.percent = 90;
	ck_assert_uint_eq(kvp_memory_limit_apply(&l, 1), 0);
	ck_assert_uint_eq(kvp_memory_limit_apply(&l, 199), 179);
	ck_assert_uint_eq(kvp_memory_limit_apply(&l, MOST),
			  UINT64_C(8106479329266891));
	l.percent = 99;
	ck_assert_uint_eq(kvp_memory_limit_apply(&l, UINT64_MAX),
			  UINT64_C(18262276632972456098));
	l.percent = 100;
	ck_assert_uint_eq(kvp_memory_limit_apply(&l, UINT64_MAX), UINT64_MAX);
	l.percent = 0;
	ck_assert_uint_eq(kvp_memory_limit_apply(&l, UINT64_MAX), 0);
}
END_TEST

/* --- terms --- */

START_TEST(every_term_is_counted)
{
	/* Planes of 4096, 2048 and 2048 a page; rows of 10240. */
	struct kvp_geometry g = unsized_of("pages=;snapshot_rows=;"
		"page_overhead_bytes=100;static=[{'name':'x','bytes':5000,"
		"'importers':'all'},{'name':'y','bytes':4096,"
		"'importers':'none'}]");
	struct kvp_size z = sized_to(&g, 3, KVP_UNSTATED);

	ck_assert(!z.bounded);
	ck_assert_uint_eq(z.page_bytes, 3 * 8192);
	ck_assert_uint_eq(z.rounding_bytes, 2 * 2048);
	ck_assert_uint_eq(z.dedicated_bytes, 12288);
	ck_assert_uint_eq(z.static_bytes, 8192 + 4096);
	ck_assert_uint_eq(z.overhead_bytes, 300);
	ck_assert_uint_eq(z.used_bytes, 24576 + 4096 + 12288 + 12288 + 300);
	ck_assert_uint_eq(z.pages, 3);
	ck_assert_uint_eq(z.kv_tokens, 3 * 16 * 2);
	/* (12288 + 12288 + 8192 + 8192) / 10240 - 1 */
	ck_assert_uint_eq(z.rows_that_fit, 3);
	ck_assert_uint_eq(z.snapshot_rows, 3);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(a_budget_that_is_used_up_holds_the_pages_and_one_byte_less_does_not)
{
	struct kvp_geometry g = unsized_of("pages=;snapshot_rows=;"
		"page_overhead_bytes=100");
	uint64_t used = sized_to(&g, 7, 0).used_bytes;
	struct kvp_size z = sized_in(&g, used, "-0G");

	ck_assert(z.bounded);
	ck_assert_uint_eq(z.pages, 7);
	ck_assert_uint_eq(z.left_bytes, 0);
	ck_assert_uint_eq(z.budget_bytes, used);
	z = sized_in(&g, used - 1, "-0G");
	ck_assert_uint_eq(z.pages, 6);
	z = sized_in(&g, used + 4096, "-4K");
	ck_assert_uint_eq(z.pages, 7);
	ck_assert_uint_eq(z.reserve_bytes, 4096);
	ck_assert_uint_eq(z.left_bytes, 4096);
	z = sized_in(&g, used + 4095, "-4K");
	ck_assert_uint_eq(z.pages, 6);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(planes_kept_out_hold_pages_and_no_rows)
{
	struct kvp_geometry g = unsized_of("pages=;snapshot_rows=;"
		"planes=[{'name':'a','bytes_per_page':4096},{'name':'b',"
		"'count':2,'bytes_per_page':2048,'alias':false}]");
	struct kvp_size z = sized_to(&g, 3, KVP_UNSTATED);

	ck_assert_uint_eq(z.page_bytes, 3 * 8192);
	/* (12288 + 12288) / 10240 - 1 */
	ck_assert_uint_eq(z.rows_that_fit, 1);
	ck_assert_uint_eq(sized_to(&g, 3, 2).pages_for_snapshots, 5);
	kvp_geometry_release(&g);
	g = unsized_of("pages=;planes=[{'name':'a','bytes_per_page':4096,"
		       "'alias':false}]");
	z = sized_to(&g, 1000, 5);
	ck_assert_uint_eq(z.rows_that_fit, 0);
	ck_assert_uint_eq(z.snapshot_rows, 0);
	ck_assert_uint_eq(z.pages_for_snapshots, 0);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(rows_are_at_most_those_asked_for)
{
	struct kvp_geometry g = geometry_of("snapshot_rows=1");
	struct kvp_size z = sized_to(&g, 8, KVP_UNSTATED);

	ck_assert_uint_eq(z.snapshot_rows, 6);	/* not the geometry's own */
	z = sized_to(&g, 8, 4);
	ck_assert_uint_eq(z.snapshot_rows, 4);
	ck_assert_uint_eq(z.rows_that_fit, 6);
	ck_assert_uint_eq(z.pages_for_snapshots, 0);
	z = sized_to(&g, 8, 7);
	ck_assert_uint_eq(z.snapshot_rows, 6);
	ck_assert_uint_eq(z.pages_for_snapshots, 9);
	ck_assert_uint_eq(sized_to(&g, 9, 7).snapshot_rows, 7);
	ck_assert_uint_eq(sized_to(&g, 8, 0).snapshot_rows, 0);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(without_row_bytes_there_are_no_rows)
{
	struct kvp_geometry g = unsized_of("pages=;snapshot_rows=;"
		"execution_rows=0;row_bytes=;row_stride=4096");
	struct kvp_size z = sized_to(&g, 100, 7);

	ck_assert_uint_eq(z.snapshot_rows, 0);
	ck_assert_uint_eq(z.rows_that_fit, 0);
	ck_assert_uint_eq(z.pages_for_snapshots, 0);
	ck_assert_uint_eq(z.dedicated_bytes, 0);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(the_rank_with_the_least_decides)
{
	struct kvp_geometry g = geometry_of("");
	uint64_t some[4] = { 900000, 500000, 400000, 400000 };
	struct kvp_size_wish wish = { .free_bytes = some, .nfree = 4,
				      .snapshots = KVP_UNSTATED };
	struct kvp_size z = found(&g, &wish);

	ck_assert_uint_eq(z.rank, 2);
	ck_assert_uint_eq(z.free_bytes, 400000);
	ck_assert_uint_eq(z.pages, sized_in(&g, 400000, "-0G").pages);
	some[2] = 400001;
	ck_assert_uint_eq(found(&g, &wish).rank, 3);
	some[0] = 1;
	check_refused(&g, &wish, KVP_EINFEASIBLE, "rank 0 has 1 bytes free");
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(what_a_cache_needs_stays_free_beside_the_reserve)
{
	struct kvp_geometry g = geometry_of("");
	uint64_t free_bytes = GIB;
	struct kvp_size_wish wish = { .free_bytes = &free_bytes, .nfree = 1,
				      .cache_bytes = 300 << 20 };
	struct kvp_size z;

	wish.limit.bytes = 200 << 20;
	z = found(&g, &wish);
	ck_assert_uint_eq(z.reserve_bytes, 200 << 20);
	ck_assert_uint_eq(z.cache_bytes, 300 << 20);
	ck_assert_uint_eq(z.budget_bytes, 524 << 20);
	ck_assert_uint_ge(z.left_bytes, 500 << 20);
	ck_assert_uint_lt(z.left_bytes, 501 << 20);
	/* More than is free is no budget, not a huge one. */
	wish.cache_bytes = GIB;
	check_refused(&g, &wish, KVP_EINFEASIBLE,
		      "less reserve 209715200 and cache 1073741824 a budget "
		      "of 0;");
	wish.cache_bytes = 0;
	wish.limit.bytes = MOST;
	check_refused(&g, &wish, KVP_EINFEASIBLE,
		      "1073741824 bytes free, less reserve 9007199254740991 "
		      "and cache 0 a budget of 0;");
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(a_refusal_tells_the_reserve_that_was_asked_for)
{
	static const struct {
		const char *limit, *told;
	} some[] = {
		{ "-1G", "less reserve 1073741824 and" },
		{ "-1023M", "less reserve 1072693248 and" },
		{ "-2T", "less reserve 2199023255552 and" },
		{ "0%", "less reserve 1073741823 and" },
		{ "1K", "less reserve 1073740799 and" },
		{ "70GiB", "less reserve 0 and" },
	};
	struct kvp_geometry g = geometry_of("");
	uint64_t free_bytes = GIB - 1;
	struct kvp_size_wish wish = { .free_bytes = &free_bytes, .nfree = 1,
				      .pages = GIB };
	size_t i;

	for (i = 0; i < sizeof(some) / sizeof(*some); i++) {
		ck_assert_int_eq(kvp_memory_limit_read(&wish.limit,
			some[i].limit, NULL), KVP_OK);
		check_refused(&g, &wish, KVP_EINFEASIBLE, some[i].told);
	}
	kvp_geometry_release(&g);
}
END_TEST

/* --- refusals --- */

START_TEST(what_does_not_fit_is_refused_with_every_term_and_what_would_fit)
{
	struct kvp_geometry g = unsized_of("pages=;snapshot_rows=;"
		"execution_rows=256;page_overhead_bytes=10;static=[{'name':"
		"'x','bytes':5000,'importers':'all'}]");
	struct kvp_size z;
	struct kvp_error err;

	/* 172 granules are 68 rows and 2,560 bytes. */
	ck_assert_int_eq(find(&z, &g, 172 * 4096 + 8192, 0, &err),
			 KVP_EINFEASIBLE);
	ck_assert_str_eq(err.text, "68 execution rows fit with no KV; asked "
		"256; 67 fit with 1 page: every rank has 712704 bytes free, less "
		"reserve 0 and cache 0 a budget of 712704; 1 page needs "
		"2641930, which is 1929226 more: planes 8192, rounding 4096, "
		"dedicated 2621440, static 8192, page overhead 10");
	ck_assert_int_eq(find(&z, &g, 4096, 0, &err), KVP_EINFEASIBLE);
	ck_assert_ptr_nonnull(strstr(err.text, "0 execution rows fit with no "
				     "KV; asked 256; 0 fit with 1 page"));
	/* Room for the rows, and not for a page. */
	ck_assert_int_eq(find(&z, &g, 2621440 + 8192 + 12297, 0, &err),
			 KVP_EINFEASIBLE);
	ck_assert_ptr_nonnull(strstr(err.text, "no page fits beside 256 "
				     "execution rows; 255 fit with 1 page"));
	ck_assert_ptr_nonnull(strstr(err.text, "which is 1 more"));
	ck_assert_int_eq(find(&z, &g, 2621440 + 8192 + 12298, 0, &err),
			 KVP_OK);
	ck_assert_int_eq(find(&z, &g, 2621440 + 8192 + 12298, 5, &err),
			 KVP_EINFEASIBLE);
	ck_assert_ptr_nonnull(strstr(err.text, "1 pages (32 tokens) fit; "
				     "asked 5: "));
	ck_assert_ptr_nonnull(strstr(err.text, "5 pages need "));
	kvp_geometry_release(&g);
	g = unsized_of("pages=;execution_rows=0");
	ck_assert_int_eq(find(&z, &g, 12287, 0, &err), KVP_EINFEASIBLE);
	ck_assert_int_eq(strncmp(err.text, "no page fits: every rank ", 25), 0);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(a_wish_that_makes_no_sense_is_refused)
{
	struct kvp_geometry g = geometry_of("base_chunks=["
		"{'plane':0,'offset':0,'bytes':32768,'arena':12288},"
		"{'plane':1,'offset':0,'bytes':16384,'arena':null},"
		"{'plane':2,'offset':0,'bytes':16384,'arena':null}]");
	uint64_t many[4] = { MOST, MOST, MOST + 1, 0 };
	struct kvp_size_wish wish = { .pages = 8 };

	check_refused(&g, &wish, KVP_EINPUT, "/base_chunks: ");
	kvp_geometry_release(&g);
	g = geometry_of("");
	wish.pages = 0;
	check_refused(&g, &wish, KVP_EINPUT, "neither free memory nor");
	wish.free_bytes = many;
	wish.nfree = 2;
	check_refused(&g, &wish, KVP_EINPUT, "has 2 values, must be one for "
		      "all ranks or one for each of the 4");
	wish.nfree = 4;
	check_refused(&g, &wish, KVP_ELIMIT, "rank 2: 9007199254740992 bytes");
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(no_size_exceeds_what_a_document_can_state)
{
	struct kvp_geometry g = unsized_of("pages=;snapshot_rows=;"
		"page_tokens=1125899906842624;dcp_group_size=1");
	struct kvp_size_wish wish = { .pages = 8 };
	struct kvp_size z = sized_in(&g, MOST, "-0G");

	/* 2^50 tokens a page: 7 pages. */
	ck_assert_uint_eq(z.pages, 7);
	check_refused(&g, &wish, KVP_ELIMIT, "of 8 pages, with everything "
		      "beside them, are more than 9007199254740991 (2^53 - 1); "
		      "7 pages can be stated");
	g.page_tokens = MOST;
	g.dcp_group_size = 2;
	check_refused(&g, &wish, KVP_ELIMIT, "of even one page");
	kvp_geometry_release(&g);
	/* Two terms that are fine alone. */
	g = unsized_of("pages=;snapshot_rows=0;execution_rows=0;static=[{"
		       "'name':'x','bytes':9007199254736896,'importers':"
		       "'none'}]");
	wish.pages = 1;
	check_refused(&g, &wish, KVP_ELIMIT, "of even one page");
	g.statics[0].bytes = MOST;
	check_refused(&g, &wish, KVP_ELIMIT, "/static: ");
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(more_chunks_than_a_plan_holds_are_refused_with_what_helps)
{
	struct kvp_geometry g = unsized_of("pages=;snapshot_rows=;"
		"execution_rows=0;row_bytes=4096;row_stride=4096;"
		"planes=[{'name':'a','bytes_per_page':4096}]");
	struct kvp_size_wish wish = { .pages = 3000000,
				      .snapshots = KVP_UNSTATED };
	struct kvp_size z;

	/* As many rows as may be, each one chunk, and the tail. */
	check_refused(&g, &wish, KVP_ELIMIT, "tile_granules above 1");
	check_refused(&g, &wish, KVP_ELIMIT, "3000000 pages and 2097152 "
		      "snapshot rows (fewer rows help as well)");
	wish.snapshots = KVP_CHUNKS_MAX - 1;
	z = found(&g, &wish);
	ck_assert_uint_eq(z.snapshot_rows, KVP_CHUNKS_MAX - 1);
	ck_assert_uint_eq(z.rows_that_fit, 3000000);
	g.tile_granules = 2;
	wish.snapshots = KVP_UNSTATED;
	z = found(&g, &wish);
	ck_assert_uint_eq(z.snapshot_rows, KVP_ROWS_MAX);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(no_more_rows_than_a_geometry_may_have)
{
	/* Rows of 2^51 bytes: the fourth would end above 2^53 - 1. */
	struct kvp_geometry g = unsized_of("pages=;snapshot_rows=;"
		"execution_rows=1;row_bytes=1;row_stride=2251799813685248;"
		"tile_granules=1099511627776;dcp_group_size=1;page_tokens=1;"
		"planes=[{'name':'a','bytes_per_page':4503599627370496}]");
	struct kvp_size z = sized_to(&g, 1, 9);

	ck_assert_uint_eq(z.rows_that_fit, 2);
	ck_assert_uint_eq(z.snapshot_rows, 2);
	ck_assert_uint_eq(z.pages_for_snapshots, 0);
	kvp_geometry_release(&g);
	/* Half a granule a row and execution rows that fill the allowance. */
	g = unsized_of("pages=;snapshot_rows=;execution_rows=2097152;"
		       "row_bytes=1;row_stride=2");
	z = sized_to(&g, 10000, KVP_UNSTATED);
	ck_assert_uint_gt(z.rows_that_fit, 0);
	ck_assert_uint_eq(z.snapshot_rows, 0);
	kvp_geometry_release(&g);
	/* One row less leaves room for one snapshot row and no other. */
	g = unsized_of("pages=;snapshot_rows=;execution_rows=2097151;"
		       "row_bytes=1;row_stride=2");
	z = sized_to(&g, 4, 1);
	ck_assert_uint_eq(z.snapshot_rows, 1);
	z = sized_to(&g, 4, 2);
	ck_assert_uint_eq(z.snapshot_rows, 1);
	ck_assert_uint_eq(z.pages_for_snapshots, 0);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(recorded_addresses_that_are_too_close_are_refused)
{
	struct kvp_geometry g = unsized_of("pages=;snapshot_rows=;"
		"planes=[{'name':'a','bytes_per_page':4096,'address':1048576},"
		"{'name':'b','bytes_per_page':4096,'address':1089536}];"
		"arena_address=1200128");
	struct kvp_size_wish wish = { .pages = 11 };
	unsigned without_arena;

	for (without_arena = 0; without_arena < 2; without_arena++) {
		g.has_arena_address = !without_arena;
		ck_assert_uint_eq(sized_to(&g, 10, KVP_UNSTATED).pages, 10);
		check_refused(&g, &wish, KVP_ELIMIT, "within plane 0 (a)");
	}
	g.has_arena_address = true;
	check_refused(&g, &wish, KVP_ELIMIT, "11 pages and 0 snapshot rows "
		      "need other addresses");
	check_refused(&g, &wish, KVP_ELIMIT, "plane 1 (b) is recorded at "
		      "1089536, within plane 0 (a)");
	kvp_geometry_release(&g);
}
END_TEST

/* --- putting it in --- */

START_TEST(a_sizing_is_put_into_its_geometry)
{
	struct kvp_geometry g = geometry_of("headroom={'free_bytes':7,"
					    "'cap_bytes':3}");
	struct kvp_cap_override none_at_all = { .given = true };
	struct kvp_size z = sized_to(&g, 5, KVP_UNSTATED);

	kvp_size_apply(&z, NULL, &g);
	ck_assert_uint_eq(g.pages, 5);
	ck_assert_uint_eq(g.snapshot_rows, z.snapshot_rows);
	/* What another sizing left is not known to be left now. */
	ck_assert(!g.has_headroom);
	z = sized_in(&g, GIB, "-512M");
	kvp_size_apply(&z, NULL, &g);
	ck_assert_uint_eq(g.pages, z.pages);
	ck_assert_uint_eq(g.headroom.free_bytes, z.left_bytes);
	ck_assert_uint_eq(g.headroom.cap_bytes,
			  kvp_cap_plan(&z.left_bytes, NULL).bytes);
	ck_assert(g.headroom.bounded);
	kvp_size_apply(&z, &none_at_all, &g);
	ck_assert(!g.headroom.bounded);
	ck_assert_uint_eq(g.headroom.cap_bytes, 0);
	ck_assert_uint_eq(g.row_stride, 10240);
	kvp_geometry_release(&g);
	g = unsized_of("pages=;snapshot_rows=;execution_rows=0");
	z = sized_to(&g, 1, 0);
	kvp_size_apply(&z, NULL, &g);
	ck_assert(!g.has_headroom);
	ck_assert_uint_eq(g.row_bytes, 0);
	ck_assert_uint_eq(g.row_stride, 0);
	kvp_geometry_release(&g);
}
END_TEST

/* --- the published figures, on reconstructed bytes --- */

START_TEST(the_published_rows_come_from_the_published_pages)
{
	struct kvp_geometry g = geometry_of(published_dcp16);
	struct kvp_size z = sized_to(&g, 2234, KVP_UNSTATED);

	ck_assert_uint_eq(z.snapshot_rows, 112);
	ck_assert_uint_eq(z.kv_tokens, 4575232);
	z = sized_to(&g, 1735, KVP_UNSTATED);
	ck_assert_uint_eq(z.snapshot_rows, 86);
	ck_assert_uint_eq(z.kv_tokens, 3553280);
	kvp_geometry_release(&g);
	g = geometry_of(published_dcp8);
	z = sized_to(&g, 2588, KVP_UNSTATED);
	ck_assert_uint_eq(z.snapshot_rows, 129);
	ck_assert_uint_eq(z.kv_tokens, 2650112);
	z = sized_to(&g, 3072, KVP_UNSTATED);
	ck_assert_uint_eq(z.snapshot_rows, 153);
	ck_assert_uint_eq(z.kv_tokens, 3145728);
	kvp_geometry_release(&g);
}
END_TEST

/* From the first to the last budget that gives both numbers of pages. */
static void check_gibibyte(const char *changes, uint64_t first, uint64_t last,
			   uint64_t all, uint64_t less)
{
	const uint64_t inside[] = { first, first + (last - first) / 2, last };
	struct kvp_geometry g = geometry_of(changes);
	size_t i;

	for (i = 0; i < 3; i++) {
		ck_assert_uint_eq(sized_in(&g, inside[i], "-0G").pages, all);
		ck_assert_uint_eq(sized_in(&g, inside[i], "-1G").pages, less);
	}
	ck_assert(sized_in(&g, first - 1, "-0G").pages < all ||
		  sized_in(&g, first - 1, "-1G").pages < less);
	ck_assert(sized_in(&g, last + 1, "-0G").pages > all ||
		  sized_in(&g, last + 1, "-1G").pages > less);
	kvp_geometry_release(&g);
}

START_TEST(a_gibibyte_less_leaves_the_published_pages)
{
	check_gibibyte(published_dcp16, UINT64_C(4957993832),
		       UINT64_C(4958329671), 2234, 1735);
	check_gibibyte(published_dcp8, UINT64_C(7050833920),
		       UINT64_C(7051284403), 3072, 2588);
}
END_TEST

Suite *size_suite(void)
{
	Suite *s = suite_create("size");
	TCase *t = tcase_create("size");

	tcase_add_test(t, a_limit_is_read_as_people_write_it);
	tcase_add_test(t, anything_else_is_no_limit);
	tcase_add_test(t, a_limit_is_never_more_than_is_free_and_never_below_zero);
	tcase_add_test(t, every_term_is_counted);
	tcase_add_test(t, a_budget_that_is_used_up_holds_the_pages_and_one_byte_less_does_not);
	tcase_add_test(t, planes_kept_out_hold_pages_and_no_rows);
	tcase_add_test(t, rows_are_at_most_those_asked_for);
	tcase_add_test(t, without_row_bytes_there_are_no_rows);
	tcase_add_test(t, the_rank_with_the_least_decides);
	tcase_add_test(t, what_a_cache_needs_stays_free_beside_the_reserve);
	tcase_add_test(t, a_refusal_tells_the_reserve_that_was_asked_for);
	tcase_add_test(t, what_does_not_fit_is_refused_with_every_term_and_what_would_fit);
	tcase_add_test(t, a_wish_that_makes_no_sense_is_refused);
	tcase_add_test(t, no_size_exceeds_what_a_document_can_state);
	tcase_add_test(t, more_chunks_than_a_plan_holds_are_refused_with_what_helps);
	tcase_add_test(t, no_more_rows_than_a_geometry_may_have);
	tcase_add_test(t, recorded_addresses_that_are_too_close_are_refused);
	tcase_add_test(t, a_sizing_is_put_into_its_geometry);
	tcase_add_test(t, the_published_rows_come_from_the_published_pages);
	tcase_add_test(t, a_gibibyte_less_leaves_the_published_pages);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return s;
}
