/*
 * Allocating and freeing a realization, and the functions that read it.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/u64.h"
#include "model/plan_view.h"
#include "realize/realization.h"

/* Order the chunks by plane, those of a plane as in the plan. */
static int order_chunks(struct kvp_realization *r, struct kvp_error *err)
{
	const struct kvp_plan *plan = r->plan;
	size_t nplanes = geometry_of(r)->nplanes, i, *at;

	r->order = malloc((plan->nchunks + 1) * sizeof(*r->order));
	r->plane_first = calloc(nplanes + 2, sizeof(*r->plane_first));
	if (!r->order || !r->plane_first)
		return kvp_error_nomem(err);
	/* at[p] counts up while plane p is filled, and then is where plane
	   p + 1 begins: it is plane_first[p + 1]. */
	at = r->plane_first + 1;
	for (i = 0; i < plan->nchunks; i++)
		at[plan->chunks[i].plane + 1]++;
	for (i = 1; i <= nplanes; i++)
		at[i] += at[i - 1];
	for (i = 0; i < plan->nchunks; i++)
		r->order[at[plan->chunks[i].plane]++] = (uint32_t)i;
	assert(!r->plane_first[0] && r->plane_first[nplanes] == plan->nchunks);
	return KVP_OK;
}

static uint64_t count_arena_bytes(const struct kvp_plan *plan)
{
	const struct kvp_geometry *g = &plan->geometry;
	uint64_t bytes = (g->execution_rows + g->snapshot_rows) *
			 g->row_stride;
	size_t i;

	for (i = 0; i < plan->nchunks; i++)
		if (plan->chunks[i].arena != KVP_UNALIASED)
			bytes = u64_max(bytes, plan->chunks[i].arena +
					       plan->chunks[i].bytes);
	bytes = u64_max(bytes, plan->dedicated_bytes);
	assert(bytes <= KVP_NUMBER_MAX);
	return u64_ceil_div(bytes, g->granularity) * g->granularity;
}

static struct rank *find_rank(const struct kvp_realization *r, uint32_t rank)
{
	uint32_t first;

	assert(r);
	first = r->options.first_rank;
	return rank >= first && rank - first < r->nranks ?
		&r->ranks[rank - first] : NULL;
}

/* Find the plan's readers that are realized here; the owner comes first. */
static void find_readers(struct kvp_realization *r, struct rank *k)
{
	const struct kvp_ranks *readers = &r->plan->access[k->rank].readers;
	const struct rank *other;
	size_t i;

	k->readers[0] = k->rank;
	k->devices[0] = k->device;
	k->grants[0] = (struct kvp_grant){ k->device, KVP_READWRITE };
	k->nreaders = 1;
	assert(r->plan->access[k->rank].rank == k->rank);
	for (i = 0; i < readers->count; i++) {
		other = find_rank(r, readers->rank[i]);
		if (!other || other == k)
			continue;
		assert(k->nreaders < r->nranks);
		k->readers[k->nreaders] = other->rank;
		k->devices[k->nreaders] = other->device;
		k->grants[k->nreaders++] =
			(struct kvp_grant){ other->device, importer_flags(r) };
	}
}

static int rank_init(struct kvp_realization *r, uint32_t i,
		     struct kvp_error *err)
{
	struct rank *k = &r->ranks[i];
	size_t chunks = r->plan->nchunks, nplanes = geometry_of(r)->nplanes;

	k->planes = calloc(nplanes, sizeof(*k->planes));
	k->statics = calloc(geometry_of(r)->nstatics + 1, sizeof(*k->statics));
	k->memory = calloc(chunks + 1, sizeof(*k->memory));
	k->mappings = calloc(2 * chunks + 1, sizeof(*k->mappings));
	k->readers = calloc(r->nranks, sizeof(*k->readers));
	k->devices = calloc(r->nranks, sizeof(*k->devices));
	k->grants = calloc(r->nranks, sizeof(*k->grants));
	k->free = calloc((nplanes + 1) * r->nranks, sizeof(*k->free));
	if (!k->planes || !k->statics || !k->memory || !k->mappings ||
	    !k->readers || !k->devices || !k->grants || !k->free)
		return kvp_error_nomem(err);
	k->arena_bytes = count_arena_bytes(r->plan);
	return KVP_OK;
}

