/*
 * Preflight: refuse what cannot succeed before anything is touched, with
 * both numbers and what would work.
 */
#include <assert.h>

#include "base/error.h"
#include "base/u64.h"
#include "realize/realization.h"

static unsigned long long ull(uint64_t value)
{
	return value;
}

/* The first finding that a realization cannot live with. */
static const struct kvp_finding *
find_obstacle(const struct kvp_verdict *verdict)
{
	size_t count, i;
	const struct kvp_finding *f = kvp_verdict_findings(verdict, &count);

	for (i = 0; i < count; i++)
		if (f[i].severity == KVP_ERROR ||
		    !kvp_rule_is_advisory(f[i].rule))
			return &f[i];
	return NULL;
}

int check_verdict(const struct kvp_plan *plan,
		  const struct kvp_verdict *verdict, struct kvp_error *err)
{
	const struct kvp_finding *f;
	char text[256];

	if (!kvp_verdict_is_for(verdict, plan))
		return kvp_error_set(err, KVP_EREFUSED,
			"the verdict is for another plan, or this one changed "
			"after it was verified; verify it again");
	if (kvp_verdict_is_realizable(verdict))
		return KVP_OK;
	f = find_obstacle(verdict);
	assert(f);
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

	if (first / per_node == last / per_node)
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED,
		"ranks %u to %u lie on nodes %llu to %llu; one node of %llu "
		"ranks is realized at a time, such as ranks %llu to %llu",
		first, last, ull(first / per_node), ull(last / per_node),
		ull(per_node), ull(first / per_node * per_node),
		ull(first / per_node * per_node + per_node - 1));
}

static int check_devices(const struct kvp_realization *r,
			 struct kvp_error *err)
{
	uint32_t have = r->caller.backend->devices, i, j;

	for (i = 0; i < r->nranks; i++) {
		if (r->ranks[i].device >= have)
			return kvp_error_set(err, KVP_EREFUSED,
				"%u ranks need a device each, the %s backend "
				"has %u; realize fewer ranks here", r->nranks,
				r->caller.backend->name, have);
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

static int check_granularity(struct kvp_realization *r, uint32_t i,
			     struct kvp_error *err)
{
	uint64_t is = geometry_of(r)->granularity, device;
	int code;

	r->caller.rank = r->ranks[i].rank;
	code = call_device(&r->caller, r->ranks[i].device, &r->devices[i],
			       err);

	if (code)
		return context_other(r, &r->ranks[i], "reading the device",
				     code, err);
	device = r->devices[i].granularity;
	if (is % device == 0)
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED,
		"rank %u: the plan's granularity is %llu bytes, %s "
		"allocates in multiples of %llu; plan with granularity %llu",
		r->ranks[i].rank, ull(is), r->devices[i].label, ull(device),
		ull(u64_max(is, device)));
}

static const char *label_of(const struct kvp_realization *r, uint32_t rank)
{
	return r->devices[rank - r->ranks[0].rank].label;
}

static int check_peers(struct kvp_realization *r, const struct rank *owner,
		       struct kvp_error *err)
{
	bool can = true;
	size_t i;
	int code;

	r->caller.rank = owner->rank;
	for (i = 1; i < owner->nreaders; i++) {
		code = call_peer(&r->caller, owner->devices[i], owner->device,
				 &can, err);
		if (code)
			return context_other(r, owner, "asking for peer access",
					     code, err);
		if (!can)
			return kvp_error_set(err, KVP_EREFUSED,
				"rank %u (%s) reads the KV of rank %u (%s), "
				"but that device cannot access this one's "
				"memory; choose devices that are peers, or a "
				"smaller dcp_group_size", owner->readers[i],
				label_of(r, owner->readers[i]), owner->rank,
				label_of(r, owner->rank));
	}
	return KVP_OK;
}

/*
 * Memory of a device of its own has to be there.  The host's is taken when
 * it is touched, for all ranks from one place: a full check touches it all.
 */
static int check_memory(struct kvp_realization *r, const struct rank *k,
			struct kvp_error *err)
{
	bool lazy = r->caller.backend->lazy;
	uint64_t need = demand_bytes(r) * (lazy ? r->nranks : 1), have = 0;
	int code;

	if (lazy && r->options.check != KVP_CHECK_FULL)
		return KVP_OK;
	r->caller.rank = k->rank;
	code = call_memory(&r->caller, k->device, &have, err);
	if (code)
		return context_other(r, k, "reading free memory", code, err);
	if (need <= have)
		return KVP_OK;
	if (lazy)
		return kvp_error_set(err, KVP_EREFUSED,
			"a full check of %u ranks writes %llu bytes, this "
			"machine has %llu free, %llu too few; check quick, or "
			"fewer ranks", r->nranks, ull(need), ull(have),
			ull(need - have));
	return kvp_error_set(err, KVP_EREFUSED,
		"rank %u needs %llu bytes, %s has %llu free, %llu too few; "
		"free memory there or plan fewer pages", k->rank, ull(need),
		r->devices[k - r->ranks].label, ull(have), ull(need - have));
}

static int check_entries(const struct kvp_realization *r,
			 struct kvp_error *err)
{
	uint64_t need = r->caller.entries_total;
	uint64_t limit = kvp_limits_entry_limit(r->options.limits,
						geometry_of(r)) -
			 geometry_of(r)->entry_reserve;

	if (need <= limit || r->options.over_limit)
		return KVP_OK;
	return kvp_error_set(err, KVP_EENTRIES,
		"mode %s needs %llu of %llu table entries, %llu too many",
		kvp_merge_name(r->plan->merge), ull(need), ull(limit),
		ull(need - limit));
}

int preflight(struct kvp_realization *r, struct kvp_error *err)
{
	uint32_t i;
	int code = check_node(r, err);

	if (!code)
		code = recorded_check(r, err);
	if (!code)
		code = check_devices(r, err);
	if (!code && r->options.limits)
		code = kvp_limits_check(r->options.limits, geometry_of(r),
					err);
	for (i = 0; i < r->nranks && !code; i++)
		code = check_granularity(r, i, err);
	for (i = 0; i < r->nranks && !code; i++)
		code = check_peers(r, &r->ranks[i], err);
	/* Devices are read by now, so contexts exist and count as used. */
	for (i = 0; i < r->nranks && !code; i++)
		code = check_memory(r, &r->ranks[i], err);
	return code ? code : check_entries(r, err);
}
