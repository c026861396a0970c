/*
 * Writing a plan, with one chunk, one row or one rank on each line, so that
 * people can read a diff of two plans.
 */
#include "base/error.h"
#include "model/model.h"
#include "model/plan_view.h"

static void put_rows(struct json_out *w, const struct kvp_plan *plan)
{
	const struct kvp_row *row = plan->rows;
	const struct kvp_span *span;
	size_t i, j;

	json_put_list(w, "rows", JSON_LINES);
	for (i = 0; i < plan->nrows; i++, row++) {
		json_put_object(w, NULL, JSON_INLINE);
		json_put_u64(w, "row", row->row);
		json_put_list(w, "pages", JSON_INLINE);
		for (j = 0; j < row->count; j++) {
			span = &row_spans(plan, row)[j];
			json_put_list(w, NULL, JSON_INLINE);
			json_put_u64(w, NULL, span->first);
			json_put_u64(w, NULL, span->end);
			json_put_end(w);
		}
		json_put_end(w);
		json_put_end(w);
	}
	json_put_end(w);
}

static void put_access(struct json_out *w, const struct kvp_plan *plan)
{
	size_t i;

	json_put_list(w, "access", JSON_LINES);
	for (i = 0; i < plan->naccess; i++) {
		json_put_object(w, NULL, JSON_INLINE);
		json_put_u64(w, "rank", plan->access[i].rank);
		json_put_u32s(w, "readers", plan->access[i].readers.rank,
			      plan->access[i].readers.count);
		json_put_end(w);
	}
	json_put_end(w);
}

static void put_summary(struct json_out *w, const struct kvp_summary *s)
{
	json_put_object(w, "summary", JSON_LINES);
	json_put_u64(w, "base_chunks", s->base_chunks);
	json_put_u64(w, "chunks", s->chunks);
	json_put_u64(w, "lower_bound", s->lower_bound);
	json_put_bool(w, "optimal", s->optimal);
	json_put_u64(w, "physical_bytes", s->physical_bytes);
	json_put_u64(w, "kv_tokens", s->kv_tokens);
	json_put_object(w, "entries", JSON_LINES);
	json_put_u64s(w, "per_rank", s->per_rank, s->nper_rank);
	json_put_u64s(w, "per_node", s->per_node, s->nper_node);
	json_put_u64(w, "limit", s->limit);
	json_put_end(w);
	json_put_end(w);
}

static int check_writable(const struct kvp_plan *plan, struct kvp_error *err)
{
	size_t i;

	if ((unsigned)plan->merge > KVP_MERGE_SPAN)
		return kvp_error_set(err, KVP_EINPUT,
				     "merge is %d, which is no mode",
				     (int)plan->merge);
	for (i = 0; i < plan->nrows; i++)
		if (!row_has_spans(plan, &plan->rows[i]))
			return kvp_error_set(err, KVP_EINPUT,
				"rows[%zu]: spans from %zu on, %zu of them: "
				"the plan has %zu", i, plan->rows[i].first,
				plan->rows[i].count, plan->nspans);
	return geometry_check_words(&plan->geometry, err);
}

int kvp_plan_write(const struct kvp_plan *plan, char **text, size_t *len,
		   struct kvp_error *err)
{
	struct json_out w = { .spaced = false };
	int code = check_writable(plan, err);

	*text = NULL;
	if (code)
		return code;
	json_put_object(&w, NULL, JSON_LINES);
	json_put_text(&w, "format", KVP_PLAN_FORMAT);
	record_write(&w, "geometry", &geometry_record, &plan->geometry);
	json_put_text(&w, "merge", kvp_merge_name(plan->merge));
	json_put_u64(&w, "dedicated_bytes", plan->dedicated_bytes);
	records_write(&w, "chunks", &chunk_record, plan->chunks,
		      plan->nchunks);
	put_rows(&w, plan);
	put_access(&w, plan);
	put_summary(&w, &plan->summary);
	if (plan->has_headroom)
		record_write(&w, "headroom", &headroom_record,
			     &plan->headroom);
	json_put_end(&w);
	return strbuf_detach(&w.text, text, len, err);
}
