/*
 * Import: making a geometry from a model's Hugging Face config.json.
 *
 * Page and row sizes follow the rules of vLLM v0.19 and SGLang, which
 * kvplan-import(7) lists.  If the config does not state a value and these
 * engines use different defaults, the caller must give it.
 */
#ifndef KVPLAN_IMPORT_H
#define KVPLAN_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include <kvplan/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number that the caller does not give: the default is used. */
#define KVP_IMPORT_UNSTATED UINT64_MAX

/* mtp_layers: every multi-token-prediction layer that the config states. */
#define KVP_IMPORT_MTP_ALL (UINT64_MAX - 1)

/* Largest config in bytes; a larger one is KVP_ELIMIT. */
#define KVP_IMPORT_TEXT_MAX ((size_t)4 << 20)

/* Layers of a model, and multi-token-prediction layers after them. */
#define KVP_IMPORT_LAYERS_MAX UINT64_C(16384)
#define KVP_IMPORT_MTP_MAX 64

/* Widths and counts in a config. */
#define KVP_IMPORT_DIM_MAX ((uint64_t)INT32_MAX)

#define KVP_IMPORT_TYPE_MAX 64	/* characters of model_type */
#define KVP_IMPORT_SPEC_MAX 1024	/* speculative tokens */
#define KVP_IMPORT_STAGES_MAX 1024	/* pipeline stages in stage_layers */

/* Initialize it with kvp_import_options_init(). */
struct kvp_import_options {
	const char *name;	/* the geometry's; NULL: from the source */
	uint64_t tp;		/* number of ranks; required */
	uint64_t dcp;		/* DCP group size; default 1 */
	uint64_t ranks_per_node;	/* default: tp */
	uint64_t page_tokens;	/* default: what vLLM uses for the family */
	const char *kv_dtype;	/* NULL: the config's */
	const char *conv_dtype;	/* NULL: the config's */
	const char *state_dtype;	/* NULL: the config's, if engines read
					   it from there */
	uint64_t execution_rows;	/* default: enough for 256 sequences,
					   vLLM's max_num_seqs */
	uint64_t snapshot_rows;	/* default: left out, see size.h */
	uint64_t pages;		/* default: left out, see size.h */
	uint64_t spec_tokens;	/* speculative tokens; default 0 */
	uint64_t mtp_layers;	/* multi-token-prediction layers; default 0,
				   or KVP_IMPORT_MTP_ALL */
	const char *family;	/* a family's name; NULL: by model_type */
	uint64_t stage;		/* number of the pipeline stage, from 1 */
	uint64_t stages;	/* number of stages; default 1 */
	/* The layers of each stage, `stages` numbers; NULL: split them as
	   vLLM does. */
	const uint64_t *stage_layers;
};

/* Set every number to KVP_IMPORT_UNSTATED and every pointer to NULL. */
void kvp_import_options_init(struct kvp_import_options *options);

/*
 * Import a config.  `source` is the name with which error texts begin;
 * `text` has `len` bytes.  *geometry becomes the text of a geometry, which
 * has `pages` and `snapshot_rows` only if the options give them.
 * *derivation becomes a report for people: the keys that were read, the
 * formulas with their numbers, and the source of each default.  Free both
 * with free().  On failure both are NULL, unless stated otherwise below.
 *
 * Errors:
 *   KVP_ESYNTAX      the config is not JSON
 *   KVP_EINPUT       the model is unknown; a key is missing, contradicts
 *                    another one or has an unknown value; the split over
 *                    ranks or stages is not possible; or an option is
 *                    missing or not valid
 *   KVP_ELIMIT       a number is above one of the limits above
 *   KVP_EINFEASIBLE  the model or its pipeline stage has no plane, so its
 *                    rows have no memory to share; the text states the bytes
 *                    of the rows, *geometry is NULL and *derivation is set
 *   KVP_ENOMEM
 */
int kvp_import(char **geometry, size_t *geometry_len, char **derivation,
	       size_t *derivation_len, const char *source, const char *text,
	       size_t len, const struct kvp_import_options *options,
	       struct kvp_error *err);

/* A family of models.  All texts are static. */
struct kvp_import_family {
	const char *name;	/* what options.family takes */
	const char *types;	/* its values of model_type, separated by
				   spaces */
	const char *cache;	/* what its models cache, in a few words */
};

/* The family with this index, from 0; NULL after the last one. */
const struct kvp_import_family *kvp_import_family(size_t index);

#ifdef __cplusplus
}
#endif

#endif
