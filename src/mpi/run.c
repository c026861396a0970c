/*
 * Realizes a plan in the processes of a job.  Every process takes all steps:
 * after each it tells the others how that went, and all go on or none.
 */
#include "mpi/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "backend/visible.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "mpi/launcher.h"
#include "mpi/signs.h"

/* While holding, processes ask each other so often whether to leave. */
#define HOLD_LOOK_MS 100

/* --- agreeing --- */

/* The process that failed first by itself; NULL: none has failed. */
static const struct report *find_cause(const struct run *r)
{
	const struct report *cause = NULL, *p;

	for (p = r->reports; p < r->reports + r->job.ranks; p++)
		if (p->code && (!cause || (cause->code == KVP_EPEER &&
					   p->code != KVP_EPEER)))
			cause = p;
	return cause;
}

/* Do all processes say the same?  Then it is not about one of them. */
static bool say_the_same(const struct run *r)
{
	uint32_t i;

	for (i = 1; i < r->job.ranks; i++)
		if (strcmp(r->reports[i].text, r->reports[0].text))
			return false;
	return true;
}

static void print_report(const struct run *r, const struct report *p)
{
	if (r->job.rank)
		return;
	if (say_the_same(r))
		out_usage_error("%s", p->text);
	else
		out_usage_error("rank %u on %s: %s",
				(unsigned)(p - r->reports), p->host, p->text);
}

/* MPI failed between processes. */
static void end_torn(const struct run *r, int exit)
{
	out_silent = false;
	out_usage_error("the processes cannot agree: MPI failed");
	job_abort(r->job.stands ? KVP_EXIT_STUCK : exit);
}

/*
 * Tell all processes how a step went, and print the first cause if one has
 * failed.  The exit status that all of them have.
 */
static int agree(struct run *r, int code, const struct kvp_error *err,
		 uint64_t bytes)
{
	const struct kvp_realization *held = kvp_share_realization(r->share);
	struct report own = { .code = code, .exit = out_status(code),
			      .printed = r->printed, .bytes = bytes };
	const struct report *cause, *p;
	int exit;

	if (held)
		own.entries = kvp_realization_entries(held) -
			      r->in.plan.geometry.static_entries;
	gethostname(own.host, sizeof(own.host) - 1);
	if (code)
		memcpy(own.text, err->text, sizeof(own.text));
	if (code && r->job.rank)
		out_error(err);		/* with --verbose */
	if (!job_gather(&r->job, &own, sizeof(own), r->reports))
		end_torn(r, code ? own.exit : KVP_EXIT_ENVIRONMENT);
	signs_clear(&r->job);
	r->printed = r->reports[0].printed;
	cause = find_cause(r);
	if (!cause)
		return KVP_EXIT_YES;
	print_report(r, cause);
	exit = cause->exit;
	for (p = r->reports; p < r->reports + r->job.ranks; p++)
		if (p->code == KVP_ESTUCK && p != cause) {
			print_report(r, p);
			exit = KVP_EXIT_STUCK;
		}
	return exit;
}

/* --- steps --- */

/* The one GPU that is visible, or the one with this process's number. */
static int choose_gpu(const struct run *r, uint32_t *gpu,
		      struct kvp_error *err)
{
	uint32_t processes = r->job.local_ranks, visible = 0;
	int code = visible_gpus(&visible, err);

	if (code)
		return code;
	*gpu = r->job.local_rank % visible;
	if (visible == 1 || processes <= visible || r->s->share_gpu)
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED, "%u processes on this machine "
		"need a GPU each, %u are visible; --share-gpu lets several "
		"use one", processes, visible);
}

static int open_backend(struct run *r, struct kvp_error *err)
{
	uint32_t gpu;
	int code;

	if (!r->s->realize.gpus)
		return kvp_backend_host(&r->backend, 1,
					r->in.plan.geometry.granularity, err);
	code = choose_gpu(r, &gpu, err);
	return code ? code : kvp_backend_cuda(&r->backend, &gpu, 1, err);
}

static int check_ranks(const struct run *r, struct kvp_error *err)
{
	uint64_t ranks = r->in.plan.geometry.ranks;

	if (ranks == r->job.ranks)
		return KVP_OK;
	return kvp_error_set(err, KVP_EINPUT, "the plan has %llu ranks, and "
		"%u processes run; start %llu", (ull)ranks, r->job.ranks,
		(ull)ranks);
}

/* Read the files, open the backend, see whether the file can be written. */
static int set_up(struct run *r, struct kvp_error *err)
{
	const char *publish = r->job.rank ? NULL : r->s->publish;
	int code = r->s->refused.code;

	if (code)
		*err = r->s->refused;
	else
		code = realize_read(&r->in, &r->s->realize, r->s->plan, err);
	if (!code)
		code = check_ranks(r, err);
	if (!code)
		code = open_backend(r, err);
	if (!code && publish)
		code = files_begin(&r->file, publish, err);
	if (!code && publish)
		files_await_reader(publish);
	return code;
}

