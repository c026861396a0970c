/*
 * The row of the stage: one layer's elements by the family's formula, their
 * types, and the bytes that they come to.
 */
#include "import/work.h"

/* An option for something that no layer of this model has. */
static int needless(const struct import *im, const struct row *row,
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

static int add_up(struct import *im, const struct row *row,
		  struct kvp_error *err)
{
	uint64_t conv = im->conv ? im->conv->bytes : 0;
	uint64_t state = im->state ? im->state->bytes : 0;
	uint64_t conv_bytes = 0, state_bytes = 0;
	int code = TIMES(&conv_bytes, "convolution bytes", err, row->conv,
			 conv);

	if (!code)
		code = TIMES(&state_bytes, "state bytes", err, row->state,
			     state);
	im->layer_bytes = code ? 0 : conv_bytes + state_bytes;
	if (!code)
		code = TIMES(&im->row_bytes, "row bytes", err,
			     im->stage.recurrent, im->layer_bytes);
	if (!code)
		why(im, "row: %llu layers x (%llu x %llu B + %llu x %llu B) = "
		    "%llu B\n", (ull)im->stage.recurrent, (ull)row->conv,
		    (ull)conv, (ull)row->state, (ull)state,
		    (ull)im->row_bytes);
	return code;
}

int rows_read(struct import *im, struct kvp_error *err)
{
	return im->model.recurrent ?
	       im->family->recurrent(im, &im->row, err) : KVP_OK;
}

int rows_compute(struct import *im, struct kvp_error *err)
{
	int code = needless(im, &im->row, err);

	if (code || !im->model.recurrent)
		return code;
	code = dtype_rows(im, err);
	return code ? code : add_up(im, &im->row, err);
}
