/*
 * The CUDA backend: comparing memory with a pattern.  A kernel compares on
 * the GPU, at the memory's speed.  Small ranges and unaligned ends are copied
 * and compared on the host, and so is everything if the kernel cannot be
 * loaded.
 */
#include "backend/backend_cuda.h"

#ifdef KVP_HAVE_CUDA

#include "base/u64.h"
#include "backend/backend_util.h"

/* Bytes of a host buffer; large enough that a copy runs at full speed. */
#define BUFFER_BYTES (UINT64_C(16) << 20)

/* With fewer bytes a launch costs more than a copy. */
#define KERNEL_BYTES (UINT64_C(64) << 10)

#define VECTOR_BYTES 16
#define THREADS 256
#define BLOCKS 1056		/* eight for each of 132 multiprocessors */

/*
 * kvp_match(from, vectors, word, first): compares `vectors` vectors of four
 * words, which begin at `from`, with `word`, and lowers *first, by an atomic
 * minimum, to the number of the first one that differs.  PTX for compute
 * capability 6.0, which the driver compiles.
 */
static const char kernel[] =
	".version 6.0\n"
	".target sm_60\n"
	".address_size 64\n"
	".visible .entry kvp_match(.param .u64 from, .param .u64 vectors,\n"
	"	.param .u32 word, .param .u64 first)\n"
	"{\n"
	"	.reg .pred %p<6>;\n"
	"	.reg .b32 %r<12>;\n"
	"	.reg .b64 %rd<12>;\n"
	"	ld.param.u64 %rd1, [from];\n"
	"	ld.param.u64 %rd2, [vectors];\n"
	"	ld.param.u32 %r1, [word];\n"
	"	ld.param.u64 %rd3, [first];\n"
	"	mov.u32 %r2, %ctaid.x;\n"
	"	mov.u32 %r3, %ntid.x;\n"
	"	mov.u32 %r4, %tid.x;\n"
	"	mov.u32 %r5, %nctaid.x;\n"
	"	mul.wide.u32 %rd4, %r2, %r3;\n"
	"	cvt.u64.u32 %rd5, %r4;\n"
	"	add.u64 %rd4, %rd4, %rd5;\n"
	"	mul.wide.u32 %rd6, %r5, %r3;\n"
	"LOOP:\n"
	"	setp.ge.u64 %p1, %rd4, %rd2;\n"
	"	@%p1 bra DONE;\n"
	"	shl.b64 %rd7, %rd4, 4;\n"
	"	add.u64 %rd7, %rd1, %rd7;\n"
	"	ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd7];\n"
	"	setp.ne.u32 %p2, %r6, %r1;\n"
	"	setp.ne.or.u32 %p3, %r7, %r1, %p2;\n"
	"	setp.ne.or.u32 %p4, %r8, %r1, %p3;\n"
	"	setp.ne.or.u32 %p5, %r9, %r1, %p4;\n"
	"	@%p5 red.global.min.u64 [%rd3], %rd4;\n"
	"	add.u64 %rd4, %rd4, %rd6;\n"
	"	bra LOOP;\n"
	"DONE:\n"
	"	ret;\n"
	"}\n";

/* Copy one buffer after the other; compare each while the next is copied. */
static int match_on_host(struct cuda *c, CUstream stream, uint64_t address,
			 uint64_t bytes, uint32_t pattern, uint64_t *same,
			 struct kvp_error *err)
{
	uint64_t asked = u64_min(bytes, BUFFER_BYTES);
	uint64_t here, next, good;
	unsigned which = 0;
	int code;

	*same = 0;
	if (!bytes)
		return KVP_OK;
	code = CALL(c, err, MemcpyDtoHAsync,
		    (c->buffers[0], address, asked, stream));
	while (!code && *same < bytes) {
		code = CALL(c, err, StreamSynchronize, (stream));
		here = asked - *same;
		next = u64_min(bytes - asked, BUFFER_BYTES);
		if (!code && next)
			code = CALL(c, err, MemcpyDtoHAsync,
				    (c->buffers[!which], address + asked, next,
				     stream));
		if (code)
			break;
		good = backend_pattern_compare(c->buffers[which],
					       address + *same, here, pattern);
		*same += good;
		if (good < here)
			break;
		asked += next;
		which = !which;
	}
	return code;
}

