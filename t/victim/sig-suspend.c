/*
 * sig-suspend - sigsuspend, sigpending, ppoll and pselect with masks: the
 * handler runs under the temporary mask's end, the old one is put back
 */
#include <poll.h>
#include <sys/select.h>
#include <time.h>

#include "victim.h"

static volatile int got;

static void
on_usr(int sig, siginfo_t *si, void *uc)
{
	(void)si;
	got += sig == SIGUSR1 ? 1 : 100;
	/* What will be put back is the mask before the call. */
	CHECK(sigismember(&((ucontext_t *)uc)->uc_sigmask, SIGUSR1));
}

int
main(void)
{
	sigset_t block, none, pending, now;
	struct timespec sec = { 5, 0 };
	int before;

	handle(SIGUSR1, on_usr, 0);
	handle(SIGUSR2, on_usr, 0);
	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigaddset(&block, SIGUSR2);
	sigprocmask(SIG_BLOCK, &block, NULL);
	for (int i = 0; i < 20; i++) {
		before = got;
		raise(SIGUSR1);
		sigpending(&pending);
		CHECK(sigismember(&pending, SIGUSR1));
		CHECK(!sigismember(&pending, SIGUSR2));
		SAME(got, before);
		switch (i % 4) {
		case 0:
			CHECK(sigsuspend(&none) == -1);
			break;
		case 1:
			CHECK(ppoll(NULL, 0, &sec, &none) == -1);
			break;
		case 2:
			CHECK(pselect(0, NULL, NULL, NULL, &sec, &none) == -1);
			break;
		case 3:
			raise(SIGUSR2);
			CHECK(sigsuspend(&none) == -1);
			before += 100;
			break;
		}
		SAME(errno, EINTR);
		SAME(got, before + 1);
		sigprocmask(SIG_BLOCK, NULL, &now);
		CHECK(sigismember(&now, SIGUSR1) && sigismember(&now,
		    SIGUSR2));
	}
	return victim_ok();
}
