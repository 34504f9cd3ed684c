/*
 * prc-ptrace - a program that debugs its child: breakpoints, single steps,
 * registers and memory, system call stops; no one else is its tracer
 */
#include <sys/ptrace.h>
#include <sys/user.h>

#include "victim.h"

extern char pt_begin[], pt_end[];

static volatile long value = 5;

static _Noreturn void
debuggee(void)
{
	CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	raise(SIGSTOP);
	__asm__ volatile(".globl pt_begin, pt_end; int3; pt_begin: nop; nop;"
	    "mov $3, %%ecx; 1: dec %%ecx; jnz 1b; pt_end: nop"
	    : : : "rcx", "cc");
	syscall(SYS_getppid);
	_exit((int)value);
}

static void
expect_stop(pid_t pid, int sig)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSTOPPED(status));
	SAME(WSTOPSIG(status), sig);
}

int
main(void)
{
	struct user_regs_struct regs;
	pid_t pid = fork();
	int steps = 0, calls = 0, status;

	if (pid == 0)
		debuggee();
	expect_stop(pid, SIGSTOP);
	CHECK(ptrace(PTRACE_CONT, pid, NULL, NULL) == 0);
	expect_stop(pid, SIGTRAP);
	CHECK(ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0);
	SAME(regs.rip, (uintptr_t)pt_begin);
	do {
		CHECK(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0);
		expect_stop(pid, SIGTRAP);
		CHECK(ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0);
		steps++;
	} while (regs.rip != (uintptr_t)pt_end);
	SAME(steps, 9);
	SAME(ptrace(PTRACE_PEEKDATA, pid, &value, NULL), 5);
	CHECK(ptrace(PTRACE_POKEDATA, pid, &value, 42) == 0);
	for (;;) {
		CHECK(ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0);
		CHECK(waitpid(pid, &status, 0) == pid);
		if (!WIFSTOPPED(status))
			break;
		CHECK(ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0);
		calls += regs.orig_rax == SYS_getppid;
	}
	SAME(calls, 2);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	SAME(value, 5);
	return victim_ok();
}
