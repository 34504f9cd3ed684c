/*
 * sig-die-again - handlers that send on what they were given, with the code of
 * a fault, as crash reporters do: it stays blocked until the handler returns,
 * and then ends the program
 * expect: signal 5
 */
#include "victim.h"

static int times;

static void
again(int sig, siginfo_t *info, void *context)
{
	(void)context;
	times++;
	if (times == 2)
		signal(sig, SIG_DFL);
	CHECK(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), sig, info) ==
	    0);
	if (times == 2)
		victim_ok();
}

int
main(void)
{
	handle(SIGTRAP, again, 0);
	__asm__ volatile("int3");
	return 1;
}