/* Allocate both buffers when first needed: a run without checks needs none. */
static int make_buffers(struct cuda *c, struct kvp_error *err)
{
	size_t i;
	int code = KVP_OK;

	for (i = 0; !code && i < 2; i++)
		if (!c->buffers[i])
			code = CALL(c, err, MemHostAlloc,
				    (&c->buffers[i], BUFFER_BYTES,
				     CU_MEMHOSTALLOC_PORTABLE));
	return code;
}

/* Load the kernel, once; false: it cannot be loaded, the host compares. */
static bool load_kernel(struct cuda *c, struct gpu *g)
{
	if (g->match || g->no_kernel)
		return g->match;
	g->no_kernel =
		CALL(c, NULL, ModuleLoadData, (&g->module, kernel)) ||
		CALL(c, NULL, ModuleGetFunction,
		     (&g->match, g->module, "kvp_match"));
	if (g->no_kernel)
		g->match = NULL;
	return g->match;
}

/* Compare whole vectors; *first is the number of the first one that differs,
   or UINT64_MAX. */
static int match_vectors(struct cuda *c, struct gpu *g, uint64_t address,
			 uint64_t vectors, uint32_t pattern, uint64_t *first,
			 struct kvp_error *err)
{
	/* Pinned memory has one address on host and GPU. */
	volatile uint64_t *found = c->buffers[0];
	uint64_t result = (uint64_t)(uintptr_t)c->buffers[0];
	void *arguments[] = { &address, &vectors, &pattern, &result };
	uint64_t blocks = u64_min(u64_ceil_div(vectors, THREADS), BLOCKS);
	int code;

	*found = UINT64_MAX;
	code = CALL(c, err, LaunchKernel,
		    (g->match, (unsigned)blocks, 1, 1, THREADS, 1, 1, 0,
		     g->stream, arguments, NULL));
	if (!code)
		code = CALL(c, err, StreamSynchronize, (g->stream));
	*first = *found;
	return code;
}

/*
 * Compare head and tail on the host, the vectors between on the GPU.  The
 * head is never empty: if the GPU has no access, its copy fails, before a
 * kernel would destroy the context.
 */
static int match_on_gpu(struct cuda *c, struct gpu *g, uint64_t address,
			uint64_t bytes, uint32_t pattern, uint64_t *same,
			struct kvp_error *err)
{
	uint64_t head = VECTOR_BYTES - address % VECTOR_BYTES;
	uint64_t vectors, first, good;
	int code;

	code = match_on_host(c, g->stream, address, head, pattern, same, err);
	if (code || *same < head)
		return code;
	vectors = (bytes - head) / VECTOR_BYTES;
	code = match_vectors(c, g, address + head, vectors, pattern, &first,
			     err);
	if (code)
		return code;
	/* The host compares the vector that differs, or the tail, by bytes. */
	*same = head + u64_min(first, vectors) * VECTOR_BYTES;
	code = match_on_host(c, g->stream, address + *same,
			     u64_min(VECTOR_BYTES, bytes - *same), pattern,
			     &good, err);
	*same += good;
	return code;
}

int cuda_match(struct kvp_backend *b, uint32_t device, uint64_t address,
	       uint64_t bytes, uint32_t pattern, uint64_t *same_bytes,
	       struct kvp_error *err)
{
	struct cuda *c = cuda_of(b);
	uint64_t same = 0;
	int code = cuda_enter(c, device, err);
	struct gpu *g;

	assert(same_bytes);
	if (code)
		return code;
	g = gpu_of(c, device);
	g->busy = true;
	code = make_buffers(c, err);
	if (!code)
		code = bytes >= KERNEL_BYTES && load_kernel(c, g) ?
			match_on_gpu(c, g, address, bytes, pattern, &same,
				     err) :
			match_on_host(c, g->stream, address, bytes, pattern,
				      &same, err);
	/* After a difference the next copy may still write to its buffer. */
	if (code || same < bytes)
		g->busy = CALL(c, NULL, StreamSynchronize, (g->stream)) != 0;
	else
		g->busy = false;
	cuda_leave(c, code);
	if (!code)
		*same_bytes = same;
	return code;
}

#endif
