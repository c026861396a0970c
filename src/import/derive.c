/*
 * The parts of the derivation that are lists.
 */
#include <string.h>

#include "import/work.h"

#define RANGES 60		/* in one line; of what is over, how many layers */

/* "0-2,4-6": the layers from `first` up to `past` that `is` holds for. */
static void ranges(struct import *im, uint64_t first, uint64_t past,
		   bool (*is)(struct layer layer, unsigned kind),
		   unsigned kind)
{
	uint64_t i, from, more = 0;
	unsigned count = 0;

	for (i = first; i < past; i++) {
		if (!is(im->layers[i], kind))
			continue;
		if (++count > RANGES) {
			more++;
			continue;
		}
		for (from = i; i + 1 < past && is(im->layers[i + 1], kind);)
			i++;
		why(im, count > 1 ? ",%llu" : " %llu", (ull)from);
		if (i > from)
			why(im, "-%llu", (ull)i);
	}
	if (more)
		why(im, " and %llu more", (ull)more);
}

#define SHOWN 40		/* bytes of a value */

/* A value as it stands in the config; lists and objects are left out. */
static void value(struct import *im, const char *p)
{
	char text[SHOWN + 1];
	size_t len = *p == '"' ? 1 + strcspn(p + 1, "\"") + 1 :
				 strcspn(p, ",} \t\r\n");
	bool cut;

	if (*p == '[' || *p == '{') {
		why(im, " %s", *p == '[' ? "[...]" : "{...}");
		return;
	}
	cut = len > SHOWN;
	len = cut ? SHOWN : len;
	memcpy(text, p, len);
	text[len] = '\0';
	why(im, " ");
	strbuf_line(&im->why, text);
	if (cut)
		why(im, "...");
}

static void keys_of(struct import *im, const char *prefix)
{
	unsigned count = 0;
	size_t i;

	for (i = 0; i < im->nread; i++) {
		if (strcmp(im->read[i].prefix, prefix))
			continue;
		if (!count++)
			why(im, "keys read%s%s:", *prefix ? " under " : "",
			    prefix);
		why(im, "%s %s", count > 1 ? "," : "", im->read[i].key);
		value(im, im->read[i].p);
	}
	if (count)
		why(im, "\n");
}

void derive_keys(struct import *im)
{
	keys_of(im, "");
	if (*im->prefix)
		keys_of(im, im->prefix);
}

static bool has_attention(struct layer layer, unsigned kind)
{
	return layer.attention == kind;
}

static bool is_recurrent(struct layer layer, unsigned kind)
{
	return layer.recurrent == (kind != 0);
}

static bool is_neither(struct layer layer, unsigned kind)
{
	return !layer.recurrent && layer.attention == kind;
}

void derive_census(struct import *im, const struct census *c, uint64_t first,
		   uint64_t past)
{
	static const char *const names[ATTENTIONS] = {
		[FULL] = "full attention", [SLIDING] = "sliding attention",
		[WINDOW] = "ratio 0, a window alone", [RATIO_4] = "ratio 4",
		[RATIO_128] = "ratio 128",
	};
	unsigned i;

	for (i = 0; i < ATTENTIONS; i++) {
		if (!names[i] || !c->attention[i])
			continue;
		why(im, "  %llu of %s:", (ull)c->attention[i], names[i]);
		ranges(im, first, past, has_attention, i);
		why(im, "\n");
	}
	if (c->recurrent) {
		why(im, "  %llu recurrent:", (ull)c->recurrent);
		ranges(im, first, past, is_recurrent, 1);
		why(im, "\n");
	}
	for (i = 0; first < past; first++)
		i += is_neither(im->layers[first], NO_ATTENTION);
	if (i)
		why(im, "  %u that keep nothing\n", i);
}
