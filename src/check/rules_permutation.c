/*
 * Rules on what was exchanged and merged.  Every chunk of the plan is cut back
 * into the base chunks of its plane.  Then permutation compares them with the
 * base layout in the order of arena addresses, and merge checks chunks that
 * hold more than one base chunk.  Both rely on coverage: the chunks hold every
 * base chunk.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/u64.h"
#include "check/check.h"

static const struct kvp_chunk *get_base_chunk(const struct check *c, uint32_t i)
{
	return &c->base.chunks[c->base.order.chunk[i]];
}

/*
 * Cut one chunk into base chunks.  `first` is the first one of its plane that
 * ends after the chunk begins, `last` the end of the plane's list; returns the
 * first one that the chunk does not hold to its end.
 */
static uint32_t cut_chunk(struct check *c, uint32_t at, uint32_t first,
			  uint32_t last)
{
	const struct kvp_chunk *chunk = &c->plan->chunks[at], *base;
	const uint64_t end = chunk->offset + chunk->bytes;
	const bool aliased = chunk->arena != KVP_UNALIASED;
	uint64_t pos = chunk->offset;
	uint32_t i;

	assert(first < last);
	if (get_base_chunk(c, first)->offset != pos)
		check_report(c, KVP_AT_CHUNK, at,
			     "cuts a base chunk, beginning at byte", pos,
			     get_base_chunk(c, first)->offset);
	for (i = first; i < last && pos < end; i++) {
		base = get_base_chunk(c, i);
		pos = base->offset + base->bytes;
		if (aliased != (base->arena != KVP_UNALIASED))
			check_report(c, KVP_AT_CHUNK, at,
				     "is aliased where the base differs",
				     aliased, !aliased);
	}
	if (pos != end)
		check_report(c, KVP_AT_CHUNK, at,
			     "cuts a base chunk, ending at byte", end, pos);
	assert(i > first);	/* the first ends after the chunk begins */
	c->base_first[at] = first;
	c->base_count[at] = i - first;
	if (!aliased && i - first != 1)
		check_report(c, KVP_AT_CHUNK, at,
			     "is unaliased, of base chunks", i - first, 1);
	return pos == end ? i : i - 1;
}

/* Cut all chunks, plane by plane; false if there was a finding. */
static bool cut_planes(struct check *c)
{
	size_t before = c->nfindings, plane;
	uint32_t i, next;

	for (plane = 0; plane < c->geometry->nplanes; plane++) {
		next = c->base.order.first[plane];
		for (i = c->order.first[plane];
		     i < c->order.first[plane + 1]; i++)
			next = cut_chunk(c, c->order.chunk[i], next,
					 c->base.order.first[plane + 1]);
		assert(c->nfindings > before || c->no_memory ||
		       next == c->base.order.first[plane + 1]);
	}
	return c->nfindings == before && !c->no_memory;
}

/* The plan's aliased base chunks by arena address, and the chunk of each. */
struct base_list {
	uint32_t *base;
	uint32_t *chunk;
	size_t count;
};

static void list_base_chunks(const struct check *c, struct base_list *p)
{
	uint32_t i, k;

	for (i = 0; i < c->naliased; i++)
		for (k = 0; k < c->base_count[i]; k++) {
			assert(p->count < c->base.naliased);
			p->base[p->count] =
				c->base.order.chunk[c->base_first[i] + k];
			p->chunk[p->count++] = i;
		}
	assert(p->count == c->base.naliased);
}

static void compare_all(struct check *c, const struct base_list *p)
{
	size_t i;

	assert(p->count == c->base.naliased);
	for (i = 0; i < p->count; i++) {
		const struct kvp_chunk *is = &c->base.chunks[p->base[i]];
		const struct kvp_chunk *base = &c->base.chunks[i];

		if (is->plane != base->plane)
			check_report(c, KVP_AT_CHUNK, p->chunk[i],
				     "holds a base chunk of plane", is->plane,
				     base->plane);
		else if (is->offset != base->offset)
			check_report(c, KVP_AT_CHUNK, p->chunk[i],
				     "holds the base chunk at byte",
				     is->offset, base->offset);
	}
}

static bool are_alike(const struct check *c, uint32_t x, uint32_t y)
{
	const struct kvp_chunk *a = &c->base.chunks[x];
	const struct kvp_chunk *b = &c->base.chunks[y];

	return c->base.kind[a->plane] == c->base.kind[b->plane] &&
	       a->offset == b->offset && a->bytes == b->bytes;
}

static bool add_base_chunk(const struct check *c, struct check_keys *keys,
			   uint32_t base)
{
	const struct kvp_chunk *chunk = &c->base.chunks[base];

	return check_keys_add(
		keys, c->geometry->planes[chunk->plane].bytes_per_page,
		chunk->offset, chunk->bytes);
}

