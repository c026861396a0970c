#include "cli/gpus.h"

#include <stdlib.h>

static int read_gpu(struct kvp_backend *b, uint32_t device,
		    struct gpu_reading *reading, struct kvp_error *err)
{
	int code = b->device.device(b, device, &reading->info, err);

	return code ? code : b->device.memory(b, device, &reading->free_bytes,
					      err);
}

int gpus_read(struct gpu_reading **readings, size_t *count,
	      const uint32_t *gpu, size_t ngpus, struct kvp_error *err)
{
	struct gpu_reading *list = NULL;
	struct kvp_backend *b = NULL;
	uint32_t i;
	int code = kvp_backend_cuda(&b, gpu, ngpus, err);

	if (!code) {
		list = calloc(b->devices, sizeof(*list));
		if (!list)
			code = kvp_error_nomem(err);
	}
	for (i = 0; !code && i < b->devices; i++)
		code = read_gpu(b, i, &list[i], err);
	if (!code) {
		*readings = list;
		*count = b->devices;
		list = NULL;
	}
	free(list);
	kvp_backend_close(b);
	return code;
}
