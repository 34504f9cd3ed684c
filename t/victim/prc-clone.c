/*
 * prc-clone - processes by clone with unusual flags: shared files, shared
 * memory on a stack of its own, no exit signal, tids stored, a parent's
 */
#include <sched.h>

#include "victim.h"

static volatile int shared;
static int fd[2];

static int
child(void *arg)
{
	intptr_t what = (intptr_t)arg;

	shared += 1;
	if (what == 2)
		close(fd[0]);
	return (int)what;
}

static void
one(int flags, int what, int wait_flags)
{
	char *stack = map_pages(8, PROT_READ | PROT_WRITE);
	int ptid = 0, ctid = 0, status;
	pid_t pid;

	pid = clone(child, stack + 8 * PAGE, flags, (void *)(intptr_t)what,
	    &ptid, NULL, &ctid);
	CHECK(pid > 0);
	CHECK(waitpid(pid, &status, wait_flags) == pid);
	CHECK(WIFEXITED(status));
	SAME(WEXITSTATUS(status), what);
	if (flags & CLONE_PARENT_SETTID)
		SAME(ptid, pid);
	if ((flags & CLONE_CHILD_SETTID) && (flags & CLONE_VM))
		SAME(ctid, flags & CLONE_CHILD_CLEARTID ? 0 : pid);
	munmap(stack, 8 * PAGE);
}

int
main(void)
{
	signal(SIGUSR2, SIG_IGN);
	for (int i = 0; i < 10; i++) {
		shared = 0;
		one(SIGCHLD, 1, 0);
		SAME(shared, 0);
		one(CLONE_VM | SIGCHLD, 3, 0);
		SAME(shared, 1);
		one(CLONE_VM | CLONE_VFORK | SIGCHLD, 4, 0);
		SAME(shared, 2);
		one(CLONE_VM | CLONE_SIGHAND | CLONE_FS | SIGCHLD, 5, 0);
		SAME(shared, 3);
		one(CLONE_VM, 6, __WCLONE);
		one(0, 7, __WALL);
		one(CLONE_VM | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID |
		    SIGCHLD, 8, 0);
		one(CLONE_VM | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID |
		    CLONE_CHILD_CLEARTID | SIGCHLD, 9, 0);
		one(SIGUSR2 | CLONE_UNTRACED, 10, __WALL);
		CHECK(pipe(fd) == 0);
		one(CLONE_FILES | SIGCHLD, 2, 0);
		CHECK(close(fd[0]) == -1 && errno == EBADF);
		close(fd[1]);
	}
	return victim_ok();
}
