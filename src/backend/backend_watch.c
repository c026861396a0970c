/*
 * The watching backend: every verb is passed on between two hooks.
 */
#include "backend/backend_watch.h"

#include "backend/backend_util.h"
#include "backend/verbs.def"

static struct backend_watch *watch_of(struct kvp_backend *b)
{
	return (struct backend_watch *)b;
}

/* KVP_OK: the call is to be made. */
static int call_before(const struct backend_watch *w, struct kvp_error *err)
{
	return w->hooks->before(w->cookie, err);
}

/* Count a call that was made, call the hook, and return the call's code. */
static int finish_call(struct backend_watch *w, struct watch_call call)
{
	if (call.op == KVP_OP_UNMAP)
		call.entries = w->unmap_entries;
	if (!call.code && call.op == KVP_OP_UNMAP)
		w->entries -= call.entries;
	if (!call.code && call.op == KVP_OP_GRANT)
		w->entries += call.entries;
	w->last = call;
	w->hooks->after(w->cookie, &call);
	return call.code;
}

#define WATCH_VERB(op_, table, verb, parameters, arguments, address_,	\
		   bytes_, entries_)					\
	static int watch_##verb(struct kvp_backend *b, LIST parameters,	\
				struct kvp_error *err)			\
	{								\
		struct backend_watch *w = watch_of(b);			\
		int code = call_before(w, err);				\
									\
		if (code)						\
			return code;					\
		code = w->inner->table.verb(w->inner, LIST arguments, err); \
		return finish_call(w, (struct watch_call){		\
			.op = KVP_OP_##op_, .name = #verb, .code = code, \
			.address = address_, .bytes = bytes_,		\
			.entries = entries_ });				\
	}
#define WATCH_SLOT(op, table, verb, ...) .table.verb = watch_##verb,

BACKEND_VERBS(WATCH_VERB)

/* The wrapped backend stays open. */
static void watch_close(struct kvp_backend *b)
{
	(void)b;
}

static const struct kvp_backend watch_backend = {
	BACKEND_VERBS(WATCH_SLOT)
	.close = watch_close,
};

void backend_watch_init(struct backend_watch *w, struct kvp_backend *inner,
			const struct watch_hooks *hooks, void *cookie)
{
	*w = (struct backend_watch){
		.inner = inner, .hooks = hooks, .cookie = cookie,
	};
	backend_wrap(&w->base, inner, &watch_backend);
}
