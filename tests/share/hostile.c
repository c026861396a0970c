/*
 * Processes that do not keep to the protocol: strangers that know a socket's
 * name and no token get nothing and stop nobody; of a peer that lies, the
 * others say what it did, undo everything and keep no descriptor.
 *
 * sendmsg and recvmsg are this program's own, so that a process can lie in
 * what the library sends, and descriptors that come are counted.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "share/blob.h"
#include "share/state.h"
#include "share/trials.h"

#define HEAD offsetof(struct message, offset)
#define FDS_MAX 300
#define NOBODY 65534
/* A process that lies is waited for; one that is slow is not too slow. */
#define DEADLINE 300
#define SLOW_MS 400
#define SLOW_DEADLINE 1200

#define GEOMETRY(ranks, rest)							\
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"hostile\","	\
	"\"granularity\":4096,\"pages\":3,\"page_tokens\":16,"		\
	"\"snapshot_rows\":1,\"execution_rows\":0,\"row_bytes\":6000,"	\
	"\"planes\":[{\"name\":\"a\",\"bytes_per_page\":2000},"		\
	"{\"name\":\"b\",\"bytes_per_page\":900}],"			\
	"\"ranks\":" #ranks ",\"dcp_group_size\":" #ranks rest "}"

static struct planned planned, with_static, three;
static uint64_t received;	/* descriptors */
static uint64_t inherited;	/* descriptors that a child would have */

/* A message, taken apart. */
struct letter {
	union {
		struct message message;
		char bytes[sizeof(struct message) + 128];
	} m;
	size_t len;
	int fds[FDS_MAX];
	uint32_t nfds;
};

