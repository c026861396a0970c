/*
 * Blobs that are damaged, mixed up or contradict each other, in both gathers:
 * what a process that gets them answers.  No rank here imports from another,
 * so all processes of a job can be played by this one.  And options with which
 * a process cannot begin.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "share/blob.h"
#include "share/trials.h"

#define PROCESSES 4
#define BLOBS_MAX (KVP_RANKS_MAX + 2)

#define GEOMETRY(tokens, ranks, rest)					\
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"blobs\","		\
	"\"granularity\":4096,\"pages\":2,\"page_tokens\":" #tokens ","	\
	"\"snapshot_rows\":0,\"execution_rows\":0,\"planes\":[{\"name\":" \
	"\"a\",\"bytes_per_page\":2000}],\"ranks\":" #ranks		\
	",\"dcp_group_size\":1" rest "}"

static struct planned three, four, larger, relabelled, importing;
static char host[SHARE_HOST_BYTES];

/* All processes of a job, and what the gathers deliver to the first. */
static struct scene {
	const struct planned *planned;
	uint32_t count;
	const char *node[PROCESSES];
	const char *gpu[PROCESSES];	/* NULL: it has no UUID */
	bool share_gpu;
	bool only_first;		/* makes the exchange */
	struct kvp_backend *backend[PROCESSES];
	struct kvp_share *share[PROCESSES];
	struct kvp_share_blob first[BLOBS_MAX], second[BLOBS_MAX];
	size_t nfirst, nsecond;
} scene;

/* A blob as it was written before it is changed. */
static struct share_blob open_blob(const struct kvp_share_blob *blob,
				   uint32_t phase)
{
	struct share_blob b;
	struct kvp_error why = { 0 };

	expect(share_blob_read(blob, phase, &b, &why) == SHARE_READ,
	       "a blob cannot be read: %s", why.text);
	return b;
}

/* Change members of the first blob of process i, with a good hash. */
#define CHANGE(i, ...) do {						\
	struct share_blob b = open_blob(&scene.first[i], 1);		\
	__VA_ARGS__;							\
	share_blob_write(&b, &scene.first[i]);				\
} while (0)
#define CHANGE_SECOND(i, ...) do {					\
	struct share_blob b = open_blob(&scene.second[i], 2);		\
	__VA_ARGS__;							\
	share_blob_write(&b, &scene.second[i]);				\
} while (0)

static void set_failed(struct share_blob *b, int code, const char *text)
{
	b->code = code;
	snprintf(b->text, sizeof(b->text), "%s", text);
}

/* The blob of a process of another job. */
static struct kvp_share_blob make_other(const struct planned *p, uint32_t rank,
					uint32_t phase)
{
	const struct kvp_share_options o = {
		.realize = { .first_rank = rank, .nranks = 1 },
		.node = scene.node[rank],
	};
	struct kvp_backend *b = NULL;
	struct kvp_share *s = NULL;
	struct kvp_share_blob blob, second;
	struct share_blob opened;

	expect(!make_host(&b, 0, NULL) &&
	       !kvp_share_begin(&s, &p->plan, p->verdict, b, &o, &blob, NULL),
	       "no other job");
	if (phase == 2) {
		opened = open_blob(&blob, 1);
		opened.phase = 2;
		share_blob_write(&opened, &second);
		blob = second;
	}
	kvp_share_free(s, NULL);
	kvp_backend_close(b);
	return blob;
}

/* --- what the first gather delivers --- */

