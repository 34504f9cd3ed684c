/*
 * prc-dispatch - system calls that the kernel shall turn into signals by where
 * they are made (syscall user dispatch): it does, or says that it cannot
 */
#include <sys/prctl.h>

#include "victim.h"

#define SET_DISPATCH 59
#define DISPATCH 2

static volatile char block;
static volatile int trapped;

static void
on_sys(int sig, siginfo_t *si, void *uc)
{
	block = 0;
	SAME(sig, SIGSYS);
	SAME(si->si_code, DISPATCH);
	SAME(si->si_syscall, SYS_getppid);
	REG(uc, RAX) = 4711;
	trapped++;
}

int
main(void)
{
	handle(SIGSYS, on_sys, 0);
	if (prctl(SET_DISPATCH, 1, 0, 0, &block) != 0) {
		SAME(errno, EINVAL);
		CHECK(prctl(SET_DISPATCH, 0, 0, 0, 0) == -1);
		SAME(errno, EINVAL);
		return victim_ok();
	}
	for (int i = 0; i < 10; i++) {
		block = 1;
		SAME(syscall(SYS_getppid), 4711);
		SAME(trapped, i + 1);
	}
	CHECK(prctl(SET_DISPATCH, 0, 0, 0, 0) == 0);
	return victim_ok();
}
