/*
 * Reading and writing whole files.  While a file is being written, a reader
 * of the target sees the old content or the new, never a part of it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* O_TMPFILE, O_PATH */
#endif

#include "base/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/standard.h"

const char *kvp_file_label(const char *path)
{
	return strcmp(path, "-") ? path : "<stdin>";
}

static int fail_io(struct kvp_error *err, const char *verb, const char *path)
{
	return kvp_error_set(err, KVP_EIO, "%s: cannot %s: %s",
			     kvp_file_label(path), verb,
			     system_text(errno).text);
}

/* Read fd to its end, which works for pipes too. */
static int read_all(int fd, const char *path, char **text, size_t *len,
		    struct kvp_error *err)
{
	size_t room = 65536, used = 0;
	char *buf = malloc(room);
	char *bigger;
	ssize_t got;

	while (buf) {
		assert(used < room);
		got = read(fd, buf + used, room - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(buf);
			return fail_io(err, "read", path);
		}
		used += (size_t)got;
		if (!got) {
			buf[used] = '\0';
			*text = buf;
			*len = used;
			return KVP_OK;
		}
		if (used > KVP_FILE_MAX) {
			free(buf);
			return kvp_error_set(err, KVP_ELIMIT,
				"%s: more than %zu bytes; no geometry or plan "
				"is that large", kvp_file_label(path),
				KVP_FILE_MAX);
		}
		if (room - used > 4096)
			continue;
		room *= 2;
		bigger = realloc(buf, room);
		if (!bigger)
			free(buf);
		buf = bigger;
	}
	return kvp_error_nomem(err);
}

int kvp_file_read(const char *path, char **text, size_t *len,
		  struct kvp_error *err)
{
	bool standard = !strcmp(path, "-");
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int code;

	*text = NULL;
	*len = 0;
	if (fd < 0)
		return fail_io(err, "open", path);
	code = read_all(fd, path, text, len, err);
	if (!standard)
		close(fd);
	return code;
}

static int write_all(int fd, const char *text, size_t len)
{
	ssize_t put;

	while (len) {
		put = write(fd, text, len);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		text += put;
		len -= (size_t)put;
	}
	return 0;
}

const char *kvp_file_last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Write the directory to disk too, or the new name may be lost in a crash.
   A failure is ignored. */
static void sync_directory(const struct kvp_file_out *f)
{
	int fd = openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

static bool stat_target(const struct kvp_file_out *f, struct stat *st)
{
	return !fstatat(f->dir, kvp_file_last_name(f->target), st, 0);
}

/*
 * The mode to create a new file with: that of the target, so that the new
 * file is never readable for more users than the old one.  Without a target
 * the kernel applies the umask; the library cannot read the umask without
 * changing it for the whole process.
 */
static mode_t new_mode(const struct kvp_file_out *f)
{
	struct stat st;

	return stat_target(f, &st) ? st.st_mode & 0777 : 0666;
}

/* Create a file without a name; -1 if the file system cannot. */
static int create_unnamed(const struct kvp_file_out *f)
{
	return standard_move_above(openat(f->dir, ".", O_TMPFILE | O_WRONLY |
					  O_CLOEXEC, new_mode(f)));
}

/* The name of a temporary file in the target's directory. */
struct temporary {
	char name[32];
};

static int choose_name(struct temporary *temp)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -1;
	snprintf(temp->name, sizeof(temp->name), ".kvplan-%016llx",
		 (ull)number);
	return 0;
}

static int create_named(const struct kvp_file_out *f, struct temporary *temp)
{
	int fd;

	do {
		if (choose_name(temp))
			return -1;
		fd = openat(f->dir, temp->name, O_CREAT | O_EXCL |
			    O_WRONLY | O_CLOEXEC, new_mode(f));
	} while (fd < 0 && errno == EEXIST);
	return standard_move_above(fd);
}

/*
 * Give a file without a name the target's name.  If the target exists, which
 * a link cannot replace, give it a temporary name.  -1 if neither works.
 */
static int link_unnamed(const struct kvp_file_out *f, int fd,
			struct temporary *temp)
{
	const char *to = kvp_file_last_name(f->target);
	char from[40];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	*temp->name = '\0';
	while (linkat(AT_FDCWD, from, f->dir, to, AT_SYMLINK_FOLLOW)) {
		if (errno != EEXIST || choose_name(temp))
			return -1;
		to = temp->name;
	}
	return 0;
}

/* Write the text to a new file, which gets the mode of the target. */
static int write_new(const struct kvp_file_out *f, int fd, const char *text,
		     size_t len)
{
	struct stat st;

	return write_all(fd, text, len) ||
	       (stat_target(f, &st) && fchmod(fd, st.st_mode & 07777)) ||
	       fsync(fd) ? -1 : 0;
}

/*
 * Replace the target by a new file.  A signal that ends the process while
 * the new file has a temporary name leaves it behind: that is between the
 * link and the rename or, if the file system has no files without a name,
 * from the start.
 */
