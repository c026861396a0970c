/*
 * Passing chunks between the processes of a node: one loop without threads,
 * which gives to importers and gets from owners at the same time.
 *
 * The kernel counts the descriptors that are on their way for each user, and
 * compares with the sender's limit of open files.  So a process has one batch
 * on its way at a time, which is smaller than that limit divided by the
 * processes of the node; an importer acknowledges it as soon as it has the
 * descriptors, and imports then.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/u64.h"
#include "share/state.h"

/* Milliseconds between looking for a signal, and before a message that the
   kernel did not take is sent again. */
#define LOOK 100
#define AGAIN 5

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- the order in which items come --- */

/* The item behind this one; chunks are imported all or none. */
static uint64_t item_behind(const struct kvp_share *s, uint64_t item)
{
	return item < s->plan->geometry.nstatics ? item + 1 :
						   share_count_items(s);
}

/* Go on to the next item, from *rank and *item on, that a process with ranks
   of `to` imports from one with ranks of `from`. */
static void find_next(const struct kvp_share *s, const struct share_blob *from,
		      const struct share_blob *to, uint32_t *rank,
		      uint64_t *item)
{
	while (*rank < from->nranks) {
		if (*item == share_count_items(s)) {
			*item = 0;
			++*rank;
		} else if (share_is_imported(s, from->first_rank + *rank,
					     *item, to->first_rank,
					     to->nranks)) {
			return;
		} else {
			*item = item_behind(s, *item);
		}
	}
}

static bool imports_any(const struct kvp_share *s,
			const struct share_blob *from,
			const struct share_blob *to)
{
	uint32_t rank = 0;
	uint64_t item = 0;

	find_next(s, from, to, &rank, &item);
	return rank < from->nranks;
}

static bool all_have_come(const struct peer *p)
{
	return !p->exports || p->rank == p->blob->nranks;
}

/* --- peers --- */

static int make_peers(struct kvp_share *s, struct kvp_error *err)
{
	struct peer p = { .fd = -1 };
	uint32_t i;

	s->peers = calloc(s->count, sizeof(*s->peers));
	if (!s->peers)
		return kvp_error_nomem(err);
	for (i = 0; i < s->count; i++) {
		if (i == s->own || strcmp(s->blobs[i].node, s->self.node))
			continue;
		p.blob = &s->blobs[i];
		p.index = i;
		p.exports = imports_any(s, p.blob, &s->self);
		p.imports = imports_any(s, &s->self, p.blob);
		if (!p.exports && !p.imports)
			continue;
		p.rank = 0;
		p.item = 0;
		find_next(s, p.blob, &s->self, &p.rank, &p.item);
		s->sender.first += i < s->own;
		s->peers[s->npeers++] = p;
	}
	return KVP_OK;
}

static uint64_t count_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint64_t count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* The most descriptors of a batch, with what is open now and what connections
   will take. */
static uint32_t batch_limit(const struct kvp_share *s)
{
	struct rlimit files = { .rlim_cur = 1024 };
	uint64_t open = count_open() + 2 * s->npeers + 8;
	uint64_t most, processes = 2;
	size_t i;

	getrlimit(RLIMIT_NOFILE, &files);
	for (i = 0; i < s->count; i++)
		processes += i != s->own &&
			     !strcmp(s->blobs[i].node, s->self.node);
	most = u64_min(files.rlim_cur / processes, SHARE_BATCH_MAX);
	/* One batch given and one got, beside what is open already. */
	if (files.rlim_cur > open)
		most = u64_min(most, (files.rlim_cur - open) / 2);
	return (uint32_t)u64_max(most, 1);
}

/* --- giving --- */

static bool is_wanted(const struct kvp_share *s, const struct peer *p)
{
	return p->imports && share_is_imported(s,
		s->r->ranks[s->sender.rank].rank, s->sender.item,
		p->blob->first_rank, p->blob->nranks);
}

static kvp_handle handle_of(const struct kvp_share *s, const struct rank *k,
			    uint64_t item)
{
	size_t nstatics = s->plan->geometry.nstatics;

	return item < nstatics ? k->statics[item].handle :
	       k->memory[s->r->order[item - nstatics]].handle;
}

static void close_batch(struct kvp_share *s)
{
	struct sender *b = &s->sender;

	while (b->nopen)
		close(b->shared[--b->nopen].fd);
}

