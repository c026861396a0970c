/*
 * Turns every signal that ends a process by default into a flag.  The command
 * reads the flag at its next call and gives back what it holds.  A handler
 * works for all threads, a driver's too; blocking a signal would work only
 * for this one.
 */
#include "cli/interrupt.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/select.h>
#include <time.h>

volatile sig_atomic_t interrupt_signal;

static sigset_t caught;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	/* A fault of this process itself: it cannot go on. */
	if (info->si_code > 0 && (number == SIGSEGV || number == SIGBUS ||
				  number == SIGFPE || number == SIGILL ||
				  number == SIGTRAP || number == SIGSYS)) {
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	interrupt_signal = number;
}

static bool ends_process(int number)
{
	return number != SIGCHLD && number != SIGCONT && number != SIGURG &&
	       number != SIGWINCH && number != SIGTSTP && number != SIGTTIN &&
	       number != SIGTTOU;
}

/* SIGKILL and SIGSTOP cannot be caught, and sigaction() says so. */
static void catch_signal(int number, bool ignored)
{
	/* SA_RESTART: a signal must not cut a write to the trace short. */
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_RESTART | SA_SIGINFO };
	struct sigaction before;

	sigemptyset(&action.sa_mask);
	if (ends_process(number) && !sigaction(number, NULL, &before) &&
	    (before.sa_handler == SIG_DFL ||
	     (ignored && before.sa_handler == SIG_IGN)) &&
	    !sigaction(number, &action, NULL))
		sigaddset(&caught, number);
}

static void catch_signals(void)
{
	int number;

	sigemptyset(&caught);
	for (number = 1; number <= SIGRTMAX; number++)
		catch_signal(number, false);
}

void interrupt_catch(void)
{
	catch_signals();
	catch_signal(SIGINT, true);
	catch_signal(SIGTERM, true);
}

/* Wait for a signal; NULL: for ever.  One that has come already ends it. */
static void wait_for_signal(const struct timespec *time)
{
	sigset_t before, waiting;
	int number;

	sigprocmask(SIG_BLOCK, &caught, &before);
	/* The parent process may have blocked them. */
	waiting = before;
	for (number = 1; number <= SIGRTMAX; number++)
		if (sigismember(&caught, number) == 1)
			sigdelset(&waiting, number);
	if (!interrupt_signal)
		pselect(0, NULL, NULL, NULL, time, &waiting);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void interrupt_wait(void)
{
	while (!interrupt_signal)
		wait_for_signal(NULL);
}

void interrupt_wait_ms(int ms)
{
	struct timespec time = { .tv_sec = ms / 1000,
				 .tv_nsec = ms % 1000 * 1000000 };

	wait_for_signal(&time);
}

void interrupt_hold(void)
{
	catch_signals();
}

void interrupt_release(void)
{
	int number;

	for (number = 1; number <= SIGRTMAX; number++)
		if (sigismember(&caught, number) == 1)
			signal(number, SIG_DFL);
	if (interrupt_signal)
		raise(interrupt_signal);
}
