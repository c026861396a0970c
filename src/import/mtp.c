/*
 * Multi-token-prediction layers.  A config that states them is served with
 * or without; they keep something when they are asked for, and then on the
 * last pipeline stage.
 */
#include <string.h>

#include "import/work.h"

static int wanted(struct import *im, uint64_t stated, uint64_t *take,
		  struct kvp_error *err)
{
	uint64_t want = im->options->mtp_layers;

	*take = 0;
	if (want == KVP_IMPORT_UNSTATED || !want) {
		if (stated)
			why(im, "MTP: %s/%s is %llu, left out; --mtp takes "
			    "such layers\n", im->prefix,
			    im->family->mtp_key, (ull)stated);
		return KVP_OK;
	}
	if (!stated)
		return kvp_error_set(err, KVP_EINPUT, "%s: --mtp: the config "
			"states no MTP layer%s%s%s", im->source,
			im->family->mtp_key ? " (" : "",
			im->family->mtp_key ? im->family->mtp_key : "",
			im->family->mtp_key ? ")" : "");
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

/* The layers of one MTP layer of Nemotron-H, by either spelling. */
static int read_steps(struct import *im, struct layer *step, uint64_t *count,
		      struct kvp_error *err)
{
	struct json_at pattern, words;
	int code = config_find(im, "mtp_hybrid_override_pattern", &pattern,
			       err);

	if (!code)
		code = config_find(im, "mtp_layers_block_type", &words, err);
	if (code)
		return code;
	if (pattern.p)
		return pattern_read(&pattern, step, MTP_MAX, count, err);
	if (words.p)
		return words_read(im, &words, step, MTP_MAX, count, err);
	return json_fail(&pattern, err, KVP_EINPUT, "missing; --mtp needs "
			 "this key or mtp_layers_block_type");
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
		    "model's\n", (ull)take, (ull)stated, im->prefix,
		    im->family->mtp_key);
	return code;
}
