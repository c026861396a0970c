/*
 * Loading the CUDA driver's library.  If one call is missing, none is used.
 */
#include "backend/cuda_api.h"

#ifdef KVP_HAVE_CUDA

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Every installed driver has this name on the loader's path. */
#define LIBRARY "libcuda.so.1"

/* dlerror() that never returns NULL. */
static const char *loader_text(void)
{
	const char *text = dlerror();

	return text ? text : "no reason given";
}

/* Write the address of a symbol to *function, a pointer to a function. */
static int find_symbol(void *library, const char *symbol, void *function,
		       struct kvp_error *err)
{
	void *address = dlsym(library, symbol);

	if (!address)
		return kvp_error_set(err, KVP_EUNAVAILABLE,
				     LIBRARY ": too old, it has no %s (%s)",
				     symbol, loader_text());
	/* C has no cast from an object's address to a function's. */
	_Static_assert(sizeof(address) == sizeof(void (*)(void)),
		       "dlsym cannot return functions here");
	memcpy(function, &address, sizeof(address));
	return KVP_OK;
}

int cuda_api_load(struct cuda_api *api, struct kvp_error *err)
{
	static const struct {
		const char *symbol;
		size_t offset;
	} calls[] = {
#define X(name, symbol, type) { symbol, offsetof(struct cuda_api, name) },
#include "backend/cuda_api.def"
#undef X
	};
	struct cuda_api found;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	size_t i;
	int code = KVP_OK;

	if (!library)
		return kvp_error_set(err, KVP_EUNAVAILABLE,
				     "no CUDA driver: looked for " LIBRARY
				     " (%s)", loader_text());
	for (i = 0; !code && i < sizeof(calls) / sizeof(*calls); i++)
		code = find_symbol(library, calls[i].symbol,
				   (char *)&found + calls[i].offset, err);
	if (code) {
		dlclose(library);
		return code;
	}
	/* Never closed: the driver starts threads of its own. */
	*api = found;
	return KVP_OK;
}

int cuda_api_result(const struct cuda_api *api, const char *call,
		    CUresult result, struct kvp_error *err)
{
	const char *name = NULL;
	const char *text = NULL;
	int code = result == CUDA_ERROR_OUT_OF_MEMORY ? KVP_EEXHAUSTED
						      : KVP_EDRIVER;

	if (result == CUDA_SUCCESS)
		return KVP_OK;
	if (api->GetErrorName(result, &name) != CUDA_SUCCESS || !name)
		return kvp_error_set(err, code, "%s: unknown CUDA error %d",
				     call, (int)result);
	if (api->GetErrorString(result, &text) != CUDA_SUCCESS || !text)
		text = "no description";
	return kvp_error_set(err, code, "%s: %s (%s)", call, name, text);
}

#endif
