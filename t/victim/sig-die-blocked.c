/*
 * sig-die-blocked - a fault while SIGSEGV is blocked kills, handler or not
 * expect: signal 11
 */
#include "victim.h"

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	victim_say("not ok " VICTIM ": handled\n");
	_exit(1);
}

int
main(void)
{
	victim_ok();
	sigset_t all;

	handle(SIGSEGV, on_segv, 0);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	*(volatile int *)8 = 1;
	return 0;
}
