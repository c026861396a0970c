/*
 * The alias check on the host backend: right mappings pass, every way to
 * map wrongly is found and told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "backend/backend_watch.h"
#include "realize/alias_work.h"
#include "unit/unit.h"

#define G UINT64_C(4096)
#define RANKS 2
#define PLANES 8
#define TWO "ranks=2;ranks_per_node=2;dcp_group_size=2;"

/* What to map, and how to map it wrongly. */
struct rig {
	struct kvp_plan plan;
	/* Whose memory chunk i gets; the last one is dedicated backing. */
	size_t *in_plane;
	size_t *in_arena;
	bool blind;		/* importers are granted nothing */
	struct kvp_backend *backend;
	struct kvp_backend *checked;	/* it, or a wrapper of it */
	/* Rank by rank. */
	uint64_t planes[RANKS][PLANES];
	uint64_t arena[RANKS];
	uint64_t arena_bytes;
};

static const enum kvp_check depths[] = { KVP_CHECK_QUICK, KVP_CHECK_FULL };

static void must(int code, const struct kvp_error *err)
{
	ck_assert_msg(!code, "%s", err->text);
}

static uint64_t whole(uint64_t bytes)
{
	return (bytes + G - 1) / G * G;
}

static uint64_t backing(const struct rig *r, size_t plane)
{
	const struct kvp_geometry *g = &r->plan.geometry;

	return whole(g->pages * g->planes[plane].bytes_per_page);
}

static void rig_new(struct rig *r, const char *changes, enum kvp_merge merge)
{
	char text[512];
	size_t i, n;

	memset(r, 0, sizeof(*r));
	snprintf(text, sizeof(text), TWO "%s", changes);
	r->plan = plan_of(text, merge);
	n = r->plan.nchunks + 1;
	r->in_plane = calloc(n, sizeof(*r->in_plane));
	r->in_arena = calloc(n, sizeof(*r->in_arena));
	ck_assert(r->in_plane && r->in_arena);
	for (i = 0; i < n; i++)
		r->in_plane[i] = r->in_arena[i] = i;
}

static void rig_release(struct rig *r)
{
	free(r->in_plane);
	free(r->in_arena);
	kvp_plan_release(&r->plan);
}

static void map(struct rig *r, uint64_t address, uint64_t bytes,
		kvp_handle handle, uint32_t owner, bool shared)
{
	const struct kvp_grant grants[RANKS] = {
		{ owner, KVP_READWRITE }, { !owner, KVP_READ },
	};
	struct kvp_backend *b = r->backend;
	struct kvp_error err = { 0 };

	must(b->mapping.map(b, address, bytes, handle, &err), &err);
	must(b->mapping.grant(b, address, bytes, grants,
			      shared && !r->blind ? 2 : 1, &err), &err);
}

static void reserve_rank(struct rig *r, uint32_t rank)
{
	const struct kvp_geometry *g = &r->plan.geometry;
	struct kvp_backend *b = r->backend;
	struct kvp_error err = { 0 };
	size_t i;

	for (i = 0; i < g->nplanes; i++)
		must(b->mapping.reserve(b, backing(r, i), 0,
					&r->planes[rank][i], &err), &err);
	r->arena_bytes = whole((g->execution_rows + g->snapshot_rows) *
			       g->row_stride);
	for (i = 0; i < r->plan.nchunks; i++)
		if (r->plan.chunks[i].arena != KVP_UNALIASED &&
		    r->plan.chunks[i].arena + r->plan.chunks[i].bytes >
		    r->arena_bytes)
			r->arena_bytes = r->plan.chunks[i].arena +
					 r->plan.chunks[i].bytes;
	if (r->arena_bytes)
		must(b->mapping.reserve(b, r->arena_bytes, 0,
					&r->arena[rank], &err), &err);
}

static uint64_t memory_bytes(const struct rig *r, size_t i)
{
	return i < r->plan.nchunks ? r->plan.chunks[i].bytes :
				     r->plan.dedicated_bytes;
}

