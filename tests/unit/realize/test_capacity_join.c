/*
 * Joining parts: the document of one process with all ranks, and what does not
 * join.  Every part is that of a realization, with the imports set as a
 * process has them that shares with others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/altered.h"
#include "unit/part.h"
#include "unit/unit.h"

#define RANKS 4

struct bed {
	struct kvp_plan plan;
	struct kvp_verdict *verdict;
	struct kvp_backend *host;
	struct altered seen;	/* the host, as it is realized on */
	char *parts[RANKS];	/* of one rank each */
	size_t nparts;
};

static uint64_t free_of(uint32_t rank)
{
	return (UINT64_C(1) << 40) - (rank == 2);
}

/* What is free on this machine is another number every time.  Ranks are on
   the devices of the same number. */
static int steady_memory(struct kvp_backend *b, uint32_t device,
			 uint64_t *free_bytes, struct kvp_error *err)
{
	(void)b;
	(void)err;
	*free_bytes = free_of(device);
	return KVP_OK;
}

static struct kvp_realization *realized(struct bed *b, uint32_t first,
					uint32_t count)
{
	const uint32_t devices[RANKS] = { first, first + 1, first + 2, 3 };
	const struct kvp_realize_options options = {
		.first_rank = first, .nranks = count, .devices = devices,
	};
	struct kvp_realization *r = NULL;
	struct kvp_error err = { 0 };
	int code = kvp_realize(&r, &b->plan, b->verdict, &b->seen.base,
			       &options, &err);

	ck_assert_msg(!code, "%s", err.text);
	return r;
}

static char *text_of(const struct kvp_realization *r, bool access)
{
	char *text = NULL;
	size_t len = 0;

	ck_assert(!kvp_realization_write(r, access, &text, &len, NULL));
	ck_assert_uint_eq(strlen(text), len);
	return text;
}

/* The part of a process that has these ranks. */
static char *part_of(struct bed *b, uint32_t first, uint32_t count,
		     const char *node)
{
	struct kvp_realization *r = realized(b, first, count);
	char *text = part_text(r, node, free_of);

	ck_assert(!kvp_realization_free(r, NULL));
	return text;
}

static void bed_new(struct bed *b, const char *changes)
{
	struct kvp_error err = { 0 };
	int code;

	memset(b, 0, sizeof(*b));
	b->plan = plan_of(changes, KVP_MERGE_ROW);
	code = kvp_verify(&b->plan, NULL, &b->verdict, &err);
	if (!code)
		code = kvp_backend_host(&b->host, RANKS, 4096, &err);
	ck_assert_msg(!code, "%s", err.text);
	alter_backend(&b->seen, b->host);
	b->seen.base.device.memory = steady_memory;
}

static void bed_release(struct bed *b)
{
	while (b->nparts)
		free(b->parts[--b->nparts]);
	kvp_backend_close(b->host);
	kvp_verdict_free(b->verdict);
	kvp_plan_release(&b->plan);
}

/* A part for every rank; two nodes have two ranks each. */
static void make_parts(struct bed *b, bool two_nodes)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		b->parts[i] = part_of(b, i, 1, two_nodes && i > 1 ? "n" : "m");
	b->nparts = RANKS;
}

static int join(const struct bed *b, bool access, char **text,
		struct kvp_error *err)
{
	static const char *const names[] = { "A", "B", "C", "D" };
	struct kvp_capacity_part parts[RANKS];
	size_t i, len = 7;
	int code;

	for (i = 0; i < b->nparts; i++)
		parts[i] = (struct kvp_capacity_part){
			names[i], b->parts[i], strlen(b->parts[i]) };
	*text = (char *)parts;
	code = kvp_capacity_join(parts, b->nparts, access, text, &len, err);
	ck_assert_uint_eq(len, code ? 0 : strlen(*text));
	return code;
}

static char *joined(const struct bed *b, bool access)
{
	struct kvp_error err = { 0 };
	char *text;
	int code = join(b, access, &text, &err);

	ck_assert_msg(!code, "%s", err.text);
	return text;
}

/* All addresses become 0; they are others in every process. */
static char *without_addresses(char *text)
{
	static const char key[] = "\"address\":";
	char *from = text, *to = text;

	while (*from) {
		if (strncmp(from, key, strlen(key))) {
			*to++ = *from++;
			continue;
		}
		memmove(to, from, strlen(key));
		to += strlen(key);
		*to++ = '0';
		from += strlen(key);
		from += strspn(from, "0123456789");
	}
	*to = '\0';
	return text;
}

