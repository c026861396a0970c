/*
 * A stand-in for the CUDA driver, built alone into a libcuda.so.1.  It
 * keeps the rules measured on real GPUs (granularity, whole handles, access
 * flags, the one table that runs out), counts what is alive and refuses the
 * wrong order.  It is stricter than a GPU in two respects: work on a stream
 * runs when that stream is waited for and not before, so a forgotten wait
 * is a wrong byte every time; and pools keep what they are given unless
 * told not to (libcuda_pool.c).
 *
 * Addresses are numbers in tables of its own, and memory holds nothing but
 * what memsets wrote, kept as runs of a four-byte pattern.
 *
 * From the environment, read by cuInit while nothing is alive:
 *
 *   FAKE_CUDA_NODE          file that all processes of a node name, made by
 *                           the first of them.  They share the table and the
 *                           GPUs' memory, and can export and import handles
 *                           (libcuda_node.c).  Without it a process is alone,
 *                           and both calls are not supported
 *   FAKE_CUDA_DEVICES       number of GPUs (1)
 *   CUDA_VISIBLE_DEVICES    those of them that this process sees, by ordinal,
 *                           in this order: 2,0 (all)
 *   FAKE_CUDA_MEMORY        bytes of each (139 GiB)
 *   FAKE_CUDA_KEEP          bytes of each that no allocation may leave fewer of
 *                           (2 MiB)
 *   FAKE_CUDA_TAKE          BYTES:N: others take BYTES of each at its N-th
 *                           allocation, and keep them
 *   FAKE_CUDA_ENTRIES       size of the table (524288)
 *   FAKE_CUDA_ENTRIES_USED  held by others in it (410)
 *   FAKE_CUDA_HINTS_FROM    bytes below which an address hint is not heeded (0)
 *   FAKE_CUDA_NO_PEER       pairs that cannot reach each other: 0-1,2-3
 *   FAKE_CUDA_NO_POOLS      1: GPUs have no memory pools (0)
 *   FAKE_CUDA_FAIL          CALL:N[:for-ever][:ERROR],...: the N-th CALL from
 *                           1 (and all after it) answers ERROR (999)
 *   FAKE_CUDA_REPORT        file that gets one line of JSON at exit: what is
 *                           alive, and what was called in the wrong order
 */
#include "fake/libcuda.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From CUDA 13 on the name means the second version. */
#undef cuDeviceGetUuid
CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice dev);

/* The attributes it has. */
#define MAPS CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
#define POSIX_FD \
	CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
#define RDMA CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED
#define POOLS CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED

struct fake cu = { .lock = PTHREAD_MUTEX_INITIALIZER };

_Thread_local CUcontext stack[MAX_DEPTH];
_Thread_local size_t depth;

void die(const char *what, const char *text)
{
	fprintf(stderr, "stand-in libcuda: %s: %s\n", what, text);
	abort();
}

void *grown(void *array, size_t count, size_t *room, size_t each)
{
	if (count < *room)
		return array;
	*room = *room ? 2 * *room : 16;
	array = realloc(array, *room * each);
	if (!array)
		die("realloc", "no memory");
	return array;
}

void *grown32(void *array, uint32_t count, uint32_t *room, size_t each)
{
	size_t wide = *room;

	array = grown(array, count, &wide, each);
	*room = (uint32_t)wide;
	return array;
}

void *zeroed(uint64_t count, size_t each)
{
	void *p = calloc(count, each);

	if (!p)
		die("calloc", "no memory");
	return p;
}

CUresult refuse(const char *format, ...)
{
	va_list args;

	if (cu.nerrors < MAX_ERRORS) {
		va_start(args, format);
		vsnprintf(cu.errors[cu.nerrors], sizeof(*cu.errors), format,
			  args);
		va_end(args);
	}
	cu.nerrors++;
	return CUDA_ERROR_INVALID_VALUE;
}

/* --- what is exported --- */

/* Every call begins here, locked; the answer is a fault that is due. */
static CUresult begin(const char *call)
{
	CUresult rc = CUDA_SUCCESS;
	struct fault *f;
	size_t i;

	pthread_mutex_lock(&cu.lock);
	if (strcmp(call, "cuInit") == 0)
		rc = configure();
	else if (!cu.started)
		rc = CUDA_ERROR_NOT_INITIALIZED;
	if (rc)
		return rc;
	for (i = 0; i < cu.nfaults; i++) {
		f = &cu.faults[i];
		if (strcmp(f->call, call))
			continue;
		f->seen++;
		if (f->seen == f->n || (f->for_ever && f->seen > f->n))
			return (CUresult)f->error;
	}
	return CUDA_SUCCESS;
}

