/*
 * The families: data, one row each.  A row says under which model_type a
 * config of the family comes, how it spells its layers, what a layer of
 * each kind keeps, and who would choose what where engines differ.
 */
#include <stdlib.h>
#include <string.h>

#include "import/work.h"

static const char plain_state[] =
	"vLLM: the conv dtype; SGLang: fp32; llama.cpp: fp32";
static const char nemotron_state[] =
	"vLLM: fp16 for this family; SGLang: fp32; llama.cpp: fp32";
static const char lightning_state[] =
	"vLLM: the model's dtype, and v0.19 refuses fp32; SGLang: fp32";

static const char vllm_block[] = "vLLM's block";
static const char mla_block[] = "vLLM's block for FlashMLA";
static const char v4_block[] = "the page that its published sizes are for";

/* mamba_*, as Bamba, Granite and Falcon-H1 write them. */
static const struct mamba_keys mamba_plain = {
	.heads = { { "mamba_n_heads", NULL } },
	.head_dim = { { "mamba_d_head", NULL } },
	.state = { { "mamba_d_state", NULL } },
	.groups = { { "mamba_n_groups", NULL } },
	.conv = { { "mamba_d_conv", NULL } },
	.expand = { { "mamba_expand", NULL } },
};

static const struct mamba_keys mamba_falcon = {
	.heads = { { "mamba_n_heads", NULL } },
	.head_dim = { { "mamba_d_head", NULL } },
	.state = { { "mamba_d_state", NULL } },
	.groups = { { "mamba_n_groups", NULL } },
	.conv = { { "mamba_d_conv", NULL } },
	.expand = { { "mamba_expand", NULL } },
	.inner = "mamba_d_ssm",
};

/* n_groups, not n_group, which is the router's. */
static const struct mamba_keys mamba_nemotron = {
	.heads = { { "mamba_num_heads", NULL } },
	.head_dim = { { "mamba_head_dim", NULL } },
	.state = { { "ssm_state_size", NULL } },
	.groups = { { "n_groups", NULL } },
	.conv = { { "conv_kernel", NULL } },
	.counted = true,
};

static const struct mamba_keys mamba_zamba = {
	.heads = { { "n_mamba_heads", NULL } },
	.head_dim = { { "mamba_headdim", NULL } },
	.state = { { "mamba_d_state", "state_size" } },
	.groups = { { "mamba_ngroups", NULL } },
	.conv = { { "mamba_d_conv", "conv_dimension" } },
	.expand = { { "mamba_expand", "expansion_factor" } },
};

/* Mamba-1 of Jamba has no heads and no groups. */
static const struct mamba_keys mamba_jamba = {
	.state = { { "mamba_d_state", NULL } },
	.conv = { { "mamba_d_conv", NULL } },
	.expand = { { "mamba_expand", NULL } },
};

#define GROUPED \
	.attention = attention_grouped, .plane = "full", \
	.page_tokens = 16, .page_tokens_source = vllm_block

#define MLA \
	.plane = "mla", .page_tokens = 64, .page_tokens_source = mla_block

