/*
 * thr-fork - a process with several threads forks from each of them, with
 * pthread_atfork handlers, while others allocate memory
 */
#include <pthread.h>

#include "victim.h"

static int prepared, in_parent, in_child;
static volatile int finish;

static void
prepare(void)
{
	__atomic_fetch_add(&prepared, 1, __ATOMIC_SEQ_CST);
}

static void
parent(void)
{
	__atomic_fetch_add(&in_parent, 1, __ATOMIC_SEQ_CST);
}

static void
child(void)
{
	in_child = 1;
}

static void *
allocator(void *arg)
{
	while (!finish)
		free(malloc((size_t)rand() % 5000 + 1));
	return arg;
}

static void *
forker(void *arg)
{
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			char *p = malloc(1000);

			memset(p, 1, 1000);
			free(p);
			_exit(in_child * 10 + i);
		}
		reap(pid, 10 + i);
	}
	return arg;
}

int
main(void)
{
	pthread_t a[3], f[4];

	pthread_atfork(prepare, parent, child);
	for (int i = 0; i < 3; i++)
		pthread_create(&a[i], NULL, allocator, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&f[i], NULL, forker, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(f[i], NULL);
	finish = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(a[i], NULL);
	SAME(prepared, 40);
	SAME(in_parent, 40);
	return victim_ok();
}
