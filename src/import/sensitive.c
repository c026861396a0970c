/*
 * Keys that would change the answer.  A key of this list that the family
 * does not know, and whose value is not an empty one, means that the model
 * keeps something else than the family says.  What a family knows is
 * settled by its row, not by what a config made it read: a model without
 * attention does not read head_dim, and may have it.  All other keys are
 * irrelevant and pass.
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
static const char kinds[] = "says which layers are of which kind";
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
	{ "n_kv_heads", other_heads },
	{ "attn_config", other_heads },
	{ "head_size", other_heads },
	{ "d_kv", other_heads },
	{ "qk_head_dim", other_heads },
	{ "attention_hidden_size", other_heads },
	{ "attention_k_eq_v", other_heads },
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
	{ "hybrid_layer_ids", kinds },
	{ "attention_types", kinds },
	{ "block_types", kinds },
	{ "_block_types", kinds },
	{ "attn_layers", kinds },
	{ "full_attention_layers", kinds },
	{ "ssm_cfg", kinds },
	{ "use_mamba", kinds },
	{ "sliding_window", windows },
	{ "use_sliding_window", windows },
	{ "interleaved_sliding_window", windows },
	{ "sliding_window_size", windows },
	{ "attention_window_size", windows },
	{ "local_attention_window", windows },
	{ "window_size", windows },
	{ "attention_chunk_size", windows },
	{ "is_encoder_decoder", crossing },
	{ "cross_attention_layers", crossing },
};

static bool knows(const struct family *f, const char *key)
{
	size_t i;

	for (i = 0; i < SPELLINGS; i++)
		if ((f->spellings & SPELT(i)) && !strcmp(spellings[i].key, key))
			return true;
	return word_is_in(f->knows, key);
}

/* The families that know a key. */
static void know(const char *key, char *text, size_t size)
{
	const struct family *f;
	struct text_list list;
	size_t i;

	text_list_begin(&list, text, size, ", ");
	for (i = 0; (f = family_at(i)) != NULL; i++)
		if (knows(f, key))
			text_list_add(&list, 1, "%s", f->shown.name);
	text_list_end(&list);
}

static int check(struct import *im, const struct json_at *object,
		 const char *key, const char *because, struct kvp_error *err)
{
	char text[320];
	struct json_at at;
	int code;

	if (knows(im->family, key))
		return KVP_OK;
	code = json_only_member(object, key, &at, err);
	if (code || !at.p || is_empty(&at))
		return code;
	know(key, text, sizeof(text));
	return json_fail(&at, err, KVP_EINPUT, "%s, and family %s does not "
		"know this key; %s%s", because, im->family->shown.name, *text ?
		"these do, see --as=FAMILY: " : "no family does", text);
}

#define NAMED 8			/* keys of recurrent layers that are listed */

/* Models without recurrent layers may keep the keys of such layers. */
static int note_recurrent(struct import *im, struct kvp_error *err)
{
	static const char *const prefixes[] = { "mamba_", "ssm_", "linear_" };
	struct json_members walk;
	struct json_at member;
	unsigned count = 0;
	size_t i;
	int code = json_members_begin(&walk, &im->body, err);

	if (im->family->recurrent)
		return code;
	while (!code) {
		code = json_members_next(&walk, &member, err);
		if (code || !member.p)
			break;
		for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
			if (!strncmp(member.key, prefixes[i],
				     strlen(prefixes[i])) &&
			    !is_empty(&member) && ++count <= NAMED)
				why(im, "%s %s", count == 1 ? "  not used:" :
				    ",", member.key);
	}
	if (count > NAMED)
		why(im, " and %u more", count - NAMED);
	if (count)
		why(im, "; family %s has no recurrent layers\n",
		    im->family->shown.name);
	return code;
}

int sensitive_check(struct import *im, struct kvp_error *err)
{
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < sizeof(table) / sizeof(*table) && !code; i++) {
		code = check(im, &im->body, table[i].key, table[i].because,
			     err);
		/* Models of several parts say of the whole that they cross. */
		if (!code && table[i].because == crossing)
			code = check(im, &im->root, table[i].key, crossing,
				     err);
	}
	for (i = 0; i < SPELLINGS && !code; i++)
		if (i != MAX_WINDOW_LAYERS)	/* see use_sliding_window */
			code = check(im, &im->body, spellings[i].key, kinds,
				     err);
	return code ? code : note_recurrent(im, err);
}
