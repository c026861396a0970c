/*
 * The alias check.  First granules: the plane and the arena must show the
 * same memory for every granule, and no two granules may share memory.  Then
 * rows (alias_rows.c), then readers.  It relies on the plan's list of chunks,
 * not on the mappings.
 *
 * Between writing at one address and reading the same memory at another, the
 * device must be synchronized.
 */
#include "realize/alias_check.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/u64.h"
#include "realize/alias_work.h"

#define HOLDER_MAX 192

static uint64_t granularity(const struct alias *a)
{
	return a->plan->geometry.granularity;
}

static int number_granules(struct alias *a, struct kvp_error *err)
{
	const struct kvp_geometry *g = &a->plan->geometry;
	uint64_t count = 0;
	size_t i;

	a->first = malloc((g->nplanes + 1) * sizeof(*a->first));
	if (!a->first)
		return kvp_error_nomem(err);
	for (i = 0; i < g->nplanes; i++) {
		a->first[i] = count;
		count += u64_ceil_div(g->pages * g->planes[i].bytes_per_page,
				      g->granularity);
	}
	assert(a->plan->dedicated_bytes % g->granularity == 0);
	a->first[i] = count;
	a->granules = count + a->plan->dedicated_bytes / g->granularity;
	a->patterns = a->granules;
	return KVP_OK;
}

/* The plane a granule lies in; nplanes: the dedicated backing. */
static size_t find_plane(const struct alias *a, uint64_t granule)
{
	size_t low = 0, high = a->plan->geometry.nplanes;

	while (low < high) {
		size_t middle = high - (high - low) / 2;

		if (a->first[middle] <= granule)
			low = middle;
		else
			high = middle - 1;
	}
	assert(a->first[low] <= granule && granule < a->granules);
	return low;
}

/* The address a granule is written at: in its plane, or in the arena if it is
   dedicated. */
static uint64_t get_home(const struct alias *a, uint64_t granule)
{
	size_t plane = find_plane(a, granule);
	uint64_t offset = (granule - a->first[plane]) * granularity(a);

	return offset + (plane < a->plan->geometry.nplanes ?
			 a->rank->planes[plane] : a->rank->arena);
}

/* "plane kv.2 bytes [4194304, 6291456)" */
static int describe_granule(const struct alias *a, uint64_t granule, char *text)
{
	const struct kvp_geometry *g = &a->plan->geometry;
	size_t plane = find_plane(a, granule);
	uint64_t offset = (granule - a->first[plane]) * g->granularity;
	bool dedicated = plane == g->nplanes;

	return snprintf(text, HOLDER_MAX, "%s%s bytes [%llu, %llu)",
			dedicated ? "dedicated backing" : "plane ",
			dedicated ? "" : g->planes[plane].name,
			(ull)offset,
			(ull)(offset + g->granularity));
}

/*
 * Find a word by comparing it, at most 4 * 128 times; only done after a wrong
 * byte.  False if it is no pattern of a page.
 */
static bool find_word(const struct alias *a, uint64_t address, uint32_t *word)
{
	struct kvp_backend *b = a->backend;
	uint32_t value;
	uint64_t same = 0;
	unsigned i;

	*word = 0;
	for (i = 0; i < 4; i++) {
		for (value = 0, same = 0; value < 128 && !same; value++)
			if (b->mapping.match(b, a->rank->device, address + i,
					     1, value * UINT32_C(0x01010101),
					     &same, NULL))
				return false;
		if (!same)
			return false;
		*word |= (value - 1) << 8 * i;
	}
	return true;
}

/* Write "; it holds what was written to ...", or nothing if that is not
   known. */
static void describe_holder(const struct alias *a, uint64_t address, char *text)
{
	uint64_t granule;
	uint32_t word;
	int used;

	*text = '\0';
	if (!find_word(a, address - address % 4, &word))
		return;
	for (granule = 0; granule < a->granules; granule++)
		if (alias_page_pattern(granule) == word)
			break;
	if (granule == a->granules)
		return;
	assert(granule < a->granules);
	used = snprintf(text, HOLDER_MAX, "; it holds what was written to ");
	describe_granule(a, granule, text + used);
}

