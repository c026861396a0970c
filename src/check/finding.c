/*
 * A finding as text.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include <kvplan/verify.h>

static void place_text(const struct kvp_finding *f, char *text, size_t size)
{
	const char *list = "?[";

	switch (f->place) {
	case KVP_AT_PLAN:
		snprintf(text, size, "plan");
		return;
	case KVP_AT_CHUNK:
		list = "chunks[";
		break;
	case KVP_AT_PLANE:
		list = "planes[";
		break;
	case KVP_AT_ROW:
		list = "rows[";
		break;
	case KVP_AT_RANK:
		list = "ranks[";
		break;
	case KVP_AT_NODE:
		list = "nodes[";
		break;
	}
	snprintf(text, size, "%s%" PRIu64 "]", list, f->index);
}

size_t kvp_finding_text(const struct kvp_finding *finding, char *text,
			size_t size)
{
	static const char *const relations[] = {
		[KVP_EXACTLY] = "", [KVP_AT_MOST] = "at most ",
		[KVP_AT_LEAST] = "at least ",
	};
	const char *relation = "?";
	char place[40];
	int len;

	assert(finding && finding->what && (text || !size));
	if ((unsigned)finding->relation <= KVP_AT_LEAST)
		relation = relations[finding->relation];
	place_text(finding, place, sizeof(place));
	len = snprintf(text, size, "%s: %s: %s %" PRIu64 ", expected %s%" PRIu64,
		       kvp_rule_name(finding->rule), place, finding->what,
		       finding->stated, relation,
		       finding->expected);
	return len < 0 ? 0 : (size_t)len;
}
