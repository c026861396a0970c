/*
 * Planning, step by step: base layout, segments, junctions, bound,
 * assignment, arrangement; then what the plan states about itself.
 */
#include <assert.h>
#include <stdlib.h>

#include <kvplan/plan_make.h>

#include "base/error.h"
#include "model/model.h"
#include "plan/work.h"

/* The results of the steps. */
struct packing {
	struct layout layout;
	struct segments segments;
	struct junctions junctions;
	struct bound bound;
	struct assignment assignment;
};

static void packing_release(struct packing *p)
{
	assignment_release(&p->assignment);
	bound_release(&p->bound);
	junctions_release(&p->junctions);
	segments_release(&p->segments);
	layout_release(&p->layout);
}

/* Arrange the current assignment into the plan if that gives fewer chunks. */
static int keep_better(struct kvp_plan *plan, const struct packing *p,
		       struct kvp_error *err)
{
	struct kvp_chunk *chunks = malloc((p->layout.count + 1u) *
					  sizeof(*chunks));
	uint32_t count = 0;
	int code = KVP_OK;

	if (!chunks)
		return kvp_error_nomem(err);
	code = arrange(chunks, &count, &p->layout, &p->segments,
		       &p->junctions, &p->assignment, plan->merge, err);
	assert(code || count <= p->layout.count);
	if (!code && (!plan->chunks || count < plan->nchunks)) {
		free(plan->chunks);
		plan->chunks = chunks;
		plan->nchunks = count;
		chunks = NULL;
	}
	free(chunks);
	return code;
}

/* Leave every chunk on its slot, as in the base layout. */
static int pack_in_place(struct kvp_plan *plan, struct packing *p,
			 struct kvp_error *err)
{
	int code;

	assignment_release(&p->assignment);
	code = assignment_identity(&p->assignment, &p->layout, &p->segments,
				   err);
	return code ? code : keep_better(plan, p, err);
}

/* Assign chunks to slots for the junctions that the bound chose. */
static int pack_assigned(struct kvp_plan *plan, struct packing *p,
			 struct kvp_error *err)
{
	int code;

	assignment_release(&p->assignment);
	code = assignment_make(&p->assignment, &p->layout, &p->segments,
			       &p->junctions, &p->bound, err);
	return code ? code : keep_better(plan, p, err);
}

static bool is_above_bound(const struct kvp_plan *plan, const struct packing *p)
{
	return plan->nchunks + p->bound.saving > p->layout.count;
}

/*
 * Assign as mode row does, with no junction chosen at a boundary.  Merged in
 * mode span that assignment gives at most as many chunks as in mode row.
 */
static int pack_as_row(struct kvp_plan *plan, struct packing *p,
		       struct kvp_error *err)
{
	uint32_t i;

	assert(plan->merge == KVP_MERGE_SPAN);
	for (i = 0; i < p->segments.count; i++)
		p->bound.chosen[i] = NONE;
	return pack_assigned(plan, p, err);
}

/*
 * A computed layout reaches its bound at the first attempt.  In a recorded
 * one the planes may be cut at different offsets: then exchanging chunks can
 * separate neighbours that would have merged, and the junctions chosen for
 * span can be worse than none.  So each mode also tries what the modes before
 * it do.
 */
static int pack(struct kvp_plan *plan, struct packing *p,
		struct kvp_error *err)
{
	int code;

	if (plan->merge == KVP_MERGE_NONE)
		return pack_in_place(plan, p, err);
	code = pack_assigned(plan, p, err);
	if (!code && is_above_bound(plan, p))
		code = pack_in_place(plan, p, err);
	if (!code && is_above_bound(plan, p) && plan->merge == KVP_MERGE_SPAN)
		code = pack_as_row(plan, p, err);
	return code;
}

static int prepare_packing(struct packing *p, const struct kvp_geometry *g,
			   enum kvp_merge merge, struct kvp_error *err)
{
	int code = layout_make(&p->layout, g, err);

