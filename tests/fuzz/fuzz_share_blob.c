/*
 * Any bytes as changes to the blobs of two processes that share a realization,
 * in both gathers.  Blobs that were changed on their way never make a process
 * publish; those that were made that way on purpose, with a good hash, are
 * taken or refused, and nothing is left.
 *
 * No rank imports from the other, so one process plays both.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/kvplan.h>

#include "fuzz/fuzz.h"
#include "share/blob.h"

uint64_t fuzz_chunks = 20000;

#define HASHED (KVP_SHARE_BYTES - 8)
#define CHANGES 4
/* Every input takes a realization; a part of them is enough. */
#define EVERY 4

static const char geometry[] =
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"fuzz\",\"granularity\":"
	"4096,\"pages\":1,\"page_tokens\":16,\"snapshot_rows\":0,"
	"\"execution_rows\":0,\"planes\":[{\"name\":\"a\",\"bytes_per_page\":"
	"2000}],\"ranks\":2,\"dcp_group_size\":1}";

static struct {
	struct kvp_plan plan;
	struct kvp_verdict *verdict;
	struct kvp_backend *backend;
	struct kvp_share *other;
	struct kvp_share_blob blobs[2];	/* of the other process */
} world;

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz_share_blob: %s\n", what);
	abort();
}

static struct kvp_share *begin(uint32_t rank, struct kvp_share_blob *blob)
{
	const struct kvp_share_options o = {
		.realize = { .first_rank = rank, .nranks = 1 },
	};
	struct kvp_share *s;

	must(!kvp_share_begin(&s, &world.plan, world.verdict, world.backend,
			      &o, blob, NULL), "cannot begin");
	return s;
}

static void prepare(void)
{
	struct kvp_geometry g = { 0 };
	struct kvp_share_blob all[2];
	struct kvp_share *s;

	must(!kvp_geometry_read(&g, "g", geometry, strlen(geometry), NULL) &&
	     !kvp_plan_make(&world.plan, &g, KVP_MERGE_ROW, NULL) &&
	     !kvp_verify(&world.plan, NULL, &world.verdict, NULL) &&
	     !kvp_backend_host(&world.backend, 1, 4096, NULL), "a plan");
	kvp_geometry_release(&g);
	s = begin(0, &all[0]);
	world.other = begin(1, &all[1]);
	world.blobs[0] = all[1];
	must(!kvp_share_exchange(world.other, all, 2, &world.blobs[1], NULL),
	     "the other process fails");
	kvp_share_free(s, NULL);
}

/* Both gathers: as given, and as they are delivered. */
struct gathers {
	struct kvp_share_blob given[2][2], got[2][2];
	bool hashed;		/* a changed blob has a good hash again */
};

static void rehash(struct kvp_share_blob *blob)
{
	uint64_t hash = share_hash(blob->bytes, HASHED);
	unsigned i;

	for (i = 0; i < 8; i++)
		blob->bytes[HASHED + i] = (unsigned char)(hash >> 8 * i);
}

/* Four bytes are a change: which blob, where, what, and whether it is hidden;
   hashed, since those of texts are alike. */
static void change(struct gathers *g, const uint8_t *data, unsigned gather)
{
	uint64_t bits = share_hash(data, 4);
	struct kvp_share_blob *blob = &g->got[gather][bits >> 33 & 1];
	size_t at = (size_t)(bits % KVP_SHARE_BYTES);

	if ((bits >> 32 & 1) != gather)
		return;
	blob->bytes[at] ^= (unsigned char)(bits >> 40);
	if (bits >> 60 == 0)
		memset(blob->bytes + at, data[3], KVP_SHARE_BYTES - at);
	if (bits >> 34 & 1) {
		rehash(blob);
		g->hashed = true;
	}
}

static void deliver(struct gathers *g, unsigned gather, const uint8_t *data,
		    size_t size)
{
	size_t i;

	memcpy(g->got[gather], g->given[gather], sizeof(g->got[gather]));
	for (i = 0; i + 4 <= size && i < 4 * CHANGES; i += 4)
		change(g, data + i, gather);
}

static bool is_same(const struct gathers *g, unsigned gather)
{
	return !memcmp(g->got[gather], g->given[gather],
		       sizeof(g->got[gather]));
}

static void check_error(int code, const struct kvp_error *err)
{
	must(!code || (err->code == code && *err->text &&
		       strlen(err->text) < sizeof(err->text)),
	     "an error without a text");
}

/* The other process's second blob is of this joint realization. */
static void join_other(struct gathers *g)
{
	struct share_blob own, other;
	struct kvp_error why;

	must(!share_blob_read(&g->given[1][0], 2, &own, &why) &&
	     !share_blob_read(&world.blobs[1], 2, &other, &why),
	     "a second blob cannot be read");
	other.share = own.share;
	share_blob_write(&other, &g->given[1][1]);
}

static void run(struct kvp_share *s, struct gathers *g, const uint8_t *data,
		size_t size)
{
	struct kvp_error err = { 0 };
	int first, second;

	deliver(g, 0, data, size);
	first = kvp_share_exchange(s, g->got[0], 2, &g->given[1][0], &err);
	check_error(first, &err);
	must(!first || g->hashed || !is_same(g, 0), "refused what was given");
	must(first || g->hashed || is_same(g, 0), "took what was changed");
	join_other(g);
	deliver(g, 1, data, size);
	second = kvp_share_commit(s, g->got[1], 2, &err);
	check_error(second, &err);
	must((kvp_share_state(s) == KVP_PUBLISHED) == !second,
	     "the state is not what was answered");
	must(!second || g->hashed || !is_same(g, 0) || !is_same(g, 1),
	     "not published");
	must(second || g->hashed || (is_same(g, 0) && is_same(g, 1)),
	     "published in spite of changes");
	must(second || !first, "published after a failure");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gathers g;
	struct kvp_share *s;

	if (share_hash(data, size) % EVERY)
		return 0;
	if (!world.backend)
		prepare();
	g.hashed = false;
	s = begin(0, &g.given[0][0]);
	g.given[0][1] = world.blobs[0];
	/* A text's first bytes are the same in all: also take the middle. */
	if (size > 8)
		data += size / 2 / 4 * 4, size -= size / 2 / 4 * 4;
	run(s, &g, data, size);
	must(!kvp_share_free(s, NULL), "something is left");
	return 0;
}
