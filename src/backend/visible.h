/*
 * GPUs that the CUDA driver shows to this process.
 */
#ifndef KVPLAN_BACKEND_VISIBLE_H
#define KVPLAN_BACKEND_VISIBLE_H

#include <stdint.h>

#include <kvplan/error.h>

/* Count them, without a context on any.  Errors: KVP_EUNAVAILABLE,
   KVP_EDRIVER. */
int visible_gpus(uint32_t *count, struct kvp_error *err);

#endif
