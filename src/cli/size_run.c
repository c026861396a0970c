/*
 * Reads free memory, sizes the geometry once for every memory limit, prints
 * warnings and the report, and writes the sized geometry.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/u64.h"
#include "cli/files.h"
#include "cli/size.h"

#define N(value) out_number(value).text
#define C(value, noun) out_count(value, noun).text

bool size_to_stdout(const struct size_settings *s)
{
	return s->output && !strcmp(s->output, "-");
}

/* Compute the bytes that must stay free so that the cache gets its cap. */
static int compute_reserve(struct size_settings *s)
{
	int exit;

	if (!s->memory.count && !s->gpus)
		return KVP_EXIT_YES;
	exit = override_load(&s->override, NULL);
	if (exit || !s->reserve_cache)
		return exit;
	if (s->cap_bytes && s->override.given)
		return out_usage_error("--reserve-cache=%llu and "
			"KVPLAN_ALLOC_CACHE_MAX_MB both set the cap; give "
			"one of them", (ull)s->cap_bytes);
	if (!s->override.given) {
		s->cache_bytes = kvp_cap_free_needed(s->cap_bytes ?
			s->cap_bytes : KVP_CAP_FLOOR_BYTES);
		return KVP_EXIT_YES;
	}
	if (!s->override.bounded)
		return out_usage_error("--reserve-cache: "
			"KVPLAN_ALLOC_CACHE_MAX_MB is 0, and a cache without "
			"a cap has no size to keep free; give "
			"--reserve-cache=CAP or another override");
	/* A cap is reached only if it is at most half of the free bytes. */
	s->cache_bytes = 2 * s->override.bytes;
	return KVP_EXIT_YES;
}

/* Rank i is on the i-th GPU.  If there are more ranks than GPUs, the others
   repeat the readings, which leaves the least of them unchanged. */
static int read_gpus(struct size_settings *s, const struct kvp_geometry *g,
		     struct kvp_error *err)
{
	struct size_memory *m = &s->memory;
	size_t i;
	int code = gpus_read(&m->gpus, &m->ngpus, s->ngpus ? s->gpu : NULL,
			     s->ngpus, err);

	if (code)
		return code;
	m->ngpus = u64_min(m->ngpus, g->ranks);
	m->count = g->ranks;
	for (i = 0; i < m->count; i++)
		m->free_bytes[i] = m->gpus[i % m->ngpus].free_bytes;
	return KVP_OK;
}

/* Set an error that says why there are fewer rows than asked for. */
static void explain_rows(const struct size_settings *s,
			 const struct kvp_geometry *g,
			 const struct kvp_size *z, struct kvp_error *err)
{
	if (!g->row_bytes)
		kvp_error_set(err, KVP_EINFEASIBLE, "--snapshots=%s: the "
			"geometry has no row_bytes, so it gets no snapshot "
			"rows", N(s->snapshots));
	else if (z->rows_that_fit >= s->snapshots)
		kvp_error_set(err, KVP_EINFEASIBLE, "--snapshots=%s: a rank "
			"has at most %s rows; beside %s there are at most %s",
			N(s->snapshots), N(KVP_ROWS_MAX),
			C(g->execution_rows, "execution row"),
			C(z->snapshot_rows, "snapshot row"));
	else if (z->pages_for_snapshots)
		kvp_error_set(err, KVP_EINFEASIBLE, "--snapshots=%s: there is "
			"room for %s in %s; %s would take %s", N(s->snapshots),
			C(z->snapshot_rows, "snapshot row"),
			C(z->pages, "page"), N(s->snapshots),
			C(z->pages_for_snapshots, "page"));
	else
		kvp_error_set(err, KVP_EINFEASIBLE, "--snapshots=%s: there is "
			"room for %s in %s; no number of pages has room for "
			"%s", N(s->snapshots),
			C(z->snapshot_rows, "snapshot row"),
			C(z->pages, "page"), N(s->snapshots));
}

