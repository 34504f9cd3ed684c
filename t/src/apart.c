/*
 * apart - threads that share nothing they write to
 *
 *	apart N [shared]
 *
 * N threads call functions, also by pointers, return, and store into memory of
 * their own, or all into the same, without a system call. The program's number
 * goes to standard output once all run; then it works for ten minutes at most.
 * build: -pthread
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 64
#define WORDS 4096

static struct own {
	uint64_t word[WORDS];
} own[MOST] __attribute__((aligned(4096)));
static int begun;

__attribute__((noinline))
static uint64_t
mix(uint64_t x)
{
	return (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
}

__attribute__((noinline))
static uint64_t
sum(uint64_t x)
{
	return x % 3 == 0 ? mix(x) + x : x * 31;
}

static void *
work(void *arg)
{
	uint64_t (*const way[])(uint64_t) = { mix, sum };
	struct own *o = arg;
	uint64_t x = (uintptr_t)arg;

	__atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		x = way[x >> 7 & 1](x + 1);
		o->word[x % WORDS] += x;
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2, i;
	pthread_t t;

	alarm(600);
	for (i = 0; i < n && i < MOST; i++)
		if (pthread_create(&t, NULL, work,
		    &own[argc > 2 ? 0 : i]) != 0)
			return 1;
	while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < i)
		usleep(1000);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	pause();
	return 0;
}
