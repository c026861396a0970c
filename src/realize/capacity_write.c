/*
 * Writing a capacity document.
 */
#include <assert.h>

#include "base/json_tree.h"
#include "realize/capacity.h"

/* Page p of plane i begins at planes[i].address + p * planes[i].stride; rows
   in the arena likewise. */
static void add_addresses(struct json_tree *t, const struct capacity *c,
			  const struct capacity_rank *k)
{
	size_t i;

	json_tree_list(t, "planes", JSON_INLINE);
	for (i = 0; i < c->nplanes; i++) {
		json_tree_object(t, NULL, JSON_INLINE);
		json_tree_text(t, "name", c->planes[i].name);
		json_tree_u64(t, "address", k->planes[i]);
		json_tree_u64(t, "stride", c->planes[i].stride);
		json_tree_end(t);
	}
	json_tree_end(t);
	if (!c->arena_stride)
		return;
	json_tree_object(t, "arena", JSON_INLINE);
	json_tree_u64(t, "address", k->arena);
	json_tree_u64(t, "stride", c->arena_stride);
	json_tree_end(t);
}

static void add_headroom(struct json_tree *t, const struct capacity_rank *k)
{
	json_tree_object(t, "headroom", JSON_INLINE);
	json_tree_u64(t, "free_bytes", k->free_bytes);
	json_tree_u64_or_null(t, "cap_bytes", k->bounded, k->cap_bytes);
	json_tree_text(t, "term", k->cap_term);
	json_tree_end(t);
}

static void add_rank(struct json_tree *t, const struct capacity *c,
		     const struct capacity_rank *k)
{
	json_tree_object(t, NULL, JSON_INLINE);
	json_tree_u64(t, "rank", k->rank);
	json_tree_u64(t, "device", k->device);
	json_tree_u64(t, "pages", c->pages);
	json_tree_u64(t, "snapshot_rows", c->snapshot_rows);
	json_tree_u64(t, "execution_rows", c->execution_rows);
	json_tree_u64(t, "bytes", c->bytes);
	json_tree_u64(t, "chunks", c->chunks);
	json_tree_u64(t, "entries", k->entries);
	if (c->share)
		json_tree_u64(t, "readers", k->readers);
	json_tree_text(t, "uuid", k->uuid);
	json_tree_text(t, "device_name", k->device_name);
	add_headroom(t, k);
	add_addresses(t, c, k);
	json_tree_end(t);
}

/* Find the rank whose device has the least free memory: a cap computed from
   that is low enough for all ranks. */
static const struct capacity_rank *find_least_free(const struct capacity *c)
{
	size_t least = 0, i;

	assert(c->nranks);
	for (i = 1; i < c->nranks; i++)
		if (c->ranks[i].free_bytes < c->ranks[least].free_bytes)
			least = i;
	return &c->ranks[least];
}

/* What all ranks together hold; written only if all of them are there. */
static void add_total(struct json_tree *t, const struct capacity *c)
{
	json_tree_object(t, "capacity", JSON_INLINE);
	json_tree_u64(t, "pages", c->pages);
	json_tree_u64(t, "snapshot_rows", c->snapshot_rows);
	json_tree_u64(t, "execution_rows", c->execution_rows);
	json_tree_u64(t, "kv_tokens", c->kv_tokens);
	json_tree_u64(t, "bytes", c->bytes * c->nranks);
	json_tree_u64(t, "entries", c->entries + c->static_entries);
	add_headroom(t, find_least_free(c));
	json_tree_end(t);
}

/* What joining needs of a part. */
static void add_share(struct json_tree *t, const struct capacity *c)
{
	json_tree_text(t, "plan", c->plan);
	json_tree_text(t, "share", c->share);
	json_tree_text(t, "node", c->node);
	json_tree_u64(t, "kv_tokens", c->kv_tokens);
	json_tree_u64(t, "entries", c->entries);
	json_tree_u64(t, "static_entries", c->static_entries);
	json_tree_u64(t, "static_storage_entries", c->static_storage_entries);
}

static void add_records(struct json_tree *t,
			const struct kvp_access_record *a, size_t count)
{
	size_t i;

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
}

/* One record per rank and plane: its readers, the table entries they take,
   and their devices' free memory before and after. */
static void add_access(struct json_tree *t, const struct capacity *c)
{
	json_tree_list(t, "access", JSON_LINES);
	add_records(t, c->records, c->nrecords);
	add_records(t, c->imports, c->nimports);
	json_tree_end(t);
}

int capacity_write(const struct capacity *c, bool access, char **text,
		   size_t *len, struct kvp_error *err)
{
	struct json_tree t = { .root = NULL };
	bool complete = !c->share && c->nranks == c->ranks_total;
	size_t i;

	json_tree_object(&t, NULL, JSON_LINES);
	json_tree_text(&t, "format", KVP_CAPACITY_FORMAT);
	json_tree_text(&t, "name", c->name);
	json_tree_text(&t, "merge", c->merge);
	json_tree_text(&t, "backend", c->backend);
	json_tree_text(&t, "driver", c->driver);
	json_tree_text(&t, "version", c->version);
	json_tree_u64(&t, "ranks_total", c->ranks_total);
	json_tree_bool(&t, "complete", complete);
	json_tree_text(&t, "checked", c->checked);
	if (c->share)
		add_share(&t, c);
	if (complete)
		add_total(&t, c);
	json_tree_list(&t, "ranks", JSON_LINES);
	for (i = 0; i < c->nranks; i++)
		add_rank(&t, c, &c->ranks[i]);
	json_tree_end(&t);
	if (access)
		add_access(&t, c);
	json_tree_end(&t);
	return json_tree_finish(&t, text, len, err);
}
