/*
 * A finding as text.
 *
 * Most texts are the place, `what`, the stated number, ", expected" and the
 * expected one.  The rows below are for findings whose stated number stands
 * inside the sentence, or whose other number is not an expected one.  JSON has
 * `what` in all cases.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <kvplan/verify.h>

#include "base/error.h"

static void write_place(const struct kvp_finding *f, char *text, size_t size)
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
	snprintf(text, size, "%s%llu]", list, (ull)f->index);
}

struct sentence {
	const char *what;	/* the finding's */
	const char *before;	/* text before the stated number */
	const char *behind;	/* text behind it */
	const char *then;	/* text before the expected number; NULL:
				   ", expected " */
};

static const struct sentence sentences[] = {
	{ "names a plane that is not there", "is of plane ", "",
	  "; the last plane is " },
	{ "is unaliased amid aliased ones:", "is unaliased (", ") and listed "
	  "among aliased chunks", NULL },
	{ "is unaliased, listed late, of plane", "is unaliased and listed "
	  "late: it is of plane ", "", ", after a chunk of plane " },
	{ "is unaliased, listed late, at byte", "is unaliased and listed "
	  "late: it begins at byte ", "", ", after a chunk that ends at " },
	{ "is listed late, with arena place", "is listed late: it begins in "
	  "the arena at byte ", "", ", after a chunk that begins at " },
	{ "chunks have bytes in all", "chunks have ", " bytes in all", NULL },
	{ "has bytes", "has ", " bytes", NULL },
	{ "has chunks", "has ", " chunks", NULL },
	{ "has readers", "has ", " readers", NULL },
	{ "planes and arena take bytes of addresses:", "planes and arena take ",
	  " bytes of addresses", NULL },
	{ "cuts a base chunk, beginning at byte", "begins at byte ", "",
	  ", inside the base chunk that begins at " },
	{ "cuts a base chunk, ending at byte", "ends at byte ", "",
	  ", inside the base chunk that ends at " },
	{ "is aliased where the base differs", "is aliased: ", "",
	  "; in the base layout: " },
	{ "is unaliased, of base chunks", "is unaliased and made of ",
	  " base chunks", NULL },
	{ "holds base chunks", "holds ", " base chunks", NULL },
	{ "merges base chunks", "merges ", " base chunks", NULL },
	{ "ranges of conflicting pages", "conflicts with ", " ranges of pages",
	  NULL },
	{ "states ranges of pages", "states ", " ranges of pages", NULL },
	{ "states ranges beyond the pool", "states ", " ranges, more than the "
	  "plan lists", NULL },
	{ "lists rows", "lists ", " rows", NULL },
	{ "lists the access of ranks", "lists the access of ", " ranks", NULL },
	{ "states entries of ranks", "states the entries of ", " ranks", NULL },
	{ "states entries of nodes", "states the entries of ", " nodes", NULL },
	{ "states entries", "states ", " entries", NULL },
	{ "is not judged: failed rules it needs", "is not judged: ", " of the "
	  "rules that it needs failed", NULL },
};

static struct sentence find_sentence(const struct kvp_finding *f)
{
	size_t i;

	for (i = 0; i < sizeof(sentences) / sizeof(*sentences); i++)
		if (!strcmp(sentences[i].what, f->what))
			return sentences[i];
	return (struct sentence){ f->what, f->what, "", NULL };
}

size_t kvp_finding_text(const struct kvp_finding *finding, char *text,
			size_t size)
{
	static const char *const relations[] = {
		[KVP_EXACTLY] = "", [KVP_AT_MOST] = "at most ",
		[KVP_AT_LEAST] = "at least ",
	};
	const char *relation = "?";
	struct sentence s;
	char place[40];
	int len;

	assert(finding && finding->what && (text || !size));
	if ((unsigned)finding->relation <= KVP_AT_LEAST)
		relation = relations[finding->relation];
	write_place(finding, place, sizeof(place));
	s = find_sentence(finding);
	len = snprintf(text, size, "%s: %s: %s%s%llu%s%s%s%llu",
		       kvp_rule_name(finding->rule), place, s.before,
		       s.before == finding->what ? " " : "",
		       (ull)finding->stated,
		       s.behind, s.then ? s.then : ", expected ",
		       s.then ? "" : relation, (ull)finding->expected);
	return len < 0 ? 0 : (size_t)len;
}
