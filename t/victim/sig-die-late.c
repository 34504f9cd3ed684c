/*
 * sig-die-late - a thread in a call gets a signal whose handler is taken back
 * at once: the handler runs, or the process dies of it; the call never just
 * ends
 */
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "victim.h"

#define ROUNDS 40

static volatile sig_atomic_t ready;

static void
on_term(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	_exit(2);
}

static void *
sleeper(void *arg)
{
	struct timespec t = { 60, 0 };

	ready = 1;
	nanosleep(&t, NULL);
	_exit(5);
	return arg;
}

/* What a round does, in a process of its own. */
static void
die(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	pthread_t thread;

	handle(SIGTERM, on_term, 0);
	CHECK(pthread_create(&thread, NULL, sleeper, NULL) == 0);
	while (!ready)
		sched_yield();
	usleep(2000);
	pthread_kill(thread, SIGTERM);
	CHECK(sigaction(SIGTERM, &dfl, NULL) == 0);
	for (;;)
		pause();
}

int
main(void)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < ROUNDS; i++) {
		pid = fork();
		CHECK(pid >= 0);
		if (pid == 0)
			die();
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFEXITED(status) ? WEXITSTATUS(status) == 2 :
		    WTERMSIG(status) == SIGTERM);
	}
	return victim_ok();
}
