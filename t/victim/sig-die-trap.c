/*
 * sig-die-trap - an unhandled int3
 * expect: signal 5
 */
#include "victim.h"

int
main(void)
{
	victim_ok();
	__asm__ volatile("int3");
	return 0;
}
