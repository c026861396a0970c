/*
 * Reading recorded addresses from a published file.  Unknown keys are errors,
 * so that no other document is taken for one.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "realize/addresses.h"

struct kvp_addresses {
	struct addresses_rank *ranks;
	size_t nranks;
};

/* Keys without an index are allowed, and their values are not read. */
enum { FORMAT, RANKS, KEYS = 19 };
static const struct json_field keys[KEYS] = {
	[FORMAT] = { "format", true }, [RANKS] = { "ranks", true },
	{ "name", false }, { "merge", false }, { "backend", false },
	{ "driver", false }, { "version", false }, { "ranks_total", false },
	{ "complete", false }, { "checked", false }, { "capacity", false },
	{ "access", false }, { "plan", false }, { "share", false },
	{ "node", false }, { "kv_tokens", false }, { "entries", false },
	{ "static_entries", false }, { "static_storage_entries", false },
};

enum { R_RANK, R_PLANES, R_ARENA, R_KEYS = 14 };
static const struct json_field rank_keys[R_KEYS] = {
	[R_RANK] = { "rank", true }, [R_PLANES] = { "planes", true },
	[R_ARENA] = { "arena", false },
	{ "device", false }, { "pages", false }, { "snapshot_rows", false },
	{ "execution_rows", false }, { "bytes", false }, { "chunks", false },
	{ "entries", false }, { "uuid", false }, { "device_name", false },
	{ "headroom", false }, { "readers", false },
};

static int read_plane(struct addresses_plane *plane, const struct json_at *at,
		      struct kvp_error *err)
{
	enum { NAME, ADDRESS, STRIDE, COUNT };
	static const struct json_field fields[COUNT] = {
		{ "name", true }, { "address", true }, { "stride", true },
	};
	struct json_at v[COUNT];
	char *name = NULL;
	int code = json_object(at, fields, COUNT, v, err);

	if (!code)
		code = json_string(&v[NAME], KVP_PLANE_NAME_MAX, &name, err);
	if (!code && strlen(name) > KVP_PLANE_NAME_MAX)
		code = json_fail(&v[NAME], err, KVP_EINPUT,
				 "is no name of a plane");
	if (!code)
		strcpy(plane->name, name);
	free(name);
	if (!code)
		code = json_u64(&v[ADDRESS], 1, KVP_NUMBER_MAX,
				&plane->address, err);
	return code ? code : json_u64(&v[STRIDE], 1, KVP_NUMBER_MAX,
				      &plane->stride, err);
}

static int read_planes(struct addresses_rank *rank, const struct json_at *at,
		       struct kvp_error *err)
{
	struct json_list list;
	struct json_at element;
	size_t count = 0;
	int code = json_list_count(at, KVP_CHUNKS_MAX, &count, err);

	if (!code)
		code = json_list_begin(&list, at, err);
	if (code)
		return code;
	rank->planes = calloc(count + 1, sizeof(*rank->planes));
	if (!rank->planes)
		return kvp_error_nomem(err);
	while (!code && json_list_next(&list, &element))
		code = read_plane(&rank->planes[rank->nplanes++], &element,
				  err);
	return code;
}

static int read_arena(struct addresses_rank *rank, const struct json_at *at,
		      struct kvp_error *err)
{
	enum { ADDRESS, STRIDE, COUNT };
	static const struct json_field fields[COUNT] = {
		{ "address", true }, { "stride", true },
	};
	struct json_at v[COUNT];
	int code = json_object(at, fields, COUNT, v, err);

	if (!code)
		code = json_u64(&v[ADDRESS], 1, KVP_NUMBER_MAX, &rank->arena,
				err);
	return code ? code : json_u64(&v[STRIDE], 1, KVP_NUMBER_MAX,
				      &rank->arena_stride, err);
}

static int read_rank(struct addresses_rank *rank, bool *seen,
		     const struct json_at *at, struct kvp_error *err)
{
	struct json_at v[R_KEYS];
	uint64_t number = 0;
	int code = json_object(at, rank_keys, R_KEYS, v, err);

	if (!code)
		code = json_u64(&v[R_RANK], 0, KVP_RANKS_MAX - 1, &number,
				err);
	if (!code && seen[number])
		code = json_fail(&v[R_RANK], err, KVP_EINPUT,
			"is %llu for the second time", (ull)number);
	if (code)
		return code;
	assert(number < KVP_RANKS_MAX);
	seen[number] = true;
	rank->rank = (uint32_t)number;
	code = read_planes(rank, &v[R_PLANES], err);
	if (!code && v[R_ARENA].p)
		code = read_arena(rank, &v[R_ARENA], err);
	return code;
}

static int read_ranks(struct kvp_addresses *a, const struct json_at *at,
		      struct kvp_error *err)
{
	bool seen[KVP_RANKS_MAX] = { false };
	struct json_list list;
	struct json_at element;
	size_t count = 0;
	int code = json_list_count(at, KVP_RANKS_MAX, &count, err);

	if (!code && !count)
		code = json_fail(at, err, KVP_EINPUT,
				 "is empty, must hold at least one rank");
	if (!code)
		code = json_list_begin(&list, at, err);
	if (code)
		return code;
	a->ranks = calloc(count, sizeof(*a->ranks));
	if (!a->ranks)
		return kvp_error_nomem(err);
	while (!code && json_list_next(&list, &element)) {
		assert(a->nranks < count);
		code = read_rank(&a->ranks[a->nranks++], seen, &element, err);
	}
	return code;
}

int kvp_addresses_read(struct kvp_addresses **addresses, const char *source,
		       const char *text, size_t len, struct kvp_error *err)
{
	static const char *const formats[] = { KVP_CAPACITY_FORMAT };
	struct kvp_addresses *a = NULL;
	struct json_text in;
	struct json_at root, format, v[KEYS];
	size_t which;
	int code = json_open(&in, &root, source, text, len, err);

	assert(addresses);
	*addresses = NULL;
	if (!code)
		code = format_check(&root, formats, 1, &format, &which, err);
	if (!code)
		code = json_object(&root, keys, KEYS, v, err);
	if (code)
		return code;
	a = calloc(1, sizeof(*a));
	code = a ? read_ranks(a, &v[RANKS], err) : kvp_error_nomem(err);
	if (code)
		kvp_addresses_free(a);
	else
		*addresses = a;
	return code;
}

void kvp_addresses_free(struct kvp_addresses *addresses)
{
	size_t i;

	if (!addresses)
		return;
	for (i = 0; i < addresses->nranks; i++)
		free(addresses->ranks[i].planes);
	free(addresses->ranks);
	free(addresses);
}

const struct addresses_rank *
addresses_find(const struct kvp_addresses *addresses, uint32_t rank)
{
	size_t i;

	for (i = 0; addresses && i < addresses->nranks; i++)
		if (addresses->ranks[i].rank == rank)
			return &addresses->ranks[i];
	return NULL;
}
