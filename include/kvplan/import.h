/*
 * Import: from a model's Hugging Face config.json to a geometry.
 *
 * The size rules are those of vLLM v0.19 and SGLang; kvplan-import(7) lists
 * them.  Where a config does not state a value and engines choose different
 * ones, the caller has to give it: none is assumed.
 */
#ifndef KVPLAN_IMPORT_H
#define KVPLAN_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include <kvplan/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number that is not stated. */
#define KVP_IMPORT_UNSTATED UINT64_MAX

/* Every multi-token-prediction layer that the config states. */
#define KVP_IMPORT_MTP_ALL (UINT64_MAX - 1)

/* Configs are small: larger ones are KVP_ELIMIT. */
#define KVP_IMPORT_TEXT_MAX ((size_t)4 << 20)

/* Layers of a model, and multi-token-prediction layers behind them. */
#define KVP_IMPORT_LAYERS_MAX UINT64_C(16384)
#define KVP_IMPORT_MTP_MAX 64

/* Widths and counts that a config states; real ones are far smaller. */
#define KVP_IMPORT_DIM_MAX ((uint64_t)INT32_MAX)

#define KVP_IMPORT_TYPE_MAX 64	/* characters of model_type */
#define KVP_IMPORT_SPEC_MAX 1024	/* speculative tokens */
#define KVP_IMPORT_STAGES_MAX 1024	/* pipeline stages in stage_layers */

/* Filled by kvp_import_options_init(). */
struct kvp_import_options {
	const char *name;	/* NULL: from the source's name */
	uint64_t tp;		/* ranks; required */
	uint64_t dcp;		/* DCP group size; default 1 */
	uint64_t ranks_per_node;	/* default: tp */
	uint64_t page_tokens;	/* default: the family's, in vLLM */
	const char *kv_dtype;	/* NULL: the config's */
	const char *conv_dtype;	/* NULL: the config's */
	const char *state_dtype;	/* NULL: the config's, where engines
					   read it */
	uint64_t execution_rows;	/* default: for 256 sequences, vLLM's
					   max_num_seqs */
	uint64_t snapshot_rows;	/* default: left out, for sizing */
	uint64_t pages;		/* default: left out, for sizing */
	uint64_t spec_tokens;	/* speculative tokens; default 0 */
	uint64_t mtp_layers;	/* multi-token-prediction layers, default 0;
				   or KVP_IMPORT_MTP_ALL */
	const char *family;	/* --as: a family's name; NULL: model_type */
	uint64_t stage;		/* pipeline stage, from 1, of ... */
	uint64_t stages;	/* default 1 of 1 */
	/* The layers of each stage, `stages` numbers; NULL: as vLLM splits. */
	const uint64_t *stage_layers;
};

/* Every number unstated, every text NULL. */
void kvp_import_options_init(struct kvp_import_options *options);

/*
 * Import a config's text.  `source` is its name in errors.  *geometry is
 * the text of a geometry, without `pages` and `snapshot_rows` unless they
 * are given; *derivation is a report for people: the keys that were read, the
 * formulas with their numbers, and the source of each default.  free() both.
 *
 * Errors: KVP_ESYNTAX, KVP_EINPUT (an unknown model, a key that is missing,
 * contradicts another or is not understood, a split that is not legal, a data
 * type that has to be given), KVP_ELIMIT, KVP_ENOMEM; both texts are NULL then.
 *
 * KVP_EINFEASIBLE: the model or its pipeline stage has no plane, and a
 * rows share the memory of planes.  The error's text has the bytes of its
 * rows; *geometry is NULL, *derivation is set.
 */
int kvp_import(char **geometry, size_t *geometry_len, char **derivation,
	       size_t *derivation_len, const char *source, const char *text,
	       size_t len, const struct kvp_import_options *options,
	       struct kvp_error *err);

/* What --as takes. */
struct kvp_import_family {
	const char *name;
	const char *types;	/* its model_type words, between spaces */
	const char *cache;	/* what such a model caches, in a few words */
};

/* The families by index, for help and manual; NULL past the last. */
const struct kvp_import_family *kvp_import_family(size_t index);

#ifdef __cplusplus
}
#endif

#endif
