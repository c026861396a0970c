/*
 * What the files of import hand to each other.  A config goes through them
 * in this order:
 *
 *   config.c     the text, one key at a time; every key read is noted
 *   families.c   model_type -> a row of the table
 *   layers.c     the spellings of layer kinds -> one list of layers
 *   stage.c      the part of that list that one pipeline stage has
 *   classes.c    what a model's class has where the config has no key
 *   attention.c  plane classes: bytes per token and rank; latent.c, too
 *   recurrent.c  elements of one recurrent layer; row.c, bytes of a row
 *   split.c      what TP and DCP have to divide
 *   sensitive.c  keys that would change the answer and nobody has read
 *   write.c      the geometry's text
 *
 * Each of them tells its part of the derivation with why().
 */
#ifndef KVPLAN_IMPORT_WORK_H
#define KVPLAN_IMPORT_WORK_H

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
#define MUSTS_MAX 16
#define CLASSES_MAX 6

/* What a layer's attention keeps for every token. */
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
struct census {
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

/* A number that the ranks divide among themselves, see split.c. */
enum must_kind {
	MUST_DIVIDE,		/* TP divides it */
	MUST_SPREAD,		/* TP divides it, or it divides TP */
	MUST_PAD		/* TP divides it, or it is below TP */
};

struct must {
	const char *what;
	uint64_t value;
	enum must_kind kind;
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

/* Two spellings of one key; the second may be NULL. */
struct spelt {
	const char *key[2];
};

struct mamba_keys {
	struct spelt heads, head_dim, state, groups, conv, expand;
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

/* Keys that spell layer kinds; see layers.c. */
enum spelling {
	LAYER_TYPES, LAYERS_BLOCK_TYPE, HYBRID_OVERRIDE_PATTERN,
	ATTN_TYPE_LIST, COMPRESS_RATIOS, ATTN_LAYER_INDICES, FULL_ATTN_IDXS,
	LINEAR_ATTN_CONFIG, FULL_ATTENTION_INTERVAL, ATTN_LAYER_PERIOD,
	LAYER_GROUP_SIZE, SLIDING_WINDOW_PATTERN,
	SLIDING_WINDOW_PATTERN_SAVED, MAX_WINDOW_LAYERS, SPELLINGS
};

#define SPELT(spelling) (1u << (spelling))

/* What a config without any of its family's spellings means. */
enum unspelt {
	UNSPELT_REFUSED,
	UNSPELT_FULL,
	UNSPELT_BOTH,		/* every layer attends and recurs */
	UNSPELT_RECURRENT,
	UNSPELT_WINDOW,		/* sliding where sliding_window is set */
	UNSPELT_PATTERN		/* the family's pattern */
};

enum mtp_kind {
	MTP_UNKNOWN,		/* no source says what such a layer keeps */
	MTP_FULL,		/* each is one layer of full attention */
	MTP_TAIL,		/* their kinds end the list of layers */
	MTP_PATTERN		/* each is all layers of a pattern */
};

enum state_rule {
	STATE_ASKED,		/* the config's key, else it has to be said */
	STATE_FP32		/* fixed by the kind */
};

struct family {
	struct kvp_import_family shown;
	const struct model_class *classes;	/* NULL: none is known */
	unsigned spellings;	/* SPELT() bits */
	enum unspelt unspelt;
	uint64_t pattern;	/* of UNSPELT_PATTERN */
	bool unspelt_class;	/* its class says so, not the family */
	const char *recurrent_words;	/* between spaces */
	const char *idle_words;	/* of layers that keep nothing */
	bool slides;		/* knows sliding layers */
	bool shares;		/* num_kv_shared_layers keep nothing */

	formula *attention;
	const char *knows;	/* the keys of sensitive.c that it reads */
	const char *plane;	/* the name of its full planes */
	uint64_t page_tokens;
	const char *page_tokens_source;

	row_formula *recurrent;	/* NULL: no such layers */
	const struct mamba_keys *mamba;
	enum state_rule state;
	const char *state_key;	/* the config's, that engines read */
	const char *state_engines;	/* who would choose what */

	enum mtp_kind mtp;
	const char *mtp_key;
};

struct import {
	const struct kvp_import_options *options;
	const struct kvp_import_options *said;	/* without what was filled in */
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
	struct census model, stage;
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

	struct must musts[MUSTS_MAX];
	size_t nmusts;
	uint64_t query_heads;
	uint64_t kv_heads;	/* 0: not grouped */
	bool no_dcp;		/* no source says how */

