/*
 * sig-die-kill - SIGKILL, after which nobody can say anything
 * expect: signal 9
 */
#include "victim.h"

int
main(void)
{
	victim_ok();
	kill(getpid(), SIGKILL);
	return 0;
}
