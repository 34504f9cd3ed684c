/* 1100 threads at one time */
#include <pthread.h>
#include <unistd.h>

static int wait[2];

static void *
waits(void *arg)
{
	char c;

	return read(wait[0], &c, 1) == 0 ? arg : NULL;
}

int
main(void)
{
	static pthread_t t[1100];
	pthread_attr_t small;
	int i;

	if (pipe(wait) < 0 || pthread_attr_init(&small) != 0 ||
	    pthread_attr_setstacksize(&small, 1 << 16) != 0)
		return 1;
	for (i = 0; i < 1100; i++)
		if (pthread_create(&t[i], &small, waits, NULL) != 0)
			return 2;
	close(wait[1]);
	for (i = 0; i < 1100; i++)
		if (pthread_join(t[i], NULL) != 0)
			return 3;
	return 0;
}