/* Make the descriptors of the next batch: a static item, or chunks. */
static int export_batch(struct kvp_share *s, struct kvp_error *err)
{
	struct kvp_realization *r = s->r;
	struct sender *b = &s->sender;
	const struct rank *k = &r->ranks[b->rank];
	uint64_t left = share_count_items(s) - b->item, item = b->item;
	uint64_t most = item < s->plan->geometry.nstatics ? 1 :
			u64_min(left, b->most);
	int code = KVP_OK;

	r->stage.rank = k->rank;
	r->stage.state = KVP_GRANTED;
	for (; b->count < most && !code; item++) {
		code = backend_of(r)->mapping.export_handle(backend_of(r),
			handle_of(s, k, item), &b->shared[b->count], err);
		b->count += !code;
		b->nopen = b->count;
	}
	return code ? add_rank_context(r, k, "exporting its memory", code,
				       err) : KVP_OK;
}

/* Go on to the next batch that somebody imports. */
static void find_next_batch(struct kvp_share *s)
{
	struct sender *b = &s->sender;
	uint32_t i;

	b->turn = 0;
	while (b->rank < s->r->nranks) {
		if (b->item == share_count_items(s)) {
			b->item = 0;
			b->rank++;
			continue;
		}
		for (i = 0; i < s->npeers; i++)
			if (is_wanted(s, &s->peers[i]))
				return;
		b->item = item_behind(s, b->item);
	}
}

/* Peers take turns, beginning behind this process, so that not all owners
   give to the same importer at once. */
static struct peer *peer_at(struct kvp_share *s, uint32_t turn)
{
	return &s->peers[(s->sender.first + turn) % s->npeers];
}

/* The next turn, from this one on, of a peer that wants the batch. */
static uint32_t find_turn(struct kvp_share *s, uint32_t turn)
{
	while (turn < s->npeers && !is_wanted(s, peer_at(s, turn)))
		turn++;
	return turn;
}

static void finish_batch(struct kvp_share *s)
{
	close_batch(s);
	s->sender.item += s->sender.count;
	s->sender.count = 0;
	find_next_batch(s);
}

/* Send the batch to the next peer that wants it.  *again: the kernel takes
   nothing now. */
static int give(struct kvp_share *s, bool *progress, bool *again,
		struct kvp_error *err)
{
	struct sender *b = &s->sender;
	struct peer *p;
	bool sent = false;
	int code = KVP_OK;

	if (b->rank == s->r->nranks || b->waiting)
		return KVP_OK;
	b->turn = find_turn(s, b->turn);
	if (b->turn == s->npeers) {
		*progress = true;
		finish_batch(s);
		return KVP_OK;
	}
	p = peer_at(s, b->turn);
	if (!p->greeted)
		return KVP_OK;
	if (!b->count)
		code = export_batch(s, err);
	if (!code)
		code = share_send(s, p, MESSAGE_BATCH, &sent, err);
	b->waiting = sent;
	if (sent && find_turn(s, b->turn + 1) == s->npeers)
		close_batch(s);
	*progress |= sent;
	*again |= !sent;
	return code;
}

/* Send what is owed to a peer. */
static int send_owed(struct kvp_share *s, struct peer *p, bool *progress,
		     bool *again, struct kvp_error *err)
{
	enum message_type type = MESSAGE_HELLO;
	bool sent = true;
	int code = KVP_OK;

	for (; type <= MESSAGE_CHECKED && sent && !code; type++) {
		if (!(p->owed & 1u << type) || p->fd < 0)
			continue;
		code = share_send(s, p, type, &sent, err);
		if (sent)
			p->owed &= ~(1u << type);
		*progress |= sent;
	}
	*again |= !sent;
	return code;
}

/* --- getting --- */

/* The batch has to be what comes next from this peer. */
static int check_batch(const struct kvp_share *s, const struct peer *p,
		       const struct message *m, struct kvp_error *err)
{
	uint64_t nstatics = s->plan->geometry.nstatics;
	uint64_t most = p->item < nstatics ? 1 : share_count_items(s) - p->item;

	if (all_have_come(p))
		return share_fail_peer(p, err, "sent item %llu of rank %u, but "
			"all have come", (ull)m->item, m->rank);
	if (m->rank == p->blob->first_rank + p->rank && m->item == p->item &&
	    m->count && m->count <= most)
		return KVP_OK;
	return share_fail_peer(p, err, "sent %u items from %llu of rank %u "
		"on, expected at most %llu from %llu of rank %u on", m->count,
		(ull)m->item, m->rank, (ull)most, (ull)p->item,
		p->blob->first_rank + p->rank);
}

