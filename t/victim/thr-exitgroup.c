/*
 * thr-exitgroup - a thread other than the first ends the process while
 * others run, sleep and wait
 * expect: exit 7
 */
#include <pthread.h>

#include "victim.h"

static volatile unsigned spun;
static pthread_barrier_t up;

static void *
spin(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&up);
	for (;;)
		spun++;
	return NULL;
}

static void *
sleeper(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&up);
	for (;;)
		pause();
	return NULL;
}

static void *
ender(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&up);
	victim_ok();
	syscall(SYS_exit_group, 7);
	return NULL;
}

int
main(void)
{
	pthread_t t;

	pthread_barrier_init(&up, NULL, 13);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&t, NULL, spin, NULL) == 0);
	for (int i = 0; i < 7; i++)
		CHECK(pthread_create(&t, NULL, sleeper, NULL) == 0);
	CHECK(pthread_create(&t, NULL, ender, NULL) == 0);
	pthread_barrier_wait(&up);
	pthread_join(t, NULL);
	return 1;
}
