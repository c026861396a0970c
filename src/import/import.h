/*
 * What the files of import share.  A config goes through them in this order:
 *
 *   config.c        the text, one key at a time; every key read is noted
 *   families.c      model_type -> a row of the table
 *   layers.c        the kinds of the layers, by the keys of layer_keys.c;
 *                   mtp.c adds the layers of multi-token prediction
 *   stage.c         the layers of one pipeline stage
 *   attention.c     bytes of a plane's page, for grouped heads; latent.c for
 *                   latent vectors; classes.c has defaults of missing keys
 *   recurrent.c     elements of one recurrent layer; row.c, bytes of a row
 *   split.c         checks TP and DCP against the heads and widths
 *   foreign_keys.c  refuses keys that describe another family's cache
 *   write.c         the geometry's text
 *
 * Each of them adds its part to the report with report(), and formulas with
 * compute(), from lists of terms (terms.h).
 */
#ifndef KVPLAN_IMPORT_IMPORT_H
#define KVPLAN_IMPORT_IMPORT_H

#include <kvplan/geometry.h>
#include <kvplan/import.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "base/text_list.h"
#include "import/terms.h"

#define DIM_MAX KVP_IMPORT_DIM_MAX
#define MTP_MAX KVP_IMPORT_MTP_MAX
/* Entries of a list of layers, which may name the MTP layers, too. */
#define LISTED_MAX (KVP_IMPORT_LAYERS_MAX + MTP_MAX)
#define READ_MAX 96		/* different keys read of one config */
#define RULES_MAX 16
#define CLASSES_MAX 6

/* What a layer's attention keeps of each token. */
enum attention {
	NO_ATTENTION,
	FULL,
	SLIDING,		/* of the last tokens only */
	WINDOW,			/* DeepSeek-V4, ratio 0: no page of a plane */
	RATIO_4,		/* DeepSeek-V4: one slot for 4 tokens */
	RATIO_128,
	ATTENTIONS
};

struct layer {
	unsigned char attention;
	bool recurrent;
};

/* How many layers there are of each kind. */
struct layer_counts {
	uint64_t attention[ATTENTIONS];
	uint64_t recurrent;
	uint64_t layers;
};

enum dtype_form {
	DTYPE_PLAIN,
	DTYPE_PER_HEAD,		/* and a 4-byte scale per token and head */
	DTYPE_NVFP4,		/* half a byte, and one per 16 elements */
	DTYPE_DS_MLA		/* the slot of sparse MLA */
};

struct dtype {
	const char *name;
	const char *aliases;	/* between spaces */
	uint64_t bytes;		/* of an element */
	enum dtype_form form;
	bool computes;		/* also for models, conv and state */
};

/* What a number that is split over the ranks has to be of TP. */
enum split_kind {
	MULTIPLE,
	MULTIPLE_OR_DIVISOR,
	MULTIPLE_OR_BELOW
};

struct split_rule {
	const char *what;
	uint64_t value;
	enum split_kind kind;
};

struct plane_class {
	const char *name;
	uint64_t count;
	uint64_t bytes_per_page;
};

/* Elements of one row, per layer and rank. */
struct row {
	uint64_t conv;
	uint64_t state;
};

struct import;
typedef int formula(struct import *im, struct kvp_error *err);
typedef int row_formula(struct import *im, struct row *row,
			struct kvp_error *err);

/* Two names of one key; the second may be NULL. */
struct key_names {
	const char *key[2];
};

struct mamba_keys {
	struct key_names heads, head_dim, state, groups, conv, expand;
	const char *inner;	/* the width itself, where there is a key */
	bool counted;		/* inner is heads x head_dim, not expand's */
};

/*
 * What a class of transformers has where its config has no key.  A default
 * that is right for one model of the class only is left out: such a key has
 * to be in the config.
 */
struct model_class {
	const char *types;	/* model_type words, between spaces */
	const char *name;
	uint64_t head_dim;	/* its default; 0: none */
	bool divides;		/* or hidden_size / num_attention_heads; with
				   both numbers they have to be the same */
	bool all_heads;		/* no num_key_value_heads: all */
	uint64_t window;	/* sliding_window; 0: none */
};

/* Keys that state the kinds of layers; see layer_keys.c. */
enum layer_key {
	LAYER_TYPES, LAYERS_BLOCK_TYPE, HYBRID_OVERRIDE_PATTERN,
	ATTN_TYPE_LIST, COMPRESS_RATIOS, ATTN_LAYER_INDICES, FULL_ATTN_IDXS,
	LINEAR_ATTN_CONFIG, FULL_ATTENTION_INTERVAL, ATTN_LAYER_PERIOD,
	LAYER_GROUP_SIZE, SLIDING_WINDOW_PATTERN,
	SLIDING_WINDOW_PATTERN_SAVED, MAX_WINDOW_LAYERS, LAYER_KEYS
};

#define KEY(key) (1u << (key))

