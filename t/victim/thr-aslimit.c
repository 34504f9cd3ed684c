/*
 * thr-aslimit - a limit of 64 MB of address space, and threads that begin and
 * end threads all the time, on stacks that are there: none lacks memory
 *
 * build: -pthread
 */
#include <pthread.h>
#include <sys/resource.h>

#include "victim.h"

enum { MAKERS = 4, ROUNDS = 250, STACK = 1 << 16 };

static char stacks[2 * MAKERS][STACK] __attribute__((aligned(PAGE)));

static void
begin(pthread_t *t, unsigned stack, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;

	CHECK(pthread_attr_init(&attr) == 0);
	CHECK(pthread_attr_setstack(&attr, stacks[stack], STACK) == 0);
	SAME(pthread_create(t, &attr, run, arg), 0);
	pthread_attr_destroy(&attr);
}

static void *
leaf(void *arg)
{
	return arg;
}

static void *
maker(void *arg)
{
	unsigned own = (unsigned)(uintptr_t)arg;
	struct rlimit limit;
	pthread_t t;

	/* a thread is asked for its process */
	CHECK(prlimit((pid_t)gettid(), RLIMIT_AS, NULL, &limit) == 0);
	SAME(limit.rlim_cur, 64 << 20);

	for (int i = 0; i < ROUNDS; i++) {
		begin(&t, MAKERS + own, leaf, NULL);
		CHECK(pthread_join(t, NULL) == 0);
	}
	return NULL;
}

int
main(void)
{
	struct rlimit limit = { 64 << 20, 64 << 20 };
	pthread_t t[MAKERS];

	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	for (unsigned i = 0; i < MAKERS; i++)
		begin(&t[i], i, maker, (void *)(uintptr_t)i);
	for (unsigned i = 0; i < MAKERS; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	return victim_ok();
}
