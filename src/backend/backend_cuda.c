/*
 * The CUDA driver as a backend.  It owns two pinned host buffers for
 * comparing and, for every GPU, a reference to the primary context and a
 * stream; the caller owns what is mapped.  It leaves the thread's current
 * context as it was and waits for its own fills before it unmaps.  It knows
 * nothing of plans.
 */
#include "backend/backend_cuda.h"

#ifdef KVP_HAVE_CUDA

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/u64.h"

/* CU_MEM_HANDLE_TYPE_FABRIC, which older headers do not have. */
#define HANDLE_TYPE_FABRIC 8

_Static_assert((int)KVP_NO_ACCESS == (int)CU_MEM_ACCESS_FLAGS_PROT_NONE &&
	       (int)KVP_READ == (int)CU_MEM_ACCESS_FLAGS_PROT_READ &&
	       (int)KVP_READWRITE == (int)CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	       "enum kvp_flags holds the driver's own values");
_Static_assert(sizeof(CUdeviceptr) == sizeof(uint64_t) &&
	       sizeof(CUmemGenericAllocationHandle) == sizeof(kvp_handle) &&
	       sizeof(size_t) == sizeof(uint64_t),
	       "addresses, handles and lengths are 64 bits");

/* Write "GPU-" and the 16 bytes as 8-4-4-4-12 digits. */
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

int cuda_check_device(const struct cuda *c, uint32_t device,
		      struct kvp_error *err)
{
	if (device < c->base.devices)
		return KVP_OK;
	return kvp_error_set(err, KVP_EDRIVER, "no device %u: there are %u",
			     device, c->base.devices);
}

int cuda_check_range(const struct cuda *c, uint64_t address, uint64_t bytes,
		     struct kvp_error *err)
{
	if (bytes && bytes - 1 < UINT64_MAX - address &&
	    address % c->granularity == 0 &&
	    bytes % c->granularity == 0)
		return KVP_OK;
	return kvp_error_set(err, KVP_EDRIVER, "%llu bytes at 0x%llx are no "
			     "range of whole granules of %llu bytes",
			     (ull)bytes,
			     (ull)address,
			     (ull)c->granularity);
}

static int cuda_device(struct kvp_backend *b, uint32_t device,
		       struct kvp_device_info *info, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	struct kvp_device_info found = { .granularity = 0 };
	int code = cuda_check_device(c, device, err);
	struct gpu *g;
	size_t total;
	CUuuid uuid;
	int version;

	assert(info);
	if (code)
		return code;
	g = gpu_of(c, device);
	found.granularity = g->granularity;
	code = CALL(c, err, DeviceGetName, (found.name, sizeof(found.name),
					    g->device));
	if (!code)
		code = CALL(c, err, DeviceGetUuid, (&uuid, g->device));
	if (!code)
		code = CALL(c, err, DeviceTotalMem, (&total, g->device));
	if (!code)
		code = CALL(c, err, DriverGetVersion, (&version));
	if (code)
		return code;
	uuid_text(found.uuid, sizeof(found.uuid), &uuid);
	snprintf(found.driver, sizeof(found.driver), "CUDA driver API %d.%d",
		 version / 1000, version % 1000 / 10);
	snprintf(found.label, sizeof(found.label), "GPU %d", (int)g->device);
	found.total_bytes = total;
	*info = found;
	return KVP_OK;
}

/* Of all GPUs that the driver shows, not only the backend's. */
static int cuda_visible(struct kvp_backend *b, const char *uuid_end, bool *is,
			struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	char text[sizeof(((struct kvp_device_info *)0)->uuid)];
	bool found = false;
	size_t len = strlen(uuid_end);
	int count = 0, i;
	CUdevice device;
	CUuuid bytes;
	int code = CALL(c, err, DeviceGetCount, (&count));

	for (i = 0; i < count && !code && !found; i++) {
		code = CALL(c, err, DeviceGet, (&device, i));
		if (!code)
			code = CALL(c, err, DeviceGetUuid, (&bytes, device));
		if (code)
			break;
		uuid_text(text, sizeof(text), &bytes);
		found = strlen(text) >= len &&
			!strcmp(text + strlen(text) - len, uuid_end);
	}
	if (!code)
		*is = found;
	return code;
}

static int cuda_peer(struct kvp_backend *b, uint32_t device, uint32_t owner,
		     bool *can, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int answer = 1;
	int code = cuda_check_device(c, device, err);

	assert(can);
	if (!code)
		code = cuda_check_device(c, owner, err);
	/* The driver says that a GPU is not its own peer. */
	if (!code && device != owner)
		code = CALL(c, err, DeviceCanAccessPeer,
			    (&answer, gpu_of(c, device)->device,
			     gpu_of(c, owner)->device));
	if (!code)
		*can = answer != 0;
	return code;
}