/* The document of one process, and the joined one, are the same. */
static void check_joined(struct bed *b)
{
	struct kvp_realization *r = realized(b, 0, RANKS);
	char *one, *many;
	int access;

	for (access = 0; access < 2; access++) {
		one = without_addresses(text_of(r, access));
		many = without_addresses(joined(b, access));
		ck_assert_str_eq(one, many);
		free(one);
		free(many);
	}
	ck_assert(!kvp_realization_free(r, NULL));
}

#define ALL_READ "dcp_group_size=4;static_entries=100"

START_TEST(one_part_of_all_ranks_is_the_document_of_one_process)
{
	struct bed b;

	bed_new(&b, ALL_READ);
	b.parts[b.nparts++] = part_of(&b, 0, RANKS, "n");
	ck_assert_ptr_nonnull(strstr(b.parts[0], "\"complete\":false"));
	check_joined(&b);
	bed_release(&b);
}
END_TEST

START_TEST(parts_in_any_order_are_the_document_of_one_process)
{
	struct bed b;
	char *swap;

	bed_new(&b, ALL_READ);
	make_parts(&b, false);
	check_joined(&b);
	swap = b.parts[0];
	b.parts[0] = b.parts[3];
	b.parts[3] = swap;
	check_joined(&b);
	bed_release(&b);
	/* Groups of two, and a process that has two ranks of two groups. */
	bed_new(&b, "static_entries=7");
	b.parts[b.nparts++] = part_of(&b, 3, 1, "n");
	b.parts[b.nparts++] = part_of(&b, 1, 2, "n");
	b.parts[b.nparts++] = part_of(&b, 0, 1, "n");
	check_joined(&b);
	bed_release(&b);
	bed_new(&b, "snapshot_rows=0;execution_rows=0");
	make_parts(&b, false);
	check_joined(&b);
	bed_release(&b);
}
END_TEST

/* The number behind the last "capacity" and key. */
static unsigned long long total(const char *text, const char *key)
{
	const char *at = strstr(text, "\"capacity\"");

	ck_assert_ptr_nonnull(at);
	at = strstr(at, key);
	ck_assert_ptr_nonnull(at);
	return strtoull(at + strlen(key), NULL, 10);
}

START_TEST(the_entries_of_others_count_once_for_each_node)
{
	struct kvp_addresses *a = NULL;
	struct kvp_realize_options half = { .nranks = 2 };
	struct bed b;
	char *text;

	bed_new(&b, "ranks_per_node=2;static_entries=100");
	make_parts(&b, true);
	text = joined(&b, true);
	ck_assert_uint_eq(total(text, "\"entries\":"),
			  2 * kvp_realize_entries(&b.plan, &half));
	ck_assert_ptr_nonnull(strstr(text, "\"complete\":true"));
	ck_assert_ptr_null(strstr(text, "share"));
	ck_assert(!kvp_addresses_read(&a, "a", text, strlen(text), NULL));
	kvp_addresses_free(a);
	/* A part has addresses as well. */
	ck_assert(!kvp_addresses_read(&a, "a", b.parts[0], strlen(b.parts[0]),
				      NULL));
	kvp_addresses_free(a);
	free(text);
	bed_release(&b);
}
END_TEST

static void check_refused(const struct bed *b, int code, const char *message)
{
	struct kvp_error err = { 0 };
	char *text;
	int got = join(b, true, &text, &err);

	ck_assert_msg(!strcmp(err.text, message), "seen     %s\nexpected %s",
		      err.text, message);
	ck_assert_int_eq(got, code);
	ck_assert_ptr_null(text);
}

/* Part i with the n-th `from`, from 1, as `to`; both have single quotes. */
static char *altered(const struct bed *b, size_t i, const char *from, int n,
		     const char *to)
{
	char *old = json(from), *new = json(to), *at = b->parts[i] - 1, *text;

	while (n--) {
		at = strstr(at + 1, old);
		ck_assert_msg(at, "there is no %s in %s", old, b->parts[i]);
	}
	text = malloc(strlen(b->parts[i]) + strlen(new) + 1);
	ck_assert_ptr_nonnull(text);
	sprintf(text, "%.*s%s%s", (int)(at - b->parts[i]), b->parts[i], new,
		at + strlen(old));
	free(old);
	free(new);
	return text;
}

/* With part i altered so, the parts do not join. */
static void check_altered(struct bed *b, size_t i, const char *from, int n,
			  const char *to, int code, const char *message)
{
	char *text = altered(b, i, from, n, to), *keep = b->parts[i];

	b->parts[i] = text;
	check_refused(b, code, message);
	b->parts[i] = keep;
	free(text);
}

