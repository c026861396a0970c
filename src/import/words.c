/*
 * Words between spaces, as the tables of this room hold them.
 */
#include <string.h>

#include "import/import.h"

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
