/*
 * SIGINT and SIGTERM as a flag: what runs sees it at its next call and gives
 * back what it holds.
 */
#include "cli/interrupt.h"

#include <stddef.h>

volatile sig_atomic_t interrupt_signal;

static void on_signal(int number)
{
	interrupt_signal = number;
}

void interrupt_catch(void)
{
	/* A write to a trace must not be cut short by a signal. */
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void interrupt_wait(void)
{
	sigset_t block, before, waiting;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, &before);
	/* Whoever started us may have had them blocked. */
	waiting = before;
	sigdelset(&waiting, SIGINT);
	sigdelset(&waiting, SIGTERM);
	while (!interrupt_signal)
		sigsuspend(&waiting);
	sigprocmask(SIG_SETMASK, &before, NULL);
}
