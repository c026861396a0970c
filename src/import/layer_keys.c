/*
 * The keys that state the kinds of layers.  Each function fills a list with
 * one entry per layer, from 0.  A list in the config has its own length; a
 * rule fills im->nlayers entries.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "import/import.h"

static const struct layer attends = { FULL, false };
static const struct layer recurs = { NO_ATTENTION, true };
static const struct layer neither = { NO_ATTENTION, false };

/* One more layer of a list in the config. */
static int add_layer(const struct json_at *at, struct layer_list *list,
		     struct layer layer, struct kvp_error *err)
{
	if (list->count == list->room)
		return json_fail(at, err, KVP_ELIMIT,
			"has more than %llu layers", (ull)list->room);
	list->layers[list->count++] = layer;
	return KVP_OK;
}

/* --- words and letters --- */

static int read_word(const struct import *im, const struct json_at *at,
		     const char *word, struct layer *layer,
		     struct kvp_error *err)
{
	const struct family *f = im->family;

	if (word_is_in("full_attention attention", word))
		*layer = attends;
	else if (f->idle_words && word_is_in(f->idle_words, word))
		*layer = neither;
	else if (f->slides && !strcmp(word, "sliding_attention"))
		*layer = (struct layer){ SLIDING, false };
	else if (f->recurrent_words && word_is_in(f->recurrent_words, word))
		*layer = recurs;
	else if (f->recurrent && !strcmp(word, "hybrid"))
		*layer = (struct layer){ FULL, true };
	else
		return json_fail(at, err, KVP_EINPUT, "is \"%.40s\", must be "
			"one of full_attention attention%s%s%s%s%s for family "
			"%s", word, f->slides ? " sliding_attention" : "",
			f->recurrent_words ? " hybrid " : "",
			f->recurrent_words ? f->recurrent_words : "",
			f->idle_words ? " " : "",
			f->idle_words ? f->idle_words : "", f->shown.name);
	return KVP_OK;
}

int read_layer_words(struct import *im, const struct json_at *at,
		     struct layer_list *list, struct kvp_error *err)
{
	struct json_list elements;
	struct json_at element;
	struct layer layer = neither;
	char *word;
	int code = json_list_begin(&elements, at, err);

	while (!code && json_list_next(&elements, &element)) {
		/* The length is checked before the word is. */
		code = add_layer(at, list, neither, err);
		if (!code)
			code = json_text(&element, &word, err);
		if (code)
			break;
		code = read_word(im, &element, word, &layer, err);
		list->layers[list->count - 1] = layer;
		free(word);
	}
	return code;
}

int read_layer_letters(struct import *im, const struct json_at *at,
		       struct layer_list *list, struct kvp_error *err)
{
	char *text, *p;
	int code = json_text(at, &text, err);

	(void)im;
	if (code)
		return code;
	for (p = text; *p && !code; p++) {
		code = add_layer(at, list, *p == 'M' ? recurs :
				 *p == '*' ? attends : neither, err);
		if (!code && !strchr("M*-E", *p))
			code = json_fail(at, err, KVP_EINPUT,
				*p > ' ' && *p < 0x7f ?
				"character %llu is '%c', must be one of M * "
				"- E" : "byte %llu is %#x, must be one of M * "
				"- E", (ull)(p - text), (unsigned char)*p);
	}
	free(text);
	return code;
}

/* --- numbers, one per layer --- */

static int read_numbers(struct import *im, const struct json_at *at,
			struct layer_list *list, struct kvp_error *err)
{
	bool ratios = list->row == &layer_keys[COMPRESS_RATIOS];
	struct json_list elements;
	struct json_at element;
	uint64_t got = 0;
	int code = json_list_begin(&elements, at, err);

	(void)im;
	while (!code && json_list_next(&elements, &element)) {
		code = add_layer(at, list, neither, err);
		if (!code)
			code = json_u64(&element, 0, DIM_MAX, &got, err);
		if (code)
			return code;
		if (ratios && (got == 0 || got == 4 || got == 128))
			list->layers[list->count - 1].attention =
				got == 4 ? RATIO_4 : got ? RATIO_128 : WINDOW;
		else if (!ratios && got <= 1)
			list->layers[list->count - 1] = got ? attends : recurs;
		else
			return json_fail(&element, err, KVP_EINPUT,
				"is %llu, must be %s", (ull)got, ratios ?
				"0, 4 or 128" : "1, attention, or 0, "
				"recurrent");
	}
	return code;
}

/* --- lists of layers --- */

/* Set all layers of the model to this kind; a list or rule sets some anew. */
static void fill(const struct import *im, struct layer_list *list,
		 struct layer kind)
{
	assert(im->nlayers && im->nlayers <= list->room);
	for (list->count = 0; list->count < im->nlayers; list->count++)
		list->layers[list->count] = kind;
}

/*
 * Set the layers of a list, which count from `base`, to `kind`.  A layer that
 * is no longer `unset` is listed twice.
 */
static int set_listed(const struct import *im, const struct json_at *at,
		      uint64_t base, struct layer unset, struct layer kind,
		      struct layer_list *list, struct kvp_error *err)
{
	struct json_list elements;
	struct json_at element;
	uint64_t got = 0;
	int code = json_list_begin(&elements, at, err);

	while (!code && json_list_next(&elements, &element)) {
		code = json_u64(&element, base, im->nlayers - 1 + base, &got,
				err);
		if (code)
			break;
		if (!same_layer(list->layers[got - base], unset))
			code = json_fail(&element, err, KVP_EINPUT,
				"is %llu, which is listed twice", (ull)got);
		list->layers[got - base] = kind;
	}
	return code;
}

