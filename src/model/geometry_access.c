/*
 * The access part of a geometry, written out per rank: who is declared to
 * read a rank's KV, and whose KV a rank really imports.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model.h"

enum { A_DECLARED, A_IMPORTS, A_MODE, A_KEYS };

static const struct json_field fields[A_KEYS] = {
	{ "declared_readers", false },
	{ "imports", false },
	{ "importer_mode", false },
};

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
	/* One more, so that the owner can be added. */
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
				(unsigned long long)rank);
		seen[rank] = true;
		list->rank[list->count++] = (uint32_t)rank;
	}
	return code;
}

/* Lists are kept ascending and with their owner. */
static void complete(struct kvp_ranks *list, uint32_t owner)
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
			"ranks", count, (unsigned long long)ranks);
	if (!code)
		code = json_list_begin(&walk, at, err);
	for (i = 0; !code && json_list_next(&walk, &element); i++) {
		code = ranks_read(&lists[i], &element, ranks, err);
		if (!code)
			complete(&lists[i], (uint32_t)i);
	}
	return code;
}

/* Every rank's list is the block of `size` ranks it lies in. */
static int block_lists(struct kvp_ranks *lists, uint64_t ranks, uint64_t size,
		       struct kvp_error *err)
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

/* A word that stands for blocks of `size`, or lists written out. */
static int read_word_or_lists(struct kvp_ranks **lists,
			      const struct json_at *at, const char *word,
			      uint64_t ranks, uint64_t size,
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
	return code ? code : block_lists(*lists, ranks, size, err);
}

int access_read(struct kvp_geometry *g, const struct json_at *access,
		struct json_at *imports, struct kvp_error *err)
{
	struct json_at v[A_KEYS] = { { 0 } };
	size_t mode = KVP_IMPORT_READ;
	int code = KVP_OK;

	if (access->p)
		code = json_object(access, fields, A_KEYS, v, err);
	*imports = v[A_IMPORTS];
	if (!code)
		code = read_word_or_lists(&g->declared_readers, &v[A_DECLARED],
					  "all", g->ranks, g->ranks, err);
	if (!code)
		code = read_word_or_lists(&g->imports, &v[A_IMPORTS], "group",
					  g->ranks, g->dcp_group_size, err);
	if (!code && v[A_MODE].p)
		code = json_choice(&v[A_MODE], importer_mode_names, 2, &mode,
				   err);
	g->importer_mode = (enum kvp_importer_mode)mode;
	return code;
}

static bool is_listed(const struct kvp_ranks *list, uint32_t rank)
{
	return bsearch(&rank, list->rank, list->count, sizeof(rank), by_rank);
}

static int check_import(const struct kvp_geometry *g,
			const struct json_at *place, uint32_t importer,
			uint32_t owner, struct kvp_error *err)
{
	uint64_t node = owner / g->ranks_per_node;

	if (importer / g->ranks_per_node != node)
		return json_fail(place, err, KVP_EINPUT,
			"rank %u on node %llu imports from rank %u on node "
			"%llu; memory is granted within a node of "
			"ranks_per_node = %llu ranks only", importer,
			(unsigned long long)(importer / g->ranks_per_node),
			owner, (unsigned long long)node,
			(unsigned long long)g->ranks_per_node);
	if (!is_listed(&g->declared_readers[owner], importer))
		return json_fail(place, err, KVP_EINPUT,
			"rank %u imports from rank %u, whose declared_readers "
			"do not list it; declare it or drop the import",
			importer, owner);
	return KVP_OK;
}

int access_check(const struct kvp_geometry *g,
		 const struct geometry_places *places, struct kvp_error *err)
{
	struct json_at place = places->imports.p ? places->imports :
						   places->group_size;
	size_t i, j;
	int code = KVP_OK;

	for (i = 0; i < g->ranks; i++)
		for (j = 0; j < g->imports[i].count && !code; j++)
			code = check_import(g, &place, (uint32_t)i,
					    g->imports[i].rank[j], err);
	return code;
}
