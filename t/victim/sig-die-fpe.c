/*
 * sig-die-fpe - an unhandled division by zero
 * expect: signal 8
 */
#include "victim.h"

int
main(void)
{
	victim_ok();
	__asm__ volatile("xor %%ecx, %%ecx; mov $1, %%eax; cltd; idiv %%ecx"
	    : : : "eax", "ecx", "edx");
	return 0;
}
