/*
 * Prints what was realized, as text or JSON.
 */
#include <stdlib.h>

#include "cli/realize.h"

#define N(value) out_number(value).text
#define C(value, noun) out_count(value, noun).text

/* The fewest and the most readers of a record. */
static void find_reader_range(const struct kvp_access_record *records,
			      size_t count, size_t *least, size_t *most)
{
	size_t i;

	*least = *most = count ? records[0].nreaders : 0;
	for (i = 0; i < count; i++) {
		if (records[i].nreaders < *least)
			*least = records[i].nreaders;
		if (records[i].nreaders > *most)
			*most = records[i].nreaders;
	}
}

/* The cap of the device with the least free memory, and its rank. */
static struct kvp_cap find_least_cap(const struct kvp_realization *r,
				     const struct realize_settings *s,
				     uint32_t *rank, uint64_t *bytes)
{
	uint32_t first = s->options.first_rank, i;
	struct kvp_cap cap = kvp_realization_cap(r, first, bytes), each;
	uint64_t free_bytes;

	*rank = first;
	for (i = first + 1; i < first + s->options.nranks; i++) {
		each = kvp_realization_cap(r, i, &free_bytes);
		if (free_bytes >= *bytes)
			continue;
		*bytes = free_bytes;
		*rank = i;
		cap = each;
	}
	return cap;
}

/* Warn if the cap that the plan states is never reached in the memory that is
   really free. */
static void warn_headroom(const struct kvp_realization *r,
			  const struct kvp_plan *plan,
			  const struct realize_settings *s)
{
	uint64_t left;
	uint32_t rank;
	struct kvp_cap cap = find_least_cap(r, s, &rank, &left);

	cap_warn(&cap, left);
	if (s->gpus && plan->has_headroom && plan->headroom.bounded &&
	    !cap_is_reached(true, plan->headroom.cap_bytes, left))
		out_warning("the plan states a cap of %s bytes, and %s bytes "
			    "are free beside rank %u: a cap above half of "
			    "that is not reached before memory runs out; size "
			    "again with the bytes that are free",
			    N(plan->headroom.cap_bytes), N(left), rank);
}

static void add_headroom(struct strbuf *b, const struct kvp_realization *r,
			 const struct realize_settings *s)
{
	uint64_t least_bytes;
	uint32_t least;
	struct kvp_cap cap = find_least_cap(r, s, &least, &least_bytes);

	strbuf_printf(b, "HEADROOM %s bytes %s beside rank %u, the least; "
		      "an allocation cache may hold ", N(least_bytes),
		      s->gpus ? "free" : "of this machine's memory free",
		      least);
	if (cap.bounded)
		strbuf_printf(b, "%s bytes (%s)\n", N(cap.bytes),
			      kvp_cap_term_name(cap.term));
	else
		strbuf_printf(b, "any number of bytes (%s)\n",
			      kvp_cap_term_name(cap.term));
}

static int print_text(const struct kvp_realization *r,
		      const struct kvp_plan *plan,
		      const struct realize_settings *s)
{
	static const char *const checks[] = {
		[KVP_CHECK_NONE] = "not checked",
		[KVP_CHECK_QUICK] = "checked quick",
		[KVP_CHECK_FULL] = "checked full",
	};
	uint64_t others = plan->geometry.static_entries;
	const struct kvp_access_record *records;
	struct strbuf b = { 0 };
	struct kvp_error err;
	size_t count, least, most, len;
	char *text;
	int code;

	records = kvp_realization_access(r, &count);
	find_reader_range(records, count, &least, &most);
	strbuf_printf(&b, "REALIZED %u of %s, mode %s, %s each, %s table "
		      "entries beside %s of others, %s; %s with ",
		      s->options.nranks, C(plan->geometry.ranks, "rank"),
		      kvp_merge_name(plan->merge), C(plan->nchunks, "chunk"),
		      N(kvp_realization_entries(r) - others), N(others),
		      checks[s->options.check], C(count, "access record"));
	if (least == most)
		strbuf_printf(&b, "exactly %s\n", C(most, "reader"));
	else
		strbuf_printf(&b, "%zu to %zu readers\n", least, most);
	add_headroom(&b, r, s);
	code = strbuf_detach(&b, &text, &len, &err);
	if (code)
		return out_error(&err);
	code = out_text(text, len);
	free(text);
	return code;
}

int realize_report(const struct kvp_realization *r,
		   const struct kvp_plan *plan,
		   const struct realize_settings *s)
{
	struct kvp_error err;
	char *text;
	size_t len;
	int code;

	warn_headroom(r, plan, s);
	if (!s->json)
		return print_text(r, plan, s);
	code = kvp_realization_write(r, true, &text, &len, &err);
	if (code)
		return out_error(&err);
	code = out_text(text, len);
	free(text);
	return code;
}
