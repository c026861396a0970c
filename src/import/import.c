/*
 * Import: takes a config through the files of this room.
 */
#include <stdlib.h>
#include <string.h>

#include "import/work.h"

#define EXECUTION_ROWS 256	/* vLLM's max_num_seqs */
#define SPEC_MAX UINT64_C(1024)

void kvp_import_options_init(struct kvp_import_options *options)
{
	*options = (struct kvp_import_options){
		.tp = KVP_IMPORT_UNSTATED, .dcp = KVP_IMPORT_UNSTATED,
		.ranks_per_node = KVP_IMPORT_UNSTATED,
		.page_tokens = KVP_IMPORT_UNSTATED,
		.execution_rows = KVP_IMPORT_UNSTATED,
		.snapshot_rows = KVP_IMPORT_UNSTATED,
		.pages = KVP_IMPORT_UNSTATED,
		.spec_tokens = KVP_IMPORT_UNSTATED,
		.mtp_layers = KVP_IMPORT_UNSTATED,
		.stage = KVP_IMPORT_UNSTATED, .stages = KVP_IMPORT_UNSTATED,
	};
}

static int option(const char *name, uint64_t value, uint64_t low,
		  uint64_t high, struct kvp_error *err)
{
	if (value == KVP_IMPORT_UNSTATED || (value >= low && value <= high))
		return KVP_OK;
	return kvp_error_set(err, KVP_EINPUT,
		"--%s=%llu: must be from %llu to %llu", name, (ull)value,
		(ull)low, (ull)high);
}

/* Fill in what does not depend on the config. */
static int settle(struct kvp_import_options *o, struct kvp_error *err)
{
	int code;

	if (o->tp == KVP_IMPORT_UNSTATED)
		return kvp_error_set(err, KVP_EINPUT, "--tp: missing; say how "
			"many ranks share the model");
	code = option("tp", o->tp, 1, KVP_RANKS_MAX, err);
	if (o->dcp == KVP_IMPORT_UNSTATED)
		o->dcp = 1;
	if (o->ranks_per_node == KVP_IMPORT_UNSTATED)
		o->ranks_per_node = o->tp;
	if (!code)
		code = option("dcp", o->dcp, 1, KVP_RANKS_MAX, err);
	if (!code)
		code = option("page-tokens", o->page_tokens, 1, DIM_MAX, err);
	if (!code)
		code = option("spec-tokens", o->spec_tokens, 0, SPEC_MAX, err);
	if (!code)
		code = option("execution-rows", o->execution_rows, 0,
			      KVP_ROWS_MAX, err);
	if (!code)
		code = option("snapshot-rows", o->snapshot_rows, 0,
			      KVP_ROWS_MAX, err);
	return code ? code : option("pages", o->pages, 1, KVP_NUMBER_MAX, err);
}

static void set_page_tokens(struct import *im)
{
	const struct family *f = im->family;
	bool said = im->options->page_tokens != KVP_IMPORT_UNSTATED;

	im->page_tokens = said ? im->options->page_tokens : f->page_tokens;
	why(im, "page tokens: %llu, %s%s\n", (ull)im->page_tokens,
	    said ? "as said" : f->page_tokens_source,
	    said || !im->model.recurrent ? "" : "; vLLM itself raises it "
	    "until a page is as large as the row of one layer");
}

/* Rows for a model that has none are a mistake, for a stage they are not. */
static int check_rows(struct import *im, const char *option_name,
		      uint64_t value, struct kvp_error *err)
{
	if (im->model.recurrent || !value || value == KVP_IMPORT_UNSTATED)
		return KVP_OK;
	return kvp_error_set(err, KVP_EINPUT, "%s: --%s=%llu: this model has "
		"no recurrent layer and so no rows", im->source, option_name,
		(ull)value);
}

static int set_execution_rows(struct import *im, struct kvp_error *err)
{
	const struct kvp_import_options *o = im->options;
	uint64_t stated = o->execution_rows;
	int code = check_rows(im, "execution-rows", stated, err);

	if (!code)
		code = check_rows(im, "snapshot-rows", o->snapshot_rows, err);
	if (code)
		return code;
	if (!im->stage.recurrent) {
		why(im, "execution rows: 0, no recurrent layer\n");
		return KVP_OK;
	}
	im->execution_rows = stated == KVP_IMPORT_UNSTATED ? EXECUTION_ROWS :
			     stated;
	why(im, "execution rows: %llu, %s\n", (ull)im->execution_rows,
	    stated == KVP_IMPORT_UNSTATED ? "the default of max_num_seqs in "
	    "vLLM" : "as said");
	if (o->spec_tokens && o->spec_tokens != KVP_IMPORT_UNSTATED)
		why(im, "  with %llu speculative tokens vLLM holds 1 + %llu "
		    "rows for each running sequence\n", (ull)o->spec_tokens,
		    (ull)o->spec_tokens);
	return KVP_OK;
}

static bool attends(const struct census *c)
{
	return c->layers - c->attention[NO_ATTENTION] > 0;
}

/* Everything up to the geometry's text. */
static int derive(struct import *im, const char *text, size_t len,
		  struct kvp_error *err)
{
	int code = config_open(im, text, len, err);

	why(im, "sizes: as in vLLM v0.19 where nobody else is named; see "
	    "kvplan-import(7)\n");
	if (!code)
		code = family_find(im, err);
	if (!code)
		code = layers_read(im, err);
	if (!code)
		code = stage_take(im, err);
	if (code)
		return code;
	derive_census(im, &im->stage, im->first, im->past);
	set_page_tokens(im);
	if (attends(&im->model))
		code = dtype_kv(im, err);
	if (!code && attends(&im->model))
		code = im->family->attention(im, err);
	if (!code)
		code = rows_read(im, err);
	if (!code)
		code = split_check(im, err);
	if (!code)
		code = rows_compute(im, err);
	if (!code)
		code = set_execution_rows(im, err);
	return code ? code : sensitive_check(im, err);
}

static void list_keys(struct import *im)
{
	size_t i;

	why(im, "keys read:");
	for (i = 0; i < im->nread; i++)
		why(im, "%s %s", i ? "," : "", im->read[i]);
	if (*im->prefix)
		why(im, ", all under %s", im->prefix);
	why(im, "\n");
}

static int answer(struct import *im, char **geometry, size_t *geometry_len,
		  struct kvp_error *err)
{
	size_t i, planes = 0;

	list_keys(im);
	for (i = 0; i < im->nclasses; i++)
		planes += im->classes[i].count != 0;
	return planes ? geometry_compose(im, geometry, geometry_len, err) :
			no_planes(im, err);
}

int kvp_import(char **geometry, size_t *geometry_len, char **derivation,
	       size_t *derivation_len, const char *source, const char *text,
	       size_t len, const struct kvp_import_options *options,
	       struct kvp_error *err)
{
	struct kvp_import_options settled = *options;
	struct import im = { .options = &settled, .source = source };
	int code, told;

	*geometry = *derivation = NULL;
	*geometry_len = *derivation_len = 0;
	code = settle(&settled, err);
	if (!code)
		code = derive(&im, text, len, err);
	if (!code)
		code = answer(&im, geometry, geometry_len, err);
	if (!code || code == KVP_EINFEASIBLE) {
		told = strbuf_detach(&im.why, derivation, derivation_len, err);
		code = told ? told : code;
	}
	if (code && code != KVP_EINFEASIBLE) {
		free(*geometry);
		*geometry = NULL;
		*geometry_len = 0;
	}
	strbuf_release(&im.why);
	free(im.layers);
	free(im.model_type);
	return code;
}
