/*
 * sig-int3 - int3 in its one-byte and two-byte form: SIGTRAP with the pc
 * behind it, handled, skipped over, and with flags and registers kept
 */
#include "victim.h"

extern char behind_cc[], behind_cd[];
static volatile int traps;
static volatile uintptr_t last_pc;

static void
on_trap(int sig, siginfo_t *si, void *uc)
{
	SAME(sig, SIGTRAP);
	SAME(si->si_code, SI_KERNEL);
	last_pc = (uintptr_t)REG(uc, RIP);
	REG(uc, R11) ^= 0xff;
	traps++;
}

int
main(void)
{
	uint64_t r11, flags;

	handle(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 500; i++) {
		__asm__ volatile(
		    "	mov	$0x1234, %%r11d\n"
		    "	xor	%%eax, %%eax\n"
		    "	stc\n"
		    "	.globl	behind_cc, behind_cd\n"
		    "	.byte	0xcc\n"
		    "behind_cc:\n"
		    "	pushf\n"
		    "	pop	%1\n"
		    "	mov	%%r11, %0\n"
		    : "=r"(r11), "=r"(flags) : : "rax", "r11", "memory");
		SAME(last_pc, (uintptr_t)behind_cc);
		SAME(r11, 0x1234 ^ 0xff);
		SAME(flags & 0x8d5, 0x45);
		__asm__ volatile(".byte 0xcd, 0x03\nbehind_cd:" : : : "r11");
		SAME(last_pc, (uintptr_t)behind_cd);
	}
	SAME(traps, 1000);
	return victim_ok();
}
