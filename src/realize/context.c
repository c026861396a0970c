/*
 * Where a failure was.  A driver says "out of memory" and nothing else; a
 * person needs the rank, GPU, plane, chunk and row, how far it got, and
 * what is free, to know whether memory is what is missing.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "realize/realization.h"

/* Free memory below this may well be too little for a driver's needs. */
#define MEMORY_IS_FREE (UINT64_C(256) << 20)

static bool is_reader(const struct rank *k, const struct rank *other)
{
	size_t i;

	for (i = 0; i < k->nreaders; i++)
		if (k->readers[i] == other->rank)
			return true;
	return false;
}

/*
 * "; free bytes: rank 0 1234, ..." for the readers of k, the least of them
 * in *least.  Reading goes past the caller: it is no part of realizing.
 */
static void free_text(struct kvp_realization *r, const struct rank *k,
		      char *text, size_t size, uint64_t *least)
{
	struct kvp_backend *b = r->caller.backend;
	size_t used = 0;
	uint64_t bytes;
	uint32_t i;

	*least = UINT64_MAX;
	text[0] = '\0';
	for (i = 0; i < r->nranks; i++) {
		if (!is_reader(k, &r->ranks[i]) ||
		    b->ops->memory(b, r->ranks[i].device, &bytes, NULL))
			continue;
		if (bytes < *least)
			*least = bytes;
		if (used + 40 < size)
			used += (size_t)snprintf(text + used, size - used,
				"%s rank %u %llu", used ? "," : "; free bytes:",
				r->ranks[i].rank, (unsigned long long)bytes);
	}
}

static int explain(struct kvp_realization *r, const struct rank *k,
		   const char *where, int code, struct kvp_error *err)
{
	struct caller *c = &r->caller;
	char cause[KVP_ERROR_MAX], free[512];
	uint64_t least;

	if (code == KVP_EINTERRUPTED)
		return code;	/* where it was does not matter */
	if (!err || code == KVP_ENOMEM)
		return kvp_error_wrap(err, code, "%s", where);
	memcpy(cause, err->text, sizeof(cause));
	free_text(r, k, free, sizeof(free), &least);
	/* Only grants take table entries. */
	if (code == KVP_EEXHAUSTED && c->last && !strcmp(c->last, "grant") &&
	    least >= MEMORY_IS_FREE && least != UINT64_MAX)
		code = KVP_ETABLE;
	return kvp_error_set(err, code, "%s: %s%s; after %llu of %llu calls, "
		"with %llu of %llu table entries held%s", where, cause,
		code == KVP_ETABLE ? ": memory is free, the driver's table of "
		"mappings is full" : "",
		(unsigned long long)c->calls_done,
		(unsigned long long)c->calls_total,
		(unsigned long long)c->entries,
		(unsigned long long)c->entries_total, free);
}

int context_other(struct kvp_realization *r, const struct rank *k,
		  const char *what, int code, struct kvp_error *err)
{
	char where[256];

	snprintf(where, sizeof(where), "rank %u, %s, %s", k->rank,
		 r->devices[k - r->ranks].label, what);
	return explain(r, k, where, code, err);
}

/* The rows a chunk's bytes lie in, as text; empty for none. */
static void rows_text(const struct kvp_geometry *g, const struct kvp_chunk *c,
		      char *text, size_t size)
{
	uint64_t first, last;

	text[0] = '\0';
	if (c->arena == KVP_UNALIASED || !g->row_stride)
		return;
	first = c->arena / g->row_stride;
	last = (c->arena + c->bytes - 1) / g->row_stride;
	first = first < g->execution_rows ? 0 : first - g->execution_rows;
	last = last < g->execution_rows ? 0 : last - g->execution_rows;
	if (last >= g->snapshot_rows && g->snapshot_rows)
		last = g->snapshot_rows - 1;
	if (first == last)
		snprintf(text, size, ", row %llu", (unsigned long long)first);
	else
		snprintf(text, size, ", rows %llu to %llu",
			 (unsigned long long)first, (unsigned long long)last);
}

int context_chunk(struct kvp_realization *r, const struct rank *k,
		  size_t chunk, const char *view, int code,
		  struct kvp_error *err)
{
	const struct kvp_chunk *c = &r->plan->chunks[chunk];
	char what[192], rows[64];

	rows_text(geometry_of(r), c, rows, sizeof(rows));
	snprintf(what, sizeof(what), "plane %u (%s), chunk %zu, bytes [%llu, "
		 "%llu)%s, in the %s", c->plane,
		 geometry_of(r)->planes[c->plane].name, chunk,
		 (unsigned long long)c->offset,
		 (unsigned long long)(c->offset + c->bytes), rows, view);
	return context_other(r, k, what, code, err);
}
