/*
 * The CUDA driver as a backend.  It owns, per GPU, a hold on the primary
 * context and one stream, and two pinned host buffers for comparing; what it
 * maps belongs to the caller.  It promises to leave the thread's current
 * context as it was and to wait for its own fills before it unmaps.  It
 * knows nothing of plans.
 */
#include <kvplan/backend.h>

#include "realize/backend_util.h"
#include "realize/cuda_api.h"

#ifdef KVP_HAVE_CUDA

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/u64.h"

/* A buffer to compare; large enough that a copy runs at full speed. */
#define BUFFER_BYTES (UINT64_C(16) << 20)

/* CU_MEM_HANDLE_TYPE_FABRIC, which older headers do not have. */
#define HANDLE_TYPE_FABRIC 8

#define MAPS CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
#define RDMA CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED

_Static_assert((int)KVP_NO_ACCESS == (int)CU_MEM_ACCESS_FLAGS_PROT_NONE &&
	       (int)KVP_READ == (int)CU_MEM_ACCESS_FLAGS_PROT_READ &&
	       (int)KVP_READWRITE == (int)CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	       "enum kvp_flags holds the driver's own values");
_Static_assert(sizeof(CUdeviceptr) == sizeof(uint64_t) &&
	       sizeof(CUmemGenericAllocationHandle) == sizeof(kvp_handle) &&
	       sizeof(size_t) == sizeof(uint64_t),
	       "addresses, handles and lengths are 64 bits");

struct gpu {
	CUdevice device;
	CUcontext context;	/* NULL: not held */
	CUstream stream;
	uint64_t granularity;
	bool rdma;
	bool busy;		/* fills or copies may still run */
};

struct cuda {
	struct kvp_backend base;
	struct cuda_api api;
	struct gpu *gpus;	/* [base.devices] */
	uint64_t granularity;	/* the smallest */
	void *buffers[2];	/* NULL until something is compared */
	CUmemAccessDesc *descs;	/* room for one grant call */
	size_t descs_room;
};

