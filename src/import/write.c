/*
 * The geometry's text, its keys in the order of the format, and the error
 * where there are no planes.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_out.h"
#include "base/utf8.h"
#include "import/import.h"

#define STEM_MAX 80		/* bytes of a file's name that are kept */

/* The file's name, or model_type where the file is called config.json. */
static void stem(const struct import *im, char *text, size_t size)
{
	const char *base = kvp_file_last_name(im->source);
	size_t len = strlen(base);

	if (len > 5 && !strcmp(base + len - 5, ".json"))
		len -= 5;
	if (!len || *base == '<' || (len == 6 && !memcmp(base, "config", 6))) {
		base = im->model_type ? im->model_type :
					im->family->shown.name;
		len = strlen(base);
	}
	len = len < size - 1 ? len : size - 1;
	memcpy(text, base, len);
	text[len] = '\0';
	utf8_clean(text);
}

static void put_name(struct import *im, struct json_out *w)
{
	const struct kvp_import_options *o = im->options;
	struct strbuf name = { 0 };
	char text[STEM_MAX + 1];

	if (o->name) {
		json_put_text(w, "name", o->name);
		return;
	}
	stem(im, text, sizeof(text));
	strbuf_printf(&name, "%s-tp%llu", text, (ull)o->tp);
	if (o->dcp > 1)
		strbuf_printf(&name, "-dcp%llu", (ull)o->dcp);
	if (im->kv && o->kv_dtype)
		strbuf_printf(&name, "-%s", im->kv->name);
	if (im->nmtp)
		strbuf_str(&name, "-mtp");
	if (o->spec_tokens && o->spec_tokens != KVP_IMPORT_UNSTATED)
		strbuf_printf(&name, "-spec%llu", (ull)o->spec_tokens);
	if (o->stages != KVP_IMPORT_UNSTATED)
		strbuf_printf(&name, "-stage%lluof%llu", (ull)o->stage,
			      (ull)o->stages);
	if (name.failed)
		w->text.failed = true;
	else
		json_put_text(w, "name", name.text);
	strbuf_release(&name);
}

static void put_planes(struct import *im, struct json_out *w)
{
	size_t i;

	assert(im->nclasses);
	json_put_list(w, "planes", JSON_LINES);
	for (i = 0; i < im->nclasses; i++) {
		json_put_object(w, NULL, JSON_INLINE);
		json_put_text(w, "name", im->classes[i].name);
		json_put_u64(w, "count", im->classes[i].count);
		json_put_u64(w, "bytes_per_page",
			     im->classes[i].bytes_per_page);
		json_put_end(w);
	}
	json_put_end(w);
}

/* Read back what was written. */
static int check(const struct import *im, const char *text, size_t len,
		 struct kvp_error *err)
{
	const struct kvp_import_options *o = im->options;
	struct kvp_geometry g = { 0 };
	bool sized = o->pages != KVP_IMPORT_UNSTATED &&
		     o->snapshot_rows != KVP_IMPORT_UNSTATED;
	int code = sized ?
		kvp_geometry_read(&g, "the geometry", text, len, err) :
		kvp_geometry_read_unsized(&g, "the geometry", text, len, err);

	kvp_geometry_release(&g);
	return code ? kvp_error_wrap(err, code, "%s", im->source) : KVP_OK;
}

int geometry_compose(struct import *im, char **text, size_t *len,
		     struct kvp_error *err)
{
	const struct kvp_import_options *o = im->options;
	struct json_out w = { .spaced = true };
	int code;

	json_put_object(&w, NULL, JSON_LINES);
	json_put_text(&w, "format", KVP_GEOMETRY_FORMAT);
	put_name(im, &w);
	if (o->pages != KVP_IMPORT_UNSTATED)
		json_put_u64(&w, "pages", o->pages);
	json_put_u64(&w, "page_tokens", im->page_tokens);
	if (o->snapshot_rows != KVP_IMPORT_UNSTATED)
		json_put_u64(&w, "snapshot_rows", im->stage.recurrent ?
			     o->snapshot_rows : 0);
	json_put_u64(&w, "execution_rows", im->execution_rows);
	if (im->stage.recurrent)
		json_put_u64(&w, "row_bytes", im->row_bytes);
	json_put_u64(&w, "ranks", o->tp);
	json_put_u64(&w, "ranks_per_node", o->ranks_per_node);
	json_put_u64(&w, "dcp_group_size", o->dcp);
	put_planes(im, &w);
	json_put_end(&w);
	code = strbuf_detach(&w.text, text, len, err);
	if (!code)
		code = check(im, *text, *len, err);
	if (code) {
		free(*text);
		*text = NULL;
		*len = 0;
	}
	return code;
}

int no_planes(struct import *im, struct kvp_error *err)
{
	const struct kvp_import_options *o = im->options;
	char of[80] = "the model", rows[120] = "no rows either";
	struct numbers holders = { .text = "" };
	const char *listed;

	if (o->stages != KVP_IMPORT_UNSTATED) {
		snprintf(of, sizeof(of), "stage %llu of %llu, layers %llu to "
			 "%llu,", (ull)o->stage, (ull)o->stages,
			 (ull)im->first, (ull)(im->past - 1));
		stage_list_with_planes(im, &holders);
	}
	listed = numbers_text(&holders);
	if (im->stage.recurrent)
		snprintf(rows, sizeof(rows), "rows alone: %llu B each, of "
			 "%llu recurrent layers", (ull)im->row_bytes,
			 (ull)im->stage.recurrent);
	return kvp_error_set(err, KVP_EINFEASIBLE, "%s: %s has no plane, so "
		"there is no geometry, since rows share the memory of planes; "
		"it keeps %s%s%s", im->source, of, rows, *listed ?
		"; stages with planes: " : "", listed);
}
