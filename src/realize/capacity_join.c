/*
 * Joining the parts of a joint realization.  Nothing here knows the plan, so
 * parts can only be compared with each other and with themselves: numbers of
 * entries with the records they are the sum of, a rank's records with the
 * number of its readers, nodes with who reads whom.  What only one process
 * knows is believed: its addresses and devices, their free memory, and the
 * entries of its static storage.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text_list.h"
#include "base/u64.h"
#include "realize/capacity_join.h"

/* The name of the part that has a rank. */
static const char *part_name(const struct join *j, uint32_t rank)
{
	return j->parts[j->part_of[rank]].name;
}

static int check_ranks(const struct join *j, struct kvp_error *err)
{
	uint32_t total = (uint32_t)j->c.ranks_total, first, end;
	char text[512];
	struct text_list list;

	if (j->ranks_read == total)
		return KVP_OK;
	text_list_begin(&list, text, sizeof(text), ", ");
	for (first = 0; first < total; first = end + 1) {
		for (end = first; end < total && j->part_of[end] == NO_PART;)
			end++;
		if (end == first + 1)
			text_list_add(&list, 1, "%u", first);
		else if (end > first)
			text_list_add(&list, end - first, "%u-%u", first,
				      end - 1);
	}
	text_list_end(&list);
	return kvp_error_set(err, KVP_EINPUT,
		"no part has rank%s %s; %s says that there are %u in all",
		total - j->ranks_read == 1 ? "" : "s", text, j->parts[0].name,
		total);
}

/* The owner is the first reader of its planes. */
static uint64_t reader_order(const struct join_reader *a)
{
	return a->reader == a->rank ? 0 : (uint64_t)a->reader + 1;
}

static int by_plane(const void *left, const void *right)
{
	const struct join_reader *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->plane != b->plane)
		return a->plane < b->plane ? -1 : 1;
	return reader_order(a) < reader_order(b) ? -1 :
	       reader_order(a) > reader_order(b);
}

/* --- access records --- */

/* The readers of one plane, and those of plane 0 of the same rank. */
struct group {
	const struct join_reader *readers;
	size_t count;
};

static struct group next_group(const struct join *j, size_t at, uint32_t rank,
			       uint32_t plane)
{
	struct group g = { j->readers + at, 0 };

	while (at + g.count < j->nreaders && g.readers[g.count].rank == rank &&
	       g.readers[g.count].plane == plane)
		g.count++;
	return g;
}

static int check_owner(const struct join *j, const struct group *g,
		       uint32_t rank, uint32_t plane, struct kvp_error *err)
{
	size_t i;

	if (!g->count || g->readers[0].reader != rank)
		return kvp_error_set(err, KVP_EINPUT,
			"%s: /access: no record says that rank %u reads its "
			"own plane %u", part_name(j, rank), rank, plane);
	for (i = 1; i < g->count; i++)
		if (g->readers[i].reader == g->readers[i - 1].reader)
			return kvp_error_set(err, KVP_EINPUT,
				"%s: /access: rank %u reads plane %u of rank "
				"%u twice", part_name(j, g->readers[i].reader),
				g->readers[i].reader, plane, rank);
	return KVP_OK;
}

/* Check that a plane has the readers that plane 0 has. */
static int check_same_readers(const struct join *j, const struct group *first,
			      const struct group *g, struct kvp_error *err)
{
	const struct join_reader *a = first->readers, *b = g->readers, *more;
	size_t i = 0;

	while (i < first->count && i < g->count && a[i].reader == b[i].reader)
		i++;
	if (i == first->count && i == g->count)
		return KVP_OK;
	/* The lesser of both is missing in the other list. */
	more = i == g->count || (i < first->count &&
				 a[i].reader < b[i].reader) ? &a[i] : &b[i];
	return kvp_error_set(err, KVP_EINPUT,
		"%s: /access: rank %u reads plane %u of rank %u, and not its "
		"plane %u", part_name(j, more->reader), more->reader,
		more->plane, more->rank,
		more == &a[i] ? b[0].plane : a[0].plane);
}