static void start_records(struct kvp_realization *r)
{
	size_t nplanes = geometry_of(r)->nplanes, plane;
	uint32_t i;

	for (i = 0; i < r->nranks; i++)
		for (plane = 0; plane < nplanes; plane++)
			r->records[i * nplanes + plane] =
				(struct kvp_access_record){
				.rank = r->ranks[i].rank,
				.plane = (uint32_t)plane,
				.nreaders = r->ranks[i].nreaders,
				.readers = r->ranks[i].readers,
			};
}

static int ranks_init(struct kvp_realization *r, struct kvp_error *err)
{
	uint32_t i;
	int code;

	r->ranks = calloc(r->nranks, sizeof(*r->ranks));
	r->devices = calloc(r->nranks, sizeof(*r->devices));
	r->records = calloc(r->nranks * geometry_of(r)->nplanes,
			    sizeof(*r->records));
	if (!r->ranks || !r->devices || !r->records)
		return kvp_error_nomem(err);
	for (i = 0; i < r->nranks; i++) {
		r->ranks[i].rank = r->options.first_rank + i;
		r->ranks[i].device = r->options.devices ?
				     r->options.devices[i] : i;
		/* Until the device has been read. */
		snprintf(r->devices[i].label, sizeof(r->devices[i].label),
			 "device %u", r->ranks[i].device);
		r->ranks[i].recorded = addresses_find(r->options.addresses,
						      r->ranks[i].rank);
		code = rank_init(r, i, err);
		if (code)
			return code;
	}
	for (i = 0; i < r->nranks; i++)
		find_readers(r, &r->ranks[i]);
	start_records(r);
	return KVP_OK;
}

/* Find the ranks here that import the planes of a rank elsewhere. */
static int import_init(struct kvp_realization *r, struct import *m,
		       uint32_t owner, struct kvp_error *err)
{
	size_t nplanes = geometry_of(r)->nplanes;
	uint32_t i;

	m->rank = owner;
	m->planes = calloc(nplanes, sizeof(*m->planes));
	m->readers = calloc(r->nranks, sizeof(*m->readers));
	m->devices = calloc(r->nranks, sizeof(*m->devices));
	m->grants = calloc(r->nranks, sizeof(*m->grants));
	m->free = calloc((nplanes + 1) * r->nranks, sizeof(*m->free));
	if (!m->planes || !m->readers || !m->devices || !m->grants || !m->free)
		return kvp_error_nomem(err);
	for (i = 0; i < r->nranks; i++) {
		if (!planes_are_imported(r->plan, owner, r->ranks[i].rank, 1))
			continue;
		m->readers[m->nreaders] = r->ranks[i].rank;
		m->devices[m->nreaders] = r->ranks[i].device;
		m->grants[m->nreaders++] = (struct kvp_grant){
			r->ranks[i].device, importer_flags(r) };
	}
	return KVP_OK;
}

static bool imports_from(const struct kvp_realization *r, uint32_t owner)
{
	const struct kvp_geometry *g = geometry_of(r);
	uint32_t first = r->options.first_rank;
	size_t i;

	if (owner >= first && owner - first < r->nranks)
		return false;
	for (i = 0; i < g->nstatics; i++)
		if (static_is_imported(g, i, owner, first, r->nranks))
			return true;
	return planes_are_imported(r->plan, owner, first, r->nranks);
}

/* Only ranks of one node import from each other. */
static int imports_init(struct kvp_realization *r, struct kvp_error *err)
{
	uint32_t node = (uint32_t)geometry_of(r)->ranks_per_node;
	uint32_t owner = r->options.first_rank / node * node;
	uint32_t end = owner + node;
	int code = KVP_OK;

	r->imports = calloc(node, sizeof(*r->imports));
	r->import_records = calloc(node * geometry_of(r)->nplanes,
				   sizeof(*r->import_records));
	if (!r->imports || !r->import_records)
		return kvp_error_nomem(err);
	for (; owner < end && !code; owner++)
		if (imports_from(r, owner))
			code = import_init(r, &r->imports[r->nimports++],
					   owner, err);
	return code;
}

