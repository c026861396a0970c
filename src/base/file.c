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

static int write_device(const char *path, const char *text, size_t len,
			struct kvp_error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int failed;

	if (fd < 0)
		return io_error(err, "open", path);
	failed = write_all(fd, text, len);
	if (failed) {
		io_error(err, "write", path);
		close(fd);
		return KVP_EIO;
	}
	return close(fd) ? io_error(err, "close", path) : KVP_OK;
}

/* A rename is on disk only when its directory is; best effort. */
static void sync_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
	int fd = open(dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

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

static int write_beside(const char *path, char *beside, const char *text,
			size_t len, struct kvp_error *err)
{
	int fd = mkstemp(beside);
	int code = KVP_OK;

	if (fd < 0)
		return io_error(err, "create a file beside", path);
	if (write_all(fd, text, len) || fchmod(fd, target_mode(path)) ||
	    fsync(fd))
		code = io_error(err, "write", path);
	if (close(fd) && !code)
		code = io_error(err, "close", path);
	if (!code && rename(beside, path))
		code = io_error(err, "replace", path);
	if (code)
		unlink(beside);
	else
		sync_directory(path);
	return code;
}

int kvp_file_write(const char *path, const char *text, size_t len,
		   struct kvp_error *err)
{
	char *real = realpath(path, NULL);	/* write through a link */
	const char *target = real ? real : path;
	size_t room = strlen(target) + sizeof(".XXXXXX");
	char *beside = NULL;
	struct stat st;
	int code;

	if (!stat(target, &st) && !S_ISREG(st.st_mode)) {
		code = write_device(target, text, len, err);
		goto done;
	}
	beside = malloc(room);
	if (!beside) {
		code = kvp_error_nomem(err);
		goto done;
	}
	snprintf(beside, room, "%s.XXXXXX", target);
	code = write_beside(target, beside, text, len, err);
done:
	free(beside);
	free(real);
	return code;
}
