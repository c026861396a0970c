/*
 * What is added to the error of a call.  A driver only says "out of memory";
 * the error has to name the rank, GPU, plane, chunk and row, say how far the
 * realization got, and whether memory or table entries were short.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text_list.h"
#include "realize/realization.h"

/* The reader of a rank whose device has the least free memory. */
struct least {
	bool known;		/* false: free memory cannot be read */
	uint32_t rank;
	uint64_t bytes;
};

static bool is_reader(const struct rank *k, const struct rank *other)
{
	size_t i;

	for (i = 0; i < k->nreaders; i++)
		if (k->readers[i] == other->rank)
			return true;
	return false;
}

/* Read the free memory of rank i; false if it is no reader of k.  The call
   goes to the inner backend, so that it is no event. */
static bool read_free_bytes(struct kvp_realization *r, const struct rank *k,
			    uint32_t i, uint64_t *bytes)
{
	struct kvp_backend *b = r->watch.inner;

	return is_reader(k, &r->ranks[i]) &&
	       !b->device.memory(b, r->ranks[i].device, bytes, NULL);
}

static struct least find_least_free(struct kvp_realization *r,
				    const struct rank *k)
{
	struct least least = { .known = false };
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < r->nranks; i++)
		if (read_free_bytes(r, k, i, &bytes) &&
		    (!least.known || bytes < least.bytes))
			least = (struct least){ true, r->ranks[i].rank, bytes };
	return least;
}

/* Add "; free bytes: rank 0 1234, ..." for the readers of k. */
static void add_free_bytes(struct kvp_realization *r, const struct rank *k,
			   char *text, size_t size)
{
	static const char before[] = "; free bytes: ";
	struct text_list list;
	size_t used = strlen(text);
	uint64_t bytes = 0;
	uint32_t i;

	assert(used < size);
	if (size - used < sizeof(before) + TEXT_LIST_ROOM)
		return;
	text_list_begin(&list, text + used + sizeof(before) - 1,
			size - used - sizeof(before) + 1, ", ");
	for (i = 0; i < r->nranks; i++)
		if (read_free_bytes(r, k, i, &bytes))
			text_list_add(&list, 1, "rank %u %llu",
				      r->ranks[i].rank, (ull)bytes);
	text_list_end(&list);
	if (*list.text)
		memcpy(text + used, before, sizeof(before) - 1);
}

/* Is so much memory free that a call that asks for `asked` bytes cannot have
   failed for want of it? */
static bool memory_is_free(uint64_t free_bytes, uint64_t asked)
{
	return free_bytes >= asked + KVP_DRIVER_BYTES;
}

/*
 * Explain out of memory at a grant.  A grant takes table entries and no
 * memory, so the table is full: with the entries counted here, or with those
 * of other processes.  Memory can be the cause only if less is free than the
 * driver keeps.
 */
static int explain_grant(struct kvp_realization *r, const struct rank *k,
			 char *text, size_t size)
{
	const struct kvp_geometry *g = geometry_of(r);
	uint64_t table = kvp_limits_entry_limit(r->options.limits, g);
	uint64_t held = r->watch.entries, asked = r->watch.last.entries;
	bool full = held + asked > table - g->entry_reserve;
	struct least least = find_least_free(r, k);
	bool memory_free = least.known && memory_is_free(least.bytes, 0);
	char entries[160], memory[160];

	snprintf(entries, sizeof(entries), "%llu of its %llu entries are "
		 "counted, this call asks for %llu more", (ull)held,
		 (ull)table, (ull)asked);
	snprintf(memory, sizeof(memory), "rank %u has %llu bytes free, of "
		 "which the driver keeps %llu", least.rank, (ull)least.bytes,
		 (ull)KVP_DRIVER_BYTES);
	if (memory_free)
		snprintf(text, size, ": memory is free, the driver's table of "
			 "mappings is full (" KVP_TABLE_WORD "): %s", entries);
	else if (full)
		snprintf(text, size, ": the driver's table of mappings is full "
			 "(" KVP_TABLE_WORD "): %s%s%s", entries, least.known ?
			 "; memory may be short as well: " : "",
			 least.known ? memory : "");
	else if (least.known)
		snprintf(text, size, ": memory is short: %s; or others on this "
			 "node fill the driver's table of mappings "
			 "(" KVP_TABLE_WORD " then): %s", memory, entries);
	return full || memory_free ? KVP_ETABLE : KVP_EEXHAUSTED;
}

