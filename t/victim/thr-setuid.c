/*
 * thr-setuid - setuid in a process with threads: libc signals each of them
 * with a signal of its own and every one makes the call
 */
#include <pthread.h>

#include "victim.h"

enum { NTHREAD = 12 };

static pthread_barrier_t up;
static volatile int finish;

static void *
worker(void *arg)
{
	volatile unsigned n = 0;

	pthread_barrier_wait(&up);
	while (!finish)
		if (arg != NULL)
			usleep(500);
		else
			n = n + 1;
	return (void *)(intptr_t)getegid();
}

int
main(void)
{
	pthread_t th[NTHREAD];
	void *ret;

	pthread_barrier_init(&up, NULL, NTHREAD + 1);
	for (intptr_t i = 0; i < NTHREAD; i++)
		CHECK(pthread_create(&th[i], NULL, worker,
		    (void *)(i % 4)) == 0);
	pthread_barrier_wait(&up);
	for (int i = 0; i < 10; i++) {
		CHECK(setgid(getgid()) == 0);
		CHECK(setuid(getuid()) == 0);
	}
	finish = 1;
	for (int i = 0; i < NTHREAD; i++) {
		CHECK(pthread_join(th[i], &ret) == 0);
		SAME((intptr_t)ret, getegid());
	}
	return victim_ok();
}
