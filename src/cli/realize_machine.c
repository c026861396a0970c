/*
 * The machine a plan is realized on: which devices, whether the host
 * suffices, and what would help where the table of mappings does not.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "cli/realize.h"
#include "model/plan_view.h"
#include "realize/backend_host.h"

#define N(value) out_number(value).text

/* Kernel maps of a realization: one per mapping, and what is left of the
   reservations before, between and behind. */
static uint64_t predict_maps(const struct kvp_plan *plan, uint32_t ranks)
{
	const struct kvp_geometry *g = &plan->geometry;

	return ranks * (plan->nchunks + plan_aliased(plan) + g->nplanes +
			2 * g->nstatics + 4);
}

static int check_maps(const struct kvp_plan *plan, uint32_t ranks,
		      struct kvp_error *err)
{
	uint64_t need = predict_maps(plan, ranks) + host_maps_used();
	uint64_t limit = host_maps_limit();

	if (need <= limit)
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED,
		"%u ranks need about %s kernel maps, vm.max_map_count is %s; "
		"raise it (sysctl vm.max_map_count=%llu) or realize fewer "
		"ranks with --ranks", ranks, N(need), N(limit),
		(unsigned long long)need);
}

static int check_descriptors(uint32_t ranks, struct kvp_error *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= ranks + 16)
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED,
		"%u ranks need a descriptor each, %llu may be open; raise it "
		"(ulimit -n %u) or realize fewer ranks with --ranks", ranks,
		(unsigned long long)limit.rlim_cur, ranks + 16);
}

static int open_host(struct kvp_backend **backend, const struct kvp_plan *plan,
		     struct realize_settings *s, struct kvp_error *err)
{
	uint32_t ranks;
	int code;

	if (!s->ranks_given)
		s->options.nranks = (uint32_t)plan->geometry.ranks;
	ranks = s->options.nranks;
	code = check_maps(plan, ranks, err);
	if (!code)
		code = check_descriptors(ranks, err);
	if (!code)
		code = kvp_backend_host(backend, ranks,
					plan->geometry.granularity, err);
	return code;
}

static int open_gpus(struct kvp_backend **backend, const struct kvp_plan *plan,
		     struct realize_settings *s, struct kvp_error *err)
{
	uint32_t have;
	int code = kvp_backend_cuda(backend, s->ngpus ? s->gpu : NULL,
				    s->ngpus, err);

	if (code)
		return code;
	have = (*backend)->devices;
	if (!s->ranks_given)
		s->options.nranks = (uint32_t)plan->geometry.ranks;
	if (s->options.nranks <= have)
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED,
		"%u ranks need a GPU each, %u %s; --ranks=0-%u realizes as "
		"many as there are", s->options.nranks, have,
		s->ngpus ? "are listed" : "are visible", have - 1);
}

/* "1-7,12" of the ranks that are set; cut with "..." where too long. */
static void ranks_text(char *text, size_t size, const bool *set)
{
	uint32_t first, last;
	size_t used = 0;

	for (first = 0; first < KVP_RANKS_MAX; first = last + 1) {
		last = first;
		if (!set[first])
			continue;
		while (last + 1 < KVP_RANKS_MAX && set[last + 1])
			last++;
		if (used + 16 > size) {
			snprintf(text + used, size - used, "...");
			return;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%u",
					 used ? "," : "", first);
		if (last > first)
			used += (size_t)snprintf(text + used, size - used,
						 "-%u", last);
	}
}

/* Name the readers that are elsewhere: they get no grant here. */
static void name_outsiders(const struct kvp_plan *plan,
			   const struct realize_settings *s)
{
	uint32_t first = s->options.first_rank, i, reader;
	uint32_t end = first + s->options.nranks;
	bool outside[KVP_RANKS_MAX] = { false };
	char text[256] = "";
	size_t j;

	for (i = first; i < end; i++)
		for (j = 0; j < plan->access[i].readers.count; j++) {
			reader = plan->access[i].readers.rank[j];
			outside[reader] = reader < first || reader >= end;
		}
	ranks_text(text, sizeof(text), outside);
	if (*text)
		fprintf(stderr, "kvplan: note: readers that are not realized "
			"here get no grant: ranks %s\n", text);
}

int realize_backend(struct kvp_backend **backend, const struct kvp_plan *plan,
		    struct realize_settings *s, struct kvp_error *err)
{
	int code = s->gpus ? open_gpus(backend, plan, s, err) :
			     open_host(backend, plan, s, err);

	if (!code)
		name_outsiders(plan, s);
	return code;
}

/* What the entries have to fit on this node. */
static uint64_t limit_of(const struct kvp_plan *plan,
			 const struct realize_settings *s)
{
	return kvp_limits_entry_limit(s->options.limits, &plan->geometry) -
	       plan->geometry.entry_reserve;
}

/* The first mode beyond the plan's whose entries are within the limit. */
static bool find_mode(const struct kvp_plan *plan,
		      const struct realize_settings *s, enum kvp_merge *merge,
		      uint64_t *need)
{
	struct kvp_plan other;

	for (*merge = plan->merge + 1; *merge <= KVP_MERGE_SPAN; ++*merge) {
		if (kvp_plan_make(&other, &plan->geometry, *merge, NULL))
			continue;
		*need = kvp_realize_entries(&other, &s->options);
		kvp_plan_release(&other);
		if (*need <= limit_of(plan, s))
			return true;
	}
	return false;
}

void realize_cure(const struct kvp_plan *plan,
		  const struct realize_settings *s, int code,
		  struct kvp_error *err)
{
	uint64_t need, limit = limit_of(plan, s), other = 0;
	size_t size = sizeof(err->text), used = strlen(err->text);
	enum kvp_merge merge;

	if (code != KVP_EENTRIES && code != KVP_ETABLE)
		return;
	need = kvp_realize_entries(plan, &s->options);
	if (need <= limit)
		used += (size_t)snprintf(err->text + used, size - used,
			"; the plan needs %s of %s, so others on this node "
			"hold the rest: end them, or count them as "
			"static_entries", N(need), N(limit));
	if (used >= size)
		return;
	if (find_mode(plan, s, &merge, &other))
		snprintf(err->text + used, size - used,
			 "; mode %s needs %s of %s", kvp_merge_name(merge),
			 N(other), N(limit));
	else if (need > limit)
		snprintf(err->text + used, size - used,
			 "; no merge mode fits: raise tile_granules%s or plan "
			 "fewer rows", plan->geometry.dcp_group_size > 1 ?
			 ", lower dcp_group_size" : "");
}
