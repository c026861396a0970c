/*
 * The launcher.  Each process has a socket to the launcher; what it gives is a
 * note with a kind, so that one that comes late is told from the next.  A
 * gather is one note from each process and one answer to each.
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

#include "backend/backend_host.h"

#define JOB_MS 120000

/* Preflight asks for the limits of the process past the events. */
#define TOLD_OPS (KVP_OP_ALL & ~KVP_OP_PROCESS)

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

struct note {
	uint32_t kind;
	uint32_t len;
};

bool launch_give(struct member *m, enum note_kind kind, const void *bytes,
		 size_t len)
{
	const struct note n = { kind, (uint32_t)len };

	return write_all(m->fd, &n, sizeof(n)) && write_all(m->fd, bytes, len);
}

bool launch_get(struct member *m, void *bytes, size_t len)
{
	return read_all(m->fd, bytes, len);
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
	struct kvp_backend *inner, *backend;
	struct kvp_fault fault;
	uint64_t calls;
	struct report report;
};

static void on_event(void *cookie, const struct kvp_event *e)
{
	struct self *self = cookie;

	if (e->kind != KVP_EVENT_CALL)
		return;
	self->calls++;
	self->report.calls_done = e->calls_done;
	self->report.calls_total = e->calls_total;
	if (self->m->signal && self->calls == self->m->at)
		raise(self->m->signal);
}

static void pass(const struct self *self, enum point point)
{
	if (self->m->signal && self->m->point == point)
		raise(self->m->signal);
}

static uint64_t count_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	uint64_t count = 0;

	while (f && fgets(line, sizeof(line), f))
		count += strstr(line, "memfd:kvplan") != NULL;
	if (f)
		fclose(f);
	return count;
}

uint64_t launch_count_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	uint64_t count = 0;

	while (d && readdir(d))
		count++;
	if (d)
		closedir(d);
	return count + count_maps();
}

/* Give a blob and get all; those of a gather that failed are zero. */
static void gather(struct self *self, enum note_kind kind,
		   const struct kvp_share_blob *mine,
		   struct kvp_share_blob *all)
{
	size_t len = self->job->count * sizeof(*all);
	bool given = launch_give(self->m, kind, mine, sizeof(*mine));

	pass(self, kind == NOTE_BLOB_1 ? POINT_GAVE_1 : POINT_GAVE_2);
	if (!given || !launch_get(self->m, all, len))
		memset(all, 0, len);
	pass(self, kind == NOTE_BLOB_1 ? POINT_GOT_1 : POINT_GOT_2);
}

static void give_part(struct self *self, const struct kvp_share *s)
{
	const struct kvp_realization *r = kvp_share_realization(s);
	char *text = NULL;
	size_t len = 0;

	if (r && kvp_realization_write(r, true, &text, &len, NULL))
		len = 0;
	launch_give(self->m, NOTE_PART, text, len);
	free(text);
	pass(self, POINT_GAVE_PART);
}

static void keep(struct self *self, enum share_call call, int code,
		 const struct kvp_error *err)
{
	struct report *r = &self->report;

	r->code[call] = code;
	if (code)
		memcpy(r->text[call], err->text, sizeof(r->text[call]));
	r->calls[call] = self->calls;
}

static void open_backend(struct self *self)
{
	uint32_t index = (uint32_t)(self->m - self->job->member);
	struct kvp_error err = { 0 };

	self->fault = (struct kvp_fault){ .ops = TOLD_OPS };
	if (!self->m->signal)
		self->fault.countdown = self->m->at;
	if (!self->job->backend(&self->inner, index, &err) &&
	    !kvp_backend_fault(&self->backend, self->inner, &self->fault,
			       &err))
		return;
	fprintf(stderr, "backend: %s\n", err.text);
	_exit(3);
}