union control {
	char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

static ssize_t post(int fd, struct letter *l, int flags)
{
	struct iovec v = { &l->m, l->len };
	union control control;
	struct msghdr h = { .msg_iov = &v, .msg_iovlen = 1 };
	struct cmsghdr *c;

	memset(&control, 0, sizeof(control));
	if (l->nfds) {
		h.msg_control = control.bytes;
		h.msg_controllen = CMSG_SPACE(l->nfds * sizeof(int));
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(l->nfds * sizeof(int));
		memcpy(CMSG_DATA(c), l->fds, l->nfds * sizeof(int));
	}
	return syscall(SYS_sendmsg, fd, &h, flags);
}

static uint32_t take_fds(const struct msghdr *h, int *fds)
{
	struct msghdr copy = *h;
	struct cmsghdr *c;
	uint32_t n = 0;

	for (c = CMSG_FIRSTHDR(&copy); c; c = CMSG_NXTHDR(&copy, c)) {
		if (c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	}
	return n;
}

/* --- lies --- */

/* What a process does instead of sending a message; false: nothing. */
static bool (*lie)(int fd, struct letter *l);
/* Called once, when the first message of a type has come and is not received
   yet. */
static struct moment {
	uint32_t type;
	void (*act)(void);
} moment;

ssize_t sendmsg(int fd, const struct msghdr *h, int flags)
{
	struct letter l = { .len = h->msg_iov->iov_len };

	if (!lie)
		return syscall(SYS_sendmsg, fd, h, flags);
	memcpy(&l.m, h->msg_iov->iov_base, l.len);
	l.nfds = take_fds(h, l.fds);
	return lie(fd, &l) ? post(fd, &l, flags) : (ssize_t)h->msg_iov->iov_len;
}

ssize_t recvmsg(int fd, struct msghdr *h, int flags)
{
	uint32_t type = 0, count;
	int fds[FDS_MAX];
	ssize_t len;

	if (moment.act && recv(fd, &type, sizeof(type), MSG_PEEK |
			       MSG_DONTWAIT) > 0 && type == moment.type) {
		moment.act();
		moment.act = NULL;
	}
	len = syscall(SYS_recvmsg, fd, h, flags);
	if (len <= 0)
		return len;
	count = take_fds(h, fds);
	received += count;
	fds[count++] = fd;
	while (count--)
		inherited += !(fcntl(fds[count], F_GETFD) & FD_CLOEXEC);
	return len;
}

#define LIE(name, kind, ...)						\
	static bool name(int fd, struct letter *l)			\
	{								\
		struct message *m = &l->m.message;			\
									\
		(void)fd;						\
		if (m->type != kind)					\
			return true;					\
		__VA_ARGS__;						\
		return true;						\
	}

#define MORE(l, fd_) ((l)->fds[(l)->nfds++] = (fd_))
/* Another message of this type, in front. */
static void post_type(int fd, const struct letter *like, uint32_t type)
{
	struct letter l = { .len = HEAD };

	l.m.message.type = type;
	l.m.message.from = like->m.message.from;
	post(fd, &l, MSG_NOSIGNAL);
}

LIE(more_items, MESSAGE_BATCH,
    m->offset[m->count++] = 0; l->len += 8; MORE(l, l->fds[0]))
LIE(more_chunks, MESSAGE_BATCH, m->offset[m->count++] = 0; l->len += 8)
LIE(fewer_fds, MESSAGE_BATCH, l->nfds--)
LIE(more_fds, MESSAGE_BATCH, MORE(l, l->fds[0]))
LIE(no_fds, MESSAGE_BATCH, l->nfds = 0)
LIE(no_items, MESSAGE_BATCH, m->count = 0; l->nfds = 0; l->len = HEAD)
LIE(other_item, MESSAGE_BATCH, m->item++)
LIE(item_far, MESSAGE_BATCH, m->item = UINT64_MAX)
LIE(other_rank, MESSAGE_BATCH, m->rank = 0)
LIE(rank_far, MESSAGE_BATCH, m->rank = UINT32_MAX)
LIE(too_many, MESSAGE_BATCH, m->count = SHARE_BATCH_MAX + 1)
LIE(count_far, MESSAGE_BATCH, m->count = UINT32_MAX)
LIE(cut, MESSAGE_BATCH, l->len -= 8)
LIE(cut_short, MESSAGE_BATCH, l->len = 4)
LIE(longer, MESSAGE_BATCH, l->len += 8)
LIE(too_long, MESSAGE_BATCH, l->len = sizeof(struct message) + 8)
LIE(other_sender, MESSAGE_BATCH, m->from = 0)
LIE(unknown_type, MESSAGE_BATCH, m->type = MESSAGE_ALIVE + 1)
LIE(empty, MESSAGE_BATCH, l->len = 0)
LIE(zero_type, MESSAGE_BATCH, m->type = 0)
LIE(offset_far, MESSAGE_BATCH, m->offset[1] = UINT64_MAX - 4095)
LIE(offset_between, MESSAGE_BATCH, m->offset[1]++)
LIE(offset_behind, MESSAGE_BATCH, m->offset[1] = UINT64_C(1) << 62)
LIE(again, MESSAGE_BATCH, post(fd, l, MSG_NOSIGNAL))
LIE(wrong_token, MESSAGE_HELLO, m->token[0]++; m->token[15]++)
LIE(wrong_to, MESSAGE_HELLO, m->to[0]++; m->to[15]++)
LIE(hello_twice, MESSAGE_HELLO, post(fd, l, MSG_NOSIGNAL))
LIE(hello_with_fd, MESSAGE_HELLO, MORE(l, STDERR_FILENO))
LIE(no_hello, MESSAGE_HELLO, return false)
LIE(ack_unasked, MESSAGE_ACK, post_type(fd, l, MESSAGE_ACK))
LIE(ack_instead, MESSAGE_HELLO, m->type = MESSAGE_ACK)
LIE(checked_unasked, MESSAGE_BATCH, post_type(fd, l, MESSAGE_CHECKED))
LIE(written_early, MESSAGE_BATCH, post_type(fd, l, MESSAGE_WRITTEN))
LIE(written_twice, MESSAGE_WRITTEN, post_type(fd, l, MESSAGE_WRITTEN))
LIE(ack_with_fds, MESSAGE_ACK, MORE(l, STDERR_FILENO))
LIE(no_ack, MESSAGE_ACK, return false)
LIE(no_batch, MESSAGE_BATCH, return false)
LIE(no_checked, MESSAGE_CHECKED, return false)
LIE(no_written, MESSAGE_WRITTEN, return false)

LIE(batch_first, MESSAGE_HELLO,
    m->type = MESSAGE_BATCH; m->rank = 1; m->offset[m->count++] = 0;
    l->len += 8; MORE(l, STDERR_FILENO))

/* Put a descriptor of something else in the place of the second chunk's. */
static bool with_fd(struct letter *l, int fd, int other)
{
	int keep = other;

	if (l->m.message.type != MESSAGE_BATCH) {
		close(keep);
		return true;
	}
	l->fds[l->nfds > 1] = other;
	post(fd, l, MSG_NOSIGNAL);
	close(keep);
	return false;
}

static bool send_pipe(int fd, struct letter *l)
{
	int ends[2];

	if (pipe(ends))
		abort();
	close(ends[1]);
	return with_fd(l, fd, ends[0]);
}

static bool send_file(int fd, struct letter *l)
{
	return with_fd(l, fd, open("/proc/self/exe", O_RDONLY));
}

static int make_memory(off_t bytes, int seals)
{
	int fd = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, bytes) || fcntl(fd, F_ADD_SEALS, seals))
		abort();
	return fd;
}