static void warn_rows(const struct size_settings *s,
		      const struct kvp_geometry *g, const struct sizing *each)
{
	struct kvp_error why = { 0 };

	/* Without any row the answer is no, see report_all_no(). */
	if (!each->lacks_rows || each->lacks_all_rows)
		return;
	explain_rows(s, g, &each->size, &why);
	out_warning("%s", why.text);
}

static void warn_driver(const struct size_settings *s,
			const struct sizing *each)
{
	if (each->lacks_driver_bytes)
		out_warning("%s bytes are left, the driver keeps %s free "
			    "(measured on H200), so realize --gpus refuses "
			    "the plan; %s", N(each->size.left_bytes),
			    N(KVP_DRIVER_BYTES), s->pages || s->tokens ?
			    "fewer pages leave more" :
			    "--memory-limit=-2M leaves that much");
}

/* Print what would make mode row fit. */
static void print_cures(const struct sizing *each)
{
	if (each->rows_in_row_mode != KVP_UNSTATED)
		fprintf(stderr, "kvplan: note: with --snapshots=%llu mode row "
			"fits, with --snapshots=%llu mode span\n",
			(ull)each->rows_in_row_mode,
			(ull)each->rows_in_span_mode);
	if (each->tile_granules)
		fprintf(stderr, "kvplan: note: with --tile-granules=%llu mode "
			"row fits as well; a row then conflicts with more "
			"pages, see kvplan plan\n",
			(ull)each->tile_granules);
}

/* Print the warnings of one sizing; with several limits, under a line that
   names its limit. */
static void warn_sizing(const struct sizing *each,
			const struct size_settings *s,
			const struct kvp_geometry *g)
{
	const struct kvp_headroom *h = each->size.bounded ? &each->headroom :
							    NULL;

	if (s->nlimits > 1 &&
	    (each->fit.entries > each->fit.limit ||
	     (h && !cap_is_reached(h->bounded, h->cap_bytes,
				   h->free_bytes)) ||
	     each->lacks_driver_bytes ||
	     each->fit.address_bytes > KVP_ADDRESS_END || each->lacks_rows))
		fprintf(stderr, "kvplan: note: with memory limit %s:\n",
			each->limit);
	warn_rows(s, g, each);
	warn_driver(s, each);
	summary_warn(g, h, &each->fit);
	print_cures(each);
}

/* Another limit may still fit after this code. */
static bool may_go_on(int code)
{
	return !code || code == KVP_EINFEASIBLE || code == KVP_ELIMIT;
}

/* Size for one limit; `sized` is empty if it does not fit. */
static int size_one(struct sizing *each, struct kvp_geometry *sized,
		    const struct size_settings *s, const struct kvp_geometry *g,
		    struct kvp_error *err)
{
	const struct sizing_wish wish = {
		.size = {
			.free_bytes = s->memory.free_bytes,
			.nfree = s->memory.count,
			.cache_bytes = s->cache_bytes,
			.pages = s->pages, .snapshots = s->snapshots,
		},
		.override = s->override, .tokens = s->tokens,
		.length = s->length,
	};
	int code = sizing_make(each, sized, g, &wish, err);

	if (code && s->nlimits > 1)
		kvp_error_wrap(err, code, "memory limit %s", each->limit);
	if (code)
		each->error = *err;
	else
		warn_sizing(each, s, g);
	return code;
}

/* Write the file first, so that a failed print does not lose it. */
static int write_results(const struct size_settings *s,
			 const struct kvp_geometry *g,
			 const struct kvp_geometry *sized, size_t count)
{
	struct size_result a = {
		.geometry = g, .memory = &s->memory, .length = s->length,
		.sizings = s->sizings, .count = count,
	};
	char *text = NULL, *file = NULL;
	size_t len, file_len = 0;
	struct kvp_error err = { 0 };
	int exit = KVP_EXIT_YES;
	int code = size_report(&a, s->json, &text, &len, &err);

	if (!code && s->output && sized->name)
		code = kvp_geometry_write(sized, &file, &file_len, &err);
	if (!code && file && !size_to_stdout(s))
		code = files_write(s->output, file, file_len, &err);
	if (code)
		exit = out_error(&err);
	else if (file && size_to_stdout(s))
		exit = out_text(file, file_len);
	if (!exit && size_to_stdout(s))
		fputs(text, stderr);
	else if (!exit)
		exit = out_text(text, len);
	free(text);
	free(file);
	return exit;
}

