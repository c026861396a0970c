/*
 * Owners: who holds which KV page and which snapshot row of one rank.
 *
 * A snapshot row and its conflicting pages share bytes, so they are never
 * owned at the same time.  Two rows may share a conflicting page: it stays
 * blocked until both are released.  Misuse is an error, never an overlap.
 *
 * Cost: acquiring or releasing a row is O(its conflicting pages), a page
 * O(1).  Not locked: one thread at a time.
 */
#ifndef KVPLAN_OWNERS_H
#define KVPLAN_OWNERS_H

#include <kvplan/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kvp_owners;

/*
 * All pages and rows free.  The plan must outlive the owners; only its rows
 * are used.  Errors: KVP_ENOMEM; KVP_EINPUT where a row names pages that the
 * geometry does not have.
 */
int kvp_owners_new(struct kvp_owners **owners, const struct kvp_plan *plan,
		   struct kvp_error *err);
void kvp_owners_free(struct kvp_owners *owners);

/*
 * KVP_EBUSY: the page is owned or a row that is owned blocks it; the row is
 * owned or one of its conflicting pages is (the text names it).  Nothing
 * changed then.  KVP_EINPUT: no such page or row.
 */
int kvp_owners_acquire_page(struct kvp_owners *owners, uint64_t page,
			    struct kvp_error *err);
int kvp_owners_acquire_row(struct kvp_owners *owners, uint64_t row,
			   struct kvp_error *err);

/* KVP_EBUSY: it is not owned.  KVP_EINPUT: no such page or row. */
int kvp_owners_release_page(struct kvp_owners *owners, uint64_t page,
			    struct kvp_error *err);
int kvp_owners_release_row(struct kvp_owners *owners, uint64_t row,
			   struct kvp_error *err);

/* May it be acquired now?  False for one that does not exist. */
bool kvp_owners_page_is_free(const struct kvp_owners *owners, uint64_t page);
bool kvp_owners_row_is_free(const struct kvp_owners *owners, uint64_t row);

#ifdef __cplusplus
}
#endif

#endif