static bool send_unsealed(int fd, struct letter *l)
{
	return with_fd(l, fd, make_memory(1 << 20, F_SEAL_GROW | F_SEAL_SEAL));
}

static bool send_growing(int fd, struct letter *l)
{
	return with_fd(l, fd, make_memory(1 << 20, F_SEAL_SHRINK |
					  F_SEAL_SEAL));
}

static bool send_sealable(int fd, struct letter *l)
{
	return with_fd(l, fd, make_memory(1 << 20, F_SEAL_SHRINK |
					  F_SEAL_GROW));
}

static bool send_short(int fd, struct letter *l)
{
	l->m.message.offset[1] = 0;
	return with_fd(l, fd, make_memory(100, F_SEAL_SHRINK | F_SEAL_GROW |
					  F_SEAL_SEAL));
}

/* Other memory, sealed and large enough: only a check notices. */
static bool send_other(int fd, struct letter *l)
{
	l->m.message.offset[1] = 0;
	return with_fd(l, fd, make_memory(1 << 20, F_SEAL_SHRINK |
					  F_SEAL_GROW | F_SEAL_SEAL));
}

/* The chunks in another order: likewise. */
LIE(exchanged, MESSAGE_BATCH,
    m->offset[0] ^= m->offset[1]; m->offset[1] ^= m->offset[0];
    m->offset[0] ^= m->offset[1])

/* Room for one more descriptor. */
static void lower_limit(void)
{
	struct rlimit files;
	int next = dup(STDERR_FILENO);

	close(next);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = (rlim_t)next + 1;
	setrlimit(RLIMIT_NOFILE, &files);
}

/* So that what follows at once is there. */
static void wait_for_next(void)
{
	usleep(50000);
}

static void interrupt(void)
{
	raise(SIGINT);
}

static bool slow(int fd, struct letter *l)
{
	(void)fd, (void)l;
	usleep(SLOW_MS * 1000);
	return true;
}

/* From now on device 1 reads wrong. */
static bool device_is_spoilt;
static int (*match)(struct kvp_backend *b, uint32_t device, uint64_t address,
		    uint64_t bytes, uint32_t pattern, uint64_t *same,
		    struct kvp_error *err);

static void spoil_device(void)
{
	device_is_spoilt = true;
}

static int match_spoilt(struct kvp_backend *b, uint32_t device,
			uint64_t address, uint64_t bytes, uint32_t pattern,
			uint64_t *same, struct kvp_error *err)
{
	int code = match(b, device, address, bytes, pattern, same, err);

	if (!code && device == 1 && device_is_spoilt)
		*same = 0;
	return code;
}

static uint64_t readable;	/* mappings granted to be read alone */
static int (*grant)(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		    const struct kvp_grant *grants, size_t count,
		    struct kvp_error *err);

static int count_grants(struct kvp_backend *b, uint64_t address,
			uint64_t bytes, const struct kvp_grant *grants,
			size_t count, struct kvp_error *err)
{
	size_t i;

	for (i = 0; i < count; i++)
		readable += grants[i].flags == KVP_READ;
	return grant(b, address, bytes, grants, count, err);
}

static int make_spoilt(struct kvp_backend **b, uint32_t index,
		       struct kvp_error *err)
{
	int code = make_host(b, index, err);

	if (code)
		return code;
	match = (*b)->mapping.match;
	(*b)->mapping.match = match_spoilt;
	grant = (*b)->mapping.grant;
	(*b)->mapping.grant = count_grants;
	return KVP_OK;
}

