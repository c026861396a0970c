/*
 * The calls of realizing, in loops of their own.
 */
#include "fake/bare.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double bare_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void bare_must(int code, const struct kvp_error *err)
{
	if (!code)
		return;
	fprintf(stderr, "bare: %s: %s\n", kvp_code_name(code), err->text);
	exit(1);
}

struct kvp_verdict *bare_read(struct kvp_plan *plan, const char *path)
{
	static char text[8 << 20];
	struct kvp_verify_options rules;
	struct kvp_verdict *verdict;
	struct kvp_error err;
	FILE *file = fopen(path, "rb");

	if (!file) {
		perror(path);
		exit(1);
	}
	bare_must(kvp_plan_read(plan, path, text,
				fread(text, 1, sizeof(text), file), &err),
		  &err);
	fclose(file);
	kvp_verify_options_init(&rules);
	rules.severity[KVP_RULE_ENTRY_LIMIT] = KVP_WARNING;
	bare_must(kvp_verify(plan, &rules, &verdict, &err), &err);
	return verdict;
}

void bare_measure(struct bare *x)
{
	const struct kvp_plan *plan = x->plan;
	size_t nplanes = plan->geometry.nplanes, plane, i, count = 0;

	x->order = calloc(plan->nchunks, sizeof(*x->order));
	for (plane = 0; plane < nplanes; plane++)
		for (i = 0; i < plan->nchunks; i++)
			if (plan->chunks[i].plane == plane)
				x->order[count++] = i;
	x->plane_bytes = calloc(nplanes, sizeof(uint64_t));
	x->arena_bytes = plan->dedicated_bytes;
	for (i = 0; i < plan->nchunks; i++) {
		x->plane_bytes[plan->chunks[i].plane] += plan->chunks[i].bytes;
		if (plan->chunks[i].arena != KVP_UNALIASED)
			x->arena_bytes += plan->chunks[i].bytes;
	}
}

static void grant(const struct bare *x, uint64_t address, uint64_t bytes,
		  const struct kvp_grant *grants, size_t count)
{
	struct kvp_error err;
	enum kvp_flags flags;
	uint32_t i;

	bare_must(x->b->mapping.grant(x->b, address, bytes, grants, count,
				      &err), &err);
	for (i = 0; i < x->ranks; i++)
		bare_must(x->b->mapping.granted(x->b, address, i, &flags,
						&err), &err);
}

static void reserve_planes(struct bare *x)
{
	struct kvp_error err;
	size_t i;

	for (i = 0; i < x->plan->geometry.nplanes; i++)
		bare_must(x->b->mapping.reserve(x->b, x->plane_bytes[i], 0,
						&x->planes[i], &err), &err);
}

static void create(struct bare *x, uint32_t rank)
{
	const struct kvp_plan *plan = x->plan;
	struct kvp_create what = {
		.device = rank, .handle_type = x->handle_type,
	};
	struct kvp_error err;
	size_t i;

	for (i = 0; i <= plan->nchunks; i++) {
		what.bytes = i < plan->nchunks ? plan->chunks[i].bytes :
						 plan->dedicated_bytes;
		if (what.bytes)
			bare_must(x->b->mapping.create(x->b, &what,
						       &x->handles[i], &err),
				  &err);
	}
}

/* Visit every mapping of a rank: its planes, its aliases, its dedicated
   backing. */
typedef void visit(struct bare *x, uint64_t address, uint64_t bytes,
		   size_t handle, bool shared, void *cookie);

static void each_mapping(struct bare *x, visit *fn, void *cookie)
{
	const struct kvp_chunk *c = x->plan->chunks;
	size_t n = x->plan->nchunks, i, k;

	for (i = 0; i < n; i++) {
		k = x->order[i];
		fn(x, x->planes[c[k].plane] + c[k].offset, c[k].bytes, k,
		   true, cookie);
	}
	for (i = 0; i < n && c[i].arena != KVP_UNALIASED; i++)
		fn(x, x->arena + c[i].arena, c[i].bytes, i, false, cookie);
	if (x->plan->dedicated_bytes)
		fn(x, x->arena, x->plan->dedicated_bytes, n, false, cookie);
}

static void map_one(struct bare *x, uint64_t address, uint64_t bytes,
		    size_t handle, bool shared, void *cookie)
{
	struct kvp_error err;

	(void)shared;
	(void)cookie;
	bare_must(x->b->mapping.map(x->b, address, bytes, x->handles[handle],
				    &err), &err);
}

static void grant_one(struct bare *x, uint64_t address, uint64_t bytes,
		      size_t handle, bool shared, void *cookie)
{
	(void)handle;
	grant(x, address, bytes, cookie, shared ? x->ranks : 1);
}

/* Undoing goes in reverse, so what was mapped is noted first. */
struct noted {
	uint64_t *address, *bytes;
	size_t count;
};

