/*
 * Signals while a command writes a file: kvplan itself runs in a child and
 * gets the signal before or after a chosen call of writing.  Whatever the
 * signal, the call, the command and the file system: the target is the old
 * file or the whole new one, nothing lies beside it, and the command ends by
 * the signal.
 *
 * openat, write, fchmod, fsync, linkat and renameat are this program's own.
 *
 * usage: signal [cuda]   (from the top directory; cuda: libcuda.so.1 is the
 * stand-in)
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OLD "the old file\n"
#define ARGS 12

/* src/cli/main.c, under another name. */
int kvplan_main(int argc, char **argv);

static int passed, failed;
static char dir[64], target[96], plan[96], pipe_path[96];

/* --- the calls of writing --- */

static struct {
	const char *call;	/* NULL: none */
	int nth;		/* of these calls, from 1 */
	int signal;
	bool named;		/* no O_TMPFILE here */
	bool fault;		/* no signal: a fault of the process itself */
	volatile int *sent;	/* told to the parent */
} stop;

static volatile int *volatile nowhere;

static void reach(const char *call)
{
	if (!stop.call || strcmp(call, stop.call) || --stop.nth)
		return;
	*stop.sent = 1;
	if (stop.fault)
		*nowhere = 1;
	else
		kill(getpid(), stop.signal);
}

static int result(const char *after, long rc)
{
	int number = errno;

	if (rc >= 0)
		reach(after);
	errno = number;
	return (int)rc;
}

int openat(int at, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	if (stop.named && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if ((flags & O_ACCMODE) != O_WRONLY)
		return (int)syscall(SYS_openat, at, path, flags, mode);
	reach("openat");
	return result("after openat",
		      syscall(SYS_openat, at, path, flags, mode));
}

ssize_t write(int fd, const void *text, size_t len)
{
	if (fd > 2)
		reach("write");
	return syscall(SYS_write, fd, text, len);
}

int fchmod(int fd, mode_t mode)
{
	reach("fchmod");
	return (int)syscall(SYS_fchmod, fd, mode);
}

/* Hundreds of runs need no disk. */
int fsync(int fd)
{
	(void)fd;
	reach("fsync");
	return 0;
}

int linkat(int at, const char *from, int to_at, const char *to, int flags)
{
	reach("linkat");
	return result("after linkat",
		      syscall(SYS_linkat, at, from, to_at, to, flags));
}

int renameat(int at, const char *from, int to_at, const char *to)
{
	reach("renameat");
	return result("after renameat",
		      syscall(SYS_renameat, at, from, to_at, to));
}

/* --- one run --- */

struct run {
	const char *const *args;	/* of kvplan, up to NULL */
	const char *call;
	int nth;
	int signal;
	bool named;
	bool old;		/* there is an old file */
	bool ignored;		/* whoever starts us ignores the signal */
	bool fault;
	bool placed;		/* by then it is being put in place */
	int status;		/* what came out */
	bool sent;
};

static void tell(const struct run *r, bool good, const char *what)
{
	passed += good;
	failed += !good;
	if (!good)
		printf("FAIL signal: %s, %d at %d. %s, %s, %s: %s; ended "
		       "with 0x%x\n", r->args[0], r->signal, r->nth,
		       r->call ? r->call : "input",
		       r->named ? "named" : "unnamed",
		       r->old ? "old target" : "new target", what,
		       (unsigned)r->status);
}

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	printf("FAIL signal: cannot prepare: %s\n"
	       "0 passed, 1 failed, 0 skipped\n", what);
	exit(1);
}

static void put_old(void)
{
	FILE *f = fopen(target, "w");

	must(f && fputs(OLD, f) >= 0 && !fclose(f), target);
}

/* Files in the directory. */
static int count_files(void)
{
	DIR *list = opendir(dir);
	int count = -2;

	must(list, dir);
	while (readdir(list))
		count++;
	closedir(list);
	return count;
}

