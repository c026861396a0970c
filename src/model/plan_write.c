/*
 * Writing a plan: one chunk, one row, one rank to a line, so that a diff
 * between two plans reads.
 */
#include "base/error.h"
#include "model/model.h"
#include "model/plan_view.h"

static void write_rows(struct strbuf *b, const struct kvp_plan *plan)
{
	const struct kvp_row *row = plan->rows;
	const struct kvp_span *span;
	size_t i, j;

	strbuf_str(b, "[");
	for (i = 0; i < plan->nrows; i++, row++) {
		strbuf_str(b, i ? ",\n{\"row\":" : "\n{\"row\":");
		strbuf_u64(b, row->row);
		strbuf_str(b, ",\"pages\":[");
		for (j = 0; j < row->count; j++) {
			span = &row_spans(plan, row)[j];
			strbuf_str(b, j ? ",[" : "[");
			strbuf_u64(b, span->first);
			strbuf_str(b, ",");
			strbuf_u64(b, span->end);
			strbuf_str(b, "]");
		}
		strbuf_str(b, "]}");
	}
	strbuf_str(b, plan->nrows ? "\n]" : "]");
}

static void write_access(struct strbuf *b, const struct kvp_plan *plan)
{
	size_t i;

	strbuf_str(b, "[");
	for (i = 0; i < plan->naccess; i++) {
		strbuf_str(b, i ? ",\n{\"rank\":" : "\n{\"rank\":");
		strbuf_u64(b, plan->access[i].rank);
		strbuf_str(b, ",\"readers\":");
		ranks_write(b, &plan->access[i].readers);
		strbuf_str(b, "}");
	}
	strbuf_str(b, plan->naccess ? "\n]" : "]");
}

static void write_summary(struct strbuf *b, const struct kvp_summary *s)
{
	strbuf_str(b, "{\n\"base_chunks\":");
	strbuf_u64(b, s->base_chunks);
	strbuf_str(b, ",\n\"chunks\":");
	strbuf_u64(b, s->chunks);
	strbuf_str(b, ",\n\"lower_bound\":");
	strbuf_u64(b, s->lower_bound);
	strbuf_str(b, ",\n\"optimal\":");
	strbuf_str(b, s->optimal ? "true" : "false");
	strbuf_str(b, ",\n\"physical_bytes\":");
	strbuf_u64(b, s->physical_bytes);
	strbuf_str(b, ",\n\"kv_tokens\":");
	strbuf_u64(b, s->kv_tokens);
	strbuf_str(b, ",\n\"entries\":{\n\"per_rank\":");
	strbuf_numbers(b, s->per_rank, s->nper_rank);
	strbuf_str(b, ",\n\"per_node\":");
	strbuf_numbers(b, s->per_node, s->nper_node);
	strbuf_str(b, ",\n\"limit\":");
	strbuf_u64(b, s->limit);
	strbuf_str(b, "\n}\n}");
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
	struct strbuf b = { 0 };
	int code = check_writable(plan, err);

	*text = NULL;
	if (code)
		return code;
	strbuf_str(&b, "{\n\"format\":\"" KVP_PLAN_FORMAT "\",\n");
	strbuf_str(&b, "\"geometry\":");
	record_write(&b, &geometry_record, &plan->geometry);
	strbuf_str(&b, ",\n\"merge\":\"");
	strbuf_str(&b, kvp_merge_name(plan->merge));
	strbuf_str(&b, "\",\n\"dedicated_bytes\":");
	strbuf_u64(&b, plan->dedicated_bytes);
	strbuf_str(&b, ",\n\"chunks\":");
	records_write(&b, &chunk_record, plan->chunks, plan->nchunks);
	strbuf_str(&b, ",\n\"rows\":");
	write_rows(&b, plan);
	strbuf_str(&b, ",\n\"access\":");
	write_access(&b, plan);
	strbuf_str(&b, ",\n\"summary\":");
	write_summary(&b, &plan->summary);
	if (plan->has_headroom) {
		strbuf_str(&b, ",\n\"headroom\":");
		record_write(&b, &headroom_record, &plan->headroom);
	}
	strbuf_str(&b, "\n}\n");
	return strbuf_detach(&b, text, len, err);
}