static CUresult end(CUresult rc)
{
	pthread_mutex_unlock(&cu.lock);
	return rc;
}

static const struct {
	CUresult code;
	const char *name;
	const char *text;
} results[] = {
	{ CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
	{ CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE",
	  "invalid argument" },
	{ CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY",
	  "out of memory" },
	{ CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED",
	  "initialization error" },
	{ CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
	  "no CUDA-capable device is detected" },
	{ CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE",
	  "invalid device ordinal" },
	{ CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT",
	  "invalid device context" },
	{ CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE",
	  "invalid resource handle" },
	{ CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
	  "an illegal memory access was encountered" },
	{ CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM",
	  "OS call failed or operation not supported on this OS" },
	{ CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED",
	  "operation not supported" },
	{ CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error" },
};

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **text)
{
	size_t i;

	*text = NULL;
	for (i = 0; i < sizeof(results) / sizeof(*results); i++)
		if (results[i].code == error)
			*text = results[i].name;
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text)
{
	size_t i;

	*text = NULL;
	for (i = 0; i < sizeof(results) / sizeof(*results); i++)
		if (results[i].code == error)
			*text = results[i].text;
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuInit(unsigned int flags)
{
	CUresult rc = begin("cuInit");

	if (!cu.reporting)
		atexit(report);
	cu.reporting = true;
	if (!rc && flags)
		rc = CUDA_ERROR_INVALID_VALUE;
	if (!rc && !cu.devices)
		rc = CUDA_ERROR_NO_DEVICE;
	if (!rc)
		cu.started = true;
	return end(rc);
}

CUresult CUDAAPI cuDriverGetVersion(int *version)
{
	CUresult rc = begin("cuDriverGetVersion");

	if (!rc)
		*version = 13000;
	return end(rc);
}

CUresult CUDAAPI cuDeviceGetCount(int *count)
{
	CUresult rc = begin("cuDeviceGetCount");

	if (!rc)
		*count = (int)cu.devices;
	return end(rc);
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal)
{
	CUresult rc = begin("cuDeviceGet");

	if (!rc && no_gpu(ordinal))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc)
		*device = ordinal;
	return end(rc);
}

CUresult CUDAAPI cuDeviceGetName(char *name, int len, CUdevice dev)
{
	CUresult rc = begin("cuDeviceGetName");

	if (!rc && no_gpu(dev))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc)
		snprintf(name, (size_t)len, "Stand-in GPU");
	return end(rc);
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	static const char fixed[] = "kvplan-stand-in";
	CUresult rc = begin("cuDeviceGetUuid");
	uint64_t node = node_identity();

	if (!rc && no_gpu(dev))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc) {
		memcpy(uuid->bytes, fixed, sizeof(uuid->bytes));
		if (node)
			memcpy(uuid->bytes + 7, &node, sizeof(node));
		uuid->bytes[sizeof(uuid->bytes) - 1] =
			(char)cu.gpus[dev].card;
	}
	return end(rc);
}

CUresult CUDAAPI cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	CUresult rc = begin("cuDeviceTotalMem");

	if (!rc && no_gpu(dev))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc)
		*bytes = cu.memory_bytes;
	return end(rc);
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
				      CUdevice dev)
{
	CUresult rc = begin("cuDeviceGetAttribute");
	int a = (int)attribute;

	if (!rc && no_gpu(dev))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc)
		*value = a == MAPS || a == POSIX_FD || a == RDMA ||
			 (a == POOLS && !cu.no_pools);
	return end(rc);
}

CUresult CUDAAPI cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
	CUresult rc = begin("cuDeviceCanAccessPeer");

	if (!rc && (no_gpu(dev) || no_gpu(peer)))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc)
		*can = dev != peer && !cu.cards[cu.gpus[dev].card].
				       no_peer[cu.gpus[peer].card];
	return end(rc);
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice dev)
{
	CUresult rc = begin("cuDevicePrimaryCtxRetain");

	if (!rc && no_gpu(dev))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc) {
		cu.gpus[dev].retained++;
		*context = context_of((uint32_t)dev);
	}
	return end(rc);
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	CUresult rc = begin("cuDevicePrimaryCtxRelease");

	return end(rc ? rc : context_release(dev));
}

CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext context)
{
	CUresult rc = begin("cuCtxPushCurrent");
	uint32_t device;

	if (!rc)
		rc = device_of(context, &device);
	/* A lost context may be current, it is of no use only. */
	if (rc == CUDA_ERROR_ILLEGAL_ADDRESS)
		rc = CUDA_SUCCESS;
	if (!rc && depth == MAX_DEPTH)
		rc = refuse("cuCtxPushCurrent: pushed too often");
	if (!rc)
		stack[depth++] = context;
	return end(rc);
}

CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext *context)
{
	CUresult rc = begin("cuCtxPopCurrent");

	if (!rc && !depth) {
		refuse("cuCtxPopCurrent: none was pushed");
		rc = CUDA_ERROR_INVALID_CONTEXT;
	}
	if (!rc)
		*context = stack[--depth];
	return end(rc);
}

CUresult CUDAAPI cuCtxSynchronize(void)
{
	CUresult rc = begin("cuCtxSynchronize");

	return end(rc ? rc : context_synchronize());
}

CUresult CUDAAPI cuMemGetInfo_v2(size_t *available, size_t *total)
{
	CUresult rc = begin("cuMemGetInfo");
	uint32_t device;

	if (!rc)
		rc = current(&device);
	if (!rc) {
		*available = node_left(cu.gpus[device].card);
		*total = cu.memory_bytes;
	}
	return end(rc);
}

CUresult CUDAAPI
cuMemGetAllocationGranularity(size_t *granularity,
			      const CUmemAllocationProp *prop,
			      CUmemAllocationGranularity_flags option)
{
	CUresult rc = begin("cuMemGetAllocationGranularity");

	(void)option;
	if (!rc && no_gpu(prop->location.id))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (!rc)
		*granularity = GRANULE;
	return end(rc);
}

CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr *ptr, size_t size,
				     size_t alignment, CUdeviceptr addr,
				     unsigned long long flags)
{
	CUresult rc = begin("cuMemAddressReserve");

	return end(rc ? rc : reserve(ptr, size, alignment, addr, flags));
}

CUresult CUDAAPI cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
	CUresult rc = begin("cuMemAddressFree");

	return end(rc ? rc : unreserve(ptr, size));
}

CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
			     const CUmemAllocationProp *prop,
			     unsigned long long flags)
{
	CUresult rc = begin("cuMemCreate");

	return end(rc ? rc : create(handle, size, prop, flags));
}

CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle)
{
	CUresult rc = begin("cuMemRelease");

	return end(rc ? rc : release(handle));
}

CUresult CUDAAPI
cuMemExportToShareableHandle(void *shareable,
			     CUmemGenericAllocationHandle handle,
			     CUmemAllocationHandleType type,
			     unsigned long long flags)
{
	CUresult rc = begin("cuMemExportToShareableHandle");

	return end(rc ? rc : export_handle(shareable, handle, type, flags));
}

CUresult CUDAAPI
cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
			       void *shareable, CUmemAllocationHandleType type)
{
	CUresult rc = begin("cuMemImportFromShareableHandle");

	return end(rc ? rc : import_handle(handle, (int)(intptr_t)shareable,
					   type));
}

CUresult CUDAAPI cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
			  CUmemGenericAllocationHandle handle,
			  unsigned long long flags)
{
	CUresult rc = begin("cuMemMap");

	return end(rc ? rc : map(ptr, size, offset, handle, flags));
}

CUresult CUDAAPI cuMemUnmap(CUdeviceptr ptr, size_t size)
{
	CUresult rc = begin("cuMemUnmap");

	return end(rc ? rc : unmap(ptr, size));
}

CUresult CUDAAPI cuMemSetAccess(CUdeviceptr ptr, size_t size,
				const CUmemAccessDesc *desc, size_t count)
{
	CUresult rc = begin("cuMemSetAccess");

	return end(rc ? rc : set_access(ptr, size, desc, count));
}

CUresult CUDAAPI cuMemGetAccess(unsigned long long *flags,
				const CUmemLocation *location, CUdeviceptr ptr)
{
	CUresult rc = begin("cuMemGetAccess");

	return end(rc ? rc : get_access(flags, location, ptr));
}

CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool *pool,
				 const CUmemPoolProps *props)
{
	CUresult rc = begin("cuMemPoolCreate");

	return end(rc ? rc : pool_create(pool, props));
}

CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool pool,
				       CUmemPool_attribute what, void *value)
{
	CUresult rc = begin("cuMemPoolSetAttribute");

	return end(rc ? rc : pool_set(pool, what, value));
}

CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool pool)
{
	CUresult rc = begin("cuMemPoolDestroy");

	return end(rc ? rc : pool_destroy(pool));
}

CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr *ptr, size_t size,
					 CUmemoryPool pool, CUstream stream)
{
	CUresult rc = begin("cuMemAllocFromPoolAsync");

	return end(rc ? rc : block_alloc(ptr, size, pool, stream));
}

CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr ptr, CUstream stream)
{
	CUresult rc = begin("cuMemFreeAsync");

	return end(rc ? rc : block_free(ptr, stream));
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr ptr, unsigned int value,
				  size_t count, CUstream stream)
{
	struct op op = { .address = ptr, .bytes = (uint64_t)count * 4,
			 .pattern = value };
	CUresult rc = begin("cuMemsetD32Async");

	if (!rc && ptr % 4)
		rc = CUDA_ERROR_INVALID_VALUE;
	return end(rc ? rc : enqueue("cuMemsetD32Async", stream, op));
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr ptr, unsigned char value,
				 size_t count, CUstream stream)
{
	struct op op = { .address = ptr, .bytes = count,
			 .pattern = value * UINT32_C(0x01010101) };
	CUresult rc = begin("cuMemsetD8Async");

	return end(rc ? rc : enqueue("cuMemsetD8Async", stream, op));
}

CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void *host, CUdeviceptr ptr,
				      size_t count, CUstream stream)
{
	struct op op = { .address = ptr, .bytes = count, .host = host };
	CUresult rc = begin("cuMemcpyDtoHAsync");

	if (!rc && !host)
		rc = CUDA_ERROR_INVALID_VALUE;
	return end(rc ? rc : enqueue("cuMemcpyDtoHAsync", stream, op));
}

CUresult CUDAAPI cuMemHostAlloc(void **p, size_t bytes, unsigned int flags)
{
	CUresult rc = begin("cuMemHostAlloc");

	(void)flags;
	return end(rc ? rc : host_alloc(p, bytes));
}

CUresult CUDAAPI cuMemFreeHost(void *p)
{
	CUresult rc = begin("cuMemFreeHost");

	return end(rc ? rc : host_free(p));
}

/* Modules hold one kernel, kvp_match, whatever their text; nothing of them
   is kept but that they are there. */
CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
	static char loaded;
	CUresult rc = begin("cuModuleLoadData");

	if (!rc && !strstr(image, "kvp_match"))
		rc = CUDA_ERROR_INVALID_PTX;
	if (!rc)
		*module = (CUmodule)(void *)&loaded;
	return end(rc);
}

CUresult CUDAAPI cuModuleUnload(CUmodule module)
{
	CUresult rc = begin("cuModuleUnload");

	return end(!rc && !module ? CUDA_ERROR_INVALID_HANDLE : rc);
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module,
				     const char *name)
{
	CUresult rc = begin("cuModuleGetFunction");

	if (!rc && (!module || strcmp(name, "kvp_match")))
		rc = CUDA_ERROR_NOT_FOUND;
	if (!rc)
		*function = (CUfunction)(void *)module;
	return end(rc);
}

CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy,
				unsigned int gz, unsigned int bx,
				unsigned int by, unsigned int bz,
				unsigned int shared, CUstream stream,
				void **arguments, void **extra)
{
	CUresult rc = begin("cuLaunchKernel");
	struct op op = { 0 };

	(void)shared;
	if (!rc && (!f || !gx || !gy || !gz || !bx || !by || !bz ||
		    bx * by * bz > 1024 || extra))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc)
		return end(rc);
	op.address = *(uint64_t *)arguments[0];
	op.bytes = *(uint64_t *)arguments[1] * VECTOR;
	op.pattern = *(uint32_t *)arguments[2];
	op.wrong = *(uint64_t **)arguments[3];
	if (op.address % VECTOR)
		rc = refuse("cuLaunchKernel: 0x%" PRIx64 " is not aligned",
			    op.address);
	return end(rc ? rc : enqueue("cuLaunchKernel", stream, op));
}

CUresult CUDAAPI cuStreamCreate(CUstream *stream, unsigned int flags)
{
	CUresult rc = begin("cuStreamCreate");

	return end(rc ? rc : stream_create(stream, flags));
}

CUresult CUDAAPI cuStreamDestroy_v2(CUstream stream)
{
	CUresult rc = begin("cuStreamDestroy");
	struct stream *s = NULL;

	if (!rc)
		rc = find_stream(stream, &s);
	/* Work still on it is done all the same. */
	if (!rc) {
		(void)run_stream(s);
		stream_free(s);
	}
	return end(rc);
}

CUresult CUDAAPI cuStreamSynchronize(CUstream stream)
{
	CUresult rc = begin("cuStreamSynchronize");
	struct stream *s = NULL;

	if (!rc)
		rc = find_stream(stream, &s);
	return end(rc ? rc : run_stream(s));
}
