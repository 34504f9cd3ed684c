/*
 * signals - what signals to trace itself do
 *
 * They are for the program, which decides what they do, and which trace ends
 * after.  A trace that is attached ends by them itself, and lets it go.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "guest/guest.h"
#include "trace.h"

volatile sig_atomic_t signals_stopped;
static volatile pid_t forward_to;	/* 0: the program has ended */

/* Let the program go on without us. */
static void
stop(int sig)
{
	if (signals_stopped == 0)
		signals_stopped = sig;
	serve_stop();
}

/* Our parent may have blocked it. */
static void
unblock(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Call stop at each signal that ends a process; flags are sigaction's. */
static void
stop_by_signals(int flags)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM };
	struct sigaction a = { .sa_handler = stop, .sa_flags = flags };
	unsigned i;

	for (i = 0; i < sizeof ends / sizeof *ends; i++) {
		sigaction(ends[i], &a, NULL);
		unblock(ends[i]);
	}
}

/* Does the kernel say what time we ourselves have used? */
static bool
is_of_our_time(int sig, const siginfo_t *si)
{
	return si->si_code == SI_KERNEL && (sig == SIGXCPU ||
	    sig == SIGPROF || sig == SIGVTALRM);
}

/* What the program sends to its process group it gets itself. */
static void
forward(int sig, siginfo_t *si, void *context)
{
	int was = errno;

	(void)context;
	if (forward_to <= 0 || is_of_our_time(sig, si) ||
	    (si->si_code == SI_USER && si->si_pid == forward_to))
		return;
	if (si->si_code != SI_QUEUE || syscall(SYS_rt_sigqueueinfo,
	    forward_to, sig, si) < 0)
		kill(forward_to, sig);
	errno = was;
}

/*
 * The terminal sends its signals to the program as well, which decides what
 * they do.  A signal that was sent to us alone is passed on to it; not by a
 * child's trace, whose number nobody knows: it is meant for the process group.
 */
void
signals_take(void)
{
	static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2,
	    SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR, SIGSTKFLT };
	struct sigaction a;
	int i;

	memset(&a, 0, sizeof a);
	/* a write says what happened: EPIPE, EFBIG */
	a.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &a, NULL);
	sigaction(SIGXFSZ, &a, NULL);
	if (opt->leaves) {
		stop_by_signals(SA_RESTART);
		return;
	}
	a.sa_handler = SIG_IGN;
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGQUIT, &a, NULL);
	a.sa_sigaction = forward;
	a.sa_flags = SA_RESTART | SA_SIGINFO;
	forward_to = opt->adopted ? 0 : guest.pid;
	for (i = 0; i < (int)(sizeof forwarded / sizeof *forwarded); i++)
		if (forwarded[i] != SIGUSR1 || opt->last == 0)
			sigaction(forwarded[i], &a, NULL);
	for (i = SIGRTMIN; i <= SIGRTMAX; i++)
		sigaction(i, &a, NULL);
	if (opt->last != 0)	/* the program has its mask */
		unblock(SIGUSR1);
}

void
signals_clock(void)
{
	struct itimerval t = { .it_value.tv_sec = (time_t)opt->seconds };
	struct sigaction a = { .sa_handler = stop, .sa_flags = SA_RESTART };

	t.it_value.tv_usec = (suseconds_t)((opt->seconds -
	    (double)t.it_value.tv_sec) * 1e6);
	sigaction(SIGALRM, &a, NULL);
	unblock(SIGALRM);
	setitimer(ITIMER_REAL, &t, NULL);
}

void
signals_interrupt(void)
{
	stop_by_signals(0);
}

void
signals_ended(void)
{
	forward_to = 0;
}
