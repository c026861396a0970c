/*
 * Keys that describe another cache than the family has.  Such a key, unless
 * the family's row allows it or its value is empty, means that the model keeps
 * something that the family's formulas leave out: it is refused.  The row
 * alone decides, not what was read of the config: a model without attention
 * does not read head_dim, and may have it.  All other keys are irrelevant.
 */
#include <string.h>

#include "import/import.h"

struct foreign_keys {
	const char *because;
	const char *const *keys;	/* up to NULL */
};

#define KEYS(...) (const char *const[]){ __VA_ARGS__, NULL }

static const char other_heads[] = "states which heads are kept";
static const char one_by_one[] = "describes layers one by one";
static const char kinds[] = "states which layers are of which kind";
static const char crossing[] = "adds keys and values of another sequence";

/* In the order in which they are looked for. */
static const struct foreign_keys table[] = {
	{ other_heads, KEYS("head_dim", "attention_head_dim", "v_head_dim",
		"kv_channels", "num_kv_heads", "n_head_kv", "num_query_groups",
		"num_attention_groups", "multi_query", "multi_query_attention",
		"multi_query_group_num") },
	{ one_by_one, KEYS("num_key_value_heads_per_layer") },
	{ other_heads, KEYS("n_kv_heads", "attn_config", "head_size", "d_kv",
		"qk_head_dim", "attention_hidden_size", "attention_k_eq_v",
		"global_head_dim", "num_global_key_value_heads",
		"swa_head_dim", "swa_v_head_dim", "swa_num_key_value_heads",
		"swa_num_attention_heads", "num_kv_heads_for_linear_attn") },
	{ "makes attention MLA", KEYS("kv_lora_rank") },
	{ "adds an indexer to attention", KEYS("index_head_dim",
		"index_topk") },
	{ "makes layers share what they keep", KEYS("num_kv_shared_layers",
		"use_cla", "cla_share_factor") },
	{ one_by_one, KEYS("block_configs", "per_layer_config",
		"hybrid_layer_pattern") },
	{ kinds, KEYS("hybrid_layer_ids", "attention_types", "block_types",
		"_block_types", "attn_layers", "full_attention_layers",
		"ssm_cfg", "use_mamba") },
	{ "makes layers keep the last tokens only", KEYS("sliding_window",
		"use_sliding_window", "interleaved_sliding_window",
		"sliding_window_size", "attention_window_size",
		"local_attention_window", "window_size",
		"attention_chunk_size") },
	{ crossing, KEYS("is_encoder_decoder", "cross_attention_layers") },
};

static bool family_knows(const struct family *f, const char *key)
{
	size_t i;

	for (i = 0; i < LAYER_KEYS; i++)
		if ((f->layer_keys & KEY(i)) && !strcmp(layer_keys[i].key, key))
			return true;
	return word_is_in(f->known_keys, key);
}

static void list_families(const char *key, char *text, size_t size)
{
	const struct family *f;
	struct text_list list;
	size_t i;

	text_list_begin(&list, text, size, ", ");
	for (i = 0; (f = family_at(i)) != NULL; i++)
		if (family_knows(f, key))
			text_list_add(&list, 1, "%s", f->shown.name);
	text_list_end(&list);
}

static int check(struct import *im, const struct json_at *object,
		 const char *key, const char *because, struct kvp_error *err)
{
	char text[320];
	struct json_at at;
	int code;

	if (family_knows(im->family, key))
		return KVP_OK;
	code = json_unique_member(object, key, &at, err);
	if (code || !at.p || is_empty(&at))
		return code;
	list_families(key, text, sizeof(text));
	return json_fail(&at, err, KVP_EINPUT, "%s, and family %s does not "
		"know this key; %s%s", because, im->family->shown.name, *text ?
		"these do, see --as=FAMILY: " : "no family does", text);
}

#define NAMED 8			/* keys of recurrent layers that are listed */

/* Report keys of recurrent layers in a model that has none. */
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
				report(im, "%s %s", count == 1 ? "  not used:" :
				       ",", member.key);
	}
	if (count > NAMED)
		report(im, " and %u more", count - NAMED);
	if (count)
		report(im, "; family %s has no recurrent layers\n",
		       im->family->shown.name);
	return code;
}

int foreign_keys_check(struct import *im, struct kvp_error *err)
{
	const char *const *key;
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++)
		for (key = table[i].keys; *key && !code; key++) {
			code = check(im, &im->body, *key, table[i].because,
				     err);
			/* Configs of several models state it at the top. */
			if (!code && table[i].because == crossing)
				code = check(im, &im->root, *key, crossing,
					     err);
		}
	for (i = 0; i < LAYER_KEYS && !code; i++)
		if (i != MAX_WINDOW_LAYERS)	/* see use_sliding_window */
			code = check(im, &im->body, layer_keys[i].key, kinds,
				     err);
	return code ? code : note_recurrent(im, err);
}