/* "row 2", "execution row 0", "no row" */
static void describe_row(const struct kvp_geometry *g, uint64_t arena,
			 char *text, size_t size)
{
	uint64_t row = g->row_stride ? arena / g->row_stride : 0;

	if (arena - row * g->row_stride >= g->row_bytes ||
	    row >= g->execution_rows + g->snapshot_rows)
		snprintf(text, size, "no row");
	else if (row < g->execution_rows)
		snprintf(text, size, "execution row %llu",
			 (ull)row);
	else
		snprintf(text, size, "row %llu",
			 (ull)(row - g->execution_rows));
}

/* Fail because byte `wrong` of a granule is wrong, read through its plane or
   in the arena at byte `arena`. */
static int fail_wrong_granule(const struct alias *a, uint64_t granule,
			      uint64_t arena, uint64_t wrong,
			      struct kvp_error *err)
{
	char what[HOLDER_MAX], holder[2 * HOLDER_MAX], row[64];
	uint64_t base = (granule - a->first[find_plane(a, granule)]) *
			granularity(a);

	assert(wrong < granularity(a));
	describe_granule(a, granule, what);
	if (arena == KVP_UNALIASED) {
		describe_holder(a, get_home(a, granule) + wrong, holder);
		return kvp_error_set(err, KVP_EFAILED,
			"%s: byte %llu is not what was written there%s", what,
			(ull)(base + wrong), holder);
	}
	describe_holder(a, a->rank->arena + arena + wrong, holder);
	describe_row(&a->plan->geometry, arena + wrong, row, sizeof(row));
	return kvp_error_set(err, KVP_EFAILED,
		"%s: byte %llu is not what was written through the plane "
		"when read through the arena at %llu (%s)%s", what,
		(ull)(base + wrong),
		(ull)(arena + wrong), row, holder);
}

/* Read one granule through its plane, or in the arena at byte `arena`. */
static int match_granule(const struct alias *a, uint64_t granule,
			 uint64_t arena, struct kvp_error *err)
{
	uint64_t bytes = granularity(a), same = 0;
	uint64_t address = arena == KVP_UNALIASED ? get_home(a, granule) :
						    a->rank->arena + arena;
	char what[HOLDER_MAX];
	int code = alias_match(a, a->rank->device, address, bytes,
			       alias_page_pattern(granule), &same, err);

	if (code) {
		describe_granule(a, granule, what);
		return kvp_error_wrap(err, code, "%s read through the %s",
			what, arena == KVP_UNALIASED &&
			granule < a->first[a->plan->geometry.nplanes] ?
			"plane" : "arena");
	}
	return same < bytes ? fail_wrong_granule(a, granule, arena, same, err) :
			      KVP_OK;
}

/* Write all granules before `end`, with patterns from number `first` on. */
static int write_granules(const struct alias *a, uint64_t end, uint64_t first,
			  struct kvp_error *err)
{
	char what[HOLDER_MAX];
	uint64_t i;
	int code;

	for (i = 0; i < end; i++) {
		code = alias_fill(a, get_home(a, i), granularity(a),
				  alias_page_pattern(first + i), err);
		if (!code)
			continue;
		describe_granule(a, i, what);
		return kvp_error_wrap(err, code, "writing %s", what);
	}
	return alias_synchronize(a, err);
}

static int match_arena(const struct alias *a, const struct kvp_chunk *chunk,
		       struct kvp_error *err)
{
	uint64_t step = granularity(a), offset;
	uint64_t granule = a->first[chunk->plane] + chunk->offset / step;
	int code = KVP_OK;

