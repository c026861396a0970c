/*
 * Publishing: rank 0 joins what all processes hold, writes the capacity file
 * and prints the result.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "cli/interrupt.h"
#include "mpi/run.h"

#define N(value) out_number(value).text
#define C(value, noun) out_count(value, noun).text

/* The parts of all ranks, in rank 0. */
struct parts {
	int *lengths, *offsets;
	char (*names)[24];		/* as in "rank 3" */
	struct kvp_capacity_part *parts;
	char *text;			/* of all of them */
};

static void release(struct parts *p)
{
	free(p->lengths);
	free(p->offsets);
	free(p->names);
	free(p->parts);
	free(p->text);
}

/* Make room for parts of `bytes` bytes together.  The others wait to give
   theirs: without memory the job ends. */
static void allocate(const struct run *r, struct parts *p, uint64_t bytes)
{
	uint32_t ranks = r->job.ranks, i;
	uint64_t at = 0;

	p->lengths = calloc(ranks, sizeof(*p->lengths));
	p->offsets = calloc(ranks, sizeof(*p->offsets));
	p->names = calloc(ranks, sizeof(*p->names));
	p->parts = calloc(ranks, sizeof(*p->parts));
	p->text = malloc(bytes);
	if (!p->lengths || !p->offsets || !p->names || !p->parts || !p->text) {
		out_usage_error("out of memory");
		job_abort(KVP_EXIT_ENVIRONMENT);
	}
	for (i = 0; i < ranks; i++) {
		p->lengths[i] = (int)r->reports[i].bytes;
		p->offsets[i] = (int)at;
		snprintf(p->names[i], sizeof(p->names[i]), "rank %u", i);
		p->parts[i] = (struct kvp_capacity_part){
			.name = p->names[i], .text = p->text + at,
			.len = r->reports[i].bytes,
		};
		at += r->reports[i].bytes;
	}
}

/* The table entries of the first node. */
static uint64_t count_entries(const struct run *r)
{
	uint64_t entries = 0, i;

	for (i = 0; i < r->in.plan.geometry.ranks_per_node; i++)
		entries += r->reports[i].entries;
	return entries;
}

static void add_summary(struct strbuf *b, const struct run *r)
{
	static const char *const checks[] = {
		[KVP_CHECK_NONE] = "not checked",
		[KVP_CHECK_QUICK] = "checked quick",
		[KVP_CHECK_FULL] = "checked full",
	};
	const struct kvp_plan *plan = &r->in.plan;
	const struct kvp_geometry *g = &plan->geometry;

	strbuf_printf(b, "REALIZED %s in a process each, on %s, mode %s, %s "
		      "each, %s table entries on a node beside %s of others, "
		      "%s\nCAPACITY %s tokens in %s per rank, %s\n",
		      C(g->ranks, "rank"),
		      C(g->ranks / g->ranks_per_node, "node"),
		      kvp_merge_name(plan->merge), C(plan->nchunks, "chunk"),
		      N(count_entries(r)), N(g->static_entries),
		      checks[r->s->realize.options.check],
		      N(plan->summary.kv_tokens), C(g->pages, "page"),
		      C(g->snapshot_rows, "snapshot row"));
	if (r->s->publish)
		strbuf_printf(b, "PUBLISHED %s\n", r->s->publish);
}

/* Join the parts, write the file, print the result. */
static int finish(struct run *r, const struct parts *p, struct kvp_error *err)
{
	struct strbuf b = { 0 };
	char *text = NULL;
	size_t len = 0;
	int code = kvp_capacity_join(p->parts, r->job.ranks, false, &text,
				     &len, err);

	r->file.interrupt = &interrupt_signal;
	if (!code && r->s->publish)
		code = kvp_file_commit(&r->file, text, len, err);
	free(text);
	text = NULL;
	if (!code && r->s->realize.json) {
		code = kvp_capacity_join(p->parts, r->job.ranks, true, &text,
					 &len, err);
	} else if (!code) {
		add_summary(&b, r);
		code = strbuf_detach(&b, &text, &len, err);
	}
	if (!code)
		r->printed = out_text(text, len);
	free(text);
	return code;
}

int publish_parts(struct run *r, const char *part, struct kvp_error *err)
{
	int own = (int)r->reports[r->job.rank].bytes, code = KVP_OK;
	struct parts p = { .text = NULL };
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < r->job.ranks; i++)
		bytes += r->reports[i].bytes;
	if (bytes > INT_MAX)
		return kvp_error_set(err, KVP_ELIMIT, "the capacities of all "
			"ranks have %llu bytes; MPI gathers at most %d",
			(ull)bytes, INT_MAX);
	if (!r->job.rank)
		allocate(r, &p, bytes);
	if (!job_gather_texts(&r->job, part, own, p.lengths, p.offsets,
			      p.text))
		code = kvp_error_set(err, KVP_EIO, "MPI could not gather the "
				     "capacities");
	if (!code && !r->job.rank)
		code = finish(r, &p, err);
	release(&p);
	return code;
}
