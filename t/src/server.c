/*
 * server - answers each byte of its input after 100000 rounds
 *
 *	server			alone
 *	server runs		beside a thread that runs all the time
 *	server sleeps		beside one that sleeps between rounds
 *	server WHAT program ...	executes the program instead
 *
 * An `f' makes a child that goes on as well, and answers `g'.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static volatile long u, v, w;

/* Five instructions a round or more: some compilers make one of v += n. */
__attribute__((noinline)) static void
work(long n)
{
	while (n-- > 0)
		v = u + n;
}

static void *
spin(void *arg)
{
	for (;; w++)
		if (arg != NULL)
			usleep(1000);
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t t;
	char c;

	if (argc > 1 && strcmp(argv[1], "runs") == 0)
		pthread_create(&t, NULL, spin, NULL);
	if (argc > 1 && strcmp(argv[1], "sleeps") == 0)
		pthread_create(&t, NULL, spin, argv);
	if (argc > 2)
		execv(argv[2], argv + 2);
	while (read(0, &c, 1) == 1) {
		work(100000);
		if (c == 'f' && fork() == 0)
			c = 'g';
		if (write(1, &c, 1) != 1)
			return 1;
	}
	return 0;
}
