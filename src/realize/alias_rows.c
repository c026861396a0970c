/*
 * The alias check's rows: all are written through the arena.  Then each round
 * overwrites every page that no live row conflicts with, checks that every
 * live row is unchanged, and releases half of the live rows.
 *
 * Which pages are free is counted here and by kvp_owners; a difference fails
 * the check.
 */
#include <assert.h>
#include <stdlib.h>

#include <kvplan/owners.h>

#include "base/error.h"
#include "base/u64.h"
#include "model/plan_view.h"
#include "realize/alias_work.h"

struct rounds {
	struct alias *a;
	const struct kvp_geometry *g;
	struct kvp_owners *owners;
	uint32_t *blocked;	/* live rows that conflict with each page */
	size_t *live;		/* indices into the plan's rows */
	size_t nlive;
	unsigned round;
};

static const struct kvp_row *get_live_row(const struct rounds *r, size_t i)
{
	assert(r->live[i] < r->a->plan->nrows);
	return &r->a->plan->rows[r->live[i]];
}

/* Owners that refuse what the plan allows fail the check. */
static int recode_busy(int code, struct kvp_error *err)
{
	return code == KVP_EBUSY ? kvp_error_recode(err, KVP_EFAILED) : code;
}

/* The first byte in the arena of the i-th row, execution rows first. */
static uint64_t get_row_start(const struct rounds *r, uint64_t i)
{
	assert(i < r->g->execution_rows + r->g->snapshot_rows);
	return i * r->g->row_stride;
}

static int write_row(const struct rounds *r, uint64_t i, struct kvp_error *err)
{
	int code = alias_fill(r->a, r->a->rank->arena + get_row_start(r, i),
			      r->g->row_bytes, alias_row_pattern(i), err);

	if (code)
		kvp_error_wrap(err, code, "writing arena row %llu",
			       (ull)i);
	return code;
}

static int match_row(const struct rounds *r, uint64_t i, struct kvp_error *err)
{
	uint64_t bytes = r->g->row_bytes, start = get_row_start(r, i), same = 0;
	uint64_t first = r->g->execution_rows;
	char text[ALIAS_TEXT_MAX];
	int code = alias_match(r->a, r->a->rank->device,
			       r->a->rank->arena + start, bytes,
			       alias_row_pattern(i), &same, err);

	if (code)
		return kvp_error_wrap(err, code, "reading arena row %llu",
				      (ull)i);
	if (same == bytes)
		return KVP_OK;
	alias_describe_byte(r->a->plan, start + same, text);
	return kvp_error_set(err, KVP_EFAILED,
		"%srow %llu, arena bytes [%llu, %llu): byte %llu is not what "
		"was written to the row after round %u overwrote pages that "
		"do not conflict with it; by the plan it is %s",
		i < first ? "execution " : "",
		(ull)(i < first ? i : i - first),
		(ull)start, (ull)(start + bytes),
		(ull)(start + same), r->round, text);
}

/* Add 1 or -1 (UINT32_MAX) to the live rows of each page that a row blocks. */
static void count_blocks(struct rounds *r, const struct kvp_row *row,
			 uint32_t by)
{
	const struct kvp_span *s = row_spans(r->a->plan, row);
	uint64_t page;
	size_t i;

	for (i = 0; i < row->count; i++)
		for (page = s[i].first; page < s[i].end; page++) {
			assert(by == 1 || r->blocked[page]);
			r->blocked[page] += by;
		}
}

static int acquire_rows(struct rounds *r, struct kvp_error *err)
{
	/* Rows that a plan lists beyond the geometry's are not in the arena. */
	size_t i, n = (size_t)u64_min(r->a->plan->nrows, r->g->snapshot_rows);
	const struct kvp_row *row;
	int code;

	for (i = 0; i < n; i++) {
		r->live[i] = i;
		row = get_live_row(r, i);
		code = kvp_owners_acquire_row(r->owners, row->row, err);
		if (code)
			return recode_busy(code, err);
		count_blocks(r, row, 1);
	}
	r->nlive = n;
	return KVP_OK;
}

static int write_rows(const struct rounds *r, struct kvp_error *err)
{
	uint64_t i;
	size_t j;
	int code = KVP_OK;

	for (i = 0; i < r->g->execution_rows && !code; i++)
		code = write_row(r, i, err);
	for (j = 0; j < r->nlive && !code; j++)
		code = write_row(r, r->g->execution_rows +
				 get_live_row(r, j)->row, err);
	return code ? code : alias_synchronize(r->a, err);
}

