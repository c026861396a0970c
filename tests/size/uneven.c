/*
 * Loaded in front of the stand-in driver: what is free differs from GPU to
 * GPU, as UNEVEN_FREE lists it.
 */
#include <stdlib.h>

int cuCtxPopCurrent_v2(void **context);
int cuCtxPushCurrent_v2(void *context);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuMemGetInfo_v2(size_t *available, size_t *total);

/* The GPU whose primary context this is. */
static int device_of(const void *context)
{
	void *other;
	int device;

	for (device = 0; !cuDevicePrimaryCtxRetain(&other, device); device++) {
		cuDevicePrimaryCtxRelease_v2(device);
		if (other == context)
			return device;
	}
	abort();
}

int cuMemGetInfo_v2(size_t *available, size_t *total)
{
	const char *text = getenv("UNEVEN_FREE");
	void *context;
	char *end;
	int rc = cuCtxPopCurrent_v2(&context), device;

	if (rc)
		return rc;
	for (device = device_of(context); text; device--) {
		*available = strtoull(text, &end, 10);
		text = device && *end ? end + 1 : NULL;
	}
	*total = 0;	/* nobody asks here */
	return cuCtxPushCurrent_v2(context);
}