START_TEST(every_rank_is_there_once)
{
	struct bed b;
	char *keep;

	bed_new(&b, ALL_READ);
	check_refused(&b, KVP_EINPUT, "there is no part");
	make_parts(&b, false);
	b.nparts = 3;
	check_refused(&b, KVP_EINPUT, "no part has rank 3; A says that there "
		      "are 4 in all");
	b.nparts = 1;
	check_refused(&b, KVP_EINPUT, "no part has ranks 1-3; A says that "
		      "there are 4 in all");
	b.nparts = 4;
	keep = b.parts[2];
	b.parts[2] = b.parts[1];
	check_refused(&b, KVP_EINPUT, "C: /ranks/0/rank: is 1, which B has, "
		      "too");
	b.parts[2] = keep;
	check_altered(&b, 1, "'rank':1", 1, "'rank':4", KVP_ELIMIT,
		      "B: /ranks/0/rank: is 4, must be at most 3");
	check_altered(&b, 0, "'ranks':[", 1, "'ranks':[],'x':[", KVP_EINPUT,
		      "A: /x: unknown key; known here: format, name, merge, "
		      "backend, driver, version, ranks_total, complete, "
		      "checked, plan, share, node, kv_tokens, entries, "
		      "static_entries, static_storage_entries, ranks, "
		      "access");
	bed_release(&b);
}
END_TEST

START_TEST(parts_are_of_one_plan_and_share)
{
	char plan[128], message[256];
	struct bed b;

	bed_new(&b, ALL_READ);
	make_parts(&b, false);
	snprintf(plan, sizeof(plan), "%.*s", 26,
		 strstr(b.parts[1], "\"plan\":\"") );
	snprintf(message, sizeof(message), "B: /plan: is \"0000000000000000\","
		 " in A it is \"%.16s\"", plan + 8);
	for (char *p = plan; *p; p++)
		if (*p == '"')
			*p = '\'';
	check_altered(&b, 1, plan, 1, "'plan':'0000000000000000',",
		      KVP_EINPUT, message);
	check_altered(&b, 3, "abcdef", 1, "abcdee", KVP_EINPUT, "D: /share: "
		      "is \"abcdee0123456789\", in A it is "
		      "\"abcdef0123456789\"");
	check_altered(&b, 0, "abcdef", 1, "aBcdef", KVP_EINPUT, "A: /share: "
		      "is \"aBcdef0123456789\", must be 16 digits 0-9 and "
		      "a-f");
	check_altered(&b, 2, "'share':'abcdef0123456789',", 1, "", KVP_EINPUT,
		      "C: /share: missing: this is no part, but what one "
		      "process realized alone, or parts joined already; a part "
		      "is what kvp_realization_write() writes after "
		      "kvp_share_commit(), and kvplan-mpi joins its own");
	check_altered(&b, 2, "'complete':false", 1, "'complete':true",
		      KVP_EINPUT, "C: /complete: is true, must be false in a "
		      "part");
	check_altered(&b, 2, "'node':'m',", 1, "", KVP_EINPUT,
		      "C: /node: missing; this key is required");
	bed_release(&b);
}
END_TEST

START_TEST(what_all_share_is_the_same)
{
	static const char *const cases[][3] = {
		{ "'name':'small'", "'name':'large'",
		  "B: /name: is \"large\", in A it is \"small\"" },
		{ "'merge':'row'", "'merge':'span'",
		  "B: /merge: is \"span\", in A it is \"row\"" },
		{ "'backend':'host'", "'backend':'cuda'",
		  "B: /backend: is \"cuda\", in A it is \"host\"" },
		{ "'checked':'none'", "'checked':'full'",
		  "B: /checked: is \"full\", in A it is \"none\"" },
		{ "'ranks_total':4", "'ranks_total':3",
		  "B: /ranks_total: is 3, in A it is 4" },
		{ "'static_entries':100", "'static_entries':99",
		  "B: /static_entries: is 99, in A it is 100" },
		{ "'kv_tokens':512", "'kv_tokens':511",
		  "B: /kv_tokens: is 511, in A it is 512" },
		{ "'pages':8", "'pages':9",
		  "B: /ranks/0/pages: is 9, in A it is 8" },
		{ "'snapshot_rows':2", "'snapshot_rows':1",
		  "B: /ranks/0/snapshot_rows: is 1, in A it is 2" },
		{ "'execution_rows':1", "'execution_rows':2",
		  "B: /ranks/0/execution_rows: is 2, in A it is 1" },
		{ "'stride':2048", "'stride':2047",
		  "B: /ranks/0/planes/1/stride: is 2047, in A it is 2048" },
		{ "'name':'b.1'", "'name':'b.2'",
		  "B: /ranks/0/planes/2/name: is \"b.2\", in A it is \"b.1\"" },
		{ "'stride':10240", "'stride':10241",
		  "B: /ranks/0/arena/stride: is 10241, in A it is 10240" },
		{ ",'arena':{", "},{'rank':2,'x':{",
		  "B: /ranks/0/arena: is missing, in A it is there" },
		{ "'planes':[", "'planes':[{'name':'a','address':1,"
		  "'stride':1},", "B: /ranks/0/planes: has 4 elements, in A "
		  "it has 3" },
	};
	struct bed b;
	size_t i;

	bed_new(&b, ALL_READ);
	make_parts(&b, false);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_altered(&b, 1, cases[i][0], 1, cases[i][1], KVP_EINPUT,
			      cases[i][2]);
	bed_release(&b);
}
END_TEST

