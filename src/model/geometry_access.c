/*
 * Reading the access part of a geometry into one list for each rank: the
 * declared readers of its planes, and the owners whose planes it imports.
 */
#include <stdlib.h>

#include "base/error.h"
#include "model/model.h"

static int by_rank(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int ranks_read(struct kvp_ranks *list, const struct json_at *at,
	       uint64_t ranks, struct kvp_error *err)
{
	bool seen[KVP_RANKS_MAX] = { false };
	struct json_list walk;
	struct json_at element;
	uint64_t rank = 0;
	size_t count;
	int code = json_list_count(at, KVP_RANKS_MAX, &count, err);

	if (code)
		return code;
	/* One more, for add_owner(). */
	list->rank = malloc((count + 1) * sizeof(*list->rank));
	if (!list->rank)
		return kvp_error_nomem(err);
	code = json_list_begin(&walk, at, err);
	while (!code && json_list_next(&walk, &element)) {
		code = json_u64(&element, 0, ranks - 1, &rank, err);
		if (code)
			break;
		if (seen[rank])
			return json_fail(&element, err, KVP_EINPUT,
				"rank %llu is listed twice",
				(ull)rank);
		seen[rank] = true;
		list->rank[list->count++] = (uint32_t)rank;
	}
	return code;
}

/* Add the owner if it is missing, and sort the list. */
static void add_owner(struct kvp_ranks *list, uint32_t owner)
{
	size_t i;

	for (i = 0; i < list->count && list->rank[i] != owner; i++)
		;
	if (i == list->count)
		list->rank[list->count++] = owner;
	qsort(list->rank, list->count, sizeof(*list->rank), by_rank);
}

static int read_lists(struct kvp_ranks *lists, const struct json_at *at,
		      uint64_t ranks, struct kvp_error *err)
{
	struct json_list walk;
	struct json_at element;
	size_t count = 0, i;
	int code = json_list_count(at, KVP_RANKS_MAX, &count, err);

	if (!code && count != ranks)
		code = json_fail(at, err, KVP_EINPUT,
			"has %zu lists, must have one for each of the %llu "
			"ranks", count, (ull)ranks);
	if (!code)
		code = json_list_begin(&walk, at, err);
	for (i = 0; !code && json_list_next(&walk, &element); i++) {
		code = ranks_read(&lists[i], &element, ranks, err);
		if (!code)
			add_owner(&lists[i], (uint32_t)i);
	}
	return code;
}

/* Make every rank's list: the block of `size` ranks that it belongs to. */
static int make_block_lists(struct kvp_ranks *lists, uint64_t ranks,
			    uint64_t size, struct kvp_error *err)
{
	uint64_t i, j;

	for (i = 0; i < ranks; i++) {
		lists[i].rank = malloc(size * sizeof(*lists[i].rank));
		if (!lists[i].rank)
			return kvp_error_nomem(err);
		for (j = 0; j < size; j++)
			lists[i].rank[j] = (uint32_t)(i / size * size + j);
		lists[i].count = size;
	}
	return KVP_OK;
}

int rank_lists_read(struct kvp_ranks **lists, const struct json_at *at,
		    const char *word, uint64_t ranks, uint64_t size,
		    struct kvp_error *err)
{
	size_t which;
	int code = KVP_OK;

	*lists = calloc(ranks, sizeof(**lists));
	if (!*lists)
		return kvp_error_nomem(err);
	if (at->p && json_type(at) == JSON_ARRAY)
		return read_lists(*lists, at, ranks, err);
	if (at->p && json_type(at) != JSON_STRING)
		return json_fail(at, err, KVP_EINPUT, "must be \"%s\" or a "
			"list with one list of ranks per rank", word);
	if (at->p)
		code = json_choice(at, &word, 1, &which, err);
	return code ? code : make_block_lists(*lists, ranks, size, err);
}