static void cut(void) { memset(scene.first[1].bytes + 300, 0, 212); }
static void cut_one(void) { scene.first[1].bytes[511] ^= 1; }
static void strange(void) { memset(&scene.first[1], 'x', 512); }
static void version(void) { scene.first[1].bytes[8] = 2; }
static void version_large(void) { scene.first[1].bytes[15] = 0x80; }
static void missing(void) { memset(&scene.first[1], 0, 512); }
static void all_missing(void) { memset(scene.first, 0, 3 * 512); }
static void phase(void) { CHANGE(1, b.phase = 2); }
static void phase_large(void) { CHANGE(1, b.phase = 3); }
static void other_plan(void) { scene.first[1] = make_other(&larger, 1, 1); }
static void same_sizes(void) { scene.first[1] = make_other(&relabelled, 1, 1); }
static void twice(void) { CHANGE(2, b.first_rank = 1); }
static void overlap(void) { CHANGE(0, b.nranks = 2); }
static void fewer(void) { scene.nfirst = 2; }
static void alone(void) { scene.nfirst = 1; }
static void none(void) { scene.nfirst = 0; }
static void too_many(void) { scene.nfirst = (size_t)KVP_RANKS_MAX + 1; }
static void beyond(void) { CHANGE(1, b.first_rank = 7); }
static void overflow(void)
{
	CHANGE(1, b.first_rank = UINT32_MAX; b.nranks = 2);
}
static void no_ranks(void) { CHANGE(1, b.nranks = 0); }
static void many_ranks(void) { CHANGE(1, b.nranks = KVP_SHARE_RANKS_MAX + 1); }
static void kind(void) { CHANGE(1, b.handle_type = KVP_HANDLE_FABRIC); }
static void user(void) { CHANGE(1, b.uid = b.uid + 1); }
static void no_node(void) { CHANGE(1, b.node[0] = '\0'); }
static void no_endpoint(void) { CHANGE(1, b.endpoint[0] = '\0'); }
static void endless(void)
{
	CHANGE(1, memset(b.endpoint, 'x', sizeof(b.endpoint)));
}
static void bell(void) { CHANGE(1, b.host[0] = '\a'); }
static void code_unknown(void) { CHANGE(1, set_failed(&b, -999, "why")); }
static void code_large(void)
{
	CHANGE(1, set_failed(&b, -1000000, "why"));
}
static void order(void)
{
	struct kvp_share_blob own = scene.first[0];

	scene.first[0] = scene.first[2];
	scene.first[2] = own;
}
static void own_stale(void) { scene.first[0] = make_other(&three, 0, 1); }
static void own_twice(void) { scene.first[2] = scene.first[0]; }
static void told(void)
{
	CHANGE(1, set_failed(&b, KVP_EEXHAUSTED, "no memory there"));
}
static void told_twice(void)
{
	CHANGE(1, set_failed(&b, KVP_EEXHAUSTED, "the lower"));
	CHANGE(2, set_failed(&b, KVP_EEXHAUSTED, "the higher"));
	order();
}
static void told_nothing(void)
{
	const struct share_blob b = {
		.phase = 1, .code = KVP_ENOMEM, .text = "out of memory",
	};

	share_blob_write(&b, &scene.first[1]);
}

/* --- four ranks on two nodes --- */

static void two_nodes(void)
{
	scene.planned = &four;
	scene.count = 4;
	scene.node[0] = scene.node[1] = "a";
	scene.node[2] = scene.node[3] = "b";
}
static void same_gpu(void)
{
	two_nodes();
	scene.gpu[0] = scene.gpu[1] = "GPU-11111111-2222-3333-4444-555555555555";
}
static void no_uuid(void)
{
	two_nodes();
	scene.gpu[0] = scene.gpu[1] = "GPU";
}
/* Rank 0 imports from a GPU that its process does not see. */
static void unseen_gpu(void)
{
	scene.planned = &importing;
	scene.count = 2;
	scene.gpu[0] = "GPU-11111111-2222-3333-4444-555555555555";
	scene.gpu[1] = "GPU-11111111-2222-3333-4444-555555555556";
	scene.only_first = true;
}
static void same_gpu_allowed(void)
{
	same_gpu();
	scene.share_gpu = true;
}
/* Two nodes whose GPUs have the same UUIDs: of another node nobody asks. */
static void gpu_elsewhere(void)
{
	two_nodes();
	scene.gpu[0] = scene.gpu[2] = "GPU-11111111-2222-3333-4444-555555555555";
	scene.gpu[1] = scene.gpu[3] = "GPU-11111111-2222-3333-4444-555555555556";
}
static void wrong_node(void) { CHANGE(1, strcpy(b.node, "b")); }
static void one_node(void)
{
	CHANGE(2, strcpy(b.node, "a"));
	CHANGE(3, strcpy(b.node, "a"));
}
static void user_elsewhere(void) { CHANGE(2, b.uid = b.uid + 1); }

/* --- what the second gather delivers --- */

