/*
 * sig-saflags - SA_NODEFER, SA_RESETHAND, sa_mask, and what sigaction returns
 */
#include "victim.h"

static volatile int depth, deepest, resets, masked;

static void
on_nodefer(int sig, siginfo_t *si, void *uc)
{
	(void)si, (void)uc;
	if (++depth > deepest)
		deepest = depth;
	if (depth < 5)
		raise(sig);
	depth--;
}

static void
on_reset(int sig, siginfo_t *si, void *uc)
{
	struct sigaction now;

	(void)si, (void)uc;
	CHECK(sigaction(sig, NULL, &now) == 0);
	CHECK(now.sa_handler == SIG_DFL);
	resets++;
}

static void
on_masked(int sig, siginfo_t *si, void *uc)
{
	sigset_t now, pending;

	(void)sig, (void)si, (void)uc;
	sigprocmask(SIG_BLOCK, NULL, &now);
	CHECK(sigismember(&now, SIGUSR1) && sigismember(&now, SIGHUP));
	CHECK(!sigismember(&now, SIGUSR2));
	raise(SIGHUP);
	sigpending(&pending);
	CHECK(sigismember(&pending, SIGHUP));
	masked++;
}

static void
on_hup(int sig)
{
	SAME(sig, SIGHUP);
	SAME(masked, 1);
	masked = 10;
}

int
main(void)
{
	struct sigaction sa = { .sa_sigaction = on_masked,
	    .sa_flags = SA_SIGINFO }, old;

	handle(SIGUSR1, on_nodefer, SA_NODEFER);
	raise(SIGUSR1);
	SAME(deepest, 5);
	handle(SIGUSR2, on_reset, SA_RESETHAND);
	raise(SIGUSR2);
	SAME(resets, 1);
	sigaddset(&sa.sa_mask, SIGHUP);
	CHECK(sigaction(SIGUSR1, &sa, &old) == 0);
	CHECK(old.sa_sigaction == on_nodefer);
	CHECK((old.sa_flags & ~0x04000000) == (SA_SIGINFO | SA_NODEFER));
	CHECK(signal(SIGHUP, on_hup) == SIG_DFL);
	raise(SIGUSR1);
	SAME(masked, 10);
	CHECK(sigaction(SIGUSR1, NULL, &old) == 0);
	CHECK(old.sa_sigaction == on_masked);
	CHECK(sigismember(&old.sa_mask, SIGHUP));
	CHECK(!sigismember(&old.sa_mask, SIGTERM));
	CHECK(sigaction(SIGKILL, &sa, NULL) == -1 && errno == EINVAL);
	CHECK(sigaction(SIGSTOP, &sa, NULL) == -1 && errno == EINVAL);
	CHECK(sigaction(65, &sa, NULL) == -1 && errno == EINVAL);
	CHECK(signal(SIGHUP, SIG_IGN) == on_hup);
	CHECK(sigaction(SIGHUP, NULL, &old) == 0);
	CHECK(old.sa_handler == SIG_IGN);
	raise(SIGHUP);
	SAME(masked, 10);
	return victim_ok();
}
