/*
 * thr-storm - threads created and gone in quick succession, joined and not
 */
#include <pthread.h>
#include <semaphore.h>

#include "victim.h"

static sem_t done;
static int ran;

static void *
joined(void *arg)
{
	__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
	return arg;
}

static void *
detached(void *arg)
{
	pthread_detach(pthread_self());
	__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
	sem_post(&done);
	return arg;
}

int
main(void)
{
	pthread_t t;
	void *ret;

	sem_init(&done, 0, 0);
	for (long i = 0; i < 600; i++) {
		CHECK(pthread_create(&t, NULL, joined, (void *)i) == 0);
		CHECK(pthread_join(t, &ret) == 0);
		CHECK(ret == (void *)i);
	}
	for (int burst = 0; burst < 20; burst++) {
		for (int i = 0; i < 30; i++)
			CHECK(pthread_create(&t, NULL, detached, NULL) == 0);
		for (int i = 0; i < 30; i++)
			while (sem_wait(&done) != 0)
				CHECK(errno == EINTR);
	}
	SAME(ran, 1200);
	return victim_ok();
}
