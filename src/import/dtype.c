/*
 * The data types of keys and values, convolution and state: given by an
 * option, stated by the config, or fixed by the kind of layer.  None is
 * assumed.
 */
#include <stdlib.h>
#include <string.h>

#include "import/import.h"

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

/*
 * The type that --NAME-dtype gives; with `computes` one that models compute
 * with.
 */
static int parse_option(const struct dtype **dtype, const char *name,
			const char *word, bool computes,
			struct kvp_error *err)
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
	return kvp_error_set(err, KVP_EINPUT, "--%s-dtype=%.40s: must be one "
			     "of %s; other names of them:%s", name, word, known,
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
	int code = json_unique_member(object, key, &at, err);

	if (code || !at.p || json_type(&at) == JSON_NULL)
		return code;
	config_note(im, object == &im->body ? im->prefix : "", key, &at);
	code = json_text(&at, &word, err);
	if (code)
		return code;
	got = find(word);
	if (!got || !got->computes)
		code = json_fail(&at, err, KVP_EINPUT, "is \"%.40s\", must "
			"be float32, float16 or bfloat16, or be given by an "
			"option: --kv-dtype, --conv-dtype, --state-dtype",
			word);
	else if (only_floats && got->bytes == 4)
		code = json_fail(&at, err, KVP_EINPUT, "is float32; engines "
			"serve such models in different types; give "
			"--kv-dtype and, where there are recurrent layers, "
			"--conv-dtype");
	else if (*dtype && *dtype != got)
		code = json_fail(&at, err, KVP_EINPUT, "is %s, but another "
			"key of the config is %s; give --kv-dtype and, where "
			"there are recurrent layers, --conv-dtype",
			got->name, (*dtype)->name);
	else
		*dtype = got;
	free(word);
	return code;
}

/* The model's own type, and the first key that states it. */
struct stated {
	const struct dtype *dtype;	/* NULL: no key does */
	const char *prefix, *key;
};

static int model_dtype(struct import *im, struct stated *s,
		       struct kvp_error *err)
{
	static const char *const keys[] = { "torch_dtype", "dtype" };
	const struct json_at *objects[] = { &im->body, &im->root };
	size_t i, object;
	int code = KVP_OK;

	*s = (struct stated){ .dtype = NULL };
	for (object = 0; object < 2 && !code; object++)
		for (i = 0; i < 2 && !code; i++) {
			code = read_dtype(im, &s->dtype, objects[object],
					  keys[i], true, err);
			if (code || !s->dtype || s->key)
				continue;
			s->prefix = object ? "" : im->prefix;
			s->key = keys[i];
		}
	return code;
}

/* What keys and values, and convolutions, have in common. */
struct dtype_use {
	const char *name;	/* of the option, in front of -dtype */
	const char *what;
	bool computes;		/* the model computes with this type */
};

/* The type that an option gives, or else the model's. */
static int choose_dtype(struct import *im, const struct dtype_use *use,
			const char *word, const char *note,
			const struct dtype **dtype, struct kvp_error *err)
{
	struct stated s;
	int code;

	if (word) {
		code = parse_option(dtype, use->name, word, use->computes,
				    err);
		if (!code)
			report(im, "%s dtype: %s, as given\n", use->name,
			       (*dtype)->name);
		return code;
	}
	code = model_dtype(im, &s, err);
	if (code)
		return code;
	if (!s.dtype)
		return kvp_error_set(err, KVP_EINPUT, "%s: the config states "
			"no torch_dtype or dtype, and engines keep %s in the "
			"model's; give --%s-dtype=bf16, fp16 or another",
			im->source, use->what, use->name);
	*dtype = s.dtype;
	report(im, "%s dtype: %s, from %s/%s%s\n", use->name, s.dtype->name,
	       s.prefix, s.key, note);
	return KVP_OK;
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
 * Each quantizer writes a key of its own name, at its own depth; all of them
 * begin with kv_cache_.
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
				"give its type: --kv-dtype=fp8, bf16 or "
				"another");
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
		code = json_unique_member(object, quantized[i], &at, err);
		if (!code && at.p && json_type(&at) == JSON_OBJECT)
			code = find_scheme(&at, true, err);
	}
	return code;
}

static bool is_quantized(const struct import *im)
{
	struct json_at body = { .p = NULL }, root = { .p = NULL };
	size_t i;

	/* kv_scheme() has refused a key that is there twice. */
	for (i = 0; i < QUANTIZED && !body.p && !root.p; i++) {
		(void)json_member(&im->body, quantized[i], &body, NULL);
		(void)json_member(&im->root, quantized[i], &root, NULL);
	}
	return body.p || root.p;
}

int dtype_kv(struct import *im, struct kvp_error *err)
{
	static const struct dtype_use use = { "kv", "keys and values", false };
	const char *word = im->options->kv_dtype, *note = "";
	int code = KVP_OK;

	if (!word) {
		code = kv_scheme(&im->body, err);
		if (!code)
			code = kv_scheme(&im->root, err);
		if (!code && is_quantized(im))
			note = "; quantization_config is about weights";
	}
	return code ? code : choose_dtype(im, &use, word, note, &im->kv, err);
}

static int conv_dtype(struct import *im, struct kvp_error *err)
{
	static const struct dtype_use use = { "conv", "the convolution",
					      true };

	return choose_dtype(im, &use, im->options->conv_dtype,
		"; so does vLLM with mamba_cache_dtype auto, SGLang takes "
		"bf16, llama.cpp fp32", &im->conv, err);
}

/* Engines read one key of a family and ignore the other. */
static int read_state_dtype(struct import *im, struct kvp_error *err)
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
		report(im, "state dtype: %s, from %s/%s\n", im->state->name,
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
		code = parse_option(&im->state, "state", word, true, err);
	else if (im->family->state != STATE_FP32)
		code = read_state_dtype(im, err);
	if (code)
		return code;
	if (im->family->state == STATE_FP32) {
		if (im->state && im->state != fp32)
			return kvp_error_set(err, KVP_EINPUT,
				"--state-dtype=%s: must be fp32, which this "
				"kind of layer always has (%s)",
				im->state->name, im->family->state_engines);
		im->state = fp32;
		report(im, "state dtype: fp32, fixed by the kind (%s)\n",
		       im->family->state_engines);
	} else if (!im->state) {
		return kvp_error_set(err, KVP_EINPUT,
			"%s: the config does not state the state's dtype, and "
			"engines choose differently (%s); give --state-dtype",
			im->source, im->family->state_engines);
	} else if (word) {
		report(im, "state dtype: %s, as given; without it engines "
		       "choose differently (%s)\n", im->state->name,
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
