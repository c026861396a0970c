/*
 * What the files of the host backend share: backend_host.c (devices, address
 * ranges), host_memory.c (handles), host_share.c (export and import),
 * host_map.c (mappings and access), host_pool.c (pools) and host_kernel.c
 * (the kernel's limits and errors).
 *
 * Every device has a sparse memfd, and a second one for the handles that can
 * be exported.  Every handle is a range of one of them, so two mappings of a
 * handle share memory physically.  Reservations and mappings are kept in
 * search trees in which overlapping ranges count as equal: looking up an
 * address and refusing an overlap are the same O(log n) search.
 */
#ifndef KVPLAN_BACKEND_HOST_H
#define KVPLAN_BACKEND_HOST_H

#include <sys/types.h>

#include "backend/backend_host.h"
#include "backend/pools.h"

/* The seals of a file that can be shared: it keeps its size.  None of them
   forbids writing, nor punching holes. */
#define HOST_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* No slot. */
#define HOST_NONE UINT32_MAX

/* A node of the tree of reservations, and the first member of a mapping. */
struct host_range {
	uint64_t first;
	uint64_t end;
};

enum host_kind {
	HOST_PRIVATE,		/* grows */
	HOST_SHARED,		/* sealed: has its size from the beginning */
	HOST_IMPORTED		/* of another process */
};

struct host_file {
	enum host_kind kind;
	int fd;			/* -1 until something is created */
	uint32_t last;		/* slot with the highest range; of an imported
				   file: the newest slot */
	uint64_t bytes;
	uint64_t exported;	/* end of the ranges that were exported; none
				   below is used again */
};

/* A file that handles were imported from, open while there is one. */
struct host_import {
	struct host_file file;
	struct host_import *next;
	dev_t device;		/* these two name the file */
	ino_t inode;
};

/*
 * The memory of a handle: a range of a file.  The slots of a file are linked
 * in the order of their ranges, so that the end of the used ranges is known
 * after the last slot has been freed.
 */
struct host_slot {
	uint64_t offset;
	uint64_t bytes;
	uint64_t mappings;
	struct host_file *file;
	uint32_t uses;		/* how often it was used; a handle holds the
				   number, so an old one is recognized */
	uint32_t before;
	uint32_t after;		/* if unused: the next unused slot */
	bool used;
	bool released;
};

struct host {
	struct kvp_backend base;
	uint64_t granularity;
	void *reservations;	/* tree of struct host_range */
	void *mappings;		/* tree of struct host_mapping, host_map.c */
	struct pools pools;
	struct host_import *imports;
	struct host_slot *slots;
	uint32_t nslots;
	uint32_t unused;	/* first unused slot */
	struct host_alive alive;
	size_t flag_bytes;	/* two bits per device */
	unsigned char *flags;	/* room for the flags of one grant */
	void *spare;		/* host_spare_make(); NULL: none */
	uint32_t nfiles;	/* 2 * devices */
	struct host_file files[];	/* a private and a shared one of each
					   device */
};

static inline struct host *host_of(struct kvp_backend *b)
{
	return (struct host *)b;
}

/* host_kernel.c: KVP_EDRIVER with the verb, the range and the reason. */
int host_refuse(struct kvp_error *err, const char *call, uint64_t address,
		uint64_t bytes, const char *why);
/*
 * The error of the verb `call` after the system call `sys` failed; reads
 * errno.  KVP_EEXHAUSTED if that is ENOMEM, else KVP_EDRIVER.
 */
int host_fail_call(struct kvp_error *err, const char *call, const char *sys,
		   uint64_t address, uint64_t bytes);
/*
 * Spare maps: when the process has no map left, even unmapping fails unless
 * these are freed first.  NULL if they cannot be made.
 */
void *host_spare_make(void);
void host_spare_free(void *spare);
int host_process(struct kvp_backend *b, const struct kvp_demand *demand,
		 struct kvp_process *process, struct kvp_error *err);
