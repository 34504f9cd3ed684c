/*
 * sig-childsends - children whose end sends a signal that faults send as well,
 * with a code that means one: to a handler, ignored, in the midst of work and of
 * calls
 */
#include <sched.h>

#include "victim.h"

static const int sigs[] = { SIGTRAP, SIGSEGV, SIGFPE, SIGILL, SIGBUS };
static volatile int n, code;
static volatile pid_t sender;
static volatile unsigned work;

static void
note(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	code = si->si_code;
	sender = si->si_pid;
	n++;
}

/* A child that ends in 5 ms and sends sig; killed: not by itself. */
static pid_t
child(int sig, int killed)
{
	pid_t pid = (pid_t)syscall(SYS_clone, (long)sig, 0, 0, 0, 0);

	CHECK(pid >= 0);
	if (pid != 0)
		return pid;
	usleep(5000);
	if (killed)
		kill(getpid(), SIGKILL);
	_exit(5);
}

static void
end(pid_t pid, int killed)
{
	int status;

	while (waitpid(pid, &status, __WALL) != pid)
		CHECK(errno == EINTR);
	SAME(status, killed ? SIGKILL : 5 << 8);
}

static void
caught(int sig, int killed, int calls)
{
	pid_t pid;

	n = 0;
	handle(sig, note, 0);
	pid = child(sig, killed);
	while (n == 0)
		for (int i = 0; i < 10000; i++) {
			work += 7;
			if (calls && i % 100 == 0)
				getppid();
		}
	end(pid, killed);
	SAME(n, 1);
	SAME(code, killed ? CLD_KILLED : CLD_EXITED);
	SAME(sender, pid);
}

int
main(void)
{
	for (size_t i = 0; i < NELEM(sigs); i++) {
		for (int how = 0; how < 4; how++)
			caught(sigs[i], how & 1, how >> 1);
		CHECK(signal(sigs[i], SIG_IGN) != SIG_ERR);
		end(child(sigs[i], 0), 0);
	}
	return victim_ok();
}
