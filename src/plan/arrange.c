/*
 * Arranging: within an interval the chunks that follow each other in a plane
 * are laid as one chain.  The chain that merges with the segment on the left
 * comes first, the one that merges with the segment on the right last, the
 * others in the order of their first slot.  Then neighbours merge.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "plan/work.h"

struct arranger {
	const struct layout *l;
	const struct segments *s;
	const struct junctions *j;
	const struct assignment *a;
	enum kvp_merge merge;
	struct kvp_chunk *out;
	uint32_t count;
	uint64_t arena;
	uint32_t segment;	/* of the last chunk in out */
};

static bool may_merge(const struct arranger *r, const struct kvp_chunk *last,
		      uint32_t segment, const struct kvp_chunk *c)
{
	if (last->plane != c->plane ||
	    last->offset + last->bytes != c->offset)
		return false;
	if (r->merge == KVP_MERGE_SPAN)
		return true;
	return r->merge == KVP_MERGE_ROW && segment == r->segment &&
	       !r->s->fixed[segment];
}

/* Lay a chunk at the next arena address, and merge it if that is allowed. */
static void emit_chunk(struct arranger *r, uint32_t segment, uint32_t chunk)
{
	struct kvp_chunk c = r->l->chunks[chunk];
	struct kvp_chunk *last = r->count ? &r->out[r->count - 1] : NULL;

	assert(chunk < r->l->aliased && r->count < r->l->count);
	c.arena = r->arena;
	r->arena += c.bytes;
	if (last && may_merge(r, last, segment, &c))
		last->bytes += c.bytes;
	else
		r->out[r->count++] = c;
	r->segment = segment;
}

static bool in_segment(const struct arranger *r, uint32_t chunk,
		       uint32_t segment)
{
	return chunk != NONE && r->s->of[r->a->slot[chunk]] == segment;
}

static void emit_chain(struct arranger *r, uint32_t segment, uint32_t chunk)
{
	for (; in_segment(r, chunk, segment); chunk = r->j->next[chunk])
		emit_chunk(r, segment, chunk);
}

/* The first chunk of the chain that a slot's chunk is in, or NONE. */
static uint32_t find_chain_head(const struct arranger *r, uint32_t segment,
				uint32_t slot)
{
	uint32_t chunk;

	if (slot == NONE)
		return NONE;
	chunk = r->a->chunk[slot];
	assert(r->s->of[slot] == segment && r->a->slot[chunk] == slot);
	while (in_segment(r, r->j->prev[chunk], segment))
		chunk = r->j->prev[chunk];
	return chunk;
}

static void emit_interval(struct arranger *r, uint32_t segment)
{
	uint32_t begin = r->s->first[segment];
	uint32_t end = r->s->first[segment + 1], i, chunk;
	/* Does the last chunk of the segment on the left wait to merge? */
	bool waits = segment && r->a->last[segment - 1] != NONE;
	uint32_t first = waits ? find_chain_head(r, segment,
						 r->a->first[segment]) :
				 NONE;
	uint32_t last = find_chain_head(r, segment, r->a->last[segment]);

	assert(begin < end && !r->s->fixed[segment]);
	emit_chain(r, segment, first);
	for (i = begin; i < end; i++) {
		chunk = r->a->chunk[i];
		if (chunk != first && chunk != last &&
		    !in_segment(r, r->j->prev[chunk], segment))
			emit_chain(r, segment, chunk);
	}
	if (last != first)
		emit_chain(r, segment, last);
}

static void emit_fixed(struct arranger *r, uint32_t segment)
{
	uint32_t i;

	for (i = r->s->first[segment]; i < r->s->first[segment + 1]; i++)
		emit_chunk(r, segment, r->a->chunk[i]);
}

int arrange(struct kvp_chunk *out, uint32_t *count, const struct layout *l,
	    const struct segments *s, const struct junctions *j,
	    const struct assignment *a, enum kvp_merge merge,
	    struct kvp_error *err)
{
	struct arranger r = {
		.l = l, .s = s, .j = j, .a = a, .merge = merge, .out = out,
		.arena = l->dedicated_bytes,
	};
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (s->fixed[i] || merge == KVP_MERGE_NONE)
			emit_fixed(&r, i);
		else
			emit_interval(&r, i);
	if (l->aliased && r.arena != l->chunks[l->aliased - 1].arena +
				     l->chunks[l->aliased - 1].bytes)
		return kvp_error_set(err, KVP_EBUG, "arranging changed the "
			"length of the arena; please report this geometry");
	assert(r.count <= l->aliased);
	for (i = l->aliased; i < l->count; i++)
		out[r.count++] = l->chunks[i];
	*count = r.count;
	return KVP_OK;
}
