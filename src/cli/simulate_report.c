/*
 * Prints a simulation as a table or as one JSON object, in parts, since it
 * may have a million rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/simulate.h"

/* Rows that are always printed, from step 1 on. */
#define FIRST_ROWS 3

/* Text that is longer is printed. */
#define FLUSH_BYTES 65536

#define MIB (UINT64_C(1) << 20)
#define M(bytes) to_mib(bytes).text

static const char *const cap_words[] = {
	[SIMULATE_POLICY] = "policy", [SIMULATE_STATED] = "stated",
	[SIMULATE_UNBOUNDED] = "unbounded", [SIMULATE_OFF] = "off",
};

/* "1,024.0", to the nearest tenth. */
static struct number to_mib(uint64_t bytes)
{
	uint64_t tenths = (bytes % MIB * 20 / MIB + 1) / 2;
	struct number n = out_number(bytes / MIB + tenths / 10);
	size_t used;

	used = strlen(n.text);
	snprintf(n.text + used, sizeof(n.text) - used, ".%d",
		 (int)(tenths % 10));
	return n;
}

/* "0.9 MiB", or "700 bytes" where that would be 0.0. */
static void add_amount(struct strbuf *t, uint64_t bytes)
{
	if (bytes && bytes <= MIB / 20)
		strbuf_str(t, out_count(bytes, "byte").text);
	else
		strbuf_printf(t, "%s MiB", M(bytes));
}

static void flush_text(struct simulation *s)
{
	struct kvp_error err;
	char *text;
	size_t len;
	int code = strbuf_detach(&s->out.text, &text, &len, &err);

	if (!s->exit)
		s->exit = code ? out_error(&err) : out_text(text, len);
	free(text);
}

static void begin_json(struct simulation *s)
{
	const struct simulate_settings *set = s->settings;
	const struct kvp_decode *d = &set->decode;
	struct json_out *w = &s->out;

	json_put_object(w, NULL, JSON_INLINE);
	json_put_newline(w);
	json_put_text(w, "format", "kvplan/simulation/1");
	json_put_newline(w);
	json_put_object(w, "settings", JSON_INLINE);
	json_put_u64(w, "free_bytes", set->free_bytes);
	json_put_u64(w, "step_bytes", d->step_bytes);
	json_put_u64(w, "sizes", d->sizes);
	json_put_u64(w, "live_bytes", d->live_bytes);
	json_put_u64(w, "live_growth_bytes", d->live_growth_bytes);
	json_put_u64(w, "steps", d->steps);
	json_put_newline(w);
	json_put_bool(w, "grow", d->grow);
	json_put_u64(w, "growth_bytes", d->growth_bytes);
	json_put_u64(w, "grain_bytes", d->grain_bytes ? d->grain_bytes : 1);
	json_put_bool(w, "preallocate", d->preallocate);
	json_put_bool(w, "reconstructed", set->reconstructed);
	json_put_bool(w, "assumed", set->assumed);
	json_put_newline(w);
	json_put_text(w, "cap", cap_words[set->cap]);
	json_put_u64_or_null(w, "cap_bytes", set->cap == SIMULATE_STATED,
			     set->cap_bytes);
	json_put_u64(w, "every", set->every);
	json_put_end(w);
	json_put_newline(w);
	json_put_list(w, "rows", JSON_LINES);
}

/* "24.0 MiB live, growing by 199,229 bytes a step; " */
static void add_live(struct strbuf *t, const struct kvp_decode *d)
{
	if (!d->live_bytes && !d->live_growth_bytes)
		return;
	add_amount(t, d->live_bytes);
	strbuf_str(t, " live");
	if (d->live_growth_bytes)
		strbuf_printf(t, ", growing by %s a step",
			      out_count(d->live_growth_bytes, "byte").text);
	strbuf_str(t, "; ");
}

