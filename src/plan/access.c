/*
 * Which ranks are granted access, and how many entries that takes in the
 * driver's table: one for every mapping and GPU.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/plan_view.h"
#include "plan/work.h"

/* The readers of a rank are itself and every rank that imports it. */
int access_make(struct kvp_plan *plan, struct kvp_error *err)
{
	const struct kvp_geometry *g = &plan->geometry;
	uint64_t owner, importer;
	struct kvp_ranks *to;
	size_t i;

	plan->access = calloc(g->ranks, sizeof(*plan->access));
	if (!plan->access)
		return kvp_error_nomem(err);
	plan->naccess = g->ranks;
	for (owner = 0; owner < g->ranks; owner++) {
		to = &plan->access[owner].readers;
		plan->access[owner].rank = (uint32_t)owner;
		to->rank = malloc(g->ranks * sizeof(*to->rank));
		if (!to->rank)
			return kvp_error_nomem(err);
	}
	/* Importers ascend, so every list of readers does. */
	for (importer = 0; importer < g->ranks; importer++)
		for (i = 0; i < g->imports[importer].count; i++) {
			owner = g->imports[importer].rank[i];
			to = &plan->access[owner].readers;
			assert(owner < g->ranks && to->count < g->ranks);
			to->rank[to->count++] = (uint32_t)importer;
		}
	return KVP_OK;
}

/* Count the entries of static storage on a node, of all its ranks. */
static uint64_t static_entries(const struct kvp_geometry *g)
{
	uint64_t per_rank = 0;
	size_t i;

	for (i = 0; i < g->nstatics; i++)
		switch (g->statics[i].importers) {
		case KVP_STATIC_NONE:
			per_rank += 1;
			break;
		case KVP_STATIC_GROUP:
			per_rank += g->dcp_group_size;
			break;
		case KVP_STATIC_ALL:
			per_rank += g->ranks_per_node;
			break;
		}
	return g->static_entries + per_rank * g->ranks_per_node;
}

int entries_make(struct kvp_plan *plan, struct kvp_error *err)
{
	const struct kvp_geometry *g = &plan->geometry;
	struct kvp_summary *s = &plan->summary;
	uint64_t nodes = g->ranks / g->ranks_per_node, rank;
	uint64_t aliased = plan_count_aliased(plan);
	size_t i;

	assert(aliased <= plan->nchunks && plan->naccess == g->ranks);
	s->per_rank = malloc(g->ranks * sizeof(*s->per_rank));
	s->per_node = malloc(nodes * sizeof(*s->per_node));
	if (!s->per_rank || !s->per_node)
		return kvp_error_nomem(err);
	s->nper_rank = g->ranks;
	s->nper_node = nodes;
	for (i = 0; i < nodes; i++)
		s->per_node[i] = static_entries(g);
	for (rank = 0; rank < g->ranks; rank++) {
		s->per_rank[rank] =
			plan->nchunks * plan->access[rank].readers.count +
			aliased + (plan->dedicated_bytes != 0);
		s->per_node[rank / g->ranks_per_node] += s->per_rank[rank];
	}
	assert(g->entry_reserve <= g->entry_limit);
	s->limit = g->entry_limit - g->entry_reserve;
	return KVP_OK;
}