START_TEST(readers_are_the_same_on_every_plane)
{
	struct bed b;

	bed_new(&b, ALL_READ);
	make_parts(&b, false);
	/* The third record of each part is its own plane 2; then those of
	   other ranks, by rank and plane. */
	check_altered(&b, 1, "'readers':[1]", 5, "'readers':[1,1]",
		      KVP_EINPUT, "B: /access/4/free_before: has 1 elements, "
		      "must have one for each of 2 readers");
	check_altered(&b, 1, "'readers':[1],", 5, "'readers':[],", KVP_EINPUT,
		      "B: /access/4/readers: is empty, must have at least one "
		      "rank");
	check_altered(&b, 1, "'readers':[1]", 5, "'readers':[2]", KVP_EINPUT,
		      "B: /access/4/readers/0: is 2, which is no rank of this "
		      "part");
	check_altered(&b, 1, "{'rank':0,'plane':1", 1, "{'rank':0,'plane':0",
		      KVP_EINPUT, "B: /access: rank 1 reads plane 0 of rank 0 "
		      "twice");
	check_altered(&b, 1, "{'rank':1,'plane':1", 1, "{'rank':2,'plane':1",
		      KVP_EINPUT, "B: /access: no record says that rank 1 "
		      "reads its own plane 1");
	check_altered(&b, 1, "{'rank':1,'plane':1", 1, "{'rank':1,'plane':3",
		      KVP_ELIMIT, "B: /access/1/plane: is 3, must be at most "
		      "2");
	bed_release(&b);
}
END_TEST

/* Part i without its n-th record, from 0. */
static char *without_record(const struct bed *b, size_t i, int n)
{
	char *text = strdup(b->parts[i]), *at, *end;

	ck_assert_ptr_nonnull(text);
	at = strstr(text, "\"access\":[");
	for (; n >= 0; n--)
		at = strchr(at, '\n') + 1;
	end = strchr(at, '\n') + 1;
	memmove(at, end, strlen(end) + 1);
	return text;
}

START_TEST(a_reader_that_lacks_a_plane_is_named)
{
	struct bed b;
	char *keep, *text;

	bed_new(&b, ALL_READ);
	make_parts(&b, false);
	keep = b.parts[2];
	text = b.parts[2] = without_record(&b, 2, 5);
	check_refused(&b, KVP_EINPUT, "C: /access: rank 2 reads plane 0 of "
		      "rank 0, and not its plane 2");
	b.parts[2] = keep;
	free(text);
	text = b.parts[2] = without_record(&b, 2, 3);
	check_refused(&b, KVP_EINPUT, "C: /access: rank 2 reads plane 1 of "
		      "rank 0, and not its plane 0");
	b.parts[2] = keep;
	free(text);
	bed_release(&b);
}
END_TEST

START_TEST(a_rank_has_the_readers_of_the_plan)
{
	struct bed b;
	char *keep, *text;
	int i;

	bed_new(&b, ALL_READ);
	make_parts(&b, false);
	check_altered(&b, 1, "'readers':4", 1, "'readers':3", KVP_EINPUT,
		      "B: /ranks: \"readers\" of rank 1 is 3, and all parts "
		      "have records of 4");
	check_altered(&b, 1, "'readers':4", 1, "'readers':0", KVP_EINPUT,
		      "B: /ranks/0/readers: is 0, must be at least 1");
	check_altered(&b, 1, "'readers':4", 1, "'readers':5", KVP_ELIMIT,
		      "B: /ranks/0/readers: is 5, must be at most 4");
	/* All that rank 2 reads of rank 0. */
	keep = b.parts[2];
	for (i = 0; i < 3; i++) {
		text = without_record(&b, 2, 3);
		if (i)
			free(b.parts[2]);
		b.parts[2] = text;
	}
	check_refused(&b, KVP_EINPUT, "A: /ranks: \"readers\" of rank 0 is 4, "
		      "and all parts have records of 3");
	free(b.parts[2]);
	b.parts[2] = keep;
	bed_release(&b);
}
END_TEST

