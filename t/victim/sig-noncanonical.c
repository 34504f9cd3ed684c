/*
 * sig-noncanonical - calls, jumps and returns to addresses that no page can
 * have: the processor faults at the transfer itself, with nothing pushed
 */
#include "victim.h"

static volatile uintptr_t at;
static volatile int faults;
static volatile uintptr_t sp_before;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	SAME(si->si_code, SI_KERNEL);
	faults++;
	CHECK((uintptr_t)REG(uc, RIP) == at);
	CHECK((uintptr_t)REG(uc, RSP) == sp_before);
	REG(uc, RIP) = REG(uc, RBX);
	REG(uc, RSP) = REG(uc, R12);
}

#define TRY(setup, insn)						\
	do {								\
		__asm__ volatile("mov %%rsp, %%r12; " setup		\
		    "lea 1f(%%rip), %%rbx; mov %%rbx, %0;"		\
		    "mov %%rsp, %1; lea 2f(%%rip), %%rbx; 1: " insn	\
		    "; ud2; 2:" : "=m"(at), "=m"(sp_before)		\
		    : "a"(0x8000123400000000)				\
		    : "rbx", "r12", "memory", "cc");			\
	} while (0)

int
main(void)
{
	handle(SIGSEGV, on_segv, 0);
	for (int i = 0; i < 30; i++) {
		TRY("", "call *%%rax");
		TRY("", "jmp *%%rax");
		TRY("push %%rax;", "ret");
		TRY("push %%rax;", "ret $16");
		TRY("push %%rax;", "call *(%%rsp)");
	}
	SAME(faults, 150);
	return victim_ok();
}
