/*
 * Reading a plan.  A wrong plan is accepted if the format can express it;
 * kvp_verify() finds what is wrong.
 */
#include <stdlib.h>

#include <kvplan/plan.h>

#include "base/error.h"
#include "model/model.h"

enum key {
	FORMAT, GEOMETRY, MERGE, DEDICATED_BYTES, CHUNKS, ROWS, ACCESS,
	SUMMARY, HEADROOM, KEYS
};

static const struct json_field keys[KEYS] = {
	[FORMAT] = { "format", true },
	[GEOMETRY] = { "geometry", true },
	[MERGE] = { "merge", true },
	[DEDICATED_BYTES] = { "dedicated_bytes", true },
	[CHUNKS] = { "chunks", true },
	[ROWS] = { "rows", true },
	[ACCESS] = { "access", true },
	[SUMMARY] = { "summary", true },
	[HEADROOM] = { "headroom", false },
};

static int read_head(struct kvp_plan *plan, const struct json_at *v,
		     struct kvp_error *err)
{
	static const char *const merges[] = { "none", "row", "span" };
	size_t which = 0;
	int code = json_choice(&v[MERGE], merges, 3, &which, err);

	plan->merge = (enum kvp_merge)which;
	if (!code)
		code = json_u64(&v[DEDICATED_BYTES], 0, KVP_NUMBER_MAX,
				&plan->dedicated_bytes, err);
	if (!code && v[HEADROOM].p) {
		plan->has_headroom = true;
		code = record_read(&headroom_record, &plan->headroom,
				   &v[HEADROOM], err);
	}
	return code;
}

/* Read one [first, end) of a row and append it to the plan's spans. */
static int read_span(struct kvp_plan *plan, size_t *room,
		     const struct json_at *at, struct kvp_error *err)
{
	struct json_at element;
	struct json_list list;
	struct kvp_span *spans;
	uint64_t bounds[2] = { 0 };
	size_t n = 0;
	int code = json_list_begin(&list, at, err);

	for (; !code && json_list_next(&list, &element) && n < 3; n++)
		if (n < 2)
			code = json_u64(&element, 0, KVP_NUMBER_MAX,
					&bounds[n], err);
	if (!code && n != 2)
		code = json_fail(at, err, KVP_EINPUT,
				 "must be two page numbers, [first, end)");
	if (code)
		return code;
	if (plan->nspans == *room) {
		*room = *room ? *room * 2 : 1024;
		spans = realloc(plan->spans, *room * sizeof(*spans));
		if (!spans)
			return kvp_error_nomem(err);
		plan->spans = spans;
	}
	plan->spans[plan->nspans++] =
		(struct kvp_span){ bounds[0], bounds[1] };
	return KVP_OK;
}

static int read_row(struct kvp_plan *plan, size_t *room,
		    const struct json_at *at, struct kvp_error *err)
{
	static const struct json_field fields[] = {
		{ "row", true }, { "pages", true },
	};
	struct kvp_row *row = &plan->rows[plan->nrows];
	struct json_at v[2], element;
	struct json_list list;
	int code = json_object(at, fields, 2, v, err);

	if (!code)
		code = json_u64(&v[0], 0, KVP_NUMBER_MAX, &row->row, err);
	if (!code)
		code = json_list_begin(&list, &v[1], err);
	row->first = plan->nspans;
	while (!code && json_list_next(&list, &element))
		code = read_span(plan, room, &element, err);
	row->count = plan->nspans - row->first;
	plan->nrows++;
	return code;
}

static int read_rows(struct kvp_plan *plan, const struct json_at *at,
		     struct kvp_error *err)
{
	struct json_at element;
	struct json_list list;
	size_t count, room = 0;
	int code = json_list_count(at, KVP_ROWS_MAX, &count, err);

	if (code)
		return code;
	plan->rows = malloc((count + 1) * sizeof(*plan->rows));
	if (!plan->rows)
		return kvp_error_nomem(err);
	code = json_list_begin(&list, at, err);
	while (!code && json_list_next(&list, &element))
		code = read_row(plan, &room, &element, err);
	return code;
}

static int read_rank(struct kvp_access *access, const struct json_at *at,
		     struct kvp_error *err)
{
	static const struct json_field fields[] = {
		{ "rank", true }, { "readers", true },
	};
	struct json_at v[2];
	uint64_t rank = 0;
	int code = json_object(at, fields, 2, v, err);

	if (!code)
		code = json_u64(&v[0], 0, KVP_RANKS_MAX - 1, &rank, err);
	access->rank = (uint32_t)rank;
	return code ? code : ranks_read(&access->readers, &v[1],
					KVP_RANKS_MAX, err);
}

