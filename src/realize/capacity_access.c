/*
 * Reading the access records of a part: the readers of each plane that are
 * ranks of this part.
 */
#include <stdlib.h>

#include "base/error.h"
#include "realize/capacity_join.h"

enum { A_RANK, A_PLANE, A_READERS, A_ENTRIES, A_BEFORE, A_AFTER, A_KEYS };

static const struct json_field access_keys[A_KEYS] = {
	{ "rank", true }, { "plane", true }, { "readers", true },
	{ "entries", true }, { "free_before", true }, { "free_after", true },
};

static struct join_reader *add_reader(struct join *j)
{
	size_t room = j->room ? 2 * j->room : 64;
	struct join_reader *grown;

	if (j->nreaders == j->room) {
		grown = room > SIZE_MAX / sizeof(*grown) ? NULL :
			realloc(j->readers, room * sizeof(*grown));
		if (!grown)
			return NULL;
		j->readers = grown;
		j->room = room;
	}
	return &j->readers[j->nreaders++];
}

/*
 * Read a reader of a rank's plane; it must be a rank of this part.  *next is
 * the least that it may be: the owner comes first, then ranks ascend.
 */
static int read_reader(struct join *j, const struct json_at *at,
		       uint32_t owner, uint64_t *next, uint32_t *reader,
		       struct kvp_error *err)
{
	uint64_t number = 0, order;
	int code = json_u64(at, 0, j->c.ranks_total - 1, &number, err);

	if (code)
		return code;
	if (j->part_of[number] != j->part)
		return json_fail(at, err, KVP_EINPUT, "is %llu, which is no "
				 "rank of this part", (ull)number);
	order = number == owner ? 0 : number + 1;
	if (order < *next)
		return json_fail(at, err, KVP_EINPUT, "is %llu, must be the "
				 "owner first, then others ascending",
				 (ull)number);
	*next = order + 1;
	*reader = (uint32_t)number;
	return KVP_OK;
}

/* Begin the lists of a record, which have one element for each reader. */
static int begin_lists(const struct join *j, const struct json_at *v,
		       struct json_list *readers, struct json_list *before,
		       struct json_list *after, struct kvp_error *err)
{
	size_t count = 0, others[2] = { 0, 0 }, i;
	int code = json_list_count(&v[A_READERS], j->c.ranks_total, &count,
				   err);

	if (!code && !count)
		code = json_fail(&v[A_READERS], err, KVP_EINPUT,
				 "is empty, must have at least one rank");
	for (i = 0; i < 2 && !code; i++) {
		code = json_list_count(&v[A_BEFORE + i], j->c.ranks_total,
				       &others[i], err);
		if (!code && others[i] != count)
			code = json_fail(&v[A_BEFORE + i], err, KVP_EINPUT,
				"has %zu elements, must have one for each of "
				"%zu readers", others[i], count);
	}
	if (!code)
		code = json_list_begin(readers, &v[A_READERS], err);
	if (!code)
		code = json_list_begin(before, &v[A_BEFORE], err);
	return code ? code : json_list_begin(after, &v[A_AFTER], err);
}

static int read_readers(struct join *j, const struct json_at *v,
			struct join_reader what, struct kvp_error *err)
{
	struct json_list readers, before, after;
	struct json_at at, at_before, at_after;
	struct join_reader *added;
	uint64_t next = 0;
	int code = begin_lists(j, v, &readers, &before, &after, err);

	while (!code && json_list_next(&readers, &at)) {
		code = read_reader(j, &at, what.rank, &next, &what.reader,
				   err);
		if (!code && json_list_next(&before, &at_before))
			code = json_u64(&at_before, 0, KVP_NUMBER_MAX,
					&what.free_before, err);
		if (!code && json_list_next(&after, &at_after))
			code = json_u64(&at_after, 0, KVP_NUMBER_MAX,
					&what.free_after, err);
		if (code)
			break;
		added = add_reader(j);
		if (!added)
			return kvp_error_nomem(err);
		*added = what;
		what.entries = 0;
	}
	return code;
}

static int read_record(struct join *j, const struct json_at *at,
		       struct kvp_error *err)
{
	struct join_reader what = { .rank = 0 };
	struct json_at v[A_KEYS];
	uint64_t rank = 0, plane = 0;
	int code = json_object(at, access_keys, A_KEYS, v, err);

	if (!code)
		code = json_u64(&v[A_RANK], 0, j->c.ranks_total - 1, &rank,
				err);
	if (!code)
		code = json_u64(&v[A_PLANE], 0, j->c.nplanes - 1, &plane, err);
	if (!code)
		code = json_u64(&v[A_ENTRIES], 0, KVP_NUMBER_MAX,
				&what.entries, err);
	what.rank = (uint32_t)rank;
	what.plane = (uint32_t)plane;
	return code ? code : read_readers(j, v, what, err);
}

int join_read_access(struct join *j, const struct json_at *at,
		     struct kvp_error *err)
{
	struct json_list list;
	struct json_at element;
	int code = json_list_begin(&list, at, err);

	while (!code && json_list_next(&list, &element))
		code = read_record(j, &element, err);
	return code;
}
