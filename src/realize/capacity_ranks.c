/*
 * Reading the ranks of a part.  What all ranks must have in common is compared
 * with the first rank that was read.
 */
#include <string.h>

#include "base/error.h"
#include "realize/capacity_join.h"

enum {
	R_RANK, R_DEVICE, R_PAGES, R_SNAPSHOT_ROWS, R_EXECUTION_ROWS, R_BYTES,
	R_CHUNKS, R_ENTRIES, R_READERS, R_UUID, R_DEVICE_NAME, R_HEADROOM,
	R_PLANES, R_ARENA, R_KEYS
};

static const struct json_field rank_keys[R_KEYS] = {
	[R_RANK] = { "rank", true }, [R_DEVICE] = { "device", true },
	[R_PAGES] = { "pages", true },
	[R_SNAPSHOT_ROWS] = { "snapshot_rows", true },
	[R_EXECUTION_ROWS] = { "execution_rows", true },
	[R_BYTES] = { "bytes", true }, [R_CHUNKS] = { "chunks", true },
	[R_ENTRIES] = { "entries", true }, [R_READERS] = { "readers", true },
	[R_UUID] = { "uuid", true },
	[R_DEVICE_NAME] = { "device_name", true },
	[R_HEADROOM] = { "headroom", true }, [R_PLANES] = { "planes", true },
	[R_ARENA] = { "arena", false },
};

/* On the host a device has no UUID, and the text is empty. */
static int read_uuid(struct join *j, const struct json_at *at,
		     const char **kept, struct kvp_error *err)
{
	char *text = NULL;
	int code = json_text(at, &text, err);

	return code ? code : join_keep_text(j, text, kept, err);
}

static int read_headroom(struct capacity_rank *k, const struct json_at *at,
			 struct kvp_error *err)
{
	enum { FREE, CAP, TERM, COUNT };
	static const struct json_field fields[COUNT] = {
		{ "free_bytes", true }, { "cap_bytes", true },
		{ "term", true },
	};
	static const char *const terms[] = {
		"half", "floor", "eighth", "ceiling", "override",
	};
	struct json_at v[COUNT];
	size_t term = 0;
	int code = json_object(at, fields, COUNT, v, err);

	if (!code)
		code = json_u64(&v[FREE], 0, KVP_NUMBER_MAX, &k->free_bytes,
				err);
	if (!code) {
		k->bounded = json_type(&v[CAP]) != JSON_NULL;
		if (k->bounded)
			code = json_u64(&v[CAP], 0, KVP_NUMBER_MAX,
					&k->cap_bytes, err);
	}
	if (!code)
		code = json_choice(&v[TERM], terms,
				   sizeof(terms) / sizeof(*terms), &term, err);
	k->cap_term = terms[term];
	return code;
}

static int read_plane(struct join *j, const struct json_at *at, bool known,
		      struct capacity_plane *plane, uint64_t *address,
		      struct kvp_error *err)
{
	enum { NAME, ADDRESS, STRIDE, COUNT };
	static const struct json_field fields[COUNT] = {
		{ "name", true }, { "address", true }, { "stride", true },
	};
	struct json_at v[COUNT];
	int code = json_object(at, fields, COUNT, v, err);

	if (!code)
		code = join_same_text(j, &v[NAME], known, &plane->name, err);
	if (!code && strlen(plane->name) > KVP_PLANE_NAME_MAX)
		code = json_fail(&v[NAME], err, KVP_EINPUT, "has %zu bytes, "
				 "must have at most %llu",
				 strlen(plane->name), (ull)KVP_PLANE_NAME_MAX);
	if (!code)
		code = json_u64(&v[ADDRESS], 1, KVP_NUMBER_MAX, address, err);
	return code ? code : join_same_u64(j, &v[STRIDE], known, 1,
					   &plane->stride, err);
}

static int read_planes(struct join *j, const struct json_at *at, bool known,
		       struct capacity_rank *k, struct kvp_error *err)
{
	struct capacity *c = &j->c;
	struct json_list list;
	struct json_at element;
	uint64_t *addresses;
	size_t count = 0, i = 0;
	int code = json_list_count(at, KVP_CHUNKS_MAX, &count, err);