static void remove_files(void)
{
	struct dirent *e;
	DIR *list = opendir(dir);
	char path[400];

	must(list, dir);
	while ((e = readdir(list)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (*e->d_name != '.' || !strncmp(e->d_name, ".kvplan-", 8))
			unlink(path);
	}
	closedir(list);
}

static bool target_is(const char *begin, const char *end)
{
	static char text[1 << 20];
	FILE *f = fopen(target, "r");
	size_t len = f ? fread(text, 1, sizeof(text), f) : 0;

	if (f)
		fclose(f);
	return f && len >= strlen(begin) && len >= strlen(end) &&
	       !memcmp(text, begin, strlen(begin)) &&
	       !memcmp(text + len - strlen(end), end, strlen(end));
}

static void run_child(const struct run *r)
{
	char name[] = "kvplan", *argv[ARGS] = { name };
	int argc = 1, null = open("/dev/null", O_RDWR);

	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	while (r->args[argc - 1]) {
		argv[argc] = strdup(r->args[argc - 1]);
		argc++;
	}
	stop.call = r->call;
	stop.nth = r->nth;
	stop.signal = r->signal;
	stop.named = r->named;
	stop.fault = r->fault;
	if (r->ignored)
		signal(r->signal, SIG_IGN);
	_exit(kvplan_main(argc, argv));
}

static pid_t start(struct run *r)
{
	pid_t child;

	remove_files();
	if (r->old)
		put_old();
	*stop.sent = 0;
	fflush(stdout);
	child = fork();
	must(child >= 0, "fork");
	if (!child)
		run_child(r);
	return child;
}

static void end(struct run *r, pid_t child)
{
	must(waitpid(child, &r->status, 0) == child, "waitpid");
	r->sent = *stop.sent;
}

static bool by_signal(const struct run *r)
{
	return WIFSIGNALED(r->status) && WTERMSIG(r->status) == r->signal;
}

/* What holds for every run. */
static void check_files(const struct run *r)
{
	bool whole = target_is("{", "}\n");
	bool is_old = r->old ? target_is(OLD, OLD) : access(target, F_OK);

	tell(r, r->sent && !r->placed ? is_old : whole,
	     "the target is not what it has to be");
	tell(r, count_files() == (whole || r->old),
	     "something is left beside the target");
	tell(r, whole || !WIFEXITED(r->status) || WEXITSTATUS(r->status),
	     "status 0 and no new file");
}

/* --- commands, calls, signals --- */

static const char *const cmd_plan[] = {
	"plan", "-q", "-o", target, "layouts/example.json", NULL
};
static const char *const cmd_import[] = {
	"import", "-q", "--tp=4", "--state-dtype=bf16", "-o", target,
	"tests/import/configs/qwen3-next-80b-a3b.json", NULL
};
static const char *const cmd_size[] = {
	"size", "--free=1GiB", "-o", target, "layouts/example.json", NULL
};
static const char *const cmd_realize[] = {
	"realize", "--ranks=0", "--publish", target, plan, NULL
};
static const char *const cmd_probe[] = {
	"probe", "--gpus=0", "-o", target, NULL
};

/* The first file made is only to see whether one can be made. */
static const struct step {
	const char *call;
	int nth;
	bool placed;
} steps[] = {
	{ "openat", 1, false }, { "after openat", 1, false },
	{ "openat", 2, false }, { "after openat", 2, false },
	{ "write", 1, false }, { "fchmod", 1, false }, { "fsync", 1, false },
	{ "linkat", 1, true }, { "after linkat", 1, true },
	{ "linkat", 2, true }, { "renameat", 1, true },
	{ "after renameat", 1, true },
};
#define STEPS (sizeof(steps) / sizeof(*steps))

/* Does it end a process that does nothing about it? */
static bool ends_process(int number)
{
	static const int others[] = {
		SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTSTP,
		SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ	/* kvplan ignores two */
	};
	struct sigaction action;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (number == others[i])
			return false;
	/* Sanitizers have handlers of their own. */
	return !sigaction(number, NULL, &action) &&
	       action.sa_handler == SIG_DFL;
}

typedef bool judge_end(const struct run *r);

/* plan, import and size end by the signal, but not between two names. */
static bool writer_ends(const struct run *r)
{
	return r->sent ? by_signal(r) : !r->status;
}

/*
 * realize and probe give back what they hold, and tell it by their status; but
 * once the file is there it is too late to be interrupted.
 */
static bool holder_ends(const struct run *r)
{
	if (!r->sent || r->placed)
		return !r->status;
	return by_signal(r) || (WIFEXITED(r->status) &&
				WEXITSTATUS(r->status) == 128 + r->signal);
}

static void stop_command(const char *const *args, const struct step *step,
			 int number, judge_end *ends, bool *reached)
{
	struct run r = { .args = args, .call = step->call, .nth = step->nth,
			 .signal = number, .placed = step->placed };
	int way;

	for (way = 0; way < 4; way++) {
		r.named = way & 1;
		r.old = way & 2;
		end(&r, start(&r));
		check_files(&r);
		tell(&r, ends(&r), ends == writer_ends ?
		     "not ended by the signal" : "another status");
		*reached |= r.sent;
	}
}

static void stop_everywhere(const char *const *args,
			    judge_end *ends)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	size_t i, n;
	bool reached;

	for (i = 0; i < STEPS; i++) {
		reached = false;
		for (n = 0; n < sizeof(numbers) / sizeof(*numbers); n++)
			stop_command(args, &steps[i], numbers[n], ends,
				     &reached);
		if (!reached)
			printf("FAIL signal: %s never calls %s %d times\n",
			       args[0], steps[i].call, steps[i].nth);
		failed += !reached;
	}
}

/* Every signal, where a name lies beside the target. */
static void stop_by_every_signal(void)
{
	const struct step renaming = { "renameat", 1, true };
	int number, count = 0;
	bool reached;

	for (number = 1; number <= SIGRTMAX; number++) {
		if (!ends_process(number))
			continue;
		reached = false;
		stop_command(cmd_plan, &renaming, number, writer_ends,
			     &reached);
		stop_command(cmd_realize, &renaming, number, holder_ends,
			     &reached);
		count++;
	}
	must(count > 40, "there are more signals");
}

