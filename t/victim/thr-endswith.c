/*
 * thr-endswith - a signal that instructions raise, too, sent to the process and
 * blocked by all threads: the thread that it came to ends, and another takes it
 *
 * build: -pthread
 */
#include <pthread.h>
#include <time.h>

#include "victim.h"

static volatile int ready, leave;

static void *
spin(void *unused)
{
	ready = 1;
	while (!leave)
		;
	return unused;
}

static void
check(int sig)
{
	struct timespec limit = { 10, 0 };
	pthread_t t;
	siginfo_t si;
	sigset_t set;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, sig);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	ready = leave = 0;
	CHECK(pthread_create(&t, NULL, spin, NULL) == 0);
	while (!ready)
		;
	pid = fork();
	if (pid == 0) {
		kill(getppid(), sig);
		_exit(3);
	}
	reap(pid, 3);
	usleep(20000);
	leave = 1;
	CHECK(pthread_join(t, NULL) == 0);
	SAME(sigtimedwait(&set, &si, &limit), sig);
}

int
main(void)
{
	check(SIGFPE);
	check(SIGSEGV);
	check(SIGTRAP);
	check(SIGILL);
	check(SIGBUS);
	return victim_ok();
}
