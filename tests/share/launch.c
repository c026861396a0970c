/*
 * The launcher.  Each process has a socket to the launcher; a gather is one
 * message from each process and one answer to each.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "share/launch.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOB_MS 30000

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;
	ssize_t n;

	while (len) {
		n = send(fd, at, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool read_all(int fd, void *bytes, size_t len)
{
	char *at = bytes;
	ssize_t n;

	while (len) {
		n = recv(fd, at, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* --- in a process --- */

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	interrupted = number;
}

struct self {
	struct job *job;
	struct member *m;
	uint64_t calls;
};

static void on_event(void *cookie, const struct kvp_event *e)
{
	struct self *self = cookie;

	if (e->kind != KVP_EVENT_CALL)
		return;
	self->calls++;
	if (self->m->signal && self->calls == self->m->at)
		raise(self->m->signal);
}

/* Give a blob and get all. */
static bool gather(struct self *self, const struct kvp_share_blob *mine,
		   struct kvp_share_blob *all)
{
	return write_all(self->m->fd, mine, sizeof(*mine)) &&
	       read_all(self->m->fd, all, self->job->count * sizeof(*all));
}

static uint32_t count_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	uint32_t lines = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		lines += c == '\n';
	if (f)
		fclose(f);
	return lines;
}

static uint32_t count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	uint32_t count = 0;

	while (d && readdir(d))
		count++;
	if (d)
		closedir(d);
	return count;
}

static void give_part(struct self *self, const struct kvp_share *s)
{
	const struct kvp_realization *r = kvp_share_realization(s);
	char *text = NULL;
	size_t len = 0;
	uint64_t size;

	if (r && kvp_realization_write(r, true, &text, &len, NULL))
		len = 0;
	size = len;
	if (write_all(self->m->fd, &size, sizeof(size)))
		write_all(self->m->fd, text, len);
	free(text);
}

static void keep_error(struct report *r, unsigned call, int code,
		       const struct kvp_error *err)
{
	r->code[call] = code;
	if (code)
		memcpy(r->text, err->text, sizeof(r->text));
}

static struct kvp_backend *open_backend(struct self *self,
					struct kvp_backend **inner,
					struct kvp_fault *fault)
{
	struct kvp_error err = { 0 };
	struct kvp_backend *b = NULL;

	*fault = (struct kvp_fault){ .ops = KVP_OP_ALL };
	if (!self->m->signal)
		fault->countdown = self->m->at;
	if (self->job->backend(inner, (uint32_t)(self->m - self->job->member),
			       &err) ||
	    kvp_backend_fault(&b, *inner, fault, &err)) {
		fprintf(stderr, "backend: %s\n", err.text);
		_exit(3);
	}
	return b;
}

/* Free, and count what is left of this process's descriptors and maps. */
static void finish(struct self *self, struct kvp_share *s,
		   struct kvp_backend *b, struct kvp_backend *inner,
		   uint32_t before, struct report *r)
{
	struct kvp_error err = { 0 };
	uint64_t at = self->m->at;

	self->m->at = 0;
	keep_error(r, 3, kvp_share_free(s, &err), &err);
	self->m->at = at;
	kvp_backend_close(b);
	kvp_backend_close(inner);
	r->left = count_descriptors() - before;
}

static void run_member(struct self *self)
{
	struct job *j = self->job;
	struct member *m = self->m;
	static struct kvp_share_blob all[LAUNCH_MAX];
	uint32_t before = count_descriptors();
	struct kvp_backend *inner, *b;
	struct kvp_fault fault;
	struct kvp_share_options o = {
		.realize = {
			.first_rank = m->first_rank, .nranks = m->nranks,
			.check = j->check, .event = on_event, .cookie = self,
			.interrupt = &interrupted,
		},
		.node = m->node, .directory = j->directory,
		.share_gpu = j->share_gpu, .deadline = j->deadline,
	};
	struct kvp_share *s = NULL;
	struct kvp_share_blob mine;
	struct kvp_error err = { 0 };
	struct report r = { 0 };
	char go;

	signal(SIGINT, interrupt);
	b = open_backend(self, &inner, &fault);
	keep_error(&r, 0, kvp_share_begin(&s, j->plan, j->verdict, b, &o,
					  &mine, &err), &err);
	r.calls[0] = self->calls;
	if (!gather(self, &mine, all))
		memset(all, 0, sizeof(all));
	keep_error(&r, 1, kvp_share_exchange(s, all, j->count, &mine, &err),
		   &err);
	r.calls[1] = self->calls;
	if (!gather(self, &mine, all))
		memset(all, 0, sizeof(all));
	keep_error(&r, 2, kvp_share_commit(s, all, j->count, &err), &err);
	r.state = kvp_share_state(s);
	give_part(self, s);
	if (r.state == KVP_PUBLISHED) {
		r.entries =
			kvp_realization_entries(kvp_share_realization(s));
		if (j->published)
			j->published(s, m);
	}
	/* All are in the state that they report until all have reported. */
	write_all(m->fd, &r, sizeof(r));
	read_all(m->fd, &go, 1);
	fault.countdown = 0;
	finish(self, s, b, inner, before, &r);
	write_all(m->fd, &r, sizeof(r));
	_exit(0);
}

