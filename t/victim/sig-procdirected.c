/*
 * sig-procdirected - a signal for the process goes to a thread that does not
 * block it, even if that one never makes a system call
 */
#include <pthread.h>

#include "victim.h"

static volatile int got;
static volatile pid_t who, worker_tid;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	who = gettid();
	got++;
}

static void *
worker(void *arg)
{
	sigset_t set;
	volatile unsigned spin = 0;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	worker_tid = gettid();
	while (got < 20)
		spin = spin + 1;
	return NULL;
}

int
main(void)
{
	pthread_t t;
	sigset_t set;

	handle(SIGUSR1, on_usr1, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	CHECK(pthread_create(&t, NULL, worker, NULL) == 0);
	while (worker_tid == 0)
		usleep(100);
	for (int i = 0; i < 20; i++) {
		CHECK(kill(getpid(), SIGUSR1) == 0);
		while (got == i)
			usleep(100);
		SAME(who, worker_tid);
	}
	pthread_join(t, NULL);
	return victim_ok();
}
