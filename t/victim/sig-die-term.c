/*
 * sig-die-term - death by a signal sent to the process itself
 * expect: signal 15
 */
#include "victim.h"

int
main(void)
{
	victim_ok();
	kill(getpid(), SIGTERM);
	return 0;
}
