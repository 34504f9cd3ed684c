/*
 * smc-thread - one thread writes functions, another runs them; each is told by
 * a flag, and serializes before it runs what is new
 */
#include <cpuid.h>
#include <pthread.h>
#include <sched.h>

#include "victim.h"

enum { NROUND = 300 };

static unsigned char *area;
static volatile int ready, done;

static void *
runner(void *arg)
{
	for (int i = 1; i <= NROUND; i++) {
		unsigned a, b, c, d;
		int (*f)(void) = (int (*)(void))(area + i % 7 * 64);

		while (ready != i)
			sched_yield();
		__cpuid(0, a, b, c, d);
		SAME(f(), i * 11);
		SAME(f(), i * 11);
		done = i;
	}
	return arg;
}

int
main(void)
{
	pthread_t t;

	area = map_pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
	CHECK(pthread_create(&t, NULL, runner, NULL) == 0);
	for (int i = 1; i <= NROUND; i++) {
		unsigned char *p = area + i % 7 * 64;
		int value = i * 11;

		memcpy(p, "\xb8\x00\x00\x00\x00\xc3", 6);
		memcpy(p + 1, &value, 4);
		ready = i;
		while (done != i)
			sched_yield();
	}
	pthread_join(t, NULL);
	return victim_ok();
}
