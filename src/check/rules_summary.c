/*
 * Rules on what a plan states: capacity, access, entries, entry-limit,
 * bound, headroom.  Each compares with c->expected or the geometry.
 */
#include <assert.h>

#include "base/u64.h"
#include "check/check.h"

static void compare(struct check *c, enum kvp_place place, uint64_t index,
		    const char *what, uint64_t stated, uint64_t expected)
{
	if (stated != expected)
		check_report(c, place, index, what, stated, expected);
}

int check_rule_capacity(struct check *c)
{
	compare(c, KVP_AT_PLAN, 0, "kv_tokens is", c->plan->summary.kv_tokens,
		c->expected.kv_tokens);
	return KVP_OK;
}

/* Report the first reader that differs: one finding per rank. */
static void compare_readers(struct check *c, uint32_t rank,
			    const struct kvp_ranks *stated)
{
	const struct kvp_ranks *readers = &c->readers[rank];
	size_t i;

	assert(readers->count);	/* the owner at least */
	for (i = 0; i < stated->count && i < readers->count; i++)
		if (stated->rank[i] != readers->rank[i]) {
			check_report(c, KVP_AT_RANK, rank, "grants to rank",
				     stated->rank[i], readers->rank[i]);
			return;
		}
	compare(c, KVP_AT_RANK, rank, "has readers", stated->count,
		readers->count);
}

int check_rule_access(struct check *c)
{
	const struct kvp_plan *plan = c->plan;
	uint32_t i;

	compare(c, KVP_AT_PLAN, 0, "lists the access of ranks", plan->naccess,
		c->geometry->ranks);
	for (i = 0; i < u64_min(plan->naccess, c->geometry->ranks); i++) {
		if (plan->access[i].rank == i)
			compare_readers(c, i, &plan->access[i].readers);
		else
			check_report(c, KVP_AT_RANK, i, "is listed as rank",
				     plan->access[i].rank, i);
	}
	return KVP_OK;
}

int check_rule_entries(struct check *c)
{
	const struct kvp_summary *s = &c->plan->summary, *t = &c->expected;
	size_t i;

	compare(c, KVP_AT_PLAN, 0, "states entries of ranks", s->nper_rank,
		t->nper_rank);
	for (i = 0; i < s->nper_rank && i < t->nper_rank; i++)
		compare(c, KVP_AT_RANK, i, "states entries", s->per_rank[i],
			t->per_rank[i]);
	compare(c, KVP_AT_PLAN, 0, "states entries of nodes", s->nper_node,
		t->nper_node);
	for (i = 0; i < s->nper_node && i < t->nper_node; i++)
		compare(c, KVP_AT_NODE, i, "states entries", s->per_node[i],
			t->per_node[i]);
	compare(c, KVP_AT_PLAN, 0, "entry limit is", s->limit, t->limit);
	return KVP_OK;
}

int check_rule_entry_limit(struct check *c)
{
	size_t i;

	assert(c->expected.nper_node);
	for (i = 0; i < c->expected.nper_node; i++)
		if (c->expected.per_node[i] > c->limit)
			check_report_limit(c, KVP_AT_NODE, i,
					   "needs table entries",
					   c->expected.per_node[i], KVP_AT_MOST,
					   c->limit);
	return KVP_OK;
}

int check_rule_bound(struct check *c)
{
	const struct kvp_summary *s = &c->plan->summary, *t = &c->expected;

	compare(c, KVP_AT_PLAN, 0, "base_chunks is", s->base_chunks,
		t->base_chunks);
	compare(c, KVP_AT_PLAN, 0, "chunks is", s->chunks, t->chunks);
	compare(c, KVP_AT_PLAN, 0, "lower_bound is", s->lower_bound,
		t->lower_bound);
	compare(c, KVP_AT_PLAN, 0, "optimal is", s->optimal, t->optimal);
	if (t->chunks < t->lower_bound)
		check_report_limit(c, KVP_AT_PLAN, 0, "has chunks", t->chunks,
				   KVP_AT_LEAST, t->lower_bound);
	return KVP_OK;
}

int check_rule_headroom(struct check *c)
{
	const struct kvp_headroom *is = &c->plan->headroom;
	const struct kvp_headroom *should = &c->geometry->headroom;

	compare(c, KVP_AT_PLAN, 0, "headroom is present",
		c->plan->has_headroom, c->geometry->has_headroom);
	if (!c->plan->has_headroom)
		return KVP_OK;
	if (c->geometry->has_headroom) {
		compare(c, KVP_AT_PLAN, 0, "headroom's free_bytes is",
			is->free_bytes, should->free_bytes);
		compare(c, KVP_AT_PLAN, 0, "headroom is bounded", is->bounded,
			should->bounded);
		if (is->bounded && should->bounded)
			compare(c, KVP_AT_PLAN, 0, "headroom's cap_bytes is",
				is->cap_bytes, should->cap_bytes);
	}
	/* A cap above half of the free memory may never be reached. */
	if (!is->bounded)
		check_report(c, KVP_AT_PLAN, 0,
			     "headroom caps the cache (0 no, 1 yes):", 0, 1);
	else if (is->cap_bytes > is->free_bytes / 2)
		check_report_limit(c, KVP_AT_PLAN, 0, "headroom's cap_bytes is",
				   is->cap_bytes, KVP_AT_MOST,
				   is->free_bytes / 2);
	return KVP_OK;
}