static void map_rank(struct rig *r, uint32_t rank)
{
	size_t i, n = r->plan.nchunks + (r->plan.dedicated_bytes != 0);
	kvp_handle *handles = calloc(n, sizeof(*handles));
	struct kvp_create what = { .device = rank };
	const struct kvp_chunk *c = r->plan.chunks;
	struct kvp_backend *b = r->backend;
	struct kvp_error err = { 0 };

	ck_assert_ptr_nonnull(handles);
	for (i = 0; i < n; i++) {
		what.bytes = memory_bytes(r, i);
		must(b->mapping.create(b, &what, &handles[i], &err), &err);
	}
	for (i = 0; i < n; i++, c++) {
		if (i < r->plan.nchunks)
			map(r, r->planes[rank][c->plane] + c->offset, c->bytes,
			    handles[r->in_plane[i]], rank, true);
		if (i == r->plan.nchunks || c->arena != KVP_UNALIASED)
			map(r, r->arena[rank] +
			    (i < r->plan.nchunks ? c->arena : 0),
			    memory_bytes(r, i), handles[r->in_arena[i]], rank,
			    false);
	}
	free(handles);
}

static void realize(struct rig *r)
{
	struct kvp_error err = { 0 };
	uint32_t rank;

	ck_assert_uint_le(r->plan.geometry.nplanes, PLANES);
	must(kvp_backend_host(&r->backend, RANKS, G, &err), &err);
	r->checked = r->backend;
	for (rank = 0; rank < RANKS; rank++) {
		reserve_rank(r, rank);
		map_rank(r, rank);
	}
}

static int check_rank(struct rig *r, uint32_t rank, enum kvp_check depth,
		      struct kvp_error *err)
{
	const uint32_t other = !rank;
	const struct check_rank what = {
		.rank = rank, .device = rank, .planes = r->planes[rank],
		.arena = r->arena[rank], .readers = &other, .nreaders = 1,
	};

	return alias_check(r->checked, &r->plan, &what, depth, err);
}

/* Realize, check both ranks, close. */
static void check_depth(struct rig *r, enum kvp_check depth, int code,
			const char *text)
{
	struct kvp_error err;
	char front[64];
	uint32_t rank;
	int got;

	realize(r);
	for (rank = 0; rank < RANKS; rank++) {
		memset(&err, 0, sizeof(err));
		got = check_rank(r, rank, depth, &err);
		ck_assert_msg(got == code && err.code == code,
			      "depth %d: %s instead of %s: %s", (int)depth,
			      kvp_code_name(got), kvp_code_name(code),
			      err.text);
		snprintf(front, sizeof(front), "alias check: rank %u: ",
			 (unsigned)rank);
		ck_assert_msg(!code || (!strncmp(err.text, front,
						 strlen(front)) &&
					strstr(err.text, text)),
			      "depth %d, no \"%s%s\": %s", (int)depth, front,
			      text, err.text);
	}
	kvp_backend_close(r->backend);
}

static void check_both(struct rig *r, int code, const char *text)
{
	size_t i;

	for (i = 0; i < 2; i++)
		check_depth(r, depths[i], code, text);
}