static int get_batch(struct kvp_share *s, struct peer *p,
		     const struct message *m, const int *fds,
		     struct kvp_error *err)
{
	struct kvp_shared shared;
	bool sent = false;
	uint32_t i;
	int code = check_batch(s, p, m, err);

	/* The descriptors are here, so the owner may send on. */
	p->owed |= 1u << MESSAGE_ACK;
	if (!code)
		code = send_owed(s, p, &sent, &sent, err);
	for (i = 0; i < m->count; i++) {
		shared = (struct kvp_shared){
			.fd = fds[i], .offset = m->offset[i],
		};
		if (!code) {
			shared.bytes = share_item_bytes(s, m->item + i);
			code = share_import(s, m->rank, m->item + i, &shared,
					    err);
		}
		close(fds[i]);
	}
	if (code)
		return code;
	p->item += m->count;
	find_next(s, p->blob, &s->self, &p->rank, &p->item);
	return KVP_OK;
}

static int greet(struct kvp_share *s, struct peer *p, const struct message *m,
		 struct kvp_error *err)
{
	const size_t half = SHARE_TOKEN_HALF;

	if (m->type != MESSAGE_HELLO || p->greeted ||
	    memcmp(m->to + half, s->self.token + half, half) ||
	    memcmp(m->token + half, p->blob->token + half, half))
		return share_fail_peer(p, err, "did not show the token of its "
				       "blob");
	p->greeted = true;
	return KVP_OK;
}

static int match(struct kvp_share *s, struct peer *p, struct kvp_error *err)
{
	int code;

	if (!all_have_come(p) || p->matched || !p->exports)
		return share_fail_peer(p, err, "has written its patterns "
				       "before it sent its memory");
	code = share_match_patterns(s, p->blob, err);
	/* What an owner has undone may read as something else. */
	if (code == KVP_EFAILED && share_has_ended(p))
		code = share_fail_ended(s, p, err);
	p->matched = !code;
	p->owed |= 1u << MESSAGE_CHECKED;
	return code;
}

static int handle(struct kvp_share *s, struct peer *p, const struct message *m,
		  const int *fds, struct kvp_error *err)
{
	switch (m->type) {
	case MESSAGE_BATCH:
		return get_batch(s, p, m, fds, err);
	case MESSAGE_ACK:
		if (!s->sender.waiting || peer_at(s, s->sender.turn) != p)
			break;
		s->sender.waiting = false;
		s->sender.turn++;
		return KVP_OK;
	case MESSAGE_WRITTEN:
		return match(s, p, err);
	case MESSAGE_ALIVE:
		return KVP_OK;
	case MESSAGE_CHECKED:
		if (!s->written || !p->imports)
			break;
		p->checked = true;
		return KVP_OK;
	default:
		return greet(s, p, m, err);
	}
	return share_fail_peer(p, err, "answered what was not asked");
}

static int receive_all(struct kvp_share *s, struct peer *p, bool *progress,
		       struct kvp_error *err)
{
	struct message m;
	int fds[SHARE_BATCH_MAX];
	bool got = p->fd >= 0;
	int code = KVP_OK;

	while (got && !code) {
		code = share_receive(s, p, &m, fds, &got, err);
		if (!code && got) {
			p->heard = now();
			code = handle(s, p, &m, fds, err);
		}
		*progress |= got;
	}
	return code;
}

/* --- the loop --- */

/* After all is given, write the patterns, which importers then read. */
static int write_patterns(struct kvp_share *s, bool *progress,
			  struct kvp_error *err)
{
	uint32_t i;
	int code;

	if (s->r->options.check == KVP_CHECK_NONE || s->written ||
	    s->sender.rank < s->r->nranks)
		return KVP_OK;
	code = share_write_patterns(s, err);
	for (i = 0; i < s->npeers; i++)
		if (s->peers[i].imports)
			s->peers[i].owed |= 1u << MESSAGE_WRITTEN;
	s->written = true;
	*progress = true;
	return code;
}

/* Does this process still wait for something of a peer, or owe it something? */
static bool is_open(const struct kvp_share *s, const struct peer *p)
{
	bool check = s->r->options.check != KVP_CHECK_NONE;

	return !p->greeted || p->owed || !all_have_come(p) ||
	       (p->imports && s->sender.rank < s->r->nranks) ||
	       (check && p->imports && !p->checked) ||
	       (check && p->exports && !p->matched);
}

