/*
 * Backends: the calls to a memory system that realizing needs, as three
 * tables of verbs: for devices, for mappings and for pools.  There are four:
 * host memory (with every verb, so that all code runs without a GPU), the
 * CUDA driver, a simulated card (pools only), and a fault backend that wraps
 * another backend and makes chosen calls fail.
 *
 *   acquires                                          undone by
 *   reserve        an address range                   unreserve
 *   create         a physical allocation (a handle)   release
 *   import_handle  that of another process            release
 *   map            a whole handle at an address       unmap
 *   grant          access to a mapping to devices     unmap
 *   allocate       a block from a pool                deallocate
 *   export_handle  a descriptor of a handle           close(2)
 *
 * All sizes are in bytes.  Addresses and lengths are multiples of the
 * device's granularity, except in fill, match and the pool verbs.  A mapping
 * has no access until it is granted.  A handle may be mapped at several
 * addresses.  It may be released while it is mapped; its memory is freed
 * after the last unmap.
 *
 * Every verb returns KVP_OK or
 *   KVP_EEXHAUSTED   the system reports out of memory, for any reason
 *   KVP_EDRIVER      any other failed call, also for a device, handle, pool
 *                    or mapping that does not exist
 *   KVP_ENOMEM       this process has no memory
 * with a text that names the call and the system's error.  On failure
 * nothing is acquired and out-parameters are untouched.  Calls on one
 * backend are made from one thread at a time.
 *
 * A fill or match of an address that is not mapped may destroy the context
 * of a CUDA device.
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

/* A physical allocation; only its backend knows what the number means. */
typedef uint64_t kvp_handle;

/* A pool of one device, for stream-ordered allocation; likewise. */
typedef uint64_t kvp_pool;

/* The access of a device to a mapping, with the CUDA driver's values. */
enum kvp_flags { KVP_NO_ACCESS = 0, KVP_READ = 1, KVP_READWRITE = 3 };

struct kvp_grant {
	uint32_t device;
	enum kvp_flags flags;
};

enum kvp_handle_type { KVP_HANDLE_NONE, KVP_HANDLE_POSIX_FD,
		       KVP_HANDLE_FABRIC };

/* A physical allocation to create.  Zeroed flags: it cannot be exported. */
struct kvp_create {
	uint32_t device;
	uint64_t bytes;
	enum kvp_handle_type handle_type;
	bool rdma;		/* usable by GPUDirect RDMA; KVP_EDRIVER if
				   the device does not support that */
};

/* A physical allocation as another process imports it. */
struct kvp_shared {
	int fd;			/* POSIX descriptor; close-on-exec */
	uint64_t offset;	/* host: where in the descriptor; CUDA: 0 */
	uint64_t bytes;
};

struct kvp_device_info {
	char label[32];		/* for messages: "GPU 2" */
	char name[128];
	char uuid[48];		/* "GPU-..." as nvidia-smi shows it */
	char driver[48];	/* driver or kernel version */
	uint64_t granularity;
	uint64_t total_bytes;
};

/* What a realization is going to use besides memory, in total. */
struct kvp_demand {
	uint32_t devices;
	uint64_t mappings;
	uint64_t reservations;
	uint64_t descriptors;	/* open at once, in addition to those that
				   the backend keeps for its devices */
};

/* A limit of this process, and the least limit that would suffice: what the
   demand uses and what is known to be in use already. */
struct kvp_process_limit {
	uint64_t need;
	uint64_t limit;		/* UINT64_MAX: there is none */
};

struct kvp_process {
	struct kvp_process_limit maps;	/* sysctl vm.max_map_count; `need`
					   is an estimate */
	struct kvp_process_limit descriptors;	/* ulimit -n */
};

struct kvp_backend;

/* Verbs for devices. */
struct kvp_device_ops {
	/* Describe a device. */
	int (*device)(struct kvp_backend *b, uint32_t device,
		      struct kvp_device_info *info, struct kvp_error *err);
	/* Whether `device` can be granted access to memory of `owner`. */
	int (*peer)(struct kvp_backend *b, uint32_t device, uint32_t owner,
		    bool *can, struct kvp_error *err);
	/* Whether the process sees a GPU whose UUID ends with this text;
	   true for a backend without GPUs. */
	int (*visible)(struct kvp_backend *b, const char *uuid_end, bool *is,
		       struct kvp_error *err);
	/* The free memory of a device. */
	int (*memory)(struct kvp_backend *b, uint32_t device,
		      uint64_t *free_bytes, struct kvp_error *err);
	/* Wait until all fills by the device have completed and every device
	   can see them. */
	int (*synchronize)(struct kvp_backend *b, uint32_t device,
			   struct kvp_error *err);
	/* The limits of this process, and what `demand` needs of them. */
	int (*process)(struct kvp_backend *b, const struct kvp_demand *demand,
		       struct kvp_process *process, struct kvp_error *err);
};