#define UNKNOWN "rank 1 on * sent a message that this version does not know"
#define TOKEN "rank 1 on * did not show the token of its blob"
#define UNASKED "rank 1 on * answered what was not asked"
/* Whoever waits less long. */
#define SILENT "rank 1 on * @(gave no sign for 300 ms; it hangs, or was "	\
	"stopped|ended, or gave up)"
#define IMPORT "*plane imported from rank 1: import_handle: "

static const struct case_of_lie {
	const char *name;
	bool (*lie)(int fd, struct letter *l);
	bool check;
	int code;
	const char *text;	/* of rank 0, to which rank 1 lies */
	struct moment moment;	/* in rank 0 */
} lies[] = {
#define NO_MOMENT { 0, NULL }
#define PEER(lie, text) { #lie, lie, false, KVP_EPEER, text, NO_MOMENT }
#define CHECKED(lie, text) { #lie, lie, true, KVP_EPEER, text, NO_MOMENT }
#define MEMORY(lie, text) { #lie, lie, false, KVP_EDRIVER, text, NO_MOMENT }
	PEER(more_items, "rank 1 on * sent 4 items from 0 of rank 1 on, "
	     "expected at most 3 from 0 of rank 1 on"),
	PEER(more_chunks, "rank 1 on * sent 3 descriptors with 4 chunks"),
	PEER(fewer_fds, "rank 1 on * sent 2 descriptors with 3 chunks"),
	PEER(more_fds, "rank 1 on * sent 4 descriptors with 3 chunks"),
	PEER(no_fds, "rank 1 on * sent 0 descriptors with 3 chunks"),
	PEER(no_items, "rank 1 on * sent 0 items from 0 of rank 1 on, "
	     "expected at most 3 from 0 of rank 1 on"),
	PEER(other_item, "rank 1 on * sent 3 items from 1 of rank 1 on, "
	     "expected at most 3 from 0 of rank 1 on"),
	PEER(item_far, "rank 1 on * sent 3 items from 18446744073709551615 of "
	     "rank 1 on, expected at most 3 from 0 of rank 1 on"),
	PEER(other_rank, "rank 1 on * sent 3 items from 0 of rank 0 on, "
	     "expected at most 3 from 0 of rank 1 on"),
	PEER(rank_far, "rank 1 on * sent 3 items from 0 of rank 4294967295 "
	     "on, expected at most 3 from 0 of rank 1 on"),
	PEER(too_many, UNKNOWN), PEER(count_far, UNKNOWN),
	PEER(cut, UNKNOWN), PEER(cut_short, UNKNOWN), PEER(longer, UNKNOWN),
	PEER(too_long, UNKNOWN), PEER(other_sender, UNKNOWN),
	PEER(unknown_type, UNKNOWN), PEER(zero_type, UNKNOWN),
	{ "again", again, false, KVP_EPEER, "rank 1 on * sent item 0 of rank "
	  "1, but all have come", { MESSAGE_BATCH, wait_for_next } },
	PEER(wrong_token, TOKEN), PEER(wrong_to, TOKEN),
	PEER(hello_twice, TOKEN), PEER(batch_first, TOKEN),
	PEER(ack_instead, TOKEN), PEER(hello_with_fd, UNKNOWN),
	CHECKED(ack_unasked, UNASKED), PEER(checked_unasked, UNASKED),
	CHECKED(written_early, "rank 1 on * has written its patterns before "
		"it sent its memory"),
	{ "written_twice", written_twice, true, KVP_EPEER, "rank 1 on * has "
	  "written its patterns before it sent its memory",
	  { MESSAGE_WRITTEN, wait_for_next } },
	CHECKED(ack_with_fds, "rank 1 on * sent 1 descriptors with 0 chunks"),
	PEER(empty, UNKNOWN),
	PEER(no_hello, TOKEN), PEER(no_ack, SILENT), PEER(no_batch, SILENT),
	CHECKED(no_checked, SILENT), CHECKED(no_written, SILENT),
	MEMORY(offset_far, IMPORT "descriptor * has * bytes, too few for 4096 "
	       "bytes at offset 0xfffffffffffff000*"),
	MEMORY(offset_between, IMPORT "4096 bytes at offset 0x*1 are no "
	       "whole granules of 4096 bytes*"),
	MEMORY(offset_behind, IMPORT "descriptor * has * bytes, too few for "
	       "4096 bytes at offset 0x4000000000000000*"),
	MEMORY(send_pipe, IMPORT "descriptor * is no memory: *"),
	MEMORY(send_file, IMPORT "descriptor * is no memory: *"),
	MEMORY(send_unsealed, IMPORT "descriptor * has the seals 0x5, and not "
	       "all of 0x7, which keep its size*"),
	MEMORY(send_growing, IMPORT "descriptor * has the seals 0x3, and not "
	       "all of 0x7, which keep its size*"),
	MEMORY(send_sealable, IMPORT "descriptor * has the seals 0x6, and not "
	       "all of 0x7, which keep its size*"),
	MEMORY(send_short, IMPORT "descriptor * has 100 bytes, too few for "
	       "4096 bytes at offset 0x0*"),
	{ "static storage is a pipe", send_pipe, false, KVP_EDRIVER,
	  "rank 0, host memory 0, x imported from rank 1: import_handle: "
	  "descriptor * is no memory: *", NO_MOMENT },
	{ "send_other", send_other, true, KVP_EFAILED,
	  "*planes of rank 1*is not what the owner wrote*", NO_MOMENT },
	{ "exchanged", exchanged, true, KVP_EFAILED,
	  "*planes of rank 1*is not what the owner wrote*", NO_MOMENT },
	{ "no room", NULL, false, KVP_EIO, "rank 1 on * sent more "
	  "descriptors than this process may have open; raise ulimit -n",
	  { MESSAGE_BATCH, lower_limit } },
	/* Rank 0 waits and calls nothing. */
	{ "interrupted", no_batch, false, KVP_EINTERRUPTED,
	  "interrupted by signal 2", { MESSAGE_ACK, interrupt } },
	{ "a second device reads something else", NULL, true, KVP_EFAILED,
	  "*planes of rank 2*is not what the owner wrote when device 1 reads "
	  "its import", { MESSAGE_BATCH, spoil_device } },
	/* Not for so long in all that nothing comes. */
	{ "slow", slow, true, KVP_OK, "", NO_MOMENT },
};
#define LIES (sizeof(lies) / sizeof(*lies))

