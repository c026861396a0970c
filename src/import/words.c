/*
 * Words between spaces, as the tables of this room hold them, lists in
 * messages, and products.
 */
#include <stdio.h>
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

#define SHOWN 24		/* numbers of a list */

void numbers_add(struct numbers *list, uint64_t value)
{
	size_t room = sizeof(list->text) - list->used;
	char *to = list->text + list->used;

	if (++list->count <= SHOWN)
		list->used += (size_t)snprintf(to, room, "%s%llu",
			list->count > 1 ? ", " : "", (ull)value);
	else if (list->count == SHOWN + 1)
		list->used += (size_t)snprintf(to, room, ", ...");
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