/* Verbs for address ranges, physical allocations and mappings. */
struct kvp_mapping_ops {
	/*
	 * Reserve an address range.  wanted 0: at any address; otherwise at
	 * exactly that one, or KVP_EDRIVER.  Also KVP_ESTUCK if the system
	 * gave another address and that range could not be unreserved.
	 *
	 * To get a wanted address, the CUDA backend may reserve up to 1 TiB
	 * around it.  That range serves later wanted addresses too and is
	 * unreserved with the last of them.
	 */
	int (*reserve)(struct kvp_backend *b, uint64_t bytes, uint64_t wanted,
		       uint64_t *address, struct kvp_error *err);
	/* Give back a whole range that reserve gave.  Nothing may be mapped
	   in it. */
	int (*unreserve)(struct kvp_backend *b, uint64_t address,
			 uint64_t bytes, struct kvp_error *err);
	int (*create)(struct kvp_backend *b, const struct kvp_create *what,
		      kvp_handle *handle, struct kvp_error *err);
	int (*release)(struct kvp_backend *b, kvp_handle handle,
		       struct kvp_error *err);
	/*
	 * Make a descriptor of a handle that another process can import; the
	 * caller closes shared->fd.  KVP_EDRIVER unless the handle was
	 * created with KVP_HANDLE_POSIX_FD: an imported handle cannot be
	 * exported, and this version shares no fabric handles.
	 */
	int (*export_handle)(struct kvp_backend *b, kvp_handle handle,
			     struct kvp_shared *shared, struct kvp_error *err);
	/*
	 * Import an allocation of another process for use by `device`.  The
	 * caller still owns and closes shared->fd.  The handle is released
	 * with release.  CUDA does not tell the length of what is imported:
	 * a wrong shared->bytes is KVP_EDRIVER when it is mapped.
	 */
	int (*import_handle)(struct kvp_backend *b, uint32_t device,
			     const struct kvp_shared *shared,
			     kvp_handle *handle, struct kvp_error *err);
	/* Map a handle in a reserved range; bytes is the length it was
	   created with. */
	int (*map)(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		   kvp_handle handle, struct kvp_error *err);
	/* Unmap one whole mapping, after waiting for fills that still run. */
	int (*unmap)(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		     struct kvp_error *err);
	/* Set the access of devices to one whole mapping.  Each device is
	   listed once at most; those not listed keep their access. */
	int (*grant)(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		     const struct kvp_grant *grants, size_t count,
		     struct kvp_error *err);
	/* The access of a device to the mapping at this address. */
	int (*granted)(struct kvp_backend *b, uint64_t address,
		       uint32_t device, enum kvp_flags *flags,
		       struct kvp_error *err);
	/*
	 * Let `device` write a pattern of four bytes: the byte at address x
	 * becomes byte x % 4 of the pattern, its lowest byte first.  Address
	 * and length may be any.  The fill runs after earlier fills by the
	 * same device; there is no order with those of other devices.  A
	 * fill that fails may have written some of its bytes.
	 */
	int (*fill)(struct kvp_backend *b, uint32_t device, uint64_t address,
		    uint64_t bytes, uint32_t pattern, struct kvp_error *err);
	/*
	 * Let `device` read and compare with the pattern, after its own
	 * fills have completed.  *same_bytes is the number of bytes before
	 * the first that differs; `bytes` if none does.
	 */
	int (*match)(struct kvp_backend *b, uint32_t device, uint64_t address,
		     uint64_t bytes, uint32_t pattern, uint64_t *same_bytes,
		     struct kvp_error *err);
};

/*
 * Verbs for pools: stream-ordered allocation beside the mappings.
 *
 * A pool takes memory from its device in blocks of a fixed size: 32 MiB with
 * the CUDA driver (measured on H200), a page of the host, a byte of the
 * simulated card.  It frees such a block at the first synchronize of the
 * device at which nothing in it is allocated.
 */
struct kvp_pool_ops {
	/* Create a pool on a device. */
	int (*pool_create)(struct kvp_backend *b, uint32_t device,
			   kvp_pool *pool, struct kvp_error *err);
	/* Destroy a pool; KVP_EDRIVER if something is still allocated. */
	int (*pool_destroy)(struct kvp_backend *b, kvp_pool pool,
			    struct kvp_error *err);
	/*
	 * Allocate at least one byte, for use by the pool's device alone and
	 * after the work that the device was given before.  This is no
	 * mapping: fill, match, grant and unmap do not accept it.
	 */
	int (*allocate)(struct kvp_backend *b, kvp_pool pool, uint64_t bytes,
			uint64_t *address, struct kvp_error *err);
	/* Give back everything that one allocate gave.  The pool can use it
	   again after the next synchronize. */
	int (*deallocate)(struct kvp_backend *b, kvp_pool pool,
			  uint64_t address, struct kvp_error *err);
};

/* The first member of every concrete backend.  No verb is NULL. */
struct kvp_backend {
	struct kvp_device_ops device;
	struct kvp_mapping_ops mapping;
	struct kvp_pool_ops pool;
	/* Free the backend.  What it still holds may be lost. */
	void (*close)(struct kvp_backend *b);
	const char *name;	/* "host", "cuda", "card" */
	uint32_t devices;	/* their number; they count from 0 */
	/* All devices share one memory, and an allocation takes memory only
	   when it is first written. */
	bool lazy;
};

