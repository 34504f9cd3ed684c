/*
 * ins-flags - flags live over everything that is not to touch them: calls,
 * returns, indirect jumps, far branches of code, loads, pushes, system calls
 */
#include "victim.h"

enum { ARITH = 0x8d5, DF = 0x400, ID = 0x200000, AC = 0x40000 };

__attribute__((naked, noinline)) static void
over_everything(void)
{
	__asm__(
	    "	call	1f\n"
	    "	lea	2f(%rip), %r8\n"
	    "	jmp	*%r8\n"
	    "1:	ret\n"
	    "2:	push	%rax\n"
	    "	mov	(%rsp), %r11\n"
	    "	pop	%rax\n"
	    "	lea	3f(%rip), %r11\n"
	    "	call	*%r11\n"
	    "	lea	3f(%rip), %r8\n"
	    "	push	%r8\n"
	    "	call	*(%rsp)\n"
	    "	pop	%r8\n"
	    "	jmp	4f\n"
	    "3:	ret\n"
	    "4:	mov	$3, %ecx\n"
	    "5:	loop	5b\n"
	    "	jrcxz	6f\n"
	    "	ud2\n"
	    "6:	movq	%rax, %xmm1\n"
	    "	movaps	%xmm1, %xmm2\n"
	    "	bswap	%rax\n"
	    "	not	%rax\n"
	    "	mov	$39, %eax\n"
	    "	syscall\n"
	    "	nop\n"
	    "	mov	%rsp, %rbp\n"
	    "	xchg	%rbp, %rsp\n"
	    "	lea	7f(%rip), %rdx\n"
	    "	jmp	*%rdx\n"
	    "7:	ret\n");
}

static uint64_t
after(uint64_t flags)
{
	uint64_t got;

	__asm__ volatile("push %%rbp; push %1; popf; call *%2; pushf; cld;"
	    "pop %0; pop %%rbp; pushf; andl $~0x240000, (%%rsp); popf"
	    : "=&b"(got) : "S"(flags), "D"(over_everything)
	    : "rax", "rcx", "rdx", "r8", "r11", "xmm1", "xmm2", "memory",
	    "cc");
	return got;
}

static void
by_ah(void)
{
	for (unsigned k = 0; k < 256; k++) {
		uint64_t a = (uint64_t)k << 8, got;

		__asm__ volatile("mov %1, %%rax; sahf; lea 1f(%%rip), %%r8;"
		    "jmp *%%r8; 1: mov $0, %%eax; lahf; mov %%rax, %0"
		    : "=r"(got) : "r"(a) : "rax", "r8", "cc");
		SAME(got >> 8 & 0xff, (k & 0xd5) | 2);
	}
}

int
main(void)
{
	for (unsigned k = 0; k < 512; k++) {
		static const uint64_t bit[] = { 1, 4, 0x10, 0x40, 0x80, 0x800,
		    DF, ID, AC };
		uint64_t flags = 0x202;

		for (int i = 0; i < 9; i++)
			if (k >> i & 1)
				flags |= bit[i];
		SAME(after(flags) & (ARITH | DF | ID | AC | 2),
		    flags & (ARITH | DF | ID | AC | 2));
	}
	by_ah();
	return victim_ok();
}