	if (!code)
		code = segments_make(&p->segments, &p->layout, g, err);
	if (!code)
		code = junctions_make(&p->junctions, &p->layout, g, err);
	return code ? code : bound_make(&p->bound, &p->layout, &p->segments,
					&p->junctions, merge, err);
}

static int summarize(struct kvp_plan *plan, const struct packing *p,
		     struct kvp_error *err)
{
	const struct kvp_geometry *g = &plan->geometry;
	struct kvp_summary *s = &plan->summary;
	uint64_t before = 0, after = 0;
	size_t i;

	for (i = 0; i < p->layout.count; i++)
		before += p->layout.chunks[i].bytes;
	for (i = 0; i < plan->nchunks; i++)
		after += plan->chunks[i].bytes;
	assert(p->bound.saving <= p->layout.count);
	s->base_chunks = p->layout.count;
	s->chunks = plan->nchunks;
	s->lower_bound = s->base_chunks - p->bound.saving;
	s->optimal = s->chunks == s->lower_bound;
	s->physical_bytes = after;
	s->kv_tokens = g->pages * g->page_tokens * g->dcp_group_size;
	if (before != after || s->chunks < s->lower_bound)
		return kvp_error_set(err, KVP_EBUG, "the plan has %llu of %llu "
			"bytes and %llu chunks, bound %llu; please report "
			"this geometry", (ull)after,
			(ull)before,
			(ull)s->chunks,
			(ull)s->lower_bound);
	return KVP_OK;
}

/* Copy a geometry that a document can state; others are refused. */
static int copy_geometry(struct kvp_geometry *copy,
			 const struct kvp_geometry *geometry,
			 struct kvp_error *err)
{
	struct kvp_geometry stated = *geometry;
	struct geometry_fault fault = { .path = "" };
	int code;

	/* A caller may have set both counts to 0 after reading the geometry. */
	if (!stated.execution_rows && !stated.snapshot_rows)
		stated.row_bytes = stated.row_stride = 0;
	code = geometry_check_statable(&stated, false, err);
	if (!code)
		code = kvp_geometry_copy(copy, &stated, err);
	if (code || !copy->base_chunks)
		return code;
	code = base_chunks_check(copy, &fault);
	return code ? kvp_error_set(err, code, "%s: %s", fault.path,
				    fault.error.text) : KVP_OK;
}

int kvp_plan_make(struct kvp_plan *plan, const struct kvp_geometry *geometry,
		  enum kvp_merge merge, struct kvp_error *err)
{
	struct packing p = { 0 };
	int code;

	assert(plan && geometry);
	*plan = (struct kvp_plan){ 0 };
	if ((unsigned)merge > KVP_MERGE_SPAN)
		return kvp_error_set(err, KVP_EINPUT,
				     "merge is %d, which is no mode",
				     (int)merge);
	if (!geometry->pages || geometry->snapshot_rows == KVP_UNSTATED)
		return kvp_error_set(err, KVP_EINPUT, "the geometry does not "
			"state %s; kvp_size_find() computes it",
			geometry->pages ? "snapshot_rows" : "pages");
	code = copy_geometry(&plan->geometry, geometry, err);
	plan->merge = merge;
	plan->has_headroom = geometry->has_headroom;
	plan->headroom = geometry->headroom;
	if (!code)
		code = prepare_packing(&p, &plan->geometry, merge, err);
	plan->dedicated_bytes = p.layout.dedicated_bytes;
	if (!code)
		code = pack(plan, &p, err);
	if (!code)
		code = conflicts_make(plan, &p.layout, err);
	if (!code)
		code = access_make(plan, err);
	if (!code)
		code = entries_make(plan, err);
	if (!code)
		code = summarize(plan, &p, err);
	packing_release(&p);
	if (code)
		kvp_plan_release(plan);
	return code;
}