/* Indices of the attention layers, from 0. */
static int read_indices(struct import *im, const struct json_at *at,
			struct layer_list *list, struct kvp_error *err)
{
	fill(im, list, list->row->other);
	return set_listed(im, at, 0, list->row->other, attends, list,
			  err);
}

/* Two lists, counted from 1, which name every layer once. */
static int read_linear_attn(struct import *im, const struct json_at *at,
			    struct layer_list *list, struct kvp_error *err)
{
	struct json_at full, kda;
	uint64_t i;
	int code = json_unique_member(at, "full_attn_layers", &full, err);

	if (!code)
		code = json_unique_member(at, "kda_layers", &kda, err);
	if (!code && (!full.p || !kda.p))
		return json_fail(full.p ? &kda : &full, err, KVP_EINPUT,
				 "missing; this key is required");
	fill(im, list, neither);
	if (!code)
		code = set_listed(im, &full, 1, neither, attends, list, err);
	if (!code)
		code = set_listed(im, &kda, 1, neither, recurs, list, err);
	for (i = 0; i < im->nlayers && !code; i++)
		if (same_layer(list->layers[i], neither))
			code = json_fail(at, err, KVP_EINPUT, "lists layer "
				"%llu (counted from 1) nowhere; "
				"full_attn_layers and kda_layers must have "
				"the %llu layers between them", (ull)i + 1,
				(ull)im->nlayers);
	return code;
}

/* --- rules --- */

/* Every period-th layer, counted from 1, is full. */
static int read_every(struct import *im, const struct json_at *at,
		      struct layer_list *list, struct kvp_error *err)
{
	uint64_t period = 0, i;
	int code = json_u64(at, 1, DIM_MAX, &period, err);

	if (code)
		return code;
	fill(im, list, list->row->other);
	for (i = period; i <= im->nlayers; i += period)
		list->layers[i - 1] = attends;
	return KVP_OK;
}

static int read_group(struct import *im, const struct json_at *at,
		      struct layer_list *list, struct kvp_error *err)
{
	uint64_t size = 0;
	int code = json_u64(at, 1, DIM_MAX, &size, err);

	if (!code && im->nlayers % size)
		return json_fail(at, err, KVP_EINPUT,
			"is %llu, must divide num_hidden_layers, %llu: "
			"sources differ about the layers behind the last "
			"whole group", (ull)size, (ull)im->nlayers);
	return code ? code : read_every(im, at, list, err);
}

static int read_period(struct import *im, const struct json_at *at,
		       struct layer_list *list, struct kvp_error *err)
{
	uint64_t period = 0, offset = 0, i;
	struct json_at other;
	int code = json_u64(at, 1, DIM_MAX, &period, err);

	if (!code)
		code = config_find(im, "attn_layer_offset", &other, err);
	if (!code && !other.p)
		return json_fail(&other, err, KVP_EINPUT,
			"missing; attn_layer_period needs it");
	if (!code)
		code = json_u64(&other, 0, period - 1, &offset, err);
	if (code)
		return code;
	fill(im, list, list->row->other);
	for (i = offset; i < im->nlayers; i += period)
		list->layers[i] = attends;
	return KVP_OK;
}

/* Layers from this one on slide, if use_sliding_window is true. */
static int read_window_layers(struct import *im, const struct json_at *at,
			      struct layer_list *list, struct kvp_error *err)
{
	struct json_at use;
	uint64_t from = 0, i;
	bool on = false;
	int code = config_bool(im, "use_sliding_window", &use, &on, err);

	if (!code && on)
		code = class_window(im, err);
	if (!code)
		code = json_u64(at, 0, DIM_MAX, &from, err);
	if (code)
		return code;
	fill(im, list, attends);
	for (i = from; i < im->nlayers && on && im->window; i++)
		list->layers[i].attention = SLIDING;
	report(im, "use_sliding_window: %s\n", use.p ? on ? "true" : "false" :
	       "no key; false, the default of Qwen's classes in transformers");
	return KVP_OK;
}

#define OTHERS_RECUR { NO_ATTENTION, true }
#define OTHERS_SLIDE { SLIDING, false }

const struct layer_key_row layer_keys[LAYER_KEYS] = {
	[LAYER_TYPES] = { "layer_types", read_layer_words, .list = true },
	[LAYERS_BLOCK_TYPE] = { "layers_block_type", read_layer_words,
				.list = true },
	[HYBRID_OVERRIDE_PATTERN] = { "hybrid_override_pattern",
				      read_layer_letters, .list = true },
	[ATTN_TYPE_LIST] = { "attn_type_list", read_numbers, .list = true },
	[COMPRESS_RATIOS] = { "compress_ratios", read_numbers, .list = true },
	[ATTN_LAYER_INDICES] = { "attn_layer_indices", read_indices,
				 OTHERS_RECUR, false },
	[FULL_ATTN_IDXS] = { "full_attn_idxs", read_indices, OTHERS_RECUR,
			     false },
	[LINEAR_ATTN_CONFIG] = { "linear_attn_config", read_linear_attn,
				 .list = false },
	[FULL_ATTENTION_INTERVAL] = { "full_attention_interval", read_every,
				      OTHERS_RECUR, false },
	[ATTN_LAYER_PERIOD] = { "attn_layer_period", read_period,
				OTHERS_RECUR, false },
	[LAYER_GROUP_SIZE] = { "layer_group_size", read_group, OTHERS_RECUR,
			       false },
	[SLIDING_WINDOW_PATTERN] = { "sliding_window_pattern", read_every,
				     OTHERS_SLIDE, false },
	[SLIDING_WINDOW_PATTERN_SAVED] = { "_sliding_window_pattern",
					   read_every, OTHERS_SLIDE, false },
	[MAX_WINDOW_LAYERS] = { "max_window_layers", read_window_layers,
				.list = false },
};
