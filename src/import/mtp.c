/*
 * Multi-token-prediction layers.  A config that states them is served with
 * or without; they keep something when they are asked for, and then on the
 * last pipeline stage.
 */
#include <string.h>

#include "import/work.h"

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
		code = json_only_member(&im->body, keys[i], &at, err);
		if (!code && at.p && !is_empty(&at))
			why(im, "MTP: %s/%s, left out; family %s does not "
			    "know MTP layers\n", im->prefix, keys[i],
			    im->family->shown.name);
	}
	return code;
}

static int wanted(struct import *im, uint64_t stated, uint64_t *take,
		  struct kvp_error *err)
{
	uint64_t want = im->options->mtp_layers;

	*take = 0;
	if (want == KVP_IMPORT_UNSTATED || !want) {
		if (!im->family->mtp_key)
			return note_unknown(im, err);
		if (stated)
			why(im, "MTP: %s/%s is %llu, left out; --mtp takes "
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
			"says what an MTP layer of family %s keeps",
			im->source, im->family->shown.name);
	*take = want == KVP_IMPORT_MTP_ALL ? stated : want;
	return KVP_OK;
}

static bool same_step(const struct layer *a, const struct layer *b,
		      uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		if (a[i].attention != b[i].attention ||
		    a[i].recurrent != b[i].recurrent)
			return false;
	return true;
}

/* The layers of one MTP layer of Nemotron-H, by either spelling or both. */
static int read_steps(struct import *im, struct layer *step, uint64_t *count,
		      struct kvp_error *err)
{
	struct layer other[MTP_MAX];
	struct json_at pattern, words;
	uint64_t nother = 0;
	int code = config_find(im, "mtp_hybrid_override_pattern", &pattern,
			       err);

	if (!code)
		code = config_find(im, "mtp_layers_block_type", &words, err);
	if (!code && pattern.p)
		code = pattern_read(&pattern, step, MTP_MAX, count, err);
	if (!code && words.p)
		code = words_read(im, &words, pattern.p ? other : step,
				  MTP_MAX, pattern.p ? &nother : count, err);
	if (code)
		return code;
	if (!pattern.p && !words.p)
		return json_fail(&pattern, err, KVP_EINPUT, "missing; --mtp "
				 "needs this key or mtp_layers_block_type");
	if (!*count)
		return json_fail(pattern.p ? &pattern : &words, err,
			KVP_EINPUT, "is empty; an MTP layer has at least one "
			"step");
	if (pattern.p && words.p &&
	    (nother != *count || !same_step(step, other, nother)))
		return json_fail(&words, err, KVP_EINPUT, "says other steps "
			"than mtp_hybrid_override_pattern; one of them must "
			"go");
	return KVP_OK;
}

static int take_pattern(struct import *im, uint64_t take,
			struct kvp_error *err)
{
	struct layer step[MTP_MAX];
	uint64_t count = 0, i;
	int code = read_steps(im, step, &count, err);

	for (i = 0; i < take * count && !code; i++)
		im->layers[im->nlayers + im->nmtp++] = step[i % count];
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
	uint64_t take, i;
	int code = wanted(im, stated, &take, err);

	if (code || !take)
		return code;
	if (im->family->mtp == MTP_TAIL && ntail < take)
		return json_fail(&im->body, err, KVP_EINPUT, "--mtp: the list "
			"of layer kinds ends with the model's, and says "
			"nothing about %llu MTP layers", (ull)take);
	if (im->family->mtp == MTP_PATTERN)
		code = take_pattern(im, take, err);
	for (i = 0; i < take && im->family->mtp != MTP_PATTERN; i++) {
		struct layer layer = { FULL, false };

		im->layers[im->nlayers + im->nmtp++] =
			ntail >= take ? tail[i] : layer;
	}
	if (!code)
		why(im, "MTP: %llu of %llu layers of %s/%s, behind the "
		    "model's%s%s\n", (ull)take, (ull)stated, im->prefix,
		    im->family->mtp_key, im->family->mtp == MTP_PATTERN ?
		    ", each by its pattern of steps" : ntail >= take ?
		    ", as the end of the list has them" :
		    ", each of full attention", last_stage(im) ? "" :
		    ", on the last stage only: not on this one");
	return code;
}
