/*
 * sig-fault-regs - at a fault the frame has every register, the flags and the
 * address; the handler sends the program on behind it with other values
 */
#include "victim.h"

enum { NROUND = 5000 };

extern char fault_at[], fault_done[];
static char *bad;
static int faults;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	SAME(sig, SIGSEGV);
	CHECK(si->si_addr == bad + 0x123);
	SAME(si->si_code, SEGV_ACCERR);
	CHECK(REG(uc, RIP) == (greg_t)(uintptr_t)fault_at);
	SAME(REG(uc, RAX), 0xa0a0);
	SAME(REG(uc, RBX), 0xb0b0);
	SAME(REG(uc, RCX), 0xc0c0);
	SAME(REG(uc, RDX), 0xd0d0);
	SAME(REG(uc, RSI), 0x5151);
	SAME(REG(uc, RDI), (uintptr_t)bad);
	SAME(REG(uc, RBP), 0xb9b9b9b9b9);
	SAME(REG(uc, R8), 0x0808);
	SAME(REG(uc, R9), 0x0909);
	SAME(REG(uc, R10), 0x1010);
	SAME(REG(uc, R11), 0x1111);
	SAME(REG(uc, R12), 0x1212);
	SAME(REG(uc, R13), 0x1313);
	SAME(REG(uc, R14), 0x1414);
	SAME(REG(uc, R15), 0x1515);
	/* RF, the bit that is always 1; CF, PF, SF and OF, of 7f - 80. */
	SAME(REG(uc, EFL) & 0x108d7, 0x10000 | 0x801 | 0x80 | 0x4 | 0x2);
	REG(uc, R8) = 0x8888;
	REG(uc, R11) = 0xb11b;
	REG(uc, RAX) = 0xaaaa;
	REG(uc, EFL) = (REG(uc, EFL) & ~0x801) | 0x40;
	REG(uc, RIP) = (greg_t)(uintptr_t)fault_done;
	faults++;
}

/* Sets everything, faults, and stores what it finds after the fault. */
__asm__(
"	.text\n"
"fault_once:\n"			/* bad address, where to store */
"	push	%rbx\n"
"	push	%rbp\n"
"	push	%r12\n"
"	push	%r13\n"
"	push	%r14\n"
"	push	%r15\n"
"	push	%rsi\n"
"	mov	$0xa0a0, %eax\n"
"	mov	$0xb0b0, %ebx\n"
"	mov	$0xc0c0, %ecx\n"
"	mov	$0xd0d0, %edx\n"
"	mov	$0x5151, %esi\n"
"	mov	$0xb9b9b9b9b9, %rbp\n"
"	mov	$0x1010, %r10d\n"
"	mov	$0x1212, %r12d\n"
"	mov	$0x1313, %r13d\n"
"	mov	$0x1414, %r14d\n"
"	mov	$0x1515, %r15d\n"
"	mov	$0x7f, %r8d\n"
"	cmp	$0x80, %r8b\n"		/* 7f - 80 = ff: CF SF OF PF */
"	mov	$0x0808, %r8d\n"
"	mov	$0x0909, %r9d\n"
"	mov	$0x1111, %r11d\n"
"	.globl	fault_at, fault_done\n"
"fault_at:\n"
"	mov	%r11, 0x123(%rdi)\n"
"	ud2\n"
"fault_done:\n"
"	pop	%rsi\n"
"	mov	%rax, (%rsi)\n"
"	mov	%r8, 8(%rsi)\n"
"	mov	%r11, 16(%rsi)\n"
"	mov	%r15, 24(%rsi)\n"
"	pushf\n"
"	pop	32(%rsi)\n"
"	pop	%r15\n"
"	pop	%r14\n"
"	pop	%r13\n"
"	pop	%r12\n"
"	pop	%rbp\n"
"	pop	%rbx\n"
"	ret\n");
void fault_once(char *, uint64_t *);

int
main(void)
{
	uint64_t after[5];

	bad = map_pages(1, PROT_NONE);
	handle(SIGSEGV, on_segv, 0);
	for (int i = 0; i < NROUND; i++) {
		fault_once(bad, after);
		SAME(after[0], 0xaaaa);
		SAME(after[1], 0x8888);
		SAME(after[2], 0xb11b);
		SAME(after[3], 0x1515);
		SAME(after[4] & 0x8d5, 0x80 | 0x40 | 0x4);
	}
	SAME(faults, NROUND);
	return victim_ok();
}
