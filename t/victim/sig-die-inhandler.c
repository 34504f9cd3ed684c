/*
 * sig-die-inhandler - a second fault inside the handler of the first kills
 * expect: signal 11
 */
#include "victim.h"

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	*(volatile int *)16 = 1;
}

int
main(void)
{
	victim_ok();
	handle(SIGSEGV, on_segv, 0);
	*(volatile int *)8 = 1;
	return 0;
}