static const char *const geometries[] = {
	"",
	"pages=64;snapshot_rows=9;row_bytes=65536;row_stride=65536;"
	"planes=[{'name': 'kv', 'count': 4, 'bytes_per_page': 4096}]",
	/* An unaliased plane. */
	"pages=64;planes=[{'name': 'kv', 'bytes_per_page': 4096},"
	"{'name': 'apart', 'bytes_per_page': 3000, 'alias': false}]",
	/* Padded rows. */
	"pages=40;snapshot_rows=7;row_bytes=9001;row_stride=12003",
	/* Rows smaller than a granule, at odd places. */
	"snapshot_rows=40;row_bytes=997;row_stride=1003",
	"snapshot_rows=40;row_bytes=1;row_stride=3",
	/* Whole rows below D. */
	"execution_rows=2;snapshot_rows=5;row_bytes=700;row_stride=700",
	/* Pages of odd lengths, of one byte and of a little over a granule. */
	"pages=33;snapshot_rows=3;planes=[{'name': 'kv', 'count': 3,"
	" 'bytes_per_page': 1023}, {'name': 'x', 'bytes_per_page': 4099}]",
	"pages=20001;planes=[{'name': 'kv', 'count': 2,"
	" 'bytes_per_page': 1}, {'name': 'x', 'bytes_per_page': 3}]",
	/* Tiles of more granules, the last one cut short. */
	"pages=31;tile_granules=3;snapshot_rows=3;row_bytes=30000;"
	"row_stride=30000;"
	"planes=[{'name': 'kv', 'count': 5, 'bytes_per_page': 4096}]",
	"execution_rows=0;snapshot_rows=1",
	"snapshot_rows=0",
	"snapshot_rows=0;execution_rows=0;row_bytes=;row_stride=",
};
#define GEOMETRIES ((int)(sizeof(geometries) / sizeof(*geometries)))

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

START_TEST(patterns_are_distinct_and_rows_differ_from_pages_in_every_byte)
{
	enum { EACH = 50000 };
	const uint64_t last = (UINT64_C(1) << 28) - 2;
	uint32_t *all = malloc(2 * EACH * sizeof(*all));
	size_t i;

	ck_assert_ptr_nonnull(all);
	for (i = 0; i < EACH; i++) {
		/* Both ends: the last one before they repeat included. */
		all[i] = alias_page_pattern(i % 2 ? last - i : i);
		all[EACH + i] = alias_row_pattern(i % 2 ? last - i : i);
		ck_assert_uint_eq(all[i] & 0x80808080, 0);
		ck_assert_uint_eq(all[EACH + i] & 0x80808080, 0x80808080);
	}
	qsort(all, 2 * EACH, sizeof(*all), by_value);
	ck_assert_uint_ne(all[0], 0);
	for (i = 1; i < 2 * EACH; i++)
		ck_assert_uint_ne(all[i - 1], all[i]);
	ck_assert_uint_eq(alias_page_pattern(last + 1), alias_page_pattern(0));
	free(all);
}
END_TEST

START_TEST(right_mappings_pass_merged_and_unmerged)
{
	int merge;
	struct rig r;

	for (merge = KVP_MERGE_NONE; merge <= KVP_MERGE_SPAN; merge++) {
		rig_new(&r, geometries[_i], (enum kvp_merge)merge);
		check_both(&r, KVP_OK, "");
		rig_release(&r);
	}
}
END_TEST

#define PLAIN \
	"pages=64;snapshot_rows=6;row_bytes=32768;row_stride=32768;" \
	"planes=[{'name': 'kv', 'count': 4, 'bytes_per_page': 4096}]"

static void swap(size_t *a, size_t *b)
{
	size_t was = *a;

	*a = *b;
	*b = was;
}

START_TEST(two_chunks_swapped_in_the_arena_are_found)
{
	struct rig r;

	rig_new(&r, PLAIN, KVP_MERGE_NONE);
	/* Both lie in row 0. */
	swap(&r.in_arena[1], &r.in_arena[2]);
	check_both(&r, KVP_EFAILED, "plane kv.1 bytes [0, 4096): byte 0 is "
		   "not what was written through the plane when read through "
		   "the arena at 36864 (row 0); it holds what was written to "
		   "plane kv.2 bytes [0, 4096)");
	rig_release(&r);
}
END_TEST

START_TEST(two_merged_chunks_swapped_in_the_arena_are_found)
{
	size_t i, j, pairs = 0;
	struct rig r;

	rig_new(&r, PLAIN, KVP_MERGE_ROW);
	for (i = 0; i < r.plan.nchunks && !pairs; i++)
		for (j = i + 1; j < r.plan.nchunks && !pairs; j++)
			if (r.plan.chunks[i].bytes > G &&
			    r.plan.chunks[j].arena != KVP_UNALIASED &&
			    r.plan.chunks[i].bytes == r.plan.chunks[j].bytes) {
				swap(&r.in_arena[i], &r.in_arena[j]);
				pairs++;
			}
	ck_assert_uint_eq(pairs, 1);
	check_both(&r, KVP_EFAILED, "when read through the arena at ");
	rig_release(&r);
}
END_TEST