/* The layers of a config that has none of its family's layer keys. */
enum default_layers {
	NO_DEFAULT_LAYERS,	/* refused */
	ALL_FULL,
	ALL_FULL_AND_RECURRENT,	/* every layer is both */
	ALL_RECURRENT,
	SLIDING_IF_WINDOW,	/* all, where sliding_window is set */
	FULL_BY_PATTERN		/* every pattern-th full, others sliding */
};

enum mtp_kind {
	MTP_UNKNOWN,		/* no source states what one keeps */
	MTP_FULL,		/* each is one layer of full attention */
	MTP_TAIL,		/* their kinds end the list of layers */
	MTP_PATTERN		/* each is all layers of a pattern */
};

enum state_rule {
	STATE_STATED,		/* by the config or --state-dtype */
	STATE_FP32		/* fixed by the kind */
};

struct family {
	struct kvp_import_family shown;
	const struct model_class *classes;	/* NULL: none is known */
	unsigned layer_keys;	/* KEY() bits */
	enum default_layers default_layers;
	uint64_t pattern;	/* of FULL_BY_PATTERN */
	bool default_of_class;	/* the report names the class for it */
	const char *recurrent_words;	/* between spaces */
	const char *idle_words;	/* of layers that keep nothing */
	bool slides;		/* may have sliding layers */
	bool shares;		/* num_kv_shared_layers keep nothing */
	bool global_heads;	/* full layers have heads of their own */

	formula *attention;
	const char *known_keys;	/* keys of foreign_keys.c, allowed here */
	const char *plane;	/* the name of its full planes */
	uint64_t page_tokens;
	const char *page_tokens_source;

	row_formula *recurrent;	/* NULL: no such layers */
	const struct mamba_keys *mamba;
	enum state_rule state;
	const char *state_key;	/* the config's, that engines read */
	const char *state_engines;	/* which engine chooses what */

	enum mtp_kind mtp;
	const char *mtp_key;
};

struct import {
	const struct kvp_import_options *options;
	const struct kvp_import_options *given;	/* without defaults */
	const char *source;
	struct json_text in;
	struct json_at root;
	struct json_at body;	/* the root, or text_config in it */
	const char *prefix;	/* of the body's keys: "" or "/text_config" */
	struct reading_of {
		const char *prefix, *key;
		const char *p;	/* the value, in the text */
	} read[READ_MAX];
	size_t nread;

	const struct family *family;
	char *model_type;	/* NULL: the config has none */
	struct layer *layers;	/* the model's, then MTP layers taken */
	uint64_t nlayers;
	uint64_t nmtp;		/* layers behind them */
	struct layer_counts model, stage;
	uint64_t first, past;	/* the stage's, in `layers` */
	uint64_t window;	/* see class_window() */
	bool window_read;

	const struct dtype *kv, *conv, *state;
	uint64_t page_tokens;
	struct plane_class classes[CLASSES_MAX];
	size_t nclasses;
	struct row row;		/* of one layer */
	uint64_t row_bytes;	/* of the stage */
	uint64_t layer_bytes;	/* of one layer's part of it */
	uint64_t execution_rows;

	struct split_rule rules[RULES_MAX];
	size_t nrules;
	uint64_t query_heads;
	uint64_t kv_heads;	/* 0: not grouped */
	bool no_dcp;		/* no source states how */

	struct strbuf report;
};

/* Add to the report. */
#define report(im, ...) strbuf_printf(&(im)->report, __VA_ARGS__)

/*
 * A list of numbers in a message, zeroed to begin with.  Where the room ends,
 * it says how many more there are.
 */
struct numbers {
	struct text_list list;
	char text[240];
};

/* words.c: is this one of the words between spaces? */
bool word_is_in(const char *words, const char *word);

/* config.c */
int config_open(struct import *im, const char *text, size_t len,
		struct kvp_error *err);
/*
 * A key of the model's config, noted as read; p == NULL where it is absent
 * or null.
 */
int config_find(struct import *im, const char *key, struct json_at *at,
		struct kvp_error *err);
/* Is the key there, and null? */
int config_null(struct import *im, const char *key, bool *null,
		struct kvp_error *err);
/* A width or count, at least 1. */
int config_dim(struct import *im, const char *key, uint64_t *out,
	       struct kvp_error *err);
/* Several keys, in this order; the list ends where key is NULL. */
struct config_dim {
	const char *key;
	uint64_t *value;
};
#define DIMS(...) (const struct config_dim[]){ __VA_ARGS__, { NULL, NULL } }
int config_dims(struct import *im, struct kvp_error *err,
		const struct config_dim *dims);
/* true or false; where the key is absent or null, *value stays. */
int config_bool(struct import *im, const char *key, struct json_at *at,
		bool *value, struct kvp_error *err);
/* As config_dim(), with a value where the key is absent or null. */
int config_dim_or(struct import *im, const char *key, uint64_t fallback,
		  uint64_t *out, struct kvp_error *err);
/* At least 0, 0 where the key is absent or null. */
int config_count(struct import *im, const char *key, uint64_t *out,
		 struct kvp_error *err);
/* By either name; where both are there they have to agree. */
int config_either(struct import *im, const struct key_names *names,
		  uint64_t *out, struct kvp_error *err);
