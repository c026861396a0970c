/*
 * Import: takes a config through the files of this room.
 */
#include <stdlib.h>
#include <string.h>

#include "base/u64.h"
#include "import/import.h"

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

/* Check the options and fill in defaults that no config changes. */
static int set_defaults(struct kvp_import_options *o, struct kvp_error *err)
{
	const struct {
		const char *name;
		uint64_t value, low, high;
	} ranges[] = {
		{ "tp", o->tp, 1, KVP_RANKS_MAX },
		{ "dcp", o->dcp, 1, KVP_RANKS_MAX },
		{ "page-tokens", o->page_tokens, 1, DIM_MAX },
		{ "spec-tokens", o->spec_tokens, 0, KVP_IMPORT_SPEC_MAX },
		{ "execution-rows", o->execution_rows, 0, KVP_ROWS_MAX },
		{ "snapshot-rows", o->snapshot_rows, 0, KVP_ROWS_MAX },
		{ "pages", o->pages, 1, KVP_NUMBER_MAX },
	};
	size_t i;

	if (o->tp == KVP_IMPORT_UNSTATED)
		return kvp_error_set(err, KVP_EINPUT, "--tp: missing; give "
			"the number of ranks that share the model");
	for (i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (ranges[i].value != KVP_IMPORT_UNSTATED &&
		    (ranges[i].value < ranges[i].low ||
		     ranges[i].value > ranges[i].high))
			return kvp_error_set(err, KVP_EINPUT, "--%s=%llu: must "
				"be from %llu to %llu", ranges[i].name,
				(ull)ranges[i].value, (ull)ranges[i].low,
				(ull)ranges[i].high);
	if (o->dcp == KVP_IMPORT_UNSTATED)
		o->dcp = 1;
	if (o->ranks_per_node == KVP_IMPORT_UNSTATED)
		o->ranks_per_node = o->tp;
	return KVP_OK;
}

static const char *origin(uint64_t given)
{
	return given == KVP_IMPORT_UNSTATED ? "by default" : "as given";
}

static int report_split(struct import *im, struct kvp_error *err)
{
	const struct kvp_import_options *o = im->options;
	bool given = o->page_tokens != KVP_IMPORT_UNSTATED;

	(void)err;
	report(im, "split: TP %llu, as given; DCP %llu, %s; %llu ranks on a "
	       "node, %s\n", (ull)o->tp, (ull)o->dcp, origin(im->given->dcp),
	       (ull)o->ranks_per_node, origin(im->given->ranks_per_node));
	im->page_tokens = given ? o->page_tokens : im->family->page_tokens;
	report(im, "page tokens: %llu, %s\n", (ull)im->page_tokens, given ?
	       "as given" : im->family->page_tokens_source);
	return KVP_OK;
}

/*
 * vLLM makes a page of hybrids as large as what one recurrent layer keeps in
 * a row.
 */
static int report_raised_page(struct import *im, struct kvp_error *err)
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
	report(im, "page tokens in vLLM: raised to ");
	code = compute(im, &raised, err, terms);
	report(im, "; --page-tokens=%llu takes that\n", (ull)raised);
	return code;
}

/* An option for rows is refused where the model, not its stage, has none. */
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
		report(im, "execution rows: 0, no recurrent layer\n");
		return KVP_OK;
	}
	if (stated != KVP_IMPORT_UNSTATED) {
		im->execution_rows = stated;
		report(im, "execution rows: %llu, as given\n", (ull)stated);
	} else {
		report(im, "execution rows: ");
		code = compute(im, &im->execution_rows, err, TERMS(
			COUNT("", EXECUTION_ROWS, "sequences, the default of "
			      "max_num_seqs in vLLM,"),
			COUNT("x", each, "for each"), EQUALS("\n")));
	}
	if (each > 1)
		report(im, "  vLLM holds 1 + %llu rows for each running "
		       "sequence with --spec-tokens: these are for %llu "
		       "sequences\n",
		       (ull)each - 1, (ull)(im->execution_rows / each));
	return code;
}

static const char left_to_size[] = "left to kvplan size";

/* The rest of the geometry. */
static void report_sizes(struct import *im)
{
	const struct kvp_import_options *o = im->options;
	bool rows = im->stage.recurrent != 0;

	if (o->pages == KVP_IMPORT_UNSTATED)
		report(im, "pages: %s\n", left_to_size);
	else
		report(im, "pages: %llu, as given\n", (ull)o->pages);
	if (o->snapshot_rows == KVP_IMPORT_UNSTATED)
		report(im, "snapshot rows: %s\n", left_to_size);
	else
		report(im, "snapshot rows: %llu, %s\n",
		       (ull)(rows ? o->snapshot_rows : 0), rows ? "as given" :
		       "no recurrent layer");
}

static bool attends(const struct layer_counts *c)
{
	return c->layers - c->attention[NO_ATTENTION] > 0;
}

static int read_attention(struct import *im, struct kvp_error *err)
{
	int code;

	if (!attends(&im->model) && im->options->kv_dtype)
		return kvp_error_set(err, KVP_EINPUT, "%s: --kv-dtype=%.40s: "
			"this model keeps no keys and values", im->source,
			im->options->kv_dtype);
	if (!attends(&im->model))
		return KVP_OK;
	code = dtype_kv(im, err);
	return code ? code : im->family->attention(im, err);
}

/* Everything up to the geometry's text, in the order of the report. */
static int derive(struct import *im, const char *text, size_t len,
		  struct kvp_error *err)
{
	static formula *const steps[] = {
		family_find, layers_read, stage_select, report_split,
		read_attention, rows_read, split_check, rows_compute,
		report_raised_page, set_execution_rows, foreign_keys_check
	};
	size_t i;
	int code = config_open(im, text, len, err);

	report(im, "sizes: as in vLLM v0.19 where no other engine is named; "
	       "see kvplan-import(7)\n");
	for (i = 0; i < sizeof(steps) / sizeof(*steps) && !code; i++)
		code = steps[i](im, err);
	return code;
}

static int write_result(struct import *im, char **geometry,
			size_t *geometry_len, struct kvp_error *err)
{
	size_t i, planes = 0;

	report_sizes(im);
	report_keys(im);
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
	struct kvp_import_options complete = *options;
	struct import im = { .options = &complete, .given = options,
			     .source = source };
	int code, detached;

	*geometry = *derivation = NULL;
	*geometry_len = *derivation_len = 0;
	code = set_defaults(&complete, err);
	if (!code)
		code = derive(&im, text, len, err);
	if (!code)
		code = write_result(&im, geometry, geometry_len, err);
	if (!code || code == KVP_EINFEASIBLE) {
		detached = strbuf_detach(&im.report, derivation,
					 derivation_len, err);
		code = detached ? detached : code;
	}
	if (code && code != KVP_EINFEASIBLE) {
		free(*geometry);
		*geometry = NULL;
		*geometry_len = 0;
	}
	strbuf_release(&im.report);
	free(im.layers);
	free(im.model_type);
	return code;
}
