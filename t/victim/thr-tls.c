/*
 * thr-tls - thread-local storage: initial values, own copies, keys with
 * destructors that set values again, pointers into another thread's copy
 */
#include <pthread.h>

#include "victim.h"

enum { NTHREAD = 40 };

static __thread int counter = 7;
static __thread char big[20000];
static __thread struct { long a, b; } pair = { 3, 4 };
static pthread_key_t key;
static int destroyed;
static pthread_barrier_t met;
static int *peers[NTHREAD];

static void
destructor(void *p)
{
	__atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
	if ((intptr_t)p > 1)
		pthread_setspecific(key, (void *)((intptr_t)p - 1));
}

static void *
worker(void *arg)
{
	size_t id = (size_t)arg;

	SAME(counter, 7);
	SAME(pair.a + pair.b, 7);
	for (size_t i = 0; i < sizeof big; i++)
		CHECK(big[i] == 0);
	memset(big, (int)id, sizeof big);
	counter = (int)id;
	peers[id] = &counter;
	pthread_setspecific(key, (void *)3);
	pthread_barrier_wait(&met);
	/* The neighbour's variable, by its address. */
	SAME(*peers[(id + 1) % NTHREAD], (id + 1) % NTHREAD);
	pthread_barrier_wait(&met);
	for (size_t i = 0; i < sizeof big; i++)
		CHECK(big[i] == (char)id);
	return NULL;
}

int
main(void)
{
	pthread_t th[NTHREAD];

	CHECK(pthread_key_create(&key, destructor) == 0);
	pthread_barrier_init(&met, NULL, NTHREAD);
	for (size_t i = 0; i < NTHREAD; i++)
		CHECK(pthread_create(&th[i], NULL, worker, (void *)i) == 0);
	for (size_t i = 0; i < NTHREAD; i++)
		CHECK(pthread_join(th[i], NULL) == 0);
	SAME(destroyed, NTHREAD * 3);
	SAME(counter, 7);
	return victim_ok();
}
