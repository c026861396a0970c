/*
 * Backends: what realizing needs from a memory system, as three tables of
 * verbs: devices, mappings and pools.  Four exist: the host's memory
 * (complete, so that all logic runs without a GPU), the CUDA driver, a card
 * on paper, and a fault backend that wraps another one and makes chosen calls
 * fail.
 *
 *   reserve   address space                     unreserve
 *   create    physical memory of one device     release
 *   map       a handle, whole, at an address    unmap
 *   grant     devices access to a mapping       (undone by unmap)
 *   allocate  a block from a device's pool      deallocate
 *
 * Addresses and lengths are multiples of the device's granularity, except
 * in fill and match.  A mapping is made of a whole handle and has no access
 * until granted.  A handle may be mapped at several addresses; it may be
 * released while mapped, the memory lives until the last unmap.
 *
 * Every verb returns KVP_OK or
 *   KVP_EEXHAUSTED   the system says out of memory, whatever the reason
 *   KVP_EDRIVER      any other failed call
 *   KVP_ENOMEM       this process has no memory
 * with a text that names the call and the system's error.  On failure
 * nothing was acquired and out-parameters are untouched.  Calls on one
 * backend are made from one thread at a time.
 *
 * A device, handle, pool or mapping that is not there is KVP_EDRIVER.  Fill
 * and match of an address where nothing is mapped may cost a CUDA device its
 * context.
 */
#ifndef KVPLAN_BACKEND_H
#define KVPLAN_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kvplan/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Physical memory; opaque outside its backend. */
typedef uint64_t kvp_handle;

/* A pool of one device, for stream-ordered allocation; opaque as well. */
typedef uint64_t kvp_pool;

/* What a device may do with a mapping; the driver's own values. */
enum kvp_flags { KVP_NO_ACCESS = 0, KVP_READ = 1, KVP_READWRITE = 3 };

struct kvp_grant {
	uint32_t device;
	enum kvp_flags flags;
};

enum kvp_handle_type { KVP_HANDLE_NONE, KVP_HANDLE_POSIX_FD,
		       KVP_HANDLE_FABRIC };

/* What to create; zeroed: a plain allocation that is not shareable. */
struct kvp_create {
	uint32_t device;
	uint64_t bytes;
	enum kvp_handle_type handle_type;
	bool rdma;		/* usable by GPUDirect RDMA; refused where
				   the device cannot */
};

struct kvp_device_info {
	char label[32];		/* what users call it: "GPU 2" */
	char name[128];
	char uuid[48];		/* "GPU-..." as the driver's tools show it */
	char driver[48];	/* driver or kernel version */
	uint64_t granularity;
	uint64_t total_bytes;
};

/* What is going to be asked of a system beside memory, in all. */
struct kvp_demand {
	uint32_t devices;
	uint64_t mappings;
	uint64_t reservations;
};

/* A limit of this process, UINT64_MAX: none.  Raised to `need`, it suffices:
   what is asked for and, as far as is known, what is in use. */
struct kvp_process_limit {
	uint64_t need;
	uint64_t limit;
};

struct kvp_process {
	struct kvp_process_limit maps;	/* sysctl vm.max_map_count; about */
	struct kvp_process_limit descriptors;	/* ulimit -n */
};

struct kvp_backend;

/* Devices, and waiting for them. */
struct kvp_device_ops {
	int (*device)(struct kvp_backend *b, uint32_t device,
		      struct kvp_device_info *info, struct kvp_error *err);
	/* Can `device` be granted access to memory of `owner`? */
	int (*peer)(struct kvp_backend *b, uint32_t device, uint32_t owner,
		    bool *can, struct kvp_error *err);
	int (*memory)(struct kvp_backend *b, uint32_t device,
		      uint64_t *free_bytes, struct kvp_error *err);
	/* Wait until all fills of the device are done, seen by everybody. */
	int (*synchronize)(struct kvp_backend *b, uint32_t device,
			   struct kvp_error *err);
	/* What the system allows this process, which a lazy backend has to
	   live with: for so much, what is needed and what the limit is. */
	int (*process)(struct kvp_backend *b, const struct kvp_demand *demand,
		       struct kvp_process *process, struct kvp_error *err);
};

