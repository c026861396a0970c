/*
 * How the alias check touches memory: which bytes of a range, with which
 * pattern, and which plane and page the plan says they belong to.
 */
#include <assert.h>
#include <stdio.h>

#include "base/error.h"
#include "base/u64.h"
#include "realize/alias_work.h"

#define QUICK UINT64_C(16)	/* bytes on each side of a border */

/* 28 bits, 7 of each byte. */
#define WORDS (UINT32_C(1) << 28)
#define ODD UINT32_C(0xe3779b1)

static uint32_t mix_counter(uint64_t n)
{
	/* WORDS is a power of two, so multiplying by the odd number ODD maps
	   different words to different words, and only 0 to 0. */
	uint32_t word = (uint32_t)(1 + n % (WORDS - 1)) * ODD % WORDS;

	assert(word);
	return (word & 0x7f) | (word & 0x3f80) << 1 | (word & 0x1fc000) << 2 |
	       (word & 0xfe00000) << 3;
}

uint32_t alias_page_pattern(uint64_t n)
{
	return mix_counter(n);
}

uint32_t alias_row_pattern(uint64_t n)
{
	return mix_counter(n) | UINT32_C(0x80808080);
}

/*
 * Find the next part of [*at, end) to touch: it begins at *at, and its end is
 * returned.  *at becomes the beginning of the part after it, or `end`.  A full
 * check has one part; a quick one has parts around every border between two
 * granules and at both ends.
 */
static uint64_t find_next_part(const struct alias *a, uint64_t *at,
			       uint64_t end)
{
	uint64_t g = a->plan->geometry.granularity;
	uint64_t border = *at - *at % g + g, to = *at + QUICK;

	assert(*at < end && g > 2 * QUICK);
	if (a->full)
		return *at = end;
	/* Both sides of a border are one part. */
	if (to + QUICK >= border)
		to = border + QUICK;
	to = u64_min(to, end);
	border = u64_min(to - to % g + g, end);
	*at = u64_max(to, border - QUICK);
	assert(to <= end && *at <= end);
	return to;
}

int alias_fill(const struct alias *a, uint64_t address, uint64_t bytes,
	       uint32_t pattern, struct kvp_error *err)
{
	struct kvp_backend *b = a->backend;
	uint64_t at = address, end = address + bytes, from, to;
	int code = KVP_OK;

	while (!code && at < end) {
		from = at;
		to = find_next_part(a, &at, end);
		code = b->mapping.fill(b, a->rank->device, from, to - from,
				       pattern, err);
	}
	return code;
}

int alias_match(const struct alias *a, uint32_t device, uint64_t address,
		uint64_t bytes, uint32_t pattern, uint64_t *same,
		struct kvp_error *err)
{
	struct kvp_backend *b = a->backend;
	uint64_t at = address, end = address + bytes, from, to, right;
	int code;

	*same = bytes;
	while (at < end) {
		from = at;
		to = find_next_part(a, &at, end);
		code = b->mapping.match(b, device, from, to - from, pattern,
					&right, err);
		if (code)
			return code;
		assert(right <= to - from);
		if (right < to - from) {
			*same = from - address + right;
			return KVP_OK;
		}
	}
	return KVP_OK;
}

int alias_synchronize(const struct alias *a, struct kvp_error *err)
{
	return a->backend->device.synchronize(a->backend, a->rank->device,
					       err);
}

int alias_match_pages(const struct alias *a, uint32_t device,
		      struct kvp_error *err)
{
	const struct kvp_geometry *g = &a->plan->geometry;
	uint64_t bytes, same;
	size_t i;
	int code;

	for (i = 0; i < g->nplanes; i++) {
		bytes = g->pages * g->planes[i].bytes_per_page;
		code = alias_match(a, device, a->rank->planes[i], bytes,
				   alias_page_pattern(a->last + i), &same,
				   err);
		if (code)
			return kvp_error_wrap(err, code,
				"plane %s read by device %u",
				g->planes[i].name, (unsigned)device);
		if (same < bytes)
			return kvp_error_set(err, KVP_EFAILED,
				"plane %s page %llu: byte %llu is not what "
				"device %u wrote through the plane when read "
				"by device %u", g->planes[i].name,
				(ull)(same / g->planes[i].bytes_per_page),
				(ull)same,
				(unsigned)a->rank->device, (unsigned)device);
	}
	return KVP_OK;
}

/* The chunk at this byte of the arena, or NULL. */
static const struct kvp_chunk *find_chunk_at(const struct kvp_plan *plan,
					     uint64_t byte)
{
	const struct kvp_chunk *c = plan->chunks;
	size_t i;

	for (i = 0; i < plan->nchunks; i++, c++)
		if (c->arena != KVP_UNALIASED && c->arena <= byte &&
		    byte - c->arena < c->bytes)
			return c;
	return NULL;
}

void alias_describe_byte(const struct kvp_plan *plan, uint64_t byte, char *text)
{
	const struct kvp_chunk *c = find_chunk_at(plan, byte);
	const struct kvp_plane *plane;
	uint64_t offset;

	if (!c) {
		snprintf(text, ALIAS_TEXT_MAX, "%s",
			 byte < plan->dedicated_bytes ?
			 "dedicated backing" : "no memory");
		return;
	}
	assert(c->plane < plan->geometry.nplanes);
	plane = &plan->geometry.planes[c->plane];
	offset = c->offset + (byte - c->arena);
	if (offset / plane->bytes_per_page < plan->geometry.pages)
		snprintf(text, ALIAS_TEXT_MAX,
			 "plane %s byte %llu, page %llu", plane->name,
			 (ull)offset,
			 (ull)(offset / plane->bytes_per_page));
	else
		snprintf(text, ALIAS_TEXT_MAX,
			 "plane %s byte %llu, behind its last page",
			 plane->name, (ull)offset);
}
