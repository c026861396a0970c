/*
 * Sizing: the most pages whose bytes, with everything else that takes memory,
 * are within a budget, and the rows that these pages can alias.
 * measure_pages() computes the bytes of a number of pages.  They never fall
 * when the pages grow, so the rest is binary searches over it.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include <kvplan/size.h>

#include "base/error.h"
#include "base/u64.h"
#include "model/geometry_check.h"
#include "model/number.h"
#include "plan/layout.h"

/* Compute the terms that do not depend on the pages. */
static int measure_fixed(struct kvp_size *s, const struct kvp_geometry *g,
			 struct kvp_error *err)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < g->nstatics; i++)
		if (!u64_round_up(g->statics[i].bytes, g->granularity,
				  &bytes) ||
		    !number_add(s->static_bytes, bytes, &s->static_bytes))
			return kvp_error_set(err, KVP_ELIMIT,
				"/static: the bytes of all items, each "
				"rounded up to the granularity, %llu"
				", are more than 9007199254740991 (2^53 - 1); "
				"a smaller granularity makes them fewer",
				(ull)g->granularity);
	if (!number_mul(g->execution_rows, g->row_stride, &bytes) ||
	    !u64_round_up(bytes, g->granularity, &s->dedicated_bytes) ||
	    s->dedicated_bytes > KVP_NUMBER_MAX)
		return kvp_error_set(err, KVP_ELIMIT, "/execution_rows: "
			"%llu rows of %llu bytes are more than "
			"9007199254740991 (2^53 - 1)",
			(ull)g->execution_rows, (ull)g->row_stride);
	return KVP_OK;
}

/*
 * Compute the terms that depend on the pages.  False if one of them is larger
 * than a number of a document.
 */
static bool measure_pages(struct kvp_size *s, const struct kvp_geometry *g,
			  uint64_t pages)
{
	uint64_t bytes, planes = 0;
	size_t i;

	s->pages = pages;
	s->page_bytes = 0;
	for (i = 0; i < g->nplanes; i++) {
		if (!number_mul(pages, g->planes[i].bytes_per_page, &bytes))
			return false;
		s->page_bytes += bytes;
		if (!u64_round_up(bytes, g->granularity, &bytes) ||
		    !number_add(planes, bytes, &planes))
			return false;
	}
	s->rounding_bytes = planes - s->page_bytes;
	if (!number_mul(pages, g->page_tokens, &s->kv_tokens) ||
	    !number_mul(s->kv_tokens, g->dcp_group_size, &s->kv_tokens) ||
	    !number_mul(pages, g->page_overhead_bytes, &s->overhead_bytes))
		return false;
	/* Four terms below 2^53 do not overflow. */
	s->used_bytes = planes + s->dedicated_bytes + s->static_bytes +
			s->overhead_bytes;
	return true;
}