int config_either_or(struct import *im, const struct key_names *names,
		     uint64_t fallback, uint64_t *out, struct kvp_error *err);
/* Report that the key, if it is there, has no effect, and why. */
int config_ignore(struct import *im, const char *key, const char *because,
		  struct kvp_error *err);
/* A member of an object in the config. */
int dim_member(const struct json_at *object, const char *key, uint64_t *out,
	       struct kvp_error *err);

/* The position of a key of the model's config, for json_fail(). */
#define CONFIG_KEY(im, name) \
	(&(struct json_at){ .in = (im)->body.in, .up = &(im)->body, \
			    .key = (name) })

/* null, false, 0, "" and [] */
bool is_empty(const struct json_at *at);
/* Note a key as read; config_find() does. */
void config_note(struct import *im, const char *prefix, const char *key,
		 const struct json_at *at);
/* Of two names the one that the config has. */
const char *name_in_config(const struct import *im,
			   const struct key_names *names);

/* families.c */
int family_find(struct import *im, struct kvp_error *err);
const struct family *family_at(size_t index);

/* layers.c: fills im->layers. */
int layers_read(struct import *im, struct kvp_error *err);
bool same_layer(struct layer a, struct layer b);

/* layer_keys.c */
struct layer_key_row;
struct layer_list {
	const struct layer_key_row *row;	/* the key it is read from */
	struct layer *layers;	/* [room] */
	uint64_t room;
	uint64_t count;
};
typedef int layer_reader(struct import *im, const struct json_at *at,
			 struct layer_list *list, struct kvp_error *err);

struct layer_key_row {
	const char *key;
	layer_reader *read;	/* into an empty list */
	struct layer other;	/* the layers that a rule does not name */
	bool list;		/* has a length of its own */
};
extern const struct layer_key_row layer_keys[LAYER_KEYS];
layer_reader read_layer_words, read_layer_letters;
/* mtp.c: the layers behind the model's. */
int mtp_read(struct import *im, uint64_t stated, const struct layer *tail,
	     uint64_t ntail, struct kvp_error *err);

/* stage.c */
int stage_select(struct import *im, struct kvp_error *err);
/* The stages that have planes. */
void stage_list_with_planes(const struct import *im, struct numbers *stages);
void layers_count(struct layer_counts *c, const struct layer *layers,
		  uint64_t first, uint64_t past);

/*
 * classes.c: a key, or where it is absent the default of the model's class in
 * transformers, which the report then names; KVP_EINPUT where the class has
 * none.
 */
const struct model_class *class_of(const struct import *im);
int class_kv_heads(struct import *im, uint64_t query, uint64_t *heads,
		   struct kvp_error *err);
int class_width(struct import *im, const struct key_names *keys, uint64_t query,
		uint64_t *width, struct kvp_error *err);
/* im->window; 0 where the key is null, or the class has no window. */
int class_window(struct import *im, struct kvp_error *err);

/* dtype.c */
int dtype_kv(struct import *im, struct kvp_error *err);
/* Those of rows, as far as a row has conv and state. */
int dtype_rows(struct import *im, struct kvp_error *err);

/* attention.c, latent.c: the formulas of the table. */
formula attention_grouped, attention_zamba, attention_mla,
	attention_sparse_mla, attention_v4;
/*
 * planes.c: one more class, if it has any plane, and its line of the report.
 * The terms are the bytes of a token, of a page for class_add(); both end in
 * an EQUALS.
 */
int class_add(struct import *im, const char *name, uint64_t count,
	      struct kvp_error *err, const struct term *terms);
int planes_add(struct import *im, const char *name, uint64_t count,
	       struct kvp_error *err, const struct term *terms);
/* recurrent.c */
row_formula row_mamba1, row_mamba2, row_delta_net, row_kda, row_lightning,
	row_short_conv;
/* row.c: a layer's elements, and then the row bytes of the stage. */
int rows_read(struct import *im, struct kvp_error *err);
int rows_compute(struct import *im, struct kvp_error *err);

/* split.c */
void split_require(struct import *im, const char *what, uint64_t value,
		   enum split_kind kind);
int split_check(struct import *im, struct kvp_error *err);

/* foreign_keys.c */
int foreign_keys_check(struct import *im, struct kvp_error *err);

/* report.c */
void report_keys(struct import *im);
/* Those from `first` up to `past`. */
void report_layers(struct import *im, uint64_t first, uint64_t past);
void numbers_add(struct numbers *numbers, uint64_t value);
/* The whole list, "" where it is empty. */
const char *numbers_text(struct numbers *numbers);
/*
 * The value of the terms, which are added to the current line of the report.
 * KVP_ELIMIT, which quotes that line, where a value is above 2^53 - 1.
 */
int compute(struct import *im, uint64_t *out, struct kvp_error *err,
	    const struct term *terms);

/* write.c */
int geometry_compose(struct import *im, char **text, size_t *len,
		     struct kvp_error *err);
int no_planes(struct import *im, struct kvp_error *err);

#endif
