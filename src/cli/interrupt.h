/*
 * Signals that end a process, as a flag: for commands that hold something,
 * and while a file is put in place.
 */
#ifndef KVPLAN_CLI_INTERRUPT_H
#define KVPLAN_CLI_INTERRUPT_H

#include <signal.h>

/* The signal's number once one came; given to the library. */
extern volatile sig_atomic_t interrupt_signal;

/*
 * Catch them from now on.  SIGINT and SIGTERM are caught although whoever
 * started us ignores them, others are ignored then.
 */
void interrupt_catch(void);

/* Wait for a signal without losing one that comes just before. */
void interrupt_wait(void);

/* From hold to release a signal is noted; the release then ends by it. */
void interrupt_hold(void);
void interrupt_release(void);

#endif
