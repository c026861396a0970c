/*
 * The addresses that planes and arena must have: those in the options, else
 * those in the geometry, else any.  Whether they fit the plan is checked
 * before any driver call.
 */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "realize/realization.h"

uint64_t recorded_plane(const struct kvp_realization *r, const struct rank *k,
			size_t plane)
{
	const struct kvp_plane *p = &geometry_of(r)->planes[plane];

	assert(plane < geometry_of(r)->nplanes);
	assert(!k->recorded || plane < k->recorded->nplanes);
	return k->recorded ? k->recorded->planes[plane].address :
	       p->has_address ? p->address : 0;
}

uint64_t recorded_arena(const struct kvp_realization *r, const struct rank *k)
{
	const struct kvp_geometry *g = geometry_of(r);

	return k->recorded ? k->recorded->arena :
	       g->has_arena_address ? g->arena_address : 0;
}

static int check_alignment(const struct kvp_realization *r,
			   const struct rank *k, const char *name,
			   uint64_t address, struct kvp_error *err)
{
	if (address % geometry_of(r)->granularity == 0)
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED,
		"addresses of rank %u: %s is at %llu, no multiple of the "
		"granularity, %llu", k->rank, name, (ull)address,
		(ull)geometry_of(r)->granularity);
}

static int check_plane(const struct kvp_realization *r, const struct rank *k,
		       size_t i, struct kvp_error *err)
{
	const struct addresses_plane *is = &k->recorded->planes[i];
	const struct kvp_plane *must = &geometry_of(r)->planes[i];

	if (strcmp(is->name, must->name) || is->stride != must->bytes_per_page)
		return kvp_error_set(err, KVP_EREFUSED,
			"addresses of rank %u: plane %zu is %s with stride "
			"%llu, the plan's is %s with stride %llu; they are of "
			"another plan", k->rank, i, is->name, (ull)is->stride,
			must->name, (ull)must->bytes_per_page);
	return check_alignment(r, k, is->name, is->address, err);
}

static int check_arena(const struct kvp_realization *r, const struct rank *k,
		       struct kvp_error *err)
{
	uint64_t is = k->recorded->arena_stride;
	uint64_t must = geometry_of(r)->row_stride;

	if (!k->recorded->arena != !k->arena_bytes)
		return kvp_error_set(err, KVP_EREFUSED,
			"addresses of rank %u: there is %s, the plan has %s; "
			"they are of another plan", k->rank,
			k->recorded->arena ? "an arena" : "no arena",
			k->arena_bytes ? "one" : "none");
	if (is != (k->arena_bytes ? must : 0))
		return kvp_error_set(err, KVP_EREFUSED,
			"addresses of rank %u: the arena has stride %llu, the "
			"plan's has %llu; they are of another plan", k->rank,
			(ull)is, (ull)must);
	return check_alignment(r, k, "the arena", k->recorded->arena, err);
}

static int check_rank(const struct kvp_realization *r, const struct rank *k,
		      struct kvp_error *err)
{
	size_t nplanes = geometry_of(r)->nplanes, i;
	int code = KVP_OK;

	if (!k->recorded)
		return kvp_error_set(err, KVP_EREFUSED,
			"addresses of rank %u: there are none; give those of "
			"every rank realized, or realize fewer ranks",
			k->rank);
	/* A plane that differs says more than the number of planes. */
	for (i = 0; i < nplanes && i < k->recorded->nplanes && !code; i++)
		code = check_plane(r, k, i, err);
	if (!code && nplanes != k->recorded->nplanes)
		code = kvp_error_set(err, KVP_EREFUSED,
			"addresses of rank %u: there are %zu planes, the plan "
			"has %zu; they are of another plan", k->rank,
			k->recorded->nplanes, nplanes);
	return code ? code : check_arena(r, k, err);
}

/* A geometry records one address per plane, which only one rank of a process
   can have. */
static int check_geometry(const struct kvp_realization *r,
			  struct kvp_error *err)
{
	const struct kvp_geometry *g = geometry_of(r);
	const char *name = g->has_arena_address && r->ranks[0].arena_bytes ?
			   "the arena" : NULL;
	size_t i;

	for (i = g->nplanes; i-- > 0;)
		if (g->planes[i].has_address)
			name = g->planes[i].name;
	if (!name || r->nranks == 1)
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED,
		"the geometry records one address of %s, %u ranks in one "
		"process need one each; realize one rank, such as --ranks=%u, "
		"or give every rank its own with --addresses", name, r->nranks,
		r->ranks[0].rank);
}

int recorded_check(const struct kvp_realization *r, struct kvp_error *err)
{
	uint32_t i;
	int code = KVP_OK;

	if (!r->options.addresses)
		return check_geometry(r, err);
	for (i = 0; i < r->nranks && !code; i++)
		code = check_rank(r, &r->ranks[i], err);
	return code;
}
