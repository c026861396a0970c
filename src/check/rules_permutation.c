/*
 * Rules on what was permuted and merged.  Every chunk is cut back into the
 * base chunks of its own plane, its `pieces`; then permutation compares
 * pieces with the base layout place by place, and merge looks at chunks of
 * more than one piece.  Relies on coverage: piece lists are complete.
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
 * Cut one chunk, given the first base chunk of its plane that ends after
 * the chunk begins; answers the first that it does not reach.
 */
static uint32_t cut_chunk(struct check *c, uint32_t at, uint32_t piece,
			  uint32_t last)
{
	const struct kvp_chunk *chunk = &c->plan->chunks[at], *base;
	const uint64_t end = chunk->offset + chunk->bytes;
	const bool aliased = chunk->arena != KVP_UNALIASED;
	uint64_t pos = chunk->offset;
	uint32_t i;

	assert(piece < last);
	if (get_base_chunk(c, piece)->offset != pos)
		check_report(c, KVP_AT_CHUNK, at,
			     "cuts a base chunk, beginning at byte", pos,
			     get_base_chunk(c, piece)->offset);
	for (i = piece; i < last && pos < end; i++) {
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
	assert(i > piece);	/* at least the first ends behind */
	c->piece_first[at] = piece;
	c->piece_count[at] = i - piece;
	if (!aliased && i - piece != 1)
		check_report(c, KVP_AT_CHUNK, at,
			     "is unaliased, of base chunks", i - piece, 1);
	return pos == end ? i : i - 1;
}

/* Plane by plane, the plan's chunks and the base's side by side. */
static bool cut_planes(struct check *c)
{
	size_t before = c->nfindings, plane;
	uint32_t i, piece;

	for (plane = 0; plane < c->geometry->nplanes; plane++) {
		piece = c->base.order.first[plane];
		for (i = c->order.first[plane];
		     i < c->order.first[plane + 1]; i++)
			piece = cut_chunk(c, c->order.chunk[i], piece,
					  c->base.order.first[plane + 1]);
		assert(c->nfindings > before || c->no_memory ||
		       piece == c->base.order.first[plane + 1]);
	}
	return c->nfindings == before && !c->no_memory;
}

/* All aliased pieces by place: which base chunk, within which chunk. */
struct pieces {
	uint32_t *base;
	uint32_t *chunk;
	size_t count;
};

static void list_pieces(const struct check *c, struct pieces *p)
{
	uint32_t i, k;

	for (i = 0; i < c->naliased; i++)
		for (k = 0; k < c->piece_count[i]; k++) {
			assert(p->count < c->base.naliased);
			p->base[p->count] =
				c->base.order.chunk[c->piece_first[i] + k];
			p->chunk[p->count++] = i;
		}
	assert(p->count == c->base.naliased);
}

static void judge_same(struct check *c, const struct pieces *p)
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

static bool add_piece(const struct check *c, struct check_keys *keys,
		      uint32_t base)
{
	const struct kvp_chunk *chunk = &c->base.chunks[base];

	return check_keys_add(
		keys, c->geometry->planes[chunk->plane].bytes_per_page,
		chunk->offset, chunk->bytes);
}

/* Report the first difference between what is there and what should be. */
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

/* pieces [from, to) against one segment, as multisets. */
static bool judge_segment(struct check *c, const struct pieces *p, size_t from,
			  size_t to, const struct check_segment *s,
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
		if (!add_piece(c, is, p->base[i]))
			return false;
	for (i = 0; i < s->count; i++)
		if (!add_piece(c, base, s->first + (uint32_t)i))
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
 * A segment's pieces are those that begin before its end.  Equal multisets
 * have equal sums, so as long as all segments were right each begins where
 * the base's does, and a fixed chunk has its place.
 */
static int judge_segments(struct check *c, const struct pieces *p)
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
		ok = judge_segment(c, p, from, to, s, &is, &base);
	}
	check_keys_release(&is);
	check_keys_release(&base);
	return ok ? KVP_OK : KVP_ENOMEM;
}

int check_rule_permutation(struct check *c)
{
	struct pieces p = { 0 };
	int code = KVP_OK;

	/* Without a clean cut, places are noise. */
	if (!cut_planes(c))
		return KVP_OK;
	p.base = malloc((c->base.naliased + 1) * sizeof(*p.base));
	p.chunk = malloc((c->base.naliased + 1) * sizeof(*p.chunk));
	if (!p.base || !p.chunk) {
		code = KVP_ENOMEM;
		goto done;
	}
	list_pieces(c, &p);
	if (c->plan->merge == KVP_MERGE_NONE)
		judge_same(c, &p);
	else
		code = judge_segments(c, &p);
done:
	free(p.base);
	free(p.chunk);
	return code;
}

/* Where the bytes of the row end that a chunk begins in. */
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

		assert(c->piece_count[i]);
		if (c->piece_count[i] == 1 || c->plan->merge == KVP_MERGE_SPAN)
			continue;
		if (c->plan->merge == KVP_MERGE_NONE)
			check_report(c, KVP_AT_CHUNK, i, "merges base chunks",
				     c->piece_count[i], 1);
		else if (chunk->arena + chunk->bytes > get_row_end(c, chunk))
			check_report(c, KVP_AT_CHUNK, i,
				     "is merged beyond its row, up to byte",
				     chunk->arena + chunk->bytes,
				     get_row_end(c, chunk));
	}
	return KVP_OK;
}
