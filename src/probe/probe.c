/*
 * Probing: the order of the steps, and what is read from every device.  It
 * opens a CUDA backend of its own; the steps call the driver where they need
 * its result codes, which the backend's verbs do not return.
 */
#include "probe/probe.h"

#include <assert.h>
#include <stdlib.h>

#include <kvplan/backend.h>

#include "base/error.h"

static int check_options(const struct kvp_probe_options *options,
			 struct kvp_error *err)
{
	if (!options || options->max_entries <= KVP_PROBE_ENTRIES_MAX)
		return KVP_OK;
	return kvp_error_set(err, KVP_EINPUT, "%llu entries to count, must be "
			     "at most %llu",
			     (ull)options->max_entries,
			     (ull)KVP_PROBE_ENTRIES_MAX);
}

#ifdef KVP_HAVE_CUDA

#include <stdio.h>

int probe_interrupted(const struct probe *p, struct kvp_error *err)
{
	if (!p->options.interrupt || !*p->options.interrupt)
		return KVP_OK;
	return kvp_error_set(err, KVP_EINTERRUPTED, "interrupted by signal %d",
			     (int)*p->options.interrupt);
}

uint64_t probe_granularity(const struct probe *p)
{
	return p->limits->devices[p->owner].granularity;
}

static int read_recommended(struct probe *p, uint32_t device, uint64_t *bytes,
			    struct kvp_error *err)
{
	CUmemAllocationProp prop = cuda_allocation(gpu_of(p->c, device));
	size_t found = 0;
	int code = cuda_enter(p->c, device, err);

	if (!code)
		code = LAST(p->c, err, MemGetAllocationGranularity,
			    (&found, &prop,
			     CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
	if (!code)
		*bytes = found;
	return code;
}

static int ask_device(struct probe *p, uint32_t device, struct kvp_error *err)
{
	struct kvp_limits_device *d = &p->limits->devices[device];
	struct kvp_backend *b = &p->c->base;
	struct kvp_device_info info;
	int code = b->device.device(b, device, &info, err);

	if (code)
		return code;
	snprintf(d->label, sizeof(d->label), "%s", info.label);
	snprintf(d->name, sizeof(d->name), "%s", info.name);
	snprintf(d->uuid, sizeof(d->uuid), "%s", info.uuid);
	snprintf(p->limits->driver, sizeof(p->limits->driver), "%s",
		 info.driver);
	d->granularity = info.granularity;
	d->total_bytes = info.total_bytes;
	code = read_recommended(p, device, &d->recommended_granularity, err);
	return code ? code : b->device.memory(b, device, &d->free_bytes, err);
}

/* Fill the matrix of peers; owner and peer become the first pair in it. */
static int ask_peers(struct probe *p, struct kvp_error *err)
{
	struct kvp_backend *b = &p->c->base;
	uint32_t owner, device, n = b->devices;
	int code = KVP_OK;
	bool *can;

	for (owner = 0; !code && owner < n; owner++)
		for (device = 0; !code && device < n; device++) {
			can = &p->limits->peers[device * n + owner];
			code = b->device.peer(b, device, owner, can, err);
			if (code || p->has_peer || device == owner || !*can)
				continue;
			p->has_peer = true;
			p->owner = owner;
			p->peer = device;
		}
	return code;
}

static int ask_devices(struct probe *p, struct kvp_error *err)
{
	size_t n = p->c->base.devices;
	int code = KVP_OK;
	uint32_t i;

	p->limits->devices = calloc(n, sizeof(*p->limits->devices));
	p->limits->peers = calloc(n * n, sizeof(*p->limits->peers));
	if (!p->limits->devices || !p->limits->peers)
		return kvp_error_nomem(err);
	p->limits->ndevices = n;
	for (i = 0; !code && i < n; i++)
		code = ask_device(p, i, err);
	return code ? code : ask_peers(p, err);
}

/* If anything is stuck, make that the error, behind the one there is. */
static int report_stuck(const struct probe *p, int code, struct kvp_error *err)
{
	char cause[KVP_ERROR_MAX + 4] = "";

	if (!p->stuck_mappings && !p->stuck_allocations &&
	    !p->stuck_reservations)
		return code;
	if (code && err)
		snprintf(cause, sizeof(cause), "%s; ", err->text);
	return kvp_error_set(err, KVP_ESTUCK, "%snot everything could be given"
		" back; left behind are mappings: %llu, allocations: %llu, "
		"reservations: %llu", cause,
		(ull)p->stuck_mappings,
		(ull)p->stuck_allocations,
		(ull)p->stuck_reservations);
}

static int run(struct probe *p, struct kvp_error *err)
{
	int code = ask_devices(p, err);

	if (!code)
		code = cuda_enter(p->c, p->owner, err);
	if (code)
		return code;
	code = probe_abilities(p, err);
	if (!code)
		code = probe_costs(p, err);
	if (!code)
		code = probe_entries(p, err);
	return report_stuck(p, cuda_leave(p->c, code), err);
}

int kvp_probe_run(struct kvp_limits *limits, const uint32_t *devices,
		  size_t count, const struct kvp_probe_options *options,
		  struct kvp_error *err)
{
	struct probe p = { .limits = limits };
	struct kvp_backend *b = NULL;
	int code = check_options(options, err);

	assert(limits);
	*limits = (struct kvp_limits){ .driver = "" };
	if (options)
		p.options = *options;
	if (!code)
		code = kvp_backend_cuda(&b, devices, count, err);
	if (!code) {
		p.c = cuda_of(b);
		code = run(&p, err);
	}
	kvp_backend_close(b);
	if (code)
		kvp_limits_release(limits);
	return code;
}

#else

int kvp_probe_run(struct kvp_limits *limits, const uint32_t *devices,
		  size_t count, const struct kvp_probe_options *options,
		  struct kvp_error *err)
{
	struct kvp_backend *b = NULL;

	int code = check_options(options, err);

	assert(limits);
	*limits = (struct kvp_limits){ .driver = "" };
	return code ? code : kvp_backend_cuda(&b, devices, count, err);
}

#endif
