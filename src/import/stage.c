/*
 * The pipeline stage: which of the layers it has.  The remainder of dividing
 * the layers by the stages goes, one layer each, to the stages before the last
 * one, as in vLLM; an explicit list of layers overrides that.
 */
#include <assert.h>

#include "base/u64.h"
#include "import/import.h"

void layers_count(struct layer_counts *c, const struct layer *layers,
		  uint64_t first, uint64_t past)
{
	uint64_t i;

	*c = (struct layer_counts){ .layers = past - first };
	for (i = first; i < past; i++) {
		c->attention[layers[i].attention]++;
		c->recurrent += layers[i].recurrent;
	}
}

static uint64_t share(const struct import *im, uint64_t stage)
{
	const struct kvp_import_options *o = im->options;
	uint64_t rest = im->nlayers % o->stages;

	if (o->stage_layers)
		return o->stage_layers[stage];
	/* The `rest` stages before the last one get one more. */
	return im->nlayers / o->stages +
	       (stage < o->stages - 1 && stage + rest >= o->stages - 1);
}

static int check(const struct import *im, struct kvp_error *err)
{
	const struct kvp_import_options *o = im->options;
	uint64_t i, sum = 0;

	if (!o->stages || o->stage < 1 || o->stage > o->stages)
		return kvp_error_set(err, KVP_EINPUT,
			"--stage=%llu/%llu: %s", (ull)o->stage,
			(ull)o->stages, o->stage && o->stages ?
			"there are no more stages than that" :
			"stages count from 1");
	if (o->stages > im->nlayers)
		return kvp_error_set(err, KVP_EINPUT,
			"--stage=%llu/%llu: the model has %llu layers, one "
			"for each stage at least", (ull)o->stage,
			(ull)o->stages, (ull)im->nlayers);
	for (i = 0; i < o->stages && o->stage_layers; i++)
		if (!o->stage_layers[i] ||
		    !u64_add(sum, o->stage_layers[i], &sum))
			return kvp_error_set(err, KVP_EINPUT,
				"--stage: stage %llu has %llu layers, must "
				"have at least 1", (ull)i + 1,
				(ull)o->stage_layers[i]);
	if (o->stage_layers && sum != im->nlayers)
		return kvp_error_set(err, KVP_EINPUT,
			"--stage: the stages have %llu layers together, must "
			"have the model's, %llu", (ull)sum,
			(ull)im->nlayers);
	return KVP_OK;
}

int stage_select(struct import *im, struct kvp_error *err)
{
	const struct kvp_import_options *o = im->options;
	uint64_t i;
	int code = KVP_OK;

	layers_count(&im->model, im->layers, 0, im->nlayers + im->nmtp);
	im->first = 0;
	im->past = im->nlayers + im->nmtp;
	if (o->stages != KVP_IMPORT_UNSTATED) {
		code = check(im, err);
		if (code)
			return code;
		for (i = 0; i < o->stage - 1; i++)
			im->first += share(im, i);
		if (o->stage < o->stages)
			im->past = im->first + share(im, i);
		report(im, "stage %llu of %llu: layers %llu to %llu%s\n",
		       (ull)o->stage, (ull)o->stages, (ull)im->first,
		       (ull)(im->past - 1), o->stage_layers ?
		       ", by the given numbers" : im->nlayers % o->stages ?
		       ", as vLLM splits them; SGLang gives the "
		       "remaining layers to the last stages" : "");
	}
	assert(im->first < im->past && im->past <= im->nlayers + im->nmtp);
	layers_count(&im->stage, im->layers, im->first, im->past);
	report_layers(im, im->first, im->past);
	return code;
}

void stage_list_with_planes(const struct import *im, struct numbers *stages)
{
	uint64_t stage, first = 0, past;
	struct layer_counts c;

	for (stage = 0; stage < im->options->stages; stage++, first = past) {
		past = stage + 1 == im->options->stages ?
		       im->nlayers + im->nmtp : first + share(im, stage);
		layers_count(&c, im->layers, first, past);
		if (c.layers - c.attention[NO_ATTENTION] - c.attention[WINDOW])
			numbers_add(stages, stage + 1);
	}
}