/* Report the first base chunk in which a segment differs. */
static void report_differing(struct check *c, const struct check_segment *s,
			     uint32_t chunk, const struct check_keys *is,
			     const struct check_keys *base)
{
	const bool fixed = s->row == CHECK_FIXED;
	const enum kvp_place place = fixed ? KVP_AT_CHUNK : KVP_AT_ROW;
	const uint64_t index = fixed ? chunk : s->row;
	size_t i = 0;

	assert(fixed || s->row < c->geometry->snapshot_rows);
	while (i < is->count && i < base->count &&
	       !check_key_compare(&is->key[i], &base->key[i]))
		i++;
	if (i == is->count || i == base->count)
		check_report(c, place, index, "holds base chunks", is->count,
			     base->count);
	else if (is->key[i].a != base->key[i].a)
		check_report(c, place, index,
			     "holds a base chunk with bytes per page",
			     is->key[i].a, base->key[i].a);
	else if (is->key[i].b != base->key[i].b)
		check_report(c, place, index, "holds a base chunk at byte",
			     is->key[i].b, base->key[i].b);
	else
		check_report(c, place, index, "holds a base chunk of bytes",
			     is->key[i].c, base->key[i].c);
}

/* Compare the base chunks [from, to) with a segment's, in any order; false if
   there is no memory. */
static bool compare_segment(struct check *c, const struct base_list *p,
			    size_t from, size_t to,
			    const struct check_segment *s,
			    struct check_keys *is, struct check_keys *base)
{
	size_t i;

	assert(from <= to && to <= p->count && s->count);
	for (i = 0; from + i < to && i < s->count; i++)
		if (!are_alike(c, p->base[from + i], s->first + (uint32_t)i))
			break;
	if (i == s->count && from + i == to)
		return true;
	is->count = 0;
	base->count = 0;
	for (i = from; i < to; i++)
		if (!add_base_chunk(c, is, p->base[i]))
			return false;
	for (i = 0; i < s->count; i++)
		if (!add_base_chunk(c, base, s->first + (uint32_t)i))
			return false;
	if (!check_keys_sort(is) || !check_keys_sort(base))
		return false;
	for (i = 0; i < is->count && i < base->count; i++)
		if (check_key_compare(&is->key[i], &base->key[i]))
			break;
	if (i != is->count || i != base->count)
		report_differing(c, s, from < to ? p->chunk[from] : 0, is,
				 base);
	return true;
}

/*
 * A segment holds the base chunks that begin before its end.  As long as all
 * segments hold the right ones they have the right bytes, so each begins at
 * its arena address in the base layout, and so does a fixed chunk.
 */
static int compare_segments(struct check *c, const struct base_list *p)
{
	struct check_keys is = { 0 }, base = { 0 };
	uint64_t pos = c->base.dedicated, end = pos;
	size_t from, to = 0, i;
	uint32_t k;
	bool ok = true;

	for (i = 0; ok && i < c->base.nsegments; i++) {
		const struct check_segment *s = &c->base.segments[i];

		for (k = 0; k < s->count; k++)
			end += c->base.chunks[s->first + k].bytes;
		from = to;
		while (to < p->count && pos < end)
			pos += c->base.chunks[p->base[to++]].bytes;
		ok = compare_segment(c, p, from, to, s, &is, &base);
	}
	check_keys_release(&is);
	check_keys_release(&base);
	return ok ? KVP_OK : KVP_ENOMEM;
}

int check_rule_permutation(struct check *c)
{
	struct base_list p = { 0 };
	int code = KVP_OK;

	/* If chunks do not consist of base chunks, nothing can be compared. */
	if (!cut_planes(c))
		return KVP_OK;
	p.base = malloc((c->base.naliased + 1) * sizeof(*p.base));
	p.chunk = malloc((c->base.naliased + 1) * sizeof(*p.chunk));
	if (!p.base || !p.chunk) {
		code = KVP_ENOMEM;
		goto done;
	}
	list_base_chunks(c, &p);
	if (c->plan->merge == KVP_MERGE_NONE)
		compare_all(c, &p);
	else
		code = compare_segments(c, &p);
done:
	free(p.base);
	free(p.chunk);
	return code;
}

/* The arena address at which the row ends that a chunk begins in. */
static uint64_t get_row_end(const struct check *c,
			    const struct kvp_chunk *chunk)
{
	const struct kvp_geometry *g = c->geometry;

	if (chunk->arena >= c->base.arena_end)
		return c->base.arena_end;
	assert(g->row_stride);
	return chunk->arena / g->row_stride * g->row_stride + g->row_bytes;
}

int check_rule_merge(struct check *c)
{
	size_t i;

	for (i = 0; i < c->naliased; i++) {
		const struct kvp_chunk *chunk = &c->plan->chunks[i];

		assert(c->base_count[i]);
		if (c->base_count[i] == 1 || c->plan->merge == KVP_MERGE_SPAN)
			continue;
		if (c->plan->merge == KVP_MERGE_NONE)
			check_report(c, KVP_AT_CHUNK, i, "merges base chunks",
				     c->base_count[i], 1);
		else if (chunk->arena + chunk->bytes > get_row_end(c, chunk))
			check_report(c, KVP_AT_CHUNK, i,
				     "is merged beyond its row, up to byte",
				     chunk->arena + chunk->bytes,
				     get_row_end(c, chunk));
	}
	return KVP_OK;
}
