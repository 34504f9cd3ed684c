/*
 * sig-die-segv - death by a fault, nothing handling it
 * expect: signal 11
 */
#include "victim.h"

int
main(void)
{
	victim_ok();
	*(volatile int *)8 = 1;
	return 0;
}
