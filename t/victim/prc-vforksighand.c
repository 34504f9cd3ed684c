/*
 * prc-vforksighand - a child that shares its parent's memory and its table of
 * signal handlers ends; the parent and its next children go on with theirs
 */
#include <sched.h>

#include "victim.h"

static char stack[65536];
static volatile int handled;

static void
handler(int sig)
{
	(void)sig;
	handled++;
}

static int
child(void *value)
{
	return (int)(long)value;
}

static int
ended(pid_t pid)
{
	int st;

	CHECK(waitpid(pid, &st, __WALL) == pid);
	return st;
}

int
main(void)
{
	static const int flags[] = { CLONE_VM | CLONE_VFORK | CLONE_SIGHAND,
	    CLONE_VM | CLONE_SIGHAND };
	pid_t pid;

	signal(SIGFPE, handler);
	signal(SIGUSR1, handler);
	for (int i = 0; i < 10; i++) {
		pid = clone(child, stack + sizeof stack, flags[i % 2] |
		    SIGCHLD, (void *)(long)i);
		CHECK(pid > 0);
		SAME(ended(pid), i << 8);
		pid = fork();
		if (pid == 0)
			_exit(7);
		SAME(ended(pid), 7 << 8);
		raise(SIGUSR1);
		raise(SIGFPE);
		SAME(handled, 2 * i + 2);
	}
	return victim_ok();
}
