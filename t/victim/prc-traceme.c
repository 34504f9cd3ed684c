/*
 * prc-traceme - a debugger's start of its program: the child of fork or of
 * vfork asks to be traced and executes another program, whose stop behind
 * exec and whose end the parent sees
 */
#include <sys/ptrace.h>
#include <sys/user.h>

#include "victim.h"

static void
debug(pid_t pid)
{
	struct user_regs_struct regs;
	uintptr_t pc;
	int status;

	CHECK(pid > 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSTOPPED(status));
	SAME(WSTOPSIG(status), SIGTRAP);
	CHECK(ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0);
	pc = regs.rip;
	CHECK(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSTOPPED(status));
	SAME(WSTOPSIG(status), SIGTRAP);
	CHECK(ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0);
	CHECK(regs.rip != pc && regs.rip - pc < PAGE);
	CHECK(ptrace(PTRACE_CONT, pid, NULL, NULL) == 0);
	reap(pid, 23);
}

int
main(int argc, char *argv[])
{
	static volatile int why;
	pid_t pid;

	if (argc > 1)
		return 23;
	for (int i = 0; i < 4; i++) {
		why = 0;
		pid = i % 2 ? fork() : vfork();
		if (pid == 0) {
			if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
				execl(argv[0], argv[0], "again", (char *)NULL);
			why = errno;
			_exit(1);
		}
		SAME(why, 0);
		debug(pid);
	}
	return victim_ok();
}
