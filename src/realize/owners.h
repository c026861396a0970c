/*
 * A function of owners that only tests call.
 */
#ifndef KVPLAN_REALIZE_OWNERS_H
#define KVPLAN_REALIZE_OWNERS_H

#include <kvplan/owners.h>

/*
 * Assert what always holds: a page is owned or blocked by as many owned rows
 * as conflict with it, never both.  O(pages + conflicting pages).
 */
void owners_check_internal(const struct kvp_owners *owners);

#endif
