/*
 * thr-mutex - contended mutexes, condition variables, read-write locks and
 * once: the sums come out right
 */
#include <pthread.h>

#include "victim.h"

enum { NTHREAD = 8, NROUND = 2000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static long plain, under_rw, once_runs, whose;
static long atomic_sum;

static void
only_once(void)
{
	once_runs++;
}

static void *
worker(void *arg)
{
	long id = (long)arg;

	pthread_once(&once, only_once);
	for (int i = 0; i < NROUND; i++) {
		pthread_mutex_lock(&lock);
		plain++;
		pthread_mutex_unlock(&lock);
		if (i % 16 == 0) {
			pthread_rwlock_wrlock(&rw);
			under_rw++;
			pthread_rwlock_unlock(&rw);
		} else {
			pthread_rwlock_rdlock(&rw);
			CHECK(under_rw >= 0);
			pthread_rwlock_unlock(&rw);
		}
		__atomic_fetch_add(&atomic_sum, id, __ATOMIC_SEQ_CST);
	}
	/* Round robin through a condition variable. */
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&lock);
		while (whose % NTHREAD != id)
			pthread_cond_wait(&turn, &lock);
		whose++;
		pthread_cond_broadcast(&turn);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int
main(void)
{
	pthread_t th[NTHREAD];

	for (long i = 0; i < NTHREAD; i++)
		CHECK(pthread_create(&th[i], NULL, worker, (void *)i) == 0);
	for (int i = 0; i < NTHREAD; i++)
		CHECK(pthread_join(th[i], NULL) == 0);
	SAME(plain, NTHREAD * NROUND);
	SAME(under_rw, NTHREAD * (NROUND / 16));
	SAME(atomic_sum, NROUND * (NTHREAD * (NTHREAD - 1) / 2));
	SAME(whose, NTHREAD * 20);
	SAME(once_runs, 1);
	return victim_ok();
}
