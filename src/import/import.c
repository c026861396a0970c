/*
 * Import: takes a config through the files of this room.
 */
#include <stdlib.h>
#include <string.h>

#include "base/u64.h"
#include "import/work.h"

#define EXECUTION_ROWS 256	/* vLLM's max_num_seqs */

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
		code = option("spec-tokens", o->spec_tokens, 0,
			      KVP_IMPORT_SPEC_MAX, err);
	if (!code)
		code = option("execution-rows", o->execution_rows, 0,
			      KVP_ROWS_MAX, err);
	if (!code)
		code = option("snapshot-rows", o->snapshot_rows, 0,
			      KVP_ROWS_MAX, err);
	return code ? code : option("pages", o->pages, 1, KVP_NUMBER_MAX, err);
}

static const char *whose(uint64_t said)
{
	return said == KVP_IMPORT_UNSTATED ? "unless said" : "as said";
}

static void tell_split(struct import *im)
{
	const struct kvp_import_options *o = im->options;

	why(im, "split: TP %llu, as said; DCP %llu, %s; %llu ranks on a node, "
	    "%s\n", (ull)o->tp, (ull)o->dcp, whose(im->said->dcp),
	    (ull)o->ranks_per_node, whose(im->said->ranks_per_node));
}

static void set_page_tokens(struct import *im)
{
	const struct family *f = im->family;
	bool said = im->options->page_tokens != KVP_IMPORT_UNSTATED;

	im->page_tokens = said ? im->options->page_tokens : f->page_tokens;
	why(im, "page tokens: %llu, %s\n", (ull)im->page_tokens,
	    said ? "as said" : f->page_tokens_source);
}

/*
 * vLLM makes a page of hybrids as large as what one recurrent layer keeps in
 * a row.
 */
static int tell_raise(struct import *im, struct kvp_error *err)
{
	const uint64_t align = im->family->page_tokens;
	uint64_t most = 0, token, raised = 0;
	const struct term *terms;
	size_t i;
	int code;

	for (i = 0; i < im->nclasses; i++)
		most = u64_max(most, im->classes[i].bytes_per_page);
	token = most / im->page_tokens;
	if (!token || !im->stage.recurrent)
		return KVP_OK;
	terms = TERMS(NUMBER("", align),
		COUNT("x ceil(", im->layer_bytes, "B of a layer in a row"),
		NUMBER("/ (", align), COUNT("x", token, "B"), OP("))"),
		EQUALS(", so that a page is as large"));
	if (terms_evaluate(terms, &raised) && raised <= im->page_tokens)
		return KVP_OK;
	why(im, "page tokens in vLLM: raised to ");
	code = compute(im, &raised, err, terms);
	why(im, "; --page-tokens=%llu takes that\n", (ull)raised);
	return code;
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
	uint64_t each = o->spec_tokens == KVP_IMPORT_UNSTATED ? 1 :
			o->spec_tokens + 1;
	int code = check_rows(im, "execution-rows", stated, err);

	if (!code)
		code = check_rows(im, "snapshot-rows", o->snapshot_rows, err);
	if (!code)
		code = check_rows(im, "spec-tokens", o->spec_tokens, err);
	if (code)
		return code;
	if (!im->stage.recurrent) {
		why(im, "execution rows: 0, no recurrent layer\n");
		return KVP_OK;
	}
	if (stated != KVP_IMPORT_UNSTATED) {
		im->execution_rows = stated;
		why(im, "execution rows: %llu, as said\n", (ull)stated);
	} else {
		why(im, "execution rows: ");
		code = compute(im, &im->execution_rows, err, TERMS(
			COUNT("", EXECUTION_ROWS, "sequences, the default of "
			      "max_num_seqs in vLLM,"),
			COUNT("x", each, "for each"), EQUALS("\n")));
	}
	if (each > 1)
		why(im, "  vLLM holds 1 + %llu rows for each running sequence "
		    "with --spec-tokens: these are for %llu sequences\n",
		    (ull)each - 1, (ull)(im->execution_rows / each));
	return code;
}

static const char left[] = "left to kvplan size";

/* What of the geometry no formula has told. */
static void tell_sizes(struct import *im)
{
	const struct kvp_import_options *o = im->options;
	bool rows = im->stage.recurrent != 0;

	if (o->pages == KVP_IMPORT_UNSTATED)
		why(im, "pages: %s\n", left);
	else
		why(im, "pages: %llu, as said\n", (ull)o->pages);
	if (o->snapshot_rows == KVP_IMPORT_UNSTATED)
		why(im, "snapshot rows: %s\n", left);
	else
		why(im, "snapshot rows: %llu, %s\n",
		    (ull)(rows ? o->snapshot_rows : 0), rows ? "as said" :
		    "no recurrent layer");
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
	tell_split(im);
	set_page_tokens(im);
	if (!attends(&im->model) && im->options->kv_dtype)
		return kvp_error_set(err, KVP_EINPUT, "%s: --kv-dtype=%.40s: "
			"this model keeps no keys and values", im->source,
			im->options->kv_dtype);
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
		code = tell_raise(im, err);
	if (!code)
		code = set_execution_rows(im, err);
	return code ? code : sensitive_check(im, err);
}

static int answer(struct import *im, char **geometry, size_t *geometry_len,
		  struct kvp_error *err)
{
	size_t i, planes = 0;

	tell_sizes(im);
	derive_keys(im);
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
	struct import im = { .options = &settled, .said = options,
			     .source = source };
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
