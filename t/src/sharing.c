/*
 * sharing - two threads, each with a counter of its own: in one line of the
 * cache, in lines of their own, and one counter for both
 *
 * They begin together, behind a system call, so that their instructions from
 * there on can take turns; and make none until both have ended.
 */
#include <pthread.h>
#include <stddef.h>

#define TIMES 200
#define ROUNDS 500

struct padded {
	volatile long n;
	char pad[56];
};

static volatile long beside[8] __attribute__((aligned(64)));
static struct padded apart[2] __attribute__((aligned(64)));
static volatile long both[8] __attribute__((aligned(64)));

static pthread_barrier_t begin;

static void
wait_for_both(volatile int *here, long k)
{
	here[k] = 1;
	while (!here[1 - k])
		__builtin_ia32_pause();
}

__attribute__((noinline))
static void
some(long k)
{
	for (int i = 0; i < ROUNDS; i++)
		beside[k]++;
	for (int i = 0; i < ROUNDS; i++)
		apart[k].n++;
	for (int i = 0; i < ROUNDS; i++)
		both[0]++;
}

static void *
count(void *arg)
{
	static volatile int end[2];
	long k = *(long *)arg;

	pthread_barrier_wait(&begin);
	for (int n = 0; n < TIMES; n++)
		some(k);
	wait_for_both(end, k);
	return NULL;
}

int
main(void)
{
	static long number[2] = { 0, 1 };
	pthread_t t[2];

	pthread_barrier_init(&begin, NULL, 2);
	for (int k = 0; k < 2; k++)
		if (pthread_create(&t[k], NULL, count, &number[k]) != 0)
			return 1;
	for (int k = 0; k < 2; k++)
		pthread_join(t[k], NULL);
	return 0;
}
