/*
 * Opening and closing the CUDA backend: the driver is loaded, the GPUs are
 * selected, their primary contexts are retained.
 */
#include <kvplan/backend.h>

#include "base/error.h"
#include "backend/backend_cuda.h"
#include "backend/visible.h"

#ifdef KVP_HAVE_CUDA

#include <inttypes.h>
#include <stdlib.h>

#define MAPS CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
#define RDMA CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED

/* Also closes a backend whose opening failed. */
void cuda_close(struct kvp_backend *b)
{
	struct cuda *c = cuda_of(b);
	uint32_t i;

	cuda_wait_all(c);
	cuda_pools_release(c);
	if ((c->buffers[0] || c->buffers[1]) && !cuda_enter(c, 0, NULL)) {
		for (i = 0; i < 2; i++)
			if (c->buffers[i])
				(void)c->api.MemFreeHost(c->buffers[i]);
		cuda_leave(c, KVP_OK);
	}
	for (i = 0; i < c->base.devices; i++) {
		if (c->gpus[i].stream && !cuda_enter(c, i, NULL)) {
			if (c->gpus[i].module)
				(void)c->api.ModuleUnload(c->gpus[i].module);
			(void)c->api.StreamDestroy(c->gpus[i].stream);
			cuda_leave(c, KVP_OK);
		}
		if (c->gpus[i].context)
			(void)c->api.DevicePrimaryCtxRelease(c->gpus[i].device);
	}
	cuda_shares_release(c);
	free(c->blocks);
	free(c->parts);
	free(c->descs);
	free(c->gpus);
	free(c);
}

/* Read the granularity and create the stream for fills; both need the
   context. */
static int open_stream(struct cuda *c, uint32_t device, struct kvp_error *err)
{
	struct gpu *g = gpu_of(c, device);
	CUmemAllocationProp prop = cuda_allocation(g);
	size_t granularity = 0;
	int code = cuda_enter(c, device, err);

	if (code)
		return code;
	code = CALL(c, err, MemGetAllocationGranularity,
		    (&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	if (!code)
		code = CALL(c, err, StreamCreate, (&g->stream,
						   CU_STREAM_NON_BLOCKING));
	cuda_leave(c, code);
	g->granularity = granularity;
	if (!c->granularity || granularity < c->granularity)
		c->granularity = granularity;
	return code;
}

static int open_gpu(struct cuda *c, uint32_t device, uint32_t ordinal,
		    struct kvp_error *err)
{
	struct gpu *g = gpu_of(c, device);
	int maps = 0;
	int rdma = 0;
	int code = CALL(c, err, DeviceGet, (&g->device, (int)ordinal));

	if (!code)
		code = CALL(c, err, DeviceGetAttribute, (&maps, MAPS,
							 g->device));
	if (!code && !maps)
		code = kvp_error_set(err, KVP_EUNAVAILABLE, "GPU %" PRIu32
				     " has no virtual memory management",
				     ordinal);
	/* Drivers before CUDA 11.3 do not know this attribute: no RDMA. */
	if (!code && !c->api.DeviceGetAttribute(&rdma, RDMA, g->device))
		g->rdma = rdma != 0;
	if (!code)
		code = CALL(c, err, DevicePrimaryCtxRetain, (&g->context,
							     g->device));
	return code ? code : open_stream(c, device, err);
}

/* Count the GPUs.  A driver that does not start is KVP_EUNAVAILABLE. */
static int count_gpus(struct cuda *c, uint32_t *count, struct kvp_error *err)
{
	int found = 0;
	int code = CALL(c, err, Init, (0));

	if (code)
		return kvp_error_recode(err, KVP_EUNAVAILABLE);
	code = CALL(c, err, DeviceGetCount, (&found));
	if (!code && found <= 0)
		code = kvp_error_set(err, KVP_EUNAVAILABLE, "cuDeviceGetCount:"
				     " the CUDA driver shows no GPU");
	if (!code)
		*count = (uint32_t)found;
	return code;
}

int visible_gpus(uint32_t *count, struct kvp_error *err)
{
	struct cuda c = { .gpus = NULL };
	int code = cuda_api_load(&c.api, err);

	return code ? code : count_gpus(&c, count, err);
}

static int check_ordinals(const uint32_t *ordinals, size_t count,
			  uint32_t found, struct kvp_error *err)
{
	size_t i, j;

	for (i = 0; i < count; i++) {
		if (ordinals[i] >= found)
			return kvp_error_set(err, KVP_EINPUT, "no GPU %" PRIu32
					     ": the CUDA driver shows %" PRIu32
					     ", the first is 0", ordinals[i],
					     found);
		for (j = 0; j < i; j++)
			if (ordinals[j] == ordinals[i])
				return kvp_error_set(err, KVP_EINPUT, "GPU %"
						     PRIu32 " is given twice",
						     ordinals[i]);
	}
	return KVP_OK;
}

static int open_all(struct cuda *c, const uint32_t *ordinals, size_t count,
		    struct kvp_error *err)
{
	uint32_t found = 0;
	uint32_t i;
	int code = cuda_api_load(&c->api, err);

	if (!code)
		code = count_gpus(c, &found, err);
	if (!code)
		code = check_ordinals(ordinals, count, found, err);
	if (code)
		return code;
	if (count)
		found = (uint32_t)count;
	c->gpus = calloc(found, sizeof(*c->gpus));
	if (!c->gpus)
		return kvp_error_nomem(err);
	c->base.devices = found;
	for (i = 0; !code && i < found; i++)
		code = open_gpu(c, i, count ? ordinals[i] : i, err);
	return code;
}

int kvp_backend_cuda(struct kvp_backend **b, const uint32_t *devices,
		     size_t count, struct kvp_error *err)
{
	struct cuda *c;
	int code;

	assert(b && (devices || !count));
	*b = NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return kvp_error_nomem(err);
	c->base = cuda_backend;
	kvp_backend_complete(&c->base);
	code = open_all(c, devices, count, err);
	if (code)
		cuda_close(&c->base);
	else
		*b = &c->base;
	return code;
}

#else

static int fail_unbuilt(struct kvp_error *err)
{
	return kvp_error_set(err, KVP_EUNAVAILABLE, "built without the CUDA"
			     " headers cuda.h and cudaTypedefs.h");
}

int visible_gpus(uint32_t *count, struct kvp_error *err)
{
	(void)count;
	return fail_unbuilt(err);
}

int kvp_backend_cuda(struct kvp_backend **b, const uint32_t *devices,
		     size_t count, struct kvp_error *err)
{
	*b = NULL;
	(void)devices;
	(void)count;
	return fail_unbuilt(err);
}

#endif
