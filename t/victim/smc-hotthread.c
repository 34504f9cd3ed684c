/*
 * smc-hotthread - a thread runs code often, alone in a loop and called again
 * and again, that another thread changes: it sees each change in the end
 * build: -pthread
 */
#include <pthread.h>

#include "victim.h"

enum { CHANGES = 30 };

static unsigned char *p;
static volatile int seen = -1, stop;
static int want;

static void *
call(void *arg)
{
	(void)arg;
	while (!stop)
		seen = ((int (*)(void))p)();
	return NULL;
}

/* 1: mov $0,%eax; pause; cmp (%rdi),%eax; jne 1b; ret */
static void *
loop(void *arg)
{
	(void)arg;
	seen = ((int (*)(int *))(p + 64))(&want);
	return NULL;
}

static void
set(unsigned char *at, int n)
{
	__atomic_store_n((int *)(void *)at, n, __ATOMIC_SEQ_CST);
}

int
main(void)
{
	pthread_t t;

	p = map_pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
	/* the constants are aligned, so that they change at once */
	p += 3;
	memcpy(p, "\xb8\0\0\0\0\xc3", 6);
	memcpy(p + 64, "\xb8\0\0\0\0\xf3\x90\x3b\x07\x75\xf5\xc3", 12);
	CHECK(pthread_create(&t, NULL, call, NULL) == 0);
	for (int i = 1; i < CHANGES; i++) {
		set(p + 1, i);
		while (seen != i)
			sched_yield();
		for (int k = 0; k < 50; k++)
			sched_yield();
	}
	stop = 1;
	CHECK(pthread_join(t, NULL) == 0);
	for (int i = 1; i < CHANGES; i++) {
		want = i;
		CHECK(pthread_create(&t, NULL, loop, NULL) == 0);
		for (int k = 0; k < 50; k++)
			sched_yield();
		set(p + 65, i);
		CHECK(pthread_join(t, NULL) == 0);
		SAME(seen, i);
	}
	return victim_ok();
}
