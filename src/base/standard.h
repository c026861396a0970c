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

#endif
