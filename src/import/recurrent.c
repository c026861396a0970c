/*
 * What recurrent layers keep: elements of convolution and state, per layer
 * and rank, by the formulas of vLLM v0.19.
 */
#include "import/work.h"

static uint64_t spec(const struct import *im)
{
	return im->options->spec_tokens == KVP_IMPORT_UNSTATED ? 0 :
	       im->options->spec_tokens;
}

/* The speculative tokens that a formula has. */
static void tell_spec(struct import *im)
{
	why(im, "speculative tokens: %llu, %s\n", (ull)spec(im),
	    im->options->spec_tokens == KVP_IMPORT_UNSTATED ? "unless said" :
	    "as said");
}

/* For formulas without them. */
static void tell_no_spec(struct import *im)
{
	if (spec(im))
		why(im, "  no room for speculative tokens in this row\n");
}

/* inner = expand x hidden_size */
static int read_expanded(struct import *im, uint64_t *inner,
			 struct kvp_error *err)
{
	uint64_t hidden = 0, expand = 0;
	int code = config_dim(im, "hidden_size", &hidden, err);

	if (!code)
		code = config_spelt(im, &im->family->mamba->expand, &expand,
				    err);
	if (!code)
		code = TIMES(inner, "expand x hidden_size", err, expand,
			     hidden);
	if (!code)
		why(im, "inner width: %s %llu x hidden_size %llu = %llu\n",
		    spelt_name(im, &im->family->mamba->expand), (ull)expand,
		    (ull)hidden, (ull)*inner);
	return code;
}

