/*
 * Signals while a recursion is deep: what it has costs nothing for each of
 * them.
 *
 * usage: deephandlers depth signals
 */
#include <signal.h>
#include <stdlib.h>

static volatile int handled, signals;

static void
handler(int sig)
{
	(void)sig;
	handled++;
}

static int
down(int n)
{
	if (n > 0)
		return down(n - 1) + 1;
	for (n = 0; n < signals; n++)
		raise(SIGUSR1);
	return 0;
}

int
main(int argc, char **argv)
{
	int depth = argc > 2 ? atoi(argv[1]) : 1;

	signals = argc > 2 ? atoi(argv[2]) : 1;
	signal(SIGUSR1, handler);
	return down(depth) != depth || handled != signals;
}
