/*
 * sig-die-abrt - abort
 * expect: signal 6
 */
#include "victim.h"

int
main(void)
{
	victim_ok();
	abort();
	return 0;
}
