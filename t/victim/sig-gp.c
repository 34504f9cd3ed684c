/*
 * sig-gp - general protection faults: non-canonical addresses, privileged
 * instructions, misaligned vectors, bad descriptors: code SI_KERNEL, address 0
 */
#include "victim.h"

static volatile int faults;
static volatile uintptr_t at;
static char buf[64] __attribute__((aligned(64)));

static void
on_fault(int sig, siginfo_t *si, void *uc)
{
	SAME(sig, SIGSEGV);
	SAME(si->si_code, SI_KERNEL);
	CHECK(si->si_addr == NULL);
	CHECK((uintptr_t)REG(uc, RIP) == at);
	SAME(REG(uc, TRAPNO), 13);
	/* rbx holds where to go on. */
	REG(uc, RIP) = REG(uc, RBX);
	faults++;
}

/* Runs one instruction that must fault. */
#define FAULT(insn, ...)						\
	do {								\
		faults = 0;						\
		__asm__ volatile("lea 1f(%%rip), %%rbx; mov %%rbx, %0;"	\
		    "lea 2f(%%rip), %%rbx; 1: " insn "; ud2; 2:"	\
		    : "=m"(at) : __VA_ARGS__ : "rbx", "rax", "rcx",	\
		    "rdx", "r11", "memory", "cc");			\
		SAME(faults, 1);					\
	} while (0)

int
main(void)
{
	uint64_t far = 0x8000000000000000;

	handle(SIGSEGV, on_fault, 0);
	for (int i = 0; i < 20; i++) {
		FAULT("mov (%1), %%rax", "r"(far));
		FAULT("mov %%r11, 0x10(%1)", "r"(far));
		FAULT("hlt", "r"(far));
		FAULT("cli", "r"(far));
		FAULT("in $0x80, %%al", "r"(far));
		FAULT("mov %%cr0, %%rax", "r"(far));
		FAULT("mov %%dr7, %%rax", "r"(far));
		FAULT("rdmsr", "r"(far));
		FAULT("invlpg (%1)", "r"(buf));
		FAULT("movaps 1(%1), %%xmm1", "r"(buf));
		FAULT("movdqa %%xmm1, 8(%1)", "r"(buf));
		FAULT("paddd 4(%1), %%xmm1", "r"(buf));
		FAULT("lock cmpxchg16b 8(%1)", "r"(buf));
		FAULT("mov %w1, %%ss", "r"(0));
		FAULT("mov %w1, %%ds", "r"(0x1234));
		FAULT("wrmsr", "r"(far));
		FAULT("lgdt (%1)", "r"(buf));
		FAULT("fxsave 8(%1)", "r"(buf));
		FAULT("int $0x33", "r"(far));
		FAULT("int $0x2d", "r"(far));
	}
	return victim_ok();
}