/* Address space, physical memory, mappings and what is in them. */
struct kvp_mapping_ops {
	/* wanted != 0: exactly there, or KVP_EDRIVER and nothing reserved;
	   KVP_ESTUCK where another place was offered and stays reserved.
	   CUDA may take a block of up to 1 TiB of address space around a
	   wanted place, which serves later ones and goes with the last. */
	int (*reserve)(struct kvp_backend *b, uint64_t bytes, uint64_t wanted,
		       uint64_t *address, struct kvp_error *err);
	int (*unreserve)(struct kvp_backend *b, uint64_t address,
			 uint64_t bytes, struct kvp_error *err);
	int (*create)(struct kvp_backend *b, const struct kvp_create *what,
		      kvp_handle *handle, struct kvp_error *err);
	int (*release)(struct kvp_backend *b, kvp_handle handle,
		       struct kvp_error *err);
	/* bytes is the handle's whole length. */
	int (*map)(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		   kvp_handle handle, struct kvp_error *err);
	/* Waits for fills that still run. */
	int (*unmap)(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		     struct kvp_error *err);
	/* One whole mapping; all of its grants at once, each device named
	   once at most.  Devices that are not named keep their flags. */
	int (*grant)(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		     const struct kvp_grant *grants, size_t count,
		     struct kvp_error *err);
	int (*granted)(struct kvp_backend *b, uint64_t address,
		       uint32_t device, enum kvp_flags *flags,
		       struct kvp_error *err);
	/*
	 * Write, as `device`, a pattern of four bytes: the byte at address x
	 * is byte x % 4 of the pattern, little end first.  Any address and
	 * length.  Ordered after earlier fills of the device only.  A fill
	 * that fails may have written some of its bytes.
	 */
	int (*fill)(struct kvp_backend *b, uint32_t device, uint64_t address,
		    uint64_t bytes, uint32_t pattern, struct kvp_error *err);
	/*
	 * Read, as `device`, and compare with the pattern.  *same_bytes is
	 * how many bytes from the first on are as they should be: `bytes`
	 * when all are.  Waits for the device's own fills.
	 */
	int (*match)(struct kvp_backend *b, uint32_t device, uint64_t address,
		     uint64_t bytes, uint32_t pattern, uint64_t *same_bytes,
		     struct kvp_error *err);
};

/* Stream-ordered allocation beside the mappings. */
struct kvp_pool_ops {
	/*
	 * A pool of its own on a device.  It keeps nothing that is given
	 * back to it beyond the next synchronize of the device, but for
	 * the steps a system allocates in: the CUDA driver takes and gives
	 * back a pool's memory in steps of 32 MiB (measured), and a step
	 * stays while any block in it is in use.
	 */
	int (*pool_create)(struct kvp_backend *b, uint32_t device,
			   kvp_pool *pool, struct kvp_error *err);
	/* Every block must have been given back: KVP_EDRIVER otherwise. */
	int (*pool_destroy)(struct kvp_backend *b, kvp_pool pool,
			    struct kvp_error *err);
	/*
	 * A block of any length >= 1, for the pool's device alone; ordered
	 * after what the device was asked before.  No mapping: fill, match,
	 * grant and unmap do not take it.
	 */
	int (*allocate)(struct kvp_backend *b, kvp_pool pool, uint64_t bytes,
			uint64_t *address, struct kvp_error *err);
	/* A whole block.  After the next synchronize of the device its bytes
	   are free for the pool and, in whole steps, for others; memory
	   counts the latter.  Host and card have steps of a page and of a
	   byte. */
	int (*deallocate)(struct kvp_backend *b, kvp_pool pool,
			  uint64_t address, struct kvp_error *err);
};

/* Embedded first in every concrete backend.  Every slot is filled. */
struct kvp_backend {
	struct kvp_device_ops device;
	struct kvp_mapping_ops mapping;
	struct kvp_pool_ops pool;
	/* Give the backend back.  What it still holds is lost or leaked. */
	void (*close)(struct kvp_backend *b);
	const char *name;	/* "host", "cuda" */
	uint32_t devices;	/* numbered from 0 */
	/* Memory is shared by all devices and taken when it is touched. */
	bool lazy;
};

