/*
 * ins-vsyscall - the three entries of the vsyscall page, called and jumped to,
 * where the kernel still has it; elsewhere in that page is a fault
 */
#include <setjmp.h>
#include <sys/time.h>
#include <time.h>

#include "victim.h"

static sigjmp_buf back;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	siglongjmp(back, REG(uc, RIP) == (greg_t)0xffffffffff600123 ? 2 : 1);
}

int
main(void)
{
	int (*get)(struct timeval *, void *) = (void *)0xffffffffff600000;
	time_t (*seconds)(time_t *) = (void *)0xffffffffff600400;
	long (*cpu)(unsigned *, unsigned *, void *) =
	    (void *)0xffffffffff600800;
	struct timeval tv;
	unsigned c, n;

	handle(SIGSEGV, on_segv, 0);
	if (sigsetjmp(back, 1) != 0)
		victim_skip("no vsyscall page");
	seconds(NULL);
	for (int i = 0; i < 100; i++) {
		time_t t = seconds(NULL), t2;

		CHECK(t - time(NULL) <= 1 && time(NULL) - t <= 1);
		CHECK(seconds(&t2) >= t && t2 >= t);
		CHECK(get(&tv, NULL) == 0 && tv.tv_sec >= t);
		CHECK(cpu(&c, &n, NULL) == 0);
	}
	switch (sigsetjmp(back, 1)) {
	case 0:
		((void (*)(void))0xffffffffff600123)();
		CHECK(!"no fault");
		break;
	case 1:
		CHECK(!"another address");
		break;
	}
	return victim_ok();
}