START_TEST(two_chunks_swapped_in_both_views_are_the_plan_all_the_same)
{
	struct rig r;

	rig_new(&r, PLAIN, KVP_MERGE_NONE);
	swap(&r.in_arena[1], &r.in_arena[2]);
	swap(&r.in_plane[1], &r.in_plane[2]);
	check_both(&r, KVP_OK, "");
	rig_release(&r);
}
END_TEST

START_TEST(aliases_one_granule_off_are_found)
{
	size_t i, n = 0;
	struct rig r;

	rig_new(&r, PLAIN, KVP_MERGE_NONE);
	while (n < r.plan.nchunks &&
	       r.plan.chunks[n].arena != KVP_UNALIASED)
		n++;
	ck_assert_uint_gt(n, 2);
	for (i = 0; i < n; i++)
		r.in_arena[i] = (i + 1) % n;
	check_both(&r, KVP_EFAILED, "plane kv.0 bytes [0, 4096): byte 0 is "
		   "not what was written through the plane when read through "
		   "the arena at 32768 (row 0); it holds what was written to "
		   "plane kv.1 bytes [0, 4096)");
	rig_release(&r);
}
END_TEST

START_TEST(two_places_with_the_same_memory_are_found)
{
	struct rig r;

	rig_new(&r, PLAIN, KVP_MERGE_NONE);
	r.in_plane[1] = r.in_arena[1] = 6;
	check_both(&r, KVP_EFAILED, "plane kv.1 bytes [0, 4096): byte 0 is "
		   "not what was written there; it holds what was written to "
		   "plane kv.2 bytes [4096, 8192)");
	rig_release(&r);
}
END_TEST

START_TEST(an_alias_with_the_memory_of_another_is_found)
{
	struct rig r;

	rig_new(&r, PLAIN, KVP_MERGE_NONE);
	r.in_arena[9] = 8;
	check_both(&r, KVP_EFAILED, "plane kv.1 bytes [8192, 12288): byte "
		   "8192 is not what was written through the plane when read "
		   "through the arena at 69632 (row 1); it holds what was "
		   "written to plane kv.0 bytes [8192, 12288)");
	rig_release(&r);
}
END_TEST

START_TEST(an_alias_with_memory_of_nobody_is_found)
{
	struct rig r;

	/* The chunk's own memory is dedicated backing's as well. */
	rig_new(&r, "execution_rows=1;row_bytes=4096;row_stride=4096;"
		"snapshot_rows=6", KVP_MERGE_NONE);
	r.in_arena[0] = r.plan.nchunks;
	r.in_arena[r.plan.nchunks] = 0;
	check_both(&r, KVP_EFAILED, "plane a bytes [0, 4096): byte 0 is not "
		   "what was written there; it holds what was written to "
		   "dedicated backing bytes [0, 4096)");
	/* Now only the arena has it wrong. */
	r.in_arena[r.plan.nchunks] = r.plan.nchunks;
	check_both(&r, KVP_EFAILED, "read through the arena at 4096 (row 0); "
		   "it holds what was written to dedicated backing bytes "
		   "[0, 4096)");
	rig_release(&r);
}
END_TEST

START_TEST(a_reader_without_access_is_told_with_the_failing_call)
{
	struct rig r;

	rig_new(&r, "", KVP_MERGE_ROW);
	r.blind = true;
	check_both(&r, KVP_EDRIVER, "plane a read by device ");
	check_both(&r, KVP_EDRIVER, " has no read access at ");
	rig_release(&r);
}
END_TEST

