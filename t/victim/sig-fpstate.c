/*
 * sig-fpstate - x87 stack, control word and MXCSR over signals: a handler
 * starts with fresh ones, the interrupted ones come back, edits count
 */
#include <sys/time.h>

#include "victim.h"

static volatile int traps;

static void
on_trap(int sig, siginfo_t *si, void *ucv)
{
	ucontext_t *uc = ucv;
	uint16_t cw;
	uint32_t mxcsr;
	double three = 3;

	(void)sig, (void)si;
	__asm__ volatile("fnstcw %0; stmxcsr %1" : "=m"(cw), "=m"(mxcsr));
	SAME(cw, 0x37f);
	SAME(mxcsr & 0xffc0, 0x1f80);
	SAME(uc->uc_mcontext.fpregs->cwd, 0x0f7f);
	SAME(uc->uc_mcontext.fpregs->mxcsr & 0xffc0, 0xff80);
	/* The whole x87 stack is free here. */
	__asm__ volatile("fldl %0; fldl %0; fldl %0; fldl %0; fldl %0; fldl %0;"
	    "fldl %0; fldl %0; faddp; fstp %%st(0)" : : "m"(three));
	uc->uc_mcontext.fpregs->mxcsr = 0x7f80;
	traps++;
}

int
main(void)
{
	uint16_t cw = 0x0f7f, cw_after = 0;
	uint32_t mxcsr = 0xff80, mxcsr_after = 0;
	double in[3] = { 1.5, 2.5, 1e300 }, out[3];

	handle(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 200; i++) {
		__asm__ volatile(
		    "	fldcw	%2\n"
		    "	ldmxcsr	%3\n"
		    "	fldl	%4\n"
		    "	fldl	8+%4\n"
		    "	fldl	16+%4\n"
		    "	int3\n"
		    "	fstpl	16(%5)\n"
		    "	fstpl	8(%5)\n"
		    "	fstpl	(%5)\n"
		    "	fnstcw	%0\n"
		    "	stmxcsr	%1\n"
		    "	fninit\n"
		    : "=m"(cw_after), "=m"(mxcsr_after)
		    : "m"(cw), "m"(mxcsr), "o"(in), "r"(out)
		    : "memory");
		SAME(cw_after, 0x0f7f);
		SAME(mxcsr_after & 0xffc0, 0x7f80);
		CHECK(out[0] == 1.5 && out[1] == 2.5 && out[2] == 1e300);
	}
	SAME(traps, 200);
	return victim_ok();
}
