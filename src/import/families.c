/*
 * The families, one row each.  A row has the model_type words of the family,
 * the keys that state its layers, the formulas of what a layer of each kind
 * keeps, the defaults of its classes in transformers, and what each engine
 * chooses where engines differ.
 */
#include <stdlib.h>
#include <string.h>

#include "import/import.h"

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

/* Keys of foreign_keys.c that formulas read, or that change nothing here. */
#define HEADS "head_dim attention_head_dim v_head_dim"
#define WINDOW_KEYS HEADS " sliding_window"
#define LATENT "kv_lora_rank qk_head_dim head_dim v_head_dim"

#define GROUPED_BLOCK \
	.attention = attention_grouped, .plane = "full", \
	.page_tokens = 16, .page_tokens_source = vllm_block

#define GROUPED GROUPED_BLOCK, .known_keys = HEADS
#define SLIDES GROUPED_BLOCK, .known_keys = WINDOW_KEYS, .slides = true

#define MLA \
	.plane = "mla", .page_tokens = 64, .page_tokens_source = mla_block

#define CLASSES(...) (const struct model_class[]){ __VA_ARGS__, \
	{ .types = NULL } }
#define ALL_DIVIDE .divides = true, .all_heads = true

static const struct family families[] = {
	{
		.shown = { "grouped", "llama granite granitemoe olmo olmo2",
			   "full attention of grouped heads" },
		.classes = CLASSES(
		    { "llama", "LlamaConfig", ALL_DIVIDE },
		    { "granite", "GraniteConfig", ALL_DIVIDE },
		    { "granitemoe", "GraniteMoeConfig", ALL_DIVIDE },
		    { "olmo", "OlmoConfig", ALL_DIVIDE },
		    { "olmo2", "Olmo2Config", ALL_DIVIDE }),
		.layer_keys = KEY(LAYER_TYPES), .default_layers = ALL_FULL,
		GROUPED,
	}, {
		.shown = { "window", "mistral mixtral phi3 starcoder2",
			   "grouped heads; all layers slide where "
			   "sliding_window is set" },
		.classes = CLASSES(
		    { "mistral", "MistralConfig", .divides = true,
		      .window = 4096 },
		    { "mixtral", "MixtralConfig", .divides = true },
		    { "phi3", "Phi3Config", ALL_DIVIDE },
		    { "starcoder2", "Starcoder2Config", .divides = true }),
		.layer_keys = KEY(LAYER_TYPES),
		.default_layers = SLIDING_IF_WINDOW,
		SLIDES,
	}, {
		.shown = { "qwen", "qwen2 qwen2_moe qwen3 qwen3_moe",
			   "grouped heads; use_sliding_window lets upper "
			   "layers slide" },
		.classes = CLASSES(
		    { "qwen2", "Qwen2Config", .divides = true, .window = 4096 },
		    { "qwen2_moe", "Qwen2MoeConfig", .divides = true,
		      .window = 4096 },
		    { "qwen3", "Qwen3Config", .head_dim = 128, .window = 4096 },
		    /* Its models do not have the width of its formula. */
		    { "qwen3_moe", "Qwen3MoeConfig", .window = 4096 }),
		.layer_keys = KEY(LAYER_TYPES) | KEY(MAX_WINDOW_LAYERS),
		.default_layers = ALL_FULL, .slides = true,
		GROUPED_BLOCK, .known_keys = WINDOW_KEYS " use_sliding_window",
	}, {
		.shown = { "gpt-oss", "gpt_oss",
			   "full and sliding layers of grouped heads" },
		.classes = CLASSES(
		    { "gpt_oss", "GptOssConfig", .head_dim = 64,
		      .window = 128 }),
		.layer_keys = KEY(LAYER_TYPES),
		SLIDES,
	}, {
		.shown = { "gemma2", "gemma2", "every second layer full, the "
			   "others sliding, grouped heads" },
		.classes = CLASSES(
		    { "gemma2", "Gemma2Config", .head_dim = 256,
		      .window = 4096 }),
		.layer_keys = KEY(LAYER_TYPES) |
			     KEY(SLIDING_WINDOW_PATTERN) |
			     KEY(SLIDING_WINDOW_PATTERN_SAVED),
		.default_layers = FULL_BY_PATTERN, .pattern = 2,
		SLIDES,
	}, {
		.shown = { "gemma3", "gemma3 gemma3_text", "every sixth layer "
			   "full, the others sliding, grouped heads" },
		.classes = CLASSES(
		    { "gemma3 gemma3_text", "Gemma3TextConfig", .head_dim = 256,
		      .window = 4096 }),
		.layer_keys = KEY(LAYER_TYPES) |
			     KEY(SLIDING_WINDOW_PATTERN) |
			     KEY(SLIDING_WINDOW_PATTERN_SAVED),
		.default_layers = FULL_BY_PATTERN, .pattern = 6,
		SLIDES,
	}, {
		.shown = { "gemma3n", "gemma3n gemma3n_text", "full and "
			   "sliding layers, of which the last share" },
		.classes = CLASSES(
		    { "gemma3n gemma3n_text", "Gemma3nTextConfig",
		      .head_dim = 256, .window = 512 }),
		.layer_keys = KEY(LAYER_TYPES), .slides = true,
		.shares = true,
		GROUPED_BLOCK, .known_keys = WINDOW_KEYS " "
	"num_kv_shared_layers",
	}, {
		.shown = { "gemma4", "gemma4 gemma4_text", "full and sliding "
			   "layers of different heads; the last may share" },
		.classes = CLASSES(
		    { "gemma4 gemma4_text", "Gemma4TextConfig",
		      .head_dim = 256, .window = 512 }),
		.layer_keys = KEY(LAYER_TYPES), .slides = true,
		.shares = true, .global_heads = true,
		GROUPED_BLOCK,
		.known_keys = WINDOW_KEYS " num_kv_shared_layers "
			"global_head_dim num_global_key_value_heads "
			"attention_k_eq_v",
	}, {
		.shown = { "mla", "deepseek_v2 deepseek_v3 kimi_k2",
			   "MLA: one latent vector for each token" },
		.layer_keys = KEY(LAYER_TYPES), .default_layers = ALL_FULL,
		.attention = attention_mla, MLA, .known_keys = LATENT,
		.mtp = MTP_FULL, .mtp_key = "num_nextn_predict_layers",
	}, {
		.shown = { "sparse-mla", "deepseek_v32",
			   "MLA and an indexer's plane for each layer" },
		.layer_keys = KEY(LAYER_TYPES), .default_layers = ALL_FULL,
		.attention = attention_sparse_mla, MLA,
		.known_keys = LATENT " index_head_dim index_topk",
		.mtp = MTP_FULL, .mtp_key = "num_nextn_predict_layers",
	}, {
		.shown = { "deepseek-v4", "deepseek_v4", "compressed slots at "
			   "two ratios, and an indexer's for one of them" },
		.layer_keys = KEY(COMPRESS_RATIOS),
		.attention = attention_v4, .page_tokens = 256,
		.known_keys = "head_dim sliding_window index_head_dim "
			"index_topk",
		.page_tokens_source = v4_block,
		.mtp = MTP_TAIL, .mtp_key = "num_nextn_predict_layers",
	}, {
		.shown = { "kimi-linear", "kimi_linear kimi_k3",
			   "MLA and KDA layers" },
		.layer_keys = KEY(LINEAR_ATTN_CONFIG),
		.attention = attention_mla, MLA, .known_keys = LATENT,
		.recurrent = row_kda, .state = STATE_FP32,
		.state_engines = "vLLM: KDA keeps fp32",
		.mtp_key = "num_nextn_predict_layers",
	}, {
		.shown = { "qwen3-next", "qwen3_next qwen3_5 qwen3_5_text "
			   "qwen3_5_moe qwen3_5_moe_text",
			   "grouped heads and gated delta net layers" },
		.classes = CLASSES(
		    { "qwen3_next", "Qwen3NextConfig", .head_dim = 256 },
		    { "qwen3_5 qwen3_5_text", "Qwen3_5TextConfig",
		      .head_dim = 256 },
		    { "qwen3_5_moe qwen3_5_moe_text", "Qwen3_5MoeTextConfig",
		      .head_dim = 256 }),
		.layer_keys = KEY(LAYER_TYPES) |
			     KEY(FULL_ATTENTION_INTERVAL),
		.recurrent_words = "linear_attention",
		GROUPED,
		.recurrent = row_delta_net, .state_engines = plain_state,
		.state_key = "mamba_ssm_dtype",
		.mtp = MTP_FULL, .mtp_key = "mtp_num_hidden_layers",
	}, {
		.shown = { "nemotron-h", "nemotron_h",
			   "grouped heads, Mamba-2 and MLP layers" },
		.classes = CLASSES(
		    { "nemotron_h", "NemotronHConfig", .head_dim = 128,
		      .divides = true }),
		.layer_keys = KEY(HYBRID_OVERRIDE_PATTERN) |
			     KEY(LAYERS_BLOCK_TYPE) | KEY(LAYER_TYPES),
		.recurrent_words = "mamba linear_attention",
		.idle_words = "mlp moe",
		GROUPED,
		.recurrent = row_mamba2, .mamba = &mamba_nemotron,
		.state_engines = nemotron_state,
		.state_key = "mamba_ssm_cache_dtype",
		.mtp = MTP_PATTERN, .mtp_key = "num_nextn_predict_layers",
	}, {
		.shown = { "jamba", "jamba", "grouped heads and Mamba-1 "
			   "layers" },
		.classes = CLASSES(
		    { "jamba", "JambaConfig", .divides = true }),
		.layer_keys = KEY(ATTN_LAYER_PERIOD) | KEY(LAYER_TYPES) |
			     KEY(LAYERS_BLOCK_TYPE),
		/* Both words mean Mamba-1 here. */
		.recurrent_words = "mamba linear_attention",
		GROUPED,
		.recurrent = row_mamba1, .mamba = &mamba_jamba,
		.state_engines = plain_state,
	}, {
		.shown = { "falcon-h1", "falcon_h1", "grouped heads and "
			   "Mamba-2 side by side in every layer" },
		.classes = CLASSES(
		    /* Its models do not have the width of its formula. */
		    { "falcon_h1", "FalconH1Config", .divides = false }),
		.default_layers = ALL_FULL_AND_RECURRENT,
		GROUPED,
		.recurrent = row_mamba2, .mamba = &mamba_falcon,
		.state_engines = plain_state,
	}, {
		.shown = { "granite-hybrid", "granitemoehybrid",
			   "grouped heads and Mamba-2 layers" },
		.classes = CLASSES(
		    { "granitemoehybrid", "GraniteMoeHybridConfig",
		      ALL_DIVIDE }),
		.layer_keys = KEY(LAYER_TYPES),
		.recurrent_words = "mamba",
		GROUPED,
		.recurrent = row_mamba2, .mamba = &mamba_plain,
		.state_engines = plain_state,
	}, {
		.shown = { "bamba", "bamba",
			   "grouped heads and Mamba-2 layers" },
		.classes = CLASSES(
		    { "bamba", "BambaConfig", .divides = true }),
		.layer_keys = KEY(ATTN_LAYER_INDICES),
		.default_layers = ALL_RECURRENT,
		.default_of_class = true,
		GROUPED,
		.recurrent = row_mamba2, .mamba = &mamba_plain,
		.state_engines = plain_state,
	}, {
		.shown = { "zamba2", "zamba2", "Mamba-2 in every layer, a "
			   "shared attention block in some" },
		.classes = CLASSES(
		    { "zamba2", "Zamba2Config", .all_heads = true }),
		.layer_keys = KEY(LAYERS_BLOCK_TYPE),
		.recurrent_words = "mamba",
		.attention = attention_zamba, .plane = "shared",
		/* hybrid_layer_ids repeats layers_block_type. */
		.known_keys = "attention_head_dim attention_hidden_size "
			 "kv_channels num_query_groups hybrid_layer_ids",
		.page_tokens = 16, .page_tokens_source = vllm_block,
		.recurrent = row_mamba2, .mamba = &mamba_zamba,
		.state_engines = plain_state,
	}, {
		.shown = { "minimax", "minimax minimax_m1 minimax_text_01",
			   "grouped heads and lightning attention layers" },
		.classes = CLASSES(
		    { "minimax", "MiniMaxConfig", .divides = true },
		    { "minimax_m1", "MiniMaxM1Config", .divides = false },
		    { "minimax_text_01", "MiniMaxText01Config",
		      .divides = false }),
		.layer_keys = KEY(ATTN_TYPE_LIST) | KEY(LAYER_TYPES),
		.recurrent_words = "linear_attention",
		GROUPED,
		.recurrent = row_lightning, .state_engines = lightning_state,
	}, {
		.shown = { "bailing-linear", "bailing_moe_linear",
			   "grouped heads and lightning attention layers" },
		.layer_keys = KEY(LAYER_GROUP_SIZE),
		GROUPED,
		.recurrent = row_lightning, .state_engines = lightning_state,
		.mtp_key = "num_nextn_predict_layers",
	}, {
		.shown = { "lfm2", "lfm2 lfm2_moe",
			   "grouped heads and short convolution layers" },
		.classes = CLASSES(
		    { "lfm2", "Lfm2Config", .divides = true },
		    { "lfm2_moe", "Lfm2MoeConfig", .divides = true }),
		.layer_keys = KEY(FULL_ATTN_IDXS) | KEY(LAYER_TYPES),
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

const struct family *family_at(size_t index)
{
	return index < FAMILIES ? &families[index] : NULL;
}

/* The family of this name, or the one of this model_type. */
static const struct family *find_family(const char *name, const char *type)
{
	const struct family *f = families;

	for (; f < families + FAMILIES; f++)
		if (name ? !strcmp(f->shown.name, name) :
			   word_is_in(f->shown.types, type))
			return f;
	return NULL;
}

static int read_type(struct import *im, const struct json_at *object,
		     char **type, struct kvp_error *err)
{
	struct json_at at;
	int code = json_unique_member(object, "model_type", &at, err);

	if (code || !at.p || json_type(&at) == JSON_NULL)
		return code;
	config_note(im, object == &im->body ? im->prefix : "", at.key, &at);
	return json_string(&at, KVP_IMPORT_TYPE_MAX, type, err);
}

static int fail_unknown_type(const struct json_at *object, const char *type,
		   struct kvp_error *err)
{
	struct json_at at = { .in = object->in, .up = object,
			      .key = "model_type" };

	if (!type)
		return json_fail(&at, err, KVP_EINPUT, "missing; name "
			"the family whose cache it has with --as=FAMILY; "
			"kvplan import --list-families lists them");
	return json_fail(&at, err, KVP_EINPUT, "is \"%s\", which no family "
		"names; name the family whose cache it has with --as=FAMILY; "
		"kvplan import --list-families lists them", type);
}

static int use_option(struct import *im, struct kvp_error *err)
{
	im->family = find_family(im->options->family, NULL);
	if (!im->family)
		return kvp_error_set(err, KVP_EINPUT, "--as=%.40s: no such "
			"family; kvplan import --list-families lists them",
			im->options->family);
	report(im, "model_type %s: family %s, as given\n",
	       im->model_type ? im->model_type : "missing",
	       im->family->shown.name);
	return KVP_OK;
}

/* Refuse a document of kvplan's own. */
static int check_format(struct import *im, struct kvp_error *err)
{
	struct json_at at;
	char *format;
	int code = json_unique_member(&im->root, "format", &at, err);

	if (code || !at.p || json_type(&at) != JSON_STRING)
		return code;
	code = json_text(&at, &format, err);
	if (code)
		return code;
	if (!strncmp(format, "kvplan/", 7))
		code = json_fail(&at, err, KVP_EINPUT, "is \"%.40s\", which "
			"kvplan made; import takes the config.json of a "
			"model", format);
	free(format);
	return code;
}

int family_find(struct import *im, struct kvp_error *err)
{
	/* That of the language model, or else of the whole. */
	const struct json_at *object = &im->body;
	int code = check_format(im, err);

	if (!code)
		code = read_type(im, object, &im->model_type, err);
	if (!code && !im->model_type && *im->prefix) {
		object = &im->root;
		code = read_type(im, object, &im->model_type, err);
	}
	if (code)
		return code;
	if (im->options->family)
		return use_option(im, err);
	im->family = im->model_type ? find_family(NULL, im->model_type) : NULL;
	if (!im->family)
		return fail_unknown_type(object, im->model_type, err);
	report(im, "model_type %s: family %s\n", im->model_type,
	       im->family->shown.name);
	return KVP_OK;
}
