/*
 * The stand-in's contexts, streams and what runs on them, and pinned memory.
 */
#include "fake/libcuda.h"

#include <stdlib.h>
#include <string.h>

/* --- contexts and streams --- */

bool no_gpu(CUdevice device)
{
	return device < 0 || (uint32_t)device >= cu.devices;
}

/* A context is its GPU's address. */
CUcontext context_of(uint32_t device)
{
	return (CUcontext)(void *)&cu.gpus[device];
}

CUresult device_of(CUcontext context, uint32_t *device)
{
	uint32_t i;

	for (i = 0; i < cu.devices; i++) {
		if (context != context_of(i) || !cu.gpus[i].retained)
			continue;
		*device = i;
		return cu.gpus[i].lost ? CUDA_ERROR_ILLEGAL_ADDRESS
				       : CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_CONTEXT;
}

CUresult current(uint32_t *device)
{
	return depth ? device_of(stack[depth - 1], device)
		     : CUDA_ERROR_INVALID_CONTEXT;
}

/* The stream, if it is one and its context is current. */
CUresult find_stream(CUstream handle, struct stream **stream)
{
	struct stream *s;
	uint32_t device;
	CUresult rc = current(&device);

	for (s = cu.streams; !rc && s; s = s->next) {
		if ((CUstream)(void *)s != handle)
			continue;
		if (s->device != device) {
			refuse("a stream of device %" PRIu32 " is used while"
			       " %" PRIu32 " is current", s->device, device);
			return CUDA_ERROR_INVALID_HANDLE;
		}
		*stream = s;
		return CUDA_SUCCESS;
	}
	return rc ? rc : CUDA_ERROR_INVALID_HANDLE;
}

/* May the device do it (1: read, 2: write) to all of a range? */
static CUresult may(const char *call, uint32_t device, uint64_t address,
		    uint64_t bytes, unsigned need)
{
	uint64_t end = address + bytes;
	const struct mapping *m;

	for (; address < end; address = m->base + m->bytes) {
		m = mapping_at(address);
		if (!m)
			return refuse("%s: nothing is mapped at 0x%" PRIx64,
				      call, address);
		if (!(m->flags[device] & need))
			return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult enqueue(const char *call, CUstream handle, struct op op)
{
	struct stream *s = NULL;
	CUresult rc = find_stream(handle, &s);

	/* A kernel's access is known only when it runs. */
	if (!rc && !op.wrong)
		rc = may(call, s->device, op.address, op.bytes,
			 op.host ? 1 : 2);
	if (rc || !op.bytes)
		return rc;
	s->ops = grown(s->ops, s->nops, &s->room, sizeof(*s->ops));
	s->ops[s->nops++] = op;
	return CUDA_SUCCESS;
}

/* The kernel's work in one granule: an atomic minimum. */
static void compare(const struct op *op, uint64_t done,
		    const struct granule *g, uint32_t from, uint32_t n)
{
	static unsigned char is[GRANULE], should[GRANULE];
	uint32_t at;
	uint64_t vector;

	granule_read(g, from, from + n, is);
	expand(should, from, n, op->pattern);
	if (!memcmp(is, should, n))
		return;
	for (at = 0; is[at] == should[at]; at++)
		continue;
	vector = (done + at) / VECTOR;
	if (vector < *op->wrong)
		*op->wrong = vector;
}

/* Do the part of an operation that lies in one granule; how much that is. */
static uint64_t run_part(const struct op *op, uint64_t done)
{
	uint64_t address = op->address + done;
	const struct mapping *mapping = mapping_at(address);
	uint32_t from = (uint32_t)(address % GRANULE);
	uint64_t n = GRANULE - from;
	bool writes = !op->host && !op->wrong;
	struct granule *g;
	struct memory *m;
	uint64_t i;

	if (!mapping)
		return 0;
	if (n > op->bytes - done)
		n = op->bytes - done;
	m = &cu.memories[mapping->memory];
	i = (address - mapping->base) / GRANULE;
	if (!m->slot && !m->granules && writes)
		m->granules = zeroed(m->bytes / GRANULE,
				     sizeof(*m->granules));
	if (m->slot)
		g = granule_open(m->slot, i);
	else
		g = m->granules ? &m->granules[i] : NULL;
	if (op->host)
		granule_read(g, from, from + (uint32_t)n, op->host + done);
	else if (op->wrong)
		compare(op, done, g, from, (uint32_t)n);
	else
		granule_write(g, from, from + (uint32_t)n, op->pattern);
	if (m->slot)
		granule_close(m->slot, i, writes);
	return n;
}

/* A kernel that touches what its device was not granted faults. */
static bool may_run(const struct stream *s, const struct op *op, uint64_t done)
{
	const struct mapping *m = mapping_at(op->address + done);

	return m && (!op->wrong || (m->flags[s->device] & 1));
}

/* Do what a stream holds.  What is unmapped by now costs the context. */
CUresult run_stream(struct stream *s)
{
	uint64_t done, n;
	size_t i;

	/* Nothing that runs touches a block, so the order is no matter. */
	blocks_settle(s);
	for (i = 0; i < s->nops; i++)
		for (done = 0; done < s->ops[i].bytes; done += n) {
			n = may_run(s, &s->ops[i], done) ?
				run_part(&s->ops[i], done) : 0;
			if (n)
				continue;
			refuse("work of device %" PRIu32 " at 0x%" PRIx64
			       " ran where it may not or nothing is mapped",
			       s->device, s->ops[i].address + done);
			cu.gpus[s->device].lost = true;
			s->nops = 0;
			return CUDA_ERROR_ILLEGAL_ADDRESS;
		}
	s->nops = 0;
	return CUDA_SUCCESS;
}

CUresult stream_create(CUstream *handle, unsigned flags)
{
	struct stream *s;
	uint32_t device;
	CUresult rc = current(&device);

	if (!rc && (!handle || flags > CU_STREAM_NON_BLOCKING))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc)
		return rc;
	s = zeroed(1, sizeof(*s));
	s->device = device;
	s->next = cu.streams;
	cu.streams = s;
	*handle = (CUstream)(void *)s;
	return CUDA_SUCCESS;
}

void stream_free(struct stream *s)
{
	struct stream **link = &cu.streams;

	while (*link != s)
		link = &(*link)->next;
	*link = s->next;
	blocks_settle(s);
	free(s->ops);
	free(s);
}

CUresult context_synchronize(void)
{
	struct stream *s;
	uint32_t device;
	CUresult rc = current(&device);

	for (s = cu.streams; !rc && s; s = s->next)
		if (s->device == device)
			rc = run_stream(s);
	return rc;
}

CUresult context_release(CUdevice device)
{
	struct stream *s, *next;
	struct gpu *g;
	size_t i;

	if (no_gpu(device))
		return CUDA_ERROR_INVALID_DEVICE;
	g = &cu.gpus[device];
	if (!g->retained) {
		refuse("cuDevicePrimaryCtxRelease: device %d is not retained",
		       device);
		return CUDA_ERROR_INVALID_CONTEXT;
	}
	if (--g->retained)
		return CUDA_SUCCESS;
	g->lost = false;
	for (i = 0; i < depth; i++)
		if (stack[i] == context_of((uint32_t)device))
			refuse("cuDevicePrimaryCtxRelease: the context of"
			       " device %d is still current", device);
	for (s = cu.streams; s; s = next) {
		next = s->next;
		if (s->device != (uint32_t)device)
			continue;
		refuse("cuDevicePrimaryCtxRelease: device %d has a stream",
		       device);
		stream_free(s);
	}
	return CUDA_SUCCESS;
}

CUresult host_alloc(void **p, size_t bytes)
{
	uint32_t device;
	CUresult rc = current(&device);

	if (rc)
		return rc;
	if (!p || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	*p = malloc(bytes);
	if (!*p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	cu.hosts = grown(cu.hosts, cu.nhosts, &cu.hosts_room,
			 sizeof(*cu.hosts));
	cu.hosts[cu.nhosts++] = *p;
	return CUDA_SUCCESS;
}

CUresult host_free(void *p)
{
	size_t i;

	for (i = 0; i < cu.nhosts; i++) {
		if (cu.hosts[i] != p)
			continue;
		free(p);
		cu.hosts[i] = cu.hosts[--cu.nhosts];
		return CUDA_SUCCESS;
	}
	return refuse("cuMemFreeHost: not from cuMemHostAlloc, or freed");
}
