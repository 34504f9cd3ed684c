/*
 * thr-exitmain - the first thread returns from main while fifty others run,
 * sleep, hold locks and make calls: status 0, atexit handlers run once
 * expect: exit 0
 */
#include <pthread.h>

#include "victim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int runs;

static void
at_end(void)
{
	if (++runs == 1)
		victim_ok();
}

static void *
worker(void *arg)
{
	volatile unsigned n = 0;

	for (;;) {
		switch ((intptr_t)arg % 4) {
		case 0:
			n = n + 1;
			break;
		case 1:
			usleep(100);
			break;
		case 2:
			pthread_mutex_lock(&lock);
			pthread_mutex_unlock(&lock);
			break;
		case 3:
			getppid();
			break;
		}
	}
	return NULL;
}

int
main(void)
{
	pthread_t t;

	atexit(at_end);
	for (intptr_t i = 0; i < 50; i++)
		CHECK(pthread_create(&t, NULL, worker, (void *)i) == 0);
	usleep(2000);
	return 0;
}
