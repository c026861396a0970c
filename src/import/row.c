/*
 * The row of the stage: the elements of one layer by the family's formula,
 * their types, and the bytes of all layers.
 */
#include <assert.h>

#include "import/import.h"

/* Refuse a type for something that no layer of this model has. */
static int refuse_unused_options(const struct import *im, const struct row *row,
		    struct kvp_error *err)
{
	const struct kvp_import_options *o = im->options;

	if (o->conv_dtype && !row->conv)
		return kvp_error_set(err, KVP_EINPUT, "%s: --conv-dtype=%s: "
			"this model keeps no convolution", im->source,
			o->conv_dtype);
	if (o->state_dtype && !row->state)
		return kvp_error_set(err, KVP_EINPUT, "%s: --state-dtype=%s: "
			"this model keeps no recurrent state", im->source,
			o->state_dtype);
	return KVP_OK;
}

static int compute_row_bytes(struct import *im, const struct row *row,
		  struct kvp_error *err)
{
	uint64_t conv = im->conv ? im->conv->bytes : 0;
	uint64_t state = im->state ? im->state->bytes : 0;
	const struct term *layer = TERMS(NUMBER("(", row->conv),
		COUNT("x", conv, "B"), NUMBER("+", row->state),
		COUNT("x", state, "B"), OP(")"));
	struct term terms[TERMS_MAX + 1] = {
		COUNT("", im->stage.recurrent, "layers"), OP("x"), OP(NULL)
	};

	terms_append(terms, layer);
	terms_append(terms, TERMS(EQUALS("B\n")));
	report(im, "row: ");
	/* What does not fit here, compute() refuses. */
	if (!terms_evaluate(layer, &im->layer_bytes))
		im->layer_bytes = 0;
	return compute(im, &im->row_bytes, err, terms);
}

int rows_read(struct import *im, struct kvp_error *err)
{
	assert(!im->model.recurrent || im->family->recurrent);
	return im->model.recurrent ?
	       im->family->recurrent(im, &im->row, err) : KVP_OK;
}

int rows_compute(struct import *im, struct kvp_error *err)
{
	int code = refuse_unused_options(im, &im->row, err);

	if (code || !im->model.recurrent)
		return code;
	code = dtype_rows(im, err);
	if (code)
		return code;
	assert((!im->row.conv || im->conv) && (!im->row.state || im->state));
	return compute_row_bytes(im, &im->row, err);
}
