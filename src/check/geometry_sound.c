/*
 * Is a plan's geometry sound?  One that was read is.  One that a program has
 * made or changed may have ranks, sizes and addresses that the rules cannot
 * rely on; it is refused if no document could state it.
 */
#include "base/error.h"
#include "check/check.h"
#include "model/geometry_check.h"

int check_geometry_sound(const struct kvp_plan *plan, struct kvp_error *err)
{
	struct kvp_geometry g = plan->geometry;
	int code;

	if ((unsigned)plan->merge > KVP_MERGE_SPAN)
		return kvp_error_set(err, KVP_EINPUT,
				     "the plan's merge is %d, which is no mode",
				     (int)plan->merge);
	/* These are checked with the base layout. */
	g.base_chunks = NULL;
	g.nbase_chunks = 0;
	code = geometry_check_statable(&g, false, err);
	return code == KVP_EINPUT ? kvp_error_wrap(err, code,
		"the plan's geometry cannot be used") : code;
}