/* Release every other live row, beginning with the first. */
static int release_half(struct rounds *r, struct kvp_error *err)
{
	const struct kvp_row *row;
	size_t i, kept = 0;
	int code;

	for (i = 0; i < r->nlive; i++) {
		row = get_live_row(r, i);
		if (i % 2) {
			r->live[kept++] = r->live[i];
			continue;
		}
		code = kvp_owners_release_row(r->owners, row->row, err);
		if (code)
			return recode_busy(code, err);
		count_blocks(r, row, UINT32_MAX);
	}
	assert(kept == r->nlive / 2);
	r->nlive = kept;
	return KVP_OK;
}

/* Find the pages [*page, *end) that no live row blocks, from *page on. */
static bool find_free_run(const struct rounds *r, uint64_t *page, uint64_t *end)
{
	uint64_t pages = r->g->pages;

	while (*page < pages && r->blocked[*page])
		++*page;
	for (*end = *page; *end < pages && !r->blocked[*end]; ++*end)
		;
	return *page < pages;
}

static int overwrite_run(struct rounds *r, uint64_t first, uint64_t end,
			 struct kvp_error *err)
{
	uint64_t page, bpp;
	size_t i;
	int code;

	assert(first < end && end <= r->g->pages);
	for (page = first; page < end; page++) {
		code = kvp_owners_acquire_page(r->owners, page, err);
		if (code)
			return recode_busy(code, err);
	}
	r->a->last = r->a->patterns;
	for (i = 0; i < r->g->nplanes; i++) {
		bpp = r->g->planes[i].bytes_per_page;
		code = alias_fill(r->a, r->a->rank->planes[i] + first * bpp,
				  (end - first) * bpp,
				  alias_page_pattern(r->a->patterns++), err);
		if (code)
			return kvp_error_wrap(err, code,
				"writing plane %s pages [%llu, %llu)",
				r->g->planes[i].name,
				(ull)first,
				(ull)end);
	}
	return KVP_OK;
}

static int overwrite_free_pages(struct rounds *r, struct kvp_error *err)
{
	uint64_t page, end;
	int code;

	r->round++;
	for (page = 0; find_free_run(r, &page, &end); page = end) {
		code = overwrite_run(r, page, end, err);
		if (code)
			return code;
	}
	return alias_synchronize(r->a, err);
}

static int release_pages(const struct rounds *r, struct kvp_error *err)
{
	uint64_t page, end;
	int code;

	for (page = 0; find_free_run(r, &page, &end);)
		for (; page < end; page++) {
			code = kvp_owners_release_page(r->owners, page, err);
			if (code)
				return recode_busy(code, err);
		}
	return KVP_OK;
}

static int match_rows(const struct rounds *r, struct kvp_error *err)
{
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < r->nlive && !code; i++)
		code = match_row(r, r->g->execution_rows +
				 get_live_row(r, i)->row, err);
	return code;
}

/* After the last round no row is live and every page is overwritten. */
static int run_rounds(struct rounds *r, struct kvp_error *err)
{
	uint64_t i;
	int code = acquire_rows(r, err);

	assert(!r->round);
	if (!code)
		code = write_rows(r, err);
	while (!code && r->nlive) {
		code = overwrite_free_pages(r, err);
		if (!code)
			code = match_rows(r, err);
		if (!code)
			code = release_pages(r, err);
		if (!code)
			code = release_half(r, err);
	}
	if (!code)
		code = overwrite_free_pages(r, err);
	if (!code)
		code = alias_match_pages(r->a, r->a->rank->device, err);
	for (i = 0; i < r->g->execution_rows && !code; i++)
		code = match_row(r, i, err);
	return code;
}

int alias_rows(struct alias *a, struct kvp_error *err)
{
	const struct kvp_geometry *g = &a->plan->geometry;
	struct rounds r = { .a = a, .g = g };
	int code = kvp_owners_new(&r.owners, a->plan, err);

	if (code)
		return code;
	r.blocked = calloc(g->pages, sizeof(*r.blocked));
	r.live = malloc((a->plan->nrows + 1) * sizeof(*r.live));
	if (r.blocked && r.live)
		code = run_rounds(&r, err);
	else
		code = kvp_error_nomem(err);
	free(r.live);
	free(r.blocked);
	kvp_owners_free(r.owners);
	return code;
}