/* Keep the first error: later ones follow from it. */
static int keep_first(int first, int code, const struct kvp_error *later,
		      struct kvp_error *err)
{
	if (!first && code)
		*err = *later;
	return first ? first : code;
}

/* Share the realization; KVP_OK if it is PUBLISHED. */
static int share(struct run *r, struct kvp_error *err)
{
	struct kvp_share_options o = {
		.realize = r->s->realize.options, .node = launcher_node(),
		.directory = r->s->directory, .share_gpu = r->s->share_gpu,
		.deadline = (uint32_t)(r->s->deadline * 1000),
	};
	struct kvp_error later = { 0 };
	struct kvp_share_blob blob;
	int code, doubt;

	o.realize.first_rank = r->job.rank;
	o.realize.nranks = 1;
	o.realize.event = signs_event;
	o.realize.cookie = &r->job;
	o.realize.interrupt = &interrupt_signal;
	code = kvp_share_begin(&r->share, &r->in.plan, r->in.verdict,
			       r->backend, &o, &blob, err);
	job_gather(&r->job, &blob, sizeof(blob), r->blobs);
	code = keep_first(code, kvp_share_exchange(r->share, r->blobs,
			  r->job.ranks, &blob, &later), &later, err);
	r->job.stands = !code;
	job_gather(&r->job, &blob, sizeof(blob), r->blobs);
	doubt = kvp_share_commit(r->share, r->blobs, r->job.ranks, &later);
	if (doubt == KVP_EDOUBT) {
		out_silent = false;
		job_abort(out_error(&later));
	}
	r->job.stands = !doubt;
	return keep_first(code, doubt, &later, err);
}

/* Hold until a process got a signal; all leave together, so that no importer
   loses what it maps before. */
static void hold(struct run *r)
{
	bool failed, any = false;

	realize_say_held();
	while (!any) {
		interrupt_wait_ms(HOLD_LOOK_MS);
		any = job_any(&r->job, &interrupt_signal, &failed);
		if (failed)
			end_torn(r, KVP_EXIT_ENVIRONMENT);
	}
}

/* Share, publish and hold.  The exit status. */
static int realize(struct run *r)
{
	struct kvp_error err = { 0 };
	char *part = NULL;
	size_t bytes = 0;
	int exit, code = share(r, &err);

	if (!code)
		code = kvp_realization_write(kvp_share_realization(r->share),
					     true, &part, &bytes, &err);
	exit = agree(r, code, &err, bytes);
	if (!exit) {
		code = publish_parts(r, part, &err);
		exit = agree(r, code, &err, 0);
	}
	free(part);
	if (!exit && !r->printed && r->s->realize.hold)
		hold(r);
	code = kvp_share_free(r->share, &err);
	if (!code)
		return exit ? exit : r->printed;
	out_silent = false;
	return out_error(&err);
}

/* --- the job --- */

static void begin_job(struct run *r)
{
	static char name[40];

	job_begin(&r->job);
	r->job.deadline = r->s->deadline * 1000;
	r->job.show = !r->job.rank && (r->s->progress ||
				       isatty(STDERR_FILENO));
	if (r->job.rank) {
		snprintf(name, sizeof(name), "kvplan-mpi: rank %u",
			 r->job.rank);
		out_program = name;
	}
	r->blobs = calloc(r->job.ranks, sizeof(*r->blobs));
	r->reports = calloc(r->job.ranks, sizeof(*r->reports));
	if (!r->blobs || !r->reports) {
		out_usage_error("out of memory");
		job_abort(KVP_EXIT_ENVIRONMENT);
	}
}

static int run_steps(struct run *r)
{
	struct kvp_error err = { 0 };
	char library[64];
	int exit, code;

	job_library(library, sizeof(library));
	if (r->job.ranks == 1 && !r->s->helped && launcher_is_wrong(library)) {
		/* A launcher ends all once one has failed: rank 0 prints. */
		sleep(launcher_rank() ? 1 : 0);
		return KVP_EXIT_INPUT;
	}
	out_silent = r->s->helped || (r->job.rank && !r->s->verbose);
	code = set_up(r, &err);
	exit = agree(r, code, &err, 0);
	if (exit)
		return exit;
	interrupt_catch();
	return realize(r);
}

int run_job(struct settings *s)
{
	struct run r = { .s = s };
	int exit;

	begin_job(&r);
	exit = run_steps(&r);
	kvp_file_abandon(&r.file);
	kvp_backend_close(r.backend);
	realize_release(&r.in, &s->realize);
	free(r.blobs);
	free(r.reports);
	job_end(&r.job);
	return exit;
}
