/*
 * Standard descriptors that are closed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* O_PATH */
#endif

#include "base/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * O_PATH gives a descriptor that can neither be read nor written.  Unlike
 * /dev/null, whatever opens it again by /dev/stdout fails as well.  The
 * lowest free number is taken, so the three are opened in order.
 */
bool standard_open(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH) != fd)
			return false;
	return true;
}

int standard_avoid(int fd)
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