static int cuda_memory(struct kvp_backend *b, uint32_t device,
		       uint64_t *free_bytes, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	size_t available, total;
	int code;

	assert(free_bytes);
	code = cuda_enter(c, device, err);
	if (!code)
		code = LAST(c, err, MemGetInfo, (&available, &total));
	if (!code)
		*free_bytes = available;
	return code;
}

CUmemAllocationProp cuda_allocation(const struct gpu *g)
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
	CUmemGenericAllocationHandle created = 0;
	struct cuda_share *share = NULL;
	CUmemAllocationProp prop;
	struct gpu *g;
	int code = cuda_check_device(c, what->device, err);

	assert(handle);
	if (!code)
		code = cuda_check_range(c, 0, what->bytes, err);
	if (code)
		return code;
	g = gpu_of(c, what->device);
	/* The driver would create memory that RDMA cannot use. */
	if (what->rdma && !g->rdma)
		return kvp_error_set(err, KVP_EDRIVER, "cuMemCreate: GPU %d "
				     "has no GPUDirect RDMA for mapped memory",
				     g->device);
	prop = cuda_allocation(g);
	prop.requestedHandleTypes = handle_type(what->handle_type);
	prop.allocFlags.gpuDirectRDMACapable = what->rdma;
	if (what->handle_type == KVP_HANDLE_POSIX_FD)
		code = cuda_share_new(c, what->bytes, &share, err);
	if (!code)
		code = cuda_enter(c, what->device, err);
	if (!code)
		code = LAST(c, err, MemCreate,
			    (&created, what->bytes, &prop, 0));
	if (code) {
		free(share);
		return code;
	}
	if (share)
		cuda_share_add(c, share, created);
	*handle = created;
	return KVP_OK;
}

static int cuda_release(struct kvp_backend *b, kvp_handle handle,
			struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int code = cuda_enter(c, 0, err);

	if (!code)
		code = LAST(c, err, MemRelease, (handle));
	if (!code)
		cuda_share_drop(c, handle);
	return code;
}

static int cuda_map(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		    kvp_handle handle, struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int code = cuda_enter_range(c, address, bytes, err);

	return code ? code : LAST(c, err, MemMap, (address, bytes, 0, handle,
						   0));
}

static int cuda_unmap(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		      struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	int code;

	cuda_wait_all(c);
	code = cuda_enter_range(c, address, bytes, err);
	return code ? code : LAST(c, err, MemUnmap, (address, bytes));
}

/* Write the grants to c->descs, in the driver's form. */
static int write_descs(struct cuda *c, const struct kvp_grant *grants,
		       size_t count, struct kvp_error *err)
{
	CUmemAccessDesc *d;
	size_t i;
	int code;

	if (count > c->descs_room) {
		d = realloc(c->descs, count * sizeof(*d));
		if (!d)
			return kvp_error_nomem(err);
		c->descs = d;
		c->descs_room = count;
	}
	for (i = 0; i < count; i++) {
		code = cuda_check_device(c, grants[i].device, err);
		if (code)
			return code;
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
	int code;

	assert(grants || !count);
	code = write_descs(c, grants, count, err);
	if (!code)
		code = cuda_enter_range(c, address, bytes, err);
	return code ? code : LAST(c, err, MemSetAccess, (address, bytes,
							 c->descs, count));
}

static int cuda_granted(struct kvp_backend *b, uint64_t address,
			uint32_t device, enum kvp_flags *flags,
			struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	CUmemLocation where = { .type = CU_MEM_LOCATION_TYPE_DEVICE };
	unsigned long long found = 0;
	int code = cuda_check_device(c, device, err);

	assert(flags);
	if (code)
		return code;
	where.id = gpu_of(c, device)->device;
	code = cuda_enter(c, 0, err);
	if (!code)
		code = LAST(c, err, MemGetAccess, (&found, &where, address));
	if (code)
		return code;
	if (found != KVP_NO_ACCESS && found != KVP_READ &&
	    found != KVP_READWRITE)
		return kvp_error_set(err, KVP_EDRIVER, "cuMemGetAccess: flags"
				     " %llu are none of 0, 1 and 3", found);
	*flags = (enum kvp_flags)found;
	return KVP_OK;
}

const struct kvp_backend cuda_backend = {
	.device = {
		.device = cuda_device, .peer = cuda_peer,
		.visible = cuda_visible, .memory = cuda_memory,
		.synchronize = cuda_synchronize,
	},
	.mapping = {
		.reserve = cuda_reserve, .unreserve = cuda_unreserve,
		.create = cuda_create, .release = cuda_release,
		.export_handle = cuda_export_handle,
		.import_handle = cuda_import_handle,
		.map = cuda_map, .unmap = cuda_unmap,
		.grant = cuda_grant, .granted = cuda_granted,
		.fill = cuda_fill, .match = cuda_match,
	},
	.pool = {
		.pool_create = cuda_pool_create,
		.pool_destroy = cuda_pool_destroy,
		.allocate = cuda_allocate, .deallocate = cuda_deallocate,
	},
	.close = cuda_close,
	.name = "cuda",
};

#endif
