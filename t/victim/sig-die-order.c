/*
 * sig-die-order - of two signals that are blocked and end the program, the one
 * that an instruction might have raised comes first
 *
 * expect: signal 8
 */
#include "victim.h"

int
main(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGFPE);
	CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGFPE);
	victim_ok();
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 1;
}