static struct job make_job(void)
{
	struct job j = {
		.plan = &planned.plan, .verdict = planned.verdict,
		.backend = make_spoilt, .deadline = DEADLINE,
		.gather_deadline = 1000, .count = 2,
	};

	j.member[0].nranks = j.member[1].nranks = 1;
	j.member[1].first_rank = 1;
	return j;
}

static const struct case_of_lie *current;

static void prepare_lie(struct job *j, uint32_t index)
{
	(void)j;
	if (index)
		lie = current->lie;
	else
		moment = current->moment;
}

static struct job make_lying_job(const struct case_of_lie *c)
{
	struct job j = make_job();

	if (!strncmp(c->name, "static", 6)) {
		j.plan = &with_static.plan;
		j.verdict = with_static.verdict;
	}
	if (c->moment.act == spoil_device) {
		j.plan = &three.plan;
		j.verdict = three.verdict;
		j.member[0].nranks = j.member[1].first_rank = 2;
	}
	if (!c->code)
		j.deadline = SLOW_DEADLINE;
	j.check = c->check ? KVP_CHECK_QUICK : KVP_CHECK_NONE;
	j.prepare = prepare_lie;
	return j;
}

static void run_lie(const struct case_of_lie *c)
{
	struct job j = make_lying_job(c);
	const struct report *r;
	enum kvp_state due = c->code ? KVP_UNWOUND : KVP_PUBLISHED;
	uint32_t i;

	current = c;
	name_trial("lie: %s", c->name);
	expect(launch(&j), "a process hangs, or did not end well");
	r = &j.member[0].report;
	expect(r->code[CALL_EXCHANGE] == c->code &&
	       !fnmatch(c->text, r->text[CALL_EXCHANGE], FNM_EXTMATCH),
	       "says %s %s", kvp_code_name(r->code[CALL_EXCHANGE]),
	       r->text[CALL_EXCHANGE]);
	for (i = 0; i < 2; i++) {
		r = &j.member[i].report;
		expect(r->state == due, "process %u is %s", i,
		       kvp_state_name(r->state));
		expect(!c->code || !r->held, "process %u still holds %llu "
		       "things", i, (ull)r->held);
		expect(!r->left, "process %u: %llu things are left", i,
		       (ull)r->left);
	}
	launch_release(&j);
}