/* Make a record of the readers of a plane, in the lists behind those before
   it. */
static int fill_record(const struct join *j, struct kvp_access_record *record,
		       const struct group *g, uint32_t *readers,
		       uint64_t *before, uint64_t *after,
		       struct kvp_error *err)
{
	size_t i;

	*record = (struct kvp_access_record){
		.rank = g->readers[0].rank, .plane = g->readers[0].plane,
		.nreaders = g->count, .readers = readers,
		.free_before = before, .free_after = after,
	};
	for (i = 0; i < g->count; i++) {
		readers[i] = g->readers[i].reader;
		before[i] = g->readers[i].free_before;
		after[i] = g->readers[i].free_after;
		record->entries = u64_add_capped(record->entries,
						 g->readers[i].entries);
	}
	if (record->entries > KVP_NUMBER_MAX)
		return kvp_error_set(err, KVP_ELIMIT,
			"%s: /access: the readers of plane %u of rank %u take "
			"more than %llu entries", part_name(j, record->rank),
			record->plane, record->rank, (ull)KVP_NUMBER_MAX);
	return KVP_OK;
}

/*
 * Each reader takes an entry for each chunk of a plane, and the plan's chunks
 * are the same for every rank: those that rank 0 counts.
 */
static int check_entries(const struct join *j,
			 const struct kvp_access_record *record,
			 struct kvp_error *err)
{
	const struct kvp_access_record *first = &j->c.records[record->plane];
	uint64_t chunks = first->entries / first->nreaders;

	assert(first->rank == 0 && first->plane == record->plane);
	if (record->entries == chunks * record->nreaders)
		return KVP_OK;
	return kvp_error_set(err, KVP_EINPUT,
		"%s: /access: the %zu readers of plane %u of rank %u take "
		"%llu entries, must be %llu: %llu each as the readers of rank "
		"0", part_name(j, record->rank), record->nreaders,
		record->plane, record->rank, (ull)record->entries,
		(ull)(chunks * record->nreaders), (ull)chunks);
}

static int join_records(struct join *j, struct kvp_error *err)
{
	size_t count = j->c.nranks * j->c.nplanes, at = 0, n = 0;
	struct kvp_access_record *records;
	uint32_t *readers = join_keep(j, j->nreaders, sizeof(*readers));
	uint64_t *free = join_keep(j, 2 * j->nreaders, sizeof(*free));
	uint32_t rank, plane;
	struct group first, g;
	int code = KVP_OK;

	records = join_keep(j, count, sizeof(*records));
	if (!readers || !free || !records)
		return kvp_error_nomem(err);
	j->c.records = records;
	j->c.nrecords = count;
	for (rank = 0; rank < j->c.nranks && !code; rank++)
		for (plane = 0; plane < j->c.nplanes && !code; plane++) {
			g = next_group(j, at, rank, plane);
			first = plane ? first : g;
			code = check_owner(j, &g, rank, plane, err);
			if (!code)
				code = check_same_readers(j, &first, &g, err);
			if (!code)
				code = fill_record(j, &records[n], &g,
						   readers + at, free + at,
						   free + j->nreaders + at,
						   err);
			if (!code)
				code = check_entries(j, &records[n++], err);
			at += g.count;
		}
	assert(code || at == j->nreaders);
	return code;
}

/* A rank has all readers that the plan gives it. */
static int check_readers(const struct join *j, struct kvp_error *err)
{
	const struct capacity_rank *k = j->c.ranks;
	size_t i, count;

	for (i = 0; i < j->c.nranks; i++, k++) {
		count = j->c.records[i * j->c.nplanes].nreaders;
		if (k->readers == count)
			continue;
		return kvp_error_set(err, KVP_EINPUT,
			"%s: /ranks: \"readers\" of rank %u is %llu, and all "
			"parts have records of %zu",
			part_name(j, k->rank), k->rank, (ull)k->readers,
			count);
	}
	return KVP_OK;
}

