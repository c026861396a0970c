/*
 * Do the processes fit together?  Every blob has to state the same plan; the
 * ranks have to be there once each, on the nodes where the plan has them; and
 * no two ranks may use one GPU.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text_list.h"
#include "model/plan_view.h"
#include "share/state.h"

void share_describe(const struct share_blob *b, char *text, size_t size)
{
	const char *on = *b->host ? " on " : "";

	if (!b->nranks)
		snprintf(text, size, "a process%s%s", on, b->host);
	else if (b->nranks == 1)
		snprintf(text, size, "rank %u%s%s", b->first_rank, on, b->host);
	else
		snprintf(text, size, "ranks %llu to %llu%s%s",
			 (ull)b->first_rank,
			 (ull)b->first_rank + b->nranks - 1, on, b->host);
}

static int read_blobs(struct kvp_share *s, const struct kvp_share_blob *blobs,
		      struct kvp_error *err)
{
	struct kvp_error why = { 0 };
	size_t i;
	int code = KVP_OK;

	/* All are read, since the second blobs are compared with them. */
	for (i = 0; i < s->count; i++) {
		if (share_blob_read(&blobs[i], 1, &s->blobs[i], &why) !=
		    SHARE_READ && !code)
			code = kvp_error_set(err, why.code, "blob %zu of %zu: "
					     "%.300s", i + 1, s->count, why.text);
	}
	return code;
}

/* Find the failed process with the lowest rank. */
static int find_failed(struct kvp_share *s, struct kvp_error *err)
{
	const struct share_blob *b, *failed = NULL;
	char who[SHARE_WHO_MAX];
	size_t i;

	for (i = 0; i < s->count; i++) {
		b = &s->blobs[i];
		if (b->code && i != s->own &&
		    (!failed || b->first_rank < failed->first_rank))
			failed = b;
	}
	if (!failed)
		return KVP_OK;
	s->follows = true;
	share_describe(failed, who, sizeof(who));
	return kvp_error_set(err, KVP_EPEER, "%s failed: %s", who,
			     failed->text);
}

static int find_self(struct kvp_share *s, struct kvp_error *err)
{
	size_t i, found = 0;

	for (i = 0; i < s->count; i++)
		if (!memcmp(s->blobs[i].token, s->self.token,
			    SHARE_TOKEN_BYTES)) {
			s->own = (uint32_t)i;
			found++;
		}
	if (found == 1)
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED, "the blob of this process is "
			     "among the %zu gathered %zu times, expected once",
			     s->count, found);
}

static int check_process(const struct kvp_share *s, const struct share_blob *b,
			 struct kvp_error *err)
{
	const struct kvp_geometry *g = &s->plan->geometry;
	char who[SHARE_WHO_MAX];

	share_describe(b, who, sizeof(who));
	if (b->plan != s->self.plan)
		return kvp_error_set(err, KVP_EREFUSED, "%s has the plan "
			"%016llx, this process %016llx; give the same plan to "
			"all", who, (ull)b->plan, (ull)s->self.plan);
	if (!plan_has_ranks(s->plan, b->first_rank, b->nranks))
		return kvp_error_set(err, KVP_EREFUSED, "there is a process "
			"with %s; the plan has ranks 0 to %llu", who,
			(ull)g->ranks - 1);
	if (b->handle_type != s->self.handle_type)
		return kvp_error_set(err, KVP_EREFUSED, "%s has handles of "
			"kind %u, this process of kind %u", who,
			b->handle_type, s->self.handle_type);
	if (b->uid != s->self.uid && !strcmp(b->node, s->self.node))
		return kvp_error_set(err, KVP_EREFUSED, "%s runs as user %u, "
			"this process as user %u; run all as one user", who,
			b->uid, s->self.uid);
	return KVP_OK;
}

static int check_missing(const struct share_blob *const *holder,
			 uint64_t ranks, struct kvp_error *err)
{
	struct text_list list;
	char text[200];
	uint64_t i, missing = 0;

	text_list_begin(&list, text, sizeof(text), ", ");
	for (i = 0; i < ranks; i++)
		if (!holder[i]) {
			text_list_add(&list, 1, "%llu", (ull)i);
			missing++;
		}
	text_list_end(&list);
	if (!missing)
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED, "no process has rank%s %s of "
			     "the plan's %llu", missing == 1 ? "" : "s", text,
			     (ull)ranks);
}

/* Each rank once; holder[rank] becomes its process. */
static int check_ranks(const struct kvp_share *s,
		       const struct share_blob **holder, struct kvp_error *err)
{
	char one[SHARE_WHO_MAX], other[SHARE_WHO_MAX];
	const struct share_blob *b;
	uint32_t rank;
	size_t i;

	for (i = 0; i < s->count; i++) {
		b = &s->blobs[i];
		for (rank = b->first_rank; rank - b->first_rank < b->nranks;
		     rank++) {
			if (!holder[rank]) {
				holder[rank] = b;
				continue;
			}
			share_describe(holder[rank], one, sizeof(one));
			share_describe(b, other, sizeof(other));
			return kvp_error_set(err, KVP_EREFUSED, "rank %u is "
				"there twice: in blob %zu (%s) and in blob %zu "
				"(%s)", rank, (size_t)(holder[rank] - s->blobs) + 1,
				one, i + 1, other);
		}
	}
	return check_missing(holder, s->plan->geometry.ranks, err);
}

