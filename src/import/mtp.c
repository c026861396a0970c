/*
 * Layers of multi-token prediction (MTP).  Engines serve a config that states
 * them with or without them.  They count with --mtp only, on the last pipeline
 * stage.
 */
#include <string.h>

#include "import/import.h"

/* MTP layers that a config states and its family has no key for. */
static int note_unknown(struct import *im, struct kvp_error *err)
{
	static const char *const keys[] = {
		"num_nextn_predict_layers", "mtp_num_hidden_layers"
	};
	struct json_at at;
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < sizeof(keys) / sizeof(*keys) && !code; i++) {
		code = json_unique_member(&im->body, keys[i], &at, err);
		if (!code && at.p && !is_empty(&at))
			report(im, "MTP: %s/%s, left out; family %s does not "
			       "know MTP layers\n", im->prefix, keys[i],
			       im->family->shown.name);
	}
	return code;
}

/* How many of the stated layers --mtp asks for. */
static int count_wanted(struct import *im, uint64_t stated, uint64_t *count,
			struct kvp_error *err)
{
	uint64_t want = im->options->mtp_layers;

	*count = 0;
	if (want == KVP_IMPORT_UNSTATED || !want) {
		if (!im->family->mtp_key)
			return note_unknown(im, err);
		if (stated)
			report(im, "MTP: %s/%s is %llu, left out; --mtp takes "
			       "such layers\n", im->prefix,
			       im->family->mtp_key, (ull)stated);
		return KVP_OK;
	}
	if (!im->family->mtp_key)
		return kvp_error_set(err, KVP_EINPUT, "%s: --mtp: family %s "
			"does not know MTP layers", im->source,
			im->family->shown.name);
	if (!stated)
		return kvp_error_set(err, KVP_EINPUT, "%s: --mtp: the config "
			"states no MTP layer (%s)", im->source,
			im->family->mtp_key);
	if (want != KVP_IMPORT_MTP_ALL && want > stated)
		return kvp_error_set(err, KVP_EINPUT, "%s: --mtp=%llu: the "
			"config states %llu (%s); more tokens come from the "
			"same layers", im->source, (ull)want, (ull)stated,
			im->family->mtp_key);
	if (im->family->mtp == MTP_UNKNOWN)
		return kvp_error_set(err, KVP_EINPUT, "%s: --mtp: no source "
			"states what an MTP layer of family %s keeps",
			im->source, im->family->shown.name);
	*count = want == KVP_IMPORT_MTP_ALL ? stated : want;
	return KVP_OK;
}

static bool same_layers(const struct layer_list *a, const struct layer_list *b)
{
	uint64_t i;

	for (i = 0; i < a->count && i < b->count; i++)
		if (!same_layer(a->layers[i], b->layers[i]))
			return false;
	return a->count == b->count;
}

/* The layers of one MTP layer of Nemotron-H, by either key or both. */
static int read_steps(struct import *im, struct layer_list *steps,
		      struct kvp_error *err)
{
	struct layer layers[MTP_MAX];
	struct layer_list other = { NULL, layers, MTP_MAX, 0 };
	struct json_at pattern, words;
	int code = config_find(im, "mtp_hybrid_override_pattern", &pattern,
			       err);

	if (!code)
		code = config_find(im, "mtp_layers_block_type", &words, err);
	if (!code && pattern.p)
		code = read_layer_letters(im, &pattern, steps, err);
	if (!code && words.p)
		code = read_layer_words(im, &words, pattern.p ? &other : steps,
					err);
	if (code)
		return code;
	if (!pattern.p && !words.p)
		return json_fail(&pattern, err, KVP_EINPUT, "missing; --mtp "
				 "needs this key or mtp_layers_block_type");
	if (!steps->count)
		return json_fail(pattern.p ? &pattern : &words, err,
			KVP_EINPUT, "is empty; an MTP layer has at least one "
			"step");
	if (pattern.p && words.p && !same_layers(steps, &other))
		return json_fail(&words, err, KVP_EINPUT, "states other "
			"steps than mtp_hybrid_override_pattern; one of them "
			"must go");
	return KVP_OK;
}

static int append_patterns(struct import *im, uint64_t count,
			   struct kvp_error *err)
{
	struct layer layers[MTP_MAX];
	struct layer_list steps = { NULL, layers, MTP_MAX, 0 };
	uint64_t i;
	int code = read_steps(im, &steps, err);

	for (i = 0; i < count * steps.count && !code; i++)
		im->layers[im->nlayers + im->nmtp++] =
			layers[i % steps.count];
	return code;
}

static bool last_stage(const struct import *im)
{
	const struct kvp_import_options *o = im->options;

	return o->stages == KVP_IMPORT_UNSTATED || o->stage == o->stages;
}

int mtp_read(struct import *im, uint64_t stated, const struct layer *tail,
	     uint64_t ntail, struct kvp_error *err)
{
	uint64_t count, i;
	int code = count_wanted(im, stated, &count, err);

	if (code || !count)
		return code;
	if (im->family->mtp == MTP_TAIL && ntail < count)
		return json_fail(&im->body, err, KVP_EINPUT, "--mtp: the list "
			"of layer kinds ends with the model's, and states "
			"nothing about %llu MTP layers", (ull)count);
	if (im->family->mtp == MTP_PATTERN)
		code = append_patterns(im, count, err);
	for (i = 0; i < count && im->family->mtp != MTP_PATTERN; i++) {
		struct layer layer = { FULL, false };

		im->layers[im->nlayers + im->nmtp++] =
			ntail >= count ? tail[i] : layer;
	}
	if (!code)
		report(im, "MTP: %llu of %llu layers of %s/%s, behind the "
		       "model's%s%s\n", (ull)count, (ull)stated, im->prefix,
		       im->family->mtp_key, im->family->mtp == MTP_PATTERN ?
		       ", each by its pattern of steps" : ntail >= count ?
		       ", as the end of the list has them" :
		       ", each of full attention", last_stage(im) ? "" :
		       ", on the last stage only: not on this one");
	return code;
}
