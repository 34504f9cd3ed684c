/*
 * sig-tf-forms - the trap flag over all forms of control flow, and over what
 * the C library does: how many traps there are, and where.  Not over cpuid:
 * some hypervisors lose the trap behind it.
 */
#include "victim.h"

extern char forms_begin[];
static volatile unsigned traps;
static volatile uint64_t sum;
static char from[64], to[64], fx[1024] __attribute__((aligned(64)));

static void
on_trap(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	traps++;
	sum = sum * 31 + ((uintptr_t)REG(uc, RIP) - (uintptr_t)forms_begin);
}

/* A debugger within the process: steps begin with one, end with the other. */
static void
on_usr(int sig, siginfo_t *si, void *uc)
{
	(void)si;
	if (sig == SIGUSR1)
		REG(uc, EFL) |= 0x100;
	else
		REG(uc, EFL) &= ~0x100;
}

__attribute__((noinline)) static void
forms(void)
{
	__asm__ volatile(
	    "	pushf\n"
	    "	orl	$0x100, (%%rsp)\n"
	    "	popf\n"
	    "	.globl	forms_begin\n"
	    "forms_begin:\n"
	    "	nop\n"
	    "	jmp	1f\n"		/* jumps that jumps lead to */
	    "1:	jmp	1f\n"
	    "1:	test	%%eax, %%eax\n"
	    "	jmp	1f\n"
	    "1:	jmp	1f\n"
	    "1:	cmp	%%eax, %%eax\n"
	    "	je	1f\n"
	    "	nop\n"
	    "1:	jne	1f\n"
	    "	jmp	1f\n"
	    "1:	mov	$3, %%ecx\n"
	    "2:	loop	2b\n"
	    "	jrcxz	1f\n"
	    "1:	call	2f\n"
	    "	jmp	1f\n"
	    "2:	lea	3f(%%rip), %%rax\n"
	    "	jmp	*%%rax\n"
	    "3:	ret\n"
	    "1:	lea	3b(%%rip), %%rax\n"
	    "	call	*%%rax\n"
	    "	mov	$39, %%eax\n"	/* calls, and what holds traps back */
	    "	syscall\n"
	    "	nop\n"
	    "	mov	$39, %%eax\n"
	    "	syscall\n"
	    "	jmp	1f\n"
	    "1:	mov	$39, %%eax\n"
	    "	mov	%%ss, %%edx\n"
	    "	mov	%%edx, %%ss\n"
	    "	syscall\n"
	    "	mov	%%edx, %%ss\n"
	    "	mov	%0, %%rax\n"
	    "	mov	%%edx, %%ss\n"
	    "	nop\n"
	    "	jmp	1f\n"
	    "1:	lea	%0, %%rsi\n"	/* repeated ones */
	    "	lea	%1, %%rdi\n"
	    "	mov	$3, %%ecx\n"
	    "	rep movsb\n"
	    "	mov	$2, %%ecx\n"
	    "	repe cmpsb\n"
	    "	xor	%%ecx, %%ecx\n"
	    "	rep stosb\n"
	    "	mov	$2, %%ecx\n"
	    "	jmp	1f\n"
	    "1:	rep stosb\n"
	    "	movsb\n"
	    "	push	%%rbx\n"	/* what is emulated */
	    "	xor	%%eax, %%eax\n"
	    "	xor	%%ecx, %%ecx\n"
	    "	pop	%%rbx\n"
	    "	xor	%%ecx, %%ecx\n"
	    "	fxsave	%2\n"
	    "	fld1\n"
	    "	fnstenv	%2\n"
	    "	fstp	%%st(0)\n"
	    "	std\n"
	    "	cld\n"
	    "	mov	%%ss, %%eax\n"
	    "	push	%%rax\n"
	    "	lea	8(%%rsp), %%rax\n"
	    "	push	%%rax\n"
	    "	pushf\n"
	    "	mov	%%cs, %%eax\n"
	    "	push	%%rax\n"
	    "	lea	1f(%%rip), %%rax\n"
	    "	push	%%rax\n"
	    "	iretq\n"
	    "1:	mov	%%cs, %%eax\n"
	    "	push	%%rax\n"
	    "	lea	1f(%%rip), %%rax\n"
	    "	push	%%rax\n"
	    "	lretq\n"
	    "1:	pushf\n"
	    "	popf\n"
	    "	jmp	1f\n"
	    "1:	enter	$16, $0\n"
	    "	leave\n"
	    "	pushf\n"
	    "	andl	$~0x100, (%%rsp)\n"
	    "	popf\n"
	    "	nop\n"
	    : "+m"(from), "+m"(to), "+m"(fx)
	    : : "rax", "rcx", "rdx", "rsi", "rdi", "r11", "memory", "cc");
}

static int
compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void
library(void)
{
	char text[64];
	int v[20];

	for (int i = 0; i < 20; i++)
		v[i] = i * 7919 % 20;
	raise(SIGUSR1);
	qsort(v, NELEM(v), sizeof v[0], compare);
	snprintf(text, sizeof text, "%d %s %.3f", v[3], "text", v[7] * 1.5);
	raise(SIGUSR2);
	CHECK(strcmp(text, "3 text 10.500") == 0);
}

int
main(void)
{
	uint64_t first = 0;
	unsigned n = 0;

	handle(SIGTRAP, on_trap, 0);
	handle(SIGUSR1, on_usr, 0);
	handle(SIGUSR2, on_usr, 0);
	for (int i = 0; i < 5; i++) {
		traps = 0;
		sum = 0;
		forms();
		n = i == 0 ? traps : n;
		first = i == 0 ? sum : first;
		SAME(traps, n);
		SAME(sum, first);
	}
	library();
	traps = 0;
	library();
	victim_say("ok " VICTIM " %u %llx %u\n", n, (unsigned long long)first,
	    traps);
	return 0;
}
