/*
 * thr-many - three hundred threads alive at once, each with its own state
 */
#include <pthread.h>

#include "victim.h"

enum { NTHREAD = 300, NROUND = 50 };

static pthread_barrier_t all_here;
static __thread uint64_t mine;
static uint64_t sums[NTHREAD];

static void *
worker(void *arg)
{
	size_t id = (size_t)arg;

	mine = id;
	pthread_barrier_wait(&all_here);
	for (int i = 0; i < NROUND; i++)
		mine = mine * 3 + 1;
	sums[id] = mine;
	pthread_barrier_wait(&all_here);
	return arg;
}

int
main(void)
{
	static pthread_t th[NTHREAD];
	pthread_attr_t attr;
	void *ret;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	pthread_barrier_init(&all_here, NULL, NTHREAD);
	for (size_t i = 0; i < NTHREAD; i++)
		CHECK(pthread_create(&th[i], &attr, worker, (void *)i) == 0);
	for (size_t i = 0; i < NTHREAD; i++) {
		uint64_t want = i;

		CHECK(pthread_join(th[i], &ret) == 0);
		SAME((size_t)ret, i);
		for (int k = 0; k < NROUND; k++)
			want = want * 3 + 1;
		SAME(sums[i], want);
	}
	return victim_ok();
}
