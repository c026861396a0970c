/*
 * The files that a command reads and writes: an output may not be another
 * file of the same command, and a signal leaves no temporary file.
 */
#include "cli/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/interrupt.h"

/* The most symbolic links that Linux follows in a path. */
#define LINKS_MAX 40

/* What a path leads to: a file, or a new name in a directory. */
struct target {
	dev_t device;		/* of the file, or of the directory */
	ino_t inode;
	char last[PATH_MAX];	/* the new name; "": the file exists */
};

/* The last name of a path, writable. */
static char *last_name(char *path)
{
	return path + (kvp_file_last_name(path) - path);
}

static bool set_inode(struct target *p, const struct stat *st)
{
	p->device = st->st_dev;
	p->inode = st->st_ino;
	return true;
}

/* Replace a link in path by its target.  False if path is no link. */
static bool follow_link(char *path, size_t room)
{
	char to[PATH_MAX], *at;
	ssize_t len = readlink(path, to, sizeof(to) - 1);

	if (len < 0)
		return false;
	to[len] = '\0';
	at = *to == '/' ? path : last_name(path);
	return snprintf(at, room - (size_t)(at - path), "%s", to) <
	       (int)(room - (size_t)(at - path));
}

/* The file does not exist: fill in its directory and name. */
static bool find_new_name(char *path, struct target *p)
{
	char *last = last_name(path);
	struct stat st;

	snprintf(p->last, sizeof(p->last), "%s", last);
	*last = '\0';
	return *p->last && !stat(*path ? path : ".", &st) &&
	       set_inode(p, &st);
}

/*
 * False if the path is no regular file and cannot become one, such as a pipe:
 * then writing it overwrites nothing, or fails.
 */
static bool find_target(const char *given, struct target *p)
{
	char path[2 * PATH_MAX];
	struct stat st;
	int links;

	*p->last = '\0';
	if (!strcmp(given, "-"))
		return !fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode) &&
		       set_inode(p, &st);
	if (strlen(given) >= PATH_MAX)
		return false;
	strcpy(path, given);
	for (links = 0; links <= LINKS_MAX; links++) {
		if (!stat(path, &st))
			return S_ISREG(st.st_mode) && set_inode(p, &st);
		if (errno != ENOENT)
			return false;
		if (!follow_link(path, sizeof(path)))
			return find_new_name(path, p);
	}
	return false;
}

static bool is_same_file(const char *a, const char *b)
{
	struct target x, y;

	return find_target(a, &x) && find_target(b, &y) &&
	       x.device == y.device && x.inode == y.inode &&
	       !strcmp(x.last, y.last);
}

/* Would writing the output overwrite the other file? */
static bool files_clash(const struct run_file *output,
			const struct run_file *other)
{
	if (!output->path || !other->path || !strcmp(output->path, "-") ||
	    (other->output && !strcmp(other->path, "-")))
		return false;
	if (other->replaced_by && !strcmp(other->replaced_by, output->option))
		return false;
	return is_same_file(output->path, other->path);
}

/*
 * The name of the standard stream that a shell has redirected to this file;
 * NULL: none.
 */
static const char *find_stream(const char *path, bool prints)
{
	static const char *const names[] = {
		[STDOUT_FILENO] = "standard output",
		[STDERR_FILENO] = "standard error",
	};
	struct target t;
	struct stat st;
	int fd;

	if (!path || !strcmp(path, "-") || !find_target(path, &t) || *t.last)
		return NULL;
	for (fd = prints ? STDOUT_FILENO : STDERR_FILENO;
	     fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
		    st.st_dev == t.device && st.st_ino == t.inode)
			return names[fd];
	return NULL;
}

int files_check(const struct run_file *files, size_t count, bool prints)
{
	const char *printed;
	size_t i, j;

	for (i = 0; i < count; i++) {
		printed = files[i].output ?
			  find_stream(files[i].path, prints) : NULL;
		if (printed)
			return out_usage_error("%s%s: is %s too; give it "
					       "a file of its own",
					       files[i].option, files[i].path,
					       printed);
	}
	for (i = 0; i < count; i++)
		for (j = 0; files[i].output && j < count; j++)
			if (i != j && files_clash(&files[i], &files[j]))
				return out_usage_error("%s%s: is %s too; give "
					"it a file of its own",
					files[i].option, files[i].path,
					files[j].what);
	return KVP_EXIT_YES;
}

/* A pipe or device: opening it may wait, and it has no temporary file. */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

int files_write(const char *path, const char *text, size_t len,
		struct kvp_error *err)
{
	bool hold = !is_special(path);
	struct kvp_file_out f;
	int code;

	if (hold)
		interrupt_hold();
	code = kvp_file_begin(&f, path, err);
	f.interrupt = &interrupt_signal;
	if (!code)
		code = kvp_file_commit(&f, text, len, err);
	if (hold)
		interrupt_release();
	return code;
}

int files_begin(struct kvp_file_out *f, const char *path,
		struct kvp_error *err)
{
	bool hold = !is_special(path);
	int code;

	if (hold)
		interrupt_hold();
	code = kvp_file_begin(f, path, err);
	if (hold)
		interrupt_release();
	return code;
}

void files_await_reader(const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISFIFO(st.st_mode))
		(void)!open(path, O_WRONLY | O_CLOEXEC);
}
