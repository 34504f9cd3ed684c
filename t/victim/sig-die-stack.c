/*
 * sig-die-stack - a stack overflow without an alternate stack, handler or not
 * expect: signal 11
 */
#include <sys/resource.h>

#include "victim.h"

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	_exit(1);
}

__attribute__((noinline)) static int
overflow(volatile char *up)
{
	volatile char frame[4096];

	frame[0] = *up;
	return overflow(frame) + frame[0];
}

int
main(void)
{
	victim_ok();
	struct rlimit small = { 256 * 1024, 8 << 20 };

	setrlimit(RLIMIT_STACK, &small);
	handle(SIGSEGV, on_segv, 0);
	overflow((char *)&small);
	return 0;
}