/* --- strangers --- */

/* What a stranger does with a connection; knows what is public. */
static void say_nothing(int fd, const struct share_blob *b,
			const struct share_blob *peer)
{
	(void)fd, (void)b, (void)peer;
}

static void say_garbage(int fd, const struct share_blob *b,
			const struct share_blob *peer)
{
	char bytes[4000];

	(void)b, (void)peer;
	memset(bytes, 0xa5, sizeof(bytes));
	send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
}

static void say_byte(int fd, const struct share_blob *b,
			const struct share_blob *peer)
{
	(void)b, (void)peer;
	send(fd, "", 1, MSG_NOSIGNAL);
}

static void hang_up(int fd, const struct share_blob *b,
			const struct share_blob *peer)
{
	(void)b, (void)peer;
	shutdown(fd, SHUT_RDWR);
}

static struct letter make_hello(void)
{
	struct letter l = { .len = HEAD };

	l.m.message.type = MESSAGE_HELLO;
	return l;
}

/* A good one but for one token, or with both if those were known. */
static void guess_both(int fd, const struct share_blob *b,
			const struct share_blob *peer)
{
	struct letter l = make_hello();

	(void)b, (void)peer;
	post(fd, &l, MSG_NOSIGNAL);
}

static void know_its_own(int fd, const struct share_blob *b,
			const struct share_blob *peer)
{
	struct letter l = make_hello();

	(void)peer;
	memcpy(l.m.message.to, b->token, SHARE_TOKEN_BYTES);
	post(fd, &l, MSG_NOSIGNAL);
}

static void know_the_peers(int fd, const struct share_blob *b,
			const struct share_blob *peer)
{
	struct letter l = make_hello();

	(void)b;
	memcpy(l.m.message.token, peer->token, SHARE_TOKEN_BYTES);
	post(fd, &l, MSG_NOSIGNAL);
}

static void know_both(int fd, const struct share_blob *b,
		      const struct share_blob *peer)
{
	struct letter l = make_hello();

	memcpy(l.m.message.to, b->token, SHARE_TOKEN_BYTES);
	memcpy(l.m.message.token, peer->token, SHARE_TOKEN_BYTES);
	post(fd, &l, MSG_NOSIGNAL);
}

static void give_fds(int fd, const struct share_blob *b,
			const struct share_blob *peer)
{
	struct letter l = make_hello();

	(void)peer;
	memcpy(l.m.message.to, b->token, SHARE_TOKEN_BYTES);
	while (l.nfds < 100)
		MORE(&l, STDERR_FILENO);
	post(fd, &l, MSG_NOSIGNAL);
}

static void give_batch(int fd, const struct share_blob *b,
			const struct share_blob *peer)
{
	struct letter l = make_hello();

	(void)b, (void)peer;
	l.m.message.type = MESSAGE_BATCH;
	l.m.message.count = 1;
	l.len += 8;
	MORE(&l, STDERR_FILENO);
	post(fd, &l, MSG_NOSIGNAL);
}

static const struct stranger {
	const char *name;
	void (*act)(int fd, const struct share_blob *b,
		    const struct share_blob *peer);
	uint32_t times;
	bool other_user;
	bool is_shut;		/* its connection is closed at once */
} strangers[] = {
	{ "says nothing", say_nothing, 1, false, false },
	{ "many say nothing", say_nothing, 3 * SHARE_STRANGERS_MAX, false,
	  false },
	{ "says garbage", say_garbage, 1, false, true },
	{ "says a byte", say_byte, 1, false, true },
	{ "hangs up", hang_up, 1, false, true },
	{ "guesses", guess_both, 1, false, true },
	{ "knows one token", know_its_own, 1, false, true },
	{ "knows the other token", know_the_peers, 1, false, true },
	{ "gives descriptors", give_fds, 1, false, true },
	{ "gives a batch", give_batch, 2 * SHARE_STRANGERS_MAX, false, true },
	{ "is another user", say_nothing, 1, true, true },
	{ "is another user and knows both tokens", know_both, 1, true, true },
	{ "is another user, many", say_garbage, 2 * SHARE_STRANGERS_MAX, true,
	  true },
};
#define STRANGERS (sizeof(strangers) / sizeof(*strangers))