/* Find the most pages that can be stated and use at most this many bytes. */
static uint64_t find_most_pages(const struct kvp_size *fixed,
				const struct kvp_geometry *g, uint64_t bytes)
{
	struct kvp_size s = *fixed;
	uint64_t low = 0, mid;
	uint64_t high = u64_min(bytes, KVP_NUMBER_MAX) /
			g->planes[0].bytes_per_page;

	assert(g->nplanes && g->planes[0].bytes_per_page);
	while (low < high) {
		mid = low + (high - low + 1) / 2;
		if (measure_pages(&s, g, mid) && s.used_bytes <= bytes)
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

/* Count the aliased backing of a number of pages that can be stated. */
static uint64_t count_aliased_bytes(const struct kvp_geometry *g,
				    uint64_t pages)
{
	uint64_t bytes = 0, total = 0;
	size_t i;

	for (i = 0; i < g->nplanes; i++)
		if (g->planes[i].alias &&
		    u64_round_up(pages * g->planes[i].bytes_per_page,
				 g->granularity, &bytes))
			total += bytes;
	return total;
}

/* Find the fewest pages that alias this many snapshot rows; 0: none do. */
static uint64_t find_fewest_pages(const struct kvp_size *s,
				  const struct kvp_geometry *g, uint64_t rows)
{
	uint64_t low = 1, high = find_most_pages(s, g, KVP_NUMBER_MAX);
	uint64_t mid, need;

	if (!u64_add(rows, g->execution_rows, &need) || need > KVP_ROWS_MAX ||
	    !number_mul(need, g->row_stride, &need) ||
	    s->dedicated_bytes + count_aliased_bytes(g, high) < need)
		return 0;
	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->dedicated_bytes + count_aliased_bytes(g, mid) >= need)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void find_rows(struct kvp_size *s, const struct kvp_geometry *g,
		      uint64_t asked)
{
	uint64_t rows;

	assert(g->execution_rows <= KVP_ROWS_MAX);
	if (!g->row_bytes)
		return;
	rows = (s->dedicated_bytes + count_aliased_bytes(g, s->pages)) /
	       g->row_stride;
	assert(rows >= g->execution_rows);	/* D holds all of them */
	s->rows_that_fit = rows - g->execution_rows;
	/* Their end is within used_bytes, so it can be stated. */
	s->snapshot_rows = u64_min(u64_min(s->rows_that_fit, asked),
				   KVP_ROWS_MAX - g->execution_rows);
	if (asked != KVP_UNSTATED && s->snapshot_rows < asked)
		s->pages_for_snapshots = find_fewest_pages(s, g, asked);
}

static void set_budget(struct kvp_size *s, const struct kvp_size_wish *wish)
{
	uint64_t usable;
	size_t i;

	if (!wish->nfree)
		return;
	s->bounded = true;
	for (i = 1; i < wish->nfree; i++)
		if (wish->free_bytes[i] < wish->free_bytes[s->rank])
			s->rank = (uint32_t)i;
	assert(s->rank < wish->nfree);
	s->free_bytes = wish->free_bytes[s->rank];
	usable = kvp_memory_limit_apply(&wish->limit, s->free_bytes);
	/* The reserve is reported as asked for, even if less is free. */
	s->reserve_bytes = wish->limit.kind == KVP_LIMIT_LEAVE ?
			   wish->limit.bytes : s->free_bytes - usable;
	s->cache_bytes = wish->cache_bytes;
	s->budget_bytes = usable > s->cache_bytes ?
			  usable - s->cache_bytes : 0;
}

/* Count the execution rows whose dedicated backing fits into what `others`
   leave of the budget. */
static uint64_t count_execution_rows(const struct kvp_size *s,
				     const struct kvp_geometry *g,
				     uint64_t others)
{
	uint64_t left = s->budget_bytes > others ?
			s->budget_bytes - others : 0;

	return left / g->granularity * g->granularity / g->row_stride;
}

/* Write the nearest settings that fit, for an error. */
static void write_nearest(char *text, size_t size, const struct kvp_size *s,
			  const struct kvp_geometry *g, uint64_t fit,
			  uint64_t asked)
{
	struct kvp_size one = *s;
	uint64_t without, with;

	/* The pages that fit, or one, can be stated. */
	(void)measure_pages(&one, g, fit ? fit : 1);
	if (fit) {
		snprintf(text, size, "%llu pages (%llu tokens) "
			 "fit; asked %llu", (ull)fit, (ull)one.kv_tokens,
			 (ull)asked);
		return;
	}
	if (!g->execution_rows) {
		snprintf(text, size, "no page fits");
		return;
	}
	without = count_execution_rows(s, g, s->static_bytes);
	with = count_execution_rows(s, g, one.used_bytes -
				    s->dedicated_bytes);
	if (without < g->execution_rows)
		snprintf(text, size, "%llu execution rows fit with no "
			 "KV; asked %llu; %llu fit with 1 page",
			 (ull)without, (ull)g->execution_rows, (ull)with);
	else
		snprintf(text, size, "no page fits beside %llu"
			 " execution rows; %llu fit with 1 page",
			 (ull)g->execution_rows, (ull)with);
}

/* Fail with every term of pages over the budget, and with what would fit. */
static int fail_does_not_fit(const struct kvp_size *s,
			     const struct kvp_geometry *g,
			     const struct kvp_size_wish *wish, uint64_t fit,
			     struct kvp_error *err)
{
	char nearest[256], budget[256], rank[32] = "every rank";

	assert(s->bounded && s->used_bytes > s->budget_bytes);
	if (wish->nfree > 1)
		snprintf(rank, sizeof(rank), "rank %u", s->rank);
	write_nearest(nearest, sizeof(nearest), s, g, fit, s->pages);
	snprintf(budget, sizeof(budget), "%s has %llu"
		 " bytes free, less reserve %llu and cache %llu"
		 " a budget of %llu", rank, (ull)s->free_bytes,
		 (ull)s->reserve_bytes, (ull)s->cache_bytes,
		 (ull)s->budget_bytes);
	return kvp_error_set(err, KVP_EINFEASIBLE,
		"%s: %s; %llu page%s need%s %llu, which is %llu"
		" more: planes %llu, rounding %llu"
		", dedicated %llu, static %llu"
		", page overhead %llu", nearest, budget, (ull)s->pages,
		s->pages == 1 ? "" : "s", s->pages == 1 ? "s" : "",
		(ull)s->used_bytes, (ull)(s->used_bytes - s->budget_bytes),
		(ull)s->page_bytes, (ull)s->rounding_bytes,
		(ull)s->dedicated_bytes,
		(ull)s->static_bytes, (ull)s->overhead_bytes);
}

/* Fail because of a term that cannot be stated; with a budget, `fit` pages
   are within it. */
static int fail_cannot_be_stated(const struct kvp_size *s,
				 const struct kvp_geometry *g, uint64_t pages,
				 uint64_t fit, struct kvp_error *err)
{
	uint64_t can = find_most_pages(s, g, KVP_NUMBER_MAX);

	if (!can)
		return kvp_error_set(err, KVP_ELIMIT, "the bytes or tokens "
			"of even one page, with everything beside it, are "
			"more than 9007199254740991 (2^53 - 1)");
	return kvp_error_set(err, KVP_ELIMIT, "the bytes or tokens of %llu"
		" pages, with everything beside them, are more than "
		"9007199254740991 (2^53 - 1); %llu pages %s", (ull)pages,
		(ull)(s->bounded ? fit : can),
		s->bounded ? "fit the budget" : "can be stated");
}

static int find_pages(struct kvp_size *s, const struct kvp_geometry *g,
		      const struct kvp_size_wish *wish, struct kvp_error *err)
{
	uint64_t asked = wish->pages;
	uint64_t bytes = s->bounded ? s->budget_bytes : KVP_NUMBER_MAX;
	uint64_t fit = find_most_pages(s, g, bytes);
	uint64_t pages = asked ? asked : fit ? fit : 1;

	if (!measure_pages(s, g, pages) ||
	    (!s->bounded && s->used_bytes > KVP_NUMBER_MAX))
		return fail_cannot_be_stated(s, g, pages, fit, err);
	if (s->bounded && s->used_bytes > s->budget_bytes)
		return fail_does_not_fit(s, g, wish, fit, err);
	assert(s->pages == pages);
	if (s->bounded)
		s->left_bytes = s->free_bytes - s->used_bytes;
	return KVP_OK;
}

/* Check what reading the sized geometry checks; recorded addresses may be too
   close together for this many pages. */
static int check_readable(const struct kvp_geometry *sized,
			  struct kvp_error *err)
{
	struct geometry_fault fault = { .path = "" };
	const char *cure = "";
	int code = geometry_check(sized, &fault);

	if (!code) {
		code = geometry_check_addresses(sized, &fault);
		cure = " need other addresses; fewer pages or no addresses "
		       "help: recorded addresses";
	}
	if (!code)
		return KVP_OK;
	if (code == KVP_ENOMEM)
		return kvp_error_nomem(err);
	return kvp_error_set(err, KVP_ELIMIT, "%llu pages and %llu"
		" snapshot rows%s: %s: %s", (ull)sized->pages,
		(ull)sized->snapshot_rows, cure, *fault.path ? fault.path : "/",
		fault.error.text);
}

/* Check that the sized geometry can be read and planned. */
static int check_sized(const struct kvp_size *s, const struct kvp_geometry *g,
		       struct kvp_error *err)
{
	struct kvp_geometry sized = *g;
	struct layout l = { 0 };
	int code;

	kvp_size_apply(s, NULL, &sized);
	code = layout_make(&l, &sized, err);
	layout_release(&l);
	if (code == KVP_ELIMIT)
		return kvp_error_wrap(err, code, "sized to %llu pages "
			"and %llu snapshot rows (fewer rows help as "
			"well)", (ull)s->pages, (ull)s->snapshot_rows);
	return code ? code : check_readable(&sized, err);
}

void kvp_size_wish_init(struct kvp_size_wish *wish)
{
	*wish = (struct kvp_size_wish){ .snapshots = KVP_UNSTATED };
}

static int check_wish(const struct kvp_size_wish *wish,
		      const struct kvp_geometry *g, struct kvp_error *err)
{
	size_t i;

	if (g->base_chunks)
		return kvp_error_set(err, KVP_EINPUT, "/base_chunks: are "
			"recorded for their own pages and rows and cannot be "
			"sized; remove them");
	if (!wish->nfree && !wish->pages)
		return kvp_error_set(err, KVP_EINPUT, "neither free memory "
			"nor a number of pages is stated");
	if (wish->nfree > 1 && wish->nfree != g->ranks)
		return kvp_error_set(err, KVP_EINPUT, "free memory has %zu "
			"values, must be one for all ranks or one for each of "
			"the %llu", wish->nfree, (ull)g->ranks);
	if ((unsigned)wish->limit.kind > KVP_LIMIT_PERCENT)
		return kvp_error_set(err, KVP_EINPUT, "the memory limit's "
			"kind is %d, which is no kind", (int)wish->limit.kind);
	for (i = 0; i < wish->nfree; i++)
		if (wish->free_bytes[i] > KVP_NUMBER_MAX)
			return kvp_error_set(err, KVP_ELIMIT, "rank %zu: %llu"
				" bytes free, must be at most "
				"9007199254740991 (2^53 - 1)", i,
				(ull)wish->free_bytes[i]);
	return KVP_OK;
}

/* Refuse a geometry that no document states, such as one that a program has
   changed. */
static int check_geometry(const struct kvp_geometry *geometry,
			  struct kvp_error *err)
{
	struct kvp_geometry stated = *geometry;

	/* Without row_bytes there is no row, whatever the stride. */
	if (!geometry->row_bytes)
		stated.row_stride = 0;
	return geometry_check_statable(&stated, true, err);
}

int kvp_size_find(struct kvp_size *size, const struct kvp_geometry *geometry,
		  const struct kvp_size_wish *wish, struct kvp_error *err)
{
	struct kvp_size s = { .bounded = false };
	int code = check_wish(wish, geometry, err);

	assert(size);
	*size = s;
	if (!code)
		code = check_geometry(geometry, err);
	if (!code)
		code = measure_fixed(&s, geometry, err);
	if (code)
		return code;
	set_budget(&s, wish);
	code = find_pages(&s, geometry, wish, err);
	if (code)
		return code;
	find_rows(&s, geometry, wish->snapshots);
	code = check_sized(&s, geometry, err);
	if (!code)
		*size = s;
	return code;
}

void kvp_size_apply(const struct kvp_size *size,
		    const struct kvp_cap_override *override,
		    struct kvp_geometry *geometry)
{
	struct kvp_cap cap;

	geometry->pages = size->pages;
	geometry->snapshot_rows = size->snapshot_rows;
	if (!size->snapshot_rows && !geometry->execution_rows)
		geometry->row_bytes = geometry->row_stride = 0;
	geometry->has_headroom = size->bounded;
	geometry->headroom = (struct kvp_headroom){ .free_bytes = 0 };
	if (!size->bounded)
		return;
	cap = kvp_cap_plan(&size->left_bytes, override);
	geometry->headroom = (struct kvp_headroom){
		.free_bytes = size->left_bytes,
		.cap_bytes = cap.bounded ? cap.bytes : 0,
		.bounded = cap.bounded,
	};
}
