/*
 * What recurrent layers keep: elements of convolution and state, per layer
 * and rank, by the formulas of vLLM v0.19.
 */
#include <string.h>

#include "base/u64.h"
#include "import/work.h"

static uint64_t spec(const struct import *im)
{
	return im->options->spec_tokens == KVP_IMPORT_UNSTATED ? 0 :
	       im->options->spec_tokens;
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
		why(im, "inner width: expand %llu x hidden_size %llu = "
		    "%llu\n", (ull)expand, (ull)hidden, (ull)*inner);
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
	why(im, "Mamba-1 layer: conv %llu / %llu x (%llu - 1) = %llu "
	    "elements, state %llu / %llu x %llu = %llu elements\n",
	    (ull)inner, (ull)tp, (ull)kernel, (ull)row->conv, (ull)inner,
	    (ull)tp, (ull)state, (ull)row->state);
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
	if (!m->heads)
		m->heads = m->inner / m->head_dim;
	if (!m->head_dim)
		m->head_dim = m->inner / m->heads;
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
	int code = KVP_OK;

	if (keys->inner)
		code = config_dim_or(im, keys->inner, 0, &m->inner, err);
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
	must(im, "the Mamba-2 heads", m.heads, MUST_DIVIDE);
	must(im, "the Mamba-2 groups", m.groups, MUST_PAD);
	if (groups != m.groups)
		why(im, "groups: %llu, padded to TP %llu\n", (ull)m.groups,
		    (ull)tp);
	why(im, "Mamba-2 layer: conv (%llu - 1 + %llu) x (%llu + 2 x %llu x "
	    "%llu) / %llu = %llu elements, state %llu / %llu x %llu x %llu = "
	    "%llu elements\n", (ull)m.kernel, (ull)spec(im), (ull)m.inner,
	    (ull)groups, (ull)m.state, (ull)tp, (ull)row->conv, (ull)m.heads,
	    (ull)tp, (ull)m.head_dim, (ull)m.state, (ull)row->state);
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
	must(im, keys[NK], v[NK], MUST_DIVIDE);
	must(im, keys[NV], v[NV], MUST_DIVIDE);
	why(im, "gated delta net layer: conv (%llu - 1 + %llu) x (2 x %llu x "
	    "%llu + %llu x %llu) / %llu = %llu elements, state %llu / %llu x "
	    "%llu x %llu = %llu elements\n", (ull)v[KERNEL], (ull)spec(im),
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
	why(im, "KDA layer: conv (%llu - 1) x 3 x %llu x %llu / %llu = %llu "
	    "elements, state %llu / %llu x %llu x %llu = %llu elements, by "
	    "the keys of %s/linear_attn_config\n", (ull)kernel, (ull)heads,
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
	uint64_t heads = 0, dim = 0, hidden = 0;
	int code = config_dim(im, "num_attention_heads", &heads, err);

	if (!code)
		code = config_spelt_or(im, &width, 0, &dim, err);
	if (!code && !dim) {
		code = config_dim(im, "hidden_size", &hidden, err);
		dim = code ? 0 : hidden / heads;
	}
	if (!code)
		code = TIMES(&row->state, "lightning state", err, heads / tp,
			     dim, dim);
	if (code)
		return code;
	must(im, "num_attention_heads", heads, MUST_DIVIDE);
	why(im, "lightning layer: state %llu / %llu x %llu x %llu = %llu "
	    "elements, no convolution\n", (ull)heads, (ull)tp, (ull)dim,
	    (ull)dim, (ull)row->state);
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
		code = config_dim_or(im, "conv_dim", hidden, &width, err);
	if (!code)
		code = TIMES(&row->conv, "short convolution", err, kernel - 1,
			     width / tp);
	if (code)
		return code;
	must(im, "the width of the convolution", width, MUST_DIVIDE);
	why(im, "short convolution layer: conv (%llu - 1) x %llu / %llu = "
	    "%llu elements, no state\n", (ull)kernel, (ull)width, (ull)tp,
	    (ull)row->conv);
	return KVP_OK;
}

/* --- the row --- */

/* An option for something that no layer of this model has. */
static int needless(const struct import *im, const struct row *row,
		    struct kvp_error *err)
{
	const struct kvp_import_options *o = im->options;

	if (o->conv_dtype && !row->conv)
		return kvp_error_set(err, KVP_EINPUT, "%s: --conv-dtype=%s: "
			"this model keeps no convolution", im->source,
			o->conv_dtype);
	if (o->state_dtype && !row->state)
		return kvp_error_set(err, KVP_EINPUT, "%s: --state-dtype=%s: "
			"this model keeps no recurrent state", im->source,
			o->state_dtype);
	return KVP_OK;
}

static int add_up(struct import *im, const struct row *row,
		  struct kvp_error *err)
{
	uint64_t conv = im->conv ? im->conv->bytes : 0;
	uint64_t state = im->state ? im->state->bytes : 0;
	uint64_t conv_bytes = 0, state_bytes = 0;
	int code = TIMES(&conv_bytes, "convolution bytes", err, row->conv,
			 conv);

	if (!code)
		code = TIMES(&state_bytes, "state bytes", err, row->state,
			     state);
	if (!code)
		code = TIMES(&im->row_bytes, "row bytes", err,
			     im->stage.recurrent, conv_bytes + state_bytes);
	if (!code)
		why(im, "row: %llu layers x (%llu x %llu B + %llu x %llu B) = "
		    "%llu B\n", (ull)im->stage.recurrent, (ull)row->conv,
		    (ull)conv, (ull)row->state, (ull)state,
		    (ull)im->row_bytes);
	return code;
}

int rows_read(struct import *im, struct kvp_error *err)
{
	return im->model.recurrent ?
	       im->family->recurrent(im, &im->row, err) : KVP_OK;
}

int rows_compute(struct import *im, struct kvp_error *err)
{
	int code = needless(im, &im->row, err);

	if (code || !im->model.recurrent)
		return code;
	code = dtype_rows(im, err);
	return code ? code : add_up(im, &im->row, err);
}
