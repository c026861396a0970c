/*
 * Applying the limits of a node to a geometry, and releasing them.
 */
#include <assert.h>
#include <stdlib.h>

#include <kvplan/limits.h>

#include "base/error.h"
#include "base/u64.h"

uint64_t kvp_limits_entry_limit(const struct kvp_limits *limits,
				const struct kvp_geometry *g)
{
	uint64_t limit = KVP_ENTRIES_MAX;

	assert(g);
	if (!limits || !limits->entries_counted)
		return g->entry_limit;
	(void)u64_add(limits->entries_free, g->static_entries, &limit);
	return u64_max(u64_min(limit, KVP_ENTRIES_MAX), g->entry_reserve);
}

int kvp_limits_check(const struct kvp_limits *limits,
		     const struct kvp_geometry *g, struct kvp_error *err)
{
	const struct kvp_limits_device *d;
	size_t i;

	assert(limits && g);
	for (i = 0; i < limits->ndevices; i++) {
		d = &limits->devices[i];
		if (d->granularity && g->granularity % d->granularity == 0)
			continue;
		return kvp_error_set(err, KVP_EREFUSED,
			"the granularity is %llu bytes, but %s of the limits "
			"allocates in multiples of %llu; plan with "
			"granularity %llu",
			(ull)g->granularity, d->label,
			(ull)d->granularity,
			(ull)u64_max(g->granularity,
						    d->granularity));
	}
	return KVP_OK;
}

void kvp_limits_release(struct kvp_limits *limits)
{
	assert(limits);
	free(limits->devices);
	free(limits->peers);
	*limits = (struct kvp_limits){ .driver = "" };
}
