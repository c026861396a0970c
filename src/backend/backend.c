/*
 * What all backends share.  Knows no memory system; see backend_util.h.
 */
#include "backend/backend_util.h"

#include <string.h>

#include "base/error.h"
#include "base/u64.h"
#include "backend/verbs.def"

/* So small that it stays in the first cache levels while it is copied. */
#define WRITE_BLOCK (UINT64_C(64) << 10)

/* Words that are compared at once. */
#define SAME_WORDS 32

void kvp_backend_close(struct kvp_backend *b)
{
	if (b)
		b->close(b);
}

int backend_unsupported(const struct kvp_backend *b, const char *call,
			const char *what, struct kvp_error *err)
{
	return kvp_error_set(err, KVP_EDRIVER, "%s: the %s backend has no %s",
			     call, b->name, what);
}

void backend_wrap(struct kvp_backend *wrapper, const struct kvp_backend *inner,
		  const struct kvp_backend *verbs)
{
	*wrapper = *inner;
	wrapper->device = verbs->device;
	wrapper->mapping = verbs->mapping;
	wrapper->pool = verbs->pool;
	wrapper->close = verbs->close;
}

/* --- the list of verbs --- */

#define VERB_NUMBER(op, ...) NUMBER_##op,
#define VERB_BIT(op, ...) \
	_Static_assert(KVP_OP_##op == 1 << NUMBER_##op, "bits as the rows");

enum { BACKEND_VERBS(VERB_NUMBER) VERBS };
BACKEND_VERBS(VERB_BIT)

#define SLOTS ((sizeof(struct kvp_device_ops) +				\
		sizeof(struct kvp_mapping_ops) +			\
		sizeof(struct kvp_pool_ops)) / sizeof(void (*)(void)))

_Static_assert(VERBS == 22 && SLOTS == 22 && KVP_OP_ALL == (1 << 22) - 1,
	       "a verb is a slot, an op bit and a row in verbs.def");

/* Marks the arguments of a missing verb as used. */
static void ignore_arguments(const struct kvp_backend *b, ...)
{
	(void)b;
}

#define MISSING_VERB(op, table, verb, parameters, arguments, ...)	\
	static int missing_##verb(struct kvp_backend *b, LIST parameters, \
				  struct kvp_error *err)		\
	{								\
		ignore_arguments(b, LIST arguments);			\
		return backend_unsupported(b, #verb, "such call", err);	\
	}
#define MISSING_SLOT(op, table, verb, ...) \
	if (!b->table.verb) \
		b->table.verb = missing_##verb;

BACKEND_VERBS(MISSING_VERB)

void kvp_backend_complete(struct kvp_backend *b)
{
	BACKEND_VERBS(MISSING_SLOT)
}

/* --- patterns --- */

struct backend_split backend_split(uint64_t address, uint64_t bytes)
{
	struct backend_split cut;

	cut.head = u64_min((4 - address % 4) % 4, bytes);
	cut.tail = (bytes - cut.head) % 4;
	cut.body = bytes - cut.head - cut.tail;
	return cut;
}

unsigned char backend_pattern_byte(uint32_t pattern, uint64_t address)
{
	return (unsigned char)(pattern >> address % 4 * 8 & 0xff);
}

/*
 * Write four bytes, double them up to one block, then copy block after block:
 * memcpy is as fast as memset and needs no aligned words.  Every copy begins
 * a multiple of four bytes after `to`, so the pattern continues.
 */
void backend_pattern_write(void *to, uint64_t address, uint64_t bytes,
			   uint32_t pattern)
{
	unsigned char *p = to;
	uint64_t done, n;

	for (done = 0; done < bytes && done < 4; done++)
		p[done] = backend_pattern_byte(pattern, address + done);
	for (; done < bytes; done += n) {
		n = u64_min(u64_min(done, WRITE_BLOCK), bytes - done);
		memcpy(p + done, p, (size_t)n);
	}
}

/* There is no branch in the loop, so that compilers vectorize it. */
static bool are_words_equal(const unsigned char *p, uint64_t word)
{
	uint64_t differ = 0, each;
	size_t i;

	for (i = 0; i < SAME_WORDS; i++) {
		memcpy(&each, p + i * sizeof(each), sizeof(each));
		differ |= each ^ word;
	}
	return !differ;
}

uint64_t backend_pattern_compare(const void *from, uint64_t address,
				 uint64_t bytes, uint32_t pattern)
{
	const uint64_t block = SAME_WORDS * sizeof(uint64_t);
	const unsigned char *p = from;
	uint64_t done = 0, word;

	backend_pattern_write(&word, address, sizeof(word), pattern);
	while (bytes - done >= block && are_words_equal(p + done, word))
		done += block;
	while (done < bytes &&
	       p[done] == backend_pattern_byte(pattern, address + done))
		done++;
	return done;
}
