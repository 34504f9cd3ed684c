/*
 * thr-cancel - cancellation: deferred in a blocking call, asynchronous in a
 * loop without calls, disabled and then enabled; clean-up handlers run
 */
#include <pthread.h>
#include <semaphore.h>

#include "victim.h"

static sem_t ready, go;
static int cleaned;
static volatile int spinning;

static void
cleanup(void *arg)
{
	cleaned += (int)(intptr_t)arg;
}

static void *
in_read(void *arg)
{
	int *fd = arg;
	char c;

	pthread_cleanup_push(cleanup, (void *)1);
	pthread_cleanup_push(cleanup, (void *)10);
	sem_post(&ready);
	for (;;)
		if (read(fd[0], &c, 1) != 1)
			break;
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *
in_loop(void *arg)
{
	(void)arg;
	pthread_cleanup_push(cleanup, (void *)100);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	sem_post(&ready);
	for (;;)
		spinning++;
	pthread_cleanup_pop(0);
	return NULL;
}

static void
cancel(pthread_t t)
{
	void *ret;

	while (sem_wait(&ready) != 0)
		CHECK(errno == EINTR);
	CHECK(pthread_cancel(t) == 0);
	CHECK(pthread_join(t, &ret) == 0);
	CHECK(ret == PTHREAD_CANCELED);
}

static void *
masked(void *arg)
{
	(void)arg;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	sem_post(&ready);
	while (sem_wait(&go) != 0)
		;
	cleaned += 1000;
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_testcancel();
	cleaned += 1000000;
	return NULL;
}

int
main(void)
{
	pthread_t t;
	void *ret;
	int fd[2];

	CHECK(pipe(fd) == 0);
	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	for (int i = 0; i < 20; i++) {
		CHECK(pthread_create(&t, NULL, in_read, fd) == 0);
		cancel(t);
	}
	SAME(cleaned, 20 * 11);
	for (int i = 0; i < 20; i++) {
		CHECK(pthread_create(&t, NULL, in_loop, NULL) == 0);
		cancel(t);
	}
	SAME(cleaned, 20 * 111);
	CHECK(pthread_create(&t, NULL, masked, NULL) == 0);
	while (sem_wait(&ready) != 0)
		;
	CHECK(pthread_cancel(t) == 0);
	sem_post(&go);
	CHECK(pthread_join(t, &ret) == 0);
	CHECK(ret == PTHREAD_CANCELED);
	SAME(cleaned, 20 * 111 + 1000);
	return victim_ok();
}