/* A rank is read on its own node only. */
static int check_nodes(const struct join *j, struct kvp_error *err)
{
	const struct join_reader *at = j->readers;
	const char *node, *other;
	size_t i;

	for (i = 0; i < j->nreaders; i++, at++) {
		node = j->processes[j->part_of[at->reader]].node;
		other = j->processes[j->part_of[at->rank]].node;
		if (!strcmp(node, other))
			continue;
		return kvp_error_set(err, KVP_EINPUT,
			"%s: /node: is \"%s\", and rank %u reads rank %u, "
			"whose node is \"%s\" in %s", part_name(j, at->reader),
			node, at->reader, at->rank, other,
			part_name(j, at->rank));
	}
	return KVP_OK;
}

/* --- sums --- */

static int check_chunks(const struct join *j, struct kvp_error *err)
{
	const struct kvp_access_record *record = j->c.records;
	uint64_t chunks = 0;
	size_t i;

	for (i = 0; i < j->c.nplanes; i++, record++)
		chunks = u64_add_capped(chunks, record->entries /
						record->nreaders);
	if (chunks == j->c.chunks)
		return KVP_OK;
	return kvp_error_set(err, KVP_EINPUT,
		"%s: /access: each reader of rank 0 takes %llu entries, must "
		"be one for each of %llu chunks", part_name(j, 0), (ull)chunks,
		(ull)j->c.chunks);
}

/* Sum up for each process what its ranks take and what it imports. */
static void add_processes(struct join *j)
{
	const struct join_reader *reader = j->readers;
	struct join_process *process;
	size_t i;

	for (i = 0; i < j->c.nranks; i++) {
		process = &j->processes[j->part_of[i]];
		process->ranks = u64_add_capped(process->ranks,
						j->c.ranks[i].entries);
	}
	for (i = 0; i < j->nreaders; i++, reader++) {
		process = &j->processes[j->part_of[reader->reader]];
		if (j->part_of[reader->rank] != j->part_of[reader->reader])
			process->imports = u64_add_capped(process->imports,
							  reader->entries);
	}
}

/* A process holds what its ranks take, what it imports, and its static
   storage. */
static int check_processes(const struct join *j, struct kvp_error *err)
{
	const struct join_process *p = j->processes;
	uint64_t sum;
	size_t i;

	for (i = 0; i < j->count; i++, p++) {
		sum = u64_add_capped(p->ranks, p->imports);
		sum = u64_add_capped(sum, p->statics);
		if (p->entries == sum)
			continue;
		return kvp_error_set(err, KVP_EINPUT,
			"%s: /entries: is %llu, must be %llu: %llu of its "
			"ranks, %llu of what they import and %llu of static "
			"storage", j->parts[i].name, (ull)p->entries, (ull)sum,
			(ull)p->ranks, (ull)p->imports, (ull)p->statics);
	}
	return KVP_OK;
}

/* A rank's entries are those its own part counts, and the importers' in
   others. */
static int join_entries(struct join *j, struct kvp_error *err)
{
	const struct join_reader *reader;
	struct capacity_rank *k;
	size_t i;

	for (i = 0; i < j->nreaders; i++) {
		reader = &j->readers[i];
		k = &j->c.ranks[reader->rank];
		if (j->part_of[reader->rank] == j->part_of[reader->reader])
			continue;
		if (reader->entries > KVP_NUMBER_MAX - k->entries)
			return kvp_error_set(err, KVP_ELIMIT,
				"%s: /access: rank %u and its importers take "
				"more than %llu entries",
				part_name(j, reader->reader), k->rank,
				(ull)KVP_NUMBER_MAX);
		k->entries += reader->entries;
	}
	return KVP_OK;
}