static void cut_2(void) { memset(scene.second[1].bytes + 300, 0, 212); }
static void missing_2(void) { memset(&scene.second[1], 0, 512); }
static void all_missing_2(void) { memset(scene.second, 0, 3 * 512); }
static void first_again(void) { scene.second[1] = scene.first[1]; }
static void all_first_again(void)
{
	memcpy(scene.second, scene.first, 3 * 512);
}
static void stale(void) { scene.second[1] = make_other(&three, 1, 2); }
/* Of the same process, for another joint realization. */
static void other_share(void) { CHANGE_SECOND(1, b.share ^= 1); }
static void order_2(void)
{
	struct kvp_share_blob own = scene.second[0];

	scene.second[0] = scene.second[2];
	scene.second[2] = own;
}
static void none_2(void) { scene.nsecond = 0; }
static void fewer_2(void) { scene.nsecond = 2; }
static void more_2(void) { scene.nsecond = 4; }
static void own_missing(void) { memset(&scene.second[0], 0, 512); }
static void own_twice_2(void) { scene.second[1] = scene.second[0]; }
static void told_2(void)
{
	CHANGE_SECOND(1, set_failed(&b, KVP_EDRIVER, "map: broken"));
}
static void told_and_missing(void)
{
	told_2();
	memset(&scene.second[2], 0, 512);
}
static void blamed(void)
{
	CHANGE_SECOND(1, set_failed(&b, KVP_EPEER, "rank 2 ended");
		b.follows = 1);
	CHANGE_SECOND(2, set_failed(&b, KVP_EDRIVER, "map: broken"));
}
static void told_of_self(void)
{
	CHANGE_SECOND(0, set_failed(&b, KVP_EDRIVER, "forged"));
}
/* The first blob said failed, the second says that all is well. */
static void contradiction(void)
{
	scene.second[1] = make_other(&three, 1, 2);
	CHANGE_SECOND(1, memcpy(b.token, open_blob(&scene.first[1], 1).token,
				sizeof(b.token));
		      b.share = open_blob(&scene.second[2], 2).share);
}
static void all_contradict(void)
{
	contradiction();
	CHANGE_SECOND(0, b.code = KVP_OK; strcpy(b.endpoint, "@x"));
}

/* --- cases --- */

#define DAMAGED "blob 2 of 3: its bytes are damaged"
#define DOUBT(n, who) "all was well here, but " n " of 3 processes did not " \
	"say so, first rank " who " on HOST: others may serve; end the job"

