/*
 * prc-shared - processes in their parent's memory, which goes on beside them:
 * they end by exit_group and by signals, have handlers of their own or share
 * the parent's, and are sent signals; more of them than there can be threads
 * end in each way, some of them killed while they hand over what they did
 */
#include <sched.h>
#include <sys/resource.h>

#include "victim.h"

enum { MANY = 1500 };

static volatile int seen, child_seen, begun;
static volatile pid_t child_pid;
static char *stack;

static void
on_signal(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	if (getpid() == child_pid)
		child_seen++;
	else
		seen++;
}

static int
leaves(void *arg)
{
	syscall(SYS_exit_group, (int)(intptr_t)arg);
	return 1;
}

static int
faults(void *arg)
{
	(void)arg;
	*(volatile int *)8 = 1;
	return 1;
}

static int
terminates(void *arg)
{
	(void)arg;
	kill(getpid(), SIGTERM);
	return 1;
}

static int
calls(void *arg)
{
	(void)arg;
	for (;;)
		syscall(SYS_getppid);
	return 1;
}

/* It asks, and sets what is set already. */
static int
acts(void *arg)
{
	struct sigaction sa;

	(void)arg;
	for (;;) {
		sigaction(SIGUSR1, NULL, &sa);
		sigaction(SIGUSR1, &sa, NULL);
	}
	return 1;
}

static int
traps(void *arg)
{
	(void)arg;
	__asm__ volatile("ud2");
	return 1;
}

/* Its own handlers change nothing for the parent. */
static int
handles(void *arg)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };

	(void)arg;
	child_pid = getpid();
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sa.sa_sigaction = on_signal;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGUSR2, &sa, NULL);
	kill(child_pid, SIGUSR1);
	kill(child_pid, SIGUSR2);
	kill(child_pid, SIGSEGV);
	return 3;
}

/* What it changes is changed for both. */
static int
shares(void *arg)
{
	(void)arg;
	child_pid = getpid();
	kill(child_pid, SIGUSR1);
	signal(SIGUSR2, SIG_IGN);
	return 4;
}

static int
computes(void *arg)
{
	volatile double d = 1;

	(void)arg;
	child_pid = getpid();
	begun = 1;
	while (child_seen < 20)
		d = d * 1.0001 + 1;
	return 5;
}

static pid_t
begin(int (*f)(void *), int flags, int arg)
{
	pid_t pid = clone(f, stack + 16 * PAGE, CLONE_VM | SIGCHLD | flags,
	    (void *)(intptr_t)arg);

	CHECK(pid > 0);
	return pid;
}

static void
one(int (*f)(void *), int flags, int arg, int end)
{
	pid_t pid = begin(f, flags, arg);
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	SAME(status, end);
}

/* At any instruction of its first ones, and later. */
static void
one_killed(int (*f)(void *), int flags, int after)
{
	pid_t pid = begin(f, flags, 0);
	struct sigaction sa;
	int status;

	for (volatile int i = 0; i < after; i++)
		;
	CHECK(kill(pid, SIGKILL) == 0);
	if (after % 2 == 0)	/* before its end has been waited for */
		CHECK(sigaction(SIGUSR2, NULL, &sa) == 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	SAME(status, SIGKILL);
	CHECK(sigaction(SIGUSR2, NULL, &sa) == 0);
}

static void
disturb(pid_t pid)
{
	int status, last;

	while (!begun)
		sched_yield();
	for (int i = 0; i < 20; i++) {
		last = child_seen;
		kill(pid, SIGUSR1);
		while (child_seen == last)
			sched_yield();
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	SAME(status, 5 << 8);
}

int
main(void)
{
	struct sigaction sa;

	stack = map_pages(16, PROT_READ | PROT_WRITE);
	CHECK(setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 }) == 0);
	for (int i = 0; i < MANY; i++)
		one(leaves, 0, i % 200, i % 200 << 8);
	for (int i = 0; i < MANY; i++)
		one(faults, 0, 0, SIGSEGV);
	for (int i = 0; i < MANY; i++)
		one(terminates, 0, 0, SIGTERM);
	for (int i = 0; i < MANY; i++)
		one_killed(calls, 0, i * 7919 % 400000);
	one(traps, 0, 0, SIGILL);
	handle(SIGUSR1, on_signal, 0);
	for (int i = 0; i < MANY; i++)
		one_killed(acts, CLONE_SIGHAND, i * 7919 % 400000);
	one(handles, 0, 0, 3 << 8);
	SAME(child_seen, 1);
	raise(SIGUSR1);
	SAME(seen, 1);
	CHECK(sigaction(SIGUSR2, NULL, &sa) == 0);
	CHECK(sa.sa_handler == SIG_DFL);
	child_seen = 0;
	disturb(begin(computes, 0, 0));
	child_seen = 0;
	one(shares, CLONE_SIGHAND, 0, 4 << 8);
	SAME(child_seen, 1);
	CHECK(sigaction(SIGUSR2, NULL, &sa) == 0);
	CHECK(sa.sa_handler == SIG_IGN);
	return victim_ok();
}
