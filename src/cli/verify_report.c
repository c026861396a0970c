/*
 * The verdicts of all operands as text or as one JSON object.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json_tree.h"
#include "cli/verify.h"

/* Add a key whose value differs in the plan's geometry and the file. */
static void text_difference(void *cookie, const char *pointer, const char *a,
			    const char *b)
{
	struct report *r = cookie;
	struct strbuf *t = &r->out.text;

	strbuf_printf(t, "error: geometry: %s: %s in the plan, %s in ",
		      pointer, a, b);
	strbuf_line(t, r->settings->geometry_path);
	strbuf_str(t, "\n");
}

static void json_difference(void *cookie, const char *pointer, const char *a,
			    const char *b)
{
	struct report *r = cookie;
	struct json_out *w = &r->out;

	json_put_newline(w);
	json_put_object(w, NULL, JSON_INLINE);
	json_put_text(w, "pointer", pointer);
	json_put_text(w, "plan", a);
	json_put_text(w, "file", b);
	json_put_end(w);
}

static size_t add_differences(struct report *r, const struct operand *o)
{
	if (!r->settings->geometry_path)
		return 0;
	return kvp_geometry_compare(&o->plan.geometry, &r->settings->geometry,
				    r->settings->json ? json_difference :
							text_difference, r);
}

/* Add the line "VERIFIED plan.json: ...". */
static void add_verdict(struct report *r, const struct operand *o,
			size_t findings)
{
	const struct kvp_summary *s;

	strbuf_str(&r->out.text, o->ok ? "VERIFIED " : "NOT VERIFIED ");
	strbuf_line(&r->out.text, kvp_file_label(o->path));
	strbuf_str(&r->out.text, ": ");
	if (!o->verdict) {
		strbuf_str(&r->out.text, o->error->code == KVP_EREFUSED ?
			   "the limits of the node do not allow it\n" :
			   "its rows do not fit\n");
		return;
	}
	s = kvp_verdict_summary(o->verdict);
	strbuf_printf(&r->out.text, "mode %s, %s, lower bound %s, %s",
		      kvp_merge_name(o->plan.merge),
		      out_count(o->plan.nchunks, "chunk").text,
		      out_number(s->lower_bound).text,
		      out_count(s->kv_tokens, "token").text);
	if (findings)
		strbuf_printf(&r->out.text, ", %s",
			      out_count(findings, "finding").text);
	strbuf_str(&r->out.text, "\n");
}

static void add_text(struct report *r, const struct operand *o)
{
	const struct kvp_finding *f = NULL;
	size_t count = 0, i;
	char text[512];

	if (o->verdict)
		f = kvp_verdict_findings(o->verdict, &count);
	for (i = 0; i < count; i++) {
		kvp_finding_text(&f[i], text, sizeof(text));
		strbuf_printf(&r->out.text, "%s: %s\n",
			      f[i].severity == KVP_ERROR ? "error" :
							   "warning", text);
	}
	if (o->verdict)
		count += add_differences(r, o);
	add_verdict(r, o, count);
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

static void json_finding(struct json_out *w, const struct kvp_finding *f)
{
	static const char *const relations[] = {
		[KVP_EXACTLY] = "exactly", [KVP_AT_MOST] = "at most",
		[KVP_AT_LEAST] = "at least",
	};

	json_put_newline(w);
	json_put_object(w, NULL, JSON_INLINE);
	json_put_text(w, "rule", kvp_rule_name(f->rule));
	json_put_text(w, "severity",
		      f->severity == KVP_ERROR ? "error" : "warning");
	json_put_text(w, "place", place_name(f->place));
	json_put_u64(w, "index", f->index);
	json_put_text(w, "what", f->what);
	json_put_u64(w, "stated", f->stated);
	json_put_text(w, "relation", relations[f->relation]);
	json_put_u64(w, "expected", f->expected);
	json_put_end(w);
}

/* Streamed, since there may be very many of both. */
static void json_findings(struct report *r, const struct operand *o)
{
	const struct kvp_finding *f;
	struct json_out *w = &r->out;
	size_t count, i;

	f = kvp_verdict_findings(o->verdict, &count);
	json_put_newline(w);
	json_put_list(w, "findings", JSON_INLINE);
	for (i = 0; i < count; i++)
		json_finding(w, &f[i]);
	json_put_end(w);
	json_put_newline(w);
	json_put_list(w, "geometry", JSON_INLINE);
	add_differences(r, o);
	json_put_end(w);
}

/* One verdict without its findings. */
static void json_verdict(struct json_tree *t, const struct operand *o)
{
	json_tree_object(t, NULL, JSON_INLINE);
	json_tree_text(t, "file", kvp_file_label(o->path));
	json_tree_bool(t, "verified", o->ok);
	if (o->verdict) {
		json_tree_text(t, "name", o->plan.geometry.name);
		json_tree_text(t, "merge", kvp_merge_name(o->plan.merge));
		json_tree_u64(t, "chunks", o->plan.nchunks);
		json_tree_u64(t, "lower_bound",
			      kvp_verdict_summary(o->verdict)->lower_bound);
	} else {
		json_tree_text(t, "error", o->error->text);
	}
	json_tree_end(t);
}

static void add_json(struct report *r, const struct operand *o)
{
	struct json_tree verdict = { .root = NULL };

	json_verdict(&verdict, o);
	json_put_newline(&r->out);
	json_put_object(&r->out, NULL, JSON_INLINE);
	json_tree_members(&verdict, &r->out);
	if (o->verdict)
		json_findings(r, o);
	json_put_end(&r->out);
}

void report_begin(struct report *r)
{
	if (!r->settings->json)
		return;
	json_put_object(&r->out, NULL, JSON_INLINE);
	json_put_text(&r->out, "format", "kvplan/verify/1");
	json_put_newline(&r->out);
	json_put_list(&r->out, "plans", JSON_INLINE);
}

void report_add(struct report *r, const struct operand *o)
{
	if (r->settings->json)
		add_json(r, o);
	else
		add_text(r, o);
	r->good += o->ok;
}

void report_end(struct report *r, bool ok)
{
	if (r->settings->json) {
		json_put_end(&r->out);
		json_put_newline(&r->out);
		json_put_bool(&r->out, "verified", ok);
		json_put_end(&r->out);
	} else if (r->count > 1) {
		strbuf_printf(&r->out.text, "%s %zu of %zu plans\n",
			      ok ? "VERIFIED" : "NOT VERIFIED", ok ? r->good :
			      r->count - r->good, r->count);
	}
}