static const struct trial {
	const char *name;
	void (*set)(void);	/* before the calls of begin */
	void (*first)(void), (*second)(void);
	int exchange, commit;
	enum kvp_state state;
	const char *text;	/* of what failed, the exchange if both did */
} cases[] = {
	{ .name = "all is well", .state = KVP_PUBLISHED },
#define REFUSED(code, how, says)					\
	{ .name = #how, .first = how, .exchange = code, .commit = code,	\
	  .state = KVP_UNWOUND, .text = says }
	REFUSED(KVP_EREFUSED, cut, DAMAGED),
	REFUSED(KVP_EREFUSED, cut_one, DAMAGED),
	REFUSED(KVP_EREFUSED, strange, "blob 2 of 3: it is no blob of kvplan"),
	REFUSED(KVP_EREFUSED, version, "blob 2 of 3: it has version 2, this "
		"process has 1; use one kvplan on all hosts"),
	REFUSED(KVP_EREFUSED, version_large, "blob 2 of 3: it has version "
		"9223372036854775809, this process has 1; use one kvplan on "
		"all hosts"),
	REFUSED(KVP_EPEER, missing, "blob 2 of 3: it did not arrive"),
	REFUSED(KVP_EPEER, all_missing, "blob 1 of 3: it did not arrive"),
	REFUSED(KVP_EREFUSED, phase, "blob 2 of 3: it is of gather 2, "
		"expected 1"),
	REFUSED(KVP_EREFUSED, phase_large, "blob 2 of 3: it is of gather 3, "
		"expected 1"),
	REFUSED(KVP_EREFUSED, other_plan, "rank 1 on HOST has the plan "
		"????????????????, this process ????????????????; give the "
		"same plan to all"),
	REFUSED(KVP_EREFUSED, same_sizes, "rank 1 on HOST has the plan "
		"????????????????, this process ????????????????; give the "
		"same plan to all"),
	REFUSED(KVP_EREFUSED, twice, "rank 1 is there twice: in blob 2 (rank "
		"1 on HOST) and in blob 3 (rank 1 on HOST)"),
	REFUSED(KVP_EREFUSED, overlap, "rank 1 is there twice: in blob 1 "
		"(ranks 0 to 1 on HOST) and in blob 2 (rank 1 on HOST)"),
	REFUSED(KVP_EREFUSED, fewer, "no process has rank 2 of the plan's 3"),
	REFUSED(KVP_EREFUSED, alone, "no process has ranks 1, 2 of the plan's "
		"3"),
	REFUSED(KVP_EINPUT, none, "0 blobs are gathered; there can be 1 to "
		"*"),
	REFUSED(KVP_EINPUT, too_many, "* blobs are gathered; there can be 1 "
		"to *"),
	REFUSED(KVP_EREFUSED, beyond, "there is a process with rank 7 on "
		"HOST; the plan has ranks 0 to 2"),
	REFUSED(KVP_EREFUSED, overflow, "there is a process with ranks "
		"4294967295 to 4294967296 on HOST; the plan has ranks 0 to 2"),
	REFUSED(KVP_EREFUSED, no_ranks, DAMAGED),
	REFUSED(KVP_EREFUSED, many_ranks, DAMAGED),
	REFUSED(KVP_EREFUSED, kind, "rank 1 on HOST has handles of kind 2, "
		"this process of kind 1"),
	REFUSED(KVP_EREFUSED, user, "rank 1 on HOST runs as user *, this "
		"process as user *; run all as one user"),
	REFUSED(KVP_EREFUSED, no_node, DAMAGED),
	REFUSED(KVP_EREFUSED, no_endpoint, DAMAGED),
	REFUSED(KVP_EREFUSED, endless, DAMAGED),
	REFUSED(KVP_EREFUSED, bell, DAMAGED),
	REFUSED(KVP_EREFUSED, code_unknown, DAMAGED),
	{ .name = "order", .first = order, .second = order_2,
	  .state = KVP_PUBLISHED },
	REFUSED(KVP_EREFUSED, own_stale, "the blob of this process is among "
		"the 3 gathered 0 times, expected once"),
	REFUSED(KVP_EREFUSED, own_twice, "the blob of this process is among "
		"the 3 gathered 2 times, expected once"),
	REFUSED(KVP_EPEER, told, "rank 1 on HOST failed: no memory there"),
	REFUSED(KVP_EPEER, told_twice, "rank 1 on HOST failed: the lower"),
	REFUSED(KVP_EPEER, told_nothing, "a process failed: out of memory"),
	REFUSED(KVP_EPEER, code_large, "rank 1 on HOST failed: why"),

	{ .name = "two nodes", .set = two_nodes, .state = KVP_PUBLISHED },
	{ .name = "the same GPU", .set = same_gpu, .exchange = KVP_EREFUSED,
	  .commit = KVP_EREFUSED, .state = KVP_UNWOUND,
	  .text = "ranks 0 and 1 use the same GPU, whose UUID ends in "
		  "2222-3333-4444-555555555555; give each its own, or allow "
		  "sharing" },
	{ .name = "the same GPU, allowed", .set = same_gpu_allowed,
	  .state = KVP_PUBLISHED },
	{ .name = "no UUIDs", .set = no_uuid, .state = KVP_PUBLISHED },
	{ .name = "a GPU that is not visible", .set = unseen_gpu,
	  .exchange = KVP_EREFUSED, .commit = KVP_EREFUSED,
	  .state = KVP_UNWOUND, .text = "rank 1 is on the GPU whose UUID ends "
	  "in 2222-3333-4444-555555555556; rank 0 imports from it and does "
	  "not see it: let every process see all GPUs of the node "
	  "(CUDA_VISIBLE_DEVICES)" },
	{ .name = "the same GPU elsewhere", .set = gpu_elsewhere,
	  .state = KVP_PUBLISHED },
	{ .name = "another user elsewhere", .set = two_nodes,
	  .first = user_elsewhere, .state = KVP_PUBLISHED },
	{ .name = "the wrong node", .set = two_nodes, .first = wrong_node,
	  .exchange = KVP_EREFUSED, .commit = KVP_EREFUSED,
	  .state = KVP_UNWOUND, .text = "rank 0 is on node a, rank 1 on "
	  "node b; the plan has ranks 0 to 1 on one node" },
	{ .name = "one node for two", .set = two_nodes, .first = one_node,
	  .exchange = KVP_EREFUSED, .commit = KVP_EREFUSED,
	  .state = KVP_UNWOUND, .text = "ranks 0 and 2 are both on node a; "
	  "the plan has 2 ranks on a node" },

#define IN_DOUBT(how, says)						\
	{ .name = #how, .second = how, .commit = KVP_EDOUBT,		\
	  .state = KVP_IN_DOUBT, .text = says }
	IN_DOUBT(missing_2, DOUBT("1", "1")),
	IN_DOUBT(all_missing_2, DOUBT("3", "1")),
	IN_DOUBT(cut_2, DOUBT("1", "1")),
	IN_DOUBT(first_again, DOUBT("1", "1")),
	IN_DOUBT(all_first_again, DOUBT("3", "1")),
	IN_DOUBT(stale, DOUBT("1", "1")),
	IN_DOUBT(other_share, DOUBT("1", "1")),
	IN_DOUBT(order_2, DOUBT("2", "2")),
	IN_DOUBT(none_2, DOUBT("3", "1")),
	IN_DOUBT(fewer_2, DOUBT("1", "2")),
	IN_DOUBT(own_missing, DOUBT("1", "0")),
	IN_DOUBT(own_twice_2, DOUBT("1", "1")),
	{ .name = "more_2", .second = more_2, .state = KVP_PUBLISHED },
#define UNWOUND(how, says)						\
	{ .name = #how, .second = how, .commit = KVP_EPEER,		\
	  .state = KVP_UNWOUND, .text = says }
	UNWOUND(told_2, "rank 1 on HOST failed: map: broken"),
	UNWOUND(told_and_missing, "rank 1 on HOST failed: map: broken; "
		"nothing came from rank 2 on HOST"),
	UNWOUND(blamed, "rank 2 on HOST failed: map: broken"),
	UNWOUND(told_of_self, "rank 0 on HOST failed: forged"),
	{ .name = "contradiction", .first = told, .second = contradiction,
	  .exchange = KVP_EPEER, .commit = KVP_EPEER, .state = KVP_UNWOUND,
	  .text = "rank 1 on HOST failed: no memory there" },
	{ .name = "all contradict", .first = told, .second = all_contradict,
	  .exchange = KVP_EPEER, .commit = KVP_EPEER, .state = KVP_UNWOUND,
	  .text = "rank 1 on HOST failed: no memory there" },
};
#define CASES (sizeof(cases) / sizeof(*cases))