static int replace_target(const struct kvp_file_out *f, bool named,
			  const char *text, size_t len, struct kvp_error *err)
{
	struct temporary temp = { "" };
	int fd = named ? -1 : create_unnamed(f), code = KVP_OK;

	if (fd < 0) {
		named = true;
		fd = create_named(f, &temp);
	}
	if (fd < 0)
		return fail_io(err, "create a file beside it", f->target);
	if (write_new(f, fd, text, len)) {
		code = fail_io(err, "write", f->target);
	} else if (f->interrupt && *f->interrupt) {
		code = kvp_error_set(err, KVP_EINTERRUPTED,
				     "interrupted by signal %d",
				     (int)*f->interrupt);
	} else if (!named && link_unnamed(f, fd, &temp)) {
		close(fd);
		return replace_target(f, true, text, len, err);
	} else if (*temp.name && renameat(f->dir, temp.name, f->dir,
					  kvp_file_last_name(f->target))) {
		code = fail_io(err, "replace", f->target);
	}
	if (code && *temp.name)
		unlinkat(f->dir, temp.name, 0);
	else if (!code)
		sync_directory(f);
	close(fd);
	return code;
}

/* Open the target itself, to be overwritten. */
static int open_target(struct kvp_file_out *f, struct kvp_error *err)
{
	f->fd = standard_move_above(open(f->target, O_WRONLY | O_CLOEXEC));
	return f->fd < 0 ? fail_io(err, "open", f->target) : KVP_OK;
}

/* Check that a file can be created in the target's directory; remove it. */
static int check_directory(struct kvp_file_out *f, struct kvp_error *err)
{
	const char *last = kvp_file_last_name(f->target);
	char *dir = last > f->target ?
		    strndup(f->target, (size_t)(last - f->target)) :
		    strdup(".");
	struct temporary temp;
	int fd = -1, code = KVP_OK;

	if (!dir)
		return kvp_error_nomem(err);
	f->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->dir >= 0)
		fd = create_unnamed(f);
	if (f->dir >= 0 && fd < 0) {
		fd = create_named(f, &temp);
		if (fd >= 0)
			unlinkat(f->dir, temp.name, 0);
	}
	if (fd < 0)
		code = fail_io(err, "create a file beside it", f->target);
	else
		close(fd);
	free(dir);
	return code;
}

/*
 * Find the target's path, following links.  *direct becomes true if it must
 * be overwritten and not replaced: it is not a regular file, or it has no
 * name any more and is reached through a link such as /dev/stdout.
 */
static int find_target(struct kvp_file_out *f, const char *path, bool *direct,
		       struct kvp_error *err)
{
	struct stat st;

	f->target = realpath(path, NULL);
	*direct = f->target && !stat(f->target, &st) && !S_ISREG(st.st_mode);
	if (!f->target && errno == ENOENT) {
		*direct = !stat(path, &st);
		if (*direct || lstat(path, &st))
			f->target = strdup(path);
		else
			errno = ENOENT;		/* a link to nothing */
	}
	if (f->target)
		return KVP_OK;
	return errno == ENOMEM ? kvp_error_nomem(err) :
				 fail_io(err, "write", path);
}

int kvp_file_begin(struct kvp_file_out *f, const char *path,
		   struct kvp_error *err)
{
	bool direct = false;
	int code;

	assert(path);
	*f = (struct kvp_file_out){ .dir = -1, .fd = -1 };
	if (!*path) {
		errno = ENOENT;
		return fail_io(err, "write", "''");
	}
	code = find_target(f, path, &direct, err);
	if (!code)
		code = direct ? open_target(f, err) : check_directory(f, err);
	if (code)
		kvp_file_abandon(f);
	return code;
}

int kvp_file_commit(struct kvp_file_out *f, const char *text, size_t len,
		    struct kvp_error *err)
{
	struct stat st;
	int code = KVP_OK;

	assert(f->target && (f->fd >= 0 || f->dir >= 0));
	if (f->fd < 0) {
		code = replace_target(f, false, text, len, err);
	} else {
		/* A regular file without a name is emptied first. */
		if ((!fstat(f->fd, &st) && S_ISREG(st.st_mode) &&
		     ftruncate(f->fd, 0)) || write_all(f->fd, text, len))
			code = fail_io(err, "write", f->target);
		if (close(f->fd) && !code)
			code = fail_io(err, "close", f->target);
		f->fd = -1;
	}
	kvp_file_abandon(f);
	return code;
}

void kvp_file_abandon(struct kvp_file_out *f)
{
	if (f->target && f->dir >= 0)
		close(f->dir);
	if (f->target && f->fd >= 0)
		close(f->fd);
	free(f->target);
	*f = (struct kvp_file_out){ .dir = -1, .fd = -1 };
}

int kvp_file_write(const char *path, const char *text, size_t len,
		   struct kvp_error *err)
{
	struct kvp_file_out f;
	int code = kvp_file_begin(&f, path, err);

	return code ? code : kvp_file_commit(&f, text, len, err);
}
