/*
 * The CUDA backend's data: filling, comparing, waiting.
 */
#include "realize/backend_cuda.h"

#ifdef KVP_HAVE_CUDA

#include "base/u64.h"
#include "realize/backend_util.h"

/* A buffer to compare; large enough that a copy runs at full speed. */
#define BUFFER_BYTES (UINT64_C(16) << 20)

void cuda_settle(struct cuda *c)
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

/* Fill single bytes: what lies before and after whole words. */
static int fill_bytes(struct cuda *c, CUstream stream, uint64_t address,
		      uint64_t bytes, uint32_t pattern, struct kvp_error *err)
{
	uint64_t i;
	int rc = KVP_OK;

	for (i = 0; !rc && i < bytes; i++)
		rc = CALL(c, err, MemsetD8Async,
			  (address + i, backend_pattern_byte(pattern,
							     address + i),
			   1, stream));
	return rc;
}

int cuda_fill(struct kvp_backend *b, uint32_t device, uint64_t address,
		     uint64_t bytes, uint32_t pattern, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	struct gpu *g = gpu_of(c, device);
	struct backend_cut cut = backend_cut(address, bytes);
	int rc = cuda_enter(c, device, err);

	if (rc)
		return rc;
	g->busy = true;
	rc = fill_bytes(c, g->stream, address, cut.head, pattern, err);
	if (!rc && cut.body)
		rc = CALL(c, err, MemsetD32Async,
			  (address + cut.head, pattern, cut.body / 4,
			   g->stream));
	if (!rc)
		rc = fill_bytes(c, g->stream, address + cut.head + cut.body,
				cut.tail, pattern, err);
	return cuda_leave(c, rc);
}

/* Compare each piece while the next one is on its way. */
static int match_pieces(struct cuda *c, CUstream stream, uint64_t address,
			uint64_t bytes, uint32_t pattern, uint64_t *same,
			struct kvp_error *err)
{
	uint64_t asked = u64_min(bytes, BUFFER_BYTES);
	uint64_t here, next, good;
	unsigned which = 0;
	int rc;

	*same = 0;
	rc = CALL(c, err, MemcpyDtoHAsync,
		  (c->buffers[0], address, asked, stream));
	while (!rc && *same < bytes) {
		rc = CALL(c, err, StreamSynchronize, (stream));
		here = asked - *same;
		next = u64_min(bytes - asked, BUFFER_BYTES);
		if (!rc && next)
			rc = CALL(c, err, MemcpyDtoHAsync,
				  (c->buffers[!which], address + asked, next,
				   stream));
		if (rc)
			break;
		good = backend_pattern_same(c->buffers[which],
					    address + *same, here, pattern);
		*same += good;
		if (good < here)
			break;
		asked += next;
		which = !which;
	}
	return rc;
}

/* Both buffers, taken when first needed: a run without checks has none. */
static int want_buffers(struct cuda *c, struct kvp_error *err)
{
	size_t i;
	int rc = KVP_OK;

	for (i = 0; !rc && i < 2; i++)
		if (!c->buffers[i])
			rc = CALL(c, err, MemHostAlloc,
				  (&c->buffers[i], BUFFER_BYTES,
				   CU_MEMHOSTALLOC_PORTABLE));
	return rc;
}

int cuda_match(struct kvp_backend *b, uint32_t device, uint64_t address,
		      uint64_t bytes, uint32_t pattern, uint64_t *same_bytes,
		      struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	struct gpu *g = gpu_of(c, device);
	uint64_t same = 0;
	int rc;

	assert(same_bytes);
	if (!bytes) {
		*same_bytes = 0;
		return KVP_OK;
	}
	rc = cuda_enter(c, device, err);
	if (rc)
		return rc;
	g->busy = true;
	rc = want_buffers(c, err);
	if (!rc)
		rc = match_pieces(c, g->stream, address, bytes, pattern, &same,
				  err);
	/* A copy ahead may still be writing into its buffer. */
	if (rc || same < bytes)
		g->busy = CALL(c, NULL, StreamSynchronize, (g->stream)) != 0;
	else
		g->busy = false;
	cuda_leave(c, rc);
	if (!rc)
		*same_bytes = same;
	return rc;
}

int cuda_synchronize(struct kvp_backend *b, uint32_t device,
			    struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int rc = cuda_enter(c, device, err);

	if (!rc)
		rc = LAST(c, err, CtxSynchronize, ());
	if (!rc)
		gpu_of(c, device)->busy = false;
	return rc;
}

#endif
