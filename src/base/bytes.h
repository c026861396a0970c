/*
 * Sizes as people write them.
 */
#ifndef KVPLAN_BASE_BYTES_H
#define KVPLAN_BASE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#define BYTES_DECIMALS_MAX 6	/* 10^6 * 1 TiB fits 64 bits */

/*
 * "2 MiB": digits, at most one blank, one of B, KiB, MiB, GiB, TiB.  KVP_OK,
 * KVP_EINPUT where the text is none, KVP_ELIMIT beyond 2^53 - 1; *out is
 * untouched then.
 */
int bytes_parse(const char *text, uint64_t *out);

/*
 * As on a command line: the unit may be left out, cut to K, M, G or T, and
 * up to six decimals of a unit above B are taken, rounded down to a byte:
 * "12.8MiB".
 */
int bytes_parse_loose(const char *text, uint64_t *out);

/* Is it the decimals that bytes_parse_loose() found too many? */
bool bytes_has_many_decimals(const char *text);

#endif