START_TEST(two_readers_of_a_part_ascend_after_the_owner)
{
	struct bed b;

	bed_new(&b, ALL_READ);
	b.parts[b.nparts++] = part_of(&b, 0, 2, "n");
	b.parts[b.nparts++] = part_of(&b, 2, 2, "n");
	check_altered(&b, 0, "'readers':[0,1]", 1, "'readers':[1,0]",
		      KVP_EINPUT, "A: /access/0/readers/1: is 0, must be the "
		      "owner first, then others ascending");
	check_altered(&b, 0, "'readers':[0,1]", 8, "'readers':[1,1]",
		      KVP_EINPUT, "A: /access/10/readers/1: is 1, must be the "
		      "owner first, then others ascending");
	bed_release(&b);
}
END_TEST

/* Entries of the first record of a part as they stand there. */
static unsigned record_entries(const struct bed *b, size_t i)
{
	const char *at = strstr(b->parts[i], "\"access\"");

	return (unsigned)strtoul(strstr(at, "\"entries\":") + 10, NULL, 10);
}

START_TEST(entries_add_up)
{
	char is[64], message[256];
	unsigned chunks;
	struct bed b;

	bed_new(&b, ALL_READ);
	make_parts(&b, false);
	chunks = record_entries(&b, 0);
	snprintf(is, sizeof(is), "'readers':[1],'entries':%u", chunks);
	snprintf(message, sizeof(message), "B: /access: the 4 readers of "
		 "plane 0 of rank 1 take %u entries, must be %u: %u each as "
		 "the readers of rank 0", 3 * chunks + 3, 4 * chunks, chunks);
	check_altered(&b, 1, is, 1, "'readers':[1],'entries':3", KVP_EINPUT,
		      message);
	check_altered(&b, 1, is, 1,
		      "'readers':[1],'entries':9007199254740991", KVP_ELIMIT,
		      "B: /access: the readers of plane 0 of rank 1 take more "
		      "than 9007199254740991 entries");
	check_altered(&b, 1, is, 1,
		      "'readers':[1],'entries':9007199254740992", KVP_EINPUT,
		      "B: /access/0/entries: is 9007199254740992, must be at "
		      "most 9007199254740991 (2^53 - 1)");
	bed_release(&b);
}
END_TEST

/* Every part gets the n-th `from` as `to`. */
static void alter_all(struct bed *b, const char *from, int n, const char *to)
{
	size_t i;

	for (i = 0; i < b->nparts; i++) {
		char *text = altered(b, i, from, n, to);

		free(b->parts[i]);
		b->parts[i] = text;
	}
}

START_TEST(a_rank_takes_its_planes_and_its_arena)
{
	char is[64], other[64], message[256];
	struct bed b;
	unsigned chunks, entries;

	bed_new(&b, ALL_READ);
	make_parts(&b, false);
	chunks = (unsigned)b.plan.nchunks;
	entries = (unsigned)strtoul(strstr(strstr(b.parts[1], "\"chunks\""),
					   "\"entries\":") + 10, NULL, 10);
	snprintf(is, sizeof(is), "'chunks':%u,'entries':%u", chunks, entries);
	snprintf(other, sizeof(other), "'chunks':%u,'entries':%u", chunks,
		 entries + 1);
	snprintf(message, sizeof(message), "B: /ranks: rank 1 and its "
		 "importers take %u entries, must be %u: %u in planes and %u "
		 "in the arena", entries + 1 + 3 * chunks, entries + 3 * chunks,
		 4 * chunks, entries - chunks);
	check_altered(&b, 1, is, 1, other, KVP_EINPUT, message);
	snprintf(other, sizeof(other), "'chunks':%u,'entries':%u", chunks + 1,
		 entries);
	alter_all(&b, is, 1, other);
	snprintf(message, sizeof(message), "A: /access: each reader of rank 0 "
		 "takes %u entries, must be one for each of %u chunks", chunks,
		 chunks + 1);
	check_refused(&b, KVP_EINPUT, message);
	bed_release(&b);
}
END_TEST

