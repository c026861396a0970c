/*
 * Importing: what other processes pass on is mapped in address ranges of this
 * process, and granted to its own devices.
 */
#include <assert.h>
#include <stdio.h>

#include "base/error.h"
#include "realize/alias_check.h"
#include "share/state.h"

static struct rank *rank_of(struct kvp_realization *r, uint32_t rank)
{
	assert(rank - r->options.first_rank < r->nranks);
	return &r->ranks[rank - r->options.first_rank];
}

const struct import *share_find_import(const struct kvp_realization *r,
				       uint32_t owner)
{
	uint32_t i;

	for (i = 0; i < r->nimports; i++)
		if (r->imports[i].rank == owner)
			return &r->imports[i];
	return NULL;
}

uint64_t share_count_items(const struct kvp_share *s)
{
	return s->plan->geometry.nstatics + s->plan->nchunks;
}

bool share_is_imported(const struct kvp_share *s, uint32_t owner,
		       uint64_t item, uint32_t first, uint32_t count)
{
	const struct kvp_geometry *g = &s->plan->geometry;

	return item < g->nstatics ?
		static_is_imported(g, item, owner, first, count) :
		planes_are_imported(s->plan, owner, first, count);
}

uint64_t share_item_bytes(const struct kvp_share *s, uint64_t item)
{
	size_t nstatics = s->plan->geometry.nstatics;

	return item < nstatics ? required_static_bytes(s->r, item) :
		s->plan->chunks[s->r->order[item - nstatics]].bytes;
}

int share_reserve(struct kvp_share *s, struct kvp_error *err)
{
	struct kvp_realization *r = s->r;
	struct import *m = r->imports;
	char what[128];
	struct rank *k;
	uint32_t plane, i;
	int code = KVP_OK;

	for (i = 0; i < r->nimports; i++, m++) {
		if (!m->nreaders)
			continue;
		k = rank_of(r, m->readers[0]);
		r->stage.rank = k->rank;
		r->stage.state = KVP_GRANTED;
		for (plane = 0; plane < geometry_of(r)->nplanes; plane++) {
			code = acquire_addresses(r, k,
				required_plane_bytes(r, plane), 0,
				&m->planes[plane], err);
			if (!code)
				continue;
			snprintf(what, sizeof(what), "plane %s of rank %u",
				 geometry_of(r)->planes[plane].name, m->rank);
			return add_rank_context(r, k, what, code, err);
		}
	}
	return KVP_OK;
}

/* Read the free memory of the import's readers, at a border of planes. */
static int read_free(struct kvp_realization *r, const struct import *m,
		     size_t border, struct kvp_error *err)
{
	return read_free_memory(r, m->devices, m->nreaders,
				m->free + border * m->nreaders, err);
}

/* Import a handle, map it and grant it. */
static int import_mapping(struct kvp_realization *r, struct rank *k,
			  const struct kvp_shared *shared, uint64_t address,
			  const struct kvp_grant *grants, size_t count,
			  struct kvp_error *err)
{
	struct memory memory;
	struct mapping m;
	int code = acquire_import(r, k, shared, &memory, err);

	if (!code)
		code = acquire_mapping(r, k, &m, address, shared->bytes,
				       &memory, err);
	return code ? code : grant_mapping(r, &m, grants, count, err);
}

static int import_chunk(struct kvp_realization *r, const struct import *m,
			size_t index, const struct kvp_shared *shared,
			struct kvp_error *err)
{
	const struct kvp_chunk *c = &r->plan->chunks[r->order[index]];
	struct rank *k = rank_of(r, m->readers[0]);
	char view[64];
	int code = KVP_OK;

	snprintf(view, sizeof(view), "plane imported from rank %u", m->rank);
	r->stage.rank = k->rank;
	r->stage.state = KVP_GRANTED;
	if (!index)
		code = read_free(r, m, 0, err);
	if (!code)
		code = import_mapping(r, k, shared,
				      m->planes[c->plane] + c->offset,
				      m->grants, m->nreaders, err);
	if (!code && index + 1 == r->plane_first[c->plane + 1])
		code = read_free(r, m, c->plane + 1, err);
	return code ? add_chunk_context(r, k, r->order[index], view, code,
					err) : KVP_OK;
}

