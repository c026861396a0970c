/*
 * The config: its text, the model's part of it, and one key at a time.
 *
 * Every key that is read is noted, so that the report can list it.  A key that
 * is null counts as absent, unless the caller asks config_null().
 */
#include <assert.h>
#include <string.h>

#include "import/import.h"

/* Where a config of several models keeps the language model's. */
static const char *const nests[] = {
	"/text_config", "/llm_config", "/language_config"
};

#define NESTS (sizeof(nests) / sizeof(*nests))

int config_open(struct import *im, const char *text, size_t len,
		struct kvp_error *err)
{
	struct json_at at;
	size_t i;
	int code;

	if (len > KVP_IMPORT_TEXT_MAX)
		return kvp_error_set(err, KVP_ELIMIT,
			"%s: has %zu bytes, a config must have at most %zu",
			im->source, len, KVP_IMPORT_TEXT_MAX);
	code = json_open_lenient(&im->in, &im->root, im->source, text, len,
				 err);
	if (!code)
		code = json_expect(&im->root, JSON_OBJECT, "an object", err);
	im->body = im->root;
	im->prefix = "";
	for (i = 0; i < NESTS && !code; i++) {
		code = json_unique_member(&im->root, nests[i] + 1, &at, err);
		if (code || !at.p || json_type(&at) != JSON_OBJECT)
			continue;
		im->body = at;
		im->prefix = nests[i];
		break;
	}
	return code;
}

void config_note(struct import *im, const char *prefix, const char *key,
		 const struct json_at *at)
{
	size_t i;

	for (i = 0; i < im->nread; i++)
		if (!strcmp(im->read[i].key, key) &&
		    !strcmp(im->read[i].prefix, prefix))
			return;
	assert(im->nread < READ_MAX);
	im->read[im->nread++] = (struct reading_of){ prefix, key, at->p };
}

int config_find(struct import *im, const char *key, struct json_at *at,
		struct kvp_error *err)
{
	int code = json_unique_member(&im->body, key, at, err);

	if (code || !at->p)
		return code;
	config_note(im, im->prefix, key, at);
	if (json_type(at) == JSON_NULL)
		at->p = NULL;
	return KVP_OK;
}

int config_null(struct import *im, const char *key, bool *null,
		struct kvp_error *err)
{
	struct json_at at;
	int code = json_unique_member(&im->body, key, &at, err);

	*null = !code && at.p && json_type(&at) == JSON_NULL;
	return code;
}

int config_dim(struct import *im, const char *key, uint64_t *out,
	       struct kvp_error *err)
{
	struct json_at at;
	int code = config_find(im, key, &at, err);

	if (code)
		return code;
	if (!at.p)
		return json_fail(&at, err, KVP_EINPUT,
			"missing; family %s needs this key",
			im->family->shown.name);
	return json_u64(&at, 1, DIM_MAX, out, err);
}

int config_dim_or(struct import *im, const char *key, uint64_t fallback,
		  uint64_t *out, struct kvp_error *err)
{
	struct json_at at;
	int code = config_find(im, key, &at, err);

	*out = fallback;
	return code || !at.p ? code : json_u64(&at, 1, DIM_MAX, out, err);
}

int config_count(struct import *im, const char *key, uint64_t *out,
		 struct kvp_error *err)
{
	struct json_at at;
	int code = config_find(im, key, &at, err);

	*out = 0;
	return code || !at.p ? code : json_u64(&at, 0, DIM_MAX, out, err);
}

int config_dims(struct import *im, struct kvp_error *err,
		const struct config_dim *dims)
{
	int code = KVP_OK;

	for (; dims->key && !code; dims++)
		code = config_dim(im, dims->key, dims->value, err);
	return code;
}

int config_bool(struct import *im, const char *key, struct json_at *at,
		bool *value, struct kvp_error *err)
{
	int code = config_find(im, key, at, err);

	return code || !at->p ? code : json_bool(at, value, err);
}

int config_either_or(struct import *im, const struct key_names *names,
		     uint64_t fallback, uint64_t *out, struct kvp_error *err)
{
	uint64_t first = 0, second = 0;
	int code = config_dim_or(im, names->key[0], 0, &first, err);

	if (!code && names->key[1])
		code = config_dim_or(im, names->key[1], 0, &second, err);
	if (code)
		return code;
	*out = first ? first : second ? second : fallback;
	if (!first || !second || first == second)
		return KVP_OK;
	return json_fail(CONFIG_KEY(im, names->key[0]), err, KVP_EINPUT,
		"is %llu, but %s, another name of this key, is %llu",
		(ull)first, names->key[1], (ull)second);
}

int config_either(struct import *im, const struct key_names *names,
		  uint64_t *out, struct kvp_error *err)
{
	int code = config_either_or(im, names, 0, out, err);

	return code || *out ? code : config_dim(im, names->key[0], out, err);
}

const char *name_in_config(const struct import *im,
			   const struct key_names *names)
{
	size_t i;

	for (i = 0; i < im->nread; i++)
		if (!strcmp(im->read[i].key, names->key[0]) &&
		    *im->read[i].p != 'n')	/* null */
			return names->key[0];
	return names->key[1] ? names->key[1] : names->key[0];
}

int config_ignore(struct import *im, const char *key, const char *because,
		  struct kvp_error *err)
{
	struct json_at at;
	int code = config_find(im, key, &at, err);

	if (!code && at.p)
		report(im, "  not used: %s/%s; %s\n", im->prefix, key, because);
	return code;
}

bool is_empty(const struct json_at *at)
{
	const char *p = at->p;
	uint64_t value;

	switch (json_type(at)) {
	case JSON_NULL:
		return true;
	case JSON_BOOL:
		return *p == 'f';
	case JSON_NUMBER:
		return !json_u64(at, 0, 0, &value, NULL);
	case JSON_STRING:
		return p[1] == '"';
	case JSON_ARRAY:
		for (p++; *p == ' ' || *p == '\n' || *p == '\r' || *p == '\t';)
			p++;
		return *p == ']';
	case JSON_OBJECT:
		return false;
	}
	return false;
}

int dim_member(const struct json_at *object, const char *key, uint64_t *out,
	       struct kvp_error *err)
{
	struct json_at at;
	int code = json_unique_member(object, key, &at, err);

	if (!code && !at.p)
		code = json_fail(&at, err, KVP_EINPUT,
				 "missing; this key is required");
	return code ? code : json_u64(&at, 1, DIM_MAX, out, err);
}
