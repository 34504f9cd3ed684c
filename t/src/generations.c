/*
 * generations - threads that begin when others have ended, three times; their
 * calls are mutually recursive
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef long call(int);

static call f0, f1, f2, f3, f4, f5, f6, f7;
static call *volatile table[8] = { f0, f1, f2, f3, f4, f5, f6, f7 };
static pthread_barrier_t barrier;

#define CALLS(i, a, b, c)						\
	static __attribute__((noinline)) long				\
	f##i(int n)							\
	{								\
		long sum;						\
									\
		if (n <= 0)						\
			return i;					\
		sum = f##a(n - 1) + f##b(n - 2);			\
		if (n % 2 == 1)						\
			sum += f##c(n - 3);				\
		return sum + table[(n + i) % 8](n - 4) + 1;		\
	}

CALLS(0, 1, 2, 3)
CALLS(1, 2, 4, 6)
CALLS(2, 5, 7, 0)
CALLS(3, 3, 1, 4)
CALLS(4, 6, 7, 5)
CALLS(5, 0, 4, 2)
CALLS(6, 7, 3, 1)
CALLS(7, 1, 5, 6)

static void *
run(void *arg)
{
	long sum = 0;

	for (int i = 0; i < 8; i++) {
		pthread_barrier_wait(&barrier);
		sum += table[i](7 + i % 2) + f3(6);
	}
	*(long *)arg = sum;
	return NULL;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[16];
	long sum[16], all = 0;

	if (n < 1 || n > 16)
		return 2;
	for (int g = 0; g < 3; g++) {
		pthread_barrier_init(&barrier, NULL, (unsigned)n);
		for (int i = 0; i < n; i++)
			if (pthread_create(&thread[i], NULL, run, &sum[i]) != 0)
				return 1;
		for (int i = 0; i < n; i++) {
			pthread_join(thread[i], NULL);
			all += sum[i];
		}
	}
	printf("%ld\n", all);
	return 0;
}
