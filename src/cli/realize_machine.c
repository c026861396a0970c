/*
 * The machine a plan is realized on: which devices, whether the host
 * suffices, and what would help where the table of mappings does not.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "cli/realize.h"
#include "realize/backend_host.h"

#define N(value) out_number(value).text

static uint64_t aliased(const struct kvp_plan *plan)
{
	uint64_t n = 0;

	while (n < plan->nchunks && plan->chunks[n].arena != KVP_UNALIASED)
		n++;
	return n;
}

/* Kernel maps of a realization: one per mapping, and what is left of the
   reservations before, between and behind. */
static uint64_t predict_maps(const struct kvp_plan *plan, uint32_t ranks)
{
	const struct kvp_geometry *g = &plan->geometry;

	return ranks * (plan->nchunks + aliased(plan) + g->nplanes +
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

/* A full check touches every byte of every rank. */
static int check_memory(struct kvp_backend *b, const struct kvp_plan *plan,
			const struct realize_settings *s,
			struct kvp_error *err)
{
	uint64_t have, need = (plan->summary.physical_bytes +
			       plan->dedicated_bytes) * s->options.nranks;
	int code;

	if (s->options.check != KVP_CHECK_FULL)
		return KVP_OK;
	code = b->ops->memory(b, 0, &have, err);
	if (code || need <= have)
		return code;
	return kvp_error_set(err, KVP_EREFUSED,
		"--check=full of %u ranks writes %s bytes, this machine has "
		"%s free; realize fewer ranks with --ranks or use "
		"--check=quick", s->options.nranks, N(need), N(have));
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
	return code ? code : check_memory(*backend, plan, s, err);
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

/* Name the readers that are elsewhere: they get no grant here. */
static void name_outsiders(const struct kvp_plan *plan,
			   const struct realize_settings *s)
{
	uint32_t first = s->options.first_rank, end, i;
	bool outside[KVP_RANKS_MAX] = { false };
	char text[256] = "";
	size_t used = 0, j;

	end = first + s->options.nranks;
	for (i = first; i < end && i < plan->naccess; i++)
		for (j = 0; j < plan->access[i].readers.count; j++) {
			uint32_t reader = plan->access[i].readers.rank[j];

			outside[reader] = reader < first || reader >= end;
		}
	for (i = 0; i < KVP_RANKS_MAX && used + 8 < sizeof(text); i++)
		if (outside[i])
			used += (size_t)snprintf(text + used,
				sizeof(text) - used, "%s%u", used ? "," : "",
				i);
	if (used)
		fprintf(stderr, "kvplan: readers that are not realized here "
			"get no grant: ranks %s\n", text);
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

/* Readers of a rank among those realized here. */
static uint64_t readers_here(const struct kvp_plan *plan,
			     const struct realize_settings *s, uint32_t rank)
{
	const struct kvp_ranks *readers = &plan->access[rank].readers;
	uint32_t first = s->options.first_rank;
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < readers->count; i++)
		count += readers->rank[i] >= first &&
			 readers->rank[i] - first < s->options.nranks;
	return count;
}

/* Entries saved by a plan with fewer chunks: each is one mapping for every
   reader and one alias less. */
static uint64_t entries_saved(const struct kvp_plan *plan,
			      const struct realize_settings *s,
			      uint64_t chunks)
{
	uint32_t i, end = s->options.first_rank + s->options.nranks;
	uint64_t saved = 0;

	for (i = s->options.first_rank; i < end && i < plan->naccess; i++)
		saved += (plan->nchunks - chunks) *
			 (readers_here(plan, s, i) + 1);
	return saved;
}

/* All entries of the ranks realized here, as preflight counts them. */
static uint64_t entries_needed(const struct kvp_plan *plan,
			       const struct realize_settings *s)
{
	uint32_t i, end = s->options.first_rank + s->options.nranks;
	uint64_t need = plan->geometry.static_entries;

	for (i = s->options.first_rank; i < end && i < plan->naccess; i++)
		need += plan->nchunks * readers_here(plan, s, i) +
			aliased(plan) + (plan->dedicated_bytes != 0);
	return need;
}

void realize_cure(const struct kvp_plan *plan,
		  const struct realize_settings *s, int code,
		  struct kvp_error *err)
{
	uint64_t need = entries_needed(plan, s), left, limit;
	enum kvp_merge merge;
	struct kvp_plan other;
	size_t used;

	if (code != KVP_EENTRIES && code != KVP_ETABLE)
		return;
	used = strlen(err->text);
	limit = plan->summary.limit;
	for (merge = plan->merge + 1; merge <= KVP_MERGE_SPAN; merge++) {
		if (kvp_plan_make(&other, &plan->geometry, merge, NULL))
			continue;
		left = need - entries_saved(plan, s, other.nchunks);
		kvp_plan_release(&other);
		if (left > limit)
			continue;
		snprintf(err->text + used, sizeof(err->text) - used,
			 "; mode %s needs %s of %s", kvp_merge_name(merge),
			 N(left), N(limit));
		return;
	}
	snprintf(err->text + used, sizeof(err->text) - used,
		 "; no merge mode fits: raise tile_granules, lower "
		 "dcp_group_size or plan fewer rows");
}
