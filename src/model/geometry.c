/*
 * The geometry as a noun: copying it and giving it back.
 */
#include <stdlib.h>
#include <string.h>

#include <kvplan/geometry.h>

#include "base/error.h"

static void *duplicate(const void *from, size_t count, size_t size)
{
	void *to = malloc(count * size + 1);	/* never NULL for empty */

	if (to && count)
		memcpy(to, from, count * size);
	return to;
}

static struct kvp_ranks *copy_lists(const struct kvp_ranks *from,
				    uint64_t count)
{
	struct kvp_ranks *to = calloc(count + 1, sizeof(*to));
	uint64_t i;

	for (i = 0; to && i < count; i++) {
		to[i].rank = duplicate(from[i].rank, from[i].count,
				       sizeof(*to[i].rank));
		to[i].count = to[i].rank ? from[i].count : 0;
	}
	return to;
}

static bool lists_are_whole(const struct kvp_ranks *lists, uint64_t count)
{
	uint64_t i;

	for (i = 0; lists && i < count; i++)
		if (!lists[i].rank)
			return false;
	return lists;
}

static bool copy_statics(struct kvp_geometry *dst,
			 const struct kvp_geometry *src)
{
	size_t i;

	dst->statics = calloc(src->nstatics + 1, sizeof(*dst->statics));
	for (i = 0; dst->statics && i < src->nstatics; i++) {
		dst->statics[i] = src->statics[i];
		dst->statics[i].name = strdup(src->statics[i].name);
		dst->nstatics++;
		if (!dst->statics[i].name)
			return false;
	}
	return dst->statics;
}

int kvp_geometry_copy(struct kvp_geometry *dst, const struct kvp_geometry *src,
		      struct kvp_error *err)
{
	bool whole;

	*dst = *src;
	dst->name = strdup(src->name);
	dst->planes = duplicate(src->planes, src->nplanes,
				sizeof(*src->planes));
	dst->declared_readers = copy_lists(src->declared_readers, src->ranks);
	dst->imports = copy_lists(src->imports, src->ranks);
	dst->nstatics = 0;
	whole = copy_statics(dst, src);
	if (src->base_chunks) {
		dst->base_chunks = duplicate(src->base_chunks,
					     src->nbase_chunks,
					     sizeof(*src->base_chunks));
		whole = whole && dst->base_chunks;
	}
	if (whole && dst->name && dst->planes &&
	    lists_are_whole(dst->declared_readers, src->ranks) &&
	    lists_are_whole(dst->imports, src->ranks))
		return KVP_OK;
	kvp_geometry_release(dst);
	return kvp_error_nomem(err);
}

static void free_lists(struct kvp_ranks *lists, uint64_t count)
{
	uint64_t i;

	for (i = 0; lists && i < count; i++)
		free(lists[i].rank);
	free(lists);
}

void kvp_geometry_release(struct kvp_geometry *g)
{
	size_t i;

	for (i = 0; i < g->nstatics; i++)
		free(g->statics[i].name);
	free(g->statics);
	free_lists(g->declared_readers, g->ranks);
	free_lists(g->imports, g->ranks);
	free(g->planes);
	free(g->base_chunks);
	free(g->name);
	*g = (struct kvp_geometry){ 0 };
}

size_t kvp_geometry_sizeof(void)
{
	return sizeof(struct kvp_geometry);
}
