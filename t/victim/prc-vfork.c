/*
 * prc-vfork - vfork with _exit and exec, and sigaction between; the child's
 * changes to memory are seen, the parent's environment and handlers are whole
 */
#include <stdlib.h>

#include "victim.h"

extern char **environ;
static volatile int shared, got;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	got++;
}

int
main(void)
{
	char **before = environ, *first = environ[0];
	int status;
	pid_t pid;

	handle(SIGUSR1, on_usr1, 0);
	for (int i = 0; i < 50; i++) {
		pid = vfork();
		CHECK(pid >= 0);
		if (pid == 0) {
			shared = i;
			_exit(i);
		}
		SAME(shared, i);
		reap(pid, i);
		pid = vfork();
		if (pid == 0) {
			execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
			_exit(1);
		}
		reap(pid, 7);
		handle(SIGUSR1, on_usr1, i % 2 ? SA_RESTART : 0);
		raise(SIGUSR1);
		SAME(got, i + 1);
		/* An exec that fails, seen through the shared memory. */
		pid = vfork();
		if (pid == 0) {
			execl("/nowhere", "nowhere", (char *)NULL);
			shared = errno;
			_exit(9);
		}
		SAME(shared, ENOENT);
		reap(pid, 9);
		/* A child that dies of a signal. */
		pid = vfork();
		if (pid == 0) {
			kill(getpid(), SIGKILL);
			_exit(9);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		CHECK(environ == before && environ[0] == first);
	}
	return victim_ok();
}
