/*
 * Descriptors 0, 1 and 2 of a program.
 */
#ifndef KVPLAN_BASE_STANDARD_H
#define KVPLAN_BASE_STANDARD_H

#include <stdbool.h>

/*
 * Open those of the three that are closed, so that no file or memory gets
 * their numbers and with them what is read or printed.  Reading and writing
 * them fails with EBADF then.  For a program's first line; the library never
 * calls it.  False where they cannot be opened.
 */
bool standard_open(void);

/*
 * A descriptor that is none of the three, in the place of one that may be:
 * the caller of the library may have closed them, and what somebody prints
 * must not land in a file or in KV memory.  -1 stays -1; on failure fd is
 * closed and the answer is -1, errno says why.
 */
int standard_avoid(int fd);

#endif
