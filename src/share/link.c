/*
 * Sockets between the processes of a node.  Nothing is received with room for
 * descriptors before both sides have shown that they run as the same user and
 * know the token that the other stated in its blob.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* SO_PEERCRED, accept4 */
#endif

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/standard.h"
#include "share/state.h"

#define HEAD offsetof(struct message, offset)


/* "@NAME" is an abstract name: its path begins with a zero. */
static socklen_t fill_address(struct sockaddr_un *a, const char *endpoint)
{
	size_t len = strlen(endpoint);

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	assert(len && len < sizeof(a->sun_path));
	memcpy(a->sun_path, endpoint, len);
	if (*endpoint != '@')
		return (socklen_t)sizeof(*a);
	a->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

static int open_socket(void)
{
	return standard_move_above(socket(AF_UNIX, SOCK_SEQPACKET |
					  SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

static int fail_listen(const struct kvp_share *s, const char *call,
		       struct kvp_error *err)
{
	return kvp_error_set(err, KVP_EIO, "%s: %s: %s", s->self.endpoint,
			     call, system_text(errno).text);
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

int share_listen(struct kvp_share *s, const char *directory,
		 struct kvp_error *err)
{
	struct sockaddr_un a;
	uint64_t name;
	socklen_t len;
	int used;

	if (share_random(&name, sizeof(name), err))
		return KVP_EIO;
	used = snprintf(s->self.endpoint, sizeof(s->self.endpoint),
			"%s%skvplan-%016llx", directory ? directory : "@",
			directory ? "/" : "", (ull)name);
	if (directory && (!*directory || *directory == '@' ||
			  !is_printable(directory)))
		return kvp_error_set(err, KVP_EINPUT, "the directory for "
			"sockets is \"%.40s\"; it must have a name of printable "
			"characters that does not begin with @", directory);
	if ((size_t)used >= sizeof(a.sun_path))
		return kvp_error_set(err, KVP_EINPUT, "the directory for "
			"sockets is too long: a socket's name would have %d "
			"characters, the system allows %zu", used,
			sizeof(a.sun_path) - 1);
	len = fill_address(&a, s->self.endpoint);
	s->listen = open_socket();
	if (s->listen < 0)
		return fail_listen(s, "socket", err);
	if (bind(s->listen, (struct sockaddr *)&a, len))
		return fail_listen(s, "bind", err);
	s->named = directory != NULL;
	if (listen(s->listen, SOMAXCONN))
		return fail_listen(s, "listen", err);
	return KVP_OK;
}

void share_close(struct kvp_share *s)
{
	uint32_t i;

	for (i = 0; i < s->npeers; i++) {
		if (s->peers[i].fd >= 0)
			close(s->peers[i].fd);
		s->peers[i].fd = -1;
	}
	while (s->nstrangers)
		close(s->strangers[--s->nstrangers]);
	if (s->listen >= 0)
		close(s->listen);
	s->listen = -1;
	if (s->named)
		unlink(s->self.endpoint);
	s->named = false;
}

int share_fail_peer(const struct peer *p, struct kvp_error *err,
		    const char *format, ...)
{
	char who[SHARE_WHO_MAX], why[KVP_ERROR_MAX - SHARE_WHO_MAX - 1];
	va_list args;

	va_start(args, format);
	kvp_error_format(why, sizeof(why), format, args);
	va_end(args);
	share_describe(p->blob, who, sizeof(who));
	return kvp_error_set(err, KVP_EPEER, "%s %s", who, why);
}

static int fail_call(struct kvp_share *s, const struct peer *p,
		     const char *call,
		     struct kvp_error *err)
{
	if (errno == EPIPE || errno == ECONNRESET)
		return share_fail_ended(s, p, err);
	share_fail_peer(p, err, "%s: %s", call, system_text(errno).text);
	return kvp_error_recode(err, KVP_EIO);
}

int share_fail_ended(struct kvp_share *s, const struct peer *p,
		     struct kvp_error *err)
{
	s->follows = true;
	return share_fail_peer(p, err, "ended, or gave up");
}

/* The process at the other end runs as this one's user. */
static bool is_same_user(int fd, uint32_t *uid)
{
	struct ucred c;
	socklen_t len = sizeof(c);

	*uid = UINT32_MAX;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len))
		return false;
	*uid = c.uid;
	return c.uid == geteuid();
}

static int connect_peer(struct kvp_share *s, struct peer *p,
			struct kvp_error *err)
{
	struct sockaddr_un a;
	socklen_t len = fill_address(&a, p->blob->endpoint);
	uint32_t uid;

	p->fd = open_socket();
	if (p->fd < 0)
		return kvp_error_set(err, KVP_EIO, "socket: %s",
				     system_text(errno).text);
	if (connect(p->fd, (struct sockaddr *)&a, len)) {
		if (errno == EAGAIN) {	/* others are in front */
			close(p->fd);
			p->fd = -1;
			return KVP_OK;
		}
		s->follows = true;
		return share_fail_peer(p, err, "cannot be reached at %s: %s; "
			"it has ended, or is in another network namespace, "
			"which needs a directory for sockets that both see",
			p->blob->endpoint, system_text(errno).text);
	}
	if (is_same_user(p->fd, &uid))
		return KVP_OK;
	return share_fail_peer(p, err, "is reached at %s as user %u, this "
		"process runs as user %u; run all as one user",
		p->blob->endpoint, uid, (unsigned)geteuid());
}

/* A process listens until it has committed or failed. */
int share_probe(struct kvp_share *s, const struct peer *p,
		struct kvp_error *err)
{
	struct sockaddr_un a;
	socklen_t len = fill_address(&a, p->blob->endpoint);
	int fd = open_socket();
	bool gone = fd >= 0 && connect(fd, (struct sockaddr *)&a, len) &&
		    (errno == ECONNREFUSED || errno == ENOENT);

	if (fd >= 0)
		close(fd);
	return gone ? share_fail_ended(s, p, err) : KVP_OK;
}

bool share_has_ended(const struct peer *p)
{
	struct pollfd f = { p->fd, 0, 0 };

	return poll(&f, 1, 0) > 0 && (f.revents & (POLLHUP | POLLERR));
}

int share_connect(struct kvp_share *s, struct kvp_error *err)
{
	uint32_t i;
	int code = KVP_OK;

	for (i = 0; i < s->npeers && !code; i++) {
		if (s->peers[i].index < s->own || s->peers[i].fd >= 0)
			continue;
		code = connect_peer(s, &s->peers[i], err);
		if (!code && s->peers[i].fd >= 0)
			s->peers[i].owed |= 1u << MESSAGE_HELLO;
	}
	return code;
}

/* Fill the control data of a message with the descriptors of a batch. */
static void attach(struct msghdr *h, void *control,
		   const struct kvp_shared *shared, uint32_t count)
{
	struct cmsghdr *c;
	uint32_t i;

	h->msg_control = control;
	h->msg_controllen = CMSG_SPACE(count * sizeof(int));
	memset(control, 0, h->msg_controllen);
	c = CMSG_FIRSTHDR(h);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(count * sizeof(int));
	for (i = 0; i < count; i++)
		memcpy(CMSG_DATA(c) + i * sizeof(int), &shared[i].fd,
		       sizeof(int));
}

union control {
	char bytes[CMSG_SPACE(SHARE_BATCH_MAX * sizeof(int))];
	struct cmsghdr align;
};

int share_send(struct kvp_share *s, struct peer *p, enum message_type type,
	       bool *sent, struct kvp_error *err)
{
	const struct sender *b = &s->sender;
	struct message m = { .type = type, .from = s->own };
	struct iovec v = { &m, HEAD };
	struct msghdr h = { .msg_iov = &v, .msg_iovlen = 1 };
	union control control;
	size_t half;
	uint32_t i;

	*sent = false;
	if (type == MESSAGE_HELLO) {
		half = p->greeted ? SHARE_TOKEN_HALF : 0;
		memcpy(m.to + half, p->blob->token + half, SHARE_TOKEN_HALF);
		memcpy(m.token + half, s->self.token + half, SHARE_TOKEN_HALF);
	}
	if (type == MESSAGE_BATCH) {
		m.rank = s->r->ranks[b->rank].rank;
		m.item = b->item;
		m.count = b->count;
		for (i = 0; i < b->count; i++)
			m.offset[i] = b->shared[i].offset;
		v.iov_len += b->count * sizeof(*m.offset);
		attach(&h, control.bytes, b->shared, b->count);
	}
	if (sendmsg(p->fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
		*sent = true;
		return KVP_OK;
	}
	/* Too many descriptors of this user are on their way; or no room. */
	if (errno == ETOOMANYREFS || errno == EAGAIN || errno == ENOBUFS ||
	    errno == EINTR)
		return KVP_OK;
	return fail_call(s, p, "sendmsg", err);
}

/* Copy the descriptors of a received message; returns how many. */
static uint32_t detach(struct msghdr *h, int *fds)
{
	struct cmsghdr *c;
	uint32_t count = 0, i, n;

	for (c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		for (i = 0; i < n && count < SHARE_BATCH_MAX; i++)
			memcpy(&fds[count++], CMSG_DATA(c) + i * sizeof(int),
			       sizeof(int));
	}
	return count;
}

static int check_message(const struct peer *p, const struct message *m,
			 size_t len, int flags, uint32_t nfds,
			 struct kvp_error *err)
{
	uint32_t count = m->type == MESSAGE_BATCH ? m->count : 0;

	if (!p->greeted && m->type != MESSAGE_HELLO)
		return share_fail_peer(p, err, "did not show the token of its "
				       "blob");
	if ((flags & MSG_CTRUNC) && p->greeted) {
		share_fail_peer(p, err, "sent more descriptors than this "
				"process may have open; raise ulimit -n");
		return kvp_error_recode(err, KVP_EIO);
	}
	if ((flags & (MSG_TRUNC | MSG_CTRUNC)) || len < HEAD ||
	    m->from != p->index || !m->type || m->type > MESSAGE_ALIVE ||
	    count > SHARE_BATCH_MAX ||
	    len != HEAD + count * sizeof(*m->offset))
		return share_fail_peer(p, err, "sent a message that this "
				       "version does not know");
	if (nfds == count)
		return KVP_OK;
	return share_fail_peer(p, err, "sent %u descriptors with %u chunks",
			       nfds, count);
}

int share_receive(struct kvp_share *s, struct peer *p, struct message *m,
		  int *fds, bool *got, struct kvp_error *err)
{
	struct iovec v = { m, sizeof(*m) };
	struct msghdr h = { .msg_iov = &v, .msg_iovlen = 1 };
	union control control;
	uint32_t nfds, i;
	ssize_t len;
	int code;

	*got = false;
	memset(m, 0, sizeof(*m));
	if (p->greeted) {
		h.msg_control = control.bytes;
		h.msg_controllen = sizeof(control.bytes);
	}
	len = recvmsg(p->fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return KVP_OK;
	if (len < 0)
		return fail_call(s, p, "recvmsg", err);
	nfds = p->greeted ? detach(&h, fds) : 0;
	code = !len && !nfds ? share_fail_ended(s, p, err) :
		check_message(p, m, (size_t)len, h.msg_flags, nfds, err);
	for (i = 0; code && i < nfds; i++)
		close(fds[i]);
	*got = !code;
	return code;
}

/* The peer whose HELLO this is, or NULL. */
static struct peer *find_peer(struct kvp_share *s, const struct message *m)
{
	struct peer *p;
	uint32_t i;

	for (i = 0; i < s->npeers; i++) {
		p = &s->peers[i];
		if (p->index == m->from && p->index < s->own && p->fd < 0 &&
		    !memcmp(m->to, s->self.token, SHARE_TOKEN_HALF) &&
		    !memcmp(m->token, p->blob->token, SHARE_TOKEN_HALF))
			return p;
	}
	return NULL;
}

/* Returns fd if it has said nothing yet, -1 if it is a peer's now or was
   closed. */
static int read_hello(struct kvp_share *s, int fd)
{
	struct message m = { .type = 0 };
	struct iovec v = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &v, .msg_iovlen = 1 };
	ssize_t len = recvmsg(fd, &h, MSG_DONTWAIT);
	struct peer *p;

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return fd;
	p = len == (ssize_t)HEAD && m.type == MESSAGE_HELLO ?
		find_peer(s, &m) : NULL;
	if (!p) {
		close(fd);
		return -1;
	}
	p->fd = fd;
	p->greeted = true;
	p->owed |= 1u << MESSAGE_HELLO;
	return -1;
}

static int accept_strangers(struct kvp_share *s, struct kvp_error *err)
{
	uint32_t uid;
	int fd;

	while (s->nstrangers < s->strangers_room) {
		fd = standard_move_above(accept4(s->listen, NULL, NULL,
						 SOCK_CLOEXEC | SOCK_NONBLOCK));
		if (fd < 0 && (errno == EMFILE || errno == ENFILE))
			return kvp_error_set(err, KVP_EIO, "accept: %s; raise "
					     "ulimit -n",
					     system_text(errno).text);
		if (fd < 0)
			return KVP_OK;
		if (is_same_user(fd, &uid))
			s->strangers[s->nstrangers++] = fd;
		else
			close(fd);
	}
	return KVP_OK;
}

static uint32_t count_greeted(const struct kvp_share *s)
{
	uint32_t i, count = 0;

	for (i = 0; i < s->npeers; i++)
		count += s->peers[i].greeted;
	return count;
}

int share_accept(struct kvp_share *s, bool *progress, struct kvp_error *err)
{
	uint32_t i, kept = 0, greeted = count_greeted(s);
	int code = accept_strangers(s, err);

	for (i = 0; i < s->nstrangers; i++) {
		s->strangers[kept] = read_hello(s, s->strangers[i]);
		kept += s->strangers[kept] >= 0;
	}
	s->nstrangers = kept;
	/* The one that has said nothing for longest must not keep peers out. */
	if (kept == s->strangers_room) {
		close(s->strangers[0]);
		memmove(s->strangers, s->strangers + 1,
			--s->nstrangers * sizeof(*s->strangers));
	}
	*progress |= count_greeted(s) > greeted;
	return code;
}
