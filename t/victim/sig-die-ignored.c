/*
 * sig-die-ignored - a fault while SIGSEGV is ignored kills
 * expect: signal 11
 */
#include "victim.h"

int
main(void)
{
	victim_ok();
	signal(SIGSEGV, SIG_IGN);
	raise(SIGSEGV);
	*(volatile int *)8 = 1;
	return 0;
}