static bool has_page(const struct kvp_plan *plan, size_t row, uint64_t page)
{
	const struct kvp_span *s = plan->spans + plan->rows[row].first;
	size_t i;

	for (i = 0; i < plan->rows[row].count; i++)
		if (s[i].first <= page && page < s[i].end)
			return true;
	return false;
}

/* Lie: this row does not conflict with this page. */
static void drop_page(struct kvp_plan *plan, size_t row, uint64_t page)
{
	struct kvp_row *r = &plan->rows[row];
	struct kvp_span *spans, s;
	size_t i, n = 0;

	spans = malloc((plan->nspans + r->count + 1) * sizeof(*spans));
	ck_assert_ptr_nonnull(spans);
	memcpy(spans, plan->spans, plan->nspans * sizeof(*spans));
	for (i = 0; i < r->count; i++) {
		s = plan->spans[r->first + i];
		if (page < s.first || page >= s.end) {
			spans[plan->nspans + n++] = s;
			continue;
		}
		if (s.first < page)
			spans[plan->nspans + n++] =
				(struct kvp_span){ s.first, page };
		if (page + 1 < s.end)
			spans[plan->nspans + n++] =
				(struct kvp_span){ page + 1, s.end };
	}
	free(plan->spans);
	plan->spans = spans;
	r->first = plan->nspans;
	r->count = n;
	plan->nspans += n;
}

/* Rows that hold the page, this one included. */
static size_t holders(const struct kvp_plan *plan, uint64_t page)
{
	size_t row, n = 0;

	for (row = 0; row < plan->nrows; row++)
		n += has_page(plan, row, page);
	return n;
}

START_TEST(a_row_that_hides_a_page_it_has_alone_is_found)
{
	static const char *const lies[] = {
		PLAIN,
		"pages=80;snapshot_rows=7;row_bytes=39001;row_stride=42003",
		"pages=70;snapshot_rows=3;row_bytes=81000;row_stride=81001;"
		"planes=[{'name': 'kv', 'count': 3, 'bytes_per_page': 1023},"
		" {'name': 'x', 'bytes_per_page': 4099}]",
		/* A single byte has to do. */
		"pages=20001;planes=[{'name': 'kv', 'bytes_per_page': 1}]",
	};
	struct rig r, all;
	uint64_t page, step = _i == 3 ? 97 : 1;
	size_t row, found = 0;
	char text[64];

	rig_new(&all, lies[_i], KVP_MERGE_SPAN);
	for (row = 0; row < all.plan.nrows; row++)
		for (page = 0; page < all.plan.geometry.pages; page += step) {
			if (!has_page(&all.plan, row, page) ||
			    holders(&all.plan, page) > 1)
				continue;
			rig_new(&r, lies[_i], KVP_MERGE_SPAN);
			drop_page(&r.plan, row, page);
			snprintf(text, sizeof(text), ", page %llu",
				 (unsigned long long)page);
			check_depth(&r, KVP_CHECK_FULL, KVP_EFAILED, text);
			rig_release(&r);
			found++;
		}
	ck_assert_uint_gt(found, 10);
	rig_release(&all);
}
END_TEST

START_TEST(a_quick_check_finds_a_hidden_page_of_a_granule)
{
	struct rig r;

	rig_new(&r, PLAIN, KVP_MERGE_ROW);
	drop_page(&r.plan, 2, 5);
	check_both(&r, KVP_EFAILED, ": row 2, arena bytes [98304, 131072): "
		   "byte ");
	check_both(&r, KVP_EFAILED, " is not what was written to the row "
		   "after round 1 overwrote pages that do not conflict with "
		   "it; by the plan it is plane kv.");
	rig_release(&r);
}
END_TEST

START_TEST(a_page_that_two_rows_share_is_blocked_until_both_are_free)
{
	struct rig r;
	uint64_t page = 0;

	rig_new(&r, "pages=40;snapshot_rows=7;row_bytes=9001;row_stride=9001",
		KVP_MERGE_NONE);
	while (page < 40 && (!has_page(&r.plan, 2, page) ||
			     !has_page(&r.plan, 3, page)))
		page++;
	ck_assert_uint_lt(page, 40);
	/* Row 2 is released first: row 3 is what has to stand then. */
	drop_page(&r.plan, 3, page);
	check_depth(&r, KVP_CHECK_FULL, KVP_EFAILED, ": row 3, arena bytes");
	rig_release(&r);
}
END_TEST