static const struct stranger *stranger;
static pid_t stranger_pid;
static int stranger_says;	/* a pipe: 'r' when it has acted, then how
				   it ended */

static int connect_to(const struct share_blob *b)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t len = strlen(b->endpoint);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(a.sun_path + 1, b->endpoint + 1, len - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, (socklen_t)
	    (offsetof(struct sockaddr_un, sun_path) + len)))
		abort();
	return fd;
}

static bool read_byte(int fd, char *byte)
{
	return read(fd, byte, 1) == 1;
}

/* Whatever comes is too much; does it end soon? */
static char watch(int fd, bool is_shut)
{
	struct pollfd p = { fd, POLLIN, 0 };
	char byte;

	if (!poll(&p, 1, is_shut ? 2000 : 100))
		return is_shut ? 'o' : 'k';
	return recv(fd, &byte, 1, 0) > 0 ? 'g' : 'k';
}

static void be_stranger(const struct share_blob *blobs, int says)
{
	static int fds[2][4 * SHARE_STRANGERS_MAX];
	uint32_t i, k;
	char how = 'k', one;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (stranger->other_user && (setgid(NOBODY) || setuid(NOBODY)))
		abort();
	for (i = 0; i < stranger->times; i++)
		for (k = 0; k < 2; k++) {
			fds[k][i] = connect_to(&blobs[k]);
			stranger->act(fds[k][i], &blobs[k], &blobs[!k]);
		}
	if (write(says, "r", 1) != 1)
		abort();
	for (i = 0; i < stranger->times; i++)
		for (k = 0; k < 2 && how == 'k'; k++) {
			one = watch(fds[k][i], stranger->is_shut);
			how = one == 'k' ? how : one;
		}
	if (write(says, &how, 1) != 1)
		abort();
	exit(0);
}

/* Before the first gather is answered, the stranger has acted. */
static void let_stranger_in(struct job *j, unsigned gather, uint32_t receiver,
			    struct kvp_share_blob *blobs)
{
	struct share_blob read[2];
	struct kvp_error why;
	int ends[2];
	char byte;

	(void)j;
	if (gather != 1 || receiver)
		return;
	expect(!share_blob_read(&blobs[0], 1, &read[0], &why) &&
	       !share_blob_read(&blobs[1], 1, &read[1], &why) && !pipe(ends),
	       "no blobs");
	stranger_pid = fork();
	if (!stranger_pid) {
		close(ends[0]);
		be_stranger(read, ends[1]);
	}
	close(ends[1]);
	stranger_says = ends[0];
	expect(stranger_pid > 0 && read_byte(stranger_says, &byte) &&
	       byte == 'r', "no stranger");
}

static void count_received(struct kvp_share *s, const struct member *m,
			   struct report *r)
{
	(void)s, (void)m;
	r->seen[0] = received;
	r->seen[1] = readable;
	r->wrong = inherited;
}

static void run_stranger(const struct stranger *who)
{
	const uint64_t items = with_static.plan.nchunks + 1;
	struct job j = make_job();
	bool well;
	uint32_t i;
	char how = '?';

	name_trial("a stranger %s", who->name);
	if (who->other_user && geteuid()) {
		skip_trial("only root can be another user");
		return;
	}
	stranger = who;
	j.plan = &with_static.plan;
	j.verdict = with_static.verdict;
	j.deadline = 10000;
	j.change = let_stranger_in;
	j.committed = count_received;
	well = launch(&j);
	expect(well, "a process hangs, or did not end well");
	for (i = 0; i < 2; i++) {
		const struct report *r = &j.member[i].report;

		expect(r->state == KVP_PUBLISHED, "rank %u is %s: %s", i,
		       kvp_state_name(r->state), r->text[CALL_COMMIT]);
		expect(r->seen[0] == items, "rank %u got %llu descriptors, "
		       "expected %llu", i, (ull)r->seen[0], (ull)items);
		expect(r->seen[1] == items, "rank %u can read %llu imported "
		       "items, expected %llu", i, (ull)r->seen[1],
		       (ull)items);
		expect(!r->wrong, "rank %u: %llu descriptors would be "
		       "inherited", i, (ull)r->wrong);
		expect(!r->left, "rank %u: %llu things are left", i,
		       (ull)r->left);
	}
	expect(read_byte(stranger_says, &how) && how == 'k', "the stranger %s",
	       how == 'g' ? "got something" : how == 'o' ?
	       "is still connected" : "died");
	close(stranger_says);
	waitpid(stranger_pid, NULL, 0);
	launch_release(&j);
}