static void begin_text(struct simulation *s)
{
	const struct simulate_settings *set = s->settings;
	const struct kvp_decode *d = &set->decode;
	struct strbuf *t = &s->out.text;

	add_amount(t, set->free_bytes);
	strbuf_str(t, " free; ");
	add_live(t, d);
	add_amount(t, d->step_bytes);
	strbuf_printf(t, " a step in %s%s",
		      out_count(d->sizes, d->grow ? "growing tensor" :
						    "tensor").text,
		      d->preallocate ? ", allocated once" : "");
	if (!set->assumed)
		strbuf_printf(t, ", %s longer each step",
			      out_count(d->growth_bytes, "byte").text);
	if (d->grain_bytes > 1)
		strbuf_printf(t, ", rounded up to multiples of %s bytes",
			      out_number(d->grain_bytes).text);
	strbuf_printf(t, "%s\n\n",
		      set->reconstructed ? " (reconstructed)" : "");
	strbuf_printf(t, "%8s %12s %12s %7s %18s %12s\n", "step", "held MiB",
		      "cap MiB", "sizes", "freed MiB per step", "free MiB");
}

void simulate_begin(struct simulation *s)
{
	if (s->settings->json)
		begin_json(s);
	else
		begin_text(s);
}

static void row_json(struct simulation *s, const struct kvp_decode_row *row)
{
	const struct kvp_alloc_cache_counters *n = &row->counters;
	struct json_out *w = &s->out;

	json_put_object(w, NULL, JSON_INLINE);
	json_put_u64(w, "step", row->step);
	json_put_u64(w, "held_bytes", n->held_bytes);
	json_put_u64_or_null(w, "cap_bytes", n->cap.bounded, n->cap.bytes);
	json_put_u64(w, "live_bytes", n->live_bytes);
	json_put_u64(w, "sizes", n->sizes);
	json_put_u64(w, "hits", n->hits);
	json_put_u64(w, "freed_bytes", n->freed_bytes);
	json_put_u64(w, "free_bytes", row->free_bytes);
	json_put_end(w);
}

static void row_text(struct simulation *s, const struct kvp_decode_row *row)
{
	const struct kvp_alloc_cache_counters *n = &row->counters;
	struct number cap = to_mib(n->cap.bytes);

	strbuf_printf(&s->out.text, "%8llu %12s %12s %7llu %18s %12s\n",
		      (ull)row->step, M(n->held_bytes),
		      s->settings->cap == SIMULATE_OFF ? "off" :
		      n->cap.bounded ? cap.text : "unbounded",
		      (ull)n->sizes, M(n->freed_bytes),
		      M(row->free_bytes));
}

static void print_row(struct simulation *s, const struct kvp_decode_row *row)
{
	if (s->settings->json)
		row_json(s, row);
	else
		row_text(s, row);
	s->printed = row->step;
	if (s->out.text.len >= FLUSH_BYTES)
		flush_text(s);
}

static void print_last(struct simulation *s)
{
	if (s->last.step > s->printed)
		print_row(s, &s->last);
}

void simulate_row(void *cookie, const struct kvp_decode_row *row)
{
	struct simulation *s = cookie;
	const uint64_t step = row->step;

	if (!s->last.step)
		s->first_cap_bytes = row->counters.cap.bytes;
	if (row->counters.freed_bytes && !s->first_freed) {
		s->first_freed = step;
		print_last(s);
	}
	s->last = *row;
	if (step <= FIRST_ROWS || step % s->settings->every == 0 ||
	    (s->first_freed && step <= s->first_freed + 1))
		print_last(s);
}

static void end_json(struct simulation *s, const struct kvp_decode_result *r)
{
	const struct kvp_alloc_cache_counters *n = &r->counters;
	struct json_out *w = &s->out;

	json_put_end(w);
	json_put_newline(w);
	json_put_text(w, "outcome", r->exhausted ? "out of memory" : "lives");
	json_put_u64(w, "steps_ended", r->steps);
	json_put_u64_or_null(w, "tensor", r->exhausted, r->tensor);
	json_put_u64_or_null(w, "wanted_bytes", r->exhausted, r->wanted_bytes);
	json_put_u64(w, "free_bytes", r->free_bytes);
	json_put_u64(w, "pending_bytes", n->pending_bytes);
	json_put_newline(w);
	json_put_u64(w, "held_bytes", n->held_bytes);
	json_put_u64(w, "held_most_bytes", r->held_most_bytes);
	json_put_u64_or_null(w, "cap_bytes", n->cap.bounded, n->cap.bytes);
	json_put_text(w, "cap_term", kvp_cap_term_name(n->cap.term));
	json_put_u64(w, "sizes_most", r->sizes_most);
	json_put_newline(w);
	json_put_u64(w, "hits", n->hits_total);
	json_put_u64(w, "misses", n->misses_total);
	json_put_u64(w, "freed_bytes", r->freed_bytes);
	json_put_u64_or_null(w, "first_freed_step", r->first_freed_step != 0,
			     r->first_freed_step);
	json_put_newline(w);
	json_put_end(w);
}

