/*
 * workers - threads whose functions do the same in every run
 *
 *	workers N
 *
 * What they wait for is different from run to run; functions named work_ are
 * not. build: -pthread
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;

__attribute__((noinline)) unsigned long
work_leaf(unsigned long n)
{
	return n * 2654435761u >> 3;
}

__attribute__((noinline)) unsigned long
work_tree(unsigned long n)
{
	return n < 2 ? work_leaf(n) : work_tree(n - 1) + work_tree(n - 2);
}

__attribute__((noinline)) void
work_handler(int s)
{
	work_leaf((unsigned long)s);
}

static void *
work_main(void *arg)
{
	unsigned long n = 0;

	for (int i = 0; i < 20; i++) {
		n += work_tree((unsigned long)(long)arg % 7 + 5);
		if (i == 10)
			pthread_kill(pthread_self(), SIGUSR1);
	}
	pthread_mutex_lock(&lock);
	total += n;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t *t = calloc((size_t)n, sizeof *t);

	signal(SIGUSR1, work_handler);
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, work_main, (void *)(long)i))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("%lu\n", total);
	free(t);
	return 0;
}
