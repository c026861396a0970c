/*
 * Segments: which chunks may be reordered among themselves, and which not.
 */
#include <assert.h>
#include <stdlib.h>

#include <kvplan/geometry.h>

#include "base/error.h"
#include "plan/work.h"

/*
 * The row of the arena that holds a chunk completely, or UINT64_MAX.  Chunks
 * come in arena order; *row keeps the last row between calls.
 */
static uint64_t find_complete_row(const struct kvp_geometry *g,
				  const struct kvp_chunk *c, uint64_t *row)
{
	uint64_t rows = g->execution_rows + g->snapshot_rows, start;

	while (*row < rows && (*row + 1) * g->row_stride <= c->arena)
		++*row;
	start = *row * g->row_stride;
	assert(*row >= rows || c->arena < start + g->row_stride);
	if (*row < g->execution_rows || *row >= rows || c->arena < start ||
	    c->arena + c->bytes > start + g->row_bytes)
		return UINT64_MAX;
	return *row;
}

static void cut_segments(struct segments *s, const struct layout *l,
			 const struct kvp_geometry *g)
{
	uint64_t walk = 0, row, last = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < l->aliased; i++) {
		row = find_complete_row(g, &l->chunks[i], &walk);
		if (!i || row == UINT64_MAX || row != last) {
			s->first[s->count] = i;
			s->fixed[s->count++] = row == UINT64_MAX;
		}
		s->of[i] = s->count - 1;
		last = row;
	}
	assert(s->count <= l->aliased);
	s->first[s->count] = l->aliased;
}

int segments_make(struct segments *s, const struct layout *l,
		  const struct kvp_geometry *g, struct kvp_error *err)
{
	size_t n = (size_t)l->aliased + 1;

	*s = (struct segments){
		.of = malloc(n * sizeof(*s->of)),
		.first = malloc(n * sizeof(*s->first)),
		.fixed = malloc(n * sizeof(*s->fixed)),
	};
	if (!s->of || !s->first || !s->fixed) {
		segments_release(s);
		return kvp_error_nomem(err);
	}
	cut_segments(s, l, g);
	return KVP_OK;
}

void segments_release(struct segments *s)
{
	free(s->of);
	free(s->first);
	free(s->fixed);
	*s = (struct segments){ 0 };
}
