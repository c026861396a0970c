/*
 * Signals that end a process, as a flag: for commands that hold memory or
 * table entries, and while a file is written.
 */
#ifndef KVPLAN_CLI_INTERRUPT_H
#define KVPLAN_CLI_INTERRUPT_H

#include <signal.h>

/* The number of the signal that came last; 0: none.  Passed to the library. */
extern volatile sig_atomic_t interrupt_signal;

/*
 * Catch these signals from now on.  One that was ignored at start stays
 * ignored, except SIGINT and SIGTERM.
 */
void interrupt_catch(void);

/* Wait for a signal; return at once if one has come already. */
void interrupt_wait(void);

/* Wait for a signal, so many milliseconds at most. */
void interrupt_wait_ms(int ms);

/* Between hold and release a signal is only recorded; release raises it. */
void interrupt_hold(void);
void interrupt_release(void);

#endif
