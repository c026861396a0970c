/*
 * Where two geometries differ, key by key.
 */
#include <stdio.h>
#include <string.h>

#include "base/text_list.h"
#include "model/model.h"

struct compare {
	kvp_geometry_differ *differ;
	void *cookie;
	size_t count;
};

static void text(struct compare *c, const char *pointer, const char *a,
		 const char *b)
{
	if (!strcmp(a, b))
		return;
	c->count++;
	if (c->differ)
		c->differ(c->cookie, pointer, a, b);
}

static void number(struct compare *c, const char *pointer, uint64_t a,
		   uint64_t b)
{
	char x[24], y[24];

	if (a == b)
		return;
	snprintf(x, sizeof(x), "%llu", (unsigned long long)a);
	snprintf(y, sizeof(y), "%llu", (unsigned long long)b);
	text(c, pointer, x, y);
}

static void flag(struct compare *c, const char *pointer, bool a, bool b)
{
	text(c, pointer, a ? "true" : "false", b ? "true" : "false");
}

static void entries(struct compare *c, const char *pointer, size_t a,
		    size_t b)
{
	char x[32], y[32];

	snprintf(x, sizeof(x), "%zu entries", a);
	snprintf(y, sizeof(y), "%zu entries", b);
	text(c, pointer, x, y);
}

/* A number that may be absent, or null. */
static void optional(struct compare *c, const char *pointer,
		     const char *without, bool has_a, uint64_t a, bool has_b,
		     uint64_t b)
{
	char x[32], y[32];

	snprintf(x, sizeof(x), "%llu", (unsigned long long)a);
	snprintf(y, sizeof(y), "%llu", (unsigned long long)b);
	text(c, pointer, has_a ? x : without, has_b ? y : without);
}

static void presence(struct compare *c, const char *pointer, bool a, bool b)
{
	text(c, pointer, a ? "given" : "absent", b ? "given" : "absent");
}

static void element(struct compare *c, const char *list, size_t index,
		    const char *key, uint64_t a, uint64_t b)
{
	char pointer[96];

	if (a == b)
		return;
	snprintf(pointer, sizeof(pointer), "/%s/%zu%s%s", list, index,
		 *key ? "/" : "", key);
	number(c, pointer, a, b);
}

static void planes(struct compare *c, const struct kvp_geometry *a,
		   const struct kvp_geometry *b)
{
	const struct kvp_plane *x = a->planes, *y = b->planes;
	char pointer[64];
	size_t i;

	entries(c, "/planes", a->nplanes, b->nplanes);
	if (a->nplanes != b->nplanes)
		return;
	for (i = 0; i < a->nplanes; i++, x++, y++) {
		snprintf(pointer, sizeof(pointer), "/planes/%zu/name", i);
		text(c, pointer, x->name, y->name);
		element(c, "planes", i, "bytes_per_page", x->bytes_per_page,
			y->bytes_per_page);
		snprintf(pointer, sizeof(pointer), "/planes/%zu/alias", i);
		flag(c, pointer, x->alias, y->alias);
		snprintf(pointer, sizeof(pointer), "/planes/%zu/address", i);
		optional(c, pointer, "absent", x->has_address, x->address,
			 y->has_address, y->address);
	}
}

/* "[0,1,2]", or "[0,1 and 9 more]" where that is too long for a message. */
static const char *list_text(char *to, size_t size,
			     const struct kvp_ranks *ranks)
{
	struct text_list list;
	size_t i;

	to[0] = '[';
	text_list_begin(&list, to + 1, size - 2, ",");
	for (i = 0; i < ranks->count; i++)
		text_list_add(&list, 1, "%u", ranks->rank[i]);
	text_list_end(&list);
	strcat(to, "]");
	return to;
}

static void rank_lists(struct compare *c, const char *name, uint64_t ranks,
		       const struct kvp_ranks *a, const struct kvp_ranks *b)
{
	char pointer[64], x[160], y[160];
	size_t i;

	for (i = 0; i < ranks; i++) {
		if (a[i].count == b[i].count &&
		    !memcmp(a[i].rank, b[i].rank,
			    a[i].count * sizeof(*a[i].rank)))
			continue;
		snprintf(pointer, sizeof(pointer), "/access/%s/%zu", name, i);
		c->count++;
		if (c->differ)
			c->differ(c->cookie, pointer,
				  list_text(x, sizeof(x), &a[i]),
				  list_text(y, sizeof(y), &b[i]));
	}
}

