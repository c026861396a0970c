/*
 * What backends share: the four-byte pattern of fill and match, the error of
 * a verb that a backend does not have, and how a wrapper is set up.
 *
 * The byte of a pattern at address x is byte x % 4, little-endian on every
 * machine.
 */
#ifndef KVPLAN_BACKEND_BACKEND_UTIL_H
#define KVPLAN_BACKEND_BACKEND_UTIL_H

#include <kvplan/backend.h>

/*
 * A range, split at multiples of four: head and tail are shorter than four
 * bytes, body is a multiple of four bytes, and address + head is a multiple
 * of four unless body is 0.
 *
 *   address   multiple of 4              multiple of 4
 *      |-head-|-------------- body -----------|--tail--|
 */
struct backend_split {
	uint64_t head;
	uint64_t body;
	uint64_t tail;
};

struct backend_split backend_split(uint64_t address, uint64_t bytes);

/* The pattern's byte at an address. */
unsigned char backend_pattern_byte(uint32_t pattern, uint64_t address);

/*
 * Write the pattern of [address, address + bytes) to host memory; compare
 * host memory with it, and return how many bytes from the first on are equal:
 * `bytes` if all are.  The memory need not lie at `address`, nor be aligned.
 * Writing also reads the memory it has written.
 */
void backend_pattern_write(void *to, uint64_t address, uint64_t bytes,
			   uint32_t pattern);
uint64_t backend_pattern_compare(const void *from, uint64_t address,
				 uint64_t bytes, uint32_t pattern);

/* KVP_EDRIVER: "create: the host backend has no fabric handles". */
int backend_unsupported(const struct kvp_backend *b, const char *call,
			const char *what, struct kvp_error *err);

/* Set up a wrapper: its verbs are those of `verbs`, its other members are
   those of `inner`. */
void backend_wrap(struct kvp_backend *wrapper, const struct kvp_backend *inner,
		  const struct kvp_backend *verbs);

#endif
