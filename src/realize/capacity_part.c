/*
 * Reading a part of a joint realization.  Unknown and missing keys are
 * errors.  What all parts or all ranks must have in common is compared while
 * it is read, so that an error can name the key.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "realize/capacity_join.h"

#define FINGERPRINT_DIGITS 16

struct kept {
	struct kept *next;
	uint64_t memory[];
};

void *join_keep(struct join *j, size_t count, size_t size)
{
	struct kept *kept;

	if (count > (SIZE_MAX - sizeof(*kept)) / size)
		return NULL;
	kept = calloc(1, sizeof(*kept) + count * size);
	if (!kept)
		return NULL;
	kept->next = j->kept;
	j->kept = kept;
	return kept->memory;
}

void join_release(struct join *j)
{
	struct kept *next;

	for (; j->kept; j->kept = next) {
		next = j->kept->next;
		free(j->kept);
	}
	free(j->readers);
	j->readers = NULL;
}

/* --- values --- */

static int keep_text(struct join *j, char *text, const char **kept,
		     struct kvp_error *err)
{
	char *copy = join_keep(j, strlen(text) + 1, 1);

	if (copy)
		*kept = strcpy(copy, text);
	free(text);
	return copy ? KVP_OK : kvp_error_nomem(err);
}

static int read_text(struct join *j, const struct json_at *at,
		     const char **kept, struct kvp_error *err)
{
	char *text = NULL;
	int code = json_string(at, KVP_NAME_MAX, &text, err);

	return code ? code : keep_text(j, text, kept, err);
}

/* On the host a device has no UUID, and the text is empty. */
static int read_uuid(struct join *j, const struct json_at *at,
		     const char **kept, struct kvp_error *err)
{
	char *text = NULL;
	int code = json_text(at, &text, err);

	return code ? code : keep_text(j, text, kept, err);
}

/* Read a text into *kept, or compare it with that one if it is known. */
static int read_same_text(struct join *j, const struct json_at *at, bool known,
			  const char **kept, struct kvp_error *err)
{
	const char *text = NULL;
	int code = read_text(j, at, &text, err);

	if (!code && known && strcmp(text, *kept))
		return json_fail(at, err, KVP_EINPUT,
				 "is \"%s\", in %s it is \"%s\"", text,
				 j->parts[0].name, *kept);
	if (!code && !known)
		*kept = text;
	return code;
}

static int read_same_u64(struct join *j, const struct json_at *at, bool known,
			 uint64_t low, uint64_t *kept, struct kvp_error *err)
{
	uint64_t value = 0;
	int code = json_u64(at, low, KVP_NUMBER_MAX, &value, err);

	if (!code && known && value != *kept)
		return json_fail(at, err, KVP_EINPUT,
				 "is %llu, in %s it is %llu", (ull)value,
				 j->parts[0].name, (ull)*kept);
	if (!code)
		*kept = value;
	return code;
}

static int check_digits(const struct json_at *at, const char *text,
			struct kvp_error *err)
{
	if (strlen(text) == FINGERPRINT_DIGITS &&
	    strspn(text, "0123456789abcdef") == FINGERPRINT_DIGITS)
		return KVP_OK;
	return json_fail(at, err, KVP_EINPUT,
			 "is \"%s\", must be %d digits 0-9 and a-f", text,
			 FINGERPRINT_DIGITS);
}

/* --- ranks --- */

enum {
	R_RANK, R_DEVICE, R_PAGES, R_SNAPSHOT_ROWS, R_EXECUTION_ROWS, R_BYTES,
	R_CHUNKS, R_ENTRIES, R_UUID, R_DEVICE_NAME, R_HEADROOM, R_PLANES,
	R_ARENA, R_KEYS
};

