/*
 * Whole files in, whole files out.  A reader of the target sees the old
 * file or the new one, never a part.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

const char *kvp_file_label(const char *path)
{
	return strcmp(path, "-") ? path : "<stdin>";
}

bool kvp_file_same(const char *a, const char *b)
{
	struct stat x, y;

	if (!strcmp(a, "-") || !strcmp(b, "-"))
		return false;
	if (stat(a, &x) || stat(b, &y))
		return !strcmp(a, b);
	return S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static int io_error(struct kvp_error *err, const char *verb, const char *path)
{
	return kvp_error_set(err, KVP_EIO, "%s: cannot %s: %s",
			     kvp_file_label(path), verb, strerror(errno));
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

/* A rename is on disk only when its directory is; best effort. */
static void sync_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) :
			    strdup(".");
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(dir);
}

/* The mode the target has, or the one a new file would get. */
static mode_t target_mode(const char *path)
{
	struct stat st;
	mode_t mask;

	if (!stat(path, &st))
		return st.st_mode & 07777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static int open_target(struct kvp_file_out *f, struct kvp_error *err)
{
	f->fd = open(f->target, O_WRONLY | O_CLOEXEC);
	return f->fd < 0 ? io_error(err, "open", f->target) : KVP_OK;
}

static int open_beside(struct kvp_file_out *f, struct kvp_error *err)
{
	/* In the same directory, under a name that is never too long. */
	static const char name[] = ".kvplan-XXXXXX";
	const char *slash = strrchr(f->target, '/');
	size_t dir = slash ? (size_t)(slash - f->target) + 1 : 0;

	f->beside = malloc(dir + sizeof(name));
	if (!f->beside)
		return kvp_error_nomem(err);
	memcpy(f->beside, f->target, dir);
	memcpy(f->beside + dir, name, sizeof(name));
	f->fd = mkstemp(f->beside);
	if (f->fd >= 0)
		return KVP_OK;
	io_error(err, "create a file beside it", f->target);
	free(f->beside);
	f->beside = NULL;
	return KVP_EIO;
}

int kvp_file_begin(struct kvp_file_out *f, const char *path,
		   struct kvp_error *err)
{
	struct stat st;
	int code;

	*f = (struct kvp_file_out){ .fd = -1 };
	if (!*path) {
		errno = ENOENT;
		return io_error(err, "write", "''");
	}
	f->target = realpath(path, NULL);	/* write through a link */
	/* A new file, or a pipe that has no path; not a dead link. */
	if (!f->target && errno == ENOENT) {
		if (lstat(path, &st) || !stat(path, &st))
			f->target = strdup(path);
		else
			errno = ENOENT;
	}
	if (!f->target)
		return errno == ENOMEM ? kvp_error_nomem(err) :
					 io_error(err, "write", path);
	code = !stat(f->target, &st) && !S_ISREG(st.st_mode) ?
		open_target(f, err) : open_beside(f, err);
	if (code)
		kvp_file_abandon(f);
	return code;
}

int kvp_file_commit(struct kvp_file_out *f, const char *text, size_t len,
		    struct kvp_error *err)
{
	int code = KVP_OK;

	if (write_all(f->fd, text, len) ||
	    (f->beside && (fchmod(f->fd, target_mode(f->target)) ||
			   fsync(f->fd))))
		code = io_error(err, "write", f->target);
	if (close(f->fd) && !code)
		code = io_error(err, "close", f->target);
	f->fd = -1;
	if (!code && f->beside) {
		if (rename(f->beside, f->target)) {
			code = io_error(err, "replace", f->target);
		} else {
			sync_directory(f->target);
			free(f->beside);
			f->beside = NULL;
		}
	}
	kvp_file_abandon(f);
	return code;
}

void kvp_file_abandon(struct kvp_file_out *f)
{
	if (f->target && f->fd >= 0)
		close(f->fd);
	if (f->beside)
		unlink(f->beside);
	free(f->beside);
	free(f->target);
	*f = (struct kvp_file_out){ .fd = -1 };
}

int kvp_file_write(const char *path, const char *text, size_t len,
		   struct kvp_error *err)
{
	struct kvp_file_out f;
	int code = kvp_file_begin(&f, path, err);

	return code ? code : kvp_file_commit(&f, text, len, err);
}
