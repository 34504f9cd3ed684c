/*
 * sig-die-thread - a fault in a thread that is not the first
 * expect: signal 11
 */
#include <pthread.h>

#include "victim.h"

static void *
faulter(void *arg)
{
	*(volatile int *)8 = 1;
	return arg;
}

int
main(void)
{
	victim_ok();
	pthread_t t;

	pthread_create(&t, NULL, faulter, NULL);
	pthread_join(t, NULL);
	return 0;
}
