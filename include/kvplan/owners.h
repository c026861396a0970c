/*
 * Owners: which KV pages and which snapshot rows of one rank are in use.
 *
 * A snapshot row and its conflicting pages share bytes, so these functions
 * never let both be owned at the same time.  Two rows may conflict with the
 * same page: it stays blocked until both are released.
 *
 * Cost: O(1) for a page, O(number of its conflicting pages) for a row.  The
 * functions do not lock: one thread at a time.
 */
#ifndef KVPLAN_OWNERS_H
#define KVPLAN_OWNERS_H

#include <kvplan/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kvp_owners;

/*
 * Make an object in which all pages and rows of a plan are free.  The plan
 * must stay unchanged until kvp_owners_free(); only its rows and the number
 * of pages are used.  On failure *owners is NULL.
 *
 * Errors: KVP_ENOMEM; KVP_EINPUT if the plan's rows are not in order or name
 * pages that the geometry does not have.
 */
int kvp_owners_new(struct kvp_owners **owners, const struct kvp_plan *plan,
		   struct kvp_error *err);

/* Free the owners.  NULL is allowed. */
void kvp_owners_free(struct kvp_owners *owners);

/*
 * Own a page, or a snapshot row.  On failure nothing changes.
 *
 * Errors: KVP_EBUSY if the page is owned or an owned row conflicts with it,
 * or if the row is owned or one of its conflicting pages is; the text names
 * the row or page that is in the way.  KVP_EINPUT if there is no such page
 * or row.
 */
int kvp_owners_acquire_page(struct kvp_owners *owners, uint64_t page,
			    struct kvp_error *err);
int kvp_owners_acquire_row(struct kvp_owners *owners, uint64_t row,
			   struct kvp_error *err);

/*
 * Release an owned page, or an owned snapshot row.  On failure nothing
 * changes.  Errors: KVP_EBUSY if it is not owned; KVP_EINPUT if there is no
 * such page or row.
 */
int kvp_owners_release_page(struct kvp_owners *owners, uint64_t page,
			    struct kvp_error *err);
int kvp_owners_release_row(struct kvp_owners *owners, uint64_t row,
			   struct kvp_error *err);

/* Whether the page or row can be acquired now; false if there is no such
   page or row. */
bool kvp_owners_page_is_free(const struct kvp_owners *owners, uint64_t page);
bool kvp_owners_row_is_free(const struct kvp_owners *owners, uint64_t row);

#ifdef __cplusplus
}
#endif

#endif
