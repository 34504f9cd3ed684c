/*
 * sig-rawaction - rt_sigaction by the bare call: an own restorer, whose
 * instructions are the program's, and one that counts before it returns
 * build: -fno-omit-frame-pointer
 */
#include "victim.h"

struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

enum { RESTORER = 0x04000000 };

static volatile int handled, wrong;
volatile int restored;
void own_restorer(void);

__asm__(
"	.text\n"
"own_restorer:\n"
"	incl	restored(%rip)\n"
"	call	1f\n"
"	mov	$15, %eax\n"
"	syscall\n"
"	hlt\n"
"1:	ret\n");

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	uintptr_t *ret = __builtin_frame_address(0);

	(void)si, (void)uc;
	SAME(sig, SIGUSR1);
	if (ret[1] != (uintptr_t)own_restorer)
		wrong++;
	handled++;
}

int
main(void)
{
	struct kernel_action a = { on_usr1, SA_SIGINFO | RESTORER,
	    own_restorer, 0 }, old;

	CHECK(syscall(SYS_rt_sigaction, SIGUSR1, &a, NULL, 8) == 0);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	SAME(handled, 100);
	SAME(restored, 100);
	SAME(wrong, 0);
	CHECK(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &old, 8) == 0);
	CHECK(old.handler == on_usr1 && old.restorer == own_restorer);
	SAME(old.flags, SA_SIGINFO | RESTORER);
	SAME(old.mask, 0);
	CHECK(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &old, 4) == -1 &&
	    errno == EINVAL);
	CHECK(syscall(SYS_rt_sigaction, SIGUSR1, (void *)8, &old, 8) == -1 &&
	    errno == EFAULT);
	CHECK(syscall(SYS_rt_sigaction, SIGKILL, &a, NULL, 8) == -1 &&
	    errno == EINVAL);
	CHECK(syscall(SYS_rt_sigaction, 65, (void *)8, NULL, 8) == -1 &&
	    errno == EFAULT);
	CHECK(syscall(SYS_rt_sigprocmask, 77, &old, NULL, 8) == -1 &&
	    errno == EINVAL);
	return victim_ok();
}
