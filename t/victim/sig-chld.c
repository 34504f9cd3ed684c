/*
 * sig-chld - SIGCHLD: a handler that reaps a hundred children; ignored, when
 * children vanish and calls are not interrupted; default, likewise
 */
#include <time.h>

#include "victim.h"

static volatile sig_atomic_t reaped;

static void
on_chld(int sig, siginfo_t *si, void *uc)
{
	int saved = errno, status;

	(void)sig, (void)si, (void)uc;
	while (waitpid(-1, &status, WNOHANG) > 0) {
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
		reaped++;
	}
	errno = saved;
}

static void
child(int delay_us, int status)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid > 0)
		return;
	if (delay_us > 0)
		usleep((useconds_t)delay_us);
	_exit(status);
}

int
main(void)
{
	struct timespec t;
	int status;

	handle(SIGCHLD, on_chld, SA_RESTART);
	for (int i = 0; i < 100; i++)
		child(0, 3);
	while (reaped < 100)
		usleep(1000);
	/* By default and ignored, an ending child does not end a sleep. */
	signal(SIGCHLD, SIG_DFL);
	child(5000, 0);
	t = (struct timespec){ 0, 30000000 };
	CHECK(nanosleep(&t, NULL) == 0);
	CHECK(wait(&status) > 0);
	signal(SIGCHLD, SIG_IGN);
	child(5000, 0);
	CHECK(nanosleep(&t, NULL) == 0);
	CHECK(wait(&status) == -1 && errno == ECHILD);
	return victim_ok();
}
