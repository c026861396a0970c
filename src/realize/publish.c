/*
 * Publishing: what engines may rely on, written once every rank has it.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "base/version.h"
#include "realize/realization.h"

static void member(struct strbuf *b, const char *key, uint64_t value)
{
	strbuf_str(b, ",\n\"");
	strbuf_str(b, key);
	strbuf_str(b, "\":");
	strbuf_u64(b, value);
}

static void text_member(struct strbuf *b, const char *key, const char *text)
{
	strbuf_str(b, ",\n\"");
	strbuf_str(b, key);
	strbuf_str(b, "\":");
	strbuf_json_string(b, text);
}

/* Where planes and rows lie: page p of plane i is at
   planes[i].address + p * planes[i].stride. */
static void write_addresses(struct strbuf *b, const struct kvp_realization *r,
			    const struct rank *k)
{
	const struct kvp_geometry *g = geometry_of(r);
	size_t i;

	strbuf_str(b, ",\"planes\":[");
	for (i = 0; i < g->nplanes; i++) {
		strbuf_str(b, i ? ",{\"name\":" : "{\"name\":");
		strbuf_json_string(b, g->planes[i].name);
		strbuf_str(b, ",\"address\":");
		strbuf_u64(b, k->planes[i]);
		strbuf_str(b, ",\"stride\":");
		strbuf_u64(b, g->planes[i].bytes_per_page);
		strbuf_str(b, "}");
	}
	strbuf_str(b, "]");
	if (!k->arena_bytes)
		return;
	strbuf_str(b, ",\"arena\":{\"address\":");
	strbuf_u64(b, k->arena);
	strbuf_str(b, ",\"stride\":");
	strbuf_u64(b, g->row_stride);
	strbuf_str(b, "}");
}

static void write_headroom(struct strbuf *b, const struct kvp_realization *r,
			   uint32_t rank)
{
	uint64_t left;
	struct kvp_cap cap = kvp_realization_cap(r, rank, &left);

	strbuf_str(b, ",\"headroom\":{\"free_bytes\":");
	strbuf_u64(b, left);
	strbuf_str(b, ",\"cap_bytes\":");
	strbuf_u64_or_null(b, cap.bounded, cap.bytes);
	strbuf_str(b, ",\"term\":");
	strbuf_json_string(b, kvp_cap_term_name(cap.term));
	strbuf_str(b, "}");
}

static void write_rank(struct strbuf *b, const struct kvp_realization *r,
		       uint32_t i)
{
	const struct rank *k = &r->ranks[i];
	const struct kvp_geometry *g = geometry_of(r);
	const uint64_t numbers[] = {
		k->rank, k->device, g->pages, g->snapshot_rows,
		g->execution_rows, demand_bytes(r), r->plan->nchunks,
		demand_chunk_entries(r, k),
	};
	static const char *const keys[] = {
		"rank", "device", "pages", "snapshot_rows", "execution_rows",
		"bytes", "chunks", "entries",
	};
	size_t n;

	_Static_assert(sizeof(keys) / sizeof(*keys) ==
		       sizeof(numbers) / sizeof(*numbers), "a key each");
	strbuf_str(b, i ? ",\n{" : "\n{");
	for (n = 0; n < sizeof(keys) / sizeof(*keys); n++) {
		strbuf_printf(b, "%s\"%s\":", n ? "," : "", keys[n]);
		strbuf_u64(b, numbers[n]);
	}
	strbuf_str(b, ",\"uuid\":");
	strbuf_json_string(b, r->devices[i].uuid);
	strbuf_str(b, ",\"device_name\":");
	strbuf_json_string(b, r->devices[i].name);
	write_headroom(b, r, k->rank);
	write_addresses(b, r, k);
	strbuf_str(b, "}");
}

/* The rank whose device has the least left: one cap is good for all. */
static uint32_t least_left(const struct kvp_realization *r)
{
	uint32_t least = 0, i;

	assert(r->nranks);
	for (i = 1; i < r->nranks; i++)
		if (r->ranks[i].left < r->ranks[least].left)
			least = i;
	return r->ranks[least].rank;
}

/* What all ranks together hold; only when all of them are realized. */
static void write_node(struct strbuf *b, const struct kvp_realization *r)
{
	const struct kvp_geometry *g = geometry_of(r);

	strbuf_str(b, ",\n\"capacity\":{\"pages\":");
	strbuf_u64(b, g->pages);
	strbuf_str(b, ",\"snapshot_rows\":");
	strbuf_u64(b, g->snapshot_rows);
	strbuf_str(b, ",\"execution_rows\":");
	strbuf_u64(b, g->execution_rows);
	strbuf_str(b, ",\"kv_tokens\":");
	strbuf_u64(b, r->plan->summary.kv_tokens);
	strbuf_str(b, ",\"bytes\":");
	strbuf_u64(b, demand_bytes(r) * r->nranks);
	strbuf_str(b, ",\"entries\":");
	strbuf_u64(b, r->watch.entries);
	write_headroom(b, r, least_left(r));
	strbuf_str(b, "}");
}

/* One record per rank and plane: who may read it and what that took. */
static void write_access(struct strbuf *b, const struct kvp_realization *r)
{
	const struct kvp_access_record *a;
	size_t count, i, j;

	a = kvp_realization_access(r, &count);
	strbuf_str(b, ",\n\"access\":[");
	for (i = 0; i < count; i++, a++) {
		strbuf_printf(b, "%s\n{\"rank\":%u,\"plane\":%u,\"readers\":[",
			      i ? "," : "", a->rank, a->plane);
		for (j = 0; j < a->nreaders; j++)
			strbuf_printf(b, "%s%u", j ? "," : "", a->readers[j]);
		strbuf_str(b, "],\"entries\":");
		strbuf_u64(b, a->entries);
		strbuf_str(b, ",\"free_before\":");
		strbuf_numbers(b, a->free_before, a->nreaders);
		strbuf_str(b, ",\"free_after\":");
		strbuf_numbers(b, a->free_after, a->nreaders);
		strbuf_str(b, "}");
	}
	strbuf_str(b, "\n]");
}

static void write_all(struct strbuf *b, const struct kvp_realization *r,
		      bool access)
{
	const struct kvp_geometry *g = geometry_of(r);
	bool complete = r->nranks == g->ranks;
	uint32_t i;

	strbuf_str(b, "{\n\"format\":\"" KVP_CAPACITY_FORMAT "\"");
	text_member(b, "name", g->name);
	text_member(b, "merge", kvp_merge_name(r->plan->merge));
	text_member(b, "backend", r->watch.base.name);
	text_member(b, "driver", r->devices[0].driver);
	text_member(b, "version", version_text());
	member(b, "ranks_total", g->ranks);
	strbuf_str(b, complete ? ",\n\"complete\":true" :
				 ",\n\"complete\":false");
	strbuf_str(b, ",\n\"checked\":");
	strbuf_json_string(b, r->options.check == KVP_CHECK_FULL ? "full" :
			   r->options.check == KVP_CHECK_QUICK ? "quick" :
								 "none");
	if (complete)
		write_node(b, r);
	strbuf_str(b, ",\n\"ranks\":[");
	for (i = 0; i < r->nranks; i++)
		write_rank(b, r, i);
	strbuf_str(b, "\n]");
	if (access)
		write_access(b, r);
	strbuf_str(b, "\n}\n");
}

int kvp_realization_write(const struct kvp_realization *r, bool access,
			  char **text, size_t *len, struct kvp_error *err)
{
	struct strbuf b = { 0 };

	assert(r && text && len);
	write_all(&b, r, access);
	return strbuf_detach(&b, text, len, err);
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
