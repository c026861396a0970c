/*
 * Progress of a realization: a line on a terminal, and the trace of every
 * state and call.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/realize.h"

#define SHOW_EVERY_MS 100

static int64_t elapsed_ms(const struct progress *p)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - p->begun.tv_sec) * INT64_C(1000) +
	       (now.tv_nsec - p->begun.tv_nsec) / 1000000;
}

int progress_begin(struct progress *p, struct kvp_error *err)
{
	clock_gettime(CLOCK_MONOTONIC, &p->begun);
	p->terminal = isatty(STDERR_FILENO);
	if (!p->s->trace)
		return KVP_OK;
	p->trace = fopen(p->s->trace, "we");
	if (p->trace)
		return KVP_OK;
	return kvp_error_set(err, KVP_EIO, "%s: cannot open: %s", p->s->trace,
			     strerror(errno));
}

static void trace_event(struct progress *p, const struct kvp_event *e)
{
	struct json_out *w = &p->line;

	json_put_object(w, NULL, JSON_INLINE);
	json_put_text(w, "event",
		      e->kind == KVP_EVENT_STATE ? "state" : "call");
	json_put_u64(w, "rank", e->rank);
	json_put_text(w, "state", kvp_state_name(e->state));
	json_put_bool(w, "undo", e->undo);
	if (e->kind == KVP_EVENT_CALL) {
		json_put_text(w, "call", e->call);
		json_put_text(w, "outcome", kvp_code_name(e->code));
		json_put_u64(w, "address", e->address);
		json_put_u64(w, "bytes", e->bytes);
	}
	json_put_u64(w, "entries", e->entries);
	json_put_end(w);
	if (!w->text.failed)
		fwrite(w->text.text, 1, w->text.len, p->trace);
	w->text.len = 0;
}

/* Granting entries takes nearly all of the time, so the time left follows
   from the entries left. */
static void show_progress(struct progress *p, const struct kvp_event *e,
			  int64_t ms)
{
	uint64_t done = e->entries - p->entries_before;
	int64_t left = done ? (int64_t)((double)ms *
		(double)(e->entries_total - e->entries) / (double)done) : 0;

	fprintf(stderr, "\r%s rank %u: call %llu of %llu, entry %llu of "
		"%llu, %lld s left \033[K", kvp_state_name(e->state),
		e->rank, (ull)e->calls_done,
		(ull)e->calls_total,
		(ull)e->entries,
		(ull)e->entries_total,
		(long long)(left / 1000));
	p->shown = true;
}

void progress_event(void *cookie, const struct kvp_event *event)
{
	struct progress *p = cookie;
	int64_t ms;

	if (!p->started) {
		p->started = true;
		p->entries_before = event->entries;
	}
	if (!event->undo)
		p->entries_held = event->entries;
	if (p->trace)
		trace_event(p, event);
	/* Reading the clock costs as much as a call; do it at every 64th. */
	if (!p->terminal || (event->calls_done & 63))
		return;
	ms = elapsed_ms(p);
	if (ms < p->next_ms)
		return;
	p->next_ms = ms + SHOW_EVERY_MS;
	show_progress(p, event, ms);
}

int progress_end(struct progress *p, int exit)
{
	bool no_memory = p->line.text.failed;
	bool failed = no_memory || (p->trace && ferror(p->trace));

	strbuf_release(&p->line.text);
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	if (p->trace)
		failed |= fclose(p->trace) != 0;
	if (failed) {
		fprintf(stderr, "kvplan: error: %s: cannot write: %s\n",
			p->s->trace, strerror(no_memory ? ENOMEM : errno));
		return exit ? exit : KVP_EXIT_ENVIRONMENT;
	}
	return exit;
}