/* --- sockets of others --- */

/* Rank 1's blob names a socket that is not its own. */
static const struct other_socket {
	const char *name, *endpoint, *text;
	bool other_user;	/* somebody else listens there */
} sockets[] = {
	{ "nobody listens", "@kvplan-nobody", "rank 1 on * cannot be reached "
	  "at @kvplan-nobody: Connection refused; it has ended, or is in "
	  "another network namespace, which needs a directory for sockets "
	  "that both see", false },
	{ "there is no directory", "/nowhere/kvplan", "rank 1 on * cannot be "
	  "reached at /nowhere/kvplan: No such file or directory; *", false },
	{ "another user listens", "@kvplan-other-user", "rank 1 on * is "
	  "reached at @kvplan-other-user as user 65534, this process runs as "
	  "user 0; run all as one user", true },
};
#define SOCKETS (sizeof(sockets) / sizeof(*sockets))

static const struct other_socket *other_socket;

static void name_other_socket(struct job *j, unsigned gather,
			      uint32_t receiver, struct kvp_share_blob *blobs)
{
	struct share_blob b;
	struct kvp_error why;

	(void)j;
	if (gather != 1 || receiver)
		return;
	expect(!share_blob_read(&blobs[1], 1, &b, &why), "no blob");
	strcpy(b.endpoint, other_socket->endpoint);
	share_blob_write(&b, &blobs[1]);
}

static pid_t listen_as_other(const char *endpoint)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t len = strlen(endpoint);
	int ends[2], fd;
	char byte;
	pid_t pid;

	memcpy(a.sun_path + 1, endpoint + 1, len - 1);
	if (pipe(ends) || (pid = fork()) < 0)
		abort();
	if (!pid) {
		if (setgid(NOBODY) || setuid(NOBODY) ||
		    prctl(PR_SET_PDEATHSIG, SIGKILL))
			abort();
		fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
		if (fd < 0 || bind(fd, (struct sockaddr *)&a, (socklen_t)
		    (offsetof(struct sockaddr_un, sun_path) + len)) ||
		    listen(fd, 1) || write(ends[1], "r", 1) != 1)
			abort();
		pause();
	}
	close(ends[1]);
	expect(read_byte(ends[0], &byte), "nobody listens");
	close(ends[0]);
	return pid;
}

static void run_socket(const struct other_socket *o)
{
	struct job j = make_job();
	const struct report *r = &j.member[0].report;
	pid_t other = -1;

	name_trial("socket: %s", o->name);
	if (o->other_user && geteuid()) {
		skip_trial("only root can be another user");
		return;
	}
	if (o->other_user)
		other = listen_as_other(o->endpoint);
	other_socket = o;
	j.change = name_other_socket;
	expect(launch(&j), "a process hangs, or did not end well");
	expect(r->code[CALL_EXCHANGE] == KVP_EPEER &&
	       !fnmatch(o->text, r->text[CALL_EXCHANGE], 0), "says %s %s",
	       kvp_code_name(r->code[CALL_EXCHANGE]),
	       r->text[CALL_EXCHANGE]);
	expect(r->state == KVP_UNWOUND && !r->left, "not unwound");
	if (other > 0) {
		kill(other, SIGKILL);
		waitpid(other, NULL, 0);
	}
	launch_release(&j);
}

static void run_trial(size_t index)
{
	if (index < LIES)
		run_lie(&lies[index]);
	else if (index < LIES + STRANGERS)
		run_stranger(&strangers[index - LIES]);
	else
		run_socket(&sockets[index - LIES - STRANGERS]);
}

int main(void)
{
	make_planned(&planned, GEOMETRY(2, ""), KVP_MERGE_ROW);
	make_planned(&three, GEOMETRY(3, ""), KVP_MERGE_ROW);
	make_planned(&with_static, GEOMETRY(2, ",\"access\":{"
		     "\"importer_mode\":\"read\"},\"static\":[{\"name\":\"x\","
		     "\"bytes\":5000,\"importers\":\"all\"}]"), KVP_MERGE_ROW);
	run_trials(6, LIES + STRANGERS + SOCKETS, run_trial);
	return close_trials();
}
