/*
 * Words between spaces, as the tables of this room hold them, lists in
 * messages, and formulas in the report.
 */
#include <string.h>

#include "import/work.h"

bool word_is_in(const char *words, const char *word)
{
	size_t len = strlen(word), n;
	const char *p;

	for (p = words; len && *p; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if (n == len && !memcmp(p, word, n))
			return true;
	}
	return false;
}

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
	size_t line = im->why.len;
	char *p;

	while (line && im->why.text[line - 1] != '\n')
		line--;
	terms_print(&im->why, terms);
	if (im->why.failed)
		return kvp_error_nomem(err);
	if (terms_evaluate(terms, &value)) {
		*out = value;
		return KVP_OK;
	}
	/* The report is dropped, and the line quoted, as one. */
	for (p = im->why.text + line; *p; p++)
		if (*p == '\n')
			*p = ' ';
	return kvp_error_set(err, KVP_ELIMIT, "%s: more than 9007199254740991 "
		"(2^53 - 1): %s", im->source, im->why.text + line);
}
