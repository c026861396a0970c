/*
 * Owners: one word per page and one flag per row.
 *
 * A page's word is 0 if the page is free.  The top bit is set if the page is
 * owned; the other bits count the owned rows that conflict with it.  A page
 * is never both.
 */
#include "realize/owners.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/plan_view.h"

#define OWNED UINT32_C(0x80000000)

/* A plan's rows fit the counter. */
_Static_assert(KVP_ROWS_MAX < OWNED, "a page's word counts rows");

struct kvp_owners {
	const struct kvp_plan *plan;
	uint64_t pages;
	uint64_t rows;
	uint32_t *page;		/* [pages] */
	bool *row;		/* [rows] owned */
};

int kvp_owners_new(struct kvp_owners **owners, const struct kvp_plan *plan,
		   struct kvp_error *err)
{
	struct kvp_owners *o = NULL;
	int code;

	assert(owners && plan);
	*owners = NULL;
	code = plan_check_rows(plan, err);
	if (code)
		goto done;
	code = KVP_ENOMEM;
	o = calloc(1, sizeof(*o));
	if (!o || plan->geometry.pages > SIZE_MAX / sizeof(*o->page))
		goto done;
	o->plan = plan;
	o->pages = plan->geometry.pages;
	o->rows = plan->nrows;
	o->page = calloc((size_t)o->pages, sizeof(*o->page));
	o->row = calloc(plan->nrows ? plan->nrows : 1, sizeof(*o->row));
	if (!o->page || !o->row)
		goto done;
	code = KVP_OK;
	*owners = o;
	o = NULL;
done:
	kvp_owners_free(o);
	return code == KVP_ENOMEM ? kvp_error_nomem(err) : code;
}

void kvp_owners_free(struct kvp_owners *owners)
{
	if (!owners)
		return;
	free(owners->page);
	free(owners->row);
	free(owners);
}

static int fail_no_such(struct kvp_error *err, const char *what,
			uint64_t number, uint64_t count)
{
	return kvp_error_set(err, KVP_EINPUT,
			     "no %s %llu: there are %llu", what,
			     (ull)number, (ull)count);
}

void owners_check_internal(const struct kvp_owners *owners)
{
	uint32_t *blocked;
	uint64_t page;
	size_t row, i;

	assert(owners && owners->page && owners->row);
	assert(owners->rows == owners->plan->nrows);
	assert(owners->pages == owners->plan->geometry.pages);
	blocked = calloc((size_t)owners->pages, sizeof(*blocked));
	if (!blocked)
		return;
	for (row = 0; row < owners->rows; row++) {
		const struct kvp_row *r = &owners->plan->rows[row];
		const struct kvp_span *span = row_spans(owners->plan, r);

		for (i = 0; owners->row[row] && i < r->count; i++)
			for (page = span[i].first; page < span[i].end; page++)
				blocked[page]++;
	}
	for (page = 0; page < owners->pages; page++)
		assert(owners->page[page] == blocked[page] ||
		       (owners->page[page] == OWNED && !blocked[page]));
	free(blocked);
}

int kvp_owners_acquire_page(struct kvp_owners *owners, uint64_t page,
			    struct kvp_error *err)
{
	assert(owners);
	if (page >= owners->pages)
		return fail_no_such(err, "page", page, owners->pages);
	if (owners->page[page] & OWNED)
		return kvp_error_set(err, KVP_EBUSY,
				     "page %llu is owned", (ull)page);
	if (owners->page[page])
		return kvp_error_set(err, KVP_EBUSY,
				     "page %llu is blocked: owned rows"
				     " that conflict with it: %u", (ull)page,
				     owners->page[page]);
	owners->page[page] = OWNED;
	return KVP_OK;
}

int kvp_owners_release_page(struct kvp_owners *owners, uint64_t page,
			    struct kvp_error *err)
{
	assert(owners);
	if (page >= owners->pages)
		return fail_no_such(err, "page", page, owners->pages);
	if (!(owners->page[page] & OWNED))
		return kvp_error_set(err, KVP_EBUSY,
				     "page %llu is not owned", (ull)page);
	assert(owners->page[page] == OWNED);
	owners->page[page] = 0;
	return KVP_OK;
}

/* The first conflicting page that is owned; false if none is. */
static bool find_owned_page(const struct kvp_owners *owners, uint64_t row,
			    uint64_t *page)
{
	const struct kvp_row *r = &owners->plan->rows[row];
	const struct kvp_span *span = row_spans(owners->plan, r);
	uint64_t p;
	size_t i;

	assert(row < owners->rows && r->row == row);
	for (i = 0; i < r->count; i++)
		for (p = span[i].first; p < span[i].end; p++)
			if (owners->page[p] & OWNED) {
				*page = p;
				return true;
			}
	return false;
}

/* Count one owned row more or less on each of its conflicting pages. */
static void block_pages(struct kvp_owners *owners, uint64_t row, bool more)
{
	const struct kvp_row *r = &owners->plan->rows[row];
	const struct kvp_span *span = row_spans(owners->plan, r);
	uint64_t p;
	size_t i;

	for (i = 0; i < r->count; i++)
		for (p = span[i].first; p < span[i].end; p++) {
			assert(!(owners->page[p] & OWNED));
			assert(more || owners->page[p]);
			owners->page[p] += more ? 1U : UINT32_MAX;
		}
}

int kvp_owners_acquire_row(struct kvp_owners *owners, uint64_t row,
			   struct kvp_error *err)
{
	uint64_t page;

	assert(owners);
	if (row >= owners->rows)
		return fail_no_such(err, "row", row, owners->rows);
	if (owners->row[row])
		return kvp_error_set(err, KVP_EBUSY,
				     "row %llu is owned", (ull)row);
	if (find_owned_page(owners, row, &page))
		return kvp_error_set(err, KVP_EBUSY,
				     "row %llu conflicts with page %llu"
				     ", which is owned", (ull)row, (ull)page);
	block_pages(owners, row, true);
	owners->row[row] = true;
	return KVP_OK;
}

int kvp_owners_release_row(struct kvp_owners *owners, uint64_t row,
			   struct kvp_error *err)
{
	assert(owners);
	if (row >= owners->rows)
		return fail_no_such(err, "row", row, owners->rows);
	if (!owners->row[row])
		return kvp_error_set(err, KVP_EBUSY,
				     "row %llu is not owned", (ull)row);
	block_pages(owners, row, false);
	owners->row[row] = false;
	return KVP_OK;
}

bool kvp_owners_page_is_free(const struct kvp_owners *owners, uint64_t page)
{
	assert(owners);
	return page < owners->pages && !owners->page[page];
}

bool kvp_owners_row_is_free(const struct kvp_owners *owners, uint64_t row)
{
	uint64_t page;

	assert(owners);
	return row < owners->rows && !owners->row[row] &&
	       !find_owned_page(owners, row, &page);
}