/* One driver call; its text names it as the driver's manual does. */
#define CALL(c, err, name, args) \
	cuda_api_result(&(c)->api, "cu" #name, (c)->api.name args, (err))
/* One that ends what enter() began. */
#define LAST(c, err, name, args) leave((c), CALL(c, err, name, args))

static struct cuda *cuda_of(struct kvp_backend *b)
{
	return (struct cuda *)b;
}

static struct gpu *gpu_of(struct cuda *c, uint32_t device)
{
	assert(device < c->base.devices);
	return &c->gpus[device];
}

/* Make a GPU's context current, and make the caller's current again. */
static int enter(struct cuda *c, uint32_t device, struct kvp_error *err)
{
	return CALL(c, err, CtxPushCurrent, (gpu_of(c, device)->context));
}

/* For a call on a range of addresses, which is no GPU's. */
static int enter_range(struct cuda *c, uint64_t address, uint64_t bytes,
		       struct kvp_error *err)
{
	assert(bytes && address % c->granularity == 0 &&
	       bytes % c->granularity == 0);
	return enter(c, 0, err);
}

static int leave(struct cuda *c, int rc)
{
	CUcontext own;

	/* May repeat what asynchronous work met; whoever waits hears it. */
	(void)c->api.CtxPopCurrent(&own);
	return rc;
}

/*
 * Wait for whatever still runs: the driver does not before it unmaps, and a
 * GPU that works where nothing is mapped loses its context.  What the work
 * met is not the unmap's error.
 */
static void settle(struct cuda *c)
{
	struct gpu *g;
	uint32_t i;

	for (i = 0; i < c->base.devices; i++) {
		g = &c->gpus[i];
		if (g->busy && !enter(c, i, NULL))
			g->busy = LAST(c, NULL, StreamSynchronize,
				       (g->stream)) != KVP_OK;
	}
}

/* "GPU-" and the 16 bytes as 8-4-4-4-12 digits. */
static void uuid_text(char *text, size_t room, const CUuuid *uuid)
{
	size_t used = (size_t)snprintf(text, room, "GPU");
	size_t i;

	for (i = 0; i < sizeof(uuid->bytes) && used < room; i++)
		used += (size_t)snprintf(text + used, room - used, "%s%02x",
					 i == 0 || i == 4 || i == 6 ||
					 i == 8 || i == 10 ? "-" : "",
					 (unsigned)uuid->bytes[i] & 0xff);
}

static int cuda_device(struct kvp_backend *b, uint32_t device,
		       struct kvp_device_info *info, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	struct gpu *g = gpu_of(c, device);
	struct kvp_device_info found = { .granularity = g->granularity };
	size_t total;
	CUuuid uuid;
	int version;
	int rc;

	assert(info);
	rc = CALL(c, err, DeviceGetName, (found.name, sizeof(found.name),
					  g->device));
	if (!rc)
		rc = CALL(c, err, DeviceGetUuid, (&uuid, g->device));
	if (!rc)
		rc = CALL(c, err, DeviceTotalMem, (&total, g->device));
	if (!rc)
		rc = CALL(c, err, DriverGetVersion, (&version));
	if (rc)
		return rc;
	uuid_text(found.uuid, sizeof(found.uuid), &uuid);
	snprintf(found.driver, sizeof(found.driver), "CUDA driver API %d.%d",
		 version / 1000, version % 1000 / 10);
	found.total_bytes = total;
	*info = found;
	return KVP_OK;
}

static int cuda_peer(struct kvp_backend *b, uint32_t device, uint32_t owner,
		     bool *can, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int answer = 1;
	int rc = KVP_OK;

	assert(can);
	/* The driver denies that a GPU is its own peer. */
	if (device != owner)
		rc = CALL(c, err, DeviceCanAccessPeer,
			  (&answer, gpu_of(c, device)->device,
			   gpu_of(c, owner)->device));
	if (!rc)
		*can = answer != 0;
	return rc;
}

static int cuda_memory(struct kvp_backend *b, uint32_t device,
		       uint64_t *free_bytes, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	size_t available, total;
	int rc;

	assert(free_bytes);
	rc = enter(c, device, err);
	if (!rc)
		rc = LAST(c, err, MemGetInfo, (&available, &total));
	if (!rc)
		*free_bytes = available;
	return rc;
}

/* Give back what the driver offers instead of a wanted address. */
static int refuse_place(struct cuda *c, uint64_t got, uint64_t bytes,
			uint64_t wanted, struct kvp_error *err)
{
	int rc = c->base.ops->unreserve(&c->base, got, bytes, err);

	if (rc)
		return kvp_error_wrap(err, rc, "0x%" PRIx64 " is not free, and"
				      " cannot give back 0x%" PRIx64, wanted,
				      got);
	return kvp_error_set(err, KVP_EDRIVER, "cuMemAddressReserve: 0x%"
			     PRIx64 " is not free, the driver offers 0x%"
			     PRIx64, wanted, got);
}

static int cuda_reserve(struct kvp_backend *b, uint64_t bytes, uint64_t wanted,
			uint64_t *address, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	CUdeviceptr got;
	int rc = enter_range(c, wanted, bytes, err);

	assert(address);
	if (!rc)
		rc = LAST(c, err, MemAddressReserve,
			  (&got, bytes, 0, wanted, 0));
	/* A taken address is no error to the driver: it picks another. */
	if (!rc && wanted && got != wanted)
		rc = refuse_place(c, got, bytes, wanted, err);
	if (!rc)
		*address = got;
	return rc;
}

static int cuda_unreserve(struct kvp_backend *b, uint64_t address,
			  uint64_t bytes, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int rc = enter_range(c, address, bytes, err);

	return rc ? rc : LAST(c, err, MemAddressFree, (address, bytes));
}

/* A plain allocation in a GPU's memory. */
static CUmemAllocationProp allocation(const struct gpu *g)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED };

	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = g->device;
	return prop;
}

static CUmemAllocationHandleType handle_type(enum kvp_handle_type type)
{
	switch (type) {
	case KVP_HANDLE_NONE:
		break;
	case KVP_HANDLE_POSIX_FD:
		return CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	case KVP_HANDLE_FABRIC:
		return (CUmemAllocationHandleType)HANDLE_TYPE_FABRIC;
	}
	return (CUmemAllocationHandleType)0;
}

static int cuda_create(struct kvp_backend *b, const struct kvp_create *what,
		       kvp_handle *handle, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	CUmemGenericAllocationHandle created;
	CUmemAllocationProp prop;
	struct gpu *g;
	int rc;

	assert(what && handle && what->bytes &&
	       what->bytes % c->granularity == 0);
	g = gpu_of(c, what->device);
	/* The driver would create it all the same, of no use to RDMA. */
	if (what->rdma && !g->rdma)
		return kvp_error_set(err, KVP_EDRIVER, "cuMemCreate: GPU %"
				     PRIu32 " has no GPUDirect RDMA for mapped"
				     " memory", what->device);
	prop = allocation(g);
	prop.requestedHandleTypes = handle_type(what->handle_type);
	prop.allocFlags.gpuDirectRDMACapable = what->rdma;
	rc = enter(c, what->device, err);
	if (!rc)
		rc = LAST(c, err, MemCreate,
			  (&created, what->bytes, &prop, 0));
	if (!rc)
		*handle = created;
	return rc;
}