static int import_static(struct kvp_realization *r, const struct import *m,
			 size_t item, const struct kvp_shared *shared,
			 struct kvp_error *err)
{
	const struct kvp_static *s = &geometry_of(r)->statics[item];
	struct kvp_grant grants[KVP_SHARE_RANKS_MAX];
	char what[128];
	struct rank *k = NULL;
	uint64_t address = 0;
	size_t count = 0;
	uint32_t i;
	int code;

	for (i = 0; i < r->nranks; i++) {
		if (!static_is_importer(geometry_of(r), m->rank,
					r->ranks[i].rank, s->importers))
			continue;
		k = k ? k : &r->ranks[i];
		grants[count++] = (struct kvp_grant){ r->ranks[i].device,
						      importer_flags(r) };
	}
	assert(k);
	r->stage.rank = k->rank;
	r->stage.state = KVP_GRANTED;
	code = acquire_addresses(r, k, shared->bytes, 0, &address, err);
	if (!code)
		code = import_mapping(r, k, shared, address, grants, count,
				      err);
	if (!code)
		return KVP_OK;
	snprintf(what, sizeof(what), "%.64s imported from rank %u", s->name,
		 m->rank);
	return add_rank_context(r, k, what, code, err);
}

int share_import(struct kvp_share *s, uint32_t owner, uint64_t item,
		 const struct kvp_shared *shared, struct kvp_error *err)
{
	size_t nstatics = s->plan->geometry.nstatics;
	const struct import *m = share_find_import(s->r, owner);

	assert(m && item < share_count_items(s));
	return item < nstatics ?
		import_static(s->r, m, item, shared, err) :
		import_chunk(s->r, m, item - nstatics, shared, err);
}

int share_write_patterns(struct kvp_share *s, struct kvp_error *err)
{
	struct kvp_realization *r = s->r;
	uint32_t i;
	int code = KVP_OK;

	r->stage.checking = true;
	for (i = 0; i < r->nranks && !code; i++) {
		const struct check_rank rank = {
			.rank = r->ranks[i].rank,
			.device = r->ranks[i].device,
			.planes = r->ranks[i].planes,
		};

		r->stage.rank = rank.rank;
		r->stage.state = KVP_CHECKED;
		code = alias_write_planes(backend_of(r), r->plan, &rank,
					  r->options.check, err);
	}
	r->stage.checking = false;
	return code;
}

/* Let every reader here read the planes of one rank. */
static int match_rank(struct kvp_realization *r, const struct import *m,
		      struct kvp_error *err)
{
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < m->nreaders && !code; i++) {
		const struct check_rank rank = {
			.rank = m->rank, .device = m->devices[i],
			.planes = m->planes,
		};

		r->stage.rank = m->readers[i];
		r->stage.state = KVP_CHECKED;
		code = alias_match_planes(backend_of(r), r->plan, &rank,
					  r->options.check, err);
	}
	return code;
}

int share_match_patterns(struct kvp_share *s, const struct share_blob *owner,
			 struct kvp_error *err)
{
	struct kvp_realization *r = s->r;
	const struct import *m;
	uint32_t i;
	int code = KVP_OK;

	r->stage.checking = true;
	for (i = 0; i < owner->nranks && !code; i++) {
		m = share_find_import(r, owner->first_rank + i);
		if (m)
			code = match_rank(r, m, err);
	}
	r->stage.checking = false;
	return code;
}

void share_fill_records(struct kvp_share *s)
{
	struct kvp_realization *r = s->r;
	const struct import *m = r->imports;
	uint32_t i, plane;
	size_t chunks;

	for (i = 0; i < r->nimports; i++, m++) {
		if (!m->nreaders)
			continue;
		for (plane = 0; plane < geometry_of(r)->nplanes; plane++) {
			chunks = r->plane_first[plane + 1] -
				 r->plane_first[plane];
			r->import_records[r->nimport_records++] =
				(struct kvp_access_record){
				.rank = m->rank, .plane = plane,
				.nreaders = m->nreaders,
				.readers = m->readers,
				.entries = chunks * m->nreaders,
				.free_before = m->free + plane * m->nreaders,
				.free_after = m->free +
					      (plane + 1) * m->nreaders,
			};
		}
	}
}
