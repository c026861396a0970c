/*
 * Which splits are legal.  Formulas list the numbers that are split over the
 * ranks with split_require(); TP is checked against these, DCP against the
 * heads.  A refusal lists the legal values.
 */
#include <assert.h>

#include "import/import.h"

void split_require(struct import *im, const char *what, uint64_t value,
		   enum split_kind kind)
{
	assert(value && im->nrules < RULES_MAX);
	im->rules[im->nrules++] = (struct split_rule){ what, value, kind };
}

static bool is_met(const struct split_rule *m, uint64_t tp)
{
	if (m->value % tp == 0)
		return true;
	switch (m->kind) {
	case MULTIPLE:
		return false;
	case MULTIPLE_OR_DIVISOR:
		return tp % m->value == 0;
	case MULTIPLE_OR_BELOW:
		return m->value < tp;
	}
	return false;
}

static const struct split_rule *find_broken(const struct import *im,
					    uint64_t tp)
{
	size_t i;

	for (i = 0; i < im->nrules; i++)
		if (!is_met(&im->rules[i], tp))
			return &im->rules[i];
	return NULL;
}

static int check_tp(struct import *im, struct kvp_error *err)
{
	static const char *const wants[] = {
		[MULTIPLE] = "must be a multiple of TP",
		[MULTIPLE_OR_DIVISOR] = "must be a multiple or a divisor of TP",
		[MULTIPLE_OR_BELOW] = "must be a multiple of TP or below it",
	};
	const struct split_rule *m = find_broken(im, im->options->tp);
	struct numbers legal = { .text = "" };
	uint64_t tp;

	if (!m)
		return KVP_OK;
	for (tp = 1; tp <= KVP_RANKS_MAX; tp++)
		if (!find_broken(im, tp))
			numbers_add(&legal, tp);
	return kvp_error_set(err, KVP_EINPUT, "%s: --tp=%llu: %s, %llu, %s; "
		"legal: %s", im->source, (ull)im->options->tp, m->what,
		(ull)m->value, wants[m->kind], numbers_text(&legal));
}

/* Why this DCP is not legal; NULL: it is. */
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
		return "no source states how this family's pages are split";
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
			(ull)im->query_heads, (ull)im->kv_heads,
			numbers_text(&legal));
	}
	if (dcp > 1)
		report(im, "DCP: a page covers %llu x %llu tokens of the "
		       "group; bytes of pages and rows stay as they are%s\n",
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
		"divide TP %llu; legal: %s", (ull)node, (ull)tp,
		numbers_text(&legal));
}

int split_check(struct import *im, struct kvp_error *err)
{
	int code = check_tp(im, err);

	if (!code)
		code = check_nodes(im, err);
	return code ? code : check_dcp(im, err);
}
