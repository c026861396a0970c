/*
 * How configs spell the kinds of layers.  Each function fills `layers`, one
 * entry per layer from 0, and says how many there are: a list has its own
 * length, a rule makes im->nlayers.
 */
#include <stdlib.h>
#include <string.h>

#include "import/work.h"

static const struct layer attends = { FULL, false };
static const struct layer recurs = { NO_ATTENTION, true };
static const struct layer neither = { NO_ATTENTION, false };

static int too_many(const struct json_at *at, uint64_t most,
		    struct kvp_error *err)
{
	return json_fail(at, err, KVP_ELIMIT,
			 "has more than %llu layers", (ull)most);
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

int words_read(const struct import *im, const struct json_at *at,
	       struct layer *layers, uint64_t most, uint64_t *count,
	       struct kvp_error *err)
{
	struct json_list list;
	struct json_at element;
	char *word;
	int code = json_list_begin(&list, at, err);

	for (*count = 0; !code && json_list_next(&list, &element); ++*count) {
		if (*count == most)
			return too_many(at, most, err);
		code = json_text(&element, &word, err);
		if (code)
			break;
		code = read_word(im, &element, word, &layers[*count], err);
		free(word);
	}
	return code;
}

static int read_words(struct import *im, const struct json_at *at,
		      struct layer *layers, uint64_t *count,
		      struct kvp_error *err)
{
	return words_read(im, at, layers, LISTED_MAX, count, err);
}

int pattern_read(const struct json_at *at, struct layer *layers, uint64_t most,
		 uint64_t *count, struct kvp_error *err)
{
	char *text;
	int code = json_text(at, &text, err);
	uint64_t i;

	*count = 0;
	if (code)
		return code;
	for (i = 0; text[i] && !code; i++)
		if (i == most)
			code = too_many(at, most, err);
		else if (text[i] == 'M')
			layers[i] = recurs;
		else if (text[i] == '*')
			layers[i] = attends;
		else if (text[i] == '-' || text[i] == 'E')
			layers[i] = neither;
		else
			code = json_fail(at, err, KVP_EINPUT,
				text[i] > ' ' && text[i] < 0x7f ?
				"character %llu is '%c', must be one of M * "
				"- E" : "byte %llu is %#x, must be one of M * "
				"- E", (ull)i, (unsigned char)text[i]);
	*count = i;
	free(text);
	return code;
}

static int read_pattern(struct import *im, const struct json_at *at,
			struct layer *layers, uint64_t *count,
			struct kvp_error *err)
{
	(void)im;
	return pattern_read(at, layers, LISTED_MAX, count, err);
}

/* --- numbers, one per layer --- */

static int read_numbers(const struct json_at *at, struct layer *layers,
			uint64_t *count, bool ratios, struct kvp_error *err)
{
	struct json_list list;
	struct json_at element;
	uint64_t got = 0;
	int code = json_list_begin(&list, at, err);

	for (*count = 0; !code && json_list_next(&list, &element); ++*count) {
		if (*count == LISTED_MAX)
			return too_many(at, LISTED_MAX, err);
		code = json_u64(&element, 0, DIM_MAX, &got, err);
		if (code)
			return code;
		if (ratios && (got == 0 || got == 4 || got == 128))
			layers[*count] = (struct layer){
				got == 4 ? RATIO_4 : got ? RATIO_128 : WINDOW,
				false };
		else if (!ratios && got <= 1)
			layers[*count] = got ? attends : recurs;
		else
			return json_fail(&element, err, KVP_EINPUT,
				"is %llu, must be %s", (ull)got, ratios ?
				"0, 4 or 128" : "1, attention, or 0, "
				"recurrent");
	}
	return code;
}

static int read_types(struct import *im, const struct json_at *at,
		      struct layer *layers, uint64_t *count,
		      struct kvp_error *err)
{
	(void)im;
	return read_numbers(at, layers, count, false, err);
}

static int read_ratios(struct import *im, const struct json_at *at,
		       struct layer *layers, uint64_t *count,
		       struct kvp_error *err)
{
	(void)im;
	return read_numbers(at, layers, count, true, err);
}

/* --- lists of layers --- */

/*
 * Set the layers of a list, which count from `base`, to `kind`.  `layers`
 * holds what nobody has set yet: `unset`.
 */
static int set_listed(struct import *im, const struct json_at *at,
		      uint64_t base, struct layer unset, struct layer kind,
		      struct layer *layers, struct kvp_error *err)
{
	struct json_list list;
	struct json_at element;
	struct layer *layer;
	uint64_t got = 0;
	int code = json_list_begin(&list, at, err);

	while (!code && json_list_next(&list, &element)) {
		code = json_u64(&element, base, im->nlayers - 1 + base, &got,
				err);
		if (code)
			break;
		layer = &layers[got - base];
		if (layer->attention != unset.attention ||
		    layer->recurrent != unset.recurrent)
			code = json_fail(&element, err, KVP_EINPUT,
				"is %llu, which is listed twice", (ull)got);
		*layer = kind;
	}
	return code;
}

static void fill(struct import *im, struct layer kind, struct layer *layers,
		 uint64_t *count)
{
	uint64_t i;

	for (i = 0; i < im->nlayers; i++)
		layers[i] = kind;
	*count = im->nlayers;
}

/* Zero-based indices of the attention layers. */
static int read_indices(struct import *im, const struct json_at *at,
			struct layer *layers, uint64_t *count,
			struct kvp_error *err)
{
	fill(im, recurs, layers, count);
	return set_listed(im, at, 0, recurs, attends, layers, err);
}

/* Two one-based lists, which have every layer once. */
static int read_linear_attn(struct import *im, const struct json_at *at,
			    struct layer *layers, uint64_t *count,
			    struct kvp_error *err)
{
	struct json_at full, kda;
	uint64_t i;
	int code = json_only_member(at, "full_attn_layers", &full, err);