START_TEST(sums_that_are_too_large_are_refused)
{
	struct bed b;
	char message[256], is[64];
	unsigned long long entries;
	size_t i;

	bed_new(&b, ALL_READ);
	make_parts(&b, false);
	entries = strtoull(strstr(b.parts[1], "\"entries\":") + 10, NULL, 10);
	snprintf(is, sizeof(is), "'entries':%llu,'static", entries);
	for (char *p = is; *p; p++)
		if (*p == ',')
			*p = '\0';
	check_altered(&b, 1, is, 1, "'entries':9007199254740991", KVP_ELIMIT,
		      "B: /entries: is 9007199254740991, and all parts "
		      "together have more than 9007199254740991");
	entries = strtoull(strstr(strstr(b.parts[1], "\"chunks\""),
				  "\"entries\":") + 10, NULL, 10);
	snprintf(is, sizeof(is), "'entries':%llu", entries);
	check_altered(&b, 1, is, 1, "'entries':9007199254740991", KVP_ELIMIT,
		      "A: /access: rank 1 and its importers take more than "
		      "9007199254740991 entries");
	snprintf(is, sizeof(is), "'bytes':%llu",
		 strtoull(strstr(b.parts[0], "\"bytes\":") + 8, NULL, 10));
	alter_all(&b, is, 1, "'bytes':2251799813685248");
	check_refused(&b, KVP_ELIMIT, "A: /ranks/0/bytes: 4 ranks of "
		      "2251799813685248 bytes exceed 9007199254740991");
	alter_all(&b, "'bytes':2251799813685248", 1, is);
	alter_all(&b, "'static_entries':100", 1,
		  "'static_entries':9007199254740991");
	entries = 0;
	for (i = 0; i < RANKS; i++)
		entries += strtoull(strstr(b.parts[i], "\"entries\":") + 10,
				    NULL, 10);
	snprintf(message, sizeof(message), "the entries of all parts are "
		 "%llu, and with 9007199254740991 of others on each of 1 "
		 "nodes they exceed 9007199254740991", entries);
	check_refused(&b, KVP_ELIMIT, message);
	bed_release(&b);
}
END_TEST

START_TEST(a_part_holds_what_its_records_say)
{
	char is[64], message[256];
	unsigned chunks, entries, held;
	struct bed b;

	bed_new(&b, ALL_READ ";static=[{'name':'s','bytes':8192,"
		"'importers':'group'}]");
	make_parts(&b, false);
	chunks = (unsigned)b.plan.nchunks;
	held = (unsigned)strtoul(strstr(b.parts[1], "\"entries\":") + 10,
				 NULL, 10);
	entries = (unsigned)strtoul(strstr(strstr(b.parts[1], "\"chunks\""),
					   "\"entries\":") + 10, NULL, 10);
	ck_assert_uint_eq(held, entries + 3 * chunks + 1);
	snprintf(is, sizeof(is), "'entries':%u", held);
	snprintf(message, sizeof(message), "B: /entries: is 0, must be %u: %u "
		 "of its ranks, %u of what they import and 1 of static "
		 "storage", held, entries, 3 * chunks);
	check_altered(&b, 1, is, 1, "'entries':0", KVP_EINPUT, message);
	snprintf(message, sizeof(message), "B: /entries: is 500000, must be "
		 "%u: %u of its ranks, %u of what they import and 1 of static "
		 "storage", held, entries, 3 * chunks);
	check_altered(&b, 1, is, 1, "'entries':500000", KVP_EINPUT, message);
	snprintf(message, sizeof(message), "C: /entries: is %u, must be %u: "
		 "%u of its ranks, %u of what they import and 0 of static "
		 "storage", held, held - 1, entries, 3 * chunks);
	check_altered(&b, 2, "'static_storage_entries':1", 1,
		      "'static_storage_entries':0", KVP_EINPUT, message);
	free(joined(&b, true));
	bed_release(&b);
}
END_TEST

START_TEST(a_rank_is_read_on_its_node)
{
	struct bed b;

	bed_new(&b, "ranks_per_node=2");
	make_parts(&b, true);
	check_altered(&b, 3, "'node':'n'", 1, "'node':'elsewhere'", KVP_EINPUT,
		      "D: /node: is \"elsewhere\", and rank 3 reads rank 2, "
		      "whose node is \"n\" in C");
	check_altered(&b, 0, "'node':'m'", 1, "'node':'elsewhere'", KVP_EINPUT,
		      "B: /node: is \"m\", and rank 1 reads rank 0, whose "
		      "node is \"elsewhere\" in A");
	bed_release(&b);
}
END_TEST

