/*
 * What a model's class in transformers has where its config has no key:
 * engines read configs through these classes.  A class may have a number of
 * its own, may make it of other keys, or may have the number of one model
 * among many; the last is no answer and the key is asked for.
 *
 * The classes were read as huggingface/transformers has them; see
 * kvplan-import(7).
 */
#include <string.h>

#include "import/work.h"

struct model_class {
	const char *model_type;
	const char *name;
	uint64_t head_dim;	/* its default; 0: none */
	bool shares;		/* or hidden_size / num_attention_heads; with
				   both numbers they have to be the same */
	bool all_heads;		/* no num_key_value_heads: all */
	uint64_t window;	/* sliding_window; 0: none */
};

/* Those without a rule are here so that nobody else's is theirs. */
static const struct model_class classes[] = {
	{ "llama", "LlamaConfig", 0, true, true, 0 },
	{ "granite", "GraniteConfig", 0, true, true, 0 },
	{ "granitemoe", "GraniteMoeConfig", 0, true, true, 0 },
	{ "olmo", "OlmoConfig", 0, true, true, 0 },
	{ "olmo2", "Olmo2Config", 0, true, true, 0 },
	{ "mistral", "MistralConfig", 0, true, false, 4096 },
	{ "mixtral", "MixtralConfig", 0, true, false, 0 },
	{ "phi3", "Phi3Config", 0, true, true, 0 },
	{ "starcoder2", "Starcoder2Config", 0, true, false, 0 },
	{ "qwen2", "Qwen2Config", 0, true, false, 4096 },
	{ "qwen2_moe", "Qwen2MoeConfig", 0, true, false, 4096 },
	{ "qwen3", "Qwen3Config", 128, false, false, 4096 },
	/* Its models are not of the width that it would make. */
	{ "qwen3_moe", "Qwen3MoeConfig", 0, false, false, 4096 },
	{ "gpt_oss", "GptOssConfig", 64, false, false, 128 },
	{ "gemma2", "Gemma2Config", 256, false, false, 4096 },
	{ "gemma3", "Gemma3TextConfig", 256, false, false, 4096 },
	{ "gemma3_text", "Gemma3TextConfig", 256, false, false, 4096 },
	{ "gemma3n", "Gemma3nTextConfig", 256, false, false, 512 },
	{ "gemma3n_text", "Gemma3nTextConfig", 256, false, false, 512 },
	{ "gemma4", "Gemma4TextConfig", 256, false, false, 512 },
	{ "gemma4_text", "Gemma4TextConfig", 256, false, false, 512 },
	{ "qwen3_next", "Qwen3NextConfig", 256, false, false, 0 },
	{ "qwen3_5", "Qwen3_5TextConfig", 256, false, false, 0 },
	{ "qwen3_5_text", "Qwen3_5TextConfig", 256, false, false, 0 },
	{ "qwen3_5_moe", "Qwen3_5MoeTextConfig", 256, false, false, 0 },
	{ "qwen3_5_moe_text", "Qwen3_5MoeTextConfig", 256, false, false, 0 },
	{ "nemotron_h", "NemotronHConfig", 128, true, false, 0 },
	{ "jamba", "JambaConfig", 0, true, false, 0 },
	/* Its models are not of the width that it would make. */
	{ "falcon_h1", "FalconH1Config", 0, false, false, 0 },
	{ "granitemoehybrid", "GraniteMoeHybridConfig", 0, true, true, 0 },
	{ "bamba", "BambaConfig", 0, true, false, 0 },
	{ "zamba2", "Zamba2Config", 0, false, true, 0 },
	{ "minimax", "MiniMaxConfig", 0, true, false, 0 },
	{ "minimax_m1", "MiniMaxM1Config", 0, false, false, 0 },
	{ "minimax_text_01", "MiniMaxText01Config", 0, false, false, 0 },
	{ "bailing_moe_linear", "BailingMoeLinearConfig", 0, false, false, 0 },
	{ "lfm2", "Lfm2Config", 0, true, false, 0 },
	{ "lfm2_moe", "Lfm2MoeConfig", 0, true, false, 0 },
};

static const struct model_class none = { .name = "" };

static bool same_rules(const struct model_class *a,
		       const struct model_class *b)
{
	return a->head_dim == b->head_dim && a->shares == b->shares &&
	       a->all_heads == b->all_heads && a->window == b->window;
}

/*
 * The class of the model; with --as the one of the family, if all of its
 * classes are of one mind.
 */
