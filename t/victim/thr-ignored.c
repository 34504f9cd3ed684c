/*
 * thr-ignored - a signal that waits in one thread, and that another thread
 * ignores, is gone: in all threads of the process, but in no other process
 */
#include <pthread.h>
#include <sched.h>

#include "victim.h"

static pthread_barrier_t step;
static volatile int go_on;

static int
waits(int sig)
{
	sigset_t now;

	sigpending(&now);
	return sigismember(&now, sig);
}

/* The signals arrive now or a moment later, but do arrive. */
static void
await(int sig)
{
	while (!waits(sig))
		sched_yield();
}

/* It waits for the main thread in a system call, or running. */
static void *
worker(void *arg)
{
	sigset_t set;

	pthread_barrier_wait(&step);
	await(SIGFPE);
	await(SIGBUS);
	await(SIGUSR1);
	pthread_barrier_wait(&step);
	if (arg == NULL)
		pthread_barrier_wait(&step);
	while (!go_on)
		;
	CHECK(!waits(SIGFPE));
	CHECK(!waits(SIGUSR1));
	CHECK(waits(SIGBUS));
	sigemptyset(&set);
	sigaddset(&set, SIGFPE);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	return NULL;
}

/* A process in our memory, but with handlers and signals of its own. */
static int
sharing(void *arg)
{
	(void)arg;
	signal(SIGFPE, SIG_IGN);
	return 0;
}

static void
other_ignores(void)
{
	static char stack[65536];
	int status;
	pid_t pid;

	raise(SIGFPE);
	await(SIGFPE);
	pid = clone(sharing, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	SAME(status, 0);
	CHECK(waits(SIGFPE));
}

static void
thread_ignores(void *running)
{
	pthread_t th;

	go_on = 0;
	CHECK(pthread_create(&th, NULL, worker, running) == 0);
	pthread_barrier_wait(&step);
	pthread_kill(th, SIGFPE);
	pthread_kill(th, SIGBUS);
	pthread_kill(th, SIGUSR1);
	pthread_barrier_wait(&step);
	usleep(10000);
	signal(SIGFPE, SIG_IGN);
	signal(SIGFPE, SIG_DFL);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR1, SIG_DFL);
	if (running == NULL)
		pthread_barrier_wait(&step);
	go_on = 1;
	CHECK(pthread_join(th, NULL) == 0);
}

int
main(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGFPE);
	sigaddset(&set, SIGBUS);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_barrier_init(&step, NULL, 2);
	thread_ignores(NULL);
	thread_ignores(&set);
	other_ignores();
	return victim_ok();
}
