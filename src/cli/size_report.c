/*
 * Sizings as tables for people or as a list for programs.
 */
#include <stdlib.h>

#include "cli/size.h"

#define N(value) out_number(value).text

/* What others hold of a card; GPUs have been read. */
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

/* "1 plane", "2 planes". */
static void add_count(struct strbuf *b, const char *before, uint64_t count,
		      const char *what)
{
	strbuf_printf(b, "%s%s %s%s", before, N(count), what,
		      count == 1 ? "" : "s");
}

/* Whose free memory it is. */
static void add_source(struct strbuf *b, const struct size_answer *a,
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
		strbuf_printf(b, "  of %s there", N(gpu->total_bytes));
	}
}

static void add_budget(struct strbuf *b, const struct size_answer *a,
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

static void add_uses(struct strbuf *b, const struct size_answer *a,
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
		strbuf_printf(b, "  cap of a cache there %s",
			      N(each->headroom.cap_bytes));
	else
		strbuf_str(b, "  no cap of a cache there");
}

static void add_entries(struct strbuf *b, const struct kvp_geometry *g,
			const char *label, uint64_t entries)
{
	uint64_t limit = g->entry_limit - g->entry_reserve;

	add_line(b, label, entries);
	strbuf_printf(b, "  own %s, foreign %s; %s the limit, %s",
		      N(entries - g->static_entries), N(g->static_entries),
		      entries > limit ? "over" : "within", N(limit));
}

static void add_capacity(struct strbuf *b, const struct size_answer *a,
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
		   "; no more execution rows" : "; no more pages");
	add_line(b, "sequences", c->sequences_all_rows);
	add_count(b, "  beside all ", z->snapshot_rows, "row");
	if (c->sequences)
		return;
	add_line(b, "longest sequence", c->longest_tokens);
	strbuf_str(b, "  tokens");
}

/* The first mode that fits the table; NULL: none does. */
static const char *mode_that_fits(const struct sizing *each)
{
	enum kvp_merge merge;

	return sizing_mode(each, &merge) ? kvp_merge_name(merge) : NULL;
}

static void add_table(struct strbuf *b, const struct size_answer *a)
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

static void report_text(struct strbuf *b, const struct size_answer *a)
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

static void member(struct strbuf *b, const char *key, bool known,
		   uint64_t value)
{
	strbuf_printf(b, ",\n\"%s\":", key);
	strbuf_u64_or_null(b, known, value);
}

static void write_budget(struct strbuf *b, const struct size_answer *a,
			 const struct kvp_size *z)
{
	const struct size_memory *m = a->memory;
	bool known = z->bounded;

	member(b, "rank", known, z->rank);
	member(b, "free_bytes", known, z->free_bytes);
	member(b, "foreign_bytes", m->ngpus,
	       m->ngpus ? foreign_bytes(m, z) : 0);
	member(b, "reserve_bytes", known, z->reserve_bytes);
	member(b, "cache_bytes", known, z->cache_bytes);
	member(b, "budget_bytes", known, z->budget_bytes);
	member(b, "left_bytes", known, z->left_bytes);
}

static void write_uses(struct strbuf *b, const struct kvp_geometry *g,
		       const struct kvp_size *z)
{
	member(b, "page_bytes", true, z->page_bytes);
	member(b, "rounding_bytes", true, z->rounding_bytes);
	member(b, "dedicated_bytes", true, z->dedicated_bytes);
	member(b, "static_bytes", true, z->static_bytes);
	member(b, "page_overhead_bytes", true, g->page_overhead_bytes);
	member(b, "overhead_bytes", true, z->overhead_bytes);
	member(b, "used_bytes", true, z->used_bytes);
	member(b, "pages", true, z->pages);
	member(b, "snapshot_rows", true, z->snapshot_rows);
	member(b, "rows_that_fit", true, z->rows_that_fit);
	member(b, "pages_for_snapshots", z->pages_for_snapshots,
	       z->pages_for_snapshots);
	member(b, "execution_rows", true, g->execution_rows);
	member(b, "kv_tokens", true, z->kv_tokens);
}

static void write_headroom(struct strbuf *b, const struct sizing *each)
{
	const struct kvp_headroom *h = &each->headroom;

	strbuf_str(b, ",\n\"headroom\":");
	if (!each->size.bounded) {
		strbuf_str(b, "null");
		return;
	}
	strbuf_str(b, "{\"free_bytes\":");
	strbuf_u64(b, h->free_bytes);
	strbuf_str(b, ",\"cap_bytes\":");
	strbuf_u64_or_null(b, h->bounded, h->cap_bytes);
	strbuf_str(b, "}");
}

static void write_concurrency(struct strbuf *b, uint64_t length,
			      const struct kvp_concurrency *c)
{
	strbuf_str(b, ",\n\"concurrency\":{\"length\":");
	strbuf_u64(b, length);
	strbuf_str(b, ",\"pages_each\":");
	strbuf_u64(b, c->pages_each);
	strbuf_str(b, ",\"sequences\":");
	strbuf_u64(b, c->sequences);
	strbuf_str(b, ",\"rows_beside\":");
	strbuf_u64(b, c->rows_beside);
	strbuf_str(b, ",\"sequences_all_rows\":");
	strbuf_u64(b, c->sequences_all_rows);
	strbuf_str(b, ",\"longest\":");
	strbuf_u64(b, c->longest_tokens);
	strbuf_str(b, "}");
}

static void write_fitting(struct strbuf *b, const struct size_answer *a,
			  const struct sizing *each)
{
	const struct kvp_geometry *g = a->geometry;
	const char *fits = mode_that_fits(each);

	write_budget(b, a, &each->size);
	write_uses(b, g, &each->size);
	write_headroom(b, each);
	member(b, "static_entries", true, g->static_entries);
	strbuf_str(b, ",\n\"entries\":{\"none\":");
	strbuf_u64(b, each->entries[KVP_MERGE_NONE]);
	strbuf_str(b, ",\"row\":");
	strbuf_u64(b, each->entries[KVP_MERGE_ROW]);
	strbuf_str(b, ",\"span\":");
	strbuf_u64(b, each->entries[KVP_MERGE_SPAN]);
	strbuf_str(b, ",\"limit\":");
	strbuf_u64(b, g->entry_limit - g->entry_reserve);
	strbuf_str(b, ",\"mode\":");
	if (fits)
		strbuf_json_string(b, fits);
	else
		strbuf_str(b, "null");
	strbuf_str(b, "}");
	if (a->length)
		write_concurrency(b, a->length, &each->concurrency);
}

static void report_json(struct strbuf *b, const struct size_answer *a)
{
	const struct sizing *each;
	size_t i;

	strbuf_str(b, "[");
	for (i = 0; i < a->count; i++) {
		each = &a->sizings[i];
		strbuf_str(b, i ? ",\n{\"memory_limit\":" :
				  "\n{\"memory_limit\":");
		if (each->limit)
			strbuf_json_string(b, each->limit);
		else
			strbuf_str(b, "null");
		if (each->fits) {
			write_fitting(b, a, each);
		} else {
			strbuf_str(b, ",\n\"error\":");
			strbuf_json_string(b, each->error.text);
		}
		strbuf_str(b, "\n}");
	}
	strbuf_str(b, "\n]\n");
}

int size_report(const struct size_answer *a, bool as_json, char **text,
		size_t *len, struct kvp_error *err)
{
	struct strbuf b = { 0 };

	if (as_json)
		report_json(&b, a);
	else
		report_text(&b, a);
	return strbuf_detach(&b, text, len, err);
}