static struct kvp_share *share(struct self *self)
{
	const struct job *j = self->job;
	const struct member *m = self->m;
	static struct kvp_share_blob all[LAUNCH_MAX];
	const struct kvp_share_options o = {
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

	/* Whatever happens, it is filled. */
	memset(&mine, 0x55, sizeof(mine));
	pass(self, POINT_START);
	keep(self, CALL_BEGIN, kvp_share_begin(&s, j->plan, j->verdict,
					       self->backend, &o, &mine, &err),
	     &err);
	pass(self, POINT_BEGUN);
	gather(self, NOTE_BLOB_1, &mine, all);
	memset(&mine, 0x55, sizeof(mine));
	keep(self, CALL_EXCHANGE, kvp_share_exchange(s, all, j->count, &mine,
						     &err), &err);
	if (kvp_share_realization(s) || kvp_share_plane(s, m->first_rank, 0))
		abort();	/* before the commit */
	pass(self, POINT_EXCHANGED);
	gather(self, NOTE_BLOB_2, &mine, all);
	keep(self, CALL_COMMIT, kvp_share_commit(s, all, j->count, &err),
	     &err);
	pass(self, POINT_COMMITTED);
	return s;
}

/* Tell that this process is so far, and wait until all are. */
static void meet(struct self *self, enum note_kind kind)
{
	char go;

	launch_give(self->m, kind, &self->report, sizeof(self->report));
	launch_get(self->m, &go, 1);
}

static uint64_t count_alive(const struct kvp_backend *host)
{
	struct host_alive alive;

	if (strcmp(host->name, "host"))
		return 0;
	host_alive(host, &alive);
	return alive.reservations + alive.handles + alive.mappings;
}

static void run_member(struct self *self)
{
	struct job *j = self->job;
	struct report *r = &self->report;
	uint64_t before = launch_count_open();
	struct kvp_error err = { 0 };
	struct kvp_share *s;

	signal(SIGINT, interrupt);
	open_backend(self);
	if (j->started)
		j->started(NULL, self->m, r);
	s = share(self);
	r->state = kvp_share_state(s);
	r->held = count_alive(self->inner);
	give_part(self, s);
	if (r->state == KVP_PUBLISHED)
		r->entries = kvp_realization_entries(kvp_share_realization(s));
	if (j->committed)
		j->committed(s, self->m, r);
	meet(self, NOTE_COMMITTED);
	if (j->settled)
		j->settled(s, self->m, r);
	meet(self, NOTE_SETTLED);
	keep(self, CALL_FREE, kvp_share_free(s, &err), &err);
	r->left = count_alive(self->inner);
	kvp_backend_close(self->backend);
	kvp_backend_close(self->inner);
	r->left += launch_count_open() - before;
	if (j->freed)
		j->freed(NULL, self->m, r);
	launch_give(self->m, NOTE_FREED, r, sizeof(*r));
	exit(0);
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
	if (m->pid < 0) {
		perror("fork");
		exit(1);
	}
	if (m->pid) {
		m->fd = pair[0];
		close(pair[1]);
		return;
	}
	for (k = 0; k < i; k++)
		close(j->member[k].fd);
	close(pair[0]);
	m->fd = pair[1];
	if (j->prepare)
		j->prepare(j, i);
	/* Another user's process forgets this. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (m->run) {
		m->run(j, m);
		exit(0);
	}
	run_member(&self);
}

/* The process has died, or is stopped. */
static bool is_out(struct member *m)
{
	siginfo_t info = { .si_pid = 0 };

	if (m->stopped)
		return true;
	if (waitid(P_PID, (id_t)m->pid, &info, WEXITED | WSTOPPED | WNOHANG |
		   WNOWAIT) || info.si_pid == 0)
		return false;
	m->stopped = info.si_code == CLD_STOPPED;
	return true;
}

/* It ends a little later than its socket. */
static bool is_out_soon(struct member *m)
{
	unsigned tries;

	for (tries = 0; tries < 1000 && !is_out(m); tries++)
		poll(NULL, 0, 2);
	return is_out(m);
}

/* Wait for a process's next note.  One that has stopped is given the deadline
   of a gather, once. */
static bool wait_for(const struct job *j, struct member *m)
{
	struct pollfd p = { m->fd, POLLIN, 0 };
	uint64_t begun = now(), stopped = 0;

	while (!poll(&p, 1, m->waited_for ? 0 : 5)) {
		if (is_out(m) && !stopped)
			stopped = now();
		if (m->waited_for || now() - begun > JOB_MS ||
		    (stopped && now() - stopped > j->gather_deadline)) {
			m->waited_for = m->stopped;
			return false;
		}
	}
	return true;
}

/* Receive a note of this kind; earlier ones have come too late.  Returns what
   it holds, allocated, or NULL if none comes. */
static char *receive(const struct job *j, struct member *m,
		     enum note_kind kind, size_t *len)
{
	struct note n;
	char *bytes;

	while (wait_for(j, m)) {
		if (!read_all(m->fd, &n, sizeof(n)))
			return NULL;
		bytes = malloc((size_t)n.len + 1);
		if (!bytes || !read_all(m->fd, bytes, n.len)) {
			free(bytes);
			return NULL;
		}
		if (n.kind == kind) {
			*len = n.len;
			return bytes;
		}
		free(bytes);
	}
	return NULL;
}

static bool receive_into(const struct job *j, struct member *m,
			 enum note_kind kind, void *bytes, size_t size)
{
	size_t len;
	char *got = receive(j, m, kind, &len);
	bool well = got && len == size;

	if (well)
		memcpy(bytes, got, size);
	free(got);
	return well;
}

static void resume(struct job *j, unsigned gather)
{
	struct member *m;

	for (m = j->member; m < j->member + j->count; m++) {
		if (!m->resume || m->resume != gather)
			continue;
		m->stopped = m->waited_for = false;
		kill(m->pid, SIGCONT);
	}
}

static void carry(struct job *j, unsigned number)
{
	enum note_kind kind = number == 1 ? NOTE_BLOB_1 : NOTE_BLOB_2;
	struct kvp_share_blob all[LAUNCH_MAX], changed[LAUNCH_MAX];
	uint32_t i;

	memset(all, 0, sizeof(all));
	for (i = 0; i < j->count; i++) {
		receive_into(j, &j->member[i], kind, &all[i], sizeof(all[i]));
		j->member[i].blob[number - 1] = all[i];
	}
	for (i = 0; i < j->count; i++) {
		memcpy(changed, all, sizeof(all));
		if (j->change)
			j->change(j, number, i, changed);
		write_all(j->member[i].fd, changed,
			  j->count * sizeof(*changed));
	}
	resume(j, number);
}

static void carry_parts(struct job *j)
{
	struct member *m;

	for (m = j->member; m < j->member + j->count; m++)
		m->part = receive(j, m, NOTE_PART, &m->part_len);
	resume(j, 3);
}

/* Receive all reports of a kind, then let all go on. */
static bool collect(struct job *j, enum note_kind kind)
{
	struct member *m;
	bool well = true, got;

	for (m = j->member; m < j->member + j->count; m++) {
		got = receive_into(j, m, kind, &m->report, sizeof(m->report));
		m->reported |= got;
		m->freed = got && kind == NOTE_FREED;
		well &= got || is_out_soon(m);
	}
	for (m = j->member; m < j->member + j->count; m++)
		write_all(m->fd, "g", 1);
	return well;
}

/* Wait for a process that has freed all; kill what is left of the others. */
static bool end(struct member *m)
{
	int status = 0;

	if (!m->freed)
		kill(m->pid, SIGKILL);
	waitpid(m->pid, &status, 0);
	close(m->fd);
	return !m->freed || status == 0;
}

bool launch(struct job *j)
{
	struct member *m;
	bool well;
	uint32_t i;

	for (i = 0; i < j->count; i++)
		start(j, i);
	carry(j, 1);
	carry(j, 2);
	carry_parts(j);
	well = collect(j, NOTE_COMMITTED);
	well &= collect(j, NOTE_SETTLED);
	well &= collect(j, NOTE_FREED);
	for (m = j->member; m < j->member + j->count; m++)
		well &= end(m);
	return well;
}

void launch_release(struct job *j)
{
	struct member *m;

	for (m = j->member; m < j->member + j->count; m++) {
		free(m->part);
		m->part = NULL;
	}
}