/* --- what must not be caught --- */

static void ignore_signal(void)
{
	struct run r = { .args = cmd_plan, .call = "renameat", .nth = 1,
			 .signal = SIGHUP, .old = true, .ignored = true };

	end(&r, start(&r));
	tell(&r, r.sent && !r.status && target_is("{", "}\n"),
	     "an ignored signal ends it");
}

/* A fault of the process itself ends it as ever. */
static void fault(void)
{
	struct run r = { .args = cmd_plan, .call = "renameat", .nth = 1,
			 .signal = SIGSEGV, .old = true, .fault = true };

	if (!ends_process(SIGSEGV))
		return;
	end(&r, start(&r));
	tell(&r, r.sent && by_signal(&r) && target_is(OLD, OLD),
	     "a fault does not end it");
	r.args = cmd_realize;
	end(&r, start(&r));
	tell(&r, r.sent && by_signal(&r) && target_is(OLD, OLD),
	     "a fault does not end it");
}

/* A pipe that nobody writes: the input is waited for. */
static void stop_reader(void)
{
	const char *const args[] = { "plan", "-o", target, pipe_path, NULL };
	struct run r = { .args = args, .old = true };
	pid_t child;
	int fd;

	for (r.signal = 1; r.signal <= SIGRTMAX; r.signal++) {
		if (!ends_process(r.signal))
			continue;
		child = start(&r);
		fd = open(pipe_path, O_WRONLY);	/* waits for the reader */
		kill(child, r.signal);
		end(&r, child);
		close(fd);
		tell(&r, by_signal(&r), "not ended by the signal");
		tell(&r, target_is(OLD, OLD) && count_files() == 1,
		     "the old file is gone, or something is beside it");
	}
}

/* Nothing but the pipe makes a child wait. */
static bool waits(pid_t child)
{
	char path[64], text[128] = "";
	const char *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)child);
	f = fopen(path, "r");
	must(f && fgets(text, sizeof(text), f), path);
	fclose(f);
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

/* A pipe that nobody reads: opening it to write waits, and can be ended. */
static void stop_waiting_writer(const char *const *args)
{
	struct run r = { .args = args, .signal = SIGTERM };
	pid_t child = start(&r);
	int tries = 0;

	while (!waits(child))
		usleep(1000);
	while (!waitpid(child, &r.status, WNOHANG)) {
		kill(child, ++tries < 3000 ? SIGTERM : SIGKILL);
		usleep(10000);
	}
	tell(&r, by_signal(&r), "not ended by the signal");
}

static void stop_waiting_writers(bool cuda)
{
	static const char *const to_plan[] = {
		"plan", "-o", pipe_path, "layouts/example.json", NULL
	}, *const to_publish[] = {
		"realize", "--ranks=0", "--publish", pipe_path, plan, NULL
	}, *const to_trace[] = {
		"realize", "--ranks=0", "--trace", pipe_path, plan, NULL
	}, *const to_probe[] = {
		"probe", "--gpus=0", "-o", pipe_path, NULL
	};

	stop_waiting_writer(to_plan);
	stop_waiting_writer(to_publish);
	stop_waiting_writer(to_trace);
	if (cuda)
		stop_waiting_writer(to_probe);
}

static void prepare(void)
{
	const struct rlimit none = { 0, 0 };
	const char *const args[] = { "plan", "-q", "-o", plan,
				     "layouts/example.json", NULL };
	struct run r = { .args = args };

	setrlimit(RLIMIT_CORE, &none);
	alarm(600);
	stop.sent = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(stop.sent != MAP_FAILED, "mmap");
	strcpy(dir, "/tmp/kvplan-signal-XXXXXX");
	must(mkdtemp(dir), dir);
	snprintf(target, sizeof(target), "%s/target", dir);
	snprintf(plan, sizeof(plan), "%s.plan", dir);
	snprintf(pipe_path, sizeof(pipe_path), "%s.pipe", dir);
	must(!mkfifo(pipe_path, 0600), pipe_path);
	end(&r, start(&r));
	must(!r.status, "plan");
}

int main(int argc, char **argv)
{
	static char out[4096];
	bool cuda = argc > 1 && !strcmp(argv[1], "cuda");

	setvbuf(stdout, out, _IOLBF, sizeof(out));
	prepare();
	stop_everywhere(cmd_plan, writer_ends);
	stop_everywhere(cmd_import, writer_ends);
	stop_everywhere(cmd_size, writer_ends);
	stop_everywhere(cmd_realize, holder_ends);
	if (cuda)
		stop_everywhere(cmd_probe, holder_ends);
	stop_by_every_signal();
	ignore_signal();
	fault();
	stop_reader();
	stop_waiting_writers(cuda);
	remove_files();
	unlink(plan);
	unlink(pipe_path);
	rmdir(dir);
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