/* What joins can be read as addresses, which have such names only. */
START_TEST(a_plane_has_a_short_name)
{
	char name[128], longer[128];
	struct bed b;

	bed_new(&b, ALL_READ);
	make_parts(&b, false);
	snprintf(name, sizeof(name), "'name':'%064d'", 0);
	snprintf(longer, sizeof(longer), "'name':'%065d'", 0);
	alter_all(&b, "'name':'b.0'", 1, name);
	free(joined(&b, false));
	check_altered(&b, 0, name, 1, longer, KVP_EINPUT, "A: "
		      "/ranks/0/planes/1/name: has 65 bytes, must have at "
		      "most 64");
	bed_release(&b);
}
END_TEST

START_TEST(what_is_no_part_does_not_join)
{
	static const char *const cases[][2] = {
		{ "", "A:1:1: " }, { "[]", "A: /: is a list" },
		{ "{}", "A: /format: missing" },
		{ "{'format':'kvplan/plan/1'}", "A: /format: is " },
		{ "{'format':'kvplan/capacity/1'}", "A: /share: missing: " },
		{ "{'format':'kvplan/capacity/1','share':1,'share':2}",
		  "A: /share: given twice" },
		{ "{'format':'kvplan/capacity/1','share':1}",
		  "A: /name: missing" },
	};
	struct kvp_error err = { 0 };
	struct bed b = { .nparts = 1 };
	char *text;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		b.parts[0] = json(cases[i][0]);
		ck_assert(join(&b, true, &text, &err));
		ck_assert_ptr_null(text);
		ck_assert_msg(!strncmp(err.text, cases[i][1],
				       strlen(cases[i][1])), "%s", err.text);
		free(b.parts[0]);
	}
}
END_TEST

START_TEST(a_part_that_is_cut_anywhere_does_not_join)
{
	struct bed b;
	size_t len, i, n;
	char *text;

	bed_new(&b, ALL_READ);
	b.parts[b.nparts++] = part_of(&b, 0, RANKS, "n");
	len = (size_t)(strrchr(b.parts[0], '}') - b.parts[0]);
	for (i = 0; i <= len; i++) {
		struct kvp_capacity_part part = { "A", b.parts[0], i };

		ck_assert_int_eq(kvp_capacity_join(&part, 1, true, &text, &n,
						   NULL), KVP_ESYNTAX);
		ck_assert_ptr_null(text);
	}
	bed_release(&b);
}
END_TEST

/* Where the value at p, without blanks or brackets in texts, ends. */
static const char *end_of_value(const char *p)
{
	int depth = 0;

	if (*p == '"')
		return strchr(p + 1, '"') + 1;
	if (*p != '[' && *p != '{')
		return p + strcspn(p, ",]}\n");
	do {
		depth += (*p == '[' || *p == '{') - (*p == ']' || *p == '}');
		p++;
	} while (depth);
	return p;
}

START_TEST(no_value_may_be_null_but_a_cap)
{
	char *whole, *at, *text;
	struct kvp_error err;
	unsigned seen = 0;
	struct bed b;

	bed_new(&b, ALL_READ);
	b.parts[b.nparts++] = part_of(&b, 0, RANKS, "n");
	whole = b.parts[0];
	b.parts[0] = malloc(strlen(whole) + 8);
	ck_assert_ptr_nonnull(b.parts[0]);
	for (at = strstr(whole, "\":"); at; at = strstr(at + 1, "\":")) {
		if (!strncmp(at - 9, "cap_bytes", 9))
			continue;
		sprintf(b.parts[0], "%.*snull%s", (int)(at + 2 - whole), whole,
			end_of_value(at + 2));
		ck_assert_int_eq(join(&b, true, &text, &err), KVP_EINPUT);
		ck_assert_msg(strstr(err.text, ": is null, must be "), "%s",
			      err.text);
		seen++;
	}
	ck_assert_uint_gt(seen, 190);
	free(whole);
	bed_release(&b);
}
END_TEST

/* Add a rank's records of rank `owner`; each plane has one chunk. */
static char *put_records(char *to, unsigned owner, unsigned reader,
			 unsigned planes, const char *before)
{
	unsigned plane;

	for (plane = 0; plane < planes; plane++, before = ",")
		to += sprintf(to, "%s{'rank':%u,'plane':%u,'readers':[%u],"
			      "'entries':1,'free_before':[2],'free_after':[1]}",
			      before, owner, plane, reader);
	return to;
}

