/*
 * The data types of keys and values, convolution and state: said, stated by
 * the config, fixed by the kind, or asked for.  None is assumed.
 */
#include <stdlib.h>
#include <string.h>

#include "import/work.h"

static const struct dtype dtypes[] = {
	{ "bf16", "bfloat16 torch.bfloat16", 2, DTYPE_PLAIN, true },
	{ "fp16", "float16 half torch.float16", 2, DTYPE_PLAIN, true },
	{ "fp32", "float32 float torch.float32", 4, DTYPE_PLAIN, true },
	{ "fp8", "fp8_e4m3 fp8_e5m2 fp8_inc", 1, DTYPE_PLAIN, false },
	{ "fp8_ds_mla", "", 1, DTYPE_DS_MLA, false },
	{ "fp8_per_token_head", "", 1, DTYPE_PER_HEAD, false },
	{ "int8_per_token_head", "", 1, DTYPE_PER_HEAD, false },
	{ "nvfp4", "", 1, DTYPE_NVFP4, false },
};

#define DTYPES (sizeof(dtypes) / sizeof(*dtypes))

static const struct dtype *find(const char *word)
{
	size_t i;

	for (i = 0; i < DTYPES; i++)
		if (!strcmp(dtypes[i].name, word) ||
		    word_is_in(dtypes[i].aliases, word))
			return &dtypes[i];
	return NULL;
}

/* What was said with an option; computes: where a model computes with it. */
static int said(const struct dtype **dtype, const char *option,
		const char *word, bool computes, struct kvp_error *err)
{
	char known[160] = "", also[240] = "";
	size_t i;

	*dtype = find(word);
	if (*dtype && ((*dtype)->computes || !computes))
		return KVP_OK;
	for (i = 0; i < DTYPES; i++) {
		if (computes && !dtypes[i].computes)
			continue;
		if (*known)
			strcat(known, ", ");
		strcat(known, dtypes[i].name);
		if (*dtypes[i].aliases)
			strcat(strcat(also, " "), dtypes[i].aliases);
	}
	return kvp_error_set(err, KVP_EINPUT, "--%s=%.40s: must be one of %s; "
			     "other spellings of them:%s", option, word, known,
			     also);
}

/* One key that may hold a data type; *dtype stays where it is absent. */
static int read_dtype(struct import *im, const struct dtype **dtype,
		      const struct json_at *object, const char *key,
		      bool only_floats, struct kvp_error *err)
{
	const struct dtype *got;
	struct json_at at;
	char *word;
	int code = json_only_member(object, key, &at, err);

	if (code || !at.p || json_type(&at) == JSON_NULL)
		return code;
	config_note(im, object == &im->body ? im->prefix : "", key, &at);
	code = json_text(&at, &word, err);
	if (code)
		return code;
	got = find(word);
	if (!got || !got->computes)
		code = json_fail(&at, err, KVP_EINPUT, "is \"%.40s\", must "
			"be float32, float16 or bfloat16, or be said by an "
			"option: --kv-dtype, --conv-dtype, --state-dtype",
			word);
	else if (only_floats && got->bytes == 4)
		code = json_fail(&at, err, KVP_EINPUT, "is float32; engines "
			"serve such models in different types; say "
			"--kv-dtype and, where there are recurrent layers, "
			"--conv-dtype");
	else if (*dtype && *dtype != got)
		code = json_fail(&at, err, KVP_EINPUT, "is %s, but another "
			"key of the config says %s; say --kv-dtype and, where "
			"there are recurrent layers, --conv-dtype",
			got->name, (*dtype)->name);
	else
		*dtype = got;
	free(word);
	return code;
}

/*
 * The model's own type, from whichever place it is stated at, the first of
 * which is *prefix and *key; NULL: nowhere.
 */
struct stated {
	const struct dtype *dtype;
	const char *prefix, *key;
};

static int model_dtype(struct import *im, struct stated *s,
		       struct kvp_error *err)
{
	static const char *const keys[] = { "torch_dtype", "dtype" };
	const struct json_at *places[] = { &im->body, &im->root };
	size_t i, place;
	int code = KVP_OK;

	*s = (struct stated){ .dtype = NULL };
	for (place = 0; place < 2 && !code; place++)
		for (i = 0; i < 2 && !code; i++) {
			code = read_dtype(im, &s->dtype, places[place],
					  keys[i], true, err);
			if (code || !s->dtype || s->key)
				continue;
			s->prefix = place ? "" : im->prefix;
			s->key = keys[i];
		}
	return code;
}

static int asked(struct import *im, const char *what, const char *option,
		 struct kvp_error *err)
{
	return kvp_error_set(err, KVP_EINPUT,
		"%s: the config states no torch_dtype or dtype, and engines "
		"serve %s in the model's; say --%s=bf16, fp16 or another",
		im->source, what, option);
}

/* --- checkpoints that are made for a quantized KV cache --- */

/* Where checkpoints state how they are quantized. */
static const char *const quantized[] = {
	"quantization_config", "quantization", "compression_config"
};

#define QUANTIZED (sizeof(quantized) / sizeof(*quantized))

static bool is_scheme(const struct json_at *at)
{
	const char *p = at->p + 1;

	if (json_type(at) != JSON_OBJECT)
		return !is_empty(at);
	return p[strspn(p, " \t\r\n")] != '}';
}

/*
 * Every writer has a key of its own, at a depth of its own, but each begins
 * with kv_cache_.
 */