int row_mamba1(struct import *im, struct row *row, struct kvp_error *err)
{
	const uint64_t tp = im->options->tp;
	uint64_t inner = 0, state = 0, kernel = 0;
	int code = read_expanded(im, &inner, err);

	if (!code)
		code = config_spelt(im, &im->family->mamba->state, &state,
				    err);
	if (!code)
		code = config_spelt(im, &im->family->mamba->conv, &kernel,
				    err);
	if (!code)
		code = TIMES(&row->conv, "Mamba-1 convolution", err,
			     inner / tp, kernel - 1);
	if (!code)
		code = TIMES(&row->state, "Mamba-1 state", err, inner / tp,
			     state);
	if (code)
		return code;
	must(im, "the inner width", inner, MUST_DIVIDE);
	why(im, "Mamba-1 layer: conv inner width %llu / TP %llu x (%s %llu - "
	    "1) = %llu elements, state inner width %llu / TP %llu x %s %llu = "
	    "%llu elements\n", (ull)inner, (ull)tp, spelt_name(im,
	    &im->family->mamba->conv), (ull)kernel, (ull)row->conv,
	    (ull)inner, (ull)tp, spelt_name(im, &im->family->mamba->state),
	    (ull)state, (ull)row->state);
	tell_no_spec(im);
	return KVP_OK;
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

/* heads x head_dim = inner: of the three, two may say the third. */
static int fit_heads(struct import *im, struct mamba2 *m,
		     struct kvp_error *err)
{
	const struct mamba_keys *keys = im->family->mamba;

	if (!m->heads && !m->head_dim)
		return config_dim(im, keys->heads.key[0], &m->heads, err);
	if (!m->heads) {
		m->heads = m->inner / m->head_dim;
		why(im, "Mamba-2 heads: no %s; inner width %llu / %s %llu = "
		    "%llu\n", keys->heads.key[0], (ull)m->inner,
		    keys->head_dim.key[0], (ull)m->head_dim, (ull)m->heads);
	} else if (!m->head_dim) {
		m->head_dim = m->inner / m->heads;
		why(im, "Mamba-2 head width: %s is \"auto\" or absent; inner "
		    "width %llu / %s %llu = %llu\n", keys->head_dim.key[0],
		    (ull)m->inner, keys->heads.key[0], (ull)m->heads,
		    (ull)m->head_dim);
	}
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

	/* null says expand x hidden_size, without the key nothing does. */
	if (keys->inner)
		code = config_null(im, keys->inner, &null, err);
	if (!code && keys->inner)
		code = null ? config_dim_or(im, keys->inner, 0, &m->inner,
					    err) :
			      config_dim(im, keys->inner, &m->inner, err);
	if (!code && m->inner)
		why(im, "inner width: %s %llu, not expand x hidden_size\n",
		    keys->inner, (ull)m->inner);
	if (!code && !m->inner)
		code = read_expanded(im, &m->inner, err);
	return code ? code : fit_heads(im, m, err);
}

/* Families whose heads say the width, whatever expand says. */
static int count_inner(struct import *im, struct mamba2 *m,
		       struct kvp_error *err)
{
	const struct mamba_keys *keys = im->family->mamba;
	int code = config_spelt(im, &keys->heads, &m->heads, err);

	if (!code)
		code = config_spelt(im, &keys->head_dim, &m->head_dim, err);
	if (!code)
		code = TIMES(&m->inner, "Mamba-2 heads x width", err,
			     m->heads, m->head_dim);
	if (!code)
		why(im, "inner width: %s %llu x %s %llu = %llu\n",
		    keys->heads.key[0], (ull)m->heads, keys->head_dim.key[0],
		    (ull)m->head_dim, (ull)m->inner);
	return code;
}

static int read_mamba2(struct import *im, struct mamba2 *m,
		       struct kvp_error *err)
{
	const struct mamba_keys *keys = im->family->mamba;
	int code;

	if (keys->counted) {
		code = count_inner(im, m, err);
	} else {
		code = config_spelt_or(im, &keys->heads, 0, &m->heads, err);
		if (!code)
			code = read_head_dim(im, &m->head_dim, err);
		if (!code)
			code = read_inner(im, m, err);
	}
	if (!code)
		code = config_spelt(im, &keys->state, &m->state, err);
	if (!code)
		code = config_spelt(im, &keys->groups, &m->groups, err);
	return code ? code : config_spelt(im, &keys->conv, &m->kernel, err);
}

int row_mamba2(struct import *im, struct row *row, struct kvp_error *err)
{
	const uint64_t tp = im->options->tp;
	struct mamba2 m = { 0 };
	uint64_t groups, grouped = 0, steps;
	int code = read_mamba2(im, &m, err);

	if (code)
		return code;
	groups = m.groups % tp && m.groups < tp ? tp : m.groups;
	steps = m.kernel - 1 + spec(im);
	code = TIMES(&grouped, "Mamba-2 groups", err, 2, groups, m.state);
	if (!code)
		code = TIMES(&row->conv, "Mamba-2 convolution", err, steps,
			     (m.inner + grouped) / tp);
	if (!code)
		code = TIMES(&row->state, "Mamba-2 state", err, m.heads / tp,
			     m.head_dim, m.state);
	if (code)
		return code;
	tell_spec(im);
	must(im, "the Mamba-2 heads", m.heads, MUST_DIVIDE);
	must(im, "the Mamba-2 groups", m.groups, MUST_PAD);
	if (groups != m.groups)
		why(im, "groups: %llu, padded to TP %llu\n", (ull)m.groups,
		    (ull)tp);
	why(im, "Mamba-2 layer: conv (%s %llu - 1 + %llu) x (inner width %llu "
	    "+ 2 x groups %llu x %s %llu) / TP %llu = %llu elements, state "
	    "heads %llu / TP %llu x %llu wide x %llu = %llu elements\n",
	    spelt_name(im, &im->family->mamba->conv), (ull)m.kernel,
	    (ull)spec(im), (ull)m.inner, (ull)groups,
	    spelt_name(im, &im->family->mamba->state), (ull)m.state, (ull)tp,
	    (ull)row->conv, (ull)m.heads, (ull)tp, (ull)m.head_dim,
	    (ull)m.state, (ull)row->state);
	return KVP_OK;
}

/* --- linear attention --- */

int row_delta_net(struct import *im, struct row *row, struct kvp_error *err)
{
	static const char *const keys[] = {
		"linear_num_key_heads", "linear_key_head_dim",
		"linear_num_value_heads", "linear_value_head_dim",
		"linear_conv_kernel_dim"
	};
	enum { NK, DK, NV, DV, KERNEL, KEYS };
	const uint64_t tp = im->options->tp;
	uint64_t v[KEYS] = { 0 }, key = 0, value = 0;
	int i, code = KVP_OK;

	for (i = 0; i < KEYS && !code; i++)
		code = config_dim(im, keys[i], &v[i], err);
	if (!code)
		code = TIMES(&key, "delta net keys", err, 2, v[NK], v[DK]);
	if (!code)
		code = TIMES(&value, "delta net values", err, v[NV], v[DV]);
	if (!code)
		code = TIMES(&row->conv, "delta net convolution", err,
			     v[KERNEL] - 1 + spec(im), (key + value) / tp);
	if (!code)
		code = TIMES(&row->state, "delta net state", err, v[NV] / tp,
			     v[DV], v[DK]);
	if (code)
		return code;
	tell_spec(im);
	must(im, keys[NK], v[NK], MUST_DIVIDE);
	must(im, keys[NV], v[NV], MUST_DIVIDE);
	why(im, "gated delta net layer, of linear_*: conv (conv_kernel_dim "
	    "%llu - 1 + %llu) x (2 x num_key_heads %llu x key_head_dim %llu + "
	    "num_value_heads %llu x value_head_dim %llu) / TP %llu = %llu "
	    "elements, state %llu / TP %llu x %llu x %llu = %llu elements\n",
	    (ull)v[KERNEL], (ull)spec(im),
	    (ull)v[NK], (ull)v[DK], (ull)v[NV], (ull)v[DV], (ull)tp,
	    (ull)row->conv, (ull)v[NV], (ull)tp, (ull)v[DV], (ull)v[DK],
	    (ull)row->state);
	return KVP_OK;
}

int row_kda(struct import *im, struct row *row, struct kvp_error *err)
{
	const uint64_t tp = im->options->tp;
	uint64_t heads = 0, dim = 0, kernel = 0, width = 0;
	struct json_at at;
	int code = config_find(im, "linear_attn_config", &at, err);

	if (!code)
		code = dim_member(&at, "num_heads", &heads, err);
	if (!code)
		code = dim_member(&at, "head_dim", &dim, err);
	if (!code)
		code = dim_member(&at, "short_conv_kernel_size", &kernel, err);
	if (!code)
		code = TIMES(&width, "KDA heads", err, 3, heads, dim);
	if (!code)
		code = TIMES(&row->conv, "KDA convolution", err, kernel - 1,
			     width / tp);
	if (!code)
		code = TIMES(&row->state, "KDA state", err, heads / tp, dim,
			     dim);
	if (code)
		return code;
	must(im, "the KDA heads", heads, MUST_DIVIDE);
	why(im, "KDA layer: conv (short_conv_kernel_size %llu - 1) x 3 x "
	    "num_heads %llu x head_dim %llu / TP %llu = %llu elements, state "
	    "%llu / TP %llu x %llu x %llu = %llu elements, by the keys of "
	    "%s/linear_attn_config\n", (ull)kernel, (ull)heads,
	    (ull)dim, (ull)tp, (ull)row->conv, (ull)heads, (ull)tp, (ull)dim,
	    (ull)dim, (ull)row->state, im->prefix);
	if (spec(im))
		why(im, "  no room for speculative tokens, as in vLLM v0.19; "
		    "newer ones keep %llu - 1 + %llu steps of conv\n",
		    (ull)kernel, (ull)spec(im));
	return KVP_OK;
}

int row_lightning(struct import *im, struct row *row, struct kvp_error *err)
{
	static const struct spelt width = { { "head_dim", NULL } };
	const uint64_t tp = im->options->tp;
	uint64_t heads = 0, dim = 0;
	int code = config_dim(im, "num_attention_heads", &heads, err);

	if (!code)
		code = class_width(im, &width, heads, &dim, err);
	if (!code)
		code = TIMES(&row->state, "lightning state", err, heads / tp,
			     dim, dim);
	if (code)
		return code;
	must(im, "num_attention_heads", heads, MUST_DIVIDE);
	why(im, "lightning layer: state num_attention_heads %llu / TP %llu x "
	    "head width %llu x %llu = %llu elements, no convolution\n",
	    (ull)heads, (ull)tp, (ull)dim, (ull)dim, (ull)row->state);
	tell_no_spec(im);
	return KVP_OK;
}

int row_short_conv(struct import *im, struct row *row, struct kvp_error *err)
{
	const uint64_t tp = im->options->tp;
	uint64_t width = 0, kernel = 0, hidden = 0;
	int code = config_dim(im, "conv_L_cache", &kernel, err);

	if (!code)
		code = config_dim(im, "hidden_size", &hidden, err);
	if (!code)
		code = config_dim_or(im, "conv_dim", 0, &width, err);
	if (!code && !width) {
		width = hidden;
		why(im, "width: no conv_dim; hidden_size %llu, as its layer "
		    "in transformers has it\n", (ull)hidden);
	}
	if (!code)
		code = TIMES(&row->conv, "short convolution", err, kernel - 1,
			     width / tp);
	if (code)
		return code;
	must(im, "the width of the convolution", width, MUST_DIVIDE);
	why(im, "short convolution layer: conv (conv_L_cache %llu - 1) x width "
	    "%llu / TP %llu = %llu elements, no state\n", (ull)kernel,
	    (ull)width, (ull)tp, (ull)row->conv);
	tell_no_spec(im);
	return KVP_OK;
}
