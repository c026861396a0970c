/*
 * Shared realizations: the calls between the gathers.
 * tests/model/exchange.pml is the model of it.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "model/fingerprint.h"
#include "share/state.h"

/* Read a file's first bytes; KVP_EIO unless all of them are there. */
static int read_bytes(const char *path, void *bytes, size_t len,
		      struct kvp_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, bytes, len);

	if (got != (ssize_t)len)
		kvp_error_set(err, KVP_EIO, "%s: %s", path, got < 0 ?
			      system_text(errno).text : "it is too short");
	if (fd >= 0)
		close(fd);
	return got == (ssize_t)len ? KVP_OK : KVP_EIO;
}

int share_random(void *bytes, size_t len, struct kvp_error *err)
{
	return read_bytes("/dev/urandom", bytes, len, err);
}

/* State where this process is: node, host and user. */
static int fill_origin(struct share_blob *self, const char *node,
		       struct kvp_error *err)
{
	size_t i, len = node ? strlen(node) : 36;
	char host[256] = "";
	int code = KVP_OK;

	self->uid = (uint32_t)geteuid();
	if (gethostname(host, sizeof(host) - 1))
		host[0] = '\0';
	memcpy(self->host, host, sizeof(self->host) - 1);
	for (i = 0; i < strlen(self->host); i++)
		if (self->host[i] < '!' || self->host[i] > '~')
			self->host[i] = '?';
	if (!len || len > KVP_NODE_MAX)
		return kvp_error_set(err, KVP_EINPUT, "the node's name has "
			"%zu characters; 1 to %d are allowed", len,
			KVP_NODE_MAX);
	if (node)
		memcpy(self->node, node, len);
	else
		code = read_bytes("/proc/sys/kernel/random/boot_id",
				  self->node, len, err);
	for (i = 0; i < len && !code; i++)
		if (self->node[i] < '!' || self->node[i] > '~')
			code = kvp_error_set(err, KVP_EINPUT, "the node's name "
				"has character 0x%02x at position %zu; "
				"printable ones but spaces are allowed",
				(unsigned char)self->node[i], i);
	return code;
}

static int check_options(const struct kvp_share_options *o,
			 struct kvp_error *err)
{
	if (o->realize.publish)
		return kvp_error_set(err, KVP_EINPUT, "a process does not "
			"publish alone; kvp_capacity_join() writes the file "
			"after all have published");
	if (!o->realize.nranks || o->realize.nranks > KVP_SHARE_RANKS_MAX)
		return kvp_error_set(err, KVP_EINPUT, "a process has %u ranks; "
			"it can share 1 to %d", o->realize.nranks,
			KVP_SHARE_RANKS_MAX);
	if (o->realize.handle_type == KVP_HANDLE_FABRIC)
		return kvp_error_set(err, KVP_EREFUSED, "fabric handles are "
			"not passed on by this version, which sends file "
			"descriptors");
	return KVP_OK;
}

/* Read "GPU-" and 16 bytes as 8-4-4-4-12 digits. */
static void read_uuid(const char *uuid, struct share_gpu *gpu)
{
	unsigned byte[16];
	size_t i;

	if (sscanf(uuid, "GPU-%2x%2x%2x%2x-%2x%2x-%2x%2x-%2x%2x-"
		   "%2x%2x%2x%2x%2x%2x", &byte[0], &byte[1], &byte[2],
		   &byte[3], &byte[4], &byte[5], &byte[6], &byte[7], &byte[8],
		   &byte[9], &byte[10], &byte[11], &byte[12], &byte[13],
		   &byte[14], &byte[15]) != 16)
		return;
	for (i = 0; i < sizeof(gpu->end); i++)
		gpu->end[i] = (unsigned char)byte[16 - sizeof(gpu->end) + i];
}

static void fill_gpus(struct kvp_share *s)
{
	uint32_t i;

	for (i = 0; i < s->r->nranks; i++)
		read_uuid(s->r->devices[i].uuid, &s->self.gpus[i]);
}

static int begin(struct kvp_share *s, const struct kvp_verdict *verdict,
		 struct kvp_backend *backend,
		 const struct kvp_share_options *options, struct kvp_error *err)
{
	struct kvp_realize_options o = options->realize;
	int code = check_options(options, err);

	if (o.handle_type == KVP_HANDLE_NONE)
		o.handle_type = KVP_HANDLE_POSIX_FD;
	if (!code)
		code = fill_origin(&s->self, options->node, err);
	if (!code)
		code = share_random(s->self.token, sizeof(s->self.token), err);
	if (!code)
		code = realization_begin(&s->r, s->plan, verdict, backend, &o,
					 true, err);
	if (code)
		return code;
	s->state = s->r->ranks[0].state;
	s->self.plan = plan_fingerprint(s->plan);
	s->self.handle_type = (uint32_t)o.handle_type;
	strcpy(s->r->node, s->self.node);
	fill_gpus(s);
	return share_listen(s, options->directory, err);
}

