/*
 * What attention of grouped heads keeps, whole or in a sliding window: bytes
 * per token, plane and rank, as in vLLM v0.19.
 */
#include <assert.h>

#include "import/import.h"

struct heads {
	uint64_t query, kv, dk, dv;
};

static int check_form(const struct import *im, const struct heads *h,
		      struct kvp_error *err)
{
	if (im->kv->form == DTYPE_NVFP4 && (h->dk % 16 || h->dv % 16))
		return kvp_error_set(err, KVP_EINPUT, "--kv-dtype=nvfp4: "
			"heads of %llu and %llu must be multiples of 16",
			(ull)h->dk, (ull)h->dv);
	if (im->kv->form == DTYPE_DS_MLA)
		return kvp_error_set(err, KVP_EINPUT, "--kv-dtype=%s: is the "
			"slot of sparse MLA; grouped heads take bf16, fp16, "
			"fp32, fp8, fp8_per_token_head, int8_per_token_head "
			"or nvfp4", im->kv->name);
	return KVP_OK;
}

/* Keys and values in the heads that one rank has. */
static int add_grouped(struct import *im, const char *name, uint64_t count,
		       const struct heads *h, struct kvp_error *err)
{
	struct term terms[TERMS_MAX + 1] = {
		COUNT("max(1,", h->kv, "kv heads"),
		TERM("/", "TP", im->options->tp), OP(") ="), OP(NULL)
	};
	int code = check_form(im, h, err);

	if (code)
		return code;
	if (im->kv->form == DTYPE_PER_HEAD)
		terms_append(terms, TERMS(NUMBER("x (", h->dk),
			NUMBER("+", h->dv), NUMBER("+", 2),
			COUNT("x", 4, "B of scales"), OP(")")));
	else if (im->kv->form == DTYPE_NVFP4)
		terms_append(terms, TERMS(NUMBER("x ((", h->dk),
			NUMBER("+", h->dv), NUMBER(") /", 2),
			NUMBER("+ (", h->dk), NUMBER("+", h->dv),
			NUMBER(") /", 16), OP(")")));
	else
		terms_append(terms, TERMS(NUMBER("x (", h->dk),
			NUMBER("+", h->dv), COUNT(") x", im->kv->bytes, "B")));
	terms_append(terms, TERMS(EQUALS("B per token")));
	return planes_add(im, name, count, err, terms);
}

static void require_heads(struct import *im, const struct heads *h)
{
	assert(h->kv && h->query % h->kv == 0 && h->dk && h->dv);
	im->query_heads = h->query;
	im->kv_heads = h->kv;
	split_require(im, "num_attention_heads", h->query, MULTIPLE);
	split_require(im, "num_key_value_heads", h->kv, MULTIPLE_OR_DIVISOR);
}

static int read_counts(struct import *im, struct heads *h,
		       struct kvp_error *err)
{
	int code = config_dim(im, "num_attention_heads", &h->query, err);

	return code ? code : class_kv_heads(im, h->query, &h->kv, err);
}

static int read_heads(struct import *im, struct heads *h,
		      struct kvp_error *err)
{
	static const struct key_names keys = {
		{ "head_dim", "attention_head_dim" }
	};
	int code = read_counts(im, h, err);

	if (!code)
		code = class_width(im, &keys, h->query, &h->dk, err);
	if (!code)
		code = config_dim_or(im, "v_head_dim", 0, &h->dv, err);
	if (code)
		return code;
	report(im, "heads: %llu of queries, %llu of keys and values; keys %llu "
	       "wide, values %s\n", (ull)h->query, (ull)h->kv, (ull)h->dk,
	       h->dv ? "by v_head_dim" : "as wide, there is no v_head_dim");
	h->dv = h->dv ? h->dv : h->dk;
	require_heads(im, h);
	return KVP_OK;
}

