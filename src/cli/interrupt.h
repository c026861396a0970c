/*
 * SIGINT and SIGTERM for commands that hold something.
 */
#ifndef KVPLAN_CLI_INTERRUPT_H
#define KVPLAN_CLI_INTERRUPT_H

#include <signal.h>

/* The signal's number once one came; given to the library. */
extern volatile sig_atomic_t interrupt_signal;

void interrupt_catch(void);

/* Wait for a signal without losing one that comes just before. */
void interrupt_wait(void);

#endif
