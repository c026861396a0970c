/*
 * One seed in, one geometry text out.  The shape is drawn first, sizes are
 * kept small by a granularity of 4 KiB; then it is written with the freedom
 * the format allows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/gen.h"

#define MAX_PLANES 16
#define MAX_RANKS 16

struct draft {
	struct gen_rng *r;
	enum gen_size size;
	FILE *out;

	uint64_t granularity, tile_granules, tile;
	uint64_t pages;
	uint64_t bpp[MAX_PLANES];
	bool alias[MAX_PLANES];
	size_t nplanes;
	uint64_t room;		/* aliased backing */

	uint64_t execution_rows, snapshot_rows, row_bytes, row_stride;

	uint64_t ranks, ranks_per_node, group;
	bool lists;		/* imports written out */
	bool imports[MAX_RANKS][MAX_RANKS];	/* [importer][owner] */
};

/* Limits of a size class. */
static const struct {
	uint64_t pages, planes, tiles, rows;
} limits[GEN_SIZES] = {
	[GEN_TINY] = { 8, 3, 8, 10 },
	[GEN_SMALL] = { 40, 6, 40, 40 },
	[GEN_MEDIUM] = { 250, 12, 150, 200 },
};

uint64_t gen_next(struct gen_rng *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t gen_below(struct gen_rng *r, uint64_t n)
{
	return gen_next(r) % n;
}

uint64_t gen_range(struct gen_rng *r, uint64_t low, uint64_t high)
{
	return low + gen_below(r, high - low + 1);
}

bool gen_chance(struct gen_rng *r, unsigned percent)
{
	return gen_below(r, 100) < percent;
}

uint64_t gen_seed(uint64_t seed, uint64_t index)
{
	struct gen_rng r = { seed ^ index * UINT64_C(0xd1342543de82ef95) };

	return gen_next(&r);
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* Page sizes in every relation to a tile. */
static uint64_t draw_bpp(struct draft *d)
{
	uint64_t t = d->tile;

	switch (gen_below(d->r, 7)) {
	case 0:
		return t;
	case 1:
		return t * gen_range(d->r, 2, 5);
	case 2:
		return t / gen_range(d->r, 2, 8);
	case 3:
		return gen_range(d->r, 1, t);
	case 4:
		return t * gen_range(d->r, 17, 47) / 16;
	case 5:
		return t * gen_range(d->r, 4, limits[d->size].tiles) +
		       gen_below(d->r, t);
	default:
		return gen_range(d->r, 1, 3 * t);
	}
}

static void draw_planes(struct draft *d)
{
	uint64_t kinds[3], nkinds = gen_range(d->r, 1, 3), largest = 1, most;
	size_t i;

	d->granularity = gen_chance(d->r, 90) ? 4096 : 8192;
	d->tile_granules = gen_chance(d->r, 60) ? 1 : gen_range(d->r, 2, 3);
	d->tile = d->granularity * d->tile_granules;
	for (i = 0; i < nkinds; i++)
		kinds[i] = draw_bpp(d);
	d->nplanes = gen_range(d->r, 1, limits[d->size].planes);
	for (i = 0; i < d->nplanes; i++) {
		d->bpp[i] = kinds[gen_below(d->r, nkinds)];
		d->alias[i] = gen_chance(d->r, 88);
		largest = d->bpp[i] > largest ? d->bpp[i] : largest;
	}
	most = limits[d->size].tiles * d->tile / largest;
	most = most > limits[d->size].pages ? limits[d->size].pages : most;
	d->pages = most < 2 || gen_chance(d->r, 8) ? 1 :
						gen_range(d->r, 1, most);
	for (i = 0; i < d->nplanes; i++)
		if (d->alias[i])
			d->room += round_up(d->pages * d->bpp[i],
					    d->granularity);
}

/* row_stride near `about`, row_bytes within it. */
static void draw_row_bytes(struct draft *d, uint64_t about)
{
	uint64_t g = d->granularity;
	bool padded = gen_chance(d->r, 45);

	about = about ? about : 1;
	switch (gen_below(d->r, 8)) {
	case 0:				/* rows smaller than a granule */
		d->row_stride = gen_range(d->r, 16, g - 1);
		break;
	case 1:
		d->row_stride = g;
		break;
	case 2:
	case 3:
		d->row_stride = round_up(about, g);
		break;
	case 4:
		d->row_stride = gen_range(d->r, 1, 8) * g;
		break;
	default:
		d->row_stride = about;
		break;
	}
	d->row_bytes = d->row_stride;
	if (padded && gen_chance(d->r, 40))
		d->row_bytes = gen_range(d->r, 1, d->row_stride);
	else if (padded && d->row_stride > 1)
		d->row_bytes -= gen_below(d->r,
			d->row_stride < g ? d->row_stride : g);
}

static void draw_rows(struct draft *d)
{
	uint64_t want = gen_range(d->r, 1, limits[d->size].rows), fit;

	if (gen_chance(d->r, 6))
		return;
	draw_row_bytes(d, d->room / want * gen_range(d->r, 4, 10) / 10);
	if (gen_chance(d->r, 60))
		d->execution_rows = gen_range(d->r, 1, 5);
	fit = (round_up(d->execution_rows * d->row_stride, d->granularity) +
	       d->room) / d->row_stride - d->execution_rows;
	d->snapshot_rows = want < fit ? want : fit;
	if (fit < 2 * limits[d->size].rows && gen_chance(d->r, 25))
		d->snapshot_rows = fit;
	if (fit < 2 * limits[d->size].rows && gen_chance(d->r, 8))
		d->snapshot_rows = fit + gen_range(d->r, 1, 3);
	if (gen_chance(d->r, 4))
		d->snapshot_rows = 0;
}

static uint64_t draw_divisor(struct draft *d, uint64_t n)
{
	uint64_t value = gen_range(d->r, 1, n);

	while (n % value)
		value--;
	return value;
}

static void draw_ranks(struct draft *d)
{
	static const uint64_t sizes[] = { 1, 1, 2, 3, 4, 8 };
	uint64_t i, k;

	d->ranks_per_node = sizes[gen_below(d->r, 6)];
	d->ranks = d->ranks_per_node * gen_range(d->r, 1, 2);
	d->group = draw_divisor(d, d->ranks_per_node);
	d->lists = gen_chance(d->r, 30);
	for (i = 0; i < d->ranks; i++)
		for (k = 0; k < d->ranks; k++)
			d->imports[i][k] = d->lists ?
				i / d->ranks_per_node ==
				k / d->ranks_per_node && gen_chance(d->r, 40) :
				i / d->group == k / d->group;
}

/* "key": value, in one of the forms a number may have. */
static void put(struct draft *d, const char *key, uint64_t value, bool bytes)
{
	fprintf(d->out, ",\n\"%s\": ", key);
	if (bytes && !(value % 1024) && gen_chance(d->r, 20))
		fprintf(d->out, "\"%" PRIu64 " KiB\"", value / 1024);
	else if (bytes && gen_chance(d->r, 10))
		fprintf(d->out, "\"%" PRIu64 "B\"", value);
	else if (value && !(value % 10) && gen_chance(d->r, 10))
		fprintf(d->out, "%" PRIu64 "e1", value / 10);
	else
		fprintf(d->out, gen_chance(d->r, 5) ? "%" PRIu64 ".0" :
						      "%" PRIu64, value);
}

/* Leave a default out most of the time. */
static void put_unless(struct draft *d, const char *key, uint64_t value,
		       uint64_t fallback, bool bytes)
{
	if (value != fallback || gen_chance(d->r, 20))
		put(d, key, value, bytes);
}

static void put_planes(struct draft *d, bool addresses)
{
	uint64_t address = UINT64_C(1) << 40;
	size_t i, n;

	fputs(",\n\"planes\": [", d->out);
	for (i = 0; i < d->nplanes; i += n) {
		for (n = 1; i + n < d->nplanes && !addresses &&
		     d->bpp[i + n] == d->bpp[i] &&
		     d->alias[i + n] == d->alias[i]; n++)
			;
		fprintf(d->out, "%s\n{\"name\": \"p%zu\"", i ? "," : "", i);
		if (n > 1 || gen_chance(d->r, 10))
			put(d, "count", n, false);
		put(d, "bytes_per_page", d->bpp[i], true);
		if (!d->alias[i] || gen_chance(d->r, 10))
			fprintf(d->out, ", \"alias\": %s",
				d->alias[i] ? "true" : "false");
		if (addresses)
			put(d, "address", address, true);
		address += UINT64_C(1) << 34;
		fputs("}", d->out);
	}
	fputs("]", d->out);
	if (addresses)
		put(d, "arena_address", UINT64_C(1) << 45, false);
}

/* One list per rank; `turn` lists importers per owner instead. */
static void put_lists(struct draft *d, bool turn)
{
	uint64_t i, k;
	bool first, in;

	fputs("[", d->out);
	for (i = 0; i < d->ranks; i++) {
		fputs(i ? ", [" : "[", d->out);
		first = true;
		for (k = d->ranks; k-- > 0;) {
			in = turn ? d->imports[k][i] || gen_chance(d->r, 30) :
				    d->imports[i][k];
			if (!in || (i == k && gen_chance(d->r, 50)))
				continue;
			fprintf(d->out, "%s%" PRIu64, first ? "" : ",", k);
			first = false;
		}
		fputs("]", d->out);
	}
	fputs("]", d->out);
}

static void put_access(struct draft *d)
{
	const char *comma = "";

	if (!d->lists && gen_chance(d->r, 60))
		return;
	fputs(",\n\"access\": {", d->out);
	if (gen_chance(d->r, 60)) {
		fputs("\"declared_readers\": ", d->out);
		if (gen_chance(d->r, 30))
			fputs("\"all\"", d->out);
		else
			put_lists(d, true);
		comma = ", ";
	}
	if (d->lists) {
		fprintf(d->out, "%s\"imports\": ", comma);
		put_lists(d, false);
		comma = ", ";
	}
	if (gen_chance(d->r, 30))
		fprintf(d->out, "%s\"importer_mode\": \"%s\"", comma,
			gen_chance(d->r, 50) ? "readwrite" : "read");
	fputs("}", d->out);
}

static void put_statics(struct draft *d)
{
	static const char *const importers[] = { "none", "group", "all" };
	uint64_t n = gen_range(d->r, 1, 3), i;

	if (gen_chance(d->r, 70))
		return;
	fputs(",\n\"static\": [", d->out);
	for (i = 0; i < n; i++)
		fprintf(d->out, "%s\n{\"name\": \"item \\u00e9 %" PRIu64 "\", "
			"\"bytes\": %" PRIu64 ", \"importers\": \"%s\"}",
			i ? "," : "", i, gen_range(d->r, 1, 1 << 20),
			importers[gen_below(d->r, 3)]);
	fputs("]", d->out);
}

static void put_table(struct draft *d)
{
	uint64_t limit;

	if (gen_chance(d->r, 20))
		put(d, "static_entries", gen_below(d->r, 5000), false);
	if (gen_chance(d->r, 20)) {
		limit = gen_below(d->r, gen_chance(d->r, 50) ? 500 : 20000);
		put(d, "entry_limit", limit, false);
		if (gen_chance(d->r, 70))
			put(d, "entry_reserve", gen_below(d->r, limit + 1),
			    false);
	}
	if (gen_chance(d->r, 15))
		put(d, "page_overhead_bytes", gen_below(d->r, 4096), true);
}

/* Most caps are within half of what is free; some are not, some unbounded. */
static void put_headroom(struct draft *d)
{
	uint64_t free_bytes = gen_below(d->r, UINT64_C(1) << 34);

	if (gen_chance(d->r, 75))
		return;
	fprintf(d->out, ",\n\"headroom\": {\"free_bytes\": %" PRIu64
		", \"cap_bytes\": ", free_bytes);
	if (gen_chance(d->r, 8))
		fputs("null}", d->out);
	else if (gen_chance(d->r, 10))
		fprintf(d->out, "%" PRIu64 "}", free_bytes / 2 + 1);
	else
		fprintf(d->out, "%" PRIu64 "}",
			gen_below(d->r, free_bytes / 2 + 1));
}

static void put_all(struct draft *d, uint64_t seed)
{
	fprintf(d->out, "{\"format\": \"kvplan/geometry/1\",\n"
		"\"name\": \"seed %" PRIu64 " size %d\"", seed, (int)d->size);
	put(d, "granularity", d->granularity, true);
	put_unless(d, "tile_granules", d->tile_granules, 1, false);
	put(d, "pages", d->pages, false);
	put(d, "page_tokens", gen_range(d->r, 1, 128), false);
	put(d, "snapshot_rows", d->snapshot_rows, false);
	put(d, "execution_rows", d->execution_rows, false);
	if (d->row_stride) {
		put(d, "row_bytes", d->row_bytes, true);
		put_unless(d, "row_stride", d->row_stride, d->row_bytes, true);
	}
	put(d, "ranks", d->ranks, false);
	put_unless(d, "ranks_per_node", d->ranks_per_node, d->ranks, false);
	put(d, "dcp_group_size", d->group, false);
	put_planes(d, gen_chance(d->r, 10));
	put_access(d);
	put_statics(d);
	put_table(d);
	put_headroom(d);
}

/* A recorded layout behind everything else, if the rows fit. */
static void put_base(struct draft *d, const char *text, size_t len)
{
	struct kvp_geometry g = { 0 };
	struct gen_base base = { 0 };
	const struct kvp_chunk *c;
	size_t i, at, step = 1;

	if (kvp_geometry_read(&g, "gen", text, len, NULL) ||
	    !gen_base_make(&base, &g))
		goto done;
	gen_base_recut(&base, &g, d->r);
	/* Any order of the list will do. */
	if (base.count % 7 && gen_chance(d->r, 50))
		step = 7;
	fputs(",\n\"base_chunks\": [", d->out);
	for (i = 0; i < base.count; i++) {
		at = i * step % base.count;
		c = &base.chunks[at];
		fprintf(d->out, "%s\n{\"plane\":%" PRIu32 ",\"offset\":%" PRIu64
			",\"bytes\":%" PRIu64 ",\"arena\":", i ? "," : "",
			c->plane, c->offset, c->bytes);
		if (c->arena == KVP_UNALIASED)
			fputs("null}", d->out);
		else
			fprintf(d->out, "%" PRIu64 "}", c->arena);
	}
	fputs("]", d->out);
done:
	gen_base_release(&base);
	kvp_geometry_release(&g);
}

char *gen_geometry(uint64_t seed, enum gen_size size)
{
	struct gen_rng r = { seed };
	struct draft *d = gen_alloc(sizeof(*d));
	char *text = NULL, *closed;
	size_t len;

	d->r = &r;
	d->size = size;
	draw_planes(d);
	draw_rows(d);
	draw_ranks(d);
	d->out = open_memstream(&text, &len);
	if (!d->out)
		abort();
	put_all(d, seed);
	fflush(d->out);
	if (gen_chance(&r, 20)) {
		closed = gen_alloc(len + 2);
		memcpy(closed, text, len);
		closed[len] = '}';
		put_base(d, closed, len + 1);
		free(closed);
	}
	fputs("}\n", d->out);
	if (fclose(d->out))
		abort();
	free(d);
	return text;
}
