/*
 * What the files of the CUDA backend share: its structs, how a driver call is
 * made, and how a GPU's context is made current while a verb runs.
 */
#ifndef KVPLAN_BACKEND_BACKEND_CUDA_H
#define KVPLAN_BACKEND_BACKEND_CUDA_H

#include "backend/cuda_api.h"

#ifdef KVP_HAVE_CUDA

#include <assert.h>

#include <kvplan/backend.h>

#include "backend/pools.h"
#include "base/address_table.h"

struct gpu {
	CUdevice device;
	CUcontext context;	/* NULL: not retained */
	CUstream stream;
	uint64_t granularity;
	bool rdma;
	bool busy;		/* fills or copies may still run */
	bool no_kernel;		/* the kernel could not be loaded */
	CUmodule module;
	CUfunction match;	/* NULL until a large range is compared */
};

/* backend_cuda_reserve.c: an address range that was reserved larger than
   asked for, and a part of it that a caller has. */
struct cuda_block;
struct cuda_part;

/* backend_cuda_share.c: a handle that can be exported. */
struct cuda_share;

struct cuda {
	struct kvp_backend base;
	struct cuda_api api;
	struct gpu *gpus;	/* [base.devices] */
	uint64_t granularity;	/* the smallest */
	void *buffers[2];	/* NULL until a range is compared */
	CUmemAccessDesc *descs;	/* room for one grant call */
	size_t descs_room;
	struct cuda_block *blocks;
	struct cuda_part *parts;
	size_t nblocks, nparts;
	struct pools pools;	/* `system` is the CUmemoryPool */
	struct address_table shares;	/* struct cuda_share by handle */
};

/* Make one driver call; an error names it as the driver's manual does. */
#define CALL(c, err, name, args) \
	cuda_api_result(&(c)->api, "cu" #name, (c)->api.name args, (err))
/* The same, and cuda_leave() after it. */
#define LAST(c, err, name, args) cuda_leave((c), CALL(c, err, name, args))

static inline struct cuda *cuda_of(struct kvp_backend *b)
{
	return (struct cuda *)b;
}

static inline struct gpu *gpu_of(struct cuda *c, uint32_t device)
{
	assert(device < c->base.devices);
	return &c->gpus[device];
}

/* backend_cuda.c: KVP_EDRIVER if there is no such device. */
int cuda_check_device(const struct cuda *c, uint32_t device,
		      struct kvp_error *err);
/* KVP_EDRIVER if a range is empty or not aligned to the granularity. */
int cuda_check_range(const struct cuda *c, uint64_t address, uint64_t bytes,
		     struct kvp_error *err);

/* Make a GPU's context current until cuda_leave(), which makes the caller's
   current again and returns the code it is given. */
static inline int cuda_enter(struct cuda *c, uint32_t device,
			     struct kvp_error *err)
{
	int code = cuda_check_device(c, device, err);

	return code ? code : CALL(c, err, CtxPushCurrent,
				  (gpu_of(c, device)->context));
}

/* The same for a call on an address range, which belongs to no GPU. */
static inline int cuda_enter_range(struct cuda *c, uint64_t address,
				   uint64_t bytes, struct kvp_error *err)
{
	int code = cuda_check_range(c, address, bytes, err);

	return code ? code : cuda_enter(c, 0, err);
}

static inline int cuda_leave(struct cuda *c, int code)
{
	CUcontext own;

	/* It may return an earlier error of asynchronous work; the next
	   synchronize returns that error, too. */
	(void)c->api.CtxPopCurrent(&own);
	return code;
}

/* backend_cuda_data.c, backend_cuda_match.c */
int cuda_fill(struct kvp_backend *b, uint32_t device, uint64_t address,
	      uint64_t bytes, uint32_t pattern, struct kvp_error *err);
int cuda_match(struct kvp_backend *b, uint32_t device, uint64_t address,
	       uint64_t bytes, uint32_t pattern, uint64_t *same_bytes,
	       struct kvp_error *err);
int cuda_synchronize(struct kvp_backend *b, uint32_t device,
		     struct kvp_error *err);

/*
 * Wait for fills and copies that still run.  The driver unmaps without
 * waiting, and a GPU that accesses unmapped memory loses its context.  An
 * error of that work is not reported here: the unmap has not failed.
 */
void cuda_wait_all(struct cuda *c);

/* backend_cuda.c: all verbs, and the properties of a physical allocation. */
extern const struct kvp_backend cuda_backend;
CUmemAllocationProp cuda_allocation(const struct gpu *g);

/* backend_cuda_reserve.c */
int cuda_reserve(struct kvp_backend *b, uint64_t bytes, uint64_t wanted,
		 uint64_t *address, struct kvp_error *err);
int cuda_unreserve(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		   struct kvp_error *err);

/*
 * backend_cuda_share.c.  A record of a handle that can be exported is made,
 * then added or passed to free(); adding cannot fail.  Dropping one that is
 * not there does nothing.
 */
int cuda_share_new(struct cuda *c, uint64_t bytes, struct cuda_share **share,
		   struct kvp_error *err);
void cuda_share_add(struct cuda *c, struct cuda_share *share,
		    kvp_handle handle);
void cuda_share_drop(struct cuda *c, kvp_handle handle);
void cuda_shares_release(struct cuda *c);
int cuda_export_handle(struct kvp_backend *b, kvp_handle handle,
		       struct kvp_shared *shared, struct kvp_error *err);
int cuda_import_handle(struct kvp_backend *b, uint32_t device,
		       const struct kvp_shared *shared, kvp_handle *handle,
		       struct kvp_error *err);

/* backend_cuda_pool.c */
int cuda_pool_create(struct kvp_backend *b, uint32_t device, kvp_pool *pool,
		     struct kvp_error *err);
int cuda_pool_destroy(struct kvp_backend *b, kvp_pool pool,
		      struct kvp_error *err);
int cuda_allocate(struct kvp_backend *b, kvp_pool pool, uint64_t bytes,
		  uint64_t *address, struct kvp_error *err);
int cuda_deallocate(struct kvp_backend *b, kvp_pool pool, uint64_t address,
		    struct kvp_error *err);
/* Free every block and destroy every pool; errors are ignored. */
void cuda_pools_release(struct cuda *c);

/* backend_cuda_open.c */
void cuda_close(struct kvp_backend *b);

#endif
#endif