static const struct family families[] = {
	{
		.shown = { "grouped", "llama granite granitemoe olmo olmo2",
			   "full attention of grouped heads" },
		.spellings = SPELT(LAYER_TYPES), .unspelt = UNSPELT_FULL,
		GROUPED,
	}, {
		.shown = { "window", "mistral mixtral phi3 starcoder2",
			   "grouped heads; all layers slide where "
			   "sliding_window is set" },
		.spellings = SPELT(LAYER_TYPES), .unspelt = UNSPELT_WINDOW,
		.slides = true,
		GROUPED,
	}, {
		.shown = { "qwen", "qwen2 qwen2_moe qwen3 qwen3_moe",
			   "grouped heads; use_sliding_window lets upper "
			   "layers slide" },
		.spellings = SPELT(LAYER_TYPES) | SPELT(MAX_WINDOW_LAYERS),
		.unspelt = UNSPELT_FULL, .slides = true,
		GROUPED,
	}, {
		.shown = { "gpt-oss", "gpt_oss",
			   "full and sliding layers of grouped heads" },
		.spellings = SPELT(LAYER_TYPES), .slides = true,
		GROUPED,
	}, {
		.shown = { "gemma2", "gemma2", "every second layer full, the "
			   "others sliding, grouped heads" },
		.spellings = SPELT(LAYER_TYPES) |
			     SPELT(SLIDING_WINDOW_PATTERN),
		.unspelt = UNSPELT_PATTERN, .pattern = 2, .slides = true,
		.pattern_source = "Gemma2Config in transformers",
		GROUPED,
	}, {
		.shown = { "gemma3", "gemma3 gemma3_text", "every sixth layer "
			   "full, the others sliding, grouped heads" },
		.spellings = SPELT(LAYER_TYPES) |
			     SPELT(SLIDING_WINDOW_PATTERN),
		.unspelt = UNSPELT_PATTERN, .pattern = 6, .slides = true,
		.pattern_source = "Gemma3TextConfig in transformers",
		GROUPED,
	}, {
		.shown = { "gemma3n", "gemma3n gemma3n_text", "full and "
			   "sliding layers, of which the last share" },
		.spellings = SPELT(LAYER_TYPES), .slides = true,
		.shares = true,
		GROUPED,
	}, {
		.shown = { "gemma4", "gemma4 gemma4_text", "full and sliding "
			   "layers of different heads; the last may share" },
		.spellings = SPELT(LAYER_TYPES), .slides = true,
		.shares = true,
		.attention = attention_gemma4, .plane = "full",
		.page_tokens = 16, .page_tokens_source = vllm_block,
	}, {
		.shown = { "mla", "deepseek_v2 deepseek_v3 kimi_k2",
			   "MLA: one latent vector for each token" },
		.spellings = SPELT(LAYER_TYPES), .unspelt = UNSPELT_FULL,
		.attention = attention_mla, MLA,
		.mtp = MTP_FULL, .mtp_key = "num_nextn_predict_layers",
	}, {
		.shown = { "sparse-mla", "deepseek_v32",
			   "MLA and an indexer's plane for each layer" },
		.spellings = SPELT(LAYER_TYPES), .unspelt = UNSPELT_FULL,
		.attention = attention_sparse_mla, MLA,
		.mtp = MTP_FULL, .mtp_key = "num_nextn_predict_layers",
	}, {
		.shown = { "deepseek-v4", "deepseek_v4", "compressed slots at "
			   "two ratios, and an indexer's for one of them" },
		.spellings = SPELT(COMPRESS_RATIOS),
		.attention = attention_v4, .page_tokens = 256,
		.page_tokens_source = v4_block,
		.mtp = MTP_TAIL, .mtp_key = "num_nextn_predict_layers",
	}, {
		.shown = { "kimi-linear", "kimi_linear kimi_k3",
			   "MLA and KDA layers" },
		.spellings = SPELT(LINEAR_ATTN_CONFIG),
		.attention = attention_mla, MLA,
		.recurrent = row_kda, .state = STATE_FP32,
		.state_engines = "vLLM: KDA keeps fp32",
		.mtp_key = "num_nextn_predict_layers",
	}, {
		.shown = { "qwen3-next", "qwen3_next qwen3_5 qwen3_5_text "
			   "qwen3_5_moe qwen3_5_moe_text",
			   "grouped heads and gated delta net layers" },
		.spellings = SPELT(LAYER_TYPES) |
			     SPELT(FULL_ATTENTION_INTERVAL),
		.recurrent_words = "linear_attention",
		GROUPED,
		.recurrent = row_delta_net, .state_engines = plain_state,
		.mtp = MTP_FULL, .mtp_key = "mtp_num_hidden_layers",
	}, {
		.shown = { "nemotron-h", "nemotron_h",
			   "grouped heads, Mamba-2 and MLP layers" },
		.spellings = SPELT(HYBRID_OVERRIDE_PATTERN) |
			     SPELT(LAYERS_BLOCK_TYPE) | SPELT(LAYER_TYPES),
		.recurrent_words = "mamba",
		GROUPED,
		.recurrent = row_mamba2, .mamba = &mamba_nemotron,
		.state_engines = nemotron_state,
		.mtp = MTP_PATTERN, .mtp_key = "num_nextn_predict_layers",
	}, {
		.shown = { "jamba", "jamba", "grouped heads and Mamba-1 "
			   "layers" },
		.spellings = SPELT(ATTN_LAYER_PERIOD) | SPELT(LAYER_TYPES) |
			     SPELT(LAYERS_BLOCK_TYPE),
		/* Both words mean Mamba-1 here. */
		.recurrent_words = "mamba linear_attention",
		GROUPED,
		.recurrent = row_mamba1, .mamba = &mamba_jamba,
		.state_engines = plain_state,
	}, {
		.shown = { "falcon-h1", "falcon_h1", "grouped heads and "
			   "Mamba-2 side by side in every layer" },
		.unspelt = UNSPELT_BOTH,
		GROUPED,
		.recurrent = row_mamba2, .mamba = &mamba_falcon,
		.state_engines = plain_state,
	}, {
		.shown = { "granite-hybrid", "granitemoehybrid",
			   "grouped heads and Mamba-2 layers" },
		.spellings = SPELT(LAYER_TYPES),
		.recurrent_words = "mamba",
		GROUPED,
		.recurrent = row_mamba2, .mamba = &mamba_plain,
		.state_engines = plain_state,
	}, {
		.shown = { "bamba", "bamba",
			   "grouped heads and Mamba-2 layers" },
		.spellings = SPELT(ATTN_LAYER_INDICES),
		.unspelt = UNSPELT_RECURRENT,
		GROUPED,
		.recurrent = row_mamba2, .mamba = &mamba_plain,
		.state_engines = plain_state,
	}, {
		.shown = { "zamba2", "zamba2", "Mamba-2 in every layer, a "
			   "shared attention block in some" },
		.spellings = SPELT(LAYERS_BLOCK_TYPE),
		.recurrent_words = "mamba",
		.attention = attention_zamba, .plane = "shared",
		.page_tokens = 16, .page_tokens_source = vllm_block,
		.recurrent = row_mamba2, .mamba = &mamba_zamba,
		.state_engines = plain_state,
	}, {
		.shown = { "minimax", "minimax minimax_m1 minimax_text_01",
			   "grouped heads and lightning attention layers" },
		.spellings = SPELT(ATTN_TYPE_LIST) | SPELT(LAYER_TYPES),
		.recurrent_words = "linear_attention",
		GROUPED,
		.recurrent = row_lightning, .state_engines = lightning_state,
	}, {
		.shown = { "bailing-linear", "bailing_moe_linear",
			   "grouped heads and lightning attention layers" },
		.spellings = SPELT(LAYER_GROUP_SIZE),
		GROUPED,
		.recurrent = row_lightning, .state_engines = lightning_state,
		.mtp_key = "num_nextn_predict_layers",
	}, {
		.shown = { "lfm2", "lfm2 lfm2_moe",
			   "grouped heads and short convolution layers" },
		.spellings = SPELT(FULL_ATTN_IDXS) | SPELT(LAYER_TYPES),
		.recurrent_words = "conv",
		GROUPED,
		.recurrent = row_short_conv,
	},
};

