/*
 * What attention over latent vectors keeps: one vector for keys and values
 * (MLA), an indexer's beside it (sparse MLA), or compressed slots for several
 * tokens (DeepSeek-V4).  The fp8 slots are published for one width each.
 */
#include "import/import.h"

struct latent {
	uint64_t rank, rope;
};

static int read_latent(struct import *im, struct latent *l,
		       struct kvp_error *err)
{
	struct json_at use;
	bool is = true;
	int code = config_dims(im, err, DIMS(
		{ "num_attention_heads", &im->query_heads },
		{ "kv_lora_rank", &l->rank },
		{ "qk_rope_head_dim", &l->rope }));

	if (!code)
		code = config_bool(im, "use_mla", &use, &is, err);
	if (!code && !is)
		return json_fail(&use, err, KVP_EINPUT, "is false: this model "
			"has no MLA; name the family whose cache it has "
			"with --as=FAMILY");
	if (!code)
		split_require(im, "num_attention_heads", im->query_heads,
			      MULTIPLE);
	return code;
}

static int ignore_heads(struct import *im, struct kvp_error *err)
{
	static const char because[] = "the latent vector has no heads";
	static const char *const keys[] = {
		"head_dim", "num_key_value_heads", "v_head_dim"
	};
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < sizeof(keys) / sizeof(*keys) && !code; i++)
		code = config_ignore(im, keys[i], because, err);
	return code;
}

static int add_latent(struct import *im, const struct latent *l,
		      struct kvp_error *err)
{
	if (im->kv->form != DTYPE_PLAIN)
		return kvp_error_set(err, KVP_EINPUT, "--kv-dtype=%s: no "
			"source defines it for this kind of MLA; bf16, fp16, "
			"fp32%s are", im->kv->name, im->family->attention ==
			attention_sparse_mla ? ", fp8 and fp8_ds_mla" :
			" and fp8");
	return planes_add(im, im->family->plane, im->stage.attention[FULL],
		err, TERMS(TERM("", "kv_lora_rank", l->rank),
		TERM("+", "qk_rope_head_dim", l->rope), OP("="),
		COUNT("x", im->kv->bytes, "B"),
		EQUALS("B per token; keys and values share it, TP does not "
		       "divide it")));
}

int attention_mla(struct import *im, struct kvp_error *err)
{
	struct latent l = { 0 };
	int code = read_latent(im, &l, err);

	if (!code)
		code = add_latent(im, &l, err);
	return code ? code : ignore_heads(im, err);
}

/* One slot of sparse MLA in fp8, for the one width it is defined for. */
static int add_slot(struct import *im, const struct latent *l,
		    struct kvp_error *err)
{
	if (l->rank != 512 || l->rope != 64)
		return kvp_error_set(err, KVP_EINPUT, "--kv-dtype=%s: the "
			"fp8 slot of sparse MLA is defined for kv_lora_rank "
			"512 and qk_rope_head_dim 64, not for %llu and %llu",
			im->kv->name, (ull)l->rank, (ull)l->rope);
	return planes_add(im, im->family->plane, im->stage.attention[FULL],
		err, TERMS(COUNT("", 512, "B of fp8"),
		COUNT("+", 4, "fp32 scales"), COUNT("x", 4, "B"),
		COUNT("+", 64, "bf16 of rope"), COUNT("x", 2, "B"),
		EQUALS("B per token (fp8_ds_mla, to which vLLM turns "
		       "fp8)")));
}

static int read_indexer(struct import *im, struct kvp_error *err)
{
	uint64_t width = 0;
	int code = config_dim(im, "index_head_dim", &width, err);

	if (!code && width != 128)
		return json_fail(CONFIG_KEY(im, "index_head_dim"), err,
			KVP_EINPUT, "is %llu, must be 128, the one width "
			"whose slot is defined", (ull)width);
	if (!code)
		code = config_ignore(im, "index_topk",
				     "tokens that are read, of all that are "
				     "kept", err);
	return code;
}

