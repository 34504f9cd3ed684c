/*
 * sig-sentflood - a child sends the signals of faults as fast as it can, while
 * its parent runs code, makes calls, and is in handlers for them
 */
#include <sys/wait.h>
#include "victim.h"

static volatile unsigned long n;

static void
count(int sig)
{
	(void)sig;
	n++;
}

int
main(void)
{
	static const int sigs[] = { SIGTRAP, SIGSEGV, SIGFPE, SIGILL, SIGBUS };
	struct sigaction sa = { .sa_handler = count };
	pid_t parent = getpid(), child;
	int status;

	for (size_t i = 0; i < NELEM(sigs); i++)
		CHECK(sigaction(sigs[i], &sa, NULL) == 0);
	child = fork();
	if (child == 0) {
		for (int i = 0; i < 100000; i++)
			kill(parent, sigs[i % NELEM(sigs)]);
		_exit(0);
	}
	while (waitpid(child, &status, WNOHANG) != child)
		getppid();
	CHECK(status == 0 && n > 0);
	return victim_ok();
}