/* --- running them --- */

static int (*host_device)(struct kvp_backend *b, uint32_t device,
			  struct kvp_device_info *info, struct kvp_error *err);

/* The host's devices have no UUIDs. */
static int device_with_uuid(struct kvp_backend *b, uint32_t device,
			    struct kvp_device_info *info,
			    struct kvp_error *err)
{
	int code = host_device(b, device, info, err);
	uint32_t i;

	for (i = 0; i < scene.count; i++)
		if (scene.backend[i] == b && scene.gpu[i])
			strcpy(info->uuid, scene.gpu[i]);
	return code;
}

/* But one. */
static int see_all(struct kvp_backend *b, const char *uuid, bool *visible,
		       struct kvp_error *err)
{
	(void)b, (void)err;
	*visible = strcmp(uuid, "2222-3333-4444-555555555556") != 0;
	return KVP_OK;
}

static void begin(uint32_t i)
{
	const struct kvp_share_options o = {
		.realize = { .first_rank = i, .nranks = 1 },
		.node = scene.node[i], .share_gpu = scene.share_gpu,
	};
	struct kvp_backend **b = &scene.backend[i];
	struct kvp_error err = { 0 };

	expect(!kvp_backend_host(b, 1, 4096, &err), "%s", err.text);
	host_device = (*b)->device.device;
	(*b)->device.device = device_with_uuid;
	(*b)->device.visible = see_all;
	expect(!kvp_share_begin(&scene.share[i], &scene.planned->plan,
				scene.planned->verdict, *b, &o,
				&scene.first[i], &err), "%s", err.text);
}

static void end(void)
{
	uint32_t i;

	for (i = 0; i < scene.count; i++) {
		expect(!kvp_share_free(scene.share[i], NULL), "not freed");
		kvp_backend_close(scene.backend[i]);
	}
}

