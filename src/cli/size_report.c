/*
 * The sizings as tables or as a JSON list.
 */
#include <stdlib.h>

#include "base/json_tree.h"
#include "cli/size.h"

#define N(value) out_number(value).text

/* Bytes of a GPU that are not free before sizing; only with --gpus. */
static uint64_t foreign_bytes(const struct size_memory *m,
			      const struct kvp_size *z)
{
	uint64_t total = m->gpus[z->rank].info.total_bytes;

	return total > z->free_bytes ? total - z->free_bytes : 0;
}

/* --- for people --- */

static void add_line(struct strbuf *b, const char *label, uint64_t value)
{
	strbuf_printf(b, "\n  %-18s %21s", label, N(value));
}

static void add_count(struct strbuf *b, const char *before, uint64_t count,
		      const char *noun)
{
	strbuf_printf(b, "%s%s", before, out_count(count, noun).text);
}

/* Add the free bytes and the rank they belong to. */
static void add_source(struct strbuf *b, const struct size_result *a,
		       const struct kvp_size *z)
{
	const struct size_memory *m = a->memory;
	const struct kvp_device_info *gpu;

	add_line(b, "free", z->free_bytes);
	if (!m->ngpus && m->count == 1) {
		strbuf_str(b, "  on every rank");
	} else if (!m->ngpus) {
		strbuf_printf(b, "  on rank %u, the least of %zu", z->rank,
			      m->count);
	} else {
		gpu = &m->gpus[z->rank].info;
		strbuf_printf(b, "  on rank %u, %s, the least of %zu",
			      z->rank, gpu->label, m->ngpus);
		add_line(b, "used by others", foreign_bytes(m, z));
		strbuf_printf(b, "  of %s bytes", N(gpu->total_bytes));
	}
}

static void add_budget(struct strbuf *b, const struct size_result *a,
		       const struct sizing *each)
{
	const struct kvp_size *z = &each->size;

	if (!z->bounded) {
		strbuf_printf(b, "\n  %-18s %21s", "free", "not known");
		return;
	}
	add_source(b, a, z);
	add_line(b, "reserve", z->reserve_bytes);
	strbuf_printf(b, "  by memory limit %s", each->limit);
	add_line(b, "for a cache", z->cache_bytes);
	add_line(b, "budget", z->budget_bytes);
}

static void add_uses(struct strbuf *b, const struct size_result *a,
		     const struct sizing *each)
{
	const struct kvp_geometry *g = a->geometry;
	const struct kvp_size *z = &each->size;

	add_line(b, "planes", z->page_bytes);
	add_count(b, "  ", g->nplanes, "plane");
	add_line(b, "rounding", z->rounding_bytes);
	strbuf_printf(b, "  each plane to %s", N(g->granularity));
	add_line(b, "dedicated", z->dedicated_bytes);
	add_count(b, "  ", g->execution_rows, "execution row");
	add_line(b, "static", z->static_bytes);
	add_line(b, "page overhead", z->overhead_bytes);
	strbuf_printf(b, "  %s a page", N(g->page_overhead_bytes));
	add_line(b, "used", z->used_bytes);
	if (!z->bounded)
		return;
	add_line(b, "left", z->left_bytes);
	if (each->headroom.bounded)
		strbuf_printf(b, "  a cache in them may hold %s",
			      N(each->headroom.cap_bytes));
	else
		strbuf_str(b, "  a cache in them has no cap");
}

static void add_entries(struct strbuf *b, const struct kvp_geometry *g,
			const char *label, uint64_t entries)
{
	uint64_t limit = g->entry_limit - g->entry_reserve;

	add_line(b, label, entries);
	strbuf_printf(b, "  own %s, others' %s; %s the limit of %s",
		      N(entries - g->static_entries), N(g->static_entries),
		      entries > limit ? "over" : "within", N(limit));
}

