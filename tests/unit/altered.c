#include "unit/altered.h"

#include "backend/backend_util.h"
#include "backend/verbs.def"

struct kvp_backend *unaltered(struct kvp_backend *b)
{
	return ((struct altered *)b)->inner;
}

#define HAND_ON(op, table, verb, parameters, arguments, ...)		\
	static int hand_on_##verb(struct kvp_backend *b, LIST parameters, \
				  struct kvp_error *err)		\
	{								\
		return unaltered(b)->table.verb(unaltered(b),		\
						LIST arguments, err);	\
	}

BACKEND_VERBS(HAND_ON)

static void close_inner(struct kvp_backend *b)
{
	kvp_backend_close(unaltered(b));
}

#define SLOT(op, table, verb, ...) .table.verb = hand_on_##verb,

void alter_backend(struct altered *a, struct kvp_backend *inner)
{
	static const struct kvp_backend verbs = {
		BACKEND_VERBS(SLOT)
		.close = close_inner,
	};

	backend_wrap(&a->base, inner, &verbs);
	a->inner = inner;
}
