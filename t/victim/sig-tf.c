/*
 * sig-tf - the trap flag set by the program: SIGTRAP after every instruction,
 * from the one behind popf on, until the flag is cleared
 */
#include "victim.h"

extern char tf_begin[], tf_end[];
static volatile int traps;
static volatile uintptr_t pcs[64];

static void
on_trap(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	/* natively too, a busy virtual machine says BRKPT once in a while */
	if (si->si_code != TRAP_BRKPT)
		SAME(si->si_code, TRAP_TRACE);
	if (traps < 64)
		pcs[traps] = (uintptr_t)REG(uc, RIP);
	traps++;
}

int
main(void)
{
	uint64_t sum = 0;

	handle(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 20; i++) {
		traps = 0;
		__asm__ volatile(
		    "	pushf\n"
		    "	orl	$0x100, (%%rsp)\n"
		    "	popf\n"
		    "	.globl	tf_begin, tf_end\n"
		    "tf_begin:\n"
		    "	add	$1, %0\n"
		    "	mov	$2, %%ecx\n"
		    "1:	add	$10, %0\n"
		    "	dec	%%ecx\n"
		    "	jnz	1b\n"
		    "	call	2f\n"
		    "	jmp	3f\n"
		    "2:	ret\n"
		    "3:	pushf\n"
		    "	andl	$~0x100, (%%rsp)\n"
		    "	popf\n"
		    "tf_end:\n"
		    "	nop\n"
		    : "+r"(sum) : : "rcx", "memory", "cc");
		/* add mov add dec jnz add dec jnz call ret jmp pushf and popf */
		SAME(traps, 14);
		SAME(pcs[0], (uintptr_t)tf_begin + 4);
		SAME(pcs[13], (uintptr_t)tf_end);
	}
	SAME(sum, 20 * 21);
	return victim_ok();
}
