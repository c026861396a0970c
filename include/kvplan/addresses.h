/*
 * Recorded addresses: where planes and arenas lay when a realization was
 * published.  CUDA graphs and exported models hold addresses; a realization
 * that is given these lies where the published one lay, or fails.
 */
#ifndef KVPLAN_ADDRESSES_H
#define KVPLAN_ADDRESSES_H

#include <stddef.h>

#include <kvplan/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVP_CAPACITY_FORMAT "kvplan/capacity/1"

/* For every rank in the file: its planes and its arena. */
struct kvp_addresses;

/*
 * Read the addresses of a published file, or of a text that
 * kvp_realization_write() made, with or without access records.  `source`
 * begins the texts of errors; the text need not end in a zero byte.  On
 * failure *addresses is NULL.
 *
 * Whether they are those of a plan is asked by kvp_realize().
 *
 * Errors: KVP_ESYNTAX, KVP_EINPUT, KVP_ELIMIT, KVP_ENOMEM.
 */
int kvp_addresses_read(struct kvp_addresses **addresses, const char *source,
		       const char *text, size_t len, struct kvp_error *err);

/* NULL is fine. */
void kvp_addresses_free(struct kvp_addresses *addresses);

#ifdef __cplusplus
}
#endif

#endif
