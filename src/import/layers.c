/*
 * The list of the model's layers, from the keys of its config that state
 * their kinds.  Where there are several such keys they have to agree.  A list
 * that is longer than the model by the number of MTP layers has these at its
 * end.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/u64.h"
#include "import/import.h"

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

static int fail_disagreement(struct import *im, const struct json_at *at,
		    const char *first, uint64_t layer, struct layer other,
		    struct kvp_error *err)
{
	return json_fail(at, err, KVP_EINPUT, "makes layer %llu %s, but %s "
		"makes it %s; one of them must go", (ull)layer,
		kind_name(other), first, kind_name(im->layers[layer]));
}

bool same_layer(struct layer a, struct layer b)
{
	return a.attention == b.attention && a.recurrent == b.recurrent;
}

/* A list has every layer, and may have the MTP layers behind them. */
static int check_count(struct import *im, const struct json_at *at,
		       uint64_t count, uint64_t mtp, struct kvp_error *err)
{
	if (!im->nlayers && mtp)
		return json_fail(&(struct json_at){ .in = at->in,
			.up = at->up, .key = "num_hidden_layers" }, err,
			KVP_EINPUT, "missing; %s has %llu entries and may "
			"name the %llu MTP layers of the config or not: state "
			"how many are the model's", at->key, (ull)count,
			(ull)mtp);
	if (!im->nlayers && count && count <= KVP_IMPORT_LAYERS_MAX) {
		im->nlayers = count;
		report(im, "layers: %llu, the length of %s/%s\n", (ull)count,
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
	struct layer_list list;	/* of one key */
	struct layer tail[MTP_MAX];	/* MTP layers behind the model's */
	uint64_t ntail;
	uint64_t mtp;		/* stated by the config */
	const char *first;	/* the key that im->layers is from */
};

/* The first key sets the layers, the others have to agree. */
static int merge_key(struct import *im, struct reading *r,
		     const struct json_at *at, struct kvp_error *err)
{
	const struct layer *layers = r->list.layers;
	uint64_t i, ntail;

	assert(r->list.count >= im->nlayers &&
	       r->list.count - im->nlayers <= MTP_MAX);
	for (i = 0; i < im->nlayers; i++)
		if (!r->first)
			im->layers[i] = layers[i];
		else if (!same_layer(im->layers[i], layers[i]))
			return fail_disagreement(im, at, r->first, i,
						 layers[i], err);
	if (!r->first)
		r->first = at->key;
	ntail = r->list.count - im->nlayers;
	r->ntail = u64_max(r->ntail, ntail);
	for (i = 0; i < ntail; i++)
		r->tail[i] = layers[im->nlayers + i];
	report(im, "layer kinds: from %s/%s\n", im->prefix, at->key);
	return KVP_OK;
}

static int read_key(struct import *im, struct reading *r, enum layer_key key,
		    struct kvp_error *err)
{
	const struct layer_key_row *row = &layer_keys[key];
	/* Steps of an MTP pattern stand in no list of layers. */
	bool tail = row->list && im->family->mtp != MTP_PATTERN;
	struct json_at at;
	uint64_t count;
	int code;

	if (!(im->family->layer_keys & KEY(key)))
		return KVP_OK;
	code = config_find(im, row->key, &at, err);
	if (code || !at.p)
		return code;
	/* A rule needs the number of layers, a list has it. */
	if (!row->list && !im->nlayers)
		return config_dim(im, "num_hidden_layers", &count, err);
	r->list.row = row;
	r->list.count = 0;
	code = row->read(im, &at, &r->list, err);
	if (!code)
		code = check_count(im, &at, r->list.count, tail ? r->mtp : 0,
				   err);
	return code ? code : merge_key(im, r, &at, err);
}

/* --- a config without any of the keys --- */

static int fail_no_layer_key(struct import *im, struct kvp_error *err)
{
	char keys[200] = "";
	int i;

	for (i = 0; i < LAYER_KEYS; i++) {
		if (!(im->family->layer_keys & KEY(i)))
			continue;
		if (*keys)
			strcat(keys, ", ");
		strcat(keys, layer_keys[i].key);
	}
	return json_fail(&im->body, err, KVP_EINPUT, "family %s needs a key "
		"that states which layers are of which kind: %s",
		im->family->shown.name, keys);
}

static int fill_default_layers(struct import *im, struct kvp_error *err)
{
	const struct family *f = im->family;
	struct layer layer = { FULL, false };
	uint64_t i;
	int code = KVP_OK;

	if (f->default_layers == ALL_FULL_AND_RECURRENT ||
	    f->default_layers == ALL_RECURRENT)
		layer.recurrent = true;
	if (f->default_layers == ALL_RECURRENT)
		layer.attention = NO_ATTENTION;
	if (f->default_layers == SLIDING_IF_WINDOW)
		code = class_window(im, err);
	if (im->window || f->default_layers == FULL_BY_PATTERN)
		layer.attention = SLIDING;
	for (i = 0; i < im->nlayers && !code; i++) {
		im->layers[i] = layer;
		if (f->default_layers == FULL_BY_PATTERN &&
		    (i + 1) % f->pattern == 0)
			im->layers[i].attention = FULL;
	}
	if (f->default_layers == FULL_BY_PATTERN)
		report(im, "layer kinds: no key; every %lluth layer is full, "
		       "the default of %s in transformers\n", (ull)f->pattern,
		       class_of(im)->name);
	else if (f->default_of_class)
		report(im, "layer kinds: no key; every layer is %s, the "
		       "default of %s in transformers\n", kind_name(layer),
		       class_of(im)->name);
	else
		report(im, "layer kinds: no key; every layer is %s, as family "
		       "%s has them%s\n", kind_name(layer), f->shown.name,
		       f->default_layers != SLIDING_IF_WINDOW ? "" :
		       im->window ?
		       " with a window" : " without a window");
	return code;
}

/* use_sliding_window needs max_window_layers. */
static int check_upper(struct import *im, struct kvp_error *err)
{
	struct json_at use;
	bool on = false;
	int code;

	if (!(im->family->layer_keys & KEY(MAX_WINDOW_LAYERS)))
		return KVP_OK;
	code = config_bool(im, "use_sliding_window", &use, &on, err);
	if (code || !on)
		return code;
	return json_fail(CONFIG_KEY(im, "max_window_layers"), err, KVP_EINPUT,
		"missing; use_sliding_window is true, and this key states "
		"from which layer on");
}

static int read_default_layers(struct import *im, struct kvp_error *err)
{
	uint64_t count;
	int code;

	if (im->family->default_layers == NO_DEFAULT_LAYERS)
		return fail_no_layer_key(im, err);
	if (!im->nlayers)
		return config_dim(im, "num_hidden_layers", &count, err);
	code = check_upper(im, err);
	return code ? code : fill_default_layers(im, err);
}

/* The last layers read the keys and values of earlier ones. */
static int drop_shared_layers(struct import *im, struct kvp_error *err)
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
		report(im, "shared: the last %llu layers keep nothing, from "
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
		report(im, "layers: %llu, from %s/num_hidden_layers\n",
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
	for (i = 0; i < LAYER_KEYS && !code; i++)
		code = read_key(im, r, (enum layer_key)i, err);
	if (!code && !r->first)
		code = read_default_layers(im, err);
	if (!code)
		code = drop_shared_layers(im, err);
	return code ? code : mtp_read(im, r->mtp, r->tail, r->ntail, err);
}

int layers_read(struct import *im, struct kvp_error *err)
{
	struct reading r = { .list.room = LISTED_MAX };
	int code;

	/* Behind the model's layers there is room for MTP patterns. */
	im->layers = calloc(LISTED_MAX + MTP_MAX * MTP_MAX,
			    sizeof(*im->layers));
	r.list.layers = calloc(LISTED_MAX, sizeof(*r.list.layers));
	if (!im->layers || !r.list.layers)
		code = kvp_error_nomem(err);
	else
		code = read_all(im, &r, err);
	assert(code || (im->nlayers && im->nlayers <= KVP_IMPORT_LAYERS_MAX &&
			im->nmtp <= MTP_MAX * MTP_MAX));
	free(r.list.layers);
	return code;
}
