/*
 * The fault backend: passes every call on to the backend it wraps, except
 * those that are to fail.  These answer at once; the inner backend never
 * sees them.
 */
#include <kvplan/backend.h>

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"

struct fault_backend {
	struct kvp_backend base;
	struct kvp_backend *inner;
	struct kvp_fault *fault;
};

_Static_assert(sizeof(struct kvp_backend_ops) == 19 * sizeof(void (*)(void)),
	       "wrap the new op here");

static struct kvp_backend *inner(struct kvp_backend *b)
{
	return ((struct fault_backend *)b)->inner;
}

/* KVP_OK where the call is to be passed on. */
static int strike(struct kvp_backend *b, enum kvp_op op, const char *call,
		  struct kvp_error *err)
{
	struct kvp_fault *fault = ((struct fault_backend *)b)->fault;

	if (!(fault->ops & (unsigned)op) || !fault->countdown)
		return KVP_OK;
	if (fault->countdown > 1) {
		fault->countdown--;
		return KVP_OK;
	}
	/* Left at 1 it strikes again. */
	if (!fault->for_ever)
		fault->countdown = 0;
	assert(fault->code);
	fault->hits++;
	return kvp_error_set(err, fault->code, "%s: made to fail", call);
}

static int fault_device(struct kvp_backend *b, uint32_t device,
			struct kvp_device_info *info, struct kvp_error *err)
{
	int code = strike(b, KVP_OP_DEVICE, "device", err);

	return code ? code : inner(b)->ops->device(inner(b), device, info,
						   err);
}

static int fault_peer(struct kvp_backend *b, uint32_t device, uint32_t owner,
		      bool *can, struct kvp_error *err)
{
	int code = strike(b, KVP_OP_PEER, "peer", err);

	return code ? code : inner(b)->ops->peer(inner(b), device, owner, can,
						 err);
}

static int fault_memory(struct kvp_backend *b, uint32_t device,
			uint64_t *free_bytes, struct kvp_error *err)
{
	int code = strike(b, KVP_OP_MEMORY, "memory", err);

	return code ? code : inner(b)->ops->memory(inner(b), device,
						   free_bytes, err);
}

static int fault_reserve(struct kvp_backend *b, uint64_t bytes,
			 uint64_t wanted, uint64_t *address,
			 struct kvp_error *err)
{
	int code = strike(b, KVP_OP_RESERVE, "reserve", err);

	return code ? code : inner(b)->ops->reserve(inner(b), bytes, wanted,
						    address, err);
}

static int fault_unreserve(struct kvp_backend *b, uint64_t address,
			   uint64_t bytes, struct kvp_error *err)
{
	int code = strike(b, KVP_OP_UNRESERVE, "unreserve", err);

	return code ? code : inner(b)->ops->unreserve(inner(b), address,
						      bytes, err);
}

static int fault_create(struct kvp_backend *b, const struct kvp_create *what,
			kvp_handle *handle, struct kvp_error *err)
{
	int code = strike(b, KVP_OP_CREATE, "create", err);

	return code ? code : inner(b)->ops->create(inner(b), what, handle,
						   err);
}

static int fault_release(struct kvp_backend *b, kvp_handle handle,
			 struct kvp_error *err)
{
	int code = strike(b, KVP_OP_RELEASE, "release", err);

	return code ? code : inner(b)->ops->release(inner(b), handle, err);
}

static int fault_map(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		     kvp_handle handle, struct kvp_error *err)
{
	int code = strike(b, KVP_OP_MAP, "map", err);

	return code ? code : inner(b)->ops->map(inner(b), address, bytes,
						handle, err);
}

static int fault_unmap(struct kvp_backend *b, uint64_t address,
		       uint64_t bytes, struct kvp_error *err)
{
	int code = strike(b, KVP_OP_UNMAP, "unmap", err);

	return code ? code : inner(b)->ops->unmap(inner(b), address, bytes,
						  err);
}

static int fault_grant(struct kvp_backend *b, uint64_t address,
		       uint64_t bytes, const struct kvp_grant *grants,
		       size_t count, struct kvp_error *err)
{
	int code = strike(b, KVP_OP_GRANT, "grant", err);

	return code ? code : inner(b)->ops->grant(inner(b), address, bytes,
						  grants, count, err);
}

