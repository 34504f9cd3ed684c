/*
 * sig-altstack - handlers on the alternate stack: a stack overflow is handled
 * there; SS_ONSTACK is told, EPERM while on it; SS_AUTODISARM; a small one; what
 * a handler writes into uc_stack; a child that shares memory has its parent's
 */
#include <sched.h>
#include <setjmp.h>
#include <sys/resource.h>

#include "victim.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

enum { SIZE = 65536 };

static char *alt;
static sigjmp_buf back;
static volatile int overflows, seen, flags;
static stack_t child_has;

static int
on_alt(void *p)
{
	return (char *)p >= alt && (char *)p < alt + SIZE;
}

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	int here;

	(void)sig, (void)si, (void)uc;
	CHECK(on_alt(&here));
	overflows++;
	siglongjmp(back, 1);
}

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	stack_t ss;
	int here;

	(void)si;
	seen++;
	CHECK(sigaltstack(NULL, &ss) == 0);
	if (sig == SIGUSR1) {
		CHECK(on_alt(&here));
		CHECK(ss.ss_flags == SS_ONSTACK);
		CHECK(ss.ss_sp == alt && ss.ss_size == SIZE);
		CHECK(sigaltstack(&ss, NULL) == -1 && errno == EPERM);
	} else {
		CHECK(!on_alt(&here));
	}
	CHECK(((ucontext_t *)uc)->uc_stack.ss_sp == alt);
	SAME(((ucontext_t *)uc)->uc_stack.ss_flags, flags);
}

static void
on_disarmed(int sig, siginfo_t *si, void *uc)
{
	stack_t ss;
	int here;

	(void)sig, (void)si, (void)uc;
	CHECK(on_alt(&here));
	CHECK(sigaltstack(NULL, &ss) == 0);
	CHECK(ss.ss_flags == SS_DISABLE && ss.ss_sp == NULL);
	seen++;
}

/* It is taken where this stack is not in use, as with SS_AUTODISARM. */
static void
on_edited(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	((ucontext_t *)uc)->uc_stack.ss_size = SIZE / 2;
	seen++;
}

static int
child(void *p)
{
	(void)p;
	return sigaltstack(NULL, &child_has);
}

/* With CLONE_VFORK it keeps the stack, with CLONE_VM alone it has none. */
static void
in_child(int how, int flags_there)
{
	char *stack = map_pages(16, PROT_READ | PROT_WRITE);
	int status, pid;

	pid = clone(child, stack + 16 * PAGE, CLONE_VM | how | SIGCHLD, NULL);
	CHECK(pid > 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(child_has.ss_flags == flags_there);
	CHECK(child_has.ss_sp == (flags_there == SS_DISABLE ? NULL : alt));
	munmap(stack, 16 * PAGE);
}

__attribute__((noinline)) static int
overflow(volatile char *up)
{
	volatile char frame[4096];

	frame[0] = *up;
	return overflow(frame) + frame[0];
}

int
main(void)
{
	stack_t ss = { .ss_size = SIZE }, now;
	struct rlimit small = { 512 * 1024, 8 << 20 };

	setrlimit(RLIMIT_STACK, &small);
	ss.ss_sp = alt = map_pages(SIZE / PAGE, PROT_READ | PROT_WRITE);
	CHECK(sigaltstack(&ss, NULL) == 0);
	handle(SIGSEGV, on_segv, SA_ONSTACK);
	for (volatile int i = 0; i < 5; i++)
		if (sigsetjmp(back, 1) == 0)
			overflow((char *)&small);
	SAME(overflows, 5);
	handle(SIGUSR1, on_usr1, SA_ONSTACK);
	handle(SIGUSR2, on_usr1, 0);
	raise(SIGUSR1);
	raise(SIGUSR2);
	SAME(seen, 2);
	ss.ss_flags = flags = SS_ONSTACK;	/* frames have it as it was set */
	CHECK(sigaltstack(&ss, NULL) == 0);
	raise(SIGUSR1);
	raise(SIGUSR1);
	handle(SIGUSR1, on_edited, SA_ONSTACK);
	raise(SIGUSR1);
	SAME(seen, 5);
	CHECK(sigaltstack(NULL, &now) == 0);
	CHECK(now.ss_size == SIZE);
	SAME(now.ss_flags, 0);
	in_child(CLONE_VFORK, 0);
	in_child(0, SS_DISABLE);
	ss.ss_flags = (int)SS_AUTODISARM;
	CHECK(sigaltstack(&ss, NULL) == 0);
	handle(SIGUSR1, on_disarmed, SA_ONSTACK);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	SAME(seen, 8);
	handle(SIGUSR1, on_edited, SA_ONSTACK);
	raise(SIGUSR1);
	SAME(seen, 9);
	CHECK(sigaltstack(NULL, &now) == 0);
	CHECK(now.ss_sp == alt && now.ss_size == SIZE / 2);
	CHECK(now.ss_flags == (int)SS_AUTODISARM);
	ss.ss_flags = (int)SS_AUTODISARM | SS_DISABLE;
	CHECK(sigaltstack(&ss, NULL) == 0);
	CHECK(sigaltstack(NULL, &now) == 0);
	CHECK(now.ss_flags == ss.ss_flags);
	ss.ss_flags = 0;
	ss.ss_size = 100;
	CHECK(sigaltstack(&ss, NULL) == -1 && errno == ENOMEM);
	ss.ss_size = 2048;	/* too small for frames here, but not there */
	victim_say("ok " VICTIM " %d\n", sigaltstack(&ss, NULL));
	return 0;
}