static void add_capacity(struct strbuf *b, const struct size_result *a,
			 const struct sizing *each)
{
	const struct kvp_concurrency *c = &each->concurrency;
	const struct kvp_size *z = &each->size;

	add_line(b, "pages", z->pages);
	add_line(b, "tokens", z->kv_tokens);
	add_line(b, "snapshot rows", z->snapshot_rows);
	strbuf_printf(b, "  of %s that fit", N(z->rows_that_fit));
	add_entries(b, a->geometry, "entries, none", each->entries[0]);
	add_entries(b, a->geometry, "entries, row", each->entries[1]);
	add_entries(b, a->geometry, "entries, span", each->entries[2]);
	if (!a->length)
		return;
	add_line(b, "sequences", c->sequences);
	add_count(b, "  of ", a->length, "token");
	add_count(b, ", ", c->pages_each, "page");
	add_count(b, " each, beside ", c->rows_beside, "row");
	strbuf_str(b, a->geometry->execution_rows &&
		   c->sequences == a->geometry->execution_rows ?
		   "; then execution rows run out" :
		   "; then pages run out");
	add_line(b, "sequences", c->sequences_all_rows);
	add_count(b, "  beside all ", z->snapshot_rows, "row");
	if (c->sequences)
		return;
	add_line(b, "longest sequence", c->longest_tokens);
	strbuf_str(b, c->longest_tokens == 1 ? "  token" : "  tokens");
}

/* The first mode that fits the table; NULL: none does. */
static const char *mode_that_fits(const struct sizing *each)
{
	enum kvp_merge merge;

	return sizing_find_mode(each, &merge) ? kvp_merge_name(merge) : NULL;
}

static void add_table(struct strbuf *b, const struct size_result *a)
{
	const struct sizing *each;
	const char *fits;
	size_t i;

	strbuf_printf(b, "%-12s %13s %17s %9s %13s %13s %6s %21s%s\n",
		      "limit", "pages", "tokens", "rows", "entries, none",
		      "entries, row", "mode", "left",
		      a->length ? "  sequences" : "");
	for (i = 0; i < a->count; i++) {
		each = &a->sizings[i];
		strbuf_printf(b, "%-12s ", each->limit);
		if (!each->fits) {
			strbuf_printf(b, "%13s\n",
				      each->error.code == KVP_ELIMIT ?
				      "too large" : "does not fit");
			continue;
		}
		fits = mode_that_fits(each);
		strbuf_printf(b, "%13s %17s %9s %13s %13s %6s %21s",
			      N(each->size.pages), N(each->size.kv_tokens),
			      N(each->size.snapshot_rows),
			      N(each->entries[KVP_MERGE_NONE]),
			      N(each->entries[KVP_MERGE_ROW]),
			      fits ? fits : "over", N(each->size.left_bytes));
		if (a->length)
			strbuf_printf(b, " %10s",
				      N(each->concurrency.sequences));
		strbuf_str(b, "\n");
	}
}

static void report_text(struct strbuf *b, const struct size_result *a)
{
	const struct sizing *each;
	size_t i;

	for (i = 0; i < a->count; i++) {
		each = &a->sizings[i];
		if (!each->fits)
			continue;
		strbuf_line(b, a->geometry->name);
		add_budget(b, a, each);
		add_uses(b, a, each);
		add_capacity(b, a, each);
		strbuf_str(b, a->count > 1 ? "\n\n" : "\n");
	}
	if (a->count > 1)
		add_table(b, a);
}

/* --- for programs --- */

static void add_memory(struct json_tree *t, const struct size_result *a,
		       const struct kvp_size *z)
{
	const struct size_memory *m = a->memory;
	bool known = z->bounded;

	json_tree_u64_or_null(t, "rank", known, z->rank);
	json_tree_u64_or_null(t, "free_bytes", known, z->free_bytes);
	json_tree_u64_or_null(t, "foreign_bytes", m->ngpus,
			      m->ngpus ? foreign_bytes(m, z) : 0);
	json_tree_u64_or_null(t, "reserve_bytes", known, z->reserve_bytes);
	json_tree_u64_or_null(t, "cache_bytes", known, z->cache_bytes);
	json_tree_u64_or_null(t, "budget_bytes", known, z->budget_bytes);
	json_tree_u64_or_null(t, "left_bytes", known, z->left_bytes);
}

