/*
 * Keeping descriptors 0, 1 and 2 for standard input, output and error.
 */
#ifndef KVPLAN_BASE_STANDARD_H
#define KVPLAN_BASE_STANDARD_H

#include <stdbool.h>

/*
 * Open those of the three that are closed, so that no other file gets their
 * numbers and what is printed does not end up in it.  Reading and writing
 * them fails with EBADF.  Programs call this first; the library never does.
 * Returns false if one could not be opened.
 */
bool standard_open_missing(void);

/*
 * If fd is 0, 1 or 2, because the process has closed that descriptor, close
 * it and return a copy with a higher number: what the process prints must
 * not end up in a file or in KV memory.  Otherwise return fd, also -1.  On
 * failure fd is closed and the result is -1, with errno set.
 */
int standard_move_above(int fd);

#endif