static void imports_delete(struct kvp_realization *r)
{
	uint32_t i;

	for (i = 0; i < r->nimports; i++) {
		free(r->imports[i].planes);
		free(r->imports[i].readers);
		free(r->imports[i].devices);
		free(r->imports[i].grants);
		free(r->imports[i].free);
	}
	free(r->imports);
	free(r->import_records);
}

static int check_ranks(const struct kvp_plan *plan,
		       const struct kvp_realize_options *o,
		       struct kvp_error *err)
{
	if (plan_has_ranks(plan, o->first_rank, o->nranks))
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED,
		"%u rank%s from rank %u on cannot be realized: the plan has "
		"ranks 0 to %llu", o->nranks, o->nranks == 1 ? "" : "s",
		o->first_rank,
		(ull)plan->geometry.ranks - 1);
}

static int check_enums(const struct kvp_realize_options *o,
		       struct kvp_error *err)
{
	if ((unsigned)o->check > KVP_CHECK_FULL)
		return kvp_error_set(err, KVP_EINPUT,
				     "check is %d, which is no depth",
				     (int)o->check);
	if ((unsigned)o->handle_type > KVP_HANDLE_FABRIC)
		return kvp_error_set(err, KVP_EINPUT,
				     "handle_type is %d, which is no type",
				     (int)o->handle_type);
	return KVP_OK;
}

int realization_new(struct kvp_realization **out, const struct kvp_plan *plan,
		    struct kvp_backend *backend,
		    const struct kvp_realize_options *options, bool shared,
		    struct kvp_error *err)
{
	struct kvp_realization *r;
	int code = check_enums(options, err);

	assert(out && plan && backend);
	*out = NULL;
	if (!code)
		code = check_ranks(plan, options, err);
	if (code)
		return code;
	r = calloc(1, sizeof(*r));
	if (!r)
		return kvp_error_nomem(err);
	r->plan = plan;
	r->options = *options;
	r->nranks = options->nranks;
	r->shared = shared;
	backend_watch_init(&r->watch, backend, &realization_hooks, r);
	code = order_chunks(r, err);
	if (!code)
		code = ranks_init(r, err);
	if (!code && shared)
		code = imports_init(r, err);
	if (code) {
		realization_delete(r);
		return code;
	}
	*out = r;
	return KVP_OK;
}

void realization_delete(struct kvp_realization *r)
{
	uint32_t i;

	if (!r)
		return;
	assert(!r->undo.count);	/* nothing is held any more */
	for (i = 0; r->ranks && i < r->nranks; i++) {
		free(r->ranks[i].planes);
		free(r->ranks[i].statics);
		free(r->ranks[i].memory);
		free(r->ranks[i].mappings);
		free(r->ranks[i].readers);
		free(r->ranks[i].devices);
		free(r->ranks[i].grants);
		free(r->ranks[i].free);
	}
	imports_delete(r);
	kvp_file_abandon(&r->file);
	undo_release(&r->undo);
	free(r->ranks);
	free(r->devices);
	free(r->records);
	free(r->order);
	free(r->plane_first);
	free(r);
}

uint64_t kvp_realization_plane(const struct kvp_realization *r, uint32_t rank,
			       uint32_t plane)
{
	const struct rank *k = find_rank(r, rank);

	return k && plane < geometry_of(r)->nplanes ? k->planes[plane] : 0;
}

uint64_t kvp_realization_arena(const struct kvp_realization *r, uint32_t rank)
{
	const struct rank *k = find_rank(r, rank);

	return k ? k->arena : 0;
}

struct kvp_cap kvp_realization_cap(const struct kvp_realization *r,
				   uint32_t rank, uint64_t *free_bytes)
{
	const struct rank *k = find_rank(r, rank);

	*free_bytes = k ? k->left : 0;
	return kvp_cap_plan(free_bytes, k ? &r->options.cap : NULL);
}

enum kvp_state kvp_realization_state(const struct kvp_realization *r,
				     uint32_t rank)
{
	const struct rank *k = find_rank(r, rank);

	return k ? k->state : KVP_IDLE;
}

const struct kvp_access_record *
kvp_realization_access(const struct kvp_realization *r, size_t *count)
{
	assert(r && count);
	*count = r->nranks * geometry_of(r)->nplanes;
	return r->records;
}

uint64_t kvp_realization_entries(const struct kvp_realization *r)
{
	assert(r);
	return r->watch.entries;
}
