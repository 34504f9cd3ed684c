/*
 * sig-altstack - handlers on the alternate stack: a stack overflow is handled
 * there; SS_ONSTACK is told, EPERM while on it; SS_AUTODISARM; a small one
 */
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
	SAME(seen, 4);
	CHECK(sigaltstack(NULL, &now) == 0);
	SAME(now.ss_flags, 0);
	ss.ss_flags = (int)SS_AUTODISARM;
	CHECK(sigaltstack(&ss, NULL) == 0);
	handle(SIGUSR1, on_disarmed, SA_ONSTACK);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	SAME(seen, 7);
	CHECK(sigaltstack(NULL, &now) == 0);
	CHECK(now.ss_sp == alt);
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