int attention_sparse_mla(struct import *im, struct kvp_error *err)
{
	struct latent l = { 0 };
	int code = read_latent(im, &l, err);

	if (!code)
		code = read_indexer(im, err);
	if (code)
		return code;
	code = im->kv->bytes == 1 && im->kv->form != DTYPE_PER_HEAD &&
	       im->kv->form != DTYPE_NVFP4 ? add_slot(im, &l, err) :
					     add_latent(im, &l, err);
	if (code)
		return code;
	code = planes_add(im, "indexer", im->stage.attention[FULL], err,
		TERMS({ "", "index_head_dim", 128, "B of fp8" },
		COUNT("+", 4, "B of an fp32 scale"),
		EQUALS("B per token, whatever the kv dtype")));
	return code ? code : ignore_heads(im, err);
}

/* --- DeepSeek-V4 --- */

#define V4_SLOT 584		/* 448 fp8, 64 bf16 of rope, 7 scales, 1 pad */
#define V4_INDEXER 132
#define V4_PAGE 576		/* pages are multiples of it */

static int check_v4(struct import *im, struct kvp_error *err)
{
	uint64_t width = 0, rope = 0, window = 0, least;
	int code = config_dims(im, err, DIMS(
		{ "num_attention_heads", &im->query_heads },
		{ "head_dim", &width }, { "qk_rope_head_dim", &rope },
		{ "sliding_window", &window }));

	if (code)
		return code;
	if (width != 512 || rope != 64)
		return json_fail(&im->body, err, KVP_EINPUT, "the slot is "
			"defined for head_dim 512 and qk_rope_head_dim 64, "
			"not for %llu and %llu", (ull)width, (ull)rope);
	if (im->kv->form != DTYPE_PLAIN || im->kv->bytes != 1)
		return kvp_error_set(err, KVP_EINPUT, "%s: no source defines "
			"the pages of family %s in %s; fp8 is defined: give "
			"--kv-dtype=fp8", im->source, im->family->shown.name,
			im->kv->name);
	least = im->model.attention[RATIO_128] ? 128 : 4;
	if (im->page_tokens % least)
		return kvp_error_set(err, KVP_EINPUT, "--page-tokens=%llu: "
			"must be a multiple of the ratio %llu",
			(ull)im->page_tokens, (ull)least);
	split_require(im, "num_attention_heads", im->query_heads, MULTIPLE);
	im->no_dcp = true;
	report(im, "window: each layer also keeps the last %llu tokens and the "
	       "compressor's state, per sequence; they are in no page and not "
	       "counted here\n", (ull)window);
	return config_ignore(im, "num_key_value_heads", "a slot has no heads",
			     err);
}

static int add_slots(struct import *im, const char *name, uint64_t count,
		     uint64_t slot, uint64_t ratio, struct kvp_error *err)
{
	return class_add(im, name, count, err, TERMS(
		COUNT("", im->page_tokens, "tokens"), NUMBER("/", ratio),
		EQUALS("slots"), COUNT("x", slot, "B"), EQUALS("B"),
		NUMBER(", rounded up to a multiple of", V4_PAGE),
		{ "\n  =", NULL, 0, "B per page" }));
}

int attention_v4(struct import *im, struct kvp_error *err)
{
	const uint64_t *model = im->model.attention;
	const uint64_t *stage = im->stage.attention;
	int code = check_v4(im, err);

	if (!code && model[RATIO_4])
		code = read_indexer(im, err);
	if (!code && model[RATIO_4])
		code = add_slots(im, "ratio4", stage[RATIO_4], V4_SLOT, 4,
				 err);
	if (!code && model[RATIO_4])
		code = add_slots(im, "indexer", stage[RATIO_4], V4_INDEXER, 4,
				 err);
	if (!code && model[RATIO_128])
		code = add_slots(im, "ratio128", stage[RATIO_128], V4_SLOT,
				 128, err);
	return code;
}