	struct strbuf why;
};

/* A line, or its beginning, of the derivation. */
#define why(im, ...) strbuf_printf(&(im)->why, __VA_ARGS__)

typedef unsigned long long ull;

/* words.c: a list of numbers in a message, zeroed to begin with; of many
   the first ones and how many more there are. */
struct numbers {
	struct text_list list;
	char text[240];
};
void numbers_add(struct numbers *numbers, uint64_t value);
/* The whole list, "" where it is empty. */
const char *numbers_text(struct numbers *numbers);

/* Is this one of the words between spaces? */
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
/* The same with a value where the key is absent or null. */
int config_dim_or(struct import *im, const char *key, uint64_t fallback,
		  uint64_t *out, struct kvp_error *err);
/* At least 0, 0 where the key is absent or null. */
int config_count(struct import *im, const char *key, uint64_t *out,
		 struct kvp_error *err);
/* Under whichever key it stands; under both it has to be the same. */
int config_spelt(struct import *im, const struct spelt *spelt, uint64_t *out,
		 struct kvp_error *err);
int config_spelt_or(struct import *im, const struct spelt *spelt,
		    uint64_t fallback, uint64_t *out, struct kvp_error *err);
/* That nothing of this key reaches a cache, if it is there. */
int config_ignore(struct import *im, const char *key, const char *because,
		  struct kvp_error *err);
/* A member of an object in the config. */
int dim_member(const struct json_at *object, const char *key, uint64_t *out,
	       struct kvp_error *err);

/* null, false, 0, "" and [] say that there is no such thing. */
bool is_empty(const struct json_at *at);
/* Note a key as read; config_find() does. */
void config_note(struct import *im, const char *prefix, const char *key,
		 const struct json_at *at);
/* Of two spellings the one that was read. */
const char *spelt_name(const struct import *im, const struct spelt *spelt);

/* families.c */
int family_find(struct import *im, struct kvp_error *err);
const struct family *family_at(size_t index);

/* layers.c: fills im->layers. */
int layers_read(struct import *im, struct kvp_error *err);
/* spellings.c: one of them, if it is there; *count entries, 0 if not. */
struct spelling_row {
	const char *key;
	int (*read)(struct import *im, const struct json_at *at,
		    struct layer *layers, uint64_t *count,
		    struct kvp_error *err);
	bool list;		/* has a length of its own */
};
extern const struct spelling_row spellings[SPELLINGS];
int pattern_read(const struct json_at *at, struct layer *layers, uint64_t most,
		 uint64_t *count, struct kvp_error *err);
int words_read(const struct import *im, const struct json_at *at,
	       struct layer *layers, uint64_t most, uint64_t *count,
	       struct kvp_error *err);
/* mtp.c: the layers behind the model's. */
int mtp_read(struct import *im, uint64_t stated, const struct layer *tail,
	     uint64_t ntail, struct kvp_error *err);

/* stage.c */
int stage_take(struct import *im, struct kvp_error *err);
/* The stages that hold planes. */
void stage_holders(const struct import *im, struct numbers *stages);
void census_take(struct census *c, const struct layer *layers,
		 uint64_t first, uint64_t past);

/*
 * classes.c: a key, or what the model's class in transformers has without
 * it, which is told; KVP_EINPUT where no class settles it.
 */
const struct model_class *class_of(const struct import *im);
int class_kv_heads(struct import *im, uint64_t query, uint64_t *heads,
		   struct kvp_error *err);
int class_width(struct import *im, const struct spelt *keys, uint64_t query,
		uint64_t *width, struct kvp_error *err);
/* im->window; 0 where the key is null, or the class has no window. */
int class_window(struct import *im, struct kvp_error *err);

/* dtype.c */
int dtype_kv(struct import *im, struct kvp_error *err);
/* Those of rows, as far as a row has conv and state. */
int dtype_rows(struct import *im, struct kvp_error *err);

/* attention.c, latent.c: the formulas of the table. */
formula attention_grouped, attention_zamba, attention_gemma4;
formula attention_mla, attention_sparse_mla, attention_v4;
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
void must(struct import *im, const char *what, uint64_t value,
	  enum must_kind kind);
int split_check(struct import *im, struct kvp_error *err);

/* sensitive.c */
int sensitive_check(struct import *im, struct kvp_error *err);

/* derive.c */
void derive_keys(struct import *im);
void derive_census(struct import *im, const struct census *c,
		   uint64_t first, uint64_t past);

/* write.c */
int geometry_compose(struct import *im, char **text, size_t *len,
		     struct kvp_error *err);
int no_planes(struct import *im, struct kvp_error *err);

/*
 * words.c: the value of the terms, which are added to the line of the report
 * that has been begun.  KVP_ELIMIT, which quotes that line, where a value is
 * above 2^53 - 1.
 */
int compute(struct import *im, uint64_t *out, struct kvp_error *err,
	    const struct term *terms);

#endif