static int cuda_release(struct kvp_backend *b, kvp_handle handle,
			struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int rc = enter(c, 0, err);

	return rc ? rc : LAST(c, err, MemRelease, (handle));
}

static int cuda_map(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		    kvp_handle handle, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int rc = enter_range(c, address, bytes, err);

	return rc ? rc : LAST(c, err, MemMap, (address, bytes, 0, handle,
						   0));
}

static int cuda_unmap(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		      struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int rc;

	settle(c);
	rc = enter_range(c, address, bytes, err);
	return rc ? rc : LAST(c, err, MemUnmap, (address, bytes));
}

/* The grants in the driver's form, in c->descs. */
static int describe(struct cuda *c, const struct kvp_grant *grants,
		    size_t count, struct kvp_error *err)
{
	CUmemAccessDesc *d;
	size_t i;

	if (count > c->descs_room) {
		d = realloc(c->descs, count * sizeof(*d));
		if (!d)
			return kvp_error_nomem(err);
		c->descs = d;
		c->descs_room = count;
	}
	for (i = 0; i < count; i++) {
		d = &c->descs[i];
		*d = (CUmemAccessDesc){ .flags = (CUmemAccess_flags)
						 grants[i].flags };
		d->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
		d->location.id = gpu_of(c, grants[i].device)->device;
	}
	return KVP_OK;
}

static int cuda_grant(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		      const struct kvp_grant *grants, size_t count,
		      struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int rc;

	assert(grants && count);
	rc = describe(c, grants, count, err);
	if (!rc)
		rc = enter_range(c, address, bytes, err);
	return rc ? rc : LAST(c, err, MemSetAccess, (address, bytes,
							 c->descs, count));
}