static const struct json_field rank_keys[R_KEYS] = {
	[R_RANK] = { "rank", true }, [R_DEVICE] = { "device", true },
	[R_PAGES] = { "pages", true },
	[R_SNAPSHOT_ROWS] = { "snapshot_rows", true },
	[R_EXECUTION_ROWS] = { "execution_rows", true },
	[R_BYTES] = { "bytes", true }, [R_CHUNKS] = { "chunks", true },
	[R_ENTRIES] = { "entries", true }, [R_UUID] = { "uuid", true },
	[R_DEVICE_NAME] = { "device_name", true },
	[R_HEADROOM] = { "headroom", true }, [R_PLANES] = { "planes", true },
	[R_ARENA] = { "arena", false },
};

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
		code = read_same_text(j, &v[NAME], known, &plane->name, err);
	if (!code)
		code = json_u64(&v[ADDRESS], 1, KVP_NUMBER_MAX, address, err);
	return code ? code : read_same_u64(j, &v[STRIDE], known, 1,
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
	return code ? code : read_same_u64(j, &v[STRIDE], known, 1,
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
			code = read_same_u64(j, &v[i], known, 0, numbers[i],
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
		code = read_uuid(j, &v[R_UUID], &k->uuid, err);
	if (!code)
		code = read_text(j, &v[R_DEVICE_NAME], &k->device_name, err);
	if (!code)
		code = read_headroom(k, &v[R_HEADROOM], err);
	if (!code)
		code = read_planes(j, &v[R_PLANES], known, k, err);
	if (!code)
		code = read_arena(j, &v[R_ARENA], known, k, err);
	j->ranks_read++;
	return code;
}

static int read_ranks(struct join *j, const struct json_at *at,
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

/* --- access --- */

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

static int read_access(struct join *j, const struct json_at *at,
		       struct kvp_error *err)
{
	struct json_list list;
	struct json_at element;
	int code = json_list_begin(&list, at, err);

	while (!code && json_list_next(&list, &element))
		code = read_record(j, &element, err);
	return code;
}

/* --- the part --- */

enum {
	FORMAT, NAME, MERGE, BACKEND, DRIVER, VERSION, RANKS_TOTAL, COMPLETE,
	CHECKED, PLAN, SHARE, NODE, KV_TOKENS, ENTRIES, STATIC_ENTRIES, RANKS,
	ACCESS, KEYS
};

static const struct json_field keys[KEYS] = {
	[FORMAT] = { "format", true }, [NAME] = { "name", true },
	[MERGE] = { "merge", true }, [BACKEND] = { "backend", true },
	[DRIVER] = { "driver", true }, [VERSION] = { "version", true },
	[RANKS_TOTAL] = { "ranks_total", true },
	[COMPLETE] = { "complete", true }, [CHECKED] = { "checked", true },
	[PLAN] = { "plan", true }, [SHARE] = { "share", true },
	[NODE] = { "node", true }, [KV_TOKENS] = { "kv_tokens", true },
	[ENTRIES] = { "entries", true },
	[STATIC_ENTRIES] = { "static_entries", true },
	[RANKS] = { "ranks", true }, [ACCESS] = { "access", true },
};

/* A realization of one process alone is no part. */
static int check_kind(const struct json_at *root, struct kvp_error *err)
{
	static const char *const formats[] = { KVP_CAPACITY_FORMAT };
	struct json_at format, share;
	size_t which;
	int code = format_check(root, formats, 1, &format, &which, err);

	if (!code)
		code = json_unique_member(root, "share", &share, err);
	if (!code && !share.p)
		code = json_fail(&share, err, KVP_EINPUT,
			"missing: this is the realization of one process, "
			"whose planes no other process can read; kvplan-mpi "
			"and kvp_share_begin() make parts");
	return code;
}

static int check_words(const struct json_at *v, struct kvp_error *err)
{
	static const char *const merges[] = { "none", "row", "span" };
	static const char *const checks[] = { "none", "quick", "full" };
	bool complete = false;
	size_t which;
	int code = json_choice(&v[MERGE], merges, 3, &which, err);

	if (!code)
		code = json_choice(&v[CHECKED], checks, 3, &which, err);
	if (!code)
		code = json_bool(&v[COMPLETE], &complete, err);
	if (!code && complete)
		code = json_fail(&v[COMPLETE], err, KVP_EINPUT,
				 "is true, must be false in a part");
	return code;
}

/* Read what all parts have in common; first whether they belong together. */
static int read_common(struct join *j, const struct json_at *v,
		       struct kvp_error *err)
{
	static const int texts[] = {
		PLAN, SHARE, NAME, MERGE, BACKEND, DRIVER, VERSION, CHECKED,
	};
	const char **const kept[KEYS] = {
		[PLAN] = &j->c.plan, [SHARE] = &j->c.share,
		[NAME] = &j->c.name, [MERGE] = &j->c.merge,
		[BACKEND] = &j->c.backend, [DRIVER] = &j->c.driver,
		[VERSION] = &j->c.version, [CHECKED] = &j->c.checked,
	};
	bool known = j->part > 0;
	size_t i;
	int code = check_words(v, err);

	for (i = 0; i < sizeof(texts) / sizeof(*texts) && !code; i++)
		code = read_same_text(j, &v[texts[i]], known, kept[texts[i]],
				      err);
	if (!code)
		code = check_digits(&v[PLAN], j->c.plan, err);
	if (!code)
		code = check_digits(&v[SHARE], j->c.share, err);
	if (!code)
		code = read_same_u64(j, &v[KV_TOKENS], known, 0,
				     &j->c.kv_tokens, err);
	return code ? code : read_same_u64(j, &v[STATIC_ENTRIES], known, 0,
					   &j->c.static_entries, err);
}

/* Read the number of ranks; the first part makes room for them. */
static int read_total(struct join *j, const struct json_at *at,
		      struct kvp_error *err)
{
	struct capacity *c = &j->c;
	uint64_t total = c->ranks_total, i;
	int code = json_u64(at, 1, KVP_RANKS_MAX, &total, err);

	if (!code)
		code = read_same_u64(j, at, j->part > 0, 1, &c->ranks_total,
				     err);
	if (code || j->part)
		return code;
	c->nranks = (size_t)total;
	c->ranks = join_keep(j, c->nranks, sizeof(*c->ranks));
	j->part_of = join_keep(j, c->nranks, sizeof(*j->part_of));
	if (!c->ranks || !j->part_of)
		return kvp_error_nomem(err);
	for (i = 0; i < total; i++)
		j->part_of[i] = NO_PART;
	return KVP_OK;
}

/* Read the entries that this part holds and add them. */
static int read_entries(struct join *j, const struct json_at *at,
			struct kvp_error *err)
{
	uint64_t entries = 0;
	int code = json_u64(at, 0, KVP_NUMBER_MAX, &entries, err);

	if (!code && entries > KVP_NUMBER_MAX - j->c.entries)
		code = json_fail(at, err, KVP_ELIMIT, "is %llu, and all parts "
				 "together have more than %llu", (ull)entries,
				 (ull)KVP_NUMBER_MAX);
	if (!code)
		j->c.entries += entries;
	return code;
}

int join_read_part(struct join *j, uint32_t part, struct kvp_error *err)
{
	const struct kvp_capacity_part *from = &j->parts[part];
	struct json_at root, v[KEYS];
	struct json_text in;
	int code = json_open(&in, &root, from->name, from->text, from->len,
			     err);

	j->part = part;
	if (!code)
		code = check_kind(&root, err);
	if (!code)
		code = json_object(&root, keys, KEYS, v, err);
	if (!code)
		code = read_common(j, v, err);
	if (!code)
		code = read_total(j, &v[RANKS_TOTAL], err);
	if (!code)
		code = read_text(j, &v[NODE], &j->nodes[part], err);
	if (!code)
		code = read_entries(j, &v[ENTRIES], err);
	if (!code)
		code = read_ranks(j, &v[RANKS], err);
	return code ? code : read_access(j, &v[ACCESS], err);
}
