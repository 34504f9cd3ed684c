/*
 * sig-frames - what the kernel makes of a handler's action and frame: flags that
 * it does not know, no restorer, a stack pointer just above the alternate
 * stack's begin; and, behind the handler, an alternate stack that none can be,
 * and flags that a frame does not set
 *
 * build: -mno-red-zone
 */
#include <setjmp.h>

#include "victim.h"

struct action {			/* the kernel's */
	void (*handler)(int);
	unsigned long flags;
	void *restorer;
	unsigned long mask;
};

enum { SIZE = 65536, NT = 1 << 14, ID = 1 << 21 };

static char *alt;
static sigjmp_buf back;
static volatile int ran, code;
static char *volatile frame;
static stack_t wanted;

static void
run(int sig)
{
	(void)sig;
	ran++;
}

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	code = si->si_code;
	siglongjmp(back, 1);
}

static void
change_stack(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	((ucontext_t *)uc)->uc_stack = wanted;
}

static void
set_flags(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	REG(uc, EFL) |= NT | ID;
}

static void
note(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	frame = uc;
}

static void
actions(void)
{
	struct action a = { run, 0x400 | SA_NODEFER | 1 << 20, NULL, 0 }, now;

	CHECK(syscall(SYS_rt_sigaction, SIGUSR1, &a, NULL, 8) == 0);
	CHECK(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &now, 8) == 0);
	SAME(now.flags & (0x400 | SA_NODEFER | 1 << 20), SA_NODEFER);
	handle(SIGSEGV, on_segv, 0);
	if (sigsetjmp(back, 1) == 0)
		raise(SIGUSR1);
	SAME(ran, 0);
	SAME(code, SI_KERNEL);
}

/* The alternate stack after a handler that has put this into its frame. */
static stack_t
after(void *sp, int flags, size_t size)
{
	stack_t ss = { .ss_sp = alt, .ss_size = SIZE };

	wanted = (stack_t){ .ss_sp = sp, .ss_flags = flags, .ss_size = size };
	CHECK(sigaltstack(&ss, NULL) == 0);
	handle(SIGUSR1, change_stack, 0);
	raise(SIGUSR1);
	CHECK(sigaltstack(NULL, &ss) == 0);
	return ss;
}

static void
stacks(void)
{
	SAME(after(alt, 0, 100).ss_size, SIZE);
	SAME(after(alt, 12345, SIZE).ss_flags, 0);
	SAME((uintptr_t)after(alt, SS_DISABLE, SIZE).ss_sp, 0);
	SAME((uintptr_t)after(alt + PAGE, 0, SIZE - PAGE).ss_sp,
	    (uintptr_t)alt + PAGE);
}

static unsigned long
raise_for_flags(void)
{
	unsigned long flags, r;

	handle(SIGUSR1, set_flags, 0);
	__asm__ volatile("syscall\n"
	    "pushfq\n"
	    "pop %1"
	    : "=a" (r), "=&r" (flags)
	    : "0" ((long)SYS_tgkill), "D" ((long)getpid()),
	    "S" ((long)getpid()), "d" ((long)SIGUSR1)
	    : "rcx", "r11", "memory");
	SAME(r, 0);
	return flags;
}

/* Where the frame lies, from the stack's begin, of a signal with this rsp. */
static long
frame_from(char *sp)
{
	unsigned long r;

	__asm__ volatile("mov %%rsp, %%rbx\n"
	    "mov %[sp], %%rsp\n"
	    "syscall\n"
	    "mov %%rbx, %%rsp"
	    : "=a" (r)
	    : "0" ((long)SYS_tgkill), "D" ((long)getpid()),
	    "S" ((long)getpid()), "d" ((long)SIGUSR1), [sp] "r" (sp)
	    : "rbx", "rcx", "r11", "memory");
	SAME(r, 0);
	return frame - alt;
}

static void
edge(void)
{
	stack_t ss = { .ss_sp = alt, .ss_size = SIZE };

	CHECK(sigaltstack(&ss, NULL) == 0);
	handle(SIGUSR1, note, SA_ONSTACK);
	for (int above = 8; above <= 128; above += 8)
		CHECK(frame_from(alt + above) > SIZE / 2);
	CHECK(frame_from(alt + SIZE / 4) < SIZE / 4);
}

int
main(void)
{
	alt = map_pages(SIZE / PAGE, PROT_READ | PROT_WRITE);
	actions();
	stacks();
	SAME(raise_for_flags() & (NT | ID), 0);
	edge();
	return victim_ok();
}