/* The part of a rank that reads all ranks of its group of 8. */
static char *make_large_part(unsigned rank, unsigned planes)
{
	char *text = malloc(100000), *to = text, *real;
	unsigned i, group = rank / 8 * 8;

	ck_assert_ptr_nonnull(text);
	to += sprintf(to, "{'format':'kvplan/capacity/1','name':'large',"
		"'merge':'row','backend':'host','driver':'6','version':'0',"
		"'ranks_total':1024,'complete':false,'checked':'none','plan':"
		"'0123456789abcdef','share':'0123456789abcdef','node':'%u',"
		"'kv_tokens':1,'entries':%u,'static_entries':3,"
		"'static_storage_entries':0,'ranks':[{"
		"'rank':%u,'device':0,'pages':1,'snapshot_rows':0,"
		"'execution_rows':0,'bytes':4096,'chunks':%u,'entries':%u,"
		"'readers':8,'uuid':'','device_name':'d',"
		"'headroom':{'free_bytes':1,"
		"'cap_bytes':null,'term':'override'},'planes':[", rank / 8,
		8 * planes, rank, planes, planes);
	for (i = 0; i < planes; i++)
		to += sprintf(to, "%s{'name':'%u','address':1,'stride':1}",
			      i ? "," : "", i);
	to += sprintf(to, "]}],'access':[");
	to = put_records(to, rank, rank, planes, "");
	for (i = group; i < group + 8; i++)
		if (i != rank)
			to = put_records(to, i, rank, planes, ",");
	strcpy(to, "]}");
	real = json(text);
	free(text);
	return real;
}

START_TEST(a_thousand_ranks_join)
{
	static struct kvp_capacity_part parts[KVP_RANKS_MAX + 1];
	struct kvp_error err = { 0 };
	unsigned i, planes = 24;
	char *text, *at;
	size_t len;
	int code;

	for (i = 0; i < KVP_RANKS_MAX; i++) {
		parts[i].name = "P";
		parts[i].text = make_large_part(i, planes);
		parts[i].len = strlen(parts[i].text);
	}
	code = kvp_capacity_join(parts, KVP_RANKS_MAX, true, &text, &len,
				 &err);
	ck_assert_msg(!code, "%s", err.text);
	ck_assert_uint_eq(total(text, "\"entries\":"),
			  1024 * 8 * planes + 3 * 128);
	for (i = 0, at = text; (at = strstr(at, "\"readers\"")); at++)
		i++;
	ck_assert_uint_eq(i, 1024 * planes);
	ck_assert_ptr_nonnull(strstr(text, "\"readers\":[1020,1016,1017,1018,"
				     "1019,1021,1022,1023],\"entries\":8,"));
	free(text);
	ck_assert_int_eq(kvp_capacity_join(parts, KVP_RANKS_MAX + 1, true,
					   &text, &len, &err), KVP_ELIMIT);
	ck_assert_ptr_null(text);
	for (i = 0; i < KVP_RANKS_MAX; i++)
		free((char *)(uintptr_t)parts[i].text);
}
END_TEST

Suite *capacity_join_suite(void)
{
	Suite *suite = suite_create("capacity_join");
	TCase *tests = tcase_create("capacity_join");

	tcase_add_test(tests,
		one_part_of_all_ranks_is_the_document_of_one_process);
	tcase_add_test(tests,
		parts_in_any_order_are_the_document_of_one_process);
	tcase_add_test(tests, the_entries_of_others_count_once_for_each_node);
	tcase_add_test(tests, every_rank_is_there_once);
	tcase_add_test(tests, parts_are_of_one_plan_and_share);
	tcase_add_test(tests, what_all_share_is_the_same);
	tcase_add_test(tests, readers_are_the_same_on_every_plane);
	tcase_add_test(tests, a_reader_that_lacks_a_plane_is_named);
	tcase_add_test(tests, two_readers_of_a_part_ascend_after_the_owner);
	tcase_add_test(tests, a_rank_has_the_readers_of_the_plan);
	tcase_add_test(tests, entries_add_up);
	tcase_add_test(tests, a_part_holds_what_its_records_say);
	tcase_add_test(tests, a_rank_is_read_on_its_node);
	tcase_add_test(tests, a_rank_takes_its_planes_and_its_arena);
	tcase_add_test(tests, sums_that_are_too_large_are_refused);
	tcase_add_test(tests, a_plane_has_a_short_name);
	tcase_add_test(tests, what_is_no_part_does_not_join);
	tcase_add_test(tests, a_part_that_is_cut_anywhere_does_not_join);
	tcase_add_test(tests, no_value_may_be_null_but_a_cap);
	tcase_add_test(tests, a_thousand_ranks_join);
	suite_add_tcase(suite, tests);
	return suite;
}
