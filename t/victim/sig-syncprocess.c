/*
 * sig-syncprocess - signals that instructions raise, too, sent to the process:
 * a thread that does not block one gets it; where all block it, any thread sees
 * it pending and can take it, also when the one that it came to has ended
 *
 * build: -pthread
 */
#include <pthread.h>
#include <time.h>

#include "victim.h"

static const int sigs[] = { SIGFPE, SIGSEGV, SIGTRAP, SIGILL, SIGBUS };
static pthread_t other;
static volatile int caught, by_other, ready, leave;
static volatile pid_t sender;

static void
note(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	by_other = pthread_equal(pthread_self(), other);
	sender = si->si_pid;
	caught = 1;
}

static void
block(int how, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	CHECK(pthread_sigmask(how, &set, NULL) == 0);
}

/* A child sends it, and ends. */
static pid_t
sent(int sig)
{
	pid_t pid = fork();

	if (pid == 0) {
		usleep(20000);
		kill(getppid(), sig);
		_exit(3);
	}
	return pid;
}

static void *
take(void *sig)
{
	block(SIG_UNBLOCK, (int)(intptr_t)sig);
	ready = 1;
	while (!caught)
		pause();
	return NULL;
}

static void *
spin(void *unused)
{
	ready = 1;
	while (!leave)
		;
	return unused;
}

static void
begin(void *(*run)(void *), int sig)
{
	ready = leave = caught = 0;
	CHECK(pthread_create(&other, NULL, run, (void *)(intptr_t)sig) == 0);
	while (!ready)
		;
}

static void
another_takes(int sig)
{
	pid_t pid;

	begin(take, sig);
	pid = sent(sig);
	while (!caught)
		;
	CHECK(by_other);
	SAME(sender, pid);
	CHECK(pthread_join(other, NULL) == 0);
	reap(pid, 3);
}

static void
is_taken(int sig)
{
	struct timespec limit = { 5, 0 };
	siginfo_t si;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	SAME(sigtimedwait(&set, &si, &limit), sig);
}

/* ends: the other thread has ended by then. */
static void
is_pending(int sig, int ends)
{
	sigset_t set;
	pid_t pid;

	begin(spin, sig);
	pid = sent(sig);
	reap(pid, 3);
	leave = ends;
	if (ends)
		CHECK(pthread_join(other, NULL) == 0);
	/* it may be on its way through a thread that does not run now */
	do
		CHECK(sigpending(&set) == 0);
	while (!sigismember(&set, sig));
	is_taken(sig);
	leave = 1;
	if (!ends)
		CHECK(pthread_join(other, NULL) == 0);
}

int
main(void)
{
	alarm(30);
	for (size_t i = 0; i < NELEM(sigs); i++) {
		handle(sigs[i], note, 0);
		block(SIG_BLOCK, sigs[i]);
		another_takes(sigs[i]);
		is_pending(sigs[i], 0);
		is_pending(sigs[i], 1);
		SAME(caught, 0);
	}
	return victim_ok();
}
