/*
 * sharing - two threads, each with a counter of its own: in one line of the
 * cache, in lines of their own, and one counter for both
 *
 * They begin once neither makes a system call any more until both have ended,
 * so that all of their instructions can take turns even where one runs long
 * before the other; and there are more of them than one hand-over of a thread
 * has.
 */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#define TIMES 2000
#define ROUNDS 500

struct padded {
	volatile long n;
	char pad[56];
};

static volatile long beside[8] __attribute__((aligned(64)));
static struct padded apart[2] __attribute__((aligned(64)));
static volatile long both[8] __attribute__((aligned(64)));

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
	static volatile int begun[2], ready[2], ended[2];
	long k = *(long *)arg;

	begun[k] = 1;
	while (!begun[1 - k])
		usleep(100);
	ready[k] = 1;
	while (!ready[1 - k])
		__builtin_ia32_pause();
	for (int n = 0; n < TIMES; n++)
		some(k);
	ended[k] = 1;
	while (!ended[1 - k])
		__builtin_ia32_pause();
	return NULL;
}

int
main(void)
{
	static long number[2] = { 0, 1 };
	pthread_t t;

	if (pthread_create(&t, NULL, count, &number[1]) != 0)
		return 1;
	count(&number[0]);
	pthread_join(t, NULL);
	return 0;
}