static void statics(struct compare *c, const struct kvp_geometry *a,
		    const struct kvp_geometry *b)
{
	char pointer[64];
	size_t i;

	entries(c, "/static", a->nstatics, b->nstatics);
	if (a->nstatics != b->nstatics)
		return;
	for (i = 0; i < a->nstatics; i++) {
		snprintf(pointer, sizeof(pointer), "/static/%zu/name", i);
		text(c, pointer, a->statics[i].name, b->statics[i].name);
		element(c, "static", i, "bytes", a->statics[i].bytes,
			b->statics[i].bytes);
		snprintf(pointer, sizeof(pointer), "/static/%zu/importers", i);
		text(c, pointer,
		     static_importers_name(a->statics[i].importers),
		     static_importers_name(b->statics[i].importers));
	}
}

static void recorded(struct compare *c, const struct kvp_geometry *a,
		     const struct kvp_geometry *b)
{
	const struct kvp_chunk *x = a->base_chunks, *y = b->base_chunks;
	size_t i;

	presence(c, "/base_chunks", x, y);
	if (!x || !y)
		return;
	entries(c, "/base_chunks", a->nbase_chunks, b->nbase_chunks);
	if (a->nbase_chunks != b->nbase_chunks)
		return;
	for (i = 0; i < a->nbase_chunks; i++, x++, y++) {
		element(c, "base_chunks", i, "plane", x->plane, y->plane);
		element(c, "base_chunks", i, "offset", x->offset, y->offset);
		element(c, "base_chunks", i, "bytes", x->bytes, y->bytes);
		element(c, "base_chunks", i, "arena", x->arena, y->arena);
	}
}

static void headroom(struct compare *c, const struct kvp_geometry *a,
		     const struct kvp_geometry *b)
{
	presence(c, "/headroom", a->has_headroom, b->has_headroom);
	if (!a->has_headroom || !b->has_headroom)
		return;
	number(c, "/headroom/free_bytes", a->headroom.free_bytes,
	       b->headroom.free_bytes);
	optional(c, "/headroom/cap_bytes", "null", a->headroom.bounded,
		 a->headroom.cap_bytes, b->headroom.bounded,
		 b->headroom.cap_bytes);
}

size_t kvp_geometry_compare(const struct kvp_geometry *a,
			    const struct kvp_geometry *b,
			    kvp_geometry_differ *differ, void *cookie)
{
	struct compare c = { differ, cookie, 0 };

#define NUMBER(key) number(&c, "/" #key, a->key, b->key)
	text(&c, "/name", a->name, b->name);
	NUMBER(granularity);
	NUMBER(tile_granules);
	optional(&c, "/pages", "unstated", a->pages, a->pages, b->pages,
		 b->pages);
	NUMBER(page_tokens);
	optional(&c, "/snapshot_rows", "unstated",
		 a->snapshot_rows != KVP_UNSTATED, a->snapshot_rows,
		 b->snapshot_rows != KVP_UNSTATED, b->snapshot_rows);
	NUMBER(execution_rows);
	NUMBER(row_bytes);
	NUMBER(row_stride);
	NUMBER(ranks);
	NUMBER(ranks_per_node);
	NUMBER(dcp_group_size);
	planes(&c, a, b);
	if (a->ranks == b->ranks) {
		rank_lists(&c, "declared_readers", a->ranks,
			   a->declared_readers, b->declared_readers);
		rank_lists(&c, "imports", a->ranks, a->imports, b->imports);
	}
	text(&c, "/access/importer_mode",
	     importer_mode_name(a->importer_mode),
	     importer_mode_name(b->importer_mode));
	statics(&c, a, b);
	NUMBER(static_entries);
	NUMBER(entry_limit);
	NUMBER(entry_reserve);
	NUMBER(page_overhead_bytes);
	optional(&c, "/arena_address", "absent", a->has_arena_address,
		 a->arena_address, b->has_arena_address, b->arena_address);
#undef NUMBER
	headroom(&c, a, b);
	recorded(&c, a, b);
	return c.count;
}