/* " under a cap of 105.5 MiB, 92.3 MiB in the end" */
static void add_cap(struct simulation *s, const struct kvp_cap *cap)
{
	struct strbuf *t = &s->out.text;

	if (!cap->bounded) {
		strbuf_str(t, " without a cap");
		return;
	}
	strbuf_str(t, " under a cap of ");
	add_amount(t, s->first_cap_bytes);
	if (s->first_cap_bytes == cap->bytes)
		return;
	strbuf_str(t, ", ");
	add_amount(t, cap->bytes);
	strbuf_str(t, " in the end,");
}

/* "; the cache held at most 64.0 MiB under ... and never evicted" */
static void add_cache(struct simulation *s, const struct kvp_decode_result *r)
{
	struct strbuf *t = &s->out.text;

	if (s->settings->cap == SIMULATE_OFF) {
		strbuf_str(t, "; the cache was off and held nothing\n");
		return;
	}
	strbuf_str(t, r->exhausted ? "; the cache held " :
				     "; the cache held at most ");
	add_amount(t, r->exhausted ? r->counters.held_bytes :
				     r->held_most_bytes);
	add_cap(s, &r->counters.cap);
	if (!r->first_freed_step) {
		strbuf_str(t, " and never evicted\n");
		return;
	}
	strbuf_printf(t, " and evicted from step %s on, ",
		      out_number(r->first_freed_step).text);
	add_amount(t, r->freed_bytes);
	strbuf_str(t, " in all\n");
}

static void add_pending(struct strbuf *t, uint64_t bytes)
{
	if (!bytes)
		return;
	strbuf_str(t, ", ");
	add_amount(t, bytes);
	strbuf_str(t, " more freed after the step");
}

static void end_text(struct simulation *s, const struct kvp_decode_result *r)
{
	struct strbuf *t = &s->out.text;

	if (!r->exhausted) {
		strbuf_printf(t, "\n%s", out_count(r->steps, "step").text);
	} else {
		strbuf_printf(t, "\nout of memory %s step %s",
			      r->tensor ? "in" : "before",
			      out_number(r->steps + 1).text);
		if (r->tensor > s->settings->decode.sizes)
			strbuf_str(t, ", live memory");
		else if (r->tensor)
			strbuf_printf(t, ", tensor %u", r->tensor);
		strbuf_str(t, ": ");
		add_amount(t, r->wanted_bytes);
		strbuf_str(t, " wanted, ");
		add_amount(t, r->free_bytes);
		strbuf_str(t, " free");
		add_pending(t, r->counters.pending_bytes);
	}
	add_cache(s, r);
}

/* Print the state in which memory ran out. */
static void print_exhausted(struct simulation *s,
			    const struct kvp_decode_result *r)
{
	struct kvp_decode_row row = {
		.step = r->tensor ? r->steps + 1 : 0,
		.free_bytes = r->free_bytes, .counters = r->counters,
	};

	print_row(s, &row);
}

int simulate_end(struct simulation *s, const struct kvp_decode_result *result)
{
	print_last(s);
	if (!s->last.step)
		s->first_cap_bytes = result->counters.cap.bytes;
	if (result->exhausted)
		print_exhausted(s, result);
	if (s->settings->json)
		end_json(s, result);
	else
		end_text(s, result);
	flush_text(s);
	return s->exit;
}
