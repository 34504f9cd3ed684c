/*
 * thr-execother - a thread that is not the first execs the program anew while
 * others run; what comes is one thread, with the first one's id
 */
#include <pthread.h>

#include "victim.h"

static char *self;
static pthread_barrier_t up;

static void *
busy(void *arg)
{
	volatile unsigned n = 0;

	pthread_barrier_wait(&up);
	for (;;)
		if (arg != NULL)
			pause();
		else
			n = n + 1;
	return NULL;
}

static void *
changer(void *arg)
{
	char pid[16];

	(void)arg;
	pthread_barrier_wait(&up);
	snprintf(pid, sizeof pid, "%d", getpid());
	execl(self, self, pid, (char *)NULL);
	CHECK(!"exec");
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1) {
		SAME(atoi(argv[1]), getpid());
		SAME(gettid(), getpid());
		return victim_ok();
	}
	self = argv[0];
	pthread_barrier_init(&up, NULL, 6);
	for (intptr_t i = 0; i < 4; i++)
		pthread_create(&t, NULL, busy, (void *)(i % 2));
	pthread_create(&t, NULL, changer, NULL);
	pthread_barrier_wait(&up);
	for (;;)
		pause();
}
