/*
 * Recorded layouts that no computation makes: a few planes, each cut in its
 * own way, and the chunks laid into the arena in any order.  Here the
 * lower bound is often out of reach, and what one mode tries first can be
 * worse than what another one does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake/gen.h"

#define GRANULE UINT64_C(4096)
#define MOST_PLANES 6
#define MOST_GRANULES 6		/* of a plane */

struct recorded {
	uint64_t planes, granules;
	uint64_t equal;		/* planes of one page size; less 1 byte after */
	uint64_t row_granules, snapshot_rows, execution_rows;
	struct kvp_chunk chunks[MOST_PLANES * MOST_GRANULES];
	size_t count;
};

/* The snapshot rows fit: what the planes have is theirs. */
static void draw_shape(struct recorded *l, struct gen_rng *r)
{
	l->planes = gen_range(r, 2, MOST_PLANES);
	l->equal = gen_chance(r, 70) ? l->planes : gen_range(r, 1, l->planes);
	l->granules = gen_range(r, 2, MOST_GRANULES);
	l->row_granules = gen_range(r, 2, l->planes * l->granules < 6 ?
				    l->planes * l->granules : 6);
	l->snapshot_rows = gen_range(r, 1, l->planes * l->granules /
				     l->row_granules);
	l->execution_rows = gen_below(r, 3);
}

static void cut_planes(struct recorded *l, struct gen_rng *r)
{
	unsigned joined = (unsigned)gen_below(r, 60);
	uint64_t i, k;

	for (i = 0; i < l->planes; i++)
		for (k = 0; k < l->granules; k++)
			if (k && gen_chance(r, joined))
				l->chunks[l->count - 1].bytes += GRANULE;
			else
				l->chunks[l->count++] = (struct kvp_chunk){
					.plane = (uint32_t)i,
					.offset = k * GRANULE,
					.bytes = GRANULE,
				};
}

static void shuffle_chunks(struct recorded *l, struct gen_rng *r)
{
	struct kvp_chunk keep;
	size_t i, k;

	for (i = l->count; i-- > 1;) {
		k = (size_t)gen_below(r, i + 1);
		keep = l->chunks[i];
		l->chunks[i] = l->chunks[k];
		l->chunks[k] = keep;
	}
}

/* Both page sizes, times the pages, fill the same granules. */
static void put_planes(const struct recorded *l, FILE *out)
{
	fprintf(out, "\"planes\": [{\"name\": \"p\", \"count\": %" PRIu64
		", \"bytes_per_page\": %" PRIu64 "}", l->equal, GRANULE);
	if (l->equal < l->planes)
		fprintf(out, ",\n{\"name\": \"q\", \"count\": %" PRIu64
			", \"bytes_per_page\": %" PRIu64 "}",
			l->planes - l->equal, GRANULE - 1);
	fputs("],\n\"base_chunks\": [", out);
}

/* In this order from D on until the rows are covered. */
static void put_chunks(const struct recorded *l, FILE *out)
{
	uint64_t row = l->row_granules * GRANULE;
	uint64_t arena = l->execution_rows * row;
	uint64_t end = arena + l->snapshot_rows * row;
	const struct kvp_chunk *c;
	size_t i;

	for (i = 0; i < l->count; i++) {
		c = &l->chunks[i];
		fprintf(out, "%s\n{\"plane\":%" PRIu32 ",\"offset\":%" PRIu64
			",\"bytes\":%" PRIu64 ",\"arena\":", i ? "," : "",
			c->plane, c->offset, c->bytes);
		if (arena < end)
			fprintf(out, "%" PRIu64 "}", arena);
		else
			fputs("null}", out);
		arena += c->bytes;
	}
}

char *gen_recorded(uint64_t seed)
{
	struct gen_rng r = { seed };
	struct recorded l = { 0 };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		abort();
	draw_shape(&l, &r);
	cut_planes(&l, &r);
	shuffle_chunks(&l, &r);
	fprintf(out, "{\"format\": \"kvplan/geometry/1\",\n"
		"\"name\": \"recorded, seed %" PRIu64 "\",\n"
		"\"granularity\": %" PRIu64 ", \"pages\": %" PRIu64 ", "
		"\"page_tokens\": 1,\n\"snapshot_rows\": %" PRIu64 ", "
		"\"execution_rows\": %" PRIu64 ", \"row_bytes\": %" PRIu64
		",\n\"ranks\": 1, \"dcp_group_size\": 1,\n", seed, GRANULE,
		l.granules, l.snapshot_rows, l.execution_rows,
		l.row_granules * GRANULE);
	put_planes(&l, out);
	put_chunks(&l, out);
	fputs("]}\n", out);
	if (fclose(out))
		abort();
	return text;
}