/* --- in the launcher --- */

static void start(struct job *j, uint32_t i)
{
	struct self self = { .job = j, .m = &j->member[i] };
	struct member *m = &j->member[i];
	int pair[2];
	uint32_t k;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		perror("socketpair");
		exit(1);
	}
	fflush(NULL);
	m->pid = fork();
	if (m->pid) {
		m->fd = pair[0];
		close(pair[1]);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (k = 0; k < i; k++)
		close(j->member[k].fd);
	close(pair[0]);
	m->fd = pair[1];
	run_member(&self);
}

/* The process has died, or is stopped. */
static bool is_out(struct member *m)
{
	siginfo_t info = { .si_pid = 0 };

	if (m->stopped || !m->pid)
		return true;
	if (waitid(P_PID, (id_t)m->pid, &info, WEXITED | WSTOPPED | WNOHANG |
		   WNOWAIT) || info.si_pid == 0)
		return false;
	m->stopped = info.si_code == CLD_STOPPED;
	return true;
}

/*
 * Read `len` bytes from every process, into to(member); false for one that
 * ends or does not give them.  One that has stopped is given the gather's
 * deadline.
 */
static bool receive_within(struct job *j, struct member *m, void *bytes,
			   size_t len)
{
	struct pollfd p = { m->fd, POLLIN, 0 };
	uint64_t begun = now(), stopped = 0;

	if (m->fd < 0)
		return false;
	while (!poll(&p, 1, 5)) {
		if (is_out(m) && !stopped)
			stopped = now();
		if ((stopped && now() - stopped > j->gather_deadline) ||
		    now() - begun > JOB_MS)
			return false;
	}
	return read_all(m->fd, bytes, len);
}

static void carry(struct job *j, unsigned number)
{
	struct kvp_share_blob all[LAUNCH_MAX], changed[LAUNCH_MAX];
	uint32_t i;

	memset(all, 0, sizeof(all));
	for (i = 0; i < j->count; i++) {
		if (!receive_within(j, &j->member[i], &all[i], sizeof(all[i])))
			memset(&all[i], 0, sizeof(all[i]));
		j->member[i].blob[number - 1] = all[i];
	}
	for (i = 0; i < j->count; i++) {
		memcpy(changed, all, sizeof(all));
		if (j->change)
			j->change(j, number, i, changed);
		if (j->member[i].fd >= 0)
			write_all(j->member[i].fd, changed,
				  j->count * sizeof(*changed));
	}
}

static void carry_parts(struct job *j)
{
	uint64_t size;
	uint32_t i;

	for (i = 0; i < j->count; i++) {
		struct member *m = &j->member[i];

		if (!receive_within(j, m, &size, sizeof(size)) || !size ||
		    size > 1 << 26)
			continue;
		m->part = malloc(size);
		m->part_len = size;
		if (!receive_within(j, m, m->part, size))
			m->part_len = 0;
	}
}

static bool collect(struct job *j)
{
	bool well = true;
	uint32_t i;

	for (i = 0; i < j->count; i++) {
		struct member *m = &j->member[i];

		m->reported = receive_within(j, m, &m->report,
					     sizeof(m->report));
		well &= m->reported || is_out(m);
	}
	return well;
}

bool launch(struct job *j)
{
	bool well;
	uint32_t i;

	for (i = 0; i < j->count; i++)
		start(j, i);
	carry(j, 1);
	carry(j, 2);
	carry_parts(j);
	well = collect(j);
	for (i = 0; i < j->count; i++)
		if (j->member[i].reported)
			write_all(j->member[i].fd, "g", 1);
	well &= collect(j);
	for (i = 0; i < j->count; i++) {
		kill(j->member[i].pid, SIGKILL);
		waitpid(j->member[i].pid, NULL, 0);
		close(j->member[i].fd);
	}
	return well;
}

void launch_release(struct job *j)
{
	uint32_t i;

	for (i = 0; i < j->count; i++)
		free(j->member[i].part);
}
