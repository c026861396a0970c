/*
 * Keys that would change the answer.  Whoever reads a config reads what its
 * family knows; a key of this list that nobody read, and whose value is not
 * an empty one, means that the model keeps something else than the family
 * says.  All other keys are irrelevant and pass.
 */
#include <string.h>

#include "import/work.h"

struct sensitive {
	const char *key;
	const char *because;
};

static const char other_heads[] = "spells the heads that are kept";
static const char latent[] = "makes attention MLA";
static const char sparse[] = "adds an indexer to attention";
static const char apart[] = "describes layers one by one";
static const char sharing[] = "makes layers share what they keep";
static const char windows[] = "makes layers keep the last tokens only";
static const char crossing[] = "adds keys and values of another sequence";

static const struct sensitive table[] = {
	{ "head_dim", other_heads },
	{ "attention_head_dim", other_heads },
	{ "v_head_dim", other_heads },
	{ "kv_channels", other_heads },
	{ "num_kv_heads", other_heads },
	{ "n_head_kv", other_heads },
	{ "num_query_groups", other_heads },
	{ "num_attention_groups", other_heads },
	{ "multi_query", other_heads },
	{ "multi_query_attention", other_heads },
	{ "multi_query_group_num", other_heads },
	{ "num_key_value_heads_per_layer", apart },
	{ "global_head_dim", other_heads },
	{ "num_global_key_value_heads", other_heads },
	{ "swa_head_dim", other_heads },
	{ "swa_v_head_dim", other_heads },
	{ "swa_num_key_value_heads", other_heads },
	{ "swa_num_attention_heads", other_heads },
	{ "num_kv_heads_for_linear_attn", other_heads },
	{ "kv_lora_rank", latent },
	{ "index_head_dim", sparse },
	{ "index_topk", sparse },
	{ "num_kv_shared_layers", sharing },
	{ "use_cla", sharing },
	{ "cla_share_factor", sharing },
	{ "block_configs", apart },
	{ "per_layer_config", apart },
	{ "hybrid_layer_pattern", apart },
	{ "sliding_window", windows },
	{ "use_sliding_window", windows },
	{ "interleaved_sliding_window", windows },
	{ "attention_chunk_size", windows },
	{ "is_encoder_decoder", crossing },
	{ "cross_attention_layers", crossing },
};

static bool was_read(const struct import *im, const char *key)
{
	size_t i;

	for (i = 0; i < im->nread; i++)
		if (!strcmp(im->read[i], key))
			return true;
	return false;
}

/* null, false, 0, "" and [] say that there is no such thing. */
static bool is_empty(const struct json_at *at)
{
	const char *p = at->p;
	uint64_t value;

	switch (json_type(at)) {
	case JSON_NULL:
		return true;
	case JSON_BOOL:
		return *p == 'f';
	case JSON_NUMBER:
		return !json_u64(at, 0, 0, &value, NULL);
	case JSON_STRING:
		return p[1] == '"';
	case JSON_ARRAY:
		for (p++; *p == ' ' || *p == '\n' || *p == '\r' || *p == '\t';)
			p++;
		return *p == ']';
	case JSON_OBJECT:
		return false;
	}
	return false;
}

static int check(struct import *im, const char *key, const char *because,
		 struct kvp_error *err)
{
	struct json_at at;
	int code;

	if (was_read(im, key))
		return KVP_OK;
	code = json_only_member(&im->body, key, &at, err);
	if (code || !at.p || is_empty(&at))
		return code;
	return json_fail(&at, err, KVP_EINPUT, "%s, and family %s does not "
		"know this key; --as=FAMILY names another family", because,
		im->family->shown.name);
}

int sensitive_check(struct import *im, struct kvp_error *err)
{
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < sizeof(table) / sizeof(*table) && !code; i++)
		code = check(im, table[i].key, table[i].because, err);
	for (i = 0; i < SPELLINGS && !code; i++)
		if (i != MAX_WINDOW_LAYERS)	/* see use_sliding_window */
			code = check(im, spellings[i].key,
				     "says which layers are of which kind",
				     err);
	return code;
}