/* Print an error, or a warning if another limit fits. */
static void report_lack(const struct size_settings *s,
			const struct sizing *each, bool others,
			struct kvp_error *why)
{
	if (s->nlimits > 1)
		kvp_error_wrap(why, why->code, "memory limit %s", each->limit);
	kvp_error_wrap(why, why->code, "%s", kvp_file_label(s->input));
	if (others)
		out_warning("%s", why->text);
	else
		out_error(why);
}

static void report_no(const struct size_settings *s,
		      const struct kvp_geometry *g, const struct sizing *each,
		      bool others)
{
	const struct kvp_concurrency *c = &each->concurrency;
	struct kvp_error why = { 0 };

	if (each->lacks_sequence) {
		kvp_error_set(&why, KVP_EINFEASIBLE, "--length=%s: no sequence "
			"of that length fits: it takes %s, a rank has %s; "
			"the longest that fits has %s", N(s->length),
			C(c->pages_each, "page"), N(each->size.pages),
			C(c->longest_tokens, "token"));
		report_lack(s, each, others, &why);
	}
	if (each->lacks_all_rows) {
		explain_rows(s, g, &each->size, &why);
		report_lack(s, each, others, &why);
	}
}

/* Print every limit for which no sequence or row fits.  True if that is so
   for all. */
static bool report_all_no(const struct size_settings *s,
			  const struct kvp_geometry *g, size_t count)
{
	bool yes = false, no = false;
	size_t i;

	for (i = 0; i < count; i++) {
		no = no || sizing_falls_short(&s->sizings[i]);
		yes = yes || (s->sizings[i].fits &&
			      !sizing_falls_short(&s->sizings[i]));
	}
	for (i = 0; i < count; i++)
		if (sizing_falls_short(&s->sizings[i]))
			report_no(s, g, &s->sizings[i], yes);
	return no && !yes;
}

/* Size for every limit; one that does not fit does not stop the others. */
static int size_all(struct size_settings *s, const struct kvp_geometry *g)
{
	size_t count = s->nlimits ? s->nlimits : 1, i;
	struct kvp_geometry sized = { 0 };
	struct kvp_error err = { 0 };
	int exit = KVP_EXIT_YES, status, code = KVP_OK;

	if (!s->nlimits && s->memory.count)
		s->sizings[0].limit = "-0G";
	for (i = 0; i < count && may_go_on(code); i++) {
		kvp_geometry_release(&sized);
		code = size_one(&s->sizings[i], &sized, s, g, &err);
		if (code) {
			kvp_error_wrap(&err, code, "%s",
				       kvp_file_label(s->input));
			status = out_error(&err);
			exit = status > exit ? status : exit;
		}
	}
	if (may_go_on(code)) {
		if (report_all_no(s, g, count)) {
			kvp_geometry_release(&sized);	/* not written */
			exit = exit > KVP_EXIT_NO ? exit : KVP_EXIT_NO;
		}
		status = write_results(s, g, &sized, count);
		exit = status > exit ? status : exit;
	}
	kvp_geometry_release(&sized);
	return exit;
}

int size_run(struct size_settings *s)
{
	struct kvp_geometry g = { 0 };
	struct kvp_error err = { 0 };
	int exit = compute_reserve(s), code;

	if (exit)
		return exit;
	code = geometry_load_unsized(&g, s->input, &err);
	if (!code && s->tile_granules)
		g.tile_granules = s->tile_granules;
	if (!code && s->gpus)
		code = read_gpus(s, &g, &err);
	exit = code ? out_error(&err) : size_all(s, &g);
	kvp_geometry_release(&g);
	free(s->memory.gpus);
	return exit;
}
