/*
 * prc-altstack - a child has its parent's alternate stack, and a handler that
 * runs there, or elsewhere, can change it in its frame as far as the kernel
 * lets it
 */
#include "victim.h"

static char *one, *two;		/* 16 pages each */

static void
change(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	((ucontext_t *)uc)->uc_stack.ss_sp = two;
}

/* Where the stack is after a handler, run with flags, asked for the other. */
static char *
changed(int flags)
{
	stack_t ss = { .ss_sp = one, .ss_size = 16 * PAGE };

	CHECK(sigaltstack(&ss, NULL) == 0);
	handle(SIGUSR1, change, flags);
	CHECK(raise(SIGUSR1) == 0);
	CHECK(sigaltstack(NULL, &ss) == 0);
	SAME(ss.ss_flags, 0);
	SAME(ss.ss_size, 16 * PAGE);
	return ss.ss_sp;
}

int
main(void)
{
	stack_t ss;
	pid_t pid;

	one = map_pages(16, PROT_READ | PROT_WRITE);
	two = map_pages(16, PROT_READ | PROT_WRITE);
	CHECK(changed(0) == two);
	CHECK(changed(SA_ONSTACK) == one);
	pid = fork();
	if (pid == 0) {
		CHECK(sigaltstack(NULL, &ss) == 0);
		CHECK(ss.ss_sp == one && ss.ss_size == 16 * PAGE);
		_exit(3);
	}
	reap(pid, 3);
	return victim_ok();
}