/* What a rank takes beside its planes is the same for all: its arena. */
static int check_arenas(const struct join *j, struct kvp_error *err)
{
	const struct capacity_rank *k = j->c.ranks;
	uint64_t planes, arena = 0;
	size_t i;

	for (i = 0; i < j->c.nranks; i++, k++) {
		planes = j->c.chunks *
			 j->c.records[i * j->c.nplanes].nreaders;
		if (!i && k->entries >= planes)
			arena = k->entries - planes;
		if (k->entries != planes + arena)
			return kvp_error_set(err, KVP_EINPUT,
				"%s: /ranks: rank %u and its importers take "
				"%llu entries, must be %llu: %llu in planes "
				"and %llu in the arena",
				part_name(j, k->rank), k->rank,
				(ull)k->entries, (ull)(planes + arena),
				(ull)planes, (ull)arena);
	}
	return KVP_OK;
}

static int by_node(const void *left, const void *right)
{
	const struct join_process *a = left, *b = right;

	return strcmp(a->node, b->node);
}

/* Each node has the entries of others once.  The processes are no longer in
   the order of the parts then. */
static int join_totals(struct join *j, struct kvp_error *err)
{
	struct capacity *c = &j->c;
	uint64_t nodes = 1;
	size_t i;

	qsort(j->processes, j->count, sizeof(*j->processes), by_node);
	for (i = 1; i < j->count; i++)
		nodes += by_node(&j->processes[i], &j->processes[i - 1]) != 0;
	if (c->static_entries > (KVP_NUMBER_MAX - c->entries) / nodes)
		return kvp_error_set(err, KVP_ELIMIT,
			"the entries of all parts are %llu, and with %llu of "
			"others on each of %llu nodes they exceed %llu",
			(ull)c->entries, (ull)c->static_entries, (ull)nodes,
			(ull)KVP_NUMBER_MAX);
	if (c->bytes > KVP_NUMBER_MAX / c->nranks)
		return kvp_error_set(err, KVP_ELIMIT,
			"%s: /ranks/0/bytes: %zu ranks of %llu bytes exceed "
			"%llu", j->parts[0].name, c->nranks, (ull)c->bytes,
			(ull)KVP_NUMBER_MAX);
	c->static_entries *= nodes;
	return KVP_OK;
}

static int read_parts(struct join *j, struct kvp_error *err)
{
	uint32_t i;
	int code = KVP_OK;

	j->processes = join_keep(j, j->count, sizeof(*j->processes));
	if (!j->processes)
		return kvp_error_nomem(err);
	for (i = 0; i < j->count && !code; i++)
		code = join_read_part(j, i, err);
	return code ? code : check_ranks(j, err);
}

static int join_parts(struct join *j, struct kvp_error *err)
{
	int code = read_parts(j, err);

	if (code)
		return code;
	if (j->nreaders)
		qsort(j->readers, j->nreaders, sizeof(*j->readers), by_plane);
	code = join_records(j, err);
	if (!code)
		code = check_readers(j, err);
	if (!code)
		code = check_nodes(j, err);
	if (!code)
		code = check_chunks(j, err);
	/* The ranks' entries are their own part's until they are joined. */
	add_processes(j);
	if (!code)
		code = join_entries(j, err);
	if (!code)
		code = check_arenas(j, err);
	if (!code)
		code = check_processes(j, err);
	if (!code)
		code = join_totals(j, err);
	/* It is a document of its own now. */
	j->c.plan = j->c.share = NULL;
	return code;
}

int kvp_capacity_join(const struct kvp_capacity_part *parts, size_t count,
		      bool access, char **text, size_t *len,
		      struct kvp_error *err)
{
	struct join j = { .parts = parts, .count = count };
	int code;

	assert((parts || !count) && text && len);
	*text = NULL;
	*len = 0;
	if (!count)
		return kvp_error_set(err, KVP_EINPUT, "there is no part");
	if (count > KVP_RANKS_MAX)
		return kvp_error_set(err, KVP_ELIMIT, "there are %zu parts, "
			"a plan has at most %llu ranks", count,
			(ull)KVP_RANKS_MAX);
	code = join_parts(&j, err);
	if (!code)
		code = capacity_write(&j.c, access, text, len, err);
	join_release(&j);
	return code;
}
