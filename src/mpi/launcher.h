/*
 * What the launcher says in the environment.
 */
#ifndef KVPLAN_MPI_LAUNCHER_H
#define KVPLAN_MPI_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

/* End with the process that started this one.  Call it first. */
void launcher_die_with(void);

/* Has one started this process? */
bool launcher_is_there(void);

/* The rank that the launcher states, before MPI does; 0 if none does. */
uint32_t launcher_rank(void);

/*
 * Does a launcher say that it started more processes than the one that MPI
 * sees?  Then this program is built for another launcher, and a message says
 * so.  `library` is the MPI library's name.
 */
bool launcher_is_wrong(const char *library);

/* The node's name; NULL: the kernel's boot id. */
const char *launcher_node(void);

#endif
