/*
 * Reading a part of a joint realization: what it says of all ranks together.
 * Unknown and missing keys are errors.  What all parts must have in common is
 * compared while it is read, so that an error can name the key.
 */
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

int join_keep_text(struct join *j, char *text, const char **kept,
		   struct kvp_error *err)
{
	char *copy = join_keep(j, strlen(text) + 1, 1);

	if (copy)
		*kept = strcpy(copy, text);
	free(text);
	return copy ? KVP_OK : kvp_error_nomem(err);
}

int join_text(struct join *j, const struct json_at *at, const char **kept,
	      struct kvp_error *err)
{
	char *text = NULL;
	int code = json_string(at, KVP_NAME_MAX, &text, err);

	return code ? code : join_keep_text(j, text, kept, err);
}

int join_same_text(struct join *j, const struct json_at *at, bool known,
		   const char **kept, struct kvp_error *err)
{
	char *text = NULL;
	int code;

	if (!known)
		return join_text(j, at, kept, err);
	code = json_string(at, KVP_NAME_MAX, &text, err);
	if (!code && strcmp(text, *kept))
		code = json_fail(at, err, KVP_EINPUT,
				 "is \"%s\", in %s it is \"%s\"", text,
				 j->parts[0].name, *kept);
	free(text);
	return code;
}

int join_same_u64(struct join *j, const struct json_at *at, bool known,
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

enum {
	FORMAT, NAME, MERGE, BACKEND, DRIVER, VERSION, RANKS_TOTAL, COMPLETE,
	CHECKED, PLAN, SHARE, NODE, KV_TOKENS, ENTRIES, STATIC_ENTRIES,
	STATIC_STORAGE, RANKS, ACCESS, KEYS
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
	[STATIC_STORAGE] = { "static_storage_entries", true },
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
			"missing: this is no part, but what one process "
			"realized alone, or parts joined already; a part is "
			"what kvp_realization_write() writes after "
			"kvp_share_commit(), and kvplan-mpi joins its own");
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
		code = join_same_text(j, &v[texts[i]], known, kept[texts[i]],
				      err);
	if (!code)
		code = check_digits(&v[PLAN], j->c.plan, err);
	if (!code)
		code = check_digits(&v[SHARE], j->c.share, err);
	if (!code)
		code = join_same_u64(j, &v[KV_TOKENS], known, 0,
				     &j->c.kv_tokens, err);
	return code ? code : join_same_u64(j, &v[STATIC_ENTRIES], known, 0,
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
		code = join_same_u64(j, at, j->part > 0, 1, &c->ranks_total,
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
static int read_entries(struct join *j, const struct json_at *v,
			struct kvp_error *err)
{
	const struct json_at *at = &v[ENTRIES];
	struct join_process *process = &j->processes[j->part];
	uint64_t entries = 0;
	int code = json_u64(at, 0, KVP_NUMBER_MAX, &entries, err);

	if (!code && entries > KVP_NUMBER_MAX - j->c.entries)
		code = json_fail(at, err, KVP_ELIMIT, "is %llu, and all parts "
				 "together have more than %llu", (ull)entries,
				 (ull)KVP_NUMBER_MAX);
	if (!code)
		code = json_u64(&v[STATIC_STORAGE], 0, KVP_NUMBER_MAX,
				&process->statics, err);
	if (code)
		return code;
	process->entries = entries;
	j->c.entries += entries;
	return KVP_OK;
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
		code = join_text(j, &v[NODE], &j->processes[part].node,
				 err);
	if (!code)
		code = read_entries(j, v, err);
	if (!code)
		code = join_read_ranks(j, &v[RANKS], err);
	return code ? code : join_read_access(j, &v[ACCESS], err);
}
