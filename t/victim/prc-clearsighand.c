/*
 * prc-clearsighand - children that begin without their parent's handlers: a
 * copied one, one in the parent's memory that the parent waits for, and one
 * beside it; what is ignored stays so, and faults still have their default.  One
 * that would share its parent's handlers as well is refused: these stay.
 */
#include <linux/sched.h>
#include <sched.h>

#include "victim.h"

#define CLEAR 0x100000000ull	/* CLONE_CLEAR_SIGHAND */

static volatile int seen, wrong;
static char stack[65536] __attribute__((aligned(16)));

static void
on_signal(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	seen++;
}

static void *
handler_of(int sig)
{
	struct sigaction sa;

	CHECK(sigaction(sig, NULL, &sa) == 0);
	return (void *)sa.sa_handler;
}

/* No library function that may take a lock of the parent's. */
static void
child(void)
{
	wrong |= handler_of(SIGUSR1) != (void *)SIG_DFL;
	wrong |= handler_of(SIGUSR2) != (void *)SIG_IGN;
	wrong |= handler_of(SIGSEGV) != (void *)SIG_DFL;
	wrong |= handler_of(SIGTRAP) != (void *)SIG_IGN;
	kill(getpid(), SIGUSR2);
	_exit(wrong ? 1 : 7);
}

static void
faults(void)
{
	*(volatile int *)8 = 1;
	_exit(1);
}

static void
terminates(void)
{
	kill(getpid(), SIGUSR1);
	_exit(1);
}

/* clone3 by itself: libc's wrappers do not let flags through. */
__attribute__((noinline)) static pid_t
begin(uint64_t flags, void (*run)(void))
{
	struct clone_args a = { .flags = flags | CLEAR,
		.exit_signal = SIGCHLD };
	register void (*f)(void) __asm__("r12") = run;
	pid_t pid;

	if ((flags & CLONE_VM) != 0) {
		a.stack = (uintptr_t)stack;
		a.stack_size = sizeof stack;
	}
	__asm__ volatile("syscall; test %%eax,%%eax; jnz 1f; call *%%r12; 1:"
	    : "=a"(pid) : "a"(SYS_clone3), "D"(&a), "S"(sizeof a), "r"(f)
	    : "rcx", "r11", "memory");
	return pid;
}

static void
one(uint64_t flags, void (*run)(void), int end)
{
	pid_t pid = begin(flags, run);
	int status;

	CHECK(pid > 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	SAME(status, end);
}

int
main(void)
{
	static const uint64_t flags[] = { 0, CLONE_VM | CLONE_VFORK,
		CLONE_VM };
	struct clone_args a = { .flags = CLEAR, .exit_signal = SIGCHLD };

	if (syscall(SYS_clone3, &a, 0) == -1 && errno == ENOSYS)
		victim_skip("no clone3");
	handle(SIGUSR1, on_signal, 0);
	handle(SIGSEGV, on_signal, 0);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGTRAP, SIG_IGN);
	for (unsigned i = 0; i < 3 * NELEM(flags); i++) {
		uint64_t f = flags[i % NELEM(flags)];

		one(f, child, 7 << 8);
		one(f, faults, SIGSEGV);
		one(f, terminates, SIGUSR1);
		SAME(begin(f | CLONE_VM | CLONE_SIGHAND, child), -EINVAL);
		CHECK(handler_of(SIGUSR1) == (void *)on_signal);
		seen = 0;
		raise(SIGUSR1);
		raise(SIGSEGV);
		SAME(seen, 2);
	}
	return victim_ok();
}
