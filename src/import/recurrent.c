/*
 * What recurrent layers keep: elements of convolution and state, per layer
 * and rank, by the formulas of vLLM v0.19.
 */
#include "import/import.h"

static uint64_t spec(const struct import *im)
{
	return im->options->spec_tokens == KVP_IMPORT_UNSTATED ? 0 :
	       im->options->spec_tokens;
}

/* For formulas that have such tokens. */
static void report_spec(struct import *im)
{
	report(im, "speculative tokens: %llu, %s\n", (ull)spec(im),
	       im->options->spec_tokens == KVP_IMPORT_UNSTATED ? "by default" :
	       "as given");
}

/* For formulas that have no such tokens. */
static void report_no_spec(struct import *im)
{
	if (spec(im))
		report(im, "  no room for speculative tokens in this row\n");
}

/*
 * The elements of one layer, in one line of the report; without terms a row
 * has no such part.
 */
static int compute_row(struct import *im, const char *layer, struct row *row,
		       struct kvp_error *err, const struct term *conv,
		       const struct term *state)
{
	struct term terms[TERMS_MAX + 1] = { OP(NULL) };
	int code = KVP_OK;

	report(im, "%s: ", layer);
	if (conv) {
		report(im, "conv ");
		terms_append(terms, conv);
		terms_append(terms, TERMS(EQUALS("elements,")));
		code = compute(im, &row->conv, err, terms);
	}
	if (!code && state) {
		report(im, conv ? " state " : "state ");
		terms[0].op = NULL;
		terms_append(terms, state);
		terms_append(terms, TERMS(EQUALS("elements")));
		code = compute(im, &row->state, err, terms);
	}
	report(im, "%s\n", !conv ? ", no convolution" : state ? "" :
	       " no state");
	return code;
}

/* inner = expand x hidden_size */
static int read_expanded(struct import *im, uint64_t *inner,
			 struct kvp_error *err)
{
	uint64_t hidden = 0, expand = 0;
	int code = config_dim(im, "hidden_size", &hidden, err);

	if (!code)
		code = config_either(im, &im->family->mamba->expand, &expand,
				    err);
	if (code)
		return code;
	report(im, "inner width: ");
	return compute(im, inner, err, TERMS(
		TERM("", name_in_config(im, &im->family->mamba->expand),
		     expand),
		TERM("x", "hidden_size", hidden), EQUALS("\n")));
}

int row_mamba1(struct import *im, struct row *row, struct kvp_error *err)
{
	const struct mamba_keys *keys = im->family->mamba;
	const uint64_t tp = im->options->tp;
	uint64_t inner = 0, state = 0, kernel = 0;
	int code = read_expanded(im, &inner, err);

	if (!code)
		code = config_either(im, &keys->state, &state, err);
	if (!code)
		code = config_either(im, &keys->conv, &kernel, err);
	if (code)
		return code;
	split_require(im, "the inner width", inner, MULTIPLE);
	code = compute_row(im, "Mamba-1 layer", row, err, TERMS(
		TERM("", "inner width", inner), TERM("/", "TP", tp),
		TERM("x (", name_in_config(im, &keys->conv), kernel),
		NUMBER("-", 1), OP(")")),
		TERMS(TERM("", "inner width", inner), TERM("/", "TP", tp),
		TERM("x", name_in_config(im, &keys->state), state)));
	report_no_spec(im);
	return code;
}

/* --- Mamba-2 --- */

struct mamba2 {
	uint64_t inner, heads, head_dim, state, groups, kernel;
};

/* A number, or 0 where the key is absent or the word "auto". */
static int read_head_dim(struct import *im, uint64_t *out,
			 struct kvp_error *err)
{
	const char *key = im->family->mamba->head_dim.key[0];
	static const char *const automatic[] = { "auto" };
	struct json_at at;
	size_t which;
	int code = config_find(im, key, &at, err);

	*out = 0;
	if (code || !at.p)
		return code;
	if (json_type(&at) == JSON_STRING)
		return json_choice(&at, automatic, 1, &which, err);
	return json_u64(&at, 1, DIM_MAX, out, err);
}

/* heads x head_dim = inner; one of the factors may be absent. */
static int fit_heads(struct import *im, struct mamba2 *m,
		     struct kvp_error *err)
{
	const struct mamba_keys *keys = im->family->mamba;
	int code = KVP_OK;

