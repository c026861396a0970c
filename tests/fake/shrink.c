/*
 * Shrinking: whatever can be halved or left out is, as long as the geometry
 * still fails.
 */
#include <stdlib.h>
#include <string.h>

#include <kvplan/geometry.h>

#include "fake/shrink.h"

static void one_rank(struct kvp_geometry *g)
{
	struct kvp_ranks *lists[2] = { g->declared_readers, g->imports };
	uint64_t i;
	int k;

	for (k = 0; k < 2; k++) {
		for (i = 1; i < g->ranks; i++)
			free(lists[k][i].rank);
		lists[k][0].count = 1;
		lists[k][0].rank[0] = 0;
	}
	g->ranks = g->ranks_per_node = g->dcp_group_size = 1;
}

#define WAYS 12

/* Halve a count or take one off, down to `least`. */
static bool lower(uint64_t *count, uint64_t least, bool by_one)
{
	uint64_t to = by_one ? *count - 1 : *count / 2;

	if (*count <= least || to < least)
		return false;
	*count = to;
	return true;
}

/* One way to make a geometry smaller; false where it changes nothing. */
static bool make_smaller(struct kvp_geometry *g, int way)
{
	bool some;

	switch (way) {
	case 0:
		free(g->base_chunks);
		g->base_chunks = NULL;
		return g->nbase_chunks;
	case 1:
		some = g->ranks > 1;
		one_rank(g);
		return some;
	case 2:
		some = g->nstatics > 0;
		while (g->nstatics)
			free(g->statics[--g->nstatics].name);
		return some;
	case 3:
		some = g->has_headroom;
		g->has_headroom = false;
		return some;
	case 4:
	case 8:
		return lower(&g->pages, 1, way > 7);
	case 5:
	case 9:
		return lower(&g->snapshot_rows, 0, way > 7);
	case 6:
	case 10:
		return lower(&g->execution_rows, 0, way > 7);
	default:
		some = g->nplanes > 1;
		g->nplanes -= way > 7 ? some : g->nplanes / 2;
		return some;
	}
}

/* A smaller text that still fails, or NULL. */
static char *shrink_once(const char *text, int way, shrink_fails *fails,
			 void *cookie)
{
	struct kvp_geometry g = { 0 };
	char *out = NULL;
	size_t len = 0;

	if (kvp_geometry_read(&g, "geometry", text, strlen(text), NULL))
		return NULL;
	if (!make_smaller(&g, way) ||
	    kvp_geometry_write(&g, &out, &len, NULL) ||
	    !fails(out, len, cookie)) {
		free(out);
		out = NULL;
	}
	kvp_geometry_release(&g);
	return out;
}

char *shrink(const char *text, shrink_fails *fails, void *cookie)
{
	char *best = strdup(text), *next = NULL;
	int way = 0;

	while (best && way < WAYS) {
		next = shrink_once(best, way, fails, cookie);
		if (next) {
			free(best);
			best = next;
			way = 0;
		} else {
			way++;
		}
	}
	return best;
}