	if (!code && !count)
		code = json_fail(at, err, KVP_EINPUT,
				 "is empty, must have at least one plane");
	if (!code && known && count != c->nplanes)
		code = json_fail(at, err, KVP_EINPUT,
				 "has %zu elements, in %s it has %zu", count,
				 j->parts[0].name, c->nplanes);
	if (!code)
		code = json_list_begin(&list, at, err);
	if (code)
		return code;
	if (!known) {
		c->planes = join_keep(j, count, sizeof(*c->planes));
		c->nplanes = count;
	}
	addresses = join_keep(j, count, sizeof(*addresses));
	if (!c->planes || !addresses)
		return kvp_error_nomem(err);
	while (!code && json_list_next(&list, &element)) {
		code = read_plane(j, &element, known, &c->planes[i],
				  &addresses[i], err);
		i++;
	}
	k->planes = addresses;
	return code;
}

static int read_arena(struct join *j, const struct json_at *at, bool known,
		      struct capacity_rank *k, struct kvp_error *err)
{
	enum { ADDRESS, STRIDE, COUNT };
	static const struct json_field fields[COUNT] = {
		{ "address", true }, { "stride", true },
	};
	struct json_at v[COUNT];
	int code;

	if (known && !at->p != !j->c.arena_stride)
		return json_fail(at, err, KVP_EINPUT, "is %s, in %s it is %s",
				 at->p ? "there" : "missing",
				 j->parts[0].name, at->p ? "missing" : "there");
	if (!at->p)
		return KVP_OK;
	code = json_object(at, fields, COUNT, v, err);
	if (!code)
		code = json_u64(&v[ADDRESS], 1, KVP_NUMBER_MAX, &k->arena,
				err);
	return code ? code : join_same_u64(j, &v[STRIDE], known, 1,
					   &j->c.arena_stride, err);
}

/* Read the keys that every rank has with the same number. */
static int read_same_numbers(struct join *j, const struct json_at *v,
			     bool known, struct kvp_error *err)
{
	uint64_t *const numbers[R_KEYS] = {
		[R_PAGES] = &j->c.pages,
		[R_SNAPSHOT_ROWS] = &j->c.snapshot_rows,
		[R_EXECUTION_ROWS] = &j->c.execution_rows,
		[R_BYTES] = &j->c.bytes, [R_CHUNKS] = &j->c.chunks,
	};
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < R_KEYS && !code; i++)
		if (numbers[i])
			code = join_same_u64(j, &v[i], known, 0, numbers[i],
					     err);
	return code;
}

/* Find the place of a rank that no part has had. */
static int find_place(struct join *j, const struct json_at *at,
		      struct capacity_rank **k, struct kvp_error *err)
{
	uint64_t number = 0;
	int code = json_u64(at, 0, j->c.ranks_total - 1, &number, err);

	if (code)
		return code;
	if (j->part_of[number] != NO_PART)
		return json_fail(at, err, KVP_EINPUT,
				 "is %llu, which %s has, too", (ull)number,
				 j->parts[j->part_of[number]].name);
	*k = &j->c.ranks[number];
	(*k)->rank = (uint32_t)number;
	j->part_of[number] = j->part;
	return KVP_OK;
}

static int read_rank(struct join *j, const struct json_at *at,
		     struct kvp_error *err)
{
	bool known = j->ranks_read > 0;
	struct capacity_rank *k = NULL;
	struct json_at v[R_KEYS];
	int code = json_object(at, rank_keys, R_KEYS, v, err);

	if (!code)
		code = find_place(j, &v[R_RANK], &k, err);
	if (!code)
		code = json_u64(&v[R_DEVICE], 0, KVP_NUMBER_MAX, &k->device,
				err);
	if (!code)
		code = read_same_numbers(j, v, known, err);
	if (!code)
		code = json_u64(&v[R_ENTRIES], 0, KVP_NUMBER_MAX, &k->entries,
				err);
	if (!code)
		code = json_u64(&v[R_READERS], 1, j->c.ranks_total,
				&k->readers, err);
	if (!code)
		code = read_uuid(j, &v[R_UUID], &k->uuid, err);
	if (!code)
		code = join_text(j, &v[R_DEVICE_NAME], &k->device_name, err);
	if (!code)
		code = read_headroom(k, &v[R_HEADROOM], err);
	if (!code)
		code = read_planes(j, &v[R_PLANES], known, k, err);
	if (!code)
		code = read_arena(j, &v[R_ARENA], known, k, err);
	j->ranks_read++;
	return code;
}

int join_read_ranks(struct join *j, const struct json_at *at,
		    struct kvp_error *err)
{
	struct json_list list;
	struct json_at element;
	size_t count = 0;
	int code = json_list_count(at, KVP_RANKS_MAX, &count, err);

	if (!code && !count)
		code = json_fail(at, err, KVP_EINPUT,
				 "is empty, must have at least one rank");
	if (!code)
		code = json_list_begin(&list, at, err);
	while (!code && json_list_next(&list, &element))
		code = read_rank(j, &element, err);
	return code;
}