/* All ranks of a node of the plan are on one node, and no others are. */
static int check_nodes(const struct kvp_share *s,
		       const struct share_blob *const *holder,
		       struct kvp_error *err)
{
	uint64_t per_node = s->plan->geometry.ranks_per_node;
	uint64_t ranks = s->plan->geometry.ranks, rank, first;

	for (rank = 0; rank < ranks; rank++) {
		first = rank / per_node * per_node;
		if (strcmp(holder[rank]->node, holder[first]->node))
			return kvp_error_set(err, KVP_EREFUSED, "rank %llu is "
				"on node %s, rank %llu on node %s; the plan has "
				"ranks %llu to %llu on one node", (ull)first,
				holder[first]->node, (ull)rank,
				holder[rank]->node, (ull)first,
				(ull)(first + per_node - 1));
		for (first = 0; first < rank / per_node * per_node;
		     first += per_node)
			if (!strcmp(holder[rank]->node, holder[first]->node))
				return kvp_error_set(err, KVP_EREFUSED, "ranks "
					"%llu and %llu are both on node %s; the "
					"plan has %llu ranks on a node",
					(ull)first, (ull)rank,
					holder[rank]->node, (ull)per_node);
	}
	return KVP_OK;
}

static const struct share_gpu *
gpu_of(const struct share_blob *const *holder, uint64_t rank)
{
	return &holder[rank]->gpus[rank - holder[rank]->first_rank];
}

struct uuid_text {
	char text[32];
};

/* The end of a UUID as nvidia-smi prints it; "" if there is none. */
static struct uuid_text gpu_text(const struct share_gpu *gpu)
{
	static const struct share_gpu none;
	const unsigned char *b = gpu->end;
	struct uuid_text t = { "" };

	if (memcmp(gpu, &none, sizeof(none)))
		snprintf(t.text, sizeof(t.text), "%02x%02x-%02x%02x-%02x%02x-"
			 "%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
			 b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11]);
	return t;
}

/* The GPUs of this process's node. */
static int check_gpus(const struct kvp_share *s,
		      const struct share_blob *const *holder,
		      struct kvp_error *err)
{
	uint64_t per_node = s->plan->geometry.ranks_per_node;
	uint64_t first = s->self.first_rank / per_node * per_node;
	uint64_t rank, other;
	struct uuid_text uuid;

	for (rank = first; rank < first + per_node && !s->share_gpu; rank++) {
		uuid = gpu_text(gpu_of(holder, rank));
		for (other = first; other < rank && *uuid.text; other++)
			if (!memcmp(gpu_of(holder, rank),
				    gpu_of(holder, other),
				    sizeof(struct share_gpu)))
				return kvp_error_set(err, KVP_EREFUSED,
					"ranks %llu and %llu use the same GPU, "
					"whose UUID ends in %s; give each its "
					"own, or allow sharing", (ull)other,
					(ull)rank, uuid.text);
	}
	return KVP_OK;
}

/* Whether a process can import from a GPU that it does not see has not been
   measured. */
static int check_visible(struct kvp_share *s,
			 const struct share_blob *const *holder,
			 struct kvp_error *err)
{
	struct kvp_realization *r = s->r;
	struct kvp_backend *b = r->watch.inner;
	struct uuid_text uuid;
	bool visible = true;
	uint32_t i, rank;
	int code;

	for (i = 0; i < r->nimports; i++) {
		rank = r->imports[i].rank;
		uuid = gpu_text(gpu_of(holder, rank));
		code = *uuid.text ?
			b->device.visible(b, uuid.text, &visible, err) :
			KVP_OK;
		if (code)
			return code;
		if (!visible)
			return kvp_error_set(err, KVP_EREFUSED, "rank %u is on "
				"the GPU whose UUID ends in %s; rank %u imports "
				"from it and does not see it: let every process "
				"see all GPUs of the node "
				"(CUDA_VISIBLE_DEVICES)", rank, uuid.text,
				s->self.first_rank);
	}
	return KVP_OK;
}

static int check_all(struct kvp_share *s, const struct share_blob **holder,
		     struct kvp_error *err)
{
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < s->count && !code; i++)
		code = check_process(s, &s->blobs[i], err);
	if (!code)
		code = check_ranks(s, holder, err);
	if (!code)
		code = check_nodes(s, holder, err);
	if (!code)
		code = check_gpus(s, holder, err);
	return code ? code : check_visible(s, holder, err);
}

int share_compare(struct kvp_share *s, const struct kvp_share_blob *blobs,
		  size_t count, struct kvp_error *err)
{
	const struct share_blob **holder;
	int code;

	assert(!s->blobs);
	if (!count || count > KVP_RANKS_MAX)
		return kvp_error_set(err, KVP_EINPUT, "%zu blobs are gathered; "
				     "there can be 1 to %u", count,
				     (unsigned)KVP_RANKS_MAX);
	s->blobs = calloc(2 * count, sizeof(*s->blobs));
	holder = calloc(s->plan->geometry.ranks, sizeof(const void *));
	s->count = count;
	code = s->blobs && holder ? KVP_OK : kvp_error_nomem(err);
	if (!code)
		code = read_blobs(s, blobs, err);
	if (!code)
		code = find_self(s, err);
	if (!code)
		code = find_failed(s, err);
	if (!code)
		code = check_all(s, holder, err);
	free(holder);
	return code;
}
