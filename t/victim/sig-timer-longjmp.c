/*
 * sig-timer-longjmp - a timer's handler leaves a loop without calls by
 * siglongjmp, two hundred times; the mask is right afterwards
 */
#include <setjmp.h>
#include <sys/time.h>

#include "victim.h"

static sigjmp_buf back;
static volatile unsigned spin;

static void
on_alrm(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	siglongjmp(back, 1);
}

int
main(void)
{
	struct itimerval once = { .it_value = { 0, 300 } };
	sigset_t now;
	volatile int n = 0;

	handle(SIGALRM, on_alrm, 0);
	sigsetjmp(back, 1);
	if (n++ < 200) {
		CHECK(setitimer(ITIMER_REAL, &once, NULL) == 0);
		for (;;)
			spin = spin + 1;
	}
	sigprocmask(SIG_BLOCK, NULL, &now);
	CHECK(!sigismember(&now, SIGALRM));
	return victim_ok();
}