	if (!m->heads && !m->head_dim)
		return config_dim(im, keys->heads.key[0], &m->heads, err);
	if (!m->heads) {
		report(im, "Mamba-2 heads: no %s; ", keys->heads.key[0]);
		code = compute(im, &m->heads, err, TERMS(
			TERM("", "inner width", m->inner),
			TERM("/", keys->head_dim.key[0], m->head_dim),
			EQUALS("\n")));
	} else if (!m->head_dim) {
		report(im, "Mamba-2 head width: %s is \"auto\" or absent; ",
		       keys->head_dim.key[0]);
		code = compute(im, &m->head_dim, err, TERMS(
			TERM("", "inner width", m->inner),
			TERM("/", keys->heads.key[0], m->heads), EQUALS("\n")));
	}
	if (code)
		return code;
	if (m->heads * m->head_dim == m->inner && m->heads && m->head_dim)
		return KVP_OK;
	return json_fail(&im->body, err, KVP_EINPUT, "Mamba-2 has %llu heads "
		"(%s) of %llu (%s), which must make the inner width, %llu",
		(ull)m->heads, keys->heads.key[0], (ull)m->head_dim,
		keys->head_dim.key[0], (ull)m->inner);
}

static int read_inner(struct import *im, struct mamba2 *m,
		      struct kvp_error *err)
{
	const struct mamba_keys *keys = im->family->mamba;
	bool null = true;
	int code = KVP_OK;

	/* null means expand x hidden_size; the key has to be there. */
	if (keys->inner)
		code = config_null(im, keys->inner, &null, err);
	if (!code && keys->inner)
		code = null ? config_dim_or(im, keys->inner, 0, &m->inner,
					    err) :
			      config_dim(im, keys->inner, &m->inner, err);
	if (!code && m->inner)
		report(im, "inner width: %s %llu, not expand x hidden_size\n",
		       keys->inner, (ull)m->inner);
	if (!code && !m->inner)
		code = read_expanded(im, &m->inner, err);
	return code ? code : fit_heads(im, m, err);
}

/* For families where the heads alone make the width. */
static int count_inner(struct import *im, struct mamba2 *m,
		       struct kvp_error *err)
{
	const struct mamba_keys *keys = im->family->mamba;
	int code = config_either(im, &keys->heads, &m->heads, err);

	if (!code)
		code = config_either(im, &keys->head_dim, &m->head_dim, err);
	if (code)
		return code;
	report(im, "inner width: ");
	return compute(im, &m->inner, err, TERMS(
		TERM("", keys->heads.key[0], m->heads),
		TERM("x", keys->head_dim.key[0], m->head_dim), EQUALS("\n")));
}

static int read_mamba2(struct import *im, struct mamba2 *m,
		       struct kvp_error *err)
{
	const struct mamba_keys *keys = im->family->mamba;
	int code;

	if (keys->counted) {
		code = count_inner(im, m, err);
	} else {
		code = config_either_or(im, &keys->heads, 0, &m->heads, err);
		if (!code)
			code = read_head_dim(im, &m->head_dim, err);
		if (!code)
			code = read_inner(im, m, err);
	}
	if (!code)
		code = config_either(im, &keys->state, &m->state, err);
	if (!code)
		code = config_either(im, &keys->groups, &m->groups, err);
	return code ? code : config_either(im, &keys->conv, &m->kernel, err);
}

int row_mamba2(struct import *im, struct row *row, struct kvp_error *err)
{
	const struct mamba_keys *keys = im->family->mamba;
	const uint64_t tp = im->options->tp;
	struct mamba2 m = { 0 };
	uint64_t groups;
	int code = read_mamba2(im, &m, err);

	if (code)
		return code;
	groups = m.groups % tp && m.groups < tp ? tp : m.groups;
	report_spec(im);
	split_require(im, "the Mamba-2 heads", m.heads, MULTIPLE);
	split_require(im, "the Mamba-2 groups", m.groups, MULTIPLE_OR_BELOW);
	if (groups != m.groups)
		report(im, "groups: %llu, padded to TP %llu\n", (ull)m.groups,
		       (ull)tp);
	return compute_row(im, "Mamba-2 layer", row, err, TERMS(
		TERM("(", name_in_config(im, &keys->conv), m.kernel),
		NUMBER("-", 1), NUMBER("+", spec(im)),
		TERM(") x (", "inner width", m.inner),
		NUMBER("+", 2), TERM("x", "groups", groups),
		TERM("x", name_in_config(im, &keys->state), m.state),
		TERM(") /", "TP", tp)),
		TERMS(TERM("", "heads", m.heads), TERM("/", "TP", tp),
		COUNT("x", m.head_dim, "wide"), NUMBER("x", m.state)));
}

