/*
 * What backends share: the four-byte pattern of fill and match, the answer of
 * a verb that a backend does not have, and what a wrapper looks like.
 *
 * The byte of a pattern at address x is byte x % 4, little end first, on
 * every machine.
 */
#ifndef KVPLAN_BACKEND_BACKEND_UTIL_H
#define KVPLAN_BACKEND_BACKEND_UTIL_H

#include <kvplan/backend.h>

/*
 * A range cut into whole words of the pattern and what is left at its ends:
 * [address, + head) and [address + head + body, + tail) are shorter than
 * four bytes each, address + head is a multiple of four unless body is 0,
 * and body is a multiple of four.
 *
 *   address   multiple of 4              multiple of 4
 *      |-head-|-------------- body -----------|--tail--|
 */
struct backend_cut {
	uint64_t head;
	uint64_t body;
	uint64_t tail;
};

struct backend_cut backend_cut(uint64_t address, uint64_t bytes);

/* The pattern's byte at an address. */
unsigned char backend_pattern_byte(uint32_t pattern, uint64_t address);

/*
 * Write the pattern of [address, address + bytes) to host memory, and tell
 * how many bytes from the first on agree with it: `bytes` when all do.  The
 * memory need not lie at `address`, nor be aligned.  Writing reads what it
 * wrote.
 */
void backend_pattern_write(void *to, uint64_t address, uint64_t bytes,
			   uint32_t pattern);
uint64_t backend_pattern_same(const void *from, uint64_t address,
			      uint64_t bytes, uint32_t pattern);

/* KVP_EDRIVER: "create: the host backend has no fabric handles". */
int backend_unsupported(const struct kvp_backend *b, const char *call,
			const char *what, struct kvp_error *err);

/* A wrapper has verbs of its own and otherwise looks like what it wraps. */
void backend_wrap(struct kvp_backend *wrapper, const struct kvp_backend *inner,
		  const struct kvp_backend *verbs);

#endif
