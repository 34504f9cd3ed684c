/*
 * signals - what a signal that would end the program does first
 *
 *	trace prog | cachesim | fmt-cachegrind >out	and then Ctrl-C
 *
 * All four processes get the SIGINT. The program ends, or does not; trace ends
 * with it; the filters read what came until then, and write what that gives.
 * There is one handler for the whole program. Signals that it was started to
 * ignore stay ignored.
 */
#include "signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static void (*before_end)(void);
static volatile sig_atomic_t nreading;	/* pipes */
static volatile sig_atomic_t passed;	/* the first one */

static void
on_signal(int sig)
{
	if (nreading > 0 && !passed && (sig == SIGINT || sig == SIGTERM)) {
		passed = true;
		return;
	}
	if (before_end != NULL)
		before_end();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Take those of these signals that would end the program. */
static void
take(const int *sigs, size_t n)
{
	struct sigaction sa, old;

	memset(&sa, 0, sizeof sa);
	sa.sa_handler = on_signal;
	sa.sa_flags = SA_RESTART;
	for (size_t i = 0; i < n; i++)
		if (sigaction(sigs[i], NULL, &old) == 0 &&
		    old.sa_handler == SIG_DFL)
			sigaction(sigs[i], &sa, NULL);
}

void
signals_before_end(void (*f)(void))
{
	static const int ends[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGQUIT,
	    SIGXCPU, SIGXFSZ, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF };

	before_end = f;
	take(ends, sizeof ends / sizeof *ends);
}

void
signals_reading(void)
{
	static const int interrupts[] = { SIGINT, SIGTERM };

	nreading = nreading + 1;
	take(interrupts, sizeof interrupts / sizeof *interrupts);
}

void
signals_read(void)
{
	nreading = nreading - 1;
}
