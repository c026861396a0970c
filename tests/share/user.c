/*
 * Sharing as a user who may have 256 files open: the kernel counts the
 * descriptors that are on their way for each user, and lets root alone pass
 * more.  A batch is small enough, and one that the kernel does not take is
 * sent again.
 *
 * sendmsg is this program's own, to see batches and what the kernel answers.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "share/marks.h"
#include "share/trials.h"

#define NOBODY 65534
#define FILES 256
#define MESSAGE_FDS 253

/* Nothing merges, so that there are chunks enough for many batches. */
#define GEOMETRY(ranks)							\
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"user\","		\
	"\"granularity\":4096,\"pages\":40,\"page_tokens\":16,"		\
	"\"snapshot_rows\":20,\"execution_rows\":0,"			\
	"\"row_bytes\":16384,"						\
	"\"planes\":[{\"name\":\"a\",\"count\":3,\"bytes_per_page\":4096}]," \
	"\"ranks\":" #ranks ",\"dcp_group_size\":" #ranks "}"

static struct planned four, sixteen;

/* Of this process. */
static struct {
	uint64_t largest;	/* batch */
	uint64_t refused;	/* ETOOMANYREFS */
} sent;

ssize_t sendmsg(int fd, const struct msghdr *h, int flags)
{
	ssize_t len = syscall(SYS_sendmsg, fd, h, flags);
	const struct cmsghdr *c = CMSG_FIRSTHDR(h);
	size_t count = c ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;

	if (len < 0)
		sent.refused += errno == ETOOMANYREFS;
	else if (count > sent.largest)
		sent.largest = count;
	return len;
}

static void become_user(rlim_t files)
{
	const struct rlimit limit = { files, files };

	if (setrlimit(RLIMIT_NOFILE, &limit) ||
	    (!geteuid() && (setgid(NOBODY) || setuid(NOBODY))))
		abort();
	/* So that it may read its own /proc/self. */
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void prepare(struct job *j, uint32_t index)
{
	(void)j, (void)index;
	become_user(FILES);
}

static void tell(struct kvp_share *s, const struct member *m,
		 struct report *r)
{
	r->seen[0] = sent.largest;
	r->seen[1] = sent.refused;
	write_marks(s, m, r);
}

/*
 * Another process of the user keeps this many descriptors on their way, for
 * some time; returns its process id.
 */
static pid_t keep_on_the_way(unsigned messages, unsigned ms)
{
	union {
		char bytes[CMSG_SPACE(MESSAGE_FDS * sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte = 'x';
	struct iovec v = { &byte, 1 };
	struct msghdr h = { .msg_iov = &v, .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control) };
	int ends[2], told[2], i;
	pid_t pid;

	if (pipe(told) || (pid = fork()) < 0)
		abort();
	if (pid) {
		close(told[1]);
		expect(read(told[0], &byte, 1) == 1, "nothing on the way");
		close(told[0]);
		return pid;
	}
	become_user(4096);
	memset(&control, 0, sizeof(control));
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(MESSAGE_FDS * sizeof(int));
	for (i = 0; i < MESSAGE_FDS; i++)
		memcpy(CMSG_DATA(&control.align) + (size_t)i * sizeof(int),
		       &(int){ STDERR_FILENO }, sizeof(int));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
		abort();
	while (messages--)
		if (syscall(SYS_sendmsg, ends[0], &h, 0) < 0)
			abort();
	if (write(told[1], "r", 1) != 1)
		abort();
	usleep(ms * 1000);
	exit(0);
}

static const struct trial {
	const char *name;
	const struct planned *planned;
	uint32_t count;
	enum kvp_check check;
	uint64_t largest;	/* FILES / (count + 1) */
	unsigned messages, ms;	/* on the way meanwhile */
	const char *text;	/* of what fails */
} all_trials[] = {
	{ "four", &four, 4, KVP_CHECK_QUICK, 51, 0, 0, NULL },
	{ "sixteen", &sixteen, 16, KVP_CHECK_NONE, 15, 0, 0, NULL },
	{ "four, too many on the way", &four, 4, KVP_CHECK_NONE, 51, 2, 500,
	  NULL },
	{ "four, too many for too long", &four, 4, KVP_CHECK_NONE, 0, 2, 4000,
	  "rank * on * @(gave no sign for * ms; it hangs, or was stopped|"
	  "ended, or gave up)" },
};
#define TRIALS (sizeof(all_trials) / sizeof(*all_trials))

static void check_member(const struct trial *t, const struct report *r,
			 uint32_t i)
{
	enum kvp_state due = t->text ? KVP_UNWOUND : KVP_PUBLISHED;

	expect(r->state == due, "rank %u is %s: %s", i,
	       kvp_state_name(r->state), r->text[CALL_COMMIT]);
	expect(r->seen[0] == t->largest, "rank %u: the largest batch has %llu "
	       "descriptors, expected %llu", i, (ull)r->seen[0],
	       (ull)t->largest);
	expect(!t->messages == !r->seen[1], "rank %u: the kernel refused %llu "
	       "batches", i, (ull)r->seen[1]);
	expect(!r->wrong, "rank %u: %llu marks are wrong", i, (ull)r->wrong);
	expect(!r->left, "rank %u: %llu things are left", i, (ull)r->left);
	if (t->text)
		expect(!fnmatch(t->text, r->text[CALL_EXCHANGE], FNM_EXTMATCH),
		       "rank %u says %s", i, r->text[CALL_EXCHANGE]);
}

static void run_trial(size_t index)
{
	const struct trial *t = &all_trials[index];
	struct job j = {
		.plan = &t->planned->plan, .verdict = t->planned->verdict,
		.backend = make_host, .check = t->check,
		.deadline = t->text ? 500 : 20000, .gather_deadline = 1000,
		.count = t->count, .prepare = prepare, .committed = tell,
		.settled = read_marks,
	};
	pid_t pid = 0;
	uint32_t i;

	name_trial("256 files, %s", t->name);
	for (i = 0; i < t->count; i++) {
		j.member[i].first_rank = i;
		j.member[i].nranks = 1;
	}
	if (t->messages)
		pid = keep_on_the_way(t->messages, t->ms);
	expect(launch(&j), "a process hangs, or did not end well");
	for (i = 0; i < t->count; i++)
		check_member(t, &j.member[i].report, i);
	if (pid) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	launch_release(&j);
}

int main(void)
{
	make_planned(&four, GEOMETRY(4), KVP_MERGE_NONE);
	make_planned(&sixteen, GEOMETRY(16), KVP_MERGE_NONE);
	/* One after the other: they are the same user's. */
	run_trials(1, TRIALS, run_trial);
	return close_trials();
}
