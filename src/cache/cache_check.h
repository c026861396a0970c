/*
 * A function of the allocation cache that it and tests call.
 */
#ifndef KVPLAN_CACHE_CACHE_CHECK_H
#define KVPLAN_CACHE_CACHE_CHECK_H

#include <kvplan/alloc_cache.h>

/* Assert the invariants of its blocks and counters.  O(blocks). */
void cache_check_internal(const struct kvp_alloc_cache *c);

#endif