static void add_sizes(struct json_tree *t, const struct kvp_geometry *g,
		      const struct kvp_size *z)
{
	json_tree_u64(t, "page_bytes", z->page_bytes);
	json_tree_u64(t, "rounding_bytes", z->rounding_bytes);
	json_tree_u64(t, "dedicated_bytes", z->dedicated_bytes);
	json_tree_u64(t, "static_bytes", z->static_bytes);
	json_tree_u64(t, "page_overhead_bytes", g->page_overhead_bytes);
	json_tree_u64(t, "overhead_bytes", z->overhead_bytes);
	json_tree_u64(t, "used_bytes", z->used_bytes);
	json_tree_u64(t, "pages", z->pages);
	json_tree_u64(t, "snapshot_rows", z->snapshot_rows);
	json_tree_u64(t, "rows_that_fit", z->rows_that_fit);
	json_tree_u64_or_null(t, "pages_for_snapshots",
			      z->pages_for_snapshots, z->pages_for_snapshots);
	json_tree_u64(t, "execution_rows", g->execution_rows);
	json_tree_u64(t, "kv_tokens", z->kv_tokens);
}

static void add_headroom(struct json_tree *t, const struct sizing *each)
{
	const struct kvp_headroom *h = &each->headroom;

	if (!each->size.bounded) {
		json_tree_null(t, "headroom");
		return;
	}
	json_tree_object(t, "headroom", JSON_INLINE);
	json_tree_u64(t, "free_bytes", h->free_bytes);
	json_tree_u64_or_null(t, "cap_bytes", h->bounded, h->cap_bytes);
	json_tree_end(t);
}

static void add_modes(struct json_tree *t, const struct kvp_geometry *g,
		      const struct sizing *each)
{
	json_tree_u64(t, "static_entries", g->static_entries);
	json_tree_object(t, "entries", JSON_INLINE);
	json_tree_u64(t, "none", each->entries[KVP_MERGE_NONE]);
	json_tree_u64(t, "row", each->entries[KVP_MERGE_ROW]);
	json_tree_u64(t, "span", each->entries[KVP_MERGE_SPAN]);
	json_tree_u64(t, "limit", g->entry_limit - g->entry_reserve);
	json_tree_text(t, "mode", mode_that_fits(each));
	json_tree_end(t);
}

static void add_concurrency(struct json_tree *t, uint64_t length,
			    const struct kvp_concurrency *c)
{
	json_tree_object(t, "concurrency", JSON_INLINE);
	json_tree_u64(t, "length", length);
	json_tree_u64(t, "pages_each", c->pages_each);
	json_tree_u64(t, "sequences", c->sequences);
	json_tree_u64(t, "rows_beside", c->rows_beside);
	json_tree_u64(t, "sequences_all_rows", c->sequences_all_rows);
	json_tree_u64(t, "longest", c->longest_tokens);
	json_tree_end(t);
}

static void add_sizing(struct json_tree *t, const struct size_result *a,
		       const struct sizing *each)
{
	json_tree_object(t, NULL, JSON_HANGING);
	json_tree_text(t, "memory_limit", each->limit);
	if (each->fits) {
		add_memory(t, a, &each->size);
		add_sizes(t, a->geometry, &each->size);
		add_headroom(t, each);
		add_modes(t, a->geometry, each);
		if (a->length)
			add_concurrency(t, a->length, &each->concurrency);
	} else {
		json_tree_text(t, "error", each->error.text);
	}
	json_tree_end(t);
}

static int report_json(const struct size_result *a, char **text, size_t *len,
		       struct kvp_error *err)
{
	struct json_tree t = { .root = NULL };
	size_t i;

	json_tree_list(&t, NULL, JSON_LINES);
	for (i = 0; i < a->count; i++)
		add_sizing(&t, a, &a->sizings[i]);
	json_tree_end(&t);
	return json_tree_finish(&t, text, len, err);
}

int size_report(const struct size_result *a, bool as_json, char **text,
		size_t *len, struct kvp_error *err)
{
	struct strbuf b = { 0 };

	if (as_json)
		return report_json(a, text, len, err);
	report_text(&b, a);
	return strbuf_detach(&b, text, len, err);
}