/* This process has failed: undo, keep the error, and fill the blob. */
static int fail(struct kvp_share *s, int code, struct kvp_error *err)
{
	share_close(s);
	if (s->r)
		code = realization_unwind(s->r, code, err);
	s->state = KVP_UNWOUND;
	s->cause = *err;
	s->cause.code = code;
	return code;
}

/* Write the blob of a phase. */
static void fill_blob(const struct kvp_share *s, uint32_t phase,
		      struct kvp_share_blob *out)
{
	struct share_blob b = s->self;
	size_t i, end = sizeof(b.text) - 1;

	b.phase = phase;
	b.code = s->cause.code;
	b.share = s->share_id;
	b.follows = s->follows;
	memcpy(b.text, s->cause.text, end);
	if (strlen(s->cause.text) > end)
		memcpy(b.text + end - 3, "...", 3);
	for (i = 0; b.text[i]; i++)
		if ((unsigned char)b.text[i] < ' ' || b.text[i] == 0x7f)
			b.text[i] = ' ';
	share_blob_write(&b, out);
}

/* What a process without memory for more gives. */
static int fill_nomem(uint32_t phase, struct kvp_share_blob *out,
		      struct kvp_error *err)
{
	const struct share_blob b = {
		.phase = phase, .code = KVP_ENOMEM, .text = "out of memory",
	};

	share_blob_write(&b, out);
	return kvp_error_nomem(err);
}

int kvp_share_begin(struct kvp_share **out, const struct kvp_plan *plan,
		    const struct kvp_verdict *verdict,
		    struct kvp_backend *backend,
		    const struct kvp_share_options *options,
		    struct kvp_share_blob *blob, struct kvp_error *err)
{
	struct kvp_error own;
	struct kvp_share *s;
	int code;

	assert(out && plan && verdict && backend && options && blob);
	err = err ? err : &own;
	s = calloc(1, sizeof(*s));
	*out = s;
	if (!s)
		return fill_nomem(1, blob, err);
	s->plan = plan;
	s->listen = -1;
	s->share_gpu = options->share_gpu;
	s->deadline = options->deadline ? options->deadline :
					  KVP_SHARE_DEADLINE;
	s->self.first_rank = options->realize.first_rank;
	s->self.nranks = options->realize.nranks;
	code = begin(s, verdict, backend, options, err);
	if (code)
		code = fail(s, code, err);
	fill_blob(s, 1, blob);
	return code;
}

/* All processes of a joint realization, and no others, have this number. */
static uint64_t find_share_id(const struct kvp_share *s)
{
	uint64_t id = 0;
	size_t i;

	for (i = 0; i < s->count; i++)
		id ^= share_hash(s->blobs[i].token, SHARE_TOKEN_BYTES);
	return id ? id : 1;
}

static int exchange(struct kvp_share *s, const struct kvp_share_blob *blobs,
		    size_t count, struct kvp_error *err)
{
	int code = share_compare(s, blobs, count, err);

	if (!code) {
		s->share_id = find_share_id(s);
		s->r->share_id = s->share_id;
		code = share_run(s, err);
	}
	if (!code)
		code = realization_read_headroom(s->r, err);
	if (code)
		return code;
	share_fill_records(s);
	return KVP_OK;
}

int kvp_share_exchange(struct kvp_share *s, const struct kvp_share_blob *blobs,
		       size_t count, struct kvp_share_blob *blob,
		       struct kvp_error *err)
{
	struct kvp_error own;
	int code;

	assert((blobs || !count) && blob);
	err = err ? err : &own;
	if (!s)
		return fill_nomem(2, blob, err);
	assert(!s->blobs);	/* one exchange */
	if (s->cause.code) {
		*err = s->cause;
		code = err->code;
	} else {
		code = exchange(s, blobs, count, err);
		if (code)
			code = fail(s, code, err);
	}
	fill_blob(s, 2, blob);
	return code;
}

/* What the second blobs say together. */
struct outcome {
	const struct share_blob *failed; /* that failed by itself, if any */
	size_t missing;			/* blobs that did not arrive */
	const struct share_blob *lost;	/* the first blob of the first of
					   those, of another process if any */
};

