/*
 * Publishing: the capacity document that engines read is written when every
 * rank is realized and checked.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/version.h"
#include "model/fingerprint.h"
#include "realize/capacity.h"
#include "realize/realization.h"

static void fill_rank(struct capacity_rank *k, const struct kvp_realization *r,
		      uint32_t i)
{
	const struct rank *from = &r->ranks[i];
	struct kvp_cap cap = kvp_realization_cap(r, from->rank,
						 &k->free_bytes);

	k->rank = from->rank;
	k->device = from->device;
	k->entries = required_chunk_entries(r, from);
	k->readers = r->plan->access[from->rank].readers.count;
	k->uuid = r->devices[i].uuid;
	k->device_name = r->devices[i].name;
	k->bounded = cap.bounded;
	k->cap_bytes = cap.bytes;
	k->cap_term = kvp_cap_term_name(cap.term);
	k->planes = from->planes;
	k->arena = from->arena;
}

/* Fill in what is the same for every rank. */
static void fill_geometry(struct capacity *c, const struct kvp_realization *r)
{
	const struct kvp_geometry *g = geometry_of(r);
	size_t i;

	c->name = g->name;
	c->merge = kvp_merge_name(r->plan->merge);
	c->ranks_total = g->ranks;
	c->pages = g->pages;
	c->snapshot_rows = g->snapshot_rows;
	c->execution_rows = g->execution_rows;
	c->bytes = required_bytes(r);
	c->chunks = r->plan->nchunks;
	c->kv_tokens = r->plan->summary.kv_tokens;
	c->static_entries = g->static_entries;
	c->arena_stride = r->ranks[0].arena_bytes ? g->row_stride : 0;
	for (i = 0; i < g->nplanes; i++) {
		c->planes[i].name = g->planes[i].name;
		c->planes[i].stride = g->planes[i].bytes_per_page;
	}
	c->nplanes = g->nplanes;
}

/* What is held beside chunks, dedicated backing and imported planes is static
   storage, also that of other processes' ranks. */
static uint64_t static_storage_entries(const struct capacity *c)
{
	uint64_t others = 0;
	size_t i;

	for (i = 0; i < c->nranks; i++)
		others += c->ranks[i].entries;
	for (i = 0; i < c->nimports; i++)
		others += c->imports[i].entries;
	assert(others <= c->entries);
	return c->entries - others;
}

static void fill(struct capacity *c, const struct kvp_realization *r)
{
	uint32_t i;

	fill_geometry(c, r);
	c->backend = r->watch.base.name;
	c->driver = r->devices[0].driver;
	c->version = version_text();
	c->checked = r->options.check == KVP_CHECK_FULL ? "full" :
		     r->options.check == KVP_CHECK_QUICK ? "quick" : "none";
	c->entries = r->watch.entries - c->static_entries;
	for (i = 0; i < r->nranks; i++)
		fill_rank(&c->ranks[i], r, i);
	c->nranks = r->nranks;
	c->records = kvp_realization_access(r, &c->nrecords);
	c->imports = r->import_records;
	c->nimports = r->nimport_records;
	c->static_storage_entries = static_storage_entries(c);
}

int kvp_realization_write(const struct kvp_realization *r, bool access,
			  char **text, size_t *len, struct kvp_error *err)
{
	char plan[20], share[20];
	struct capacity c = { .name = NULL };
	int code = KVP_OK;

	assert(r && text && len);
	*text = NULL;
	*len = 0;
	c.ranks = calloc(r->nranks, sizeof(*c.ranks));
	c.planes = calloc(geometry_of(r)->nplanes, sizeof(*c.planes));
	if (!c.ranks || !c.planes)
		code = kvp_error_nomem(err);
	if (!code)
		fill(&c, r);
	if (r->share_id) {
		snprintf(plan, sizeof(plan), "%016llx",
			 (ull)plan_fingerprint(r->plan));
		snprintf(share, sizeof(share), "%016llx", (ull)r->share_id);
		c.plan = plan;
		c.share = share;
		c.node = r->node;
	}
	if (!code)
		code = capacity_write(&c, access, text, len, err);
	free(c.ranks);
	free(c.planes);
	return code;
}

int publish(struct kvp_realization *r, struct kvp_error *err)
{
	char *text = NULL;
	size_t len = 0;
	int code;

	assert(!r->published);
	if (!r->options.publish)
		return KVP_OK;
	code = kvp_realization_write(r, false, &text, &len, err);
	if (!code)
		code = kvp_file_commit(&r->file, text, len, err);
	free(text);
	r->published = !code;
	return code;
}
