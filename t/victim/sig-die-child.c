/*
 * sig-die-child - death by SIGKILL from a child, in a loop without calls
 * expect: signal 9
 */
#include "victim.h"

int
main(void)
{
	victim_ok();
	volatile unsigned spin = 0;
	pid_t me = getpid();

	if (fork() == 0) {
		usleep(20000);
		kill(me, SIGKILL);
		_exit(0);
	}
	for (;;)
		spin = spin + 1;
	return 0;
}
