/*
 * Publishing: the capacity document that engines read is written when every
 * rank is realized and checked.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/json_tree.h"
#include "base/version.h"
#include "realize/realization.h"

/* Page p of plane i begins at planes[i].address + p * planes[i].stride; rows
   in the arena likewise. */
static void add_addresses(struct json_tree *t, const struct kvp_realization *r,
			  const struct rank *k)
{
	const struct kvp_geometry *g = geometry_of(r);
	size_t i;

	json_tree_list(t, "planes", JSON_INLINE);
	for (i = 0; i < g->nplanes; i++) {
		json_tree_object(t, NULL, JSON_INLINE);
		json_tree_text(t, "name", g->planes[i].name);
		json_tree_u64(t, "address", k->planes[i]);
		json_tree_u64(t, "stride", g->planes[i].bytes_per_page);
		json_tree_end(t);
	}
	json_tree_end(t);
	if (!k->arena_bytes)
		return;
	json_tree_object(t, "arena", JSON_INLINE);
	json_tree_u64(t, "address", k->arena);
	json_tree_u64(t, "stride", g->row_stride);
	json_tree_end(t);
}

static void add_headroom(struct json_tree *t, const struct kvp_realization *r,
			 uint32_t rank)
{
	uint64_t left;
	struct kvp_cap cap = kvp_realization_cap(r, rank, &left);

	json_tree_object(t, "headroom", JSON_INLINE);
	json_tree_u64(t, "free_bytes", left);
	json_tree_u64_or_null(t, "cap_bytes", cap.bounded, cap.bytes);
	json_tree_text(t, "term", kvp_cap_term_name(cap.term));
	json_tree_end(t);
}

static void add_rank(struct json_tree *t, const struct kvp_realization *r,
		     uint32_t i)
{
	const struct rank *k = &r->ranks[i];
	const struct kvp_geometry *g = geometry_of(r);

	json_tree_object(t, NULL, JSON_INLINE);
	json_tree_u64(t, "rank", k->rank);
	json_tree_u64(t, "device", k->device);
	json_tree_u64(t, "pages", g->pages);
	json_tree_u64(t, "snapshot_rows", g->snapshot_rows);
	json_tree_u64(t, "execution_rows", g->execution_rows);
	json_tree_u64(t, "bytes", required_bytes(r));
	json_tree_u64(t, "chunks", r->plan->nchunks);
	json_tree_u64(t, "entries", required_chunk_entries(r, k));
	json_tree_text(t, "uuid", r->devices[i].uuid);
	json_tree_text(t, "device_name", r->devices[i].name);
	add_headroom(t, r, k->rank);
	add_addresses(t, r, k);
	json_tree_end(t);
}

/* Find the rank whose device has the least free memory: a cap computed from
   that is low enough for all ranks. */
static uint32_t find_least_left(const struct kvp_realization *r)
{
	uint32_t least = 0, i;

	assert(r->nranks);
	for (i = 1; i < r->nranks; i++)
		if (r->ranks[i].left < r->ranks[least].left)
			least = i;
	return r->ranks[least].rank;
}

/* What all ranks together hold; written only if all of them are realized. */
static void add_node(struct json_tree *t, const struct kvp_realization *r)
{
	const struct kvp_geometry *g = geometry_of(r);

	json_tree_object(t, "capacity", JSON_INLINE);
	json_tree_u64(t, "pages", g->pages);
	json_tree_u64(t, "snapshot_rows", g->snapshot_rows);
	json_tree_u64(t, "execution_rows", g->execution_rows);
	json_tree_u64(t, "kv_tokens", r->plan->summary.kv_tokens);
	json_tree_u64(t, "bytes", required_bytes(r) * r->nranks);
	json_tree_u64(t, "entries", r->watch.entries);
	add_headroom(t, r, find_least_left(r));
	json_tree_end(t);
}

/* One record per rank and plane: its readers, the table entries they take,
   and their devices' free memory before and after. */
static void add_access(struct json_tree *t, const struct kvp_realization *r)
{
	const struct kvp_access_record *a;
	size_t count, i;

	a = kvp_realization_access(r, &count);
	json_tree_list(t, "access", JSON_LINES);
	for (i = 0; i < count; i++, a++) {
		json_tree_object(t, NULL, JSON_INLINE);
		json_tree_u64(t, "rank", a->rank);
		json_tree_u64(t, "plane", a->plane);
		json_tree_u32s(t, "readers", a->readers, a->nreaders);
		json_tree_u64(t, "entries", a->entries);
		json_tree_u64s(t, "free_before", a->free_before, a->nreaders);
		json_tree_u64s(t, "free_after", a->free_after, a->nreaders);
		json_tree_end(t);
	}
	json_tree_end(t);
}

static void add_all(struct json_tree *t, const struct kvp_realization *r,
		    bool access)
{
	const struct kvp_geometry *g = geometry_of(r);
	bool complete = r->nranks == g->ranks;
	uint32_t i;

	json_tree_object(t, NULL, JSON_LINES);
	json_tree_text(t, "format", KVP_CAPACITY_FORMAT);
	json_tree_text(t, "name", g->name);
	json_tree_text(t, "merge", kvp_merge_name(r->plan->merge));
	json_tree_text(t, "backend", r->watch.base.name);
	json_tree_text(t, "driver", r->devices[0].driver);
	json_tree_text(t, "version", version_text());
	json_tree_u64(t, "ranks_total", g->ranks);
	json_tree_bool(t, "complete", complete);
	json_tree_text(t, "checked",
		       r->options.check == KVP_CHECK_FULL ? "full" :
		       r->options.check == KVP_CHECK_QUICK ? "quick" : "none");
	if (complete)
		add_node(t, r);
	json_tree_list(t, "ranks", JSON_LINES);
	for (i = 0; i < r->nranks; i++)
		add_rank(t, r, i);
	json_tree_end(t);
	if (access)
		add_access(t, r);
	json_tree_end(t);
}

int kvp_realization_write(const struct kvp_realization *r, bool access,
			  char **text, size_t *len, struct kvp_error *err)
{
	struct json_tree t = { .root = NULL };

	assert(r && text && len);
	add_all(&t, r, access);
	return json_tree_finish(&t, text, len, err);
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