/* --- linear attention --- */

int row_delta_net(struct import *im, struct row *row, struct kvp_error *err)
{
	const uint64_t tp = im->options->tp;
	uint64_t nk = 0, dk = 0, nv = 0, dv = 0, kernel = 0;
	int code = config_dims(im, err, DIMS(
		{ "linear_num_key_heads", &nk },
		{ "linear_key_head_dim", &dk },
		{ "linear_num_value_heads", &nv },
		{ "linear_value_head_dim", &dv },
		{ "linear_conv_kernel_dim", &kernel }));

	if (code)
		return code;
	report_spec(im);
	split_require(im, "linear_num_key_heads", nk, MULTIPLE);
	split_require(im, "linear_num_value_heads", nv, MULTIPLE);
	return compute_row(im, "gated delta net layer, of linear_*", row, err,
		TERMS(TERM("(", "conv_kernel_dim", kernel), NUMBER("-", 1),
		NUMBER("+", spec(im)), NUMBER(") x (", 2),
		TERM("x", "num_key_heads", nk), TERM("x", "key_head_dim", dk),
		TERM("+", "num_value_heads", nv),
		TERM("x", "value_head_dim", dv), TERM(") /", "TP", tp)),
		TERMS(NUMBER("", nv), TERM("/", "TP", tp), NUMBER("x", dv),
		NUMBER("x", dk)));
}

int row_kda(struct import *im, struct row *row, struct kvp_error *err)
{
	const uint64_t tp = im->options->tp;
	uint64_t heads = 0, dim = 0, kernel = 0;
	struct json_at at;
	int code = config_find(im, "linear_attn_config", &at, err);

	if (!code)
		code = dim_member(&at, "num_heads", &heads, err);
	if (!code)
		code = dim_member(&at, "head_dim", &dim, err);
	if (!code)
		code = dim_member(&at, "short_conv_kernel_size", &kernel, err);
	if (code)
		return code;
	split_require(im, "the KDA heads", heads, MULTIPLE);
	code = compute_row(im, "KDA layer", row, err, TERMS(
		TERM("(", "short_conv_kernel_size", kernel), NUMBER("-", 1),
		NUMBER(") x", 3), TERM("x", "num_heads", heads),
		TERM("x", "head_dim", dim), TERM("/", "TP", tp)),
		TERMS(NUMBER("", heads), TERM("/", "TP", tp),
		NUMBER("x", dim), NUMBER("x", dim)));
	report(im, "  by the keys of %s/linear_attn_config\n", im->prefix);
	if (spec(im))
		report(im, "  no room for speculative tokens, as in vLLM "
		       "v0.19; newer ones keep %llu - 1 + %llu steps of conv\n",
		       (ull)kernel, (ull)spec(im));
	return code;
}

int row_lightning(struct import *im, struct row *row, struct kvp_error *err)
{
	static const struct key_names width = { { "head_dim", NULL } };
	const uint64_t tp = im->options->tp;
	uint64_t heads = 0, dim = 0;
	int code = config_dim(im, "num_attention_heads", &heads, err);

	if (!code)
		code = class_width(im, &width, heads, &dim, err);
	if (code)
		return code;
	split_require(im, "num_attention_heads", heads, MULTIPLE);
	code = compute_row(im, "lightning layer", row, err, NULL, TERMS(
		TERM("", "num_attention_heads", heads), TERM("/", "TP", tp),
		TERM("x", "head width", dim), NUMBER("x", dim)));
	report_no_spec(im);
	return code;
}

int row_short_conv(struct import *im, struct row *row, struct kvp_error *err)
{
	const uint64_t tp = im->options->tp;
	uint64_t width = 0, kernel = 0, hidden = 0;
	int code = config_dims(im, err, DIMS({ "conv_L_cache", &kernel },
					     { "hidden_size", &hidden }));

	if (!code)
		code = config_dim_or(im, "conv_dim", 0, &width, err);
	if (!code && !width) {
		width = hidden;
		report(im, "width: no conv_dim; hidden_size %llu, as its layer "
		       "in transformers has it\n", (ull)hidden);
	}
	if (code)
		return code;
	split_require(im, "the width of the convolution", width, MULTIPLE);
	code = compute_row(im, "short convolution layer", row, err, TERMS(
		TERM("(", "conv_L_cache", kernel), NUMBER("-", 1),
		TERM(") x", "width", width), TERM("/", "TP", tp)), NULL);
	report_no_spec(im);
	return code;
}