/* This second blob is of the process that gave the first one, for this joint
   realization. */
static bool is_of_process(const struct kvp_share *s, size_t i,
			  const struct share_blob *second)
{
	return !memcmp(second->token, s->blobs[i].token, SHARE_TOKEN_BYTES) &&
	       (second->code || second->share == s->share_id);
}

/*
 * Read the second blobs.  A blob that cannot be read, or is another
 * process's, does not say that its process stands: it counts as missing.
 */
static struct outcome read_outcome(const struct kvp_share *s,
				   const struct kvp_share_blob *blobs,
				   size_t count)
{
	struct share_blob *second = s->blobs + s->count;
	struct outcome o = { NULL, 0, NULL };
	struct kvp_error why;
	bool by_itself;
	size_t i;

	for (i = 0; i < s->count; i++) {
		if (i >= count || share_blob_read(&blobs[i], 2, &second[i], &why)
		    != SHARE_READ || !is_of_process(s, i, &second[i])) {
			o.missing++;
			if (!o.lost || o.lost == &s->blobs[s->own])
				o.lost = &s->blobs[i];
			continue;
		}
		by_itself = !second[i].follows;
		if (second[i].code && (!o.failed || (by_itself &&
		    o.failed->follows)))
			o.failed = &second[i];
	}
	return o;
}

/* Another process failed, or this one and others with it.  A process from
   which nothing came is the likely cause where the others blame a peer. */
static int decide_failed(struct kvp_share *s, const struct outcome *o,
			 struct kvp_error *err)
{
	char who[SHARE_WHO_MAX], lost[SHARE_WHO_MAX + 32] = "";
	int code = s->cause.code ? s->cause.code : KVP_EPEER;

	share_describe(o->failed, who, sizeof(who));
	if (o->lost) {
		strcpy(lost, "; nothing came from ");
		share_describe(o->lost, lost + strlen(lost), SHARE_WHO_MAX);
	}
	kvp_error_set(err, code, "%s failed: %s%s", who, o->failed->text,
		      lost);
	return s->cause.code ? code : fail(s, code, err);
}

static int decide(struct kvp_share *s, const struct outcome *o,
		  struct kvp_error *err)
{
	char who[SHARE_WHO_MAX];

	if (o->failed)
		return decide_failed(s, o, err);
	if (s->cause.code) {
		*err = s->cause;
		return err->code;
	}
	if (!o->missing) {
		realization_set_state(s->r, KVP_PUBLISHED);
		s->state = KVP_PUBLISHED;
		return KVP_OK;
	}
	realization_set_state(s->r, KVP_IN_DOUBT);
	s->state = KVP_IN_DOUBT;
	share_describe(o->lost, who, sizeof(who));
	return kvp_error_set(err, KVP_EDOUBT, "all was well here, but %zu of "
		"%zu processes did not say so, first %s: others may serve; "
		"end the job", o->missing, s->count, who);
}

int kvp_share_commit(struct kvp_share *s, const struct kvp_share_blob *blobs,
		     size_t count, struct kvp_error *err)
{
	struct kvp_error own;
	struct outcome o;
	int code;

	assert(blobs || !count);
	err = err ? err : &own;
	if (!s)
		return kvp_error_nomem(err);
	assert(s->blobs || s->cause.code);	/* after the exchange */
	assert(!s->committed);
	s->committed = true;
	if (!s->blobs) {
		*err = s->cause;
		return err->code;
	}
	o = read_outcome(s, blobs, count);
	code = decide(s, &o, err);
	share_close(s);
	return code;
}

int kvp_share_free(struct kvp_share *s, struct kvp_error *err)
{
	int code;

	if (!s)
		return KVP_OK;
	share_close(s);
	code = kvp_realization_free(s->r, err);
	free(s->peers);
	free(s->strangers);
	free(s->blobs);
	free(s);
	return code;
}

enum kvp_state kvp_share_state(const struct kvp_share *s)
{
	return s ? s->state : KVP_UNWOUND;
}

const struct kvp_realization *
kvp_share_realization(const struct kvp_share *s)
{
	return s && s->state == KVP_PUBLISHED ? s->r : NULL;
}

uint64_t kvp_share_plane(const struct kvp_share *s, uint32_t rank,
			 uint32_t plane)
{
	const struct kvp_realization *r = kvp_share_realization(s);
	const struct import *m;

	if (!r || plane >= r->plan->geometry.nplanes)
		return 0;
	m = share_find_import(r, rank);
	return m ? m->planes[plane] : kvp_realization_plane(r, rank, plane);
}
