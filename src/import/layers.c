/*
 * The layers of the model: from whichever spellings its config has, which
 * have to agree, to one list.  A list that is longer than the model by the
 * MTP layers that the config states names those at its end.
 */
#include <stdlib.h>
#include <string.h>

#include "import/work.h"

static const char *kind_name(struct layer layer)
{
	static const char *const attention[ATTENTIONS] = {
		[NO_ATTENTION] = "without a cache", [FULL] = "full attention",
		[SLIDING] = "sliding attention", [WINDOW] = "a window alone",
		[RATIO_4] = "ratio 4", [RATIO_128] = "ratio 128",
	};

	if (layer.recurrent)
		return layer.attention ? "attention and recurrent" :
					 "recurrent";
	return attention[layer.attention];
}

static bool same(struct layer a, struct layer b)
{
	return a.attention == b.attention && a.recurrent == b.recurrent;
}

static int disagree(struct import *im, const struct json_at *at,
		    const char *first, uint64_t layer, struct layer other,
		    struct kvp_error *err)
{
	return json_fail(at, err, KVP_EINPUT, "makes layer %llu %s, but %s "
		"makes it %s; one of them must go", (ull)layer,
		kind_name(other), first, kind_name(im->layers[layer]));
}

/* A list names every layer, and maybe the MTP layers behind them. */
static int check_count(struct import *im, const struct json_at *at,
		       uint64_t count, uint64_t mtp, struct kvp_error *err)
{
	if (!im->nlayers && mtp)
		return json_fail(&(struct json_at){ .in = at->in,
			.up = at->up, .key = "num_hidden_layers" }, err,
			KVP_EINPUT, "missing; %s has %llu entries and may "
			"name the %llu MTP layers of the config or not: say "
			"how many are the model's", at->key, (ull)count,
			(ull)mtp);
	if (!im->nlayers && count && count <= KVP_IMPORT_LAYERS_MAX) {
		im->nlayers = count;
		why(im, "layers: %llu, the length of %s/%s\n", (ull)count,
		    im->prefix, at->key);
	}
	if (count && (count == im->nlayers || count == im->nlayers + mtp))
		return KVP_OK;
	return json_fail(at, err, KVP_EINPUT, "has %llu entr%s, must have "
		"one for each of the %llu layers%s", (ull)count,
		count == 1 ? "y" : "ies", (ull)im->nlayers, mtp ?
		", and may have one for each MTP layer" : "");
}

struct reading {
	struct layer *now;	/* what one spelling says, [LISTED_MAX] */
	struct layer *tail;	/* MTP layers, [MTP_MAX] */
	uint64_t ntail;
	uint64_t mtp;		/* stated by the config */
	const char *first;	/* the spelling that im->layers is from */
};

/* Take what one spelling says, or compare it with an earlier one. */
static int take(struct import *im, struct reading *r, const struct json_at *at,
		uint64_t count, struct kvp_error *err)
{
	uint64_t i;

	for (i = 0; i < im->nlayers; i++)
		if (!r->first)
			im->layers[i] = r->now[i];
		else if (!same(im->layers[i], r->now[i]))
			return disagree(im, at, r->first, i, r->now[i], err);
	if (!r->first)
		r->first = at->key;
	r->ntail = count - im->nlayers > r->ntail ? count - im->nlayers :
						    r->ntail;
	for (i = im->nlayers; i < count; i++)
		r->tail[i - im->nlayers] = r->now[i];
	why(im, "layer kinds: from %s/%s\n", im->prefix, at->key);
	return KVP_OK;
}

static int read_spelling(struct import *im, struct reading *r,
			 enum spelling spelling, struct kvp_error *err)
{
	const struct spelling_row *row = &spellings[spelling];
	/* Steps of an MTP pattern stand in no list of layers. */
	bool tail = row->list && im->family->mtp != MTP_PATTERN;
	struct json_at at;
	uint64_t count = 0;
	int code;

	if (!(im->family->spellings & SPELT(spelling)))
		return KVP_OK;
	code = config_find(im, row->key, &at, err);
	if (code || !at.p)
		return code;
	/* A rule needs the number of layers, a list brings it. */
	if (!row->list && !im->nlayers)
		return config_dim(im, "num_hidden_layers", &count, err);
	code = row->read(im, &at, r->now, &count, err);
	if (!code)
		code = check_count(im, &at, count, tail ? r->mtp : 0, err);
	return code ? code : take(im, r, &at, count, err);
}

/* --- a config without any spelling --- */

static int refuse_unspelt(struct import *im, struct kvp_error *err)
{
	char keys[200] = "";
	int i;

	for (i = 0; i < SPELLINGS; i++) {
		if (!(im->family->spellings & SPELT(i)))
			continue;
		if (*keys)
			strcat(keys, ", ");
		strcat(keys, spellings[i].key);
	}
	return json_fail(&im->body, err, KVP_EINPUT, "family %s needs a key "
		"that says which layers are of which kind: %s",
		im->family->shown.name, keys);
}

