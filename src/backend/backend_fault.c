/*
 * The fault backend: passes every call on to the backend it wraps, except
 * those that are to fail.  Those return the error; the inner backend is not
 * called.
 */
#include <kvplan/backend.h>

#include <stdlib.h>

#include "base/error.h"
#include "backend/backend_util.h"
#include "backend/verbs.def"

struct fault_backend {
	struct kvp_backend base;
	struct kvp_backend *inner;
	struct kvp_fault *fault;
};

static struct kvp_backend *inner(struct kvp_backend *b)
{
	return ((struct fault_backend *)b)->inner;
}

/* Count a call; KVP_OK if it is to be passed on, else the error. */
static int inject_fault(struct kvp_backend *b, enum kvp_op op, const char *call,
			struct kvp_error *err)
{
	struct kvp_fault *fault = ((struct fault_backend *)b)->fault;

	if (!(fault->ops & (unsigned)op) || !fault->countdown)
		return KVP_OK;
	if (fault->countdown > 1) {
		fault->countdown--;
		return KVP_OK;
	}
	/* A countdown that stays 1 makes the next call fail as well. */
	if (!fault->for_ever)
		fault->countdown = 0;
	fault->hits++;
	return kvp_error_set(err, fault->code ? fault->code : KVP_EDRIVER,
			     "%s: made to fail", call);
}

#define FAULT_VERB(op, table, verb, parameters, arguments, ...)		\
	static int fault_##verb(struct kvp_backend *b, LIST parameters,	\
				struct kvp_error *err)			\
	{								\
		int code = inject_fault(b, KVP_OP_##op, #verb, err);	\
									\
		return code ? code : inner(b)->table.verb(inner(b),	\
						LIST arguments, err);	\
	}

BACKEND_VERBS(FAULT_VERB)

static void fault_close(struct kvp_backend *b)
{
	free(b);
}

#define FAULT_SLOT(op, table, verb, ...) .table.verb = fault_##verb,

static const struct kvp_backend fault_backend = {
	BACKEND_VERBS(FAULT_SLOT)
	.close = fault_close,
};

int kvp_backend_fault(struct kvp_backend **b, struct kvp_backend *inner_b,
		      struct kvp_fault *fault, struct kvp_error *err)
{
	struct fault_backend *f = malloc(sizeof(*f));

	*b = NULL;
	if (!f)
		return kvp_error_nomem(err);
	backend_wrap(&f->base, inner_b, &fault_backend);
	f->inner = inner_b;
	f->fault = fault;
	*b = &f->base;
	return KVP_OK;
}
