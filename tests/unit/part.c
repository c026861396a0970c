/*
 * Parts of a joint realization without its processes: what a process imports
 * is set by hand.
 */
#include "unit/part.h"

#include <stdlib.h>
#include <string.h>

#include "realize/realization.h"

#define RANKS 8
#define PLANES 8

struct imports {
	struct kvp_access_record records[RANKS * PLANES];
	uint32_t readers[RANKS][RANKS];
	uint64_t free[RANKS][RANKS];
};

/* Add what the ranks realized here read of another rank. */
static void import_rank(struct kvp_realization *r, struct imports *in,
			uint32_t owner, part_free *free_of)
{
	const struct kvp_ranks *all = &r->plan->access[owner].readers;
	struct kvp_access_record *record;
	size_t i, count = 0;
	uint32_t plane;

	for (i = 0; i < all->count; i++) {
		if (!kvp_realization_plane(r, all->rank[i], 0))
			continue;
		in->free[owner][count] = free_of(all->rank[i]);
		in->readers[owner][count++] = all->rank[i];
	}
	for (plane = 0; count && plane < geometry_of(r)->nplanes; plane++) {
		record = &in->records[r->nimport_records++];
		record->rank = owner;
		record->plane = plane;
		record->nreaders = count;
		record->readers = in->readers[owner];
		record->entries = count * (r->plane_first[plane + 1] -
					   r->plane_first[plane]);
		record->free_before = record->free_after = in->free[owner];
		r->watch.entries += record->entries;
	}
}

char *part_text(struct kvp_realization *r, const char *node,
		part_free *free_of)
{
	struct imports *in = calloc(1, sizeof(*in));
	uint64_t entries = r->watch.entries;
	char *text = NULL;
	uint32_t owner;
	size_t len;

	if (!in || geometry_of(r)->ranks > RANKS ||
	    geometry_of(r)->nplanes > PLANES)
		abort();
	r->share_id = UINT64_C(0xabcdef0123456789);
	strcpy(r->node, node);
	r->import_records = in->records;
	for (owner = 0; owner < geometry_of(r)->ranks; owner++)
		if (!kvp_realization_plane(r, owner, 0))
			import_rank(r, in, owner, free_of);
	if (kvp_realization_write(r, true, &text, &len, NULL))
		abort();
	r->share_id = 0;
	r->import_records = NULL;
	r->nimport_records = 0;
	r->watch.entries = entries;
	free(in);
	return text;
}
