/*
 * A judgement as text for people and CI logs, or as one JSON object.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/verify.h"

/* One key in which the plan's geometry is not the file's. */
struct difference {
	struct report *report;
	size_t count;
};

static void text_difference(void *cookie, const char *pointer, const char *a,
			    const char *b)
{
	struct difference *d = cookie;

	struct strbuf *t = &d->report->text;

	strbuf_printf(t, "error: geometry: %s: %s in the plan, %s in ",
		      pointer, a, b);
	strbuf_line(t, d->report->settings->geometry_path);
	strbuf_str(t, "\n");
}

static void json_difference(void *cookie, const char *pointer, const char *a,
			    const char *b)
{
	struct difference *d = cookie;
	struct strbuf *t = &d->report->text;

	strbuf_str(t, d->count++ ? ",\n{\"pointer\":" : "\n{\"pointer\":");
	strbuf_json_string(t, pointer);
	strbuf_str(t, ",\"plan\":");
	strbuf_json_string(t, a);
	strbuf_str(t, ",\"file\":");
	strbuf_json_string(t, b);
	strbuf_str(t, "}");
}

static size_t differences(struct report *r, const struct judgement *j)
{
	struct difference d = { r, 0 };

	if (!r->settings->geometry_path)
		return 0;
	return kvp_geometry_compare(&j->plan.geometry, &r->settings->geometry,
				    r->settings->json ? json_difference :
							text_difference, &d);
}

/* What one plan came to, as in "VERIFIED plan.json: ...". */
static void verdict_line(struct report *r, const struct judgement *j,
			 size_t findings)
{
	const struct kvp_summary *s;

	strbuf_str(&r->text, j->ok ? "VERIFIED " : "NOT VERIFIED ");
	strbuf_line(&r->text, kvp_file_label(j->path));
	strbuf_str(&r->text, ": ");
	if (!j->verdict) {
		strbuf_str(&r->text, j->error->code == KVP_EREFUSED ?
			   "its node cannot hold it\n" :
			   "its rows do not fit\n");
		return;
	}
	s = kvp_verdict_summary(j->verdict);
	strbuf_printf(&r->text, "mode %s, %s chunks, lower bound %s, %s "
		      "tokens", kvp_merge_name(j->plan.merge),
		      out_number(j->plan.nchunks).text,
		      out_number(s->lower_bound).text,
		      out_number(s->kv_tokens).text);
	if (findings)
		strbuf_printf(&r->text, ", %s finding%s",
			      out_number(findings).text,
			      findings == 1 ? "" : "s");
	strbuf_str(&r->text, "\n");
}

static void add_text(struct report *r, const struct judgement *j)
{
	const struct kvp_finding *f = NULL;
	size_t count = 0, i;
	char text[512];

	if (j->verdict)
		f = kvp_verdict_findings(j->verdict, &count);
	for (i = 0; i < count; i++) {
		kvp_finding_text(&f[i], text, sizeof(text));
		strbuf_printf(&r->text, "%s: %s\n",
			      f[i].severity == KVP_ERROR ? "error" :
							   "warning", text);
	}
	if (j->verdict)
		count += differences(r, j);
	verdict_line(r, j, count);
}

static const char *place_name(enum kvp_place place)
{
	static const char *const names[] = {
		[KVP_AT_PLAN] = "plan", [KVP_AT_CHUNK] = "chunk",
		[KVP_AT_PLANE] = "plane", [KVP_AT_ROW] = "row",
		[KVP_AT_RANK] = "rank", [KVP_AT_NODE] = "node",
	};

	return names[place];
}

static void json_finding(struct strbuf *t, const struct kvp_finding *f)
{
	static const char *const relations[] = {
		[KVP_EXACTLY] = "exactly", [KVP_AT_MOST] = "at most",
		[KVP_AT_LEAST] = "at least",
	};

	strbuf_printf(t, "{\"rule\":\"%s\",\"severity\":\"%s\",\"place\":"
		      "\"%s\",\"index\":%llu,\"what\":",
		      kvp_rule_name(f->rule),
		      f->severity == KVP_ERROR ? "error" : "warning",
		      place_name(f->place), (unsigned long long)f->index);
	strbuf_json_string(t, f->what);
	strbuf_printf(t, ",\"stated\":%llu,\"relation\":\"%s\","
		      "\"expected\":%llu}", (unsigned long long)f->stated,
		      relations[f->relation],
		      (unsigned long long)f->expected);
}

static void json_findings(struct report *r, const struct judgement *j)
{
	const struct kvp_finding *f;
	struct strbuf *t = &r->text;
	size_t count, i;

	strbuf_printf(t, ",\"merge\":\"%s\",\"chunks\":%zu,\"lower_bound\":"
		      "%llu,\n\"findings\":[", kvp_merge_name(j->plan.merge),
		      j->plan.nchunks, (unsigned long long)
		      kvp_verdict_summary(j->verdict)->lower_bound);
	f = kvp_verdict_findings(j->verdict, &count);
	for (i = 0; i < count; i++) {
		strbuf_str(t, i ? ",\n" : "\n");
		json_finding(t, &f[i]);
	}
	strbuf_str(t, "],\n\"geometry\":[");
	differences(r, j);
	strbuf_str(t, "]");
}

static void add_json(struct report *r, const struct judgement *j)
{
	struct strbuf *t = &r->text;

	strbuf_str(t, r->added ? ",\n{\"file\":" : "\n{\"file\":");
	strbuf_json_string(t, kvp_file_label(j->path));
	strbuf_printf(t, ",\"verified\":%s", j->ok ? "true" : "false");
	if (j->verdict) {
		strbuf_str(t, ",\"name\":");
		strbuf_json_string(t, j->plan.geometry.name);
		json_findings(r, j);
	} else {
		strbuf_str(t, ",\"error\":");
		strbuf_json_string(t, j->error->text);
	}
	strbuf_str(t, "}");
}

void report_begin(struct report *r)
{
	if (r->settings->json)
		strbuf_str(&r->text, "{\"format\":\"kvplan/verify/1\",\n"
			   "\"plans\":[");
}

void report_add(struct report *r, const struct judgement *j)
{
	if (r->settings->json)
		add_json(r, j);
	else
		add_text(r, j);
	r->added++;
	r->good += j->ok;
}

void report_end(struct report *r, bool ok)
{
	if (r->settings->json)
		strbuf_printf(&r->text, "],\n\"verified\":%s}\n",
			      ok ? "true" : "false");
	else if (r->count > 1)
		strbuf_printf(&r->text, "%s %zu of %zu plans\n",
			      ok ? "VERIFIED" : "NOT VERIFIED", ok ? r->good :
			      r->count - r->good, r->count);
}