#define FAMILIES (sizeof(families) / sizeof(*families))

const struct kvp_import_family *kvp_import_family(size_t index)
{
	return index < FAMILIES ? &families[index].shown : NULL;
}

static const struct family *by_name(const char *name)
{
	size_t i;

	for (i = 0; i < FAMILIES; i++)
		if (!strcmp(families[i].shown.name, name))
			return &families[i];
	return NULL;
}

static const struct family *by_type(const char *type)
{
	size_t i;

	for (i = 0; i < FAMILIES; i++)
		if (word_is_in(families[i].shown.types, type))
			return &families[i];
	return NULL;
}

static int read_type(const struct json_at *object, char **type,
		     struct kvp_error *err)
{
	struct json_at at;
	int code = json_only_member(object, "model_type", &at, err);

	if (code || !at.p || json_type(&at) == JSON_NULL)
		return code;
	return json_string(&at, 64, type, err);
}

static int unknown(struct import *im, const char *type, struct kvp_error *err)
{
	struct json_at at = { .in = &im->in, .up = &im->body,
			      .key = "model_type" };

	if (!type)
		return json_fail(&at, err, KVP_EINPUT, "missing; say which "
			"family's cache it has with --as=FAMILY; kvplan "
			"import --list-families lists them");
	return json_fail(&at, err, KVP_EINPUT, "is \"%s\", which no family "
		"names; say whose cache it has with --as=FAMILY; kvplan "
		"import --list-families lists them", type);
}

static int said(struct import *im, struct kvp_error *err)
{
	im->family = by_name(im->options->family);
	if (!im->family)
		return kvp_error_set(err, KVP_EINPUT, "--as=%.40s: no such "
			"family; kvplan import --list-families lists them",
			im->options->family);
	why(im, "model_type %s: family %s, as said\n",
	    im->model_type ? im->model_type : "missing",
	    im->family->shown.name);
	return KVP_OK;
}

int family_find(struct import *im, struct kvp_error *err)
{
	char *inner = NULL, *outer = NULL, *use;
	int code = read_type(&im->body, &inner, err);

	if (!code && *im->prefix)
		code = read_type(&im->root, &outer, err);
	if (code)
		goto done;
	/* The language model's own word decides, else the whole's. */
	use = inner && (by_type(inner) || !outer || !by_type(outer)) ? inner :
	      outer;
	im->model_type = use;
	if (use == inner)
		inner = NULL;
	else
		outer = NULL;
	if (im->options->family) {
		code = said(im, err);
		goto done;
	}
	im->family = use ? by_type(use) : NULL;
	if (!im->family)
		code = unknown(im, use, err);
	else
		why(im, "model_type %s: family %s\n", use,
		    im->family->shown.name);
done:
	free(inner);
	free(outer);
	return code;
}
