/*
 * sig-rtqueue - real-time signals queue: each arrives, with its value, lowest
 * number first and in the order sent; ordinary ones do not queue
 */
#include "victim.h"

static volatile int got[200], ngot, usr1;

static void
on_rt(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	SAME(si->si_code, SI_QUEUE);
	SAME(si->si_pid, getpid());
	got[ngot++] = (sig - SIGRTMIN) * 1000 + si->si_value.sival_int;
}

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	usr1++;
}

int
main(void)
{
	sigset_t all, old;

	for (int s = 0; s < 3; s++) {
		struct sigaction sa = { .sa_sigaction = on_rt,
		    .sa_flags = SA_SIGINFO };

		/* Nothing interrupts the handlers: the order is seen. */
		sigfillset(&sa.sa_mask);
		CHECK(sigaction(SIGRTMIN + s, &sa, NULL) == 0);
	}
	handle(SIGUSR1, on_usr1, 0);
	sigfillset(&all);
	for (int round = 0; round < 5; round++) {
		ngot = 0;
		usr1 = 0;
		sigprocmask(SIG_BLOCK, &all, &old);
		for (int i = 0; i < 50; i++) {
			union sigval v = { .sival_int = i };

			CHECK(sigqueue(getpid(), SIGRTMIN + 2 - i % 3, v) ==
			    0);
			raise(SIGUSR1);
		}
		SAME(ngot, 0);
		sigprocmask(SIG_SETMASK, &old, NULL);
		SAME(ngot, 50);
		SAME(usr1, 1);
		/*
		 * All are pending at once: the kernel makes a frame for the
		 * lowest first, but their masks are full, so they run in turn.
		 */
		for (int i = 1; i < ngot; i++)
			CHECK(got[i - 1] < got[i]);
	}
	return victim_ok();
}