static int find_scheme(const struct json_at *object, bool deep,
		       struct kvp_error *err)
{
	static const char prefix[] = "kv_cache_";
	struct json_members walk;
	struct json_at member;
	int code = json_members_begin(&walk, object, err);

	while (!code) {
		code = json_members_next(&walk, &member, err);
		if (code || !member.p)
			return code;
		if (!strncmp(member.key, prefix, strlen(prefix)) &&
		    is_scheme(&member))
			return json_fail(&member, err, KVP_EINPUT, "the "
				"checkpoint is made for a quantized KV cache; "
				"say which: --kv-dtype=fp8, bf16 or another");
		if (deep && json_type(&member) == JSON_OBJECT)
			code = find_scheme(&member, deep, err);
	}
	return code;
}

static int kv_scheme(const struct json_at *object, struct kvp_error *err)
{
	struct json_at at;
	size_t i;
	int code = find_scheme(object, false, err);

	for (i = 0; i < QUANTIZED && !code; i++) {
		code = json_only_member(object, quantized[i], &at, err);
		if (!code && at.p && json_type(&at) == JSON_OBJECT)
			code = find_scheme(&at, true, err);
	}
	return code;
}

static bool is_quantized(const struct import *im)
{
	struct json_at body = { .p = NULL }, root = { .p = NULL };
	size_t i;

	/* Twice given or not: kv_scheme() has looked. */
	for (i = 0; i < QUANTIZED && !body.p && !root.p; i++) {
		(void)json_member(&im->body, quantized[i], &body, NULL);
		(void)json_member(&im->root, quantized[i], &root, NULL);
	}
	return body.p || root.p;
}

int dtype_kv(struct import *im, struct kvp_error *err)
{
	const char *word = im->options->kv_dtype;
	struct stated s;
	int code;

	if (word) {
		code = said(&im->kv, "kv-dtype", word, false, err);
		if (!code)
			why(im, "kv dtype: %s, as said\n", im->kv->name);
		return code;
	}
	code = kv_scheme(&im->body, err);
	if (!code)
		code = kv_scheme(&im->root, err);
	if (!code)
		code = model_dtype(im, &s, err);
	if (!code && !s.dtype)
		code = asked(im, "keys and values", "kv-dtype", err);
	if (code)
		return code;
	im->kv = s.dtype;
	why(im, "kv dtype: %s, from %s/%s%s\n", im->kv->name, s.prefix, s.key,
	    is_quantized(im) ? "; quantization_config is about weights" : "");
	return KVP_OK;
}

static int conv_dtype(struct import *im, struct kvp_error *err)
{
	const char *word = im->options->conv_dtype;
	struct stated s;
	int code;

	if (word) {
		code = said(&im->conv, "conv-dtype", word, true, err);
		if (!code)
			why(im, "conv dtype: %s, as said\n", im->conv->name);
		return code;
	}
	code = model_dtype(im, &s, err);
	if (!code && !s.dtype)
		code = asked(im, "the convolution", "conv-dtype", err);
	if (code)
		return code;
	im->conv = s.dtype;
	why(im, "conv dtype: %s, from %s/%s; so vLLM's mamba_cache_dtype "
	    "auto, SGLang takes bf16, llama.cpp fp32\n", im->conv->name,
	    s.prefix, s.key);
	return KVP_OK;
}

/*
 * Engines read one key of a family; what another one says, they do not
 * hear.
 */
static int state_stated(struct import *im, struct kvp_error *err)
{
	static const char *const keys[] = {
		"mamba_ssm_dtype", "mamba_ssm_cache_dtype"
	};
	const char *key = im->family->state_key;
	size_t i;
	int code = KVP_OK;

	if (key)
		code = read_dtype(im, &im->state, &im->body, key, false, err);
	if (!code && im->state)
		why(im, "state dtype: %s, from %s/%s\n", im->state->name,
		    im->prefix, key);
	for (i = 0; i < 2 && !code; i++)
		if (!key || strcmp(keys[i], key))
			code = config_ignore(im, keys[i], "no engine is known "
					     "to read it in this family", err);
	return code;
}

static int state_dtype(struct import *im, struct kvp_error *err)
{
	const char *word = im->options->state_dtype;
	const struct dtype *fp32 = find("fp32");
	int code = KVP_OK;

	if (word)
		code = said(&im->state, "state-dtype", word, true, err);
	else if (im->family->state != STATE_FP32)
		code = state_stated(im, err);
	if (code)
		return code;
	if (im->family->state == STATE_FP32) {
		if (im->state && im->state != fp32)
			return kvp_error_set(err, KVP_EINPUT,
				"--state-dtype=%s: must be fp32, which this "
				"kind of layer always has (%s)",
				im->state->name, im->family->state_engines);
		im->state = fp32;
		why(im, "state dtype: fp32, fixed by the kind (%s)\n",
		    im->family->state_engines);
	} else if (!im->state) {
		return kvp_error_set(err, KVP_EINPUT,
			"%s: the config does not state the state's dtype, and "
			"engines choose differently (%s); say --state-dtype",
			im->source, im->family->state_engines);
	} else if (word) {
		why(im, "state dtype: %s, as said; unsaid, engines choose "
		    "differently (%s)\n", im->state->name,
		    im->family->state_engines);
	}
	return KVP_OK;
}

int dtype_rows(struct import *im, struct kvp_error *err)
{
	int code = im->row.conv ? conv_dtype(im, err) : KVP_OK;

	if (!code && im->row.state)
		code = state_dtype(im, err);
	return code;
}
