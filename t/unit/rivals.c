/*
 * rivals - on one processor with a child that never rests: is it a rival?
 *
 * "first": whether the first look says nothing; "beside it": whether a rival is
 * seen within ten seconds; "no such process": whether there is taken to be one
 * where the kernel does not tell.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

/* Any one processor that we may use, and that alone. */
static void
use_one_processor(void)
{
	cpu_set_t set;
	int i;

	if (sched_getaffinity(0, sizeof set, &set) < 0)
		exit(2);
	for (i = 0; i < CPU_SETSIZE && !CPU_ISSET(i, &set); i++)
		;
	CPU_ZERO(&set);
	CPU_SET(i, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		exit(2);
}

static pid_t
start_busy_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(2);
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		;
}

static bool
is_seen_within(uint64_t ns)
{
	uint64_t start = clock_ns();

	while (clock_ns() - start < ns)
		if (rivals_seen())
			return true;
	return false;
}

int
main(void)
{
	use_one_processor();
	guest.pid = start_busy_child();
	printf("first: %d\n", rivals_seen());
	printf("beside it: %d\n", is_seen_within(10000000000u));
	kill(guest.pid, SIGKILL);
	waitpid(guest.pid, NULL, 0);
	printf("no such process: %d\n", is_seen_within(10000000000u));
	return 0;
}
