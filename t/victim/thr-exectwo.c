/*
 * thr-exectwo - two threads exec at the same time, twenty times over: one of
 * them ends the other, and what comes has its argument
 */
#include <pthread.h>

#include "victim.h"

static char *self;
static pthread_barrier_t up;

static void *
changer(void *arg)
{
	pthread_barrier_wait(&up);
	execl(self, self, (char *)arg, (char *)NULL);
	CHECK(!"exec");
	return NULL;
}

int
main(int argc, char **argv)
{
	static char left[16];
	int n = argc > 1 ? atoi(argv[1]) : 20;
	pthread_t t;

	if (n == 0)
		return victim_ok();
	self = argv[0];
	snprintf(left, sizeof left, "%d", n - 1);
	pthread_barrier_init(&up, NULL, 3);
	pthread_create(&t, NULL, changer, left);
	pthread_create(&t, NULL, changer, left);
	pthread_barrier_wait(&up);
	for (;;)
		pause();
}