static int read_access(struct kvp_plan *plan, const struct json_at *at,
		       struct kvp_error *err)
{
	struct json_at element;
	struct json_list list;
	size_t count;
	int code = json_list_count(at, KVP_RANKS_MAX, &count, err);

	if (code)
		return code;
	plan->access = calloc(count + 1, sizeof(*plan->access));
	if (!plan->access)
		return kvp_error_nomem(err);
	code = json_list_begin(&list, at, err);
	while (!code && json_list_next(&list, &element))
		code = read_rank(&plan->access[plan->naccess++], &element,
				 err);
	return code;
}

static int read_numbers(uint64_t **numbers, size_t *count,
			const struct json_at *at, struct kvp_error *err)
{
	struct json_at element;
	struct json_list list;
	size_t room;
	int code = json_list_count(at, KVP_RANKS_MAX, &room, err);

	if (code)
		return code;
	*numbers = malloc((room + 1) * sizeof(**numbers));
	if (!*numbers)
		return kvp_error_nomem(err);
	code = json_list_begin(&list, at, err);
	while (!code && json_list_next(&list, &element))
		code = json_u64(&element, 0, KVP_NUMBER_MAX,
				&(*numbers)[(*count)++], err);
	return code;
}

static int read_entries(struct kvp_summary *s, const struct json_at *at,
			struct kvp_error *err)
{
	static const struct json_field fields[] = {
		{ "per_rank", true }, { "per_node", true }, { "limit", true },
	};
	struct json_at v[3];
	int code = json_object(at, fields, 3, v, err);

	if (!code)
		code = read_numbers(&s->per_rank, &s->nper_rank, &v[0], err);
	if (!code)
		code = read_numbers(&s->per_node, &s->nper_node, &v[1], err);
	return code ? code : json_u64(&v[2], 0, KVP_NUMBER_MAX, &s->limit,
				      err);
}

static int read_summary(struct kvp_summary *s, const struct json_at *at,
			struct kvp_error *err)
{
	enum { BASE, CHUNK_COUNT, BOUND, OPTIMAL, BYTES, TOKENS, ENTRIES, N };
	static const struct json_field fields[N] = {
		{ "base_chunks", true }, { "chunks", true },
		{ "lower_bound", true }, { "optimal", true },
		{ "physical_bytes", true }, { "kv_tokens", true },
		{ "entries", true },
	};
	const uint64_t max = KVP_NUMBER_MAX;
	struct json_at v[N];
	int code = json_object(at, fields, N, v, err);

	if (!code)
		code = json_u64(&v[BASE], 0, max, &s->base_chunks, err);
	if (!code)
		code = json_u64(&v[CHUNK_COUNT], 0, max, &s->chunks, err);
	if (!code)
		code = json_u64(&v[BOUND], 0, max, &s->lower_bound, err);
	if (!code)
		code = json_bool(&v[OPTIMAL], &s->optimal, err);
	if (!code)
		code = json_u64(&v[BYTES], 0, max, &s->physical_bytes, err);
	if (!code)
		code = json_u64(&v[TOKENS], 0, max, &s->kv_tokens, err);
	return code ? code : read_entries(s, &v[ENTRIES], err);
}

static int read_chunks(struct kvp_plan *plan, const struct json_at *at,
		       struct kvp_error *err)
{
	void *chunks = NULL;
	int code = records_read(&chunk_record, KVP_CHUNKS_MAX, &chunks,
				&plan->nchunks, at, err);

	plan->chunks = chunks;
	return code;
}

static int read_plan(struct kvp_plan *plan, const struct json_at *at,
		     struct kvp_error *err)
{
	struct json_at v[KEYS];
	int code = document_check(at, KVP_PLAN_FORMAT, err);

	if (!code)
		code = json_object(at, keys, KEYS, v, err);
	if (!code)
		code = read_head(plan, v, err);
	if (!code)
		code = geometry_read_at(&plan->geometry, &v[GEOMETRY], false,
					err);
	if (!code)
		code = read_chunks(plan, &v[CHUNKS], err);
	if (!code)
		code = read_rows(plan, &v[ROWS], err);
	if (!code)
		code = read_access(plan, &v[ACCESS], err);
	return code ? code : read_summary(&plan->summary, &v[SUMMARY], err);
}

int kvp_plan_read(struct kvp_plan *plan, const char *source, const char *text,
		  size_t len, struct kvp_error *err)
{
	struct json_text in;
	struct json_at root;
	int code;

	*plan = (struct kvp_plan){ 0 };
	code = json_open(&in, &root, source, text, len, err);
	if (!code)
		code = read_plan(plan, &root, err);
	if (code)
		kvp_plan_release(plan);
	return code;
}