static int report_window(struct import *im, struct kvp_error *err)
{
	uint64_t window;
	int code;

	if (!im->model.attention[SLIDING])
		return im->family->slides ? config_ignore(im,
			"sliding_window", "no layer slides", err) : KVP_OK;
	code = class_window(im, err);
	window = im->window;
	if (!code && !window)
		code = config_dim(im, "sliding_window", &window, err);
	if (!code)
		report(im, "  window %llu: a request of len tokens needs "
		       "ceil(min(%llu + batched tokens, len) / %llu) + 1 pages "
		       "of these planes, which have as many as all others\n",
		       (ull)window, (ull)window - 1, (ull)im->page_tokens);
	return code;
}

/* Keys and values are twice as wide as kv_channels. */
int attention_zamba(struct import *im, struct kvp_error *err)
{
	uint64_t hidden = 0, width = 0;
	struct heads h = { .kv = 0 };
	int code = read_counts(im, &h, err);

	if (!code)
		code = config_dim(im, "hidden_size", &hidden, err);
	if (code)
		return code;
	report(im, "head width: ");
	code = compute(im, &h.dk, err, TERMS(NUMBER("", 2),
		TERM("x", "hidden_size", hidden),
		TERM("/", "num_attention_heads", h.query),
		EQUALS("; every shared block keeps its own keys and "
		       "values\n")));
	if (!code)
		code = config_dim_or(im, "attention_head_dim", h.dk, &width,
				     err);
	if (!code && (2 * hidden % h.query || width != h.dk))
		return json_fail(&im->body, err, KVP_EINPUT,
			"attention_head_dim must be 2 x hidden_size / "
			"num_attention_heads = 2 x %llu / %llu",
			(ull)hidden, (ull)h.query);
	if (code)
		return code;
	h.dv = width;
	require_heads(im, &h);
	code = add_grouped(im, im->family->plane, im->stage.attention[FULL],
			   &h, err);
	if (!code)
		code = config_ignore(im, "kv_channels", "half of what is "
				     "kept", err);
	if (!code)
		code = config_ignore(im, "num_query_groups",
				     "num_key_value_heads states it", err);
	return code;
}

/* Full layers may have other heads than sliding ones. */
static int read_global(struct import *im, struct heads *h,
		       struct kvp_error *err)
{
	struct json_at equal;
	uint64_t heads = 0;
	bool is = false;
	int code = config_dim(im, "global_head_dim", &h->dk, err);

	if (!code)
		code = config_count(im, "num_global_key_value_heads", &heads,
				    err);
	if (!code)
		code = config_bool(im, "attention_k_eq_v", &equal, &is, err);
	if (code)
		return code;
	if (heads && heads != h->kv && !is)
		return json_fail(&im->body, err, KVP_EINPUT,
			"num_global_key_value_heads is %llu, but "
			"attention_k_eq_v is not true; sources differ about "
			"which heads full layers have then", (ull)heads);
	report(im, "heads of full layers: %llu of keys and values, by "
	       "num_%skey_value_heads%s; keys and values %llu wide, by "
	       "global_head_dim\n", (ull)(heads ? heads : h->kv),
	       heads ? "global_" : "", heads ? "" :
	       ", there is no num_global_key_value_heads", (ull)h->dk);
	h->kv = heads ? heads : h->kv;
	h->dv = h->dk;
	split_require(im, "the kv heads of full layers", h->kv,
		      MULTIPLE_OR_DIVISOR);
	return KVP_OK;
}

int attention_grouped(struct import *im, struct kvp_error *err)
{
	struct heads h, full;
	int code = read_heads(im, &h, err);

	full = h;
	if (!code && im->model.attention[FULL] && im->family->global_heads)
		code = read_global(im, &full, err);
	if (!code && im->model.attention[FULL])
		code = add_grouped(im, im->family->plane,
				   im->stage.attention[FULL], &full, err);
	if (!code && im->model.attention[SLIDING])
		code = add_grouped(im, "sliding",
				   im->stage.attention[SLIDING], &h, err);
	return code ? code : report_window(im, err);
}
