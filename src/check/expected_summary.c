/*
 * The summary that a plan must state: table entries, tokens, bound; and the
 * readers of every rank.  An import list has the ranks that a rank reads;
 * here they become the ranks that read a rank.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/u64.h"
#include "check/bound.h"
#include "check/check.h"

/* Count the readers of each rank: itself and the ranks that import it. */
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
	/* Readers are added in ascending order, so every list is ascending. */
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

/* Is a static item of `owner` mapped for the GPU of `reader`? */
static bool is_static_reader(const struct kvp_geometry *g,
			     enum kvp_static_importers importers,
			     uint64_t owner, uint64_t reader)
{
	switch (importers) {
	case KVP_STATIC_NONE:
		return reader == owner;
	case KVP_STATIC_GROUP:
		return reader / g->dcp_group_size == owner / g->dcp_group_size;
	case KVP_STATIC_ALL:
		return reader / g->ranks_per_node == owner / g->ranks_per_node;
	}
	return false;
}

/*
 * Count the entries of static storage on one node: an item has a mapping for
 * every owner, and a mapping has an entry for every reader.  Items with the
 * same importers have the same readers and are counted together.
 */
static uint64_t count_static_entries(const struct kvp_geometry *g,
				     uint64_t node)
{
	uint64_t first = node * g->ranks_per_node, owner, reader;
	uint64_t end = first + g->ranks_per_node, items[KVP_STATIC_ALL + 1];
	uint64_t entries = g->static_entries;
	size_t i, kind;

	memset(items, 0, sizeof(items));
	for (i = 0; i < g->nstatics; i++) {
		assert(g->statics[i].importers <= KVP_STATIC_ALL);
		items[g->statics[i].importers]++;
	}
	for (kind = KVP_STATIC_NONE; kind <= KVP_STATIC_ALL; kind++)
		for (owner = first; items[kind] && owner < end; owner++)
			for (reader = first; reader < end; reader++)
				if (is_static_reader(g,
					(enum kvp_static_importers)kind,
					owner, reader))
					entries += items[kind];
	return entries;
}

static int count_entries(struct check *c, struct kvp_error *err)
{
	const struct kvp_geometry *g = c->geometry;
	struct kvp_summary *t = &c->expected;
	size_t r, node;

	assert(c->naliased <= c->plan->nchunks && c->readers);
	t->nper_rank = (size_t)g->ranks;
	t->nper_node = (size_t)(g->ranks / g->ranks_per_node);
	t->per_rank = calloc(t->nper_rank, sizeof(*t->per_rank));
	t->per_node = calloc(t->nper_node, sizeof(*t->per_node));
	if (!t->per_rank || !t->per_node)
		return kvp_error_nomem(err);
	for (node = 0; node < t->nper_node; node++)
		t->per_node[node] = count_static_entries(g, node);
	for (r = 0; r < t->nper_rank; r++) {
		t->per_rank[r] = c->plan->nchunks * c->readers[r].count +
				 c->naliased + (c->base.dedicated > 0);
		t->per_node[r / g->ranks_per_node] += t->per_rank[r];
	}
	assert(g->entry_reserve <= g->entry_limit);
	t->limit = g->entry_limit - g->entry_reserve;
	return KVP_OK;
}

int check_make_expected(struct check *c, struct kvp_error *err)
{
	const struct kvp_geometry *g = c->geometry;
	struct kvp_summary *t = &c->expected;
	int code;

	t->base_chunks = c->base.nchunks;
	t->chunks = c->plan->nchunks;
	t->physical_bytes = c->base.physical_bytes;
	if (!u64_mul(g->pages, g->page_tokens, &t->kv_tokens) ||
	    !u64_mul(t->kv_tokens, g->dcp_group_size, &t->kv_tokens))
		return kvp_error_set(err, KVP_ELIMIT,
				     "%llu pages of %llu tokens "
				     "in groups of %llu ranks exceed 64 "
				     "bits", (ull)g->pages, (ull)g->page_tokens,
				     (ull)g->dcp_group_size);
	code = check_lower_bound(&c->base, c->plan->merge, &t->lower_bound,
				 err);
	if (code)
		return code;
	assert(t->lower_bound <= t->base_chunks);
	t->optimal = t->chunks == t->lower_bound;
	code = find_readers(c, err);
	if (code)
		return code;
	return count_entries(c, err);
}

void check_summary_release(struct kvp_summary *summary)
{
	free(summary->per_rank);
	free(summary->per_node);
	memset(summary, 0, sizeof(*summary));
}