static int fault_granted(struct kvp_backend *b, uint64_t address,
			 uint32_t device, enum kvp_flags *flags,
			 struct kvp_error *err)
{
	int code = strike(b, KVP_OP_GRANTED, "granted", err);

	return code ? code : inner(b)->ops->granted(inner(b), address, device,
						    flags, err);
}

static int fault_fill(struct kvp_backend *b, uint32_t device,
		      uint64_t address, uint64_t bytes, uint32_t pattern,
		      struct kvp_error *err)
{
	int code = strike(b, KVP_OP_FILL, "fill", err);

	return code ? code : inner(b)->ops->fill(inner(b), device, address,
						 bytes, pattern, err);
}

static int fault_match(struct kvp_backend *b, uint32_t device,
		       uint64_t address, uint64_t bytes, uint32_t pattern,
		       uint64_t *same_bytes, struct kvp_error *err)
{
	int code = strike(b, KVP_OP_MATCH, "match", err);

	return code ? code : inner(b)->ops->match(inner(b), device, address,
						  bytes, pattern, same_bytes,
						  err);
}

static int fault_synchronize(struct kvp_backend *b, uint32_t device,
			     struct kvp_error *err)
{
	int code = strike(b, KVP_OP_SYNCHRONIZE, "synchronize", err);

	return code ? code : inner(b)->ops->synchronize(inner(b), device,
							err);
}

static int fault_pool_create(struct kvp_backend *b, uint32_t device,
			     kvp_pool *pool, struct kvp_error *err)
{
	int code = strike(b, KVP_OP_POOL_CREATE, "pool_create", err);

	return code ? code : inner(b)->ops->pool_create(inner(b), device,
							pool, err);
}

static int fault_pool_destroy(struct kvp_backend *b, kvp_pool pool,
			      struct kvp_error *err)
{
	int code = strike(b, KVP_OP_POOL_DESTROY, "pool_destroy", err);

	return code ? code : inner(b)->ops->pool_destroy(inner(b), pool, err);
}

static int fault_allocate(struct kvp_backend *b, kvp_pool pool,
			  uint64_t bytes, uint64_t *address,
			  struct kvp_error *err)
{
	int code = strike(b, KVP_OP_ALLOCATE, "allocate", err);

	return code ? code : inner(b)->ops->allocate(inner(b), pool, bytes,
						     address, err);
}

static int fault_deallocate(struct kvp_backend *b, kvp_pool pool,
			    uint64_t address, struct kvp_error *err)
{
	int code = strike(b, KVP_OP_DEALLOCATE, "deallocate", err);

	return code ? code : inner(b)->ops->deallocate(inner(b), pool,
						       address, err);
}

static void fault_close(struct kvp_backend *b)
{
	free(b);
}

static const struct kvp_backend_ops fault_ops = {
	.device = fault_device,
	.peer = fault_peer,
	.memory = fault_memory,
	.reserve = fault_reserve,
	.unreserve = fault_unreserve,
	.create = fault_create,
	.release = fault_release,
	.map = fault_map,
	.unmap = fault_unmap,
	.grant = fault_grant,
	.granted = fault_granted,
	.fill = fault_fill,
	.match = fault_match,
	.synchronize = fault_synchronize,
	.pool_create = fault_pool_create,
	.pool_destroy = fault_pool_destroy,
	.allocate = fault_allocate,
	.deallocate = fault_deallocate,
	.close = fault_close,
};

int kvp_backend_fault(struct kvp_backend **b, struct kvp_backend *inner_b,
		      struct kvp_fault *fault, struct kvp_error *err)
{
	struct fault_backend *f = malloc(sizeof(*f));

	*b = NULL;
	if (!f)
		return kvp_error_nomem(err);
	/* Looks like the one it wraps. */
	f->base = *inner_b;
	f->base.ops = &fault_ops;
	f->inner = inner_b;
	f->fault = fault;
	*b = &f->base;
	return KVP_OK;
}
