/*
 * again - runs threads, then executes itself once more
 */
#include <pthread.h>
#include <unistd.h>

static __attribute__((noinline)) int
add(int n, const int *v)
{
	return n == 0 ? v[0] : v[n] + add(n - 1, v);
}

static void *
work(void *arg)
{
	static int v[1000];

	return add(300, v) == 0 ? arg : NULL;
}

int
main(int argc, char **argv)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	if (argc == 1)
		execl(argv[0], argv[0], "2", (char *)NULL);
	return argc == 1;
}
