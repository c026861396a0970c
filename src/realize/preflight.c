/*
 * Preflight: refuse what cannot succeed before any memory is acquired, with
 * the number that is needed, the number that there is, and what would work.
 */
#include <assert.h>

#include "base/error.h"
#include "realize/obstacles.h"
#include "realize/realization.h"

int check_verdict(const struct kvp_plan *plan,
		  const struct kvp_verdict *verdict, struct kvp_error *err)
{
	const struct kvp_finding *f;
	char text[256];

	if (!kvp_verdict_is_for(verdict, plan))
		return kvp_error_set(err, KVP_EREFUSED,
			"the verdict is for another plan, or this one changed "
			"after it was verified; verify it again");
	f = kvp_verdict_obstacle(verdict, NULL);
	if (!f)
		return KVP_OK;
	kvp_finding_text(f, text, sizeof(text));
	return kvp_error_set(err, KVP_EREFUSED,
		"the plan is not verified: %s%s", text,
		f->severity == KVP_ERROR ? "" : "; lowering this rule to a "
		"warning does not make the plan fit to be realized");
}

static int check_node(const struct kvp_realization *r, struct kvp_error *err)
{
	uint64_t per_node = geometry_of(r)->ranks_per_node;
	uint32_t first = r->ranks[0].rank;
	uint32_t last = r->ranks[r->nranks - 1].rank;

	assert(per_node && first <= last && last < geometry_of(r)->ranks);
	if (first / per_node == last / per_node)
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED,
		"ranks %u to %u lie on nodes %llu to %llu; one node of %llu "
		"ranks is realized at a time, such as ranks %llu to %llu",
		first, last, (ull)(first / per_node), (ull)(last / per_node),
		(ull)per_node, (ull)(first / per_node * per_node),
		(ull)(first / per_node * per_node + per_node - 1));
}

static int check_devices(const struct kvp_realization *r,
			 struct kvp_error *err)
{
	uint32_t have = r->watch.base.devices, i, j;

	for (i = 0; i < r->nranks; i++) {
		if (r->ranks[i].device >= have)
			return kvp_error_set(err, KVP_EREFUSED,
				"%u rank%s, the %s backend has %u; realize "
				"fewer ranks here", r->nranks, r->nranks == 1 ?
				" needs a device" : "s need a device each",
				r->watch.base.name, have);
		for (j = 0; j < i; j++)
			if (r->ranks[j].device == r->ranks[i].device)
				return kvp_error_set(err, KVP_EREFUSED,
					"ranks %u and %u are both given "
					"device %u; each needs its own",
					r->ranks[j].rank, r->ranks[i].rank,
					r->ranks[i].device);
	}
	return KVP_OK;
}

static void check_entries(const struct kvp_realization *r,
			  struct obstacles *o)
{
	uint64_t need = required_node_entries(r);
	uint64_t limit = kvp_limits_entry_limit(r->options.limits,
						geometry_of(r)) -
			 geometry_of(r)->entry_reserve;

	if (need <= limit || r->options.over_limit)
		return;
	kvp_error_set(&o->kind[OBSTACLE_ENTRIES], KVP_EENTRIES,
		"mode %s needs %llu of %llu table entries, %llu too many",
		kvp_merge_name(r->plan->merge), (ull)need, (ull)limit,
		(ull)(need - limit));
}

/* Look for every kind of obstacle, also after one has been found. */
static int find_obstacles(struct kvp_realization *r, struct obstacles *o,
			  struct kvp_error *err)
{
	int code = KVP_OK;

	check_entries(r, o);
	check_address_space(r, o);
	if (r->options.limits)
		(void)kvp_limits_check(r->options.limits, geometry_of(r),
				       &o->kind[OBSTACLE_LIMITS]);
	if (r->watch.base.lazy)
		code = check_process(r, o, err);
	if (!code)
		code = check_granularity(r, o, err);
	if (!code)
		code = check_peers(r, o, err);
	/* Last: the calls before have created the devices' contexts, whose
	   memory is no longer free. */
	return code ? code : check_memory(r, o, err);
}

int preflight(struct kvp_realization *r, struct kvp_error *err)
{
	struct obstacles o = { .kind = { { .code = KVP_OK } } };
	int code = check_node(r, err);

	/* After one of these the ranks or addresses have to change, and with
	   them all other numbers, so no obstacles are collected. */
	if (!code)
		code = recorded_check(r, err);
	if (!code)
		code = check_devices(r, err);
	if (!code)
		code = find_obstacles(r, &o, err);
	return code ? code : obstacles_report(&o, err);
}
