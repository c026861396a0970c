/*
 * Keeping descriptors 0, 1 and 2 for standard input, output and error.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* O_PATH */
#endif

#include "base/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * A descriptor opened with O_PATH can be neither read nor written.  Opening
 * it again as /dev/stdout fails too, which it would not with /dev/null.
 * open() returns the lowest free number, so the three are opened in order.
 */
bool standard_open_missing(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH) != fd)
			return false;
	return true;
}

int standard_move_above(int fd)
{
	int other, saved;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	other = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	saved = errno;
	close(fd);
	errno = saved;
	return other;
}
