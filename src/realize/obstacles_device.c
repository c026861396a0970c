/*
 * Finding the obstacles of devices: granularity, peers, memory.  If several
 * ranks have the same obstacle, the first is reported in full and the others
 * are listed.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/text_list.h"
#include "base/u64.h"
#include "realize/obstacles.h"
#include "realize/realization.h"

/* Room for the list of the others. */
#define OTHERS_MAX 192

/* Append the list of the others to the first one. */
static void add_others(struct kvp_error *report, struct text_list *others,
		       const char *before)
{
	struct kvp_error first = *report;

	text_list_end(others);
	if (*others->text)
		kvp_error_set(report, first.code, "%s; %s: %s", first.text,
			      before, others->text);
}

/* --- granularity --- */

/* The device with the largest granularity is reported: a plan with that
   granularity fits all of them. */
int check_granularity(struct kvp_realization *r, struct obstacles *o,
		      struct kvp_error *err)
{
	struct kvp_error *report = &o->kind[OBSTACLE_GRANULARITY];
	uint64_t is = geometry_of(r)->granularity, most = is;
	struct kvp_backend *b = backend_of(r);
	struct kvp_device_info *d;
	uint32_t i;
	int code;

	for (i = 0; i < r->nranks; i++) {
		d = &r->devices[i];
		r->stage.rank = r->ranks[i].rank;
		code = b->device.device(b, r->ranks[i].device, d, err);
		if (code)
			return add_rank_context(r, &r->ranks[i],
						"reading the device", code,
						err);
		if (is % d->granularity == 0 ||
		    (report->code && d->granularity <= most))
			continue;
		most = u64_max(most, d->granularity);
		kvp_error_set(report, KVP_EREFUSED,
			"rank %u: the plan's granularity is %llu bytes, %s "
			"allocates in multiples of %llu; plan with granularity "
			"%llu", r->ranks[i].rank, (ull)is, d->label,
			(ull)d->granularity, (ull)most);
	}
	return KVP_OK;
}

/* --- peers --- */

static const char *get_label(const struct kvp_realization *r, uint32_t rank)
{
	return r->devices[rank - r->ranks[0].rank].label;
}

/* Find the readers of one owner whose devices cannot access its memory. */
static int check_owner(struct kvp_realization *r, const struct rank *owner,
		       struct kvp_error *report, struct text_list *others,
		       struct kvp_error *err)
{
	struct kvp_backend *b = backend_of(r);
	bool can = true;
	size_t i;
	int code;

	r->stage.rank = owner->rank;
	for (i = 1; i < owner->nreaders; i++) {
		code = b->device.peer(b, owner->devices[i], owner->device,
				      &can, err);
		if (code)
			return add_rank_context(r, owner,
						"asking for peer access", code,
						err);
		if (can)
			continue;
		if (report->code)
			text_list_add(others, 1, "rank %u to rank %u",
				      owner->readers[i], owner->rank);
		else
			kvp_error_set(report, KVP_EREFUSED,
				"rank %u (%s) reads the KV of rank %u (%s), "
				"but that device cannot access this one's "
				"memory; choose devices that are peers, or a "
				"smaller dcp_group_size", owner->readers[i],
				get_label(r, owner->readers[i]), owner->rank,
				get_label(r, owner->rank));
	}
	return KVP_OK;
}

int check_peers(struct kvp_realization *r, struct obstacles *o,
		struct kvp_error *err)
{
	struct kvp_error *report = &o->kind[OBSTACLE_PEERS];
	struct text_list others;
	char text[OTHERS_MAX];
	uint32_t i;
	int code = KVP_OK;

	text_list_begin(&others, text, sizeof(text), ", ");
	for (i = 0; i < r->nranks && !code; i++)
		code = check_owner(r, &r->ranks[i], report, &others, err);
	if (!code)
		add_others(report, &others, "without access as well");
	return code;
}

/* --- memory --- */

/*
 * Report too little memory.  A GPU must have its rank's bytes free, and those
 * that the driver keeps.  The host's memory is shared by all ranks and taken
 * when it is touched, which a full check does with all of it.
 */
static void report_too_little(const struct kvp_realization *r,
			      const struct rank *k, uint64_t need,
			      uint64_t own, uint64_t have,
			      struct kvp_error *report)
{
	char with[96] = "";

	if (own)
		snprintf(with, sizeof(with), " with the %llu that the driver "
			 "keeps free", (ull)own);
	if (r->watch.base.lazy)
		kvp_error_set(report, KVP_EREFUSED,
			"a full check of %u rank%s writes %llu bytes, this "
			"machine has %llu free, %llu too few; check quick, or "
			"fewer ranks", r->nranks, r->nranks == 1 ? "" : "s",
			(ull)need, (ull)have, (ull)(need - have));
	else
		kvp_error_set(report, KVP_EREFUSED,
			"rank %u needs %llu bytes%s, %s has %llu free, %llu "
			"too few; %s", k->rank, (ull)need, with,
			r->devices[k - r->ranks].label, (ull)have,
			(ull)(need - have), need - own <= have ?
			"leave that much (kvplan size --memory-limit=-2M)" :
			"free memory there or plan fewer pages");
}

int check_memory(struct kvp_realization *r, struct obstacles *o,
		 struct kvp_error *err)
{
	struct kvp_backend *b = backend_of(r);
	bool lazy = b->lazy;
	uint64_t own = lazy ? 0 : KVP_DRIVER_BYTES;
	uint64_t ranks = r->shared ? geometry_of(r)->ranks_per_node :
				     r->nranks;
	uint64_t need = required_bytes(r) * (lazy ? ranks : 1) + own;
	struct kvp_error *report = &o->kind[OBSTACLE_MEMORY];
	struct text_list others;
	char text[OTHERS_MAX];
	uint64_t have = 0;
	uint32_t i;
	int code;

	if (lazy && r->options.check != KVP_CHECK_FULL)
		return KVP_OK;
	text_list_begin(&others, text, sizeof(text), ", ");
	for (i = 0; i < r->nranks; i++) {
		r->stage.rank = r->ranks[i].rank;
		code = b->device.memory(b, r->ranks[i].device, &have, err);
		if (code)
			return add_rank_context(r, &r->ranks[i],
						"reading free memory", code,
						err);
		if (need > have && !report->code)
			report_too_little(r, &r->ranks[i], need, own, have,
					  report);
		else if (need > have && !lazy)
			text_list_add(&others, 1, "rank %u has %llu",
				      r->ranks[i].rank, (ull)have);
	}
	add_others(report, &others, "too few as well");
	return KVP_OK;
}