static int fill_unspelt(struct import *im, struct kvp_error *err)
{
	const struct family *f = im->family;
	struct layer layer = { FULL, false };
	uint64_t i;
	int code = KVP_OK;

	if (f->unspelt == UNSPELT_BOTH || f->unspelt == UNSPELT_RECURRENT)
		layer.recurrent = true;
	if (f->unspelt == UNSPELT_RECURRENT)
		layer.attention = NO_ATTENTION;
	if (f->unspelt == UNSPELT_WINDOW)
		code = class_window(im, err);
	if (im->window || f->unspelt == UNSPELT_PATTERN)
		layer.attention = SLIDING;
	for (i = 0; i < im->nlayers && !code; i++) {
		im->layers[i] = layer;
		if (f->unspelt == UNSPELT_PATTERN &&
		    (i + 1) % f->pattern == 0)
			im->layers[i].attention = FULL;
	}
	if (f->unspelt == UNSPELT_PATTERN)
		why(im, "layer kinds: no key; every %lluth layer is full, the "
		    "default of %s in transformers\n", (ull)f->pattern,
		    class_of(im)->name);
	else if (f->unspelt_class)
		why(im, "layer kinds: no key; every layer is %s, the default "
		    "of %s in transformers\n", kind_name(layer),
		    class_of(im)->name);
	else
		why(im, "layer kinds: no key; every layer is %s, as family %s "
		    "has them%s\n", kind_name(layer), f->shown.name,
		    f->unspelt != UNSPELT_WINDOW ? "" : im->window ?
		    " with a window" : " without a window");
	return code;
}

/* Without the key of upper layers that slide, none may. */
static int check_upper(struct import *im, struct kvp_error *err)
{
	struct json_at use, upper;
	bool on = false;
	int code;

	if (!(im->family->spellings & SPELT(MAX_WINDOW_LAYERS)))
		return KVP_OK;
	code = config_find(im, "use_sliding_window", &use, err);
	if (!code && use.p)
		code = json_bool(&use, &on, err);
	if (code || !on)
		return code;
	code = config_find(im, "max_window_layers", &upper, err);
	return code ? code : json_fail(&upper, err, KVP_EINPUT, "missing; "
		"use_sliding_window is true, and this key says from which "
		"layer on");
}

static int unspelt(struct import *im, struct kvp_error *err)
{
	uint64_t count;
	int code;

	if (im->family->unspelt == UNSPELT_REFUSED)
		return refuse_unspelt(im, err);
	if (!im->nlayers)
		return config_dim(im, "num_hidden_layers", &count, err);
	code = check_upper(im, err);
	return code ? code : fill_unspelt(im, err);
}

/* The last layers read the keys and values of earlier ones. */
static int share(struct import *im, struct kvp_error *err)
{
	uint64_t shared = 0, i;
	struct json_at at;
	int code;

	if (!im->family->shares)
		return KVP_OK;
	code = config_find(im, "num_kv_shared_layers", &at, err);
	if (!code && !at.p)
		code = json_fail(&at, err, KVP_EINPUT, "missing; family %s "
			"needs this key: 0, or how many of the last layers "
			"keep nothing", im->family->shown.name);
	if (!code)
		code = json_u64(&at, 0, im->nlayers - 1, &shared, err);
	for (i = im->nlayers - shared; i < im->nlayers && !code; i++)
		im->layers[i].attention = NO_ATTENTION;
	if (!code)
		why(im, "shared: the last %llu layers keep nothing, from "
		    "%s/num_kv_shared_layers\n", (ull)shared, im->prefix);
	return code;
}

static int read_count(struct import *im, struct kvp_error *err)
{
	struct json_at at;
	int code = config_find(im, "num_hidden_layers", &at, err);

	if (code || !at.p)
		return code;
	code = json_u64(&at, 1, KVP_IMPORT_LAYERS_MAX, &im->nlayers, err);
	if (!code)
		why(im, "layers: %llu, from %s/num_hidden_layers\n",
		    (ull)im->nlayers, im->prefix);
	return code;
}

static int read_all(struct import *im, struct reading *r,
		    struct kvp_error *err)
{
	int i, code = read_count(im, err);

	if (!code && im->family->mtp_key)
		code = config_count(im, im->family->mtp_key, &r->mtp, err);
	if (!code && r->mtp > MTP_MAX)
		return kvp_error_set(err, KVP_ELIMIT,
			"%s: %s/%s: is %llu, must be at most %d", im->source,
			im->prefix, im->family->mtp_key, (ull)r->mtp,
			MTP_MAX);
	for (i = 0; i < SPELLINGS && !code; i++)
		code = read_spelling(im, r, (enum spelling)i, err);
	if (!code && !r->first)
		code = unspelt(im, err);
	if (!code)
		code = share(im, err);
	return code ? code : mtp_read(im, r->mtp, r->tail, r->ntail, err);
}

int layers_read(struct import *im, struct kvp_error *err)
{
	struct reading r = { 0 };
	int code;

	/* Behind the model's layers there is room for MTP patterns. */
	im->layers = calloc(LISTED_MAX + MTP_MAX * MTP_MAX,
			    sizeof(*im->layers));
	r.now = calloc(LISTED_MAX, sizeof(*r.now));
	r.tail = calloc(MTP_MAX, sizeof(*r.tail));
	if (!im->layers || !r.now || !r.tail)
		code = kvp_error_nomem(err);
	else
		code = read_all(im, &r, err);
	free(r.now);
	free(r.tail);
	return code;
}