static int cuda_granted(struct kvp_backend *b, uint64_t address,
			uint32_t device, enum kvp_flags *flags,
			struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	CUmemLocation where = { .type = CU_MEM_LOCATION_TYPE_DEVICE };
	unsigned long long found = 0;
	int rc;

	assert(flags && address);
	where.id = gpu_of(c, device)->device;
	rc = enter(c, 0, err);
	if (!rc)
		rc = LAST(c, err, MemGetAccess, (&found, &where, address));
	if (rc)
		return rc;
	if (found != KVP_NO_ACCESS && found != KVP_READ &&
	    found != KVP_READWRITE)
		return kvp_error_set(err, KVP_EDRIVER, "cuMemGetAccess: flags"
				     " %llu are none of 0, 1 and 3", found);
	*flags = (enum kvp_flags)found;
	return KVP_OK;
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

static int cuda_fill(struct kvp_backend *b, uint32_t device, uint64_t address,
		     uint64_t bytes, uint32_t pattern, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	struct gpu *g = gpu_of(c, device);
	struct backend_cut cut = backend_cut(address, bytes);
	int rc = enter(c, device, err);

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
	return leave(c, rc);
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

static int cuda_match(struct kvp_backend *b, uint32_t device, uint64_t address,
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
	rc = enter(c, device, err);
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
	leave(c, rc);
	if (!rc)
		*same_bytes = same;
	return rc;
}

static int cuda_synchronize(struct kvp_backend *b, uint32_t device,
			    struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int rc = enter(c, device, err);

	if (!rc)
		rc = LAST(c, err, CtxSynchronize, ());
	if (!rc)
		gpu_of(c, device)->busy = false;
	return rc;
}

/* Serves a half-opened backend too. */
static void cuda_close(struct kvp_backend *b)
{
	struct cuda *c = cuda_of(b);
	uint32_t i;

	settle(c);
	if ((c->buffers[0] || c->buffers[1]) && !enter(c, 0, NULL)) {
		for (i = 0; i < 2; i++)
			if (c->buffers[i])
				(void)c->api.MemFreeHost(c->buffers[i]);
		leave(c, KVP_OK);
	}
	for (i = 0; i < c->base.devices; i++) {
		if (c->gpus[i].stream && !enter(c, i, NULL)) {
			(void)c->api.StreamDestroy(c->gpus[i].stream);
			leave(c, KVP_OK);
		}
		if (c->gpus[i].context)
			(void)c->api.DevicePrimaryCtxRelease(c->gpus[i].device);
	}
	free(c->descs);
	free(c->gpus);
	free(c);
}

static const struct kvp_backend_ops cuda_ops = {
	.device = cuda_device,
	.peer = cuda_peer,
	.memory = cuda_memory,
	.reserve = cuda_reserve,
	.unreserve = cuda_unreserve,
	.create = cuda_create,
	.release = cuda_release,
	.map = cuda_map,
	.unmap = cuda_unmap,
	.grant = cuda_grant,
	.granted = cuda_granted,
	.fill = cuda_fill,
	.match = cuda_match,
	.synchronize = cuda_synchronize,
	.close = cuda_close,
};

/* What needs the context: granularity and the stream for fills. */
static int open_stream(struct cuda *c, uint32_t device, struct kvp_error *err)
{
	struct gpu *g = gpu_of(c, device);
	CUmemAllocationProp prop = allocation(g);
	size_t granularity = 0;
	int rc = enter(c, device, err);

	if (rc)
		return rc;
	rc = CALL(c, err, MemGetAllocationGranularity,
		  (&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	if (!rc)
		rc = CALL(c, err, StreamCreate, (&g->stream,
						 CU_STREAM_NON_BLOCKING));
	leave(c, rc);
	g->granularity = granularity;
	if (!c->granularity || granularity < c->granularity)
		c->granularity = granularity;
	return rc;
}

static int open_gpu(struct cuda *c, uint32_t device, uint32_t ordinal,
		    struct kvp_error *err)
{
	struct gpu *g = gpu_of(c, device);
	int maps = 0;
	int rdma = 0;
	int rc = CALL(c, err, DeviceGet, (&g->device, (int)ordinal));

	if (!rc)
		rc = CALL(c, err, DeviceGetAttribute, (&maps, MAPS,
						       g->device));
	if (!rc && !maps)
		rc = kvp_error_set(err, KVP_EUNAVAILABLE, "GPU %" PRIu32
				   " has no virtual memory management",
				   ordinal);
	/* Drivers before CUDA 11.3 do not know the question: no. */
	if (!rc && !c->api.DeviceGetAttribute(&rdma, RDMA, g->device))
		g->rdma = rdma != 0;
	if (!rc)
		rc = CALL(c, err, DevicePrimaryCtxRetain, (&g->context,
							   g->device));
	return rc ? rc : open_stream(c, device, err);
}

/* The driver's number of GPUs.  A driver that will not start is none. */
static int count_gpus(struct cuda *c, uint32_t *count, struct kvp_error *err)
{
	int found = 0;
	int rc = CALL(c, err, Init, (0));

	if (rc && err)
		err->code = KVP_EUNAVAILABLE;
	if (rc)
		return KVP_EUNAVAILABLE;
	rc = CALL(c, err, DeviceGetCount, (&found));
	if (!rc && found <= 0)
		rc = kvp_error_set(err, KVP_EUNAVAILABLE, "cuDeviceGetCount:"
				   " the CUDA driver shows no GPU");
	if (!rc)
		*count = (uint32_t)found;
	return rc;
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
	int rc = cuda_api_load(&c->api, err);

	if (!rc)
		rc = count_gpus(c, &found, err);
	if (!rc)
		rc = check_ordinals(ordinals, count, found, err);
	if (rc)
		return rc;
	if (count)
		found = (uint32_t)count;
	c->gpus = calloc(found, sizeof(*c->gpus));
	if (!c->gpus)
		return kvp_error_nomem(err);
	c->base.devices = found;
	for (i = 0; !rc && i < found; i++)
		rc = open_gpu(c, i, count ? ordinals[i] : i, err);
	return rc;
}

int kvp_backend_cuda(struct kvp_backend **b, const uint32_t *devices,
		     size_t count, struct kvp_error *err)
{
	struct cuda *c;
	int rc;

	assert(b && (devices != NULL) == (count != 0));
	c = calloc(1, sizeof(*c));
	if (!c)
		return kvp_error_nomem(err);
	c->base.ops = &cuda_ops;
	c->base.name = "cuda";
	rc = open_all(c, devices, count, err);
	if (rc)
		cuda_close(&c->base);
	else
		*b = &c->base;
	return rc;
}

#else

int kvp_backend_cuda(struct kvp_backend **b, const uint32_t *devices,
		     size_t count, struct kvp_error *err)
{
	(void)b;
	(void)devices;
	(void)count;
	return kvp_error_set(err, KVP_EUNAVAILABLE, "built without the CUDA"
			     " headers cuda.h and cudaTypedefs.h");
}

#endif