static const struct model_class *class_of(const struct import *im)
{
	const char *types = im->family->shown.types;
	const struct model_class *first = NULL, *c;
	bool agree = true;
	size_t i;

	for (i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		c = &classes[i];
		if (!word_is_in(types, c->model_type))
			continue;
		if (im->model_type && !strcmp(im->model_type, c->model_type))
			return c;
		agree = agree && (!first || same_rules(first, c));
		first = first ? first : c;
	}
	return first && agree ? first : &none;
}

int class_kv_heads(struct import *im, uint64_t query, uint64_t *heads,
		   struct kvp_error *err)
{
	static const char key[] = "num_key_value_heads";
	const struct model_class *c = class_of(im);
	struct json_at at;
	int code = config_dim_or(im, key, 0, heads, err);

	if (!code && !*heads && !c->all_heads)
		return config_dim(im, key, heads, err);
	if (!code && !*heads) {
		*heads = query;
		why(im, "kv heads: no %s; num_attention_heads %llu, the rule "
		    "of %s in transformers\n", key, (ull)query, c->name);
	}
	if (code || query % *heads == 0)
		return code;
	code = config_find(im, key, &at, err);
	return code ? code : json_fail(&at, err, KVP_EINPUT,
		"is %llu, must divide num_attention_heads, %llu",
		(ull)*heads, (ull)query);
}

/* hidden_size / num_attention_heads */
static int share(struct import *im, const struct model_class *c,
		 const char *key, uint64_t query, uint64_t *width,
		 struct kvp_error *err)
{
	struct json_at at;
	uint64_t hidden = 0;
	int code = config_dim(im, "hidden_size", &hidden, err);

	if (code)
		return code;
	if (hidden % query) {
		code = config_find(im, "hidden_size", &at, err);
		return code ? code : json_fail(&at, err, KVP_EINPUT,
			"is %llu, must be a multiple of num_attention_heads, "
			"%llu, where there is no %s", (ull)hidden,
			(ull)query, key);
	}
	why(im, "head width: no %s; ", key);
	code = compute(im, width, err, TERMS(TERM("", "hidden_size", hidden),
		TERM("/", "num_attention_heads", query), EQUALS(NULL)));
	if (!code && c->head_dim && c->head_dim != *width) {
		code = config_find(im, key, &at, err);
		return code ? code : json_fail(&at, err, KVP_EINPUT,
			"missing; hidden_size / num_attention_heads is %llu, "
			"but %llu is the default of %s in transformers",
			(ull)*width, (ull)c->head_dim, c->name);
	}
	why(im, ", %s of %s in transformers\n", c->head_dim ?
	    "which is the default" : "the rule", c->name);
	return code;
}

int class_width(struct import *im, const struct spelt *keys, uint64_t query,
		uint64_t *width, struct kvp_error *err)
{
	const struct model_class *c = class_of(im);
	const char *key = keys->key[0];
	bool null = false;
	int code = config_spelt_or(im, keys, 0, width, err);

	if (!code && !*width)
		code = config_null(im, key, &null, err);
	if (code || *width)
		return code;
	if (c->shares)
		return share(im, c, key, query, width, err);
	/* A default is for keys that are absent; null is nobody's number. */
	if (!c->head_dim || null)
		return config_dim(im, key, width, err);
	*width = c->head_dim;
	why(im, "head width: no %s key; %llu, the default of %s in "
	    "transformers\n", key, (ull)*width, c->name);
	return KVP_OK;
}

int class_window(struct import *im, struct kvp_error *err)
{
	static const char key[] = "sliding_window";
	const struct model_class *c = class_of(im);
	struct json_at at;
	bool null = false;
	int code;

	if (im->window_read)
		return KVP_OK;
	code = config_dim_or(im, key, 0, &im->window, err);
	if (!code && !im->window)
		code = config_null(im, key, &null, err);
	if (code)
		return code;
	im->window_read = true;
	if (im->window || null)
		return KVP_OK;
	if (c == &none) {
		code = config_find(im, key, &at, err);
		return code ? code : json_fail(&at, err, KVP_EINPUT,
			"missing; family %s needs this key, null where no "
			"layer slides", im->family->shown.name);
	}
	im->window = c->window;
	if (c->window)
		why(im, "window: no %s key; %llu, the default of %s in "
		    "transformers\n", key, (ull)c->window, c->name);
	return KVP_OK;
}