/* The pattern has HOST where the text has this host. */
static void check_text(const char *pattern, const char *text)
{
	char want[KVP_ERROR_MAX] = "";
	const char *at;
	size_t used;

	while (pattern && (at = strstr(pattern, "HOST"))) {
		used = strlen(want);
		snprintf(want + used, sizeof(want) - used, "%.*s%s",
			 (int)(at - pattern), pattern, host);
		pattern = at + 4;
	}
	used = strlen(want);
	snprintf(want + used, sizeof(want) - used, "%s",
		 pattern ? pattern : "");
	expect(!fnmatch(want, text, 0), "says '%s', expected '%s'", text,
	       want);
}

static void call_first(const struct trial *t)
{
	struct kvp_share *s = scene.share[0];
	struct kvp_error err = { 0 }, end_err = { 0 };
	enum kvp_state state;
	int code = kvp_share_exchange(s, scene.first, scene.nfirst,
				      &scene.second[0], &err);
	struct share_blob second = open_blob(&scene.second[0], 2);

	expect(code == t->exchange, "the exchange: %s, expected %s: %s",
	       kvp_code_name(code), kvp_code_name(t->exchange), err.text);
	expect(second.code == code, "the second blob has another code");
	expect(!code || !strcmp(second.text, err.text),
	       "the second blob has another text");
	if (t->second)
		t->second();
	code = kvp_share_commit(s, scene.second, scene.nsecond, &end_err);
	state = kvp_share_state(s);
	expect(code == t->commit, "the commit: %s, expected %s: %s",
	       kvp_code_name(code), kvp_code_name(t->commit), end_err.text);
	expect(state == t->state, "%s, expected %s", kvp_state_name(state),
	       kvp_state_name(t->state));
	expect(!(state == KVP_PUBLISHED) == !kvp_share_realization(s) &&
	       !(state == KVP_PUBLISHED) == !kvp_share_plane(s, 0, 0),
	       "addresses are told, or not, against the state");
	if (t->text)
		check_text(t->text, t->exchange ? err.text : end_err.text);
}

static void run_case(size_t index)
{
	const struct trial *t = &cases[index];
	uint64_t before = launch_count_open();
	struct kvp_share_blob first[PROCESSES];
	uint32_t i;
	int code;

	name_trial("blobs: %s", t->name);
	memset(&scene, 0, sizeof(scene));
	scene.planned = &three;
	scene.count = 3;
	if (t->set)
		t->set();
	for (i = 0; i < scene.count; i++)
		begin(i);
	scene.nfirst = scene.nsecond = scene.count;
	memcpy(first, scene.first, sizeof(first));
	if (t->first)
		t->first();
	/* The others get what was given, so theirs are good if that is. */
	for (i = 1; i < scene.count && !scene.only_first; i++) {
		code = kvp_share_exchange(scene.share[i], first, scene.count,
					  &scene.second[i], NULL);
		expect(!code || (t->exchange && !t->first),
		       "process %u fails", i);
	}
	call_first(t);
	end();
	expect(launch_count_open() == before, "something is left open");
}

/* Without memory there is no share; the other calls take that. */
static void check_null(void)
{
	struct kvp_share_blob blob;
	struct kvp_error err = { 0 };
	struct share_blob b;

	name_trial("blobs: no share");
	expect(kvp_share_exchange(NULL, NULL, 0, &blob, &err) == KVP_ENOMEM,
	       "the exchange: %s", err.text);
	b = open_blob(&blob, 2);
	expect(b.code == KVP_ENOMEM && !strcmp(b.text, "out of memory"),
	       "the blob says %d %s", b.code, b.text);
	expect(kvp_share_commit(NULL, NULL, 0, &err) == KVP_ENOMEM,
	       "the commit: %s", err.text);
	expect(!kvp_share_free(NULL, &err), "freeing: %s", err.text);
	expect(kvp_share_state(NULL) == KVP_UNWOUND &&
	       !kvp_share_realization(NULL) && !kvp_share_plane(NULL, 0, 0),
	       "it has a state, ranks or planes");
}

/* --- options that are not allowed --- */

#define TEN "0123456789"
#define LONG TEN TEN TEN TEN TEN TEN

