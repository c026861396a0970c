/*
 * The CUDA driver as a table of functions, found at run time: nothing is
 * linked against it, so a machine without a driver can do everything else.
 */
#ifndef KVPLAN_BACKEND_CUDA_API_H
#define KVPLAN_BACKEND_CUDA_API_H

#include "base/error.h"

#ifdef KVP_HAVE_CUDA

#include <cudaTypedefs.h>

/* One member for every row of cuda_api.def. */
struct cuda_api {
#define X(name, symbol, type) type name;
#include "backend/cuda_api.def"
#undef X
};

/*
 * Find libcuda.so.1 and every call in it.  The library stays loaded for the
 * rest of the process.  On failure *api is untouched.
 * Errors: KVP_EUNAVAILABLE, naming what is missing.
 */
int cuda_api_load(struct cuda_api *api, struct kvp_error *err);

/*
 * Turn a call's result into an error code: KVP_OK, KVP_EEXHAUSTED for out of
 * memory, else KVP_EDRIVER, with a text like
 * "cuMemMap: CUDA_ERROR_INVALID_VALUE (invalid argument)".
 */
int cuda_api_result(const struct cuda_api *api, const char *call,
		    CUresult result, struct kvp_error *err);

#endif
#endif