	if (chunk->arena == KVP_UNALIASED)
		return KVP_OK;
	assert(chunk->plane < a->plan->geometry.nplanes);
	assert(chunk->offset % step == 0 && chunk->arena % step == 0);
	for (offset = 0; offset < chunk->bytes && !code; offset += step)
		code = match_granule(a, granule++, chunk->arena + offset, err);
	return code;
}

/*
 * Find granules that share memory: all are written before the first is read,
 * so the later write has overwritten the earlier.
 */
static int check_granules(const struct alias *a, struct kvp_error *err)
{
	uint64_t granule;
	size_t i;
	int code = write_granules(a, a->granules, 0, err);

	for (granule = 0; granule < a->granules && !code; granule++)
		code = match_granule(a, granule, KVP_UNALIASED, err);
	for (i = 0; i < a->plan->nchunks && !code; i++)
		code = match_arena(a, &a->plan->chunks[i], err);
	return code;
}

static int check_readers(const struct alias *a, struct kvp_error *err)
{
	size_t i;
	int code = alias_synchronize(a, err);

	for (i = 0; i < a->rank->nreaders && !code; i++)
		code = alias_match_pages(a, a->rank->readers[i], err);
	return code;
}

static int check_rank(struct alias *a, struct kvp_error *err)
{
	int code = check_granules(a, err);

	if (!code)
		code = alias_rows(a, err);
	return code ? code : check_readers(a, err);
}

/* The number of the first pattern of a rank's planes; other ranks have
   others. */
static uint64_t first_pattern(const struct alias *a)
{
	return a->rank->rank * a->granules;
}

static int write_planes(struct alias *a, struct kvp_error *err)
{
	return write_granules(a, a->first[a->plan->geometry.nplanes],
			      first_pattern(a), err);
}

static int match_planes(struct alias *a, struct kvp_error *err)
{
	uint64_t i, end = a->first[a->plan->geometry.nplanes], same = 0;
	char what[HOLDER_MAX];
	int code;

	for (i = 0; i < end; i++) {
		code = alias_match(a, a->rank->device, get_home(a, i),
				   granularity(a),
				   alias_page_pattern(first_pattern(a) + i),
				   &same, err);
		if (code)
			return code;
		if (same == granularity(a))
			continue;
		describe_granule(a, i, what);
		return kvp_error_set(err, KVP_EFAILED,
			"%s: byte %llu is not what the owner wrote when "
			"device %u reads its import", what, (ull)same,
			(unsigned)a->rank->device);
	}
	return KVP_OK;
}

/* Run a check; `of` is what it checks of the rank, for errors. */
static int run(struct alias a, enum kvp_check depth,
	       int (*check)(struct alias *a, struct kvp_error *err),
	       const char *of, struct kvp_error *err)
{
	int code;

	assert(depth == KVP_CHECK_QUICK || depth == KVP_CHECK_FULL);
	a.full = depth == KVP_CHECK_FULL;
	code = number_granules(&a, err);
	if (!code)
		code = check(&a, err);
	free(a.first);
	return code ? kvp_error_wrap(err, code, "alias check: %srank %u", of,
				     (unsigned)a.rank->rank) : KVP_OK;
}

int alias_check(struct kvp_backend *b, const struct kvp_plan *plan,
		const struct check_rank *rank, enum kvp_check depth,
		struct kvp_error *err)
{
	return run((struct alias){ .backend = b, .plan = plan, .rank = rank },
		   depth, check_rank, "", err);
}

int alias_write_planes(struct kvp_backend *b, const struct kvp_plan *plan,
		       const struct check_rank *rank, enum kvp_check depth,
		       struct kvp_error *err)
{
	return run((struct alias){ .backend = b, .plan = plan, .rank = rank },
		   depth, write_planes, "planes of ", err);
}

int alias_match_planes(struct kvp_backend *b, const struct kvp_plan *plan,
		       const struct check_rank *rank, enum kvp_check depth,
		       struct kvp_error *err)
{
	return run((struct alias){ .backend = b, .plan = plan, .rank = rank },
		   depth, match_planes, "planes of ", err);
}
