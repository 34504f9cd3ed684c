/*
 * sig-fault-longjmp - siglongjmp out of fault handlers, with the mask restored
 * by it, from several depths and out of nested handlers
 */
#include <setjmp.h>

#include "victim.h"

static sigjmp_buf back;
static int depth;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	if (depth > 0 && sig == SIGSEGV) {
		depth--;
		raise(SIGFPE);
	}
	siglongjmp(back, 1 + (int)((uintptr_t)si->si_addr & 0xff));
}

__attribute__((noinline)) static int
deep(int n, volatile char *p)
{
	if (n == 0)
		return *p;
	return deep(n - 1, p) + n;
}

int
main(void)
{
	char *bad = map_pages(1, PROT_NONE);
	sigset_t now;
	volatile int i, faults = 0;

	handle(SIGSEGV, on_segv, 0);
	handle(SIGFPE, on_segv, 0);
	for (i = 0; i < 2000; i++) {
		int got;

		depth = i % 5 == 0;
		got = sigsetjmp(back, 1);
		if (got == 0) {
			deep(i % 40, bad + i % 100);
			CHECK(!"no fault");
		}
		if (i % 5 != 0)
			SAME(got, 1 + i % 100);
		faults++;
		sigprocmask(SIG_BLOCK, NULL, &now);
		CHECK(!sigismember(&now, SIGSEGV));
		CHECK(!sigismember(&now, SIGFPE));
	}
	SAME(faults, 2000);
	return victim_ok();
}
