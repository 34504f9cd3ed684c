/*
 * sig-die-ill - an unhandled ud2
 * expect: signal 4
 */
#include "victim.h"

int
main(void)
{
	victim_ok();
	__asm__ volatile("ud2");
	return 0;
}