START_TEST(an_execution_row_that_shares_memory_with_pages_is_found)
{
	struct rig r;

	/* Row 0 and its pages, taken for an execution row. */
	rig_new(&r, PLAIN, KVP_MERGE_ROW);
	r.plan.geometry.execution_rows = 2;
	r.plan.geometry.snapshot_rows = 0;
	check_both(&r, KVP_EFAILED, ": execution row 1, arena bytes "
		   "[32768, 65536): byte 32768 is not what was written");
	rig_release(&r);
}
END_TEST

/* How often each byte is filled, as a watching backend sees it. */
struct fills {
	const struct rig *rig;
	size_t plane;		/* PLANES: the arena */
	unsigned *fills;
	uint64_t bytes;
	bool synced;		/* since the last fill */
};

static int let_go(void *cookie, struct kvp_error *err)
{
	(void)cookie;
	(void)err;
	return KVP_OK;
}

static void count_fills(void *cookie, const struct watch_call *call)
{
	struct fills *w = cookie;
	uint64_t base = w->plane < PLANES ? w->rig->planes[0][w->plane] :
					    w->rig->arena[0];
	uint64_t i;

	if (!strcmp(call->name, "match"))
		ck_assert(w->synced);
	if (!strcmp(call->name, "synchronize"))
		w->synced = true;
	if (strcmp(call->name, "fill"))
		return;
	w->synced = false;
	ck_assert_uint_gt(call->bytes, 0);
	for (i = call->address; i < call->address + call->bytes; i++)
		if (i >= base && i < base + w->bytes)
			w->fills[i - base]++;
}

static unsigned *fills_of(struct rig *r, size_t plane, enum kvp_check depth)
{
	static const struct watch_hooks hooks = { let_go, count_fills };
	struct fills w = { .rig = r, .plane = plane };
	struct backend_watch watch;
	struct kvp_error err = { 0 };

	w.bytes = plane < PLANES ? backing(r, plane) : r->arena_bytes;
	w.fills = calloc(w.bytes, sizeof(*w.fills));
	ck_assert_ptr_nonnull(w.fills);
	backend_watch_init(&watch, r->backend, &hooks, &w);
	r->checked = &watch.base;
	must(check_rank(r, 0, depth, &err), &err);
	r->checked = r->backend;
	return w.fills;
}

START_TEST(rows_beyond_the_geometry_and_false_pages_touch_nothing)
{
	struct rig r;
	struct kvp_span *span;
	unsigned *fills;
	uint64_t i;

	rig_new(&r, PLAIN, KVP_MERGE_ROW);
	/* The arena is large enough; the geometry knows one row less. */
	r.plan.geometry.snapshot_rows--;
	check_both(&r, KVP_OK, "");
	realize(&r);
	fills = fills_of(&r, PLANES, KVP_CHECK_FULL);
	for (i = 6 * 32768; i < r.arena_bytes; i++)
		ck_assert_uint_eq(fills[i], 0);
	free(fills);
	kvp_backend_close(r.backend);
	span = &r.plan.spans[r.plan.rows[0].first];
	span->end = r.plan.geometry.pages + 1;
	check_both(&r, KVP_EINPUT, "");
	rig_release(&r);
}
END_TEST

#define PADDED \
	"pages=33;snapshot_rows=7;execution_rows=1;row_bytes=9001;" \
	"row_stride=12003;planes=[{'name': 'kv', 'count': 3," \
	" 'bytes_per_page': 1023}, {'name': 'x', 'bytes_per_page': 4099}]"