/* Explain out of memory at a create, which takes memory of one device only. */
static void explain_create(struct kvp_realization *r, const struct rank *k,
			   char *text, size_t size)
{
	uint64_t asked = r->watch.last.bytes, bytes = 0;
	struct kvp_backend *b = r->watch.inner;

	if (b->device.memory(b, k->device, &bytes, NULL) ||
	    memory_is_free(bytes, asked))
		return;
	snprintf(text, size, ": memory is short: %llu bytes are asked for, %s "
		 "has %llu free, of which the driver keeps %llu",
		 (ull)asked, r->devices[k - r->ranks].label, (ull)bytes,
		 (ull)KVP_DRIVER_BYTES);
}

/* Write why the driver said out of memory, as far as the numbers show it;
   returns the code that fits the reason. */
static int explain_exhausted(struct kvp_realization *r, const struct rank *k,
			     char *text, size_t size)
{
	enum kvp_op last = r->watch.last.op;

	/* The host has no table of mappings and no driver that keeps memory. */
	if (r->watch.base.lazy)
		return KVP_EEXHAUSTED;
	if (last == KVP_OP_GRANT)
		return explain_grant(r, k, text, size);
	if (last == KVP_OP_CREATE)
		explain_create(r, k, text, size);
	return KVP_EEXHAUSTED;
}

static int explain(struct kvp_realization *r, const struct rank *k,
		   const char *where, int code, struct kvp_error *err)
{
	const struct stage *s = &r->stage;
	char cause[KVP_ERROR_MAX], why[512] = "";

	if (code == KVP_EINTERRUPTED)
		return code;	/* the call does not matter */
	if (code == KVP_EEXHAUSTED)
		code = explain_exhausted(r, k, why, sizeof(why));
	if (!err || code == KVP_ENOMEM)
		return kvp_error_wrap(err, code, "%s", where);
	memcpy(cause, err->text, sizeof(cause));
	kvp_error_set(err, code, "%s: %s%s; after %llu of %llu calls, with "
		"%llu of %llu table entries held", where, cause, why,
		(ull)s->calls_done, (ull)s->calls_total,
		(ull)r->watch.entries, (ull)s->entries_total);
	add_free_bytes(r, k, err->text, sizeof(err->text));
	return code;
}

int add_rank_context(struct kvp_realization *r, const struct rank *k,
		     const char *what, int code, struct kvp_error *err)
{
	/* A character of a static item's name has up to four bytes. */
	char where[4 * KVP_NAME_MAX + 64];

	assert(k >= r->ranks && k < r->ranks + r->nranks && code);
	snprintf(where, sizeof(where), "rank %u, %s, %s", k->rank,
		 r->devices[k - r->ranks].label, what);
	return explain(r, k, where, code, err);
}

/* Write the rows that a chunk's bytes belong to; nothing if there are none. */
static void write_rows(const struct kvp_geometry *g, const struct kvp_chunk *c,
		       char *text, size_t size)
{
	uint64_t first, last;

	text[0] = '\0';
	if (c->arena == KVP_UNALIASED || !g->row_stride)
		return;
	first = c->arena / g->row_stride;
	last = (c->arena + c->bytes - 1) / g->row_stride;
	first = first < g->execution_rows ? 0 : first - g->execution_rows;
	last = last < g->execution_rows ? 0 : last - g->execution_rows;
	if (last >= g->snapshot_rows && g->snapshot_rows)
		last = g->snapshot_rows - 1;
	if (first == last)
		snprintf(text, size, ", row %llu", (ull)first);
	else
		snprintf(text, size, ", rows %llu to %llu",
			 (ull)first, (ull)last);
}

int add_chunk_context(struct kvp_realization *r, const struct rank *k,
		      size_t chunk, const char *view, int code,
		      struct kvp_error *err)
{
	const struct kvp_chunk *c = &r->plan->chunks[chunk];
	char what[192], rows[64];

	assert(chunk < r->plan->nchunks && c->plane < geometry_of(r)->nplanes);
	write_rows(geometry_of(r), c, rows, sizeof(rows));
	snprintf(what, sizeof(what), "plane %u (%s), chunk %zu, bytes [%llu, "
		 "%llu)%s, in the %s", c->plane,
		 geometry_of(r)->planes[c->plane].name, chunk,
		 (ull)c->offset,
		 (ull)(c->offset + c->bytes), rows, view);
	return add_rank_context(r, k, what, code, err);
}