	if (!code)
		code = json_only_member(at, "kda_layers", &kda, err);
	if (!code && (!full.p || !kda.p))
		return json_fail(full.p ? &kda : &full, err, KVP_EINPUT,
				 "missing; this key is required");
	fill(im, neither, layers, count);
	if (!code)
		code = set_listed(im, &full, 1, neither, attends, layers, err);
	if (!code)
		code = set_listed(im, &kda, 1, neither, recurs, layers, err);
	for (i = 0; i < im->nlayers && !code; i++)
		if (layers[i].attention == NO_ATTENTION &&
		    !layers[i].recurrent)
			code = json_fail(at, err, KVP_EINPUT, "lists layer "
				"%llu (counted from 1) nowhere; "
				"full_attn_layers and kda_layers must have "
				"the %llu layers between them", (ull)i + 1,
				(ull)im->nlayers);
	return code;
}

/* --- rules --- */

/* Every period-th layer, counted from 1, is full; the others are `rest`. */
static void every(struct import *im, uint64_t period, struct layer rest,
		  struct layer *layers, uint64_t *count)
{
	uint64_t i;

	fill(im, rest, layers, count);
	for (i = 0; i < im->nlayers; i++)
		if ((i + 1) % period == 0)
			layers[i] = attends;
}

static int read_interval(struct import *im, const struct json_at *at,
			 struct layer *layers, uint64_t *count,
			 struct kvp_error *err)
{
	uint64_t period = 0;
	int code = json_u64(at, 1, DIM_MAX, &period, err);

	if (!code)
		every(im, period, recurs, layers, count);
	return code;
}

static int read_period(struct import *im, const struct json_at *at,
		       struct layer *layers, uint64_t *count,
		       struct kvp_error *err)
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
	fill(im, recurs, layers, count);
	for (i = offset; i < im->nlayers; i += period)
		layers[i] = attends;
	return KVP_OK;
}

static int read_group(struct import *im, const struct json_at *at,
		      struct layer *layers, uint64_t *count,
		      struct kvp_error *err)
{
	uint64_t size = 0;
	int code = json_u64(at, 1, DIM_MAX, &size, err);

	if (code)
		return code;
	if (im->nlayers % size)
		return json_fail(at, err, KVP_EINPUT,
			"is %llu, must divide num_hidden_layers, %llu: "
			"sources differ about the layers behind the last "
			"whole group", (ull)size, (ull)im->nlayers);
	every(im, size, recurs, layers, count);
	return KVP_OK;
}

static int read_window_pattern(struct import *im, const struct json_at *at,
			       struct layer *layers, uint64_t *count,
			       struct kvp_error *err)
{
	uint64_t period = 0;
	int code = json_u64(at, 1, DIM_MAX, &period, err);

	if (!code)
		every(im, period, (struct layer){ SLIDING, false }, layers,
		      count);
	return code;
}

/* Layers from this one on slide, if use_sliding_window lets them. */
static int read_window_layers(struct import *im, const struct json_at *at,
			      struct layer *layers, uint64_t *count,
			      struct kvp_error *err)
{
	struct json_at use;
	uint64_t from = 0, i;
	bool on = false;
	int code = config_find(im, "use_sliding_window", &use, err);

	if (!code && use.p)
		code = json_bool(&use, &on, err);
	if (!code && on)
		code = class_window(im, err);
	if (!code)
		code = json_u64(at, 0, DIM_MAX, &from, err);
	if (code)
		return code;
	fill(im, attends, layers, count);
	for (i = from; i < im->nlayers && on && im->window; i++)
		layers[i].attention = SLIDING;
	why(im, "use_sliding_window: %s\n", use.p ? on ? "true" : "false" :
	    "no key; false, the default of Qwen's classes in transformers");
	return KVP_OK;
}

const struct spelling_row spellings[SPELLINGS] = {
	[LAYER_TYPES] = { "layer_types", read_words, true },
	[LAYERS_BLOCK_TYPE] = { "layers_block_type", read_words, true },
	[HYBRID_OVERRIDE_PATTERN] = { "hybrid_override_pattern", read_pattern,
				      true },
	[ATTN_TYPE_LIST] = { "attn_type_list", read_types, true },
	[COMPRESS_RATIOS] = { "compress_ratios", read_ratios, true },
	[ATTN_LAYER_INDICES] = { "attn_layer_indices", read_indices, false },
	[FULL_ATTN_IDXS] = { "full_attn_idxs", read_indices, false },
	[LINEAR_ATTN_CONFIG] = { "linear_attn_config", read_linear_attn,
				 false },
	[FULL_ATTENTION_INTERVAL] = { "full_attention_interval",
				      read_interval, false },
	[ATTN_LAYER_PERIOD] = { "attn_layer_period", read_period, false },
	[LAYER_GROUP_SIZE] = { "layer_group_size", read_group, false },
	[SLIDING_WINDOW_PATTERN] = { "sliding_window_pattern",
				     read_window_pattern, false },
	[SLIDING_WINDOW_PATTERN_SAVED] = { "_sliding_window_pattern",
					   read_window_pattern, false },
	[MAX_WINDOW_LAYERS] = { "max_window_layers", read_window_layers,
				false },
};