START_TEST(a_full_check_writes_every_page_and_leaves_the_tail_alone)
{
	struct rig r;
	unsigned *fills;
	uint64_t i, pages;
	size_t plane;

	rig_new(&r, PADDED, KVP_MERGE_ROW);
	realize(&r);
	for (plane = 0; plane < r.plan.geometry.nplanes; plane++) {
		fills = fills_of(&r, plane, KVP_CHECK_FULL);
		pages = 33 * r.plan.geometry.planes[plane].bytes_per_page;
		ck_assert_uint_lt(pages, backing(&r, plane));
		for (i = 0; i < pages; i++)
			ck_assert_uint_ge(fills[i], 2);
		for (; i < backing(&r, plane); i++)
			ck_assert_uint_eq(fills[i], 1);
		free(fills);
	}
	kvp_backend_close(r.backend);
	rig_release(&r);
}
END_TEST

START_TEST(rows_are_written_once_and_their_padding_never)
{
	struct rig r;
	unsigned *fills, row, below;
	uint64_t i;

	rig_new(&r, PADDED, KVP_MERGE_ROW);
	realize(&r);
	fills = fills_of(&r, PLANES, KVP_CHECK_FULL);
	for (i = 0; i < r.arena_bytes; i++) {
		row = i % 12003 < 9001 && i / 12003 < 8;
		below = i < r.plan.dedicated_bytes;
		ck_assert_uint_eq(fills[i], row + below);
	}
	free(fills);
	kvp_backend_close(r.backend);
	rig_release(&r);
}
END_TEST

START_TEST(a_quick_check_writes_both_ends_of_every_granule_a_row_touches)
{
	struct rig r;
	unsigned *fills, edge;
	uint64_t i, begin, end, from, to;

	rig_new(&r, PADDED, KVP_MERGE_ROW);
	realize(&r);
	fills = fills_of(&r, PLANES, KVP_CHECK_QUICK);
	for (i = r.plan.dedicated_bytes; i < r.arena_bytes; i++) {
		begin = i / 12003 * 12003;
		end = begin + 9001;
		from = i / G * G > begin ? i / G * G : begin;
		to = i / G * G + G < end ? i / G * G + G : end;
		edge = i < end && i / 12003 < 8 &&
		       (i - from < 16 || to - i <= 16);
		ck_assert_uint_eq(fills[i], edge);
	}
	free(fills);
	kvp_backend_close(r.backend);
	rig_release(&r);
}
END_TEST

START_TEST(every_failing_call_is_handed_on_with_its_place)
{
	struct kvp_fault fault = {
		.ops = KVP_OP_FILL | KVP_OP_MATCH | KVP_OP_SYNCHRONIZE,
		.code = KVP_EDRIVER,
	};
	struct kvp_error err = { 0 };
	struct kvp_backend *faulty;
	const char *front = "alias check: rank 1: ";
	uint64_t n = 0;
	struct rig r;
	int code;

	rig_new(&r, "", KVP_MERGE_ROW);
	realize(&r);
	must(kvp_backend_fault(&faulty, r.backend, &fault, &err), &err);
	r.checked = faulty;
	do {
		fault.countdown = ++n;
		code = check_rank(&r, 1, KVP_CHECK_QUICK, &err);
		ck_assert(code == KVP_EDRIVER || !code);
		ck_assert(!code || !strncmp(err.text, front, strlen(front)));
	} while (code);
	ck_assert_uint_gt(n, 50);
	kvp_backend_close(faulty);
	kvp_backend_close(r.backend);
	rig_release(&r);
}
END_TEST

static int stop(void *cookie, struct kvp_error *err)
{
	(void)cookie;
	return kvp_error_set(err, KVP_EINTERRUPTED, "stopped");
}

static void never(void *cookie, const struct watch_call *call)
{
	(void)cookie;
	ck_abort_msg("%s was called", call->name);
}

