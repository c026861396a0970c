/*
 * The hooks around every backend call of a realization: before a call it
 * stops if a signal has come, after it the event is reported.
 */
#include "base/error.h"
#include "realize/realization.h"

/* Fill the members that all events have. */
static struct kvp_event event_now(const struct kvp_realization *r)
{
	return (struct kvp_event){
		.rank = r->stage.rank, .state = r->stage.state,
		.undo = r->stage.undo, .calls_done = r->stage.calls_done,
		.calls_total = r->stage.calls_total,
		.entries = r->watch.entries,
		.entries_total = r->stage.entries_total,
	};
}

void report_state(struct kvp_realization *r, uint32_t rank,
		  enum kvp_state state)
{
	struct kvp_event e;

	r->stage.rank = rank;
	r->stage.state = state;
	e = event_now(r);
	e.kind = KVP_EVENT_STATE;
	if (r->options.event)
		r->options.event(r->options.cookie, &e);
}

int check_interrupt(const struct kvp_realization *r, struct kvp_error *err)
{
	const volatile sig_atomic_t *interrupt = r->options.interrupt;

	if (r->stage.undo || !interrupt || !*interrupt)
		return KVP_OK;
	return kvp_error_set(err, KVP_EINTERRUPTED,
			     "interrupted by signal %d", (int)*interrupt);
}

static int before_call(void *cookie, struct kvp_error *err)
{
	return check_interrupt(cookie, err);
}

static void after_call(void *cookie, const struct watch_call *call)
{
	struct kvp_realization *r = cookie;
	struct kvp_event e;

	r->stage.calls_done += !r->stage.undo && !r->stage.checking;
	if (r->tick && !r->stage.undo)
		r->tick(r->tick_cookie);
	if (!r->options.event)
		return;
	e = event_now(r);
	e.kind = KVP_EVENT_CALL;
	e.call = call->name;
	e.code = call->code;
	e.address = call->address;
	e.bytes = call->bytes;
	r->options.event(r->options.cookie, &e);
}

const struct watch_hooks realization_hooks = {
	.before = before_call, .after = after_call,
};
