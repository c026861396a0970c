/*
 * The CUDA backend: filling memory, and waiting for the GPUs.
 */
#include "backend/backend_cuda.h"

#ifdef KVP_HAVE_CUDA

#include "backend/backend_util.h"

void cuda_wait_all(struct cuda *c)
{
	struct gpu *g;
	uint32_t i;

	for (i = 0; i < c->base.devices; i++) {
		g = &c->gpus[i];
		if (g->busy && !cuda_enter(c, i, NULL))
			g->busy = LAST(c, NULL, StreamSynchronize,
				       (g->stream)) != KVP_OK;
	}
}

/* Fill single bytes: those before and after whole words. */
static int fill_bytes(struct cuda *c, CUstream stream, uint64_t address,
		      uint64_t bytes, uint32_t pattern, struct kvp_error *err)
{
	uint64_t i;
	int code = KVP_OK;

	for (i = 0; !code && i < bytes; i++)
		code = CALL(c, err, MemsetD8Async,
			    (address + i, backend_pattern_byte(pattern,
							       address + i),
			     1, stream));
	return code;
}

int cuda_fill(struct kvp_backend *b, uint32_t device, uint64_t address,
		     uint64_t bytes, uint32_t pattern, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	struct backend_split cut = backend_split(address, bytes);
	int code = cuda_enter(c, device, err);
	struct gpu *g;

	if (code)
		return code;
	g = gpu_of(c, device);
	g->busy = true;
	code = fill_bytes(c, g->stream, address, cut.head, pattern, err);
	if (!code && cut.body)
		code = CALL(c, err, MemsetD32Async,
			    (address + cut.head, pattern, cut.body / 4,
			     g->stream));
	if (!code)
		code = fill_bytes(c, g->stream, address + cut.head + cut.body,
				  cut.tail, pattern, err);
	return cuda_leave(c, code);
}

/* Wait for all streams of the context, so that pool blocks are freed, too. */
int cuda_synchronize(struct kvp_backend *b, uint32_t device,
		     struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int code = cuda_enter(c, device, err);

	if (!code)
		code = LAST(c, err, CtxSynchronize, ());
	if (!code)
		gpu_of(c, device)->busy = false;
	return code;
}

#endif