static const struct start {
	const char *name;
	struct kvp_share_options options;
	int code;
	const char *text;
} starts[] = {
#define OPTIONS(...) { .realize = { __VA_ARGS__ } }
	{ "publish", OPTIONS(.nranks = 1, .publish = "/nowhere"), KVP_EINPUT,
	  "a process does not publish alone; kvp_capacity_join() writes the "
	  "file after all have published" },
	{ "no rank", OPTIONS(.nranks = 0), KVP_EINPUT,
	  "a process has 0 ranks; it can share 1 to 16" },
	{ "too many ranks", OPTIONS(.nranks = 17), KVP_EINPUT,
	  "a process has 17 ranks; it can share 1 to 16" },
	{ "another rank", OPTIONS(.first_rank = 7, .nranks = 1), KVP_EREFUSED,
	  "1 rank from rank 7 on cannot be realized: the plan has ranks 0 to "
	  "2" },
	{ "fabric", OPTIONS(.nranks = 1, .handle_type = KVP_HANDLE_FABRIC),
	  KVP_EREFUSED, "fabric handles are not passed on by this version, "
	  "which sends file descriptors" },
	{ "no name of the node", { .realize.nranks = 1, .node = "" },
	  KVP_EINPUT, "the node's name has 0 characters; 1 to 63 are allowed" },
	{ "a long name of the node", { .realize.nranks = 1,
	  .node = LONG "0123" }, KVP_EINPUT,
	  "the node's name has 64 characters; 1 to 63 are allowed" },
	{ "a name of two words", { .realize.nranks = 1, .node = "a b" },
	  KVP_EINPUT, "the node's name has character 0x20 at position 1; "
	  "printable ones but spaces are allowed" },
	{ "a long directory", { .realize.nranks = 1,
	  .directory = "/" LONG TEN TEN TEN }, KVP_EINPUT,
	  "the directory for sockets is too long: a socket's name would have "
	  "115 characters, the system allows 107" },
	{ "no directory", { .realize.nranks = 1, .directory = "/nowhere" },
	  KVP_EIO, "/nowhere/kvplan-????????????????: bind: No such file or "
	  "directory" },
};
#define STARTS (sizeof(starts) / sizeof(*starts))

/* All calls answer the error, and the blobs tell it. */
static void run_start(const struct start *t)
{
	uint64_t before = launch_count_open();
	struct kvp_backend *b = NULL;
	struct kvp_share *s = NULL;
	struct kvp_share_blob blobs[2];
	struct kvp_error err = { 0 };
	struct share_blob read[2];

	name_trial("begin: %s", t->name);
	expect(!make_host(&b, 0, &err), "%s", err.text);
	expect(kvp_share_begin(&s, &three.plan, three.verdict, b, &t->options,
			       &blobs[0], &err) == t->code, "says %s",
	       err.text);
	check_text(t->text, err.text);
	expect(s && kvp_share_state(s) == KVP_UNWOUND, "not unwound");
	expect(kvp_share_exchange(s, &blobs[0], 1, &blobs[1], &err) ==
	       t->code, "the exchange says %s", err.text);
	expect(kvp_share_commit(s, &blobs[1], 1, &err) == t->code,
	       "the commit says %s", err.text);
	check_text(t->text, err.text);
	read[0] = open_blob(&blobs[0], 1);
	read[1] = open_blob(&blobs[1], 2);
	expect(read[0].code == t->code && read[1].code == t->code,
	       "the blobs have another code");
	check_text(t->text, read[1].text);
	expect(!kvp_share_free(s, &err), "freeing: %s", err.text);
	kvp_backend_close(b);
	expect(launch_count_open() == before, "something is left open");
}

static void run_trial(size_t index)
{
	if (index < CASES)
		run_case(index);
	else if (index < CASES + STARTS)
		run_start(&starts[index - CASES]);
	else
		check_null();
}

int main(void)
{
	gethostname(host, sizeof(host) - 1);
	make_planned(&three, GEOMETRY(16, 3, ""), KVP_MERGE_ROW);
	make_planned(&relabelled, GEOMETRY(32, 3, ""), KVP_MERGE_ROW);
	make_planned(&importing, GEOMETRY(16, 2, ",\"access\":{\"imports\":"
		     "[[1],[0]]}"), KVP_MERGE_ROW);
	make_planned(&four, GEOMETRY(16, 4, ",\"ranks_per_node\":2"),
		     KVP_MERGE_ROW);
	make_planned(&larger, GEOMETRY(16, 3, ",\"static\":[{\"name\":\"x\","
		     "\"bytes\":1,\"importers\":\"none\"}]"), KVP_MERGE_ROW);
	run_trials(1, CASES + STARTS + 1, run_trial);
	return close_trials();
}
