/*
 * prc-clonevfork - CLONE_VFORK without CLONE_VM: the child has memory of its
 * own, and its parent sleeps until it execs or ends
 */
#include <fcntl.h>
#include <sched.h>

#include "victim.h"

static volatile int own;

static long
child(void)
{
	return syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
}

int
main(void)
{
	int end[2];
	long pid;
	char c;

	CHECK(pipe2(end, O_CLOEXEC | O_NONBLOCK) == 0);
	for (int i = 0; i < 10; i++) {
		pid = child();
		CHECK(pid >= 0);
		if (pid == 0) {
			own = i + 1;
			usleep(1000);
			CHECK(write(end[1], "x", 1) == 1);
			_exit(own);
		}
		SAME(own, 0);
		/* it has ended */
		CHECK(read(end[0], &c, 1) == 1);
		reap((pid_t)pid, i + 1);
		pid = child();
		if (pid == 0) {
			execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
			_exit(1);
		}
		reap((pid_t)pid, 7);
	}
	return victim_ok();
}