/*
 * Fill every verb that is NULL, because a new backend does not have it, with
 * one that returns KVP_EDRIVER, "map: the card backend has no such call".
 */
void kvp_backend_complete(struct kvp_backend *b);

/*
 * Make a backend on this machine's memory, with `devices` devices.  Every
 * device is a memfd and every mapping a range of it, so aliases share their
 * bytes.  fill and match obey the access that was granted.  Close *b with
 * kvp_backend_close(); on failure it is NULL.
 *
 * Handles that can be exported are in a second memfd of their device.  It is
 * sealed, so its size never changes; what is imported must be sealed so too.
 * An importer reads zeroes after the owner has freed the allocation, which on
 * a GPU would live on; it keeps what an owner had that closed its backend or
 * ended.  `ulimit -f` bounds what can be created in the second memfd.
 *
 * Errors: KVP_EINPUT for 0 devices or more than KVP_HOST_DEVICES_MAX;
 * KVP_EDRIVER for a granularity that is not a power of two or is smaller
 * than a page; KVP_ENOMEM.
 */
#define KVP_HOST_DEVICES_MAX 65536
int kvp_backend_host(struct kvp_backend **b, uint32_t devices,
		     uint64_t granularity, struct kvp_error *err);

/*
 * Make a backend on the CUDA driver.  This loads libcuda.so.1, which stays
 * loaded after closing.  devices[i] is the driver's ordinal of device i; if
 * count is 0, every visible GPU is used.  The backend uses the primary
 * contexts, and every call leaves the thread's current context as it was.
 * Close *b with kvp_backend_close(); on failure it is NULL.
 *
 * Errors: KVP_EUNAVAILABLE if there is no driver or GPU, or kvplan was built
 * without the CUDA headers; KVP_EINPUT if an ordinal does not exist or is
 * given twice; KVP_EEXHAUSTED if a GPU has no memory for a context;
 * KVP_EDRIVER; KVP_ENOMEM.
 */
int kvp_backend_cuda(struct kvp_backend **b, const uint32_t *devices,
		     size_t count, struct kvp_error *err);

/*
 * Make a simulated card: one device with free_bytes of free memory, for
 * pools alone.  Its addresses cannot be read or written, and an allocation
 * takes exactly its bytes.  It has no mapping verbs.  Close *b with
 * kvp_backend_close(); on failure it is NULL.  Errors: KVP_ENOMEM.
 */
int kvp_backend_card(struct kvp_backend **b, uint64_t free_bytes,
		     struct kvp_error *err);

/* One bit for each verb, for the fault backend. */
enum kvp_op {
	KVP_OP_DEVICE = 1 << 0, KVP_OP_PEER = 1 << 1, KVP_OP_MEMORY = 1 << 2,
	KVP_OP_RESERVE = 1 << 3, KVP_OP_UNRESERVE = 1 << 4,
	KVP_OP_CREATE = 1 << 5, KVP_OP_RELEASE = 1 << 6, KVP_OP_MAP = 1 << 7,
	KVP_OP_UNMAP = 1 << 8, KVP_OP_GRANT = 1 << 9,
	KVP_OP_GRANTED = 1 << 10, KVP_OP_FILL = 1 << 11,
	KVP_OP_MATCH = 1 << 12, KVP_OP_SYNCHRONIZE = 1 << 13,
	KVP_OP_POOL_CREATE = 1 << 14, KVP_OP_POOL_DESTROY = 1 << 15,
	KVP_OP_ALLOCATE = 1 << 16, KVP_OP_DEALLOCATE = 1 << 17,
	KVP_OP_PROCESS = 1 << 18, KVP_OP_EXPORT = 1 << 19,
	KVP_OP_IMPORT = 1 << 20, KVP_OP_VISIBLE = 1 << 21,
	KVP_OP_ALL = (1 << 22) - 1
};

/* Which calls fail, of those whose bit is set in `ops`. */
struct kvp_fault {
	unsigned ops;		/* enum kvp_op */
	uint64_t countdown;	/* 1: the next call fails; 0: none does */
	bool for_ever;		/* every later call fails too */
	int code;		/* what they return; 0: KVP_EDRIVER */
	uint64_t hits;		/* calls that were made to fail */
};

/*
 * Wrap a backend; the wrapper has the name of the inner one.  Every call of
 * a verb in fault->ops reads *fault and counts its countdown down.  `inner`
 * and `fault` must outlive the wrapper; closing it does not close the inner
 * backend.  Close *b with kvp_backend_close(); on failure it is NULL.
 * Errors: KVP_ENOMEM.
 */
int kvp_backend_fault(struct kvp_backend **b, struct kvp_backend *inner,
		      struct kvp_fault *fault, struct kvp_error *err);

/* Close any backend.  What it still holds may be lost.  NULL is allowed. */
void kvp_backend_close(struct kvp_backend *b);

#ifdef __cplusplus
}
#endif

#endif
