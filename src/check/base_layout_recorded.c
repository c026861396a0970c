/*
 * Recorded base chunks: sorted as in a computed layout, and checked again.
 * The geometry's reader refuses a recorded layout that does not cover planes
 * and arena; the checker does not rely on that.  Also the order of chunks by
 * plane.
 */
#include "check/base_layout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "check/conflict.h"

static int fill_recorded(struct check_base *base, const struct kvp_geometry *g,
			 struct check_keys *placed, struct check_keys *rest)
{
	size_t i;

	for (i = 0; i < g->nbase_chunks; i++) {
		const struct kvp_chunk *c = &g->base_chunks[i];

		if (c->arena != KVP_UNALIASED) {
			if (!check_keys_add(placed, c->arena, i, 0))
				return KVP_ENOMEM;
		} else if (!check_keys_add(rest, c->plane, c->offset, i)) {
			return KVP_ENOMEM;
		}
	}
	if (!check_keys_sort(placed) || !check_keys_sort(rest))
		return KVP_ENOMEM;
	for (i = 0; i < placed->count; i++)
		base->chunks[i] = g->base_chunks[placed->key[i].b];
	for (i = 0; i < rest->count; i++)
		base->chunks[placed->count + i] =
			g->base_chunks[rest->key[i].c];
	assert(placed->count + rest->count == g->nbase_chunks);
	base->naliased = placed->count;
	base->nchunks = placed->count + rest->count;
	return KVP_OK;
}

int check_base_copy_recorded(struct check_base *base,
			     const struct kvp_geometry *g,
			     struct kvp_error *err)
{
	struct check_keys placed = { 0 }, rest = { 0 };
	int code = KVP_ENOMEM;

	if (g->nbase_chunks > KVP_CHUNKS_MAX)
		return kvp_error_set(err, KVP_ELIMIT,
				     "%zu base chunks, must be at most %llu",
				     g->nbase_chunks, (ull)KVP_CHUNKS_MAX);
	base->chunks = malloc((g->nbase_chunks + 1) * sizeof(*base->chunks));
	if (base->chunks)
		code = fill_recorded(base, g, &placed, &rest);
	check_keys_release(&placed);
	check_keys_release(&rest);
	return code ? kvp_error_nomem(err) : KVP_OK;
}

static int check_plane(const struct check_base *base, size_t plane,
		       struct kvp_error *err)
{
	const struct check_order *order = &base->order;
	uint64_t pos = 0;
	uint32_t i;

	for (i = order->first[plane]; i < order->first[plane + 1]; i++) {
		const struct kvp_chunk *c = &base->chunks[order->chunk[i]];

		if (c->offset != pos || !c->bytes)
			break;
		pos += c->bytes;
	}
	if (i == order->first[plane + 1] && pos == base->backing[plane])
		return KVP_OK;
	return kvp_error_set(err, KVP_EINFEASIBLE,
			     "the recorded base chunks do not tile plane %zu:"
			     " byte %llu", plane, (ull)pos);
}

int check_base_verify_recorded(struct check_base *base,
			       const struct kvp_geometry *g,
			       struct kvp_error *err)
{
	uint64_t mask = g->granularity - 1;
	size_t i;
	int code;

	if (base->order.first[g->nplanes] != base->nchunks)
		return kvp_error_set(err, KVP_EINFEASIBLE,
				     "a recorded base chunk names no plane");
	for (i = 0; i < base->nchunks; i++)
		if ((base->chunks[i].offset | base->chunks[i].bytes) & mask)
			return kvp_error_set(err, KVP_EINFEASIBLE,
					     "a recorded base chunk breaks"
					     " the granularity");
	for (i = 0; i < g->nplanes; i++) {
		code = check_plane(base, i, err);
		if (code)
			return code;
	}
	for (i = 0; i < base->naliased; i++) {
		if (base->chunks[i].arena != base->laid_end)
			break;
		base->laid_end += base->chunks[i].bytes;
	}
	if (i == base->naliased && (base->laid_end >= base->arena_end))
		return KVP_OK;
	return kvp_error_set(err, KVP_EINFEASIBLE,
			     "the recorded base chunks do not tile the arena:"
			     " byte %llu", (ull)base->laid_end);
}

/* Within one plane: by offset, then by index. */
static bool sort_plane(uint32_t *chunk, uint32_t n,
		       const struct kvp_chunk *chunks, struct check_keys *keys)
{
	uint32_t i;

	for (i = 1; i < n; i++)
		if (chunks[chunk[i - 1]].offset > chunks[chunk[i]].offset)
			break;
	if (i >= n)
		return true;
	keys->count = 0;
	for (i = 0; i < n; i++)
		if (!check_keys_add(keys, chunks[chunk[i]].offset, chunk[i],
				    0))
			return false;
	if (!check_keys_sort(keys))
		return false;
	for (i = 0; i < n; i++)
		chunk[i] = (uint32_t)keys->key[i].b;
	return true;
}

/* A counting sort by plane; the chunks of a plane keep their order. */
static void deal_to_planes(struct check_order *order,
			   const struct kvp_chunk *chunks, size_t n,
			   size_t nplanes)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (chunks[i].plane < nplanes)
			order->first[chunks[i].plane + 1]++;
	for (i = 0; i < nplanes; i++)
		order->first[i + 1] += order->first[i];
	for (i = n; i-- > 0;)
		if (chunks[i].plane < nplanes)
			order->chunk[--order->first[chunks[i].plane + 1]] =
				(uint32_t)i;
	/* Each first[p + 1] has been lowered to where plane p begins. */
	assert(!nplanes || !order->first[1]);
	for (i = 0; i < nplanes; i++)
		order->first[i] = order->first[i + 1];
}

int check_order_make(struct check_order *order, const struct kvp_chunk *chunks,
		     size_t n, size_t nplanes, struct kvp_error *err)
{
	struct check_keys keys = { 0 };
	bool ok = true;
	uint32_t total = 0;
	size_t i;

	assert(n < UINT32_MAX);
	order->first = calloc(nplanes + 1, sizeof(*order->first));
	order->chunk = malloc((n + 1) * sizeof(*order->chunk));
	if (!order->first || !order->chunk)
		return kvp_error_nomem(err);
	for (i = 0; i < n; i++)
		total += chunks[i].plane < nplanes;
	deal_to_planes(order, chunks, n, nplanes);
	assert(total <= n);
	order->first[nplanes] = total;
	for (i = 0; ok && i < nplanes; i++)
		ok = sort_plane(order->chunk + order->first[i],
				order->first[i + 1] - order->first[i], chunks,
				&keys);
	check_keys_release(&keys);
	return ok ? KVP_OK : kvp_error_nomem(err);
}

void check_order_release(struct check_order *order)
{
	free(order->first);
	free(order->chunk);
	memset(order, 0, sizeof(*order));
}
