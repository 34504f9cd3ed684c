/*
 * sig-tf-edit - a handler sets the trap flag in its frame, as a debugger
 * within the process would, and counts steps through a loop and a call
 */
#include "victim.h"

static volatile int steps, armed;

static void
on_trap(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	if (!armed) {
		armed = 1;
		REG(uc, EFL) |= 0x100;
		return;
	}
	if (REG(uc, RBX) == 0xdead) {
		REG(uc, EFL) &= ~0x100;
		armed = 0;
		return;
	}
	steps++;
}

int
main(void)
{
	uint64_t n;

	handle(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 10; i++) {
		steps = 0;
		n = 5;
		__asm__ volatile(
		    "	xor	%%ebx, %%ebx\n"
		    "	int3\n"
		    "1:	dec	%0\n"
		    "	jnz	1b\n"
		    "	mov	$0xdead, %%ebx\n"
		    "	nop\n"
		    : "+r"(n) : : "rbx", "memory", "cc");
		SAME(n, 0);
		/* 5 * (dec, jnz); the one behind mov ends it */
		SAME(steps, 10);
		SAME(armed, 0);
	}
	return victim_ok();
}
