/*
 * thr-mainleaves - the first thread leaves by pthread_exit; the others go on,
 * fork, take signals, and the last one ends the process
 */
#include <pthread.h>

#include "victim.h"

static pthread_t first;
static volatile sig_atomic_t got;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	got++;
}

static void *
last(void *arg)
{
	pid_t pid;

	(void)arg;
	CHECK(pthread_join(first, NULL) == 0);
	for (int i = 0; i < 50; i++)
		CHECK(kill(getpid(), SIGUSR1) == 0);
	SAME(got, 50);
	pid = fork();
	if (pid == 0)
		_exit(3);
	reap(pid, 3);
	victim_ok();
	exit(0);
}

int
main(void)
{
	pthread_t t;

	first = pthread_self();
	handle(SIGUSR1, on_usr1, 0);
	CHECK(pthread_create(&t, NULL, last, NULL) == 0);
	pthread_exit(NULL);
}
