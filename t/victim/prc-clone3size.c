/*
 * prc-clone3size - clone3 with arguments of up to a page: what is behind those
 * that are known has to be 0
 */
#include "victim.h"

static uint64_t args[PAGE / 8 + 1];

static void
child_of(size_t size)
{
	pid_t pid;

	args[4] = SIGCHLD;
	pid = (pid_t)syscall(SYS_clone3, args, size);
	if (pid == 0)
		_exit(5);
	reap(pid, 5);
}

static void
fails(size_t size)
{
	CHECK(syscall(SYS_clone3, args, size) == -1);
	SAME(errno, E2BIG);
}

int
main(void)
{
	if (syscall(SYS_clone3, args, 8) == -1 && errno == ENOSYS)
		victim_skip("no clone3");
	child_of(88);
	child_of(256);
	child_of(264);
	child_of(1000);
	child_of(PAGE);
	fails(PAGE + 8);
	args[32] = 1;
	child_of(256);
	fails(264);
	args[32] = 0;
	args[PAGE / 8 - 1] = 1;
	child_of(PAGE - 8);
	fails(PAGE);
	/* a stack whose end is no address, or comes before its begin */
	args[5] = 0x7f0000000000;
	args[6] = 1ull << 47;
	CHECK(syscall(SYS_clone3, args, 88) == -1);
	SAME(errno, EINVAL);
	args[6] = -4096ull;
	CHECK(syscall(SYS_clone3, args, 88) == -1);
	SAME(errno, EINVAL);
	return victim_ok();
}
