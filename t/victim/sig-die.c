/*
 * sig-die - children die of every signal whose default is death, raised,
 * sent, or by a fault; their parent sees the right one
 */
#include <sys/resource.h>

#include "victim.h"

static const int deadly[] = { SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP,
    SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE,
    SIGALRM, SIGTERM, SIGSTKFLT, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF,
    SIGIO, SIGPWR, SIGSYS };

static int
signal_of(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status));
	CHECK(!WCOREDUMP(status));
	return WTERMSIG(status);
}

int
main(void)
{
	struct rlimit no_core = { 0, 0 };
	pid_t pid;

	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; i < NELEM(deadly); i++) {
		pid = fork();
		if (pid == 0) {
			raise(deadly[i]);
			_exit(1);
		}
		SAME(signal_of(pid), deadly[i]);
	}
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig += 7) {
		pid = fork();
		if (pid == 0)
			for (;;)
				pause();
		kill(pid, sig);
		SAME(signal_of(pid), sig);
	}
	return victim_ok();
}
