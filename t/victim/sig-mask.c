/*
 * sig-mask - a handler edits the mask in its frame; unblocking delivers before
 * the call returns, several at once, highest handler running first
 */
#include "victim.h"

static volatile int got[65], order[8], n;

static void
on_any(int sig, siginfo_t *si, void *uc)
{
	(void)si;
	got[sig]++;
	order[n++] = sig;
	if (sig == SIGUSR1)
		sigaddset(&((ucontext_t *)uc)->uc_sigmask, SIGUSR2);
}

int
main(void)
{
	sigset_t three, now;

	handle(SIGUSR1, on_any, 0);
	handle(SIGUSR2, on_any, 0);
	handle(SIGHUP, on_any, 0);
	raise(SIGUSR1);
	sigprocmask(SIG_BLOCK, NULL, &now);
	CHECK(sigismember(&now, SIGUSR2));
	CHECK(!sigismember(&now, SIGUSR1));
	raise(SIGUSR2);
	SAME(got[SIGUSR2], 0);
	sigprocmask(SIG_UNBLOCK, &now, NULL);
	SAME(got[SIGUSR2], 1);
	sigemptyset(&three);
	sigaddset(&three, SIGHUP);
	sigaddset(&three, SIGUSR2);
	sigaddset(&three, SIGTERM);
	handle(SIGTERM, on_any, 0);
	for (int i = 0; i < 10; i++) {
		sigprocmask(SIG_BLOCK, &three, NULL);
		raise(SIGTERM);
		raise(SIGUSR2);
		raise(SIGHUP);
		n = 0;
		sigprocmask(SIG_UNBLOCK, &three, NULL);
		/* Frames are made for 1, 12, 15; the last made runs first. */
		SAME(n, 3);
		SAME(order[0], SIGTERM);
		SAME(order[1], SIGUSR2);
		SAME(order[2], SIGHUP);
	}
	/* SIGKILL and SIGSTOP cannot be blocked. */
	sigfillset(&three);
	sigprocmask(SIG_BLOCK, &three, NULL);
	sigprocmask(SIG_BLOCK, NULL, &now);
	CHECK(!sigismember(&now, SIGKILL) && !sigismember(&now, SIGSTOP));
	CHECK(sigismember(&now, SIGSEGV) && sigismember(&now, SIGTRAP));
	return victim_ok();
}
