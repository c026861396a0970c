/*
 * Words between spaces, as the tables of this room hold them, lists in
 * messages, and products.
 */
#include <string.h>

#include "base/u64.h"
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

int times(const struct import *im, uint64_t *out, const char *what,
	  struct kvp_error *err, const uint64_t *factors, size_t count)
{
	uint64_t product = 1;
	size_t i;

	for (i = 0; i < count; i++)
		if (!u64_mul(product, factors[i], &product) ||
		    product > KVP_NUMBER_MAX)
			return kvp_error_set(err, KVP_ELIMIT,
				"%s: %s: more than 9007199254740991 "
				"(2^53 - 1)", im->source, what);
	*out = product;
	return KVP_OK;
}
