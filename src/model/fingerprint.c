/*
 * The fingerprint of a plan.  All fields are mixed in one by one, so padding
 * between members has no effect.  A test compares the fields with the
 * members in the headers.
 */
#include "model/fingerprint.h"

#include <assert.h>
#include <string.h>

#include "model/fields.h"

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014). */
static void mix(uint64_t *h, uint64_t value)
{
	uint64_t x = (*h ^ value) + UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	*h = x ^ x >> 31;
}

static void mix_text(uint64_t *h, const char *text)
{
	mix(h, strlen(text));
	for (; *text; text++)
		mix(h, (unsigned char)*text);
}

static void mix_ranks(uint64_t *h, const struct kvp_ranks *list)
{
	size_t i;

	mix(h, list->count);
	for (i = 0; i < list->count; i++)
		mix(h, list->rank[i]);
}

static void mix_rank_lists(uint64_t *h, const struct kvp_ranks *lists,
			   uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		mix_ranks(h, &lists[i]);
}

static void mix_record(uint64_t *h, const struct record *record,
		       const void *of);

static void mix_records(uint64_t *h, const struct record *record,
			const void *list, size_t count)
{
	const char *element = list;
	size_t i;

	mix(h, count);
	for (i = 0; i < count; i++, element += record->size)
		mix_record(h, record, element);
}

static void mix_field(uint64_t *h, const struct field *f, const void *of)
{
	switch (f->kind) {
	case FIELD_FORMAT:
	case FIELD_INPUT:
		break;
	case FIELD_TEXT:
	case FIELD_NAME:
		mix_text(h, field_text(f, of));
		break;
	case FIELD_COUNT:
	case FIELD_BYTES:
	case FIELD_INDEX:
	case FIELD_FLAG:
	case FIELD_WORD:
		mix(h, field_number(f, of));
		break;
	case FIELD_OBJECT:
		mix_record(h, f->record, field_member(f, of));
		break;
	case FIELD_LIST:
		mix_records(h, f->record, field_pointer(f, of),
			    field_records(f, of));
		break;
	case FIELD_RANKS:	/* a member of the geometry itself */
		mix_rank_lists(h, field_pointer(f, of),
			       ((const struct kvp_geometry *)of)->ranks);
		break;
	}
}

/* A field with a flag is mixed in also if the flag is false, and so is the
   flag. */
static void mix_record(uint64_t *h, const struct record *record,
		       const void *of)
{
	const struct field *f = record->fields, *end = f + record->nfields;

	for (; f < end; f++) {
		if (f->absence == FIELD_IF_FLAG)
			mix(h, field_has_value(f, of));
		mix_field(h, f, of);
	}
}

static void mix_rows(uint64_t *h, const struct kvp_plan *plan)
{
	size_t i;

	mix(h, plan->nrows);
	for (i = 0; i < plan->nrows; i++) {
		mix(h, plan->rows[i].row);
		mix(h, plan->rows[i].first);
		mix(h, plan->rows[i].count);
	}
	mix(h, plan->nspans);
	for (i = 0; i < plan->nspans; i++) {
		mix(h, plan->spans[i].first);
		mix(h, plan->spans[i].end);
	}
}

static void mix_summary(uint64_t *h, const struct kvp_summary *s)
{
	const uint64_t numbers[] = {
		s->base_chunks, s->chunks, s->lower_bound, s->optimal,
		s->physical_bytes, s->kv_tokens, s->nper_rank, s->nper_node,
		s->limit,
	};
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		mix(h, numbers[i]);
	for (i = 0; i < s->nper_rank; i++)
		mix(h, s->per_rank[i]);
	for (i = 0; i < s->nper_node; i++)
		mix(h, s->per_node[i]);
}

uint64_t plan_fingerprint(const struct kvp_plan *plan)
{
	uint64_t h = 0;
	size_t i;

	assert(plan);
	mix_record(&h, &geometry_record, &plan->geometry);
	mix(&h, plan->merge);
	mix(&h, plan->dedicated_bytes);
	mix_records(&h, &chunk_record, plan->chunks, plan->nchunks);
	mix_rows(&h, plan);
	mix(&h, plan->naccess);
	for (i = 0; i < plan->naccess; i++) {
		mix(&h, plan->access[i].rank);
		mix_ranks(&h, &plan->access[i].readers);
	}
	mix_summary(&h, &plan->summary);
	mix(&h, plan->has_headroom);
	mix_record(&h, &headroom_record, &plan->headroom);
	return h;
}
