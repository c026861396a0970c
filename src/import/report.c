/*
 * The report: the layers of each kind, the keys that were read, lists of
 * numbers, and formulas.
 */
#include <string.h>

#include "import/import.h"

#define RANGES 60		/* of a line; then the number of other layers */

/* Kinds beside those of enum attention; NO_ATTENTION: keeps nothing. */
#define RECURRENT ATTENTIONS

static bool is_kind(struct layer layer, unsigned kind)
{
	if (kind == RECURRENT)
		return layer.recurrent;
	return layer.attention == kind &&
	       (kind != NO_ATTENTION || !layer.recurrent);
}

/* "0-2,4-6": the layers of this kind, from `first` up to `past`. */
static void report_ranges(struct import *im, uint64_t first, uint64_t past,
			  unsigned kind)
{
	uint64_t i, from, more = 0;
	unsigned count = 0;

	for (i = first; i < past; i++) {
		if (!is_kind(im->layers[i], kind))
			continue;
		if (++count > RANGES) {
			more++;
			continue;
		}
		for (from = i; i + 1 < past && is_kind(im->layers[i + 1],
						       kind);)
			i++;
		report(im, count > 1 ? ",%llu" : " %llu", (ull)from);
		if (i > from)
			report(im, "-%llu", (ull)i);
	}
	if (more)
		report(im, " and %llu more", (ull)more);
}

#define SHOWN 40		/* bytes of a value that are printed */

/* A value as in the config; of a list or an object only the brackets. */
static void report_value(struct import *im, const char *p)
{
	char text[SHOWN + 1];
	size_t len = *p == '"' ? 1 + strcspn(p + 1, "\"") + 1 :
				 strcspn(p, ",} \t\r\n");
	bool cut;

	if (*p == '[' || *p == '{') {
		report(im, " %s", *p == '[' ? "[...]" : "{...}");
		return;
	}
	cut = len > SHOWN;
	len = cut ? SHOWN : len;
	memcpy(text, p, len);
	text[len] = '\0';
	report(im, " ");
	strbuf_line(&im->report, text);
	if (cut)
		report(im, "...");
}

static void report_keys_under(struct import *im, const char *prefix)
{
	unsigned count = 0;
	size_t i;

	for (i = 0; i < im->nread; i++) {
		if (strcmp(im->read[i].prefix, prefix))
			continue;
		if (!count++)
			report(im, "keys read%s%s:", *prefix ? " under " : "",
			       prefix);
		report(im, "%s %s", count > 1 ? "," : "", im->read[i].key);
		report_value(im, im->read[i].p);
	}
	if (count)
		report(im, "\n");
}

void report_keys(struct import *im)
{
	report_keys_under(im, "");
	if (*im->prefix)
		report_keys_under(im, im->prefix);
}

void report_layers(struct import *im, uint64_t first, uint64_t past)
{
	static const char *const names[] = {
		[FULL] = "of full attention", [SLIDING] = "of sliding "
		"attention",
		[WINDOW] = "of ratio 0, a window alone",
		[RATIO_4] = "of ratio 4", [RATIO_128] = "of ratio 128",
		[RECURRENT] = "recurrent"
	};
	uint64_t count[RECURRENT + 1] = { 0 }, i;
	unsigned kind;

	for (i = first; i < past; i++)
		for (kind = 0; kind <= RECURRENT; kind++)
			count[kind] += is_kind(im->layers[i], kind);
	for (kind = FULL; kind <= RECURRENT; kind++) {
		if (!count[kind])
			continue;
		report(im, "  %llu %s:", (ull)count[kind], names[kind]);
		report_ranges(im, first, past, kind);
		report(im, "\n");
	}
	if (count[NO_ATTENTION])
		report(im, "  %llu that keep nothing\n",
		       (ull)count[NO_ATTENTION]);
}

/* --- numbers in messages, and formulas --- */

void numbers_add(struct numbers *numbers, uint64_t value)
{
	if (!numbers->list.text)
		text_list_begin(&numbers->list, numbers->text,
				sizeof(numbers->text), ", ");
	text_list_add(&numbers->list, 1, "%llu", (ull)value);
}

const char *numbers_text(struct numbers *numbers)
{
	if (numbers->list.text)
		text_list_end(&numbers->list);
	return numbers->text;
}

int compute(struct import *im, uint64_t *out, struct kvp_error *err,
	    const struct term *terms)
{
	uint64_t value;
	size_t line = im->report.len;
	char *p;

	while (line && im->report.text[line - 1] != '\n')
		line--;
	terms_print(&im->report, terms);
	if (im->report.failed)
		return kvp_error_nomem(err);
	if (terms_evaluate(terms, &value)) {
		*out = value;
		return KVP_OK;
	}
	/* The error quotes the line; the report is dropped. */
	for (p = im->report.text + line; *p; p++)
		if (*p == '\n')
			*p = ' ';
	return kvp_error_set(err, KVP_ELIMIT, "%s: more than 9007199254740991 "
		"(2^53 - 1): %s", im->source, im->report.text + line);
}
