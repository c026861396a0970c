/*
 * Any text as parts of a joint realization; one ends after a line that is
 * "}".  What joins has addresses that can be read, and the same ranks with
 * access records and without; it is no part itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/kvplan.h>

#include "fuzz/fuzz.h"

#define PARTS_MAX 8

uint64_t fuzz_chunks = 20000;

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz_capacity: %s\n", what);
	abort();
}

/* The length of the first part in a text. */
static size_t find_end(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i + 3 <= len; i++)
		if (!memcmp(text + i, "\n}\n", 3))
			return i + 3;
	return len;
}

static size_t split(struct kvp_capacity_part *parts, const char *text,
		    size_t len)
{
	size_t count = 0, end;

	do {
		end = count + 1 < PARTS_MAX ? find_end(text, len) : len;
		parts[count++] = (struct kvp_capacity_part){ "fuzz", text,
							     end };
		text += end;
		len -= end;
	} while (len);
	return count;
}

static void check_joined(const struct kvp_capacity_part *parts, size_t count,
			 const char *text, size_t len)
{
	struct kvp_capacity_part whole = { "joined", text, len };
	struct kvp_addresses *addresses = NULL;
	char *more = NULL;
	size_t nmore, same = len - strlen("\n}\n");

	must(strlen(text) == len, "a length");
	must(!kvp_addresses_read(&addresses, "joined", text, len, NULL),
	     "what was joined has no addresses");
	kvp_addresses_free(addresses);
	must(!kvp_capacity_join(parts, count, true, &more, &nmore, NULL),
	     "does not join with access records");
	must(nmore > len && !memcmp(more, text, same),
	     "access records change the rest");
	free(more);
	must(kvp_capacity_join(&whole, 1, false, &more, &nmore, NULL) ==
	     KVP_EINPUT, "what was joined is a part");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kvp_capacity_part parts[PARTS_MAX];
	struct kvp_error err = { 0 };
	size_t count = split(parts, (const char *)data, size), len;
	char *text = NULL;
	int code = kvp_capacity_join(parts, count, false, &text, &len, &err);

	if (!code) {
		check_joined(parts, count, text, len);
		free(text);
		return 0;
	}
	must(!text && !len, "refused with a text");
	must(code == KVP_ESYNTAX || code == KVP_EINPUT || code == KVP_ELIMIT,
	     "an unexpected code");
	must(err.text[0] && strlen(err.text) < sizeof(err.text),
	     "refused without a text");
	return 0;
}
