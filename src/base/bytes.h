/*
 * Reading sizes such as "2 MiB".
 */
#ifndef KVPLAN_BASE_BYTES_H
#define KVPLAN_BASE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#define BYTES_DECIMALS_MAX 6	/* 10^6 * 1 TiB fits 64 bits */

/*
 * Read a size such as "2 MiB": digits, at most one blank, and one of B, KiB,
 * MiB, GiB, TiB.  Returns KVP_OK; KVP_EINPUT for any other text; KVP_ELIMIT
 * above 2^53 - 1 bytes.  On failure *out is untouched.
 */
int bytes_parse(const char *text, uint64_t *out);

/*
 * As bytes_parse(), and also as sizes are written on a command line: the
 * unit may be missing or shortened to K, M, G or T; before a unit larger
 * than B the number may have six decimals and is rounded down to a byte:
 * "12.8MiB".
 */
int bytes_parse_loose(const char *text, uint64_t *out);

/* Whether a text has more decimals than bytes_parse_loose() accepts. */
bool bytes_has_many_decimals(const char *text);

#endif
