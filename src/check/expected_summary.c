/*
 * The true numbers: who reads whom, table entries, tokens, bound.  The
 * geometry's import lists are turned around: imports name whose KV a rank
 * imports, readers name who imports a rank's KV.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/u64.h"
#include "check/bound.h"
#include "check/check.h"

/* Count how often each rank is imported by another, itself included once. */
static size_t count_readers(const struct kvp_geometry *g,
			    struct kvp_ranks *readers)
{
	size_t total = 0, r, i;

	for (r = 0; r < g->ranks; r++)
		readers[r].count = 1;
	for (r = 0; r < g->ranks; r++)
		for (i = 0; i < g->imports[r].count; i++)
			if (g->imports[r].rank[i] != r)
				readers[g->imports[r].rank[i]].count++;
	for (r = 0; r < g->ranks; r++)
		total += readers[r].count;
	return total;
}

static int find_readers(struct check *c, struct kvp_error *err)
{
	const struct kvp_geometry *g = c->geometry;
	uint32_t *pool, r, owner;
	size_t i;

	c->readers = calloc((size_t)g->ranks, sizeof(*c->readers));
	if (!c->readers)
		return kvp_error_nomem(err);
	pool = malloc(count_readers(g, c->readers) * sizeof(*pool));
	if (!pool)
		return kvp_error_nomem(err);
	c->reader_pool = pool;
	for (r = 0; r < g->ranks; r++) {
		c->readers[r].rank = pool;
		pool += c->readers[r].count;
		c->readers[r].count = 0;
	}
	/* Readers come in ascending order, so the lists are ascending. */
	for (r = 0; r < g->ranks; r++) {
		c->readers[r].rank[c->readers[r].count++] = r;
		for (i = 0; i < g->imports[r].count; i++) {
			owner = g->imports[r].rank[i];
			if (owner == r)
				continue;
			assert(owner < g->ranks);
			c->readers[owner].rank[c->readers[owner].count++] = r;
		}
	}
	return KVP_OK;
}

/* Entries that static storage takes on one node. */
static uint64_t static_entries(const struct kvp_geometry *g)
{
	uint64_t per_rank = 0;
	size_t i;

	for (i = 0; i < g->nstatics; i++) {
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
	}
	return per_rank * g->ranks_per_node + g->static_entries;
}

static int count_entries(struct check *c, struct kvp_error *err)
{
	const struct kvp_geometry *g = c->geometry;
	struct kvp_summary *t = &c->truth;
	size_t r, node;

	t->nper_rank = (size_t)g->ranks;
	t->nper_node = (size_t)(g->ranks / g->ranks_per_node);
	t->per_rank = calloc(t->nper_rank, sizeof(*t->per_rank));
	t->per_node = calloc(t->nper_node, sizeof(*t->per_node));
	if (!t->per_rank || !t->per_node)
		return kvp_error_nomem(err);
	for (node = 0; node < t->nper_node; node++)
		t->per_node[node] = static_entries(g);
	for (r = 0; r < t->nper_rank; r++) {
		t->per_rank[r] = c->plan->nchunks * c->readers[r].count +
				 c->naliased + (c->base.dedicated > 0);
		t->per_node[r / g->ranks_per_node] += t->per_rank[r];
	}
	assert(g->entry_reserve <= g->entry_limit);
	t->limit = g->entry_limit - g->entry_reserve;
	return KVP_OK;
}

int check_truth_make(struct check *c, struct kvp_error *err)
{
	const struct kvp_geometry *g = c->geometry;
	struct kvp_summary *t = &c->truth;
	int rc;

	t->base_chunks = c->base.nchunks;
	t->chunks = c->plan->nchunks;
	t->physical_bytes = c->base.physical_bytes;
	if (!u64_mul(g->pages, g->page_tokens, &t->kv_tokens) ||
	    !u64_mul(t->kv_tokens, g->dcp_group_size, &t->kv_tokens))
		return kvp_error_set(err, KVP_ELIMIT,
				     "%" PRIu64 " pages of %" PRIu64 " tokens in "
				     "groups of %" PRIu64 " ranks exceed 64 "
				     "bits", g->pages, g->page_tokens,
				     g->dcp_group_size);
	rc = check_lower_bound(&c->base, c->plan->merge, &t->lower_bound, err);
	if (rc)
		return rc;
	t->optimal = t->chunks == t->lower_bound;
	rc = find_readers(c, err);
	if (rc)
		return rc;
	return count_entries(c, err);
}

void check_summary_release(struct kvp_summary *summary)
{
	free(summary->per_rank);
	free(summary->per_node);
	memset(summary, 0, sizeof(*summary));
}
