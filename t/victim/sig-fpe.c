/*
 * sig-fpe - arithmetic exceptions: division by zero and overflow, unmasked
 * x87 (told at the next waiting instruction) and SSE ones, with their codes
 */
#include <setjmp.h>

#include "victim.h"

static sigjmp_buf back;
static volatile int code;
static volatile uintptr_t pc;

static void
on_fpe(int sig, siginfo_t *si, void *uc)
{
	SAME(sig, SIGFPE);
	code = si->si_code;
	pc = (uintptr_t)REG(uc, RIP);
	CHECK((uintptr_t)si->si_addr == pc);
	siglongjmp(back, 1);
}

extern char at_div[], at_idiv[], at_sse[], at_fwait[];

static void
divisions(void)
{
	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("xor %%r8d, %%r8d; mov $1, %%eax;"
		    "xor %%edx, %%edx; .globl at_div; at_div: div %%r8"
		    : : : "rax", "rdx", "r8");
	else
		CHECK(code == FPE_INTDIV && pc == (uintptr_t)at_div);
	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("mov $-1, %%r11d; mov $0x80000000, %%eax;"
		    "cltd; .globl at_idiv; at_idiv: idiv %%r11d"
		    : : : "rax", "rdx", "r11");
	else
		CHECK(code == FPE_INTDIV && pc == (uintptr_t)at_idiv);
}

static void
vector(void)
{
	uint32_t unmasked = 0x1f80 & ~0x200u, usual = 0x1f80;
	static const double one = 1, zero = 0;

	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("ldmxcsr %0; movsd %1, %%xmm0;"
		    ".globl at_sse; at_sse: divsd %2, %%xmm0"
		    : : "m"(unmasked), "m"(one), "m"(zero) : "xmm0");
	else
		CHECK(code == FPE_FLTDIV && pc == (uintptr_t)at_sse);
	__asm__ volatile("ldmxcsr %0" : : "m"(usual));
}

static void
x87(void)
{
	uint16_t unmasked = 0x37b;

	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("fninit; fldcw %0; fld1; fldz; fdivrp; nop;"
		    ".globl at_fwait; at_fwait: fwait" : : "m"(unmasked));
	else
		CHECK(code == FPE_FLTDIV && pc == (uintptr_t)at_fwait);
	__asm__ volatile("fninit");
}

int
main(void)
{
	handle(SIGFPE, on_fpe, 0);
	for (volatile int i = 0; i < 50; i++) {
		divisions();
		vector();
		x87();
	}
	return victim_ok();
}
