/*
 * Whole files in, whole files out.  A reader of the target sees the old
 * file or the new one, never a part.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* O_TMPFILE, O_PATH */
#endif

#include "base/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
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

static int io_error(struct kvp_error *err, const char *verb, const char *path)
{
	return kvp_error_set(err, KVP_EIO, "%s: cannot %s: %s",
			     kvp_file_label(path), verb,
			     system_text(errno).text);
}

/* Read fd to its end.  The text grows; the file's stated size is a hint. */
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
			return io_error(err, "read", path);
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
		return io_error(err, "open", path);
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

/* A name is on disk only when its directory is; best effort. */
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
 * The mode to create a new file with.  The kernel applies the umask, which
 * nobody can read without setting it for the whole process.  Where there is
 * a target, nobody may read the new file who may not read the old one.
 */
static mode_t new_mode(const struct kvp_file_out *f)
{
	struct stat st;

	return stat_target(f, &st) ? st.st_mode & 0777 : 0666;
}

/* -1 where the file system or the kernel has no files without a name. */
static int create_unnamed(const struct kvp_file_out *f)
{
	return standard_avoid(openat(f->dir, ".", O_TMPFILE | O_WRONLY |
				     O_CLOEXEC, new_mode(f)));
}

/* Room for a name beside the target, which is never too long. */
struct beside {
	char name[32];
};

static int choose_name(struct beside *beside)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -1;
	snprintf(beside->name, sizeof(beside->name), ".kvplan-%016" PRIx64,
		 number);
	return 0;
}

static int create_named(const struct kvp_file_out *f, struct beside *beside)
{
	int fd;

	do {
		if (choose_name(beside))
			return -1;
		fd = openat(f->dir, beside->name, O_CREAT | O_EXCL |
			    O_WRONLY | O_CLOEXEC, new_mode(f));
	} while (fd < 0 && errno == EEXIST);
	return standard_avoid(fd);
}

/*
 * Give a file without a name that of the target or, since a link replaces
 * nothing, one beside it.  -1 where that cannot be done.
 */
static int link_unnamed(const struct kvp_file_out *f, int fd,
			struct beside *beside)
{
	const char *to = kvp_file_last_name(f->target);
	char from[40];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	*beside->name = '\0';
	while (linkat(AT_FDCWD, from, f->dir, to, AT_SYMLINK_FOLLOW)) {
		if (errno != EEXIST || choose_name(beside))
			return -1;
		to = beside->name;
	}
	return 0;
}

/* All of the text in a new file, which gets the mode of the target. */
static int fill(const struct kvp_file_out *f, int fd, const char *text,
		size_t len)
{
	struct stat st;

	return write_all(fd, text, len) ||
	       (stat_target(f, &st) && fchmod(fd, st.st_mode & 07777)) ||
	       fsync(fd) ? -1 : 0;
}

/*
 * A new file in the place of the target.  As long as a name lies beside the
 * target, a signal that ends the process leaves it behind: from the link to
 * the rename, or from the beginning where files cannot be without a name.
 */
static int replace(const struct kvp_file_out *f, bool named, const char *text,
		   size_t len, struct kvp_error *err)
{
	struct beside beside = { "" };
	int fd = named ? -1 : create_unnamed(f), code = KVP_OK;

	if (fd < 0) {
		named = true;
		fd = create_named(f, &beside);
	}
	if (fd < 0)
		return io_error(err, "create a file beside it", f->target);
	if (fill(f, fd, text, len)) {
		code = io_error(err, "write", f->target);
	} else if (f->interrupt && *f->interrupt) {
		code = kvp_error_set(err, KVP_EINTERRUPTED,
				     "interrupted by signal %d",
				     (int)*f->interrupt);
	} else if (!named && link_unnamed(f, fd, &beside)) {
		close(fd);
		return replace(f, true, text, len, err);
	} else if (*beside.name && renameat(f->dir, beside.name, f->dir,
					    kvp_file_last_name(f->target))) {
		code = io_error(err, "replace", f->target);
	}
	if (code && *beside.name)
		unlinkat(f->dir, beside.name, 0);
	else if (!code)
		sync_directory(f);
	close(fd);
	return code;
}

/* Opened now, and written in place. */
static int begin_direct(struct kvp_file_out *f, struct kvp_error *err)
{
	f->fd = standard_avoid(open(f->target, O_WRONLY | O_CLOEXEC));
	return f->fd < 0 ? io_error(err, "open", f->target) : KVP_OK;
}

/* Find out whether a file can be made beside the target; none stays. */
static int begin_beside(struct kvp_file_out *f, struct kvp_error *err)
{
	const char *last = kvp_file_last_name(f->target);
	char *dir = last > f->target ?
		    strndup(f->target, (size_t)(last - f->target)) :
		    strdup(".");
	struct beside beside;
	int fd = -1, code = KVP_OK;

	if (!dir)
		return kvp_error_nomem(err);
	f->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->dir >= 0)
		fd = create_unnamed(f);
	if (f->dir >= 0 && fd < 0) {
		fd = create_named(f, &beside);
		if (fd >= 0)
			unlinkat(f->dir, beside.name, 0);
	}
	if (fd < 0)
		code = io_error(err, "create a file beside it", f->target);
	else
		close(fd);
	free(dir);
	return code;
}

/*
 * The target's path, through links.  *direct where nothing can take its
 * place: it is no regular file, or has no name any more and is reached
 * through a link such as /dev/stdout, which must not be replaced.
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
				 io_error(err, "write", path);
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
		return io_error(err, "write", "''");
	}
	code = find_target(f, path, &direct, err);
	if (!code)
		code = direct ? begin_direct(f, err) : begin_beside(f, err);
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
		code = replace(f, false, text, len, err);
	} else {
		/* A file without a name keeps nothing of what it was. */
		if ((!fstat(f->fd, &st) && S_ISREG(st.st_mode) &&
		     ftruncate(f->fd, 0)) || write_all(f->fd, text, len))
			code = io_error(err, "write", f->target);
		if (close(f->fd) && !code)
			code = io_error(err, "close", f->target);
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