/*
 * Fill the slots of the tables that are NULL, of verbs that a new backend
 * does not have: these answer KVP_EDRIVER, "map: the card backend has no such
 * call".
 */
void kvp_backend_complete(struct kvp_backend *b);

/*
 * This machine's memory: every device is one memfd, every mapping a range
 * of it, so that aliasing is physical.  Access flags are kept per device
 * and heeded by fill and match.
 * Errors: KVP_EINPUT for no device or more than KVP_HOST_DEVICES_MAX,
 * KVP_EDRIVER for a granularity that is no power of two of at least a page,
 * KVP_ENOMEM.
 */
#define KVP_HOST_DEVICES_MAX 65536
int kvp_backend_host(struct kvp_backend **b, uint32_t devices,
		     uint64_t granularity, struct kvp_error *err);

/*
 * The CUDA driver, libcuda.so.1, looked up now.  devices[i] is the driver's
 * ordinal of device i; count 0 takes every visible GPU.  Uses
 * primary contexts and leaves the calling thread's current context as it
 * was after every call.
 * libcuda stays loaded after close.
 * Errors: KVP_EUNAVAILABLE (no driver, no GPU, or built without the CUDA
 * headers), KVP_EINPUT (no such ordinal, one given twice), KVP_EEXHAUSTED (a
 * full GPU has no room for a context), KVP_EDRIVER, KVP_ENOMEM.
 */
int kvp_backend_cuda(struct kvp_backend **b, const uint32_t *devices,
		     size_t count, struct kvp_error *err);

/*
 * A card on paper: one device with so many bytes free, all of them for
 * pools.  Nothing is behind an address.  Blocks take exactly their bytes.
 * It has no verbs of mappings.  Errors: KVP_ENOMEM.
 */
int kvp_backend_card(struct kvp_backend **b, uint64_t free_bytes,
		     struct kvp_error *err);

/* The verbs as bits, for the fault backend: one for each slot. */
enum kvp_op {
	KVP_OP_DEVICE = 1 << 0, KVP_OP_PEER = 1 << 1, KVP_OP_MEMORY = 1 << 2,
	KVP_OP_RESERVE = 1 << 3, KVP_OP_UNRESERVE = 1 << 4,
	KVP_OP_CREATE = 1 << 5, KVP_OP_RELEASE = 1 << 6, KVP_OP_MAP = 1 << 7,
	KVP_OP_UNMAP = 1 << 8, KVP_OP_GRANT = 1 << 9,
	KVP_OP_GRANTED = 1 << 10, KVP_OP_FILL = 1 << 11,
	KVP_OP_MATCH = 1 << 12, KVP_OP_SYNCHRONIZE = 1 << 13,
	KVP_OP_POOL_CREATE = 1 << 14, KVP_OP_POOL_DESTROY = 1 << 15,
	KVP_OP_ALLOCATE = 1 << 16, KVP_OP_DEALLOCATE = 1 << 17,
	KVP_OP_PROCESS = 1 << 18, KVP_OP_ALL = (1 << 19) - 1
};

/* Which calls fail: the `countdown`-th call of the masked ones, from 1. */
struct kvp_fault {
	unsigned ops;		/* enum kvp_op */
	uint64_t countdown;	/* 0: none */
	bool for_ever;		/* and all masked calls after it */
	int code;		/* what they answer; 0: KVP_EDRIVER */
	uint64_t hits;		/* calls made to fail so far */
};

/*
 * Wrap a backend, under its name.  `fault` is read at every call and its
 * countdown counts down; it must outlive the wrapper.  Closing the wrapper does not close
 * the inner backend.  Errors: KVP_ENOMEM.
 */
int kvp_backend_fault(struct kvp_backend **b, struct kvp_backend *inner,
		      struct kvp_fault *fault, struct kvp_error *err);

/* Close any backend.  NULL is fine. */
void kvp_backend_close(struct kvp_backend *b);

#ifdef __cplusplus
}
#endif

#endif
