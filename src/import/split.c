/*
 * Which splits are legal.  The formulas name the numbers that the ranks
 * have to divide among themselves; here they are held against TP, and DCP
 * against the heads.  A refusal lists what would be legal.
 */
#include <assert.h>

#include "import/work.h"

void must(struct import *im, const char *what, uint64_t value,
	  enum must_kind kind)
{
	assert(im->nmusts < MUSTS_MAX);
	im->musts[im->nmusts++] = (struct must){ what, value, kind };
}

static bool holds(const struct must *m, uint64_t tp)
{
	if (m->value % tp == 0)
		return true;
	switch (m->kind) {
	case MUST_DIVIDE:
		return false;
	case MUST_SPREAD:
		return tp % m->value == 0;
	case MUST_PAD:
		return m->value < tp;
	}
	return false;
}

static const struct must *broken(const struct import *im, uint64_t tp)
{
	size_t i;

	for (i = 0; i < im->nmusts; i++)
		if (!holds(&im->musts[i], tp))
			return &im->musts[i];
	return NULL;
}

static int check_tp(struct import *im, struct kvp_error *err)
{
	static const char *const wants[] = {
		[MUST_DIVIDE] = "must be a multiple of TP",
		[MUST_SPREAD] = "must be a multiple or a divisor of TP",
		[MUST_PAD] = "must be a multiple of TP or below it",
	};
	const struct must *m = broken(im, im->options->tp);
	struct numbers legal = { .text = "" };
	uint64_t tp;

	if (!m)
		return KVP_OK;
	for (tp = 1; tp <= KVP_RANKS_MAX; tp++)
		if (!broken(im, tp))
			numbers_add(&legal, tp);
	return kvp_error_set(err, KVP_EINPUT, "%s: --tp=%llu: %s, %llu, %s; "
		"legal: %s", im->source, (ull)im->options->tp, m->what,
		(ull)m->value, wants[m->kind], numbers_text(&legal));
}

/* Why this DCP is not legal; NULL where it is. */
static const char *dcp_problem(const struct import *im, uint64_t dcp)
{
	const uint64_t tp = im->options->tp;

	if (dcp == 1)
		return NULL;
	if (tp % dcp)
		return "must divide TP";
	if (im->options->ranks_per_node % dcp)
		return "must divide the ranks of a node";
	if (im->no_dcp)
		return "no source says how this family's pages are split";
	if (im->model.attention[SLIDING])
		return "no vLLM splits sliding layers";
	if (!im->kv_heads)
		return NULL;
	if (tp <= im->kv_heads)
		return "needs more ranks than kv heads";
	if (dcp > tp / im->kv_heads)
		return "must be at most TP / kv heads";
	if (im->query_heads / im->kv_heads % dcp)
		return "must divide query heads / kv heads";
	return NULL;
}

static int check_dcp(struct import *im, struct kvp_error *err)
{
	const uint64_t tp = im->options->tp, dcp = im->options->dcp;
	const char *problem = dcp_problem(im, dcp);
	struct numbers legal = { .text = "" };
	uint64_t i;

	if (problem) {
		for (i = 1; i <= tp; i++)
			if (!dcp_problem(im, i))
				numbers_add(&legal, i);
		return kvp_error_set(err, KVP_EINPUT, "%s: --dcp=%llu: %s (TP "
			"%llu, %llu query heads, %llu kv heads); legal: %s",
			im->source, (ull)dcp, problem, (ull)tp,
			(ull)im->query_heads, (ull)im->kv_heads, numbers_text(&legal));
	}
	if (dcp > 1)
		why(im, "DCP: a page covers %llu x %llu tokens of the group; "
		    "bytes of pages and rows stay as they are%s\n",
		    (ull)im->page_tokens, (ull)dcp, im->model.recurrent ?
		    "; vLLM v0.19 refuses DCP where there are recurrent "
		    "layers, newer ones allow it" : "");
	return KVP_OK;
}

static int check_nodes(struct import *im, struct kvp_error *err)
{
	const uint64_t tp = im->options->tp;
	const uint64_t node = im->options->ranks_per_node;
	struct numbers legal = { .text = "" };
	uint64_t i;

	if (node && tp % node == 0)
		return KVP_OK;
	for (i = 1; i <= tp; i++)
		if (tp % i == 0)
			numbers_add(&legal, i);
	return kvp_error_set(err, KVP_EINPUT, "--ranks-per-node=%llu: must "
		"divide TP %llu; legal: %s", (ull)node, (ull)tp, numbers_text(&legal));
}

int split_check(struct import *im, struct kvp_error *err)
{
	int code = check_tp(im, err);

	if (!code)
		code = check_nodes(im, err);
	return code ? code : check_dcp(im, err);
}
