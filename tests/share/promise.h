/*
 * What a process has to be after the commit, by its own failures and by the
 * second blobs that came.
 */
#ifndef TESTS_SHARE_PROMISE_H
#define TESTS_SHARE_PROMISE_H

#include "share/blob.h"
#include "share/launch.h"

static inline int code_of(const struct kvp_share_blob *blob, uint32_t phase,
			  bool *missing)
{
	struct share_blob b;
	struct kvp_error why;

	*missing = share_blob_read(blob, phase, &b, &why) != SHARE_READ;
	return *missing ? KVP_OK : b.code;
}

/* What the second blobs that came say together. */
struct said {
	bool failed, missing;
};

static inline struct said hear(const struct job *j)
{
	struct said said = { false, false };
	bool missing;
	uint32_t i;

	for (i = 0; i < j->count; i++) {
		said.failed |= code_of(&j->member[i].blob[1], 2, &missing) != 0;
		said.missing |= missing;
	}
	return said;
}

static inline enum kvp_state state_due(const struct said *said,
				       const struct report *r)
{
	if (r->code[CALL_BEGIN] || r->code[CALL_EXCHANGE] || said->failed)
		return KVP_UNWOUND;
	return said->missing ? KVP_IN_DOUBT : KVP_PUBLISHED;
}

#endif
