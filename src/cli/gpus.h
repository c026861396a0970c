/*
 * Reads the free memory of GPUs, for size and headroom.
 */
#ifndef KVPLAN_CLI_GPUS_H
#define KVPLAN_CLI_GPUS_H

#include "cli/cli.h"

struct gpu_reading {
	struct kvp_device_info info;
	uint64_t free_bytes;	/* with a context of this process */
};

/*
 * Read the GPUs listed, or all visible ones (NULL, 0), each once it has a
 * context.  The caller frees *readings.  Errors: those of kvp_backend_cuda()
 * and of the driver.
 */
int gpus_read(struct gpu_reading **readings, size_t *count,
	      const uint32_t *gpu, size_t ngpus, struct kvp_error *err);

#endif
