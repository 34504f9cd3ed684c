/*
 * sig-stackfault - push, call, enter, pop and leave that fault on the stack:
 * rsp and memory are as before the instruction; it runs again when mended
 */
#include "victim.h"

static char *stack;		/* the first page is closed, the second open */
static volatile int faults;
static volatile uintptr_t sp_at_fault;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	CHECK((char *)si->si_addr >= stack && (char *)si->si_addr <
	    stack + PAGE);
	sp_at_fault = (uintptr_t)REG(uc, RSP);
	CHECK(mprotect(stack, PAGE, PROT_READ | PROT_WRITE) == 0);
	faults++;
}

/* Runs insn on a stack whose top is the border; how rsp changed. */
#define ON_BORDER(insn, start)						\
	({								\
		intptr_t moved;						\
		char *top_ = stack + (start);				\
		CHECK(mprotect(stack, PAGE, PROT_NONE) == 0);		\
		faults = 0;						\
		__asm__ volatile("mov %%rsp, %%r12; mov %%rbp, %%r13;"	\
		    "mov %1, %%rsp; " insn "; mov %%rsp, %0;"		\
		    "mov %%r12, %%rsp; mov %%r13, %%rbp"		\
		    : "=r"(moved) : "r"(top_), "S"(stack)		\
		    : "r12", "r13", "rax", "r8", "memory", "cc");	\
		SAME(faults, 1);					\
		moved - (intptr_t)top_;					\
	})

int
main(void)
{
	stack_t ss = { .ss_size = 65536 };

	ss.ss_sp = map_pages(16, PROT_READ | PROT_WRITE);
	CHECK(sigaltstack(&ss, NULL) == 0);
	stack = map_pages(2, PROT_READ | PROT_WRITE);
	handle(SIGSEGV, on_segv, SA_ONSTACK);
	for (int i = 0; i < 30; i++) {
		SAME(ON_BORDER("push %%r8", PAGE), -8);
		SAME(sp_at_fault, (uintptr_t)stack + PAGE);
		SAME(ON_BORDER("pushq $5", PAGE), -8);
		SAME(ON_BORDER("pushw $5", PAGE), -2);
		SAME(ON_BORDER("pushf", PAGE), -8);
		SAME(ON_BORDER("call 1f; 1:", PAGE), -8);
		SAME(sp_at_fault, (uintptr_t)stack + PAGE);
		SAME(ON_BORDER("lea 1f(%%rip), %%rax; call *%%rax; 1:", PAGE),
		    -8);
		SAME(ON_BORDER("pop %%r8", PAGE - 8), 8);
		SAME(sp_at_fault, (uintptr_t)stack + PAGE - 8);
		*(uint64_t *)(stack + PAGE - 8) = 2;
		SAME(ON_BORDER("popf", PAGE - 8), 8);
		SAME(ON_BORDER("enter $32, $0", PAGE), -40);
		SAME(ON_BORDER("lea 8(%%rsi), %%rbp; leave", PAGE), 16 - PAGE);
	}
	return victim_ok();
}