START_TEST(an_interrupt_stops_the_check)
{
	static const struct watch_hooks hooks = { stop, never };
	struct kvp_error err = { 0 };
	struct backend_watch watch;
	struct rig r;

	rig_new(&r, "", KVP_MERGE_ROW);
	realize(&r);
	backend_watch_init(&watch, r.backend, &hooks, NULL);
	r.checked = &watch.base;
	ck_assert_int_eq(check_rank(&r, 0, KVP_CHECK_FULL, &err),
			 KVP_EINTERRUPTED);
	ck_assert_int_eq(check_rank(&r, 0, KVP_CHECK_FULL, NULL),
			 KVP_EINTERRUPTED);
	kvp_backend_close(r.backend);
	rig_release(&r);
}
END_TEST

START_TEST(a_wrong_byte_without_an_error_struct_still_gives_the_code)
{
	struct rig r;

	rig_new(&r, PLAIN, KVP_MERGE_NONE);
	swap(&r.in_arena[1], &r.in_arena[2]);
	realize(&r);
	ck_assert_int_eq(check_rank(&r, 0, KVP_CHECK_FULL, NULL),
			 KVP_EFAILED);
	kvp_backend_close(r.backend);
	rig_release(&r);
}
END_TEST

START_TEST(any_two_chunks_swapped_are_found)
{
	size_t i, j;
	struct rig r;

	rig_new(&r, "snapshot_rows=5", KVP_MERGE_NONE);
	for (i = 0; i < r.plan.nchunks; i++)
		for (j = i + 1; j < r.plan.nchunks; j++) {
			if (r.plan.chunks[j].arena == KVP_UNALIASED ||
			    r.plan.chunks[i].bytes != r.plan.chunks[j].bytes)
				continue;
			swap(&r.in_arena[i], &r.in_arena[j]);
			check_both(&r, KVP_EFAILED, "; it holds what was "
				   "written to plane ");
			swap(&r.in_arena[i], &r.in_arena[j]);
		}
	rig_release(&r);
}
END_TEST

Suite *alias_check_suite(void)
{
	Suite *suite = suite_create("alias_check");
	TCase *t = tcase_create("alias_check");

	tcase_set_timeout(t, 60);
	tcase_add_test(t,
		patterns_are_distinct_and_rows_differ_from_pages_in_every_byte);
	tcase_add_loop_test(t, right_mappings_pass_merged_and_unmerged, 0,
			    GEOMETRIES);
	tcase_add_test(t, two_chunks_swapped_in_the_arena_are_found);
	tcase_add_test(t, two_merged_chunks_swapped_in_the_arena_are_found);
	tcase_add_test(t,
		two_chunks_swapped_in_both_views_are_the_plan_all_the_same);
	tcase_add_test(t, any_two_chunks_swapped_are_found);
	tcase_add_test(t, aliases_one_granule_off_are_found);
	tcase_add_test(t, two_places_with_the_same_memory_are_found);
	tcase_add_test(t, an_alias_with_the_memory_of_another_is_found);
	tcase_add_test(t, an_alias_with_memory_of_nobody_is_found);
	tcase_add_test(t,
		a_reader_without_access_is_told_with_the_failing_call);
	tcase_add_loop_test(t, a_row_that_hides_a_page_it_has_alone_is_found,
			    0, 4);
	tcase_add_test(t, a_quick_check_finds_a_hidden_page_of_a_granule);
	tcase_add_test(t,
		a_page_that_two_rows_share_is_blocked_until_both_are_free);
	tcase_add_test(t,
		an_execution_row_that_shares_memory_with_pages_is_found);
	tcase_add_test(t,
		rows_beyond_the_geometry_and_false_pages_touch_nothing);
	tcase_add_test(t,
		a_full_check_writes_every_page_and_leaves_the_tail_alone);
	tcase_add_test(t, rows_are_written_once_and_their_padding_never);
	tcase_add_test(t,
		a_quick_check_writes_both_ends_of_every_granule_a_row_touches);
	tcase_add_test(t, every_failing_call_is_handed_on_with_its_place);
	tcase_add_test(t, an_interrupt_stops_the_check);
	tcase_add_test(t,
		a_wrong_byte_without_an_error_struct_still_gives_the_code);
	suite_add_tcase(suite, t);
	return suite;
}
