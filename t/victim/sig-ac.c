/*
 * sig-ac - the alignment check flag: a misaligned access is SIGBUS, aligned
 * ones are none, and the engine's own accesses are none either
 */
#include "victim.h"

static char buf[64] __attribute__((aligned(64)));
static volatile int faults;

static void
on_bus(int sig, siginfo_t *si, void *uc)
{
	SAME(sig, SIGBUS);
	SAME(si->si_code, BUS_ADRALN);
	REG(uc, EFL) &= ~0x40000;
	faults++;
}

int
main(void)
{
	uint64_t v, flags;

	handle(SIGBUS, on_bus, 0);
	for (int i = 0; i < 100; i++) {
		__asm__ volatile(
		    "	pushf\n"
		    "	orl	$0x40000, (%%rsp)\n"
		    "	popf\n"
		    "	mov	8(%2), %0\n"
		    "	mov	$3, %%r8d\n"
		    "	mov	$5, %%r11d\n"
		    "	call	1f\n"
		    "1:	pop	%%rax\n"
		    "	add	%%r8, %%r11\n"
		    "	mov	1(%2), %0\n"	/* faults; the handler clears */
		    "	pushf\n"
		    "	pop	%1\n"
		    "	mov	3(%2), %0\n"
		    : "=&r"(v), "=&r"(flags) : "r"(buf)
		    : "rax", "r8", "r11", "memory", "cc");
		SAME(faults, i + 1);
		SAME(flags & 0x40000, 0);
	}
	return victim_ok();
}
