/*
 * thr-smallstack - threads with the smallest stack there is, which take
 * signals on it: nobody else's frames fit there
 */
#include <limits.h>
#include <pthread.h>

#include "victim.h"

static volatile sig_atomic_t got;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	got++;
}

static void *
worker(void *arg)
{
	for (int i = 0; i < 5; i++)
		pthread_kill(pthread_self(), SIGUSR1);
	return arg;
}

int
main(void)
{
	pthread_attr_t attr;
	pthread_t t;
	size_t size = (size_t)sysconf(_SC_THREAD_STACK_MIN);

	if (size < (size_t)PTHREAD_STACK_MIN)
		size = (size_t)PTHREAD_STACK_MIN;
	handle(SIGUSR1, on_usr1, 0);
	pthread_attr_init(&attr);
	CHECK(pthread_attr_setstacksize(&attr, size) == 0);
	for (int i = 0; i < 20; i++) {
		CHECK(pthread_create(&t, &attr, worker, NULL) == 0);
		CHECK(pthread_join(t, NULL) == 0);
	}
	SAME(got, 100);
	return victim_ok();
}
