/*
 * Is a plan's geometry one that can be read?  A program may have put it
 * together or changed it, and the rules rely on its ranks, sizes and
 * addresses.  So it is written and read again: the reader refuses what no
 * document may state, and the result has to equal the geometry.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "check/check.h"

/* The first difference. */
struct difference {
	char text[256];
};

static void note_difference(void *cookie, const char *pointer, const char *is,
			    const char *must)
{
	struct difference *d = cookie;

	if (!*d->text)
		snprintf(d->text, sizeof(d->text), "%s is %s, must be %s",
			 pointer, is, must);
}

/* Its recorded chunks are judged with the base layout. */
static int read_again(struct kvp_geometry *again, const struct kvp_geometry *g,
		      struct kvp_error *err)
{
	char *text = NULL;
	size_t len = 0;
	int code = kvp_geometry_write(g, &text, &len, err);

	if (!code)
		code = kvp_geometry_read(again, "the plan's geometry", text,
					 len, err);
	free(text);
	return code && code != KVP_ENOMEM ? kvp_error_wrap(err, KVP_EINPUT,
		"the plan's geometry is none that can be read") : code;
}

int check_geometry_sound(const struct kvp_plan *plan, struct kvp_error *err)
{
	struct kvp_geometry g = plan->geometry, again = { 0 };
	struct difference d = { "" };
	int code;

	if ((unsigned)plan->merge > KVP_MERGE_SPAN)
		return kvp_error_set(err, KVP_EINPUT,
				     "the plan's merge is %d, which is no mode",
				     (int)plan->merge);
	if (g.ranks > KVP_RANKS_MAX)
		return kvp_error_set(err, KVP_EINPUT,
				     "the plan's geometry has %llu ranks",
				     (unsigned long long)g.ranks);
	g.base_chunks = NULL;
	g.nbase_chunks = 0;
	code = read_again(&again, &g, err);
	if (!code && kvp_geometry_compare(&g, &again, note_difference, &d))
		code = kvp_error_set(err, KVP_EINPUT, "the plan's geometry is "
			"none that is read: %s", d.text);
	kvp_geometry_release(&again);
	return code;
}
