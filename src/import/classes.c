/*
 * Defaults for keys that a config does not have.  Engines read configs through
 * the classes of transformers, so that the default is that of the class.  The
 * classes stand in the rows of families.c.
 */
#include <string.h>

#include "import/import.h"

static const struct model_class none = { .name = "" };

static bool same_rules(const struct model_class *a,
		       const struct model_class *b)
{
	return a->head_dim == b->head_dim && a->divides == b->divides &&
	       a->all_heads == b->all_heads && a->window == b->window;
}

/*
 * The class of the model; with --as that of the family, if all of its
 * classes have the same rules.
 */
const struct model_class *class_of(const struct import *im)
{
	const struct model_class *c = im->family->classes;
	bool agree = true;

	for (; c && c->types; c++) {
		if (im->model_type && word_is_in(c->types, im->model_type))
			return c;
		agree = agree && same_rules(im->family->classes, c);
	}
	return im->family->classes && agree ? im->family->classes : &none;
}

int class_kv_heads(struct import *im, uint64_t query, uint64_t *heads,
		   struct kvp_error *err)
{
	static const char key[] = "num_key_value_heads";
	const struct model_class *c = class_of(im);
	int code = config_dim_or(im, key, 0, heads, err);

	if (!code && !*heads && !c->all_heads)
		return config_dim(im, key, heads, err);
	if (!code && !*heads) {
		*heads = query;
		report(im, "kv heads: no %s; num_attention_heads %llu, the "
		       "rule of %s in transformers\n", key, (ull)query,
		       c->name);
	}
	if (code || query % *heads == 0)
		return code;
	return json_fail(CONFIG_KEY(im, key), err, KVP_EINPUT,
		"is %llu, must divide num_attention_heads, %llu",
		(ull)*heads, (ull)query);
}

/* hidden_size / num_attention_heads */
static int share(struct import *im, const struct model_class *c,
		 const char *key, uint64_t query, uint64_t *width,
		 struct kvp_error *err)
{
	uint64_t hidden = 0;
	int code = config_dim(im, "hidden_size", &hidden, err);

	if (code)
		return code;
	if (hidden % query)
		return json_fail(CONFIG_KEY(im, "hidden_size"), err, KVP_EINPUT,
			"is %llu, must be a multiple of num_attention_heads, "
			"%llu, where there is no %s", (ull)hidden,
			(ull)query, key);
	report(im, "head width: no %s; ", key);
	code = compute(im, width, err, TERMS(TERM("", "hidden_size", hidden),
		TERM("/", "num_attention_heads", query), EQUALS(NULL)));
	if (!code && c->head_dim && c->head_dim != *width)
		return json_fail(CONFIG_KEY(im, key), err, KVP_EINPUT,
			"missing; hidden_size / num_attention_heads is %llu, "
			"but %llu is the default of %s in transformers",
			(ull)*width, (ull)c->head_dim, c->name);
	report(im, ", %s of %s in transformers\n", c->head_dim ?
	       "which is the default" : "the rule", c->name);
	return code;
}

int class_width(struct import *im, const struct key_names *keys, uint64_t query,
		uint64_t *width, struct kvp_error *err)
{
	const struct model_class *c = class_of(im);
	const char *key = keys->key[0];
	bool null = false;
	int code = config_either_or(im, keys, 0, width, err);

	if (!code && !*width)
		code = config_null(im, key, &null, err);
	if (code || *width)
		return code;
	if (c->divides)
		return share(im, c, key, query, width, err);
	/* A default is for an absent key; null is refused. */
	if (!c->head_dim || null)
		return config_dim(im, key, width, err);
	*width = c->head_dim;
	report(im, "head width: no %s key; %llu, the default of %s in "
	       "transformers\n", key, (ull)*width, c->name);
	return KVP_OK;
}

int class_window(struct import *im, struct kvp_error *err)
{
	static const char key[] = "sliding_window";
	const struct model_class *c = class_of(im);
	bool null = false;
	int code;

	if (im->window_read)
		return KVP_OK;
	code = config_dim_or(im, key, 0, &im->window, err);
	if (!code && !im->window)
		code = config_null(im, key, &null, err);
	if (code)
		return code;
	im->window_read = true;
	if (im->window || null)
		return KVP_OK;
	if (c == &none)
		return json_fail(CONFIG_KEY(im, key), err, KVP_EINPUT,
			"missing; family %s needs this key, null where no "
			"layer slides", im->family->shown.name);
	im->window = c->window;
	if (c->window)
		report(im, "window: no %s key; %llu, the default of %s in "
		       "transformers\n", key, (ull)c->window, c->name);
	return KVP_OK;
}
