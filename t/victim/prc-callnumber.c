/*
 * prc-callnumber - the kernel takes a system call's number from eax, and an int
 * argument from its lower half, whatever is above
 */
#include <sys/prctl.h>

#include "victim.h"

#define ABOVE 0x5500000000l

static long
call(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long r = nr + ABOVE;

	__asm__ volatile("syscall" : "+a"(r) : "D"(a), "S"(b), "d"(c),
	    "r"(r10) : "rcx", "r11", "memory");
	return r;
}

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
}

/* Code is made, and made anew. */
static void
map(void)
{
	unsigned char *code = map_pages(1, PROT_READ | PROT_WRITE);
	int (*f)(void) = (int (*)(void))code;

	for (int i = 0; i < 20; i++) {
		memcpy(code, (unsigned char[]){ 0xb8, i, 0, 0, 0, 0xc3 }, 6);
		SAME(call(SYS_mprotect, (long)code, PAGE, PROT_READ |
		    PROT_EXEC, 0), 0);
		for (int k = 0; k < 3; k++)
			SAME(f(), i);
		SAME(call(SYS_mprotect, (long)code, PAGE, PROT_READ |
		    PROT_WRITE, 0), 0);
	}
}

static void
signals(void)
{
	struct { void *handler; long flags; void *restorer, *mask; } old;
	long set = 1l << (SIGUSR2 - 1), was = 0;

	handle(SIGUSR1, on_usr1, 0);
	SAME(call(SYS_rt_sigaction, SIGUSR1 + ABOVE, 0, (long)&old, 8), 0);
	CHECK(old.handler == (void *)on_usr1);
	SAME(call(SYS_rt_sigaction, SIGSEGV + ABOVE, 0, (long)&old, 8), 0);
	CHECK(old.handler == SIG_DFL);
	SAME(call(SYS_rt_sigprocmask, SIG_BLOCK + ABOVE, (long)&set, 0, 8), 0);
	SAME(call(SYS_rt_sigprocmask, SIG_UNBLOCK + ABOVE, (long)&set,
	    (long)&was, 8), 0);
	CHECK((was & set) != 0);
}

int
main(void)
{
	long pid;

	SAME(call(SYS_getpid, 0, 0, 0, 0), getpid());
	SAME(call(1 << 20, 0, 0, 0, 0), -ENOSYS);
	SAME(call(SYS_prctl, PR_GET_DUMPABLE + ABOVE, 0, 0, 0), 1);
	map();
	signals();
	for (int i = 0; i < 5; i++) {
		pid = call(SYS_fork, 0, 0, 0, 0);
		if (pid == 0)
			call(SYS_exit_group, i + ABOVE, 0, 0, 0);
		reap((pid_t)pid, i);
	}
	victim_ok();
	call(SYS_exit_group, 0, 0, 0, 0);
	return 1;
}