/* The open peer that has been silent for longest, or NULL. */
static struct peer *find_open(const struct kvp_share *s)
{
	struct peer *found = NULL, *p;
	uint32_t i;

	for (i = 0; i < s->npeers; i++) {
		p = &s->peers[i];
		if (is_open(s, p) && (!found || p->heard < found->heard))
			found = p;
	}
	return found;
}

/* One round of sending and receiving. */
static int work(struct kvp_share *s, bool *progress, bool *again,
		struct kvp_error *err)
{
	uint32_t i;
	int code = KVP_OK;

	*progress = false;
	code = share_connect(s, err);
	if (!code)
		code = share_accept(s, progress, err);
	for (i = 0; i < s->npeers && !code; i++)
		code = receive_all(s, &s->peers[i], progress, err);
	for (i = 0; i < s->npeers && !code; i++)
		code = send_owed(s, &s->peers[i], progress, again, err);
	if (!code)
		code = give(s, progress, again, err);
	return code ? code : write_patterns(s, progress, err);
}

static void wait_for_peers(struct kvp_share *s, struct pollfd *fds,
			   bool again)
{
	nfds_t count = 0;
	uint32_t i;

	fds[count++] = (struct pollfd){ s->listen, POLLIN, 0 };
	for (i = 0; i < s->nstrangers; i++)
		fds[count++] = (struct pollfd){ s->strangers[i], POLLIN, 0 };
	for (i = 0; i < s->npeers; i++)
		fds[count++] = (struct pollfd){ s->peers[i].fd, POLLIN, 0 };
	poll(fds, count, again ? AGAIN : LOOK);
}

/* A peer that ended before it connected causes no event, so look for it; each
   time after twice as long, since a peer has to accept these connections. */
static int probe_peers(struct kvp_share *s, uint64_t waited,
		       uint64_t *next, struct kvp_error *err)
{
	uint32_t i;
	int code = KVP_OK;

	if (waited < *next)
		return KVP_OK;
	*next = 2 * waited;
	for (i = 0; i < s->npeers && !code; i++)
		if (s->peers[i].fd < 0)
			code = share_probe(s, &s->peers[i], err);
	return code;
}

/* Called after every backend call: tell peers, a few times within a deadline,
   that this process is at work. */
static void tell_peers(void *cookie)
{
	struct kvp_share *s = cookie;
	uint64_t t = now();
	bool sent;
	uint32_t i;

	if (t - s->alive < s->deadline / 4)
		return;
	s->alive = t;
	for (i = 0; i < s->npeers; i++)
		if (s->peers[i].greeted &&
		    !(s->peers[i].owed & 1u << MESSAGE_HELLO))
			(void)share_send(s, &s->peers[i], MESSAGE_ALIVE, &sent,
					 NULL);
}

static int fail_deadline(const struct kvp_share *s, const struct peer *p,
			 struct kvp_error *err)
{
	return share_fail_peer(p, err, "%s for %u ms; it hangs, or was "
		"stopped", p->greeted ? "gave no sign" : "did not connect",
		s->deadline);
}

static int loop(struct kvp_share *s, struct pollfd *fds, struct kvp_error *err)
{
	uint64_t begun = now(), last = begun, probe = LOOK;
	bool progress, again;
	struct peer *open;
	int code = KVP_OK;

	s->sender.most = batch_limit(s);
	find_next_batch(s);
	s->r->tick = tell_peers;
	s->r->tick_cookie = s;
	while (!code && (open = find_open(s))) {
		again = false;
		code = check_interrupt(s->r, err);
		if (!code)
			code = work(s, &progress, &again, err);
		if (!code && progress)
			last = now();
		else if (!code && now() - last > s->deadline)
			code = fail_deadline(s, open, err);
		else if (!code)
			wait_for_peers(s, fds, again);
		if (!code)
			code = probe_peers(s, now() - begun, &probe, err);
	}
	s->r->tick = NULL;
	close_batch(s);
	return code;
}

int share_run(struct kvp_share *s, struct kvp_error *err)
{
	struct pollfd *fds;
	int code = make_peers(s, err);

	if (!code)
		code = share_reserve(s, err);
	if (code)
		return code;
	s->strangers_room = SHARE_STRANGERS_MAX + s->npeers;
	s->strangers = calloc(s->strangers_room, sizeof(*s->strangers));
	fds = calloc(1 + s->strangers_room + s->npeers, sizeof(*fds));
	code = fds && s->strangers ? loop(s, fds, err) : kvp_error_nomem(err);
	free(fds);
	return code;
}
