/*
 * Recorded addresses: the addresses of planes and arenas in a published
 * realization.  CUDA graphs and exported models contain such addresses.  A
 * later realization that is given them uses the same addresses, or fails.
 */
#ifndef KVPLAN_ADDRESSES_H
#define KVPLAN_ADDRESSES_H

#include <stddef.h>

#include <kvplan/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVP_CAPACITY_FORMAT "kvplan/capacity/1"

/* The addresses of planes and arena, for every rank in the file. */
struct kvp_addresses;

/*
 * Read the addresses from the content of a published file, or from a text
 * that kvp_realization_write() made, with or without access records.
 * `source` is the name with which error texts begin; `text` has `len` bytes
 * and needs no zero at its end.
 *
 * On success free *addresses with kvp_addresses_free().  On failure
 * *addresses is NULL.  kvp_realize() checks that the addresses belong to
 * its plan, this function does not.
 *
 * Errors: KVP_ESYNTAX, KVP_EINPUT, KVP_ELIMIT, KVP_ENOMEM.
 */
int kvp_addresses_read(struct kvp_addresses **addresses, const char *source,
		       const char *text, size_t len, struct kvp_error *err);

/* Free the addresses.  NULL is allowed. */
void kvp_addresses_free(struct kvp_addresses *addresses);

#ifdef __cplusplus
}
#endif

#endif
