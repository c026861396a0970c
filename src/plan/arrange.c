/*
 * Arranging: within an interval the pieces of a plane that follow each
 * other are laid as one chain.  The chain that merges to the left comes
 * first, the one that merges to the right last, the others in the order of
 * their first slot.  Then neighbours merge.
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
	uint64_t place;
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

/* Lay a piece at the next place; a segment's length does not change. */
static void emit_piece(struct arranger *r, uint32_t segment, uint32_t piece)
{
	struct kvp_chunk c = r->l->chunks[piece];
	struct kvp_chunk *last = r->count ? &r->out[r->count - 1] : NULL;

	assert(piece < r->l->aliased && r->count < r->l->count);
	c.arena = r->place;
	r->place += c.bytes;
	if (last && may_merge(r, last, segment, &c))
		last->bytes += c.bytes;
	else
		r->out[r->count++] = c;
	r->segment = segment;
}

static bool in_segment(const struct arranger *r, uint32_t piece,
		       uint32_t segment)
{
	return piece != NONE && r->s->of[r->a->slot[piece]] == segment;
}

static void emit_chain(struct arranger *r, uint32_t segment, uint32_t piece)
{
	for (; in_segment(r, piece, segment); piece = r->j->next[piece])
		emit_piece(r, segment, piece);
}

/* The first piece of the chain a slot's piece belongs to, or NONE. */
static uint32_t find_chain_head(const struct arranger *r, uint32_t segment,
				uint32_t slot)
{
	uint32_t piece;

	if (slot == NONE)
		return NONE;
	piece = r->a->piece[slot];
	assert(r->s->of[slot] == segment && r->a->slot[piece] == slot);
	while (in_segment(r, r->j->prev[piece], segment))
		piece = r->j->prev[piece];
	return piece;
}

static void emit_interval(struct arranger *r, uint32_t segment)
{
	uint32_t begin = r->s->first[segment];
	uint32_t end = r->s->first[segment + 1], i, piece;
	/* The segment on the left is laid: does its last chunk merge? */
	bool waits = segment && r->a->last[segment - 1] != NONE;
	uint32_t first = waits ? find_chain_head(r, segment,
						 r->a->first[segment]) :
				 NONE;
	uint32_t last = find_chain_head(r, segment, r->a->last[segment]);

	assert(begin < end && !r->s->fixed[segment]);
	emit_chain(r, segment, first);
	for (i = begin; i < end; i++) {
		piece = r->a->piece[i];
		if (piece != first && piece != last &&
		    !in_segment(r, r->j->prev[piece], segment))
			emit_chain(r, segment, piece);
	}
	if (last != first)
		emit_chain(r, segment, last);
}

static void emit_fixed(struct arranger *r, uint32_t segment)
{
	uint32_t i;

	for (i = r->s->first[segment]; i < r->s->first[segment + 1]; i++)
		emit_piece(r, segment, r->a->piece[i]);
}

int arrange(struct kvp_chunk *out, uint32_t *count, const struct layout *l,
	    const struct segments *s, const struct junctions *j,
	    const struct assignment *a, enum kvp_merge merge,
	    struct kvp_error *err)
{
	struct arranger r = {
		.l = l, .s = s, .j = j, .a = a, .merge = merge, .out = out,
		.place = l->dedicated_bytes,
	};
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (s->fixed[i] || merge == KVP_MERGE_NONE)
			emit_fixed(&r, i);
		else
			emit_interval(&r, i);
	if (l->aliased && r.place != l->chunks[l->aliased - 1].arena +
				     l->chunks[l->aliased - 1].bytes)
		return kvp_error_set(err, KVP_EBUG, "arranging changed the "
			"length of the arena; please report this geometry");
	assert(r.count <= l->aliased);
	for (i = l->aliased; i < l->count; i++)
		out[r.count++] = l->chunks[i];
	*count = r.count;
	return KVP_OK;
}
