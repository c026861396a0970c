/*
 * Free memory of GPUs, for the commands that plan by it.
 */
#ifndef KVPLAN_CLI_GPUS_H
#define KVPLAN_CLI_GPUS_H

#include "cli/cli.h"

struct gpu_reading {
	struct kvp_device_info info;
	uint64_t free_bytes;	/* beside everything that runs there now */
};

/*
 * Read the GPUs listed, or all visible ones (NULL, 0), each after its
 * context exists.  free() *readings.  Errors: those of kvp_backend_cuda()
 * and the driver's.
 */
int gpus_read(struct gpu_reading **readings, size_t *count,
	      const uint32_t *gpu, size_t ngpus, struct kvp_error *err);

#endif