static void note_one(struct bare *x, uint64_t address, uint64_t bytes,
		     size_t handle, bool shared, void *cookie)
{
	struct noted *n = cookie;

	(void)x;
	(void)handle;
	(void)shared;
	n->address[n->count] = address;
	n->bytes[n->count++] = bytes;
}

static void unmap_all(struct bare *x)
{
	size_t room = 2 * x->plan->nchunks + 1;
	struct noted n = { malloc(room * sizeof(uint64_t)),
			   malloc(room * sizeof(uint64_t)), 0 };
	struct kvp_error err;

	each_mapping(x, note_one, &n);
	while (n.count--)
		bare_must(x->b->mapping.unmap(x->b, n.address[n.count],
					      n.bytes[n.count], &err), &err);
	free(n.address);
	free(n.bytes);
}

static void release(struct bare *x, size_t handle)
{
	struct kvp_error err;

	bare_must(x->b->mapping.release(x->b, x->handles[handle], &err), &err);
}

static void unreserve_planes(struct bare *x)
{
	struct kvp_error err;
	size_t i;

	for (i = x->plan->geometry.nplanes; i-- > 0;)
		bare_must(x->b->mapping.unreserve(x->b, x->planes[i],
						  x->plane_bytes[i], &err),
			  &err);
	free(x->planes);
	free(x->handles);
}

void bare_read_free(const struct bare *x)
{
	struct kvp_error err;
	uint64_t bytes;
	size_t i;
	uint32_t r;

	for (i = 0; i <= x->plan->geometry.nplanes; i++)
		for (r = 0; r < x->ranks; r++)
			bare_must(x->b->device.memory(x->b, r, &bytes, &err),
				  &err);
}

static struct bare make_room(const struct bare *x)
{
	struct bare y = *x;

	y.planes = calloc(x->plan->geometry.nplanes, sizeof(uint64_t));
	y.handles = calloc(x->plan->nchunks + 1, sizeof(kvp_handle));
	return y;
}

struct bare *bare_make(const struct bare *x)
{
	struct bare *ranks = calloc(x->ranks, sizeof(*ranks));
	struct kvp_grant grants[KVP_RANKS_MAX];
	struct kvp_error err;
	uint32_t r, i;
	size_t k;

	for (r = 0; r < x->ranks; r++) {
		ranks[r] = make_room(x);
		reserve_planes(&ranks[r]);
		if (x->arena_bytes)
			bare_must(x->b->mapping.reserve(x->b, x->arena_bytes,
				  0, &ranks[r].arena, &err), &err);
	}
	for (r = 0; r < x->ranks; r++)
		create(&ranks[r], r);
	for (r = 0; r < x->ranks; r++)
		each_mapping(&ranks[r], map_one, NULL);
	for (r = 0; r < x->ranks; r++) {
		grants[0] = (struct kvp_grant){ r, KVP_READWRITE };
		for (i = 0, k = 1; i < x->ranks; i++)
			if (i != r)
				grants[k++] = (struct kvp_grant){ i,
								  KVP_READ };
		each_mapping(&ranks[r], grant_one, grants);
		bare_read_free(&ranks[r]);
	}
	return ranks;
}

void bare_undo(const struct bare *x, struct bare *ranks)
{
	struct kvp_error err;
	uint32_t r;
	size_t k;

	for (r = x->ranks; r-- > 0;) {
		unmap_all(&ranks[r]);
		for (k = x->plan->nchunks + !!x->plan->dedicated_bytes; k--;)
			release(&ranks[r], k);
		if (x->arena_bytes)
			bare_must(x->b->mapping.unreserve(x->b, ranks[r].arena,
				  x->arena_bytes, &err), &err);
		unreserve_planes(&ranks[r]);
	}
	free(ranks);
}

struct bare *bare_import_begin(const struct bare *x)
{
	struct bare *from = malloc(sizeof(*from));

	*from = make_room(x);
	reserve_planes(from);
	return from;
}

void bare_import(struct bare *from, size_t index,
		 const struct kvp_shared *shared)
{
	size_t chunk = from->order[index];
	const struct kvp_chunk *c = &from->plan->chunks[chunk];
	const struct kvp_grant reader = { 0, KVP_READ };
	uint64_t address = from->planes[c->plane] + c->offset;
	struct kvp_error err;

	bare_must(from->b->mapping.import_handle(from->b, 0, shared,
						 &from->handles[chunk], &err),
		  &err);
	map_one(from, address, c->bytes, chunk, true, NULL);
	grant(from, address, c->bytes, &reader, 1);
}

void bare_import_undo(struct bare *from, size_t count)
{
	const struct kvp_chunk *c;
	struct kvp_error err;

	while (count--) {
		c = &from->plan->chunks[from->order[count]];
		bare_must(from->b->mapping.unmap(from->b,
			  from->planes[c->plane] + c->offset, c->bytes, &err),
			  &err);
		release(from, from->order[count]);
	}
	unreserve_planes(from);
	free(from);
}