/* Read the number behind `key` in the first line that begins with it. */
bool host_read_number(const char *path, const char *key, uint64_t *value);

/* backend_host.c: KVP_EDRIVER if there is no such device, or if the range is
   empty, wraps around or is not aligned to the granularity. */
int host_check_device(const struct host *h, const char *call,
		      uint32_t device, struct kvp_error *err);
int host_check_range(const struct host *h, const char *call,
		     uint64_t address, uint64_t bytes, struct kvp_error *err);

/* Compare two ranges for the trees: overlapping ranges are equal. */
int host_compare(const void *a, const void *b);
/* A range in the tree that overlaps [first, end), or NULL. */
void *host_find(void *const *tree, uint64_t first, uint64_t end);

/* host_memory.c */
/* Find an unused slot; it stays unused until host_use_slot() makes it a
   handle and returns that. */
int host_find_unused_slot(struct host *h, uint32_t *index,
			  struct kvp_error *err);
kvp_handle host_use_slot(struct host *h, uint32_t index, struct host_file *file,
			 uint64_t offset, uint64_t bytes);
int host_create(struct kvp_backend *b, const struct kvp_create *what,
		kvp_handle *handle, struct kvp_error *err);
int host_release(struct kvp_backend *b, kvp_handle handle,
		 struct kvp_error *err);
/* Find the slot of a handle that is not released; count one mapping less of
   a slot, and free its memory if the handle is released and it was the last. */
int host_find_slot(const struct host *h, const char *call, kvp_handle handle,
		   uint32_t *slot, struct kvp_error *err);
int host_slot_unmap(struct host *h, uint32_t slot, struct kvp_error *err);

/* host_share.c */
int host_export_handle(struct kvp_backend *b, kvp_handle handle,
		       struct kvp_shared *shared, struct kvp_error *err);
int host_import_handle(struct kvp_backend *b, uint32_t device,
		       const struct kvp_shared *shared, kvp_handle *handle,
		       struct kvp_error *err);
/* Close a file that nothing is imported from any more; close all. */
void host_import_close(struct host *h, const struct host_file *file);
void host_imports_release(struct host *h);

/* host_map.c */
int host_map(struct kvp_backend *b, uint64_t address, uint64_t bytes,
	     kvp_handle handle, struct kvp_error *err);
int host_unmap(struct kvp_backend *b, uint64_t address, uint64_t bytes,
	       struct kvp_error *err);
int host_grant(struct kvp_backend *b, uint64_t address, uint64_t bytes,
	       const struct kvp_grant *grants, size_t count,
	       struct kvp_error *err);
int host_granted(struct kvp_backend *b, uint64_t address, uint32_t device,
		 enum kvp_flags *flags, struct kvp_error *err);
int host_fill(struct kvp_backend *b, uint32_t device, uint64_t address,
	      uint64_t bytes, uint32_t pattern, struct kvp_error *err);
int host_match(struct kvp_backend *b, uint32_t device, uint64_t address,
	       uint64_t bytes, uint32_t pattern, uint64_t *same_bytes,
	       struct kvp_error *err);

/* host_pool.c */
int host_pool_create(struct kvp_backend *b, uint32_t device, kvp_pool *pool,
		     struct kvp_error *err);
int host_pool_destroy(struct kvp_backend *b, kvp_pool pool,
		      struct kvp_error *err);
int host_allocate(struct kvp_backend *b, kvp_pool pool, uint64_t bytes,
		  uint64_t *address, struct kvp_error *err);
int host_deallocate(struct kvp_backend *b, kvp_pool pool, uint64_t address,
		    struct kvp_error *err);
/*
 * Unmap the deallocated blocks of a device's pools.  A block that the kernel
 * does not unmap stays pending.  KVP_EEXHAUSTED: unmapping would split a map
 * and the process has none left.
 */
int host_pools_free_pending(struct host *h, uint32_t device,
			    struct kvp_error *err);
void host_pools_release(struct host *h);

#endif
