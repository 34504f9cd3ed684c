/*
 * thr-clone3fail - clone3 and clone that fail leave nothing behind: vfork,
 * posix_spawn, threads and signals work after them
 */
#include <linux/sched.h>
#include <pthread.h>
#include <spawn.h>

#include "victim.h"

extern char **environ;
static volatile sig_atomic_t got;

static void
on_usr2(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	got++;
}

static void *
nothing(void *arg)
{
	return arg;
}

static void
fail_all(void)
{
	struct clone_args a = { .flags = CLONE_THREAD };

	CHECK(syscall(SYS_clone3, &a, sizeof a) == -1 && errno == EINVAL);
	a.flags = CLONE_SIGHAND;
	CHECK(syscall(SYS_clone3, &a, sizeof a) == -1 && errno == EINVAL);
	a.flags = 1ull << 63;
	CHECK(syscall(SYS_clone3, &a, sizeof a) == -1 && errno == EINVAL);
	a.flags = 0;
	a.stack = 4096;
	CHECK(syscall(SYS_clone3, &a, sizeof a) == -1 && errno == EINVAL);
	CHECK(syscall(SYS_clone3, &a, 8) == -1 && errno == EINVAL);
	CHECK(syscall(SYS_clone3, &a, 1 << 20) == -1 && errno == E2BIG);
	CHECK(syscall(SYS_clone3, 16, sizeof a) == -1 && errno == EFAULT);
	CHECK(syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0) == -1 &&
	    errno == EINVAL);
	CHECK(syscall(SYS_clone, CLONE_VM | CLONE_NEWNS | CLONE_FS, 0, 0, 0,
	    0) == -1 && errno == EINVAL);
}

int
main(void)
{
	char *args[] = { "true", NULL };
	pthread_t t;
	pid_t pid;

	for (int i = 0; i < 3; i++) {
		fail_all();
		pid = vfork();
		if (pid == 0)
			_exit(5);
		reap(pid, 5);
		CHECK(system("exit 4") == 4 << 8);
		CHECK(posix_spawn(&pid, "/bin/true", NULL, NULL, args,
		    environ) == 0);
		reap(pid, 0);
		handle(SIGUSR2, on_usr2, 0);
		raise(SIGUSR2);
		CHECK(pthread_create(&t, NULL, nothing, NULL) == 0);
		CHECK(pthread_join(t, NULL) == 0);
	}
	SAME(got, 3);
	return victim_ok();
}
